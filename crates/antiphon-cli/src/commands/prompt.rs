//! `antiphon prompt`: get a prompt.

use clap::{Args, ValueHint};

use super::{At, Calling};
use crate::{
    arguments,
    calling::Wanted,
    completing::{self, Offered},
    connect::{Session, Words},
    failure::Failure,
    target::Place,
};

/// Get a prompt, and answer what it asks.
#[derive(Args)]
#[command(
    override_usage = "antiphon prompt [OPTIONS] <URL|NAME> <PROMPT> [KEY=VALUE]...\n       \
                      antiphon prompt [OPTIONS] <PROMPT> [KEY=VALUE]... -- <COMMAND> [ARGS]...",
    after_help = EXAMPLES
)]
pub(crate) struct Prompt {
    #[command(flatten)]
    at: At,
    /// The arguments as a JSON object, from a file, or with @- from standard input.
    #[arg(long, value_name = "JSON|@FILE", value_hint = ValueHint::FilePath)]
    args: Option<String>,
    #[command(flatten)]
    calling: Calling,
}

const EXAMPLES: &str = "\
Examples:
  antiphon prompt https://shop.example.com/mcp review title=Dune
  antiphon prompt shop review title=Dune --json
  antiphon prompt review title=Dune -- ./my-server

Exit codes are those of `antiphon call`.";

impl Prompt {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let given = arguments::given(self.args.as_deref())?;
        let wanted = async move |session: &Session, words: &Words, name: String| {
            let mut all = given.unwrap_or_default();
            if !words.rest.is_empty() {
                let known = names(session, &words.place, &name).await;
                let known: Option<Vec<_>> = known
                    .as_ref()
                    .map(|names| names.iter().map(String::as_str).collect());
                let pairs = super::pairs(words, known.as_deref())?;
                let filled = arguments::texts(all, &pairs, &known.unwrap_or_default())?;
                all = super::told(session, filled);
            }
            Ok(Wanted::Prompt(name, all))
        };
        self.calling.call(self.at, "prompt", wanted).await
    }
}

/// What the prompt takes; nothing is known of it if the server does not list it.
async fn names(session: &Session, place: &Place, name: &str) -> Option<Vec<String>> {
    let prompts = session.connection.prompts().all().await.ok()?;
    completing::remember(place, Offered::Prompts(&prompts));
    let prompt = prompts.into_iter().find(|prompt| prompt.name == name)?;
    let arguments = prompt.arguments.into_iter().flatten();
    Some(arguments.map(|argument| argument.name).collect())
}
