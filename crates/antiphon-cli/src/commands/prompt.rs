//! `antiphon prompt`: get a prompt.

use clap::{Args, ValueHint};

use super::{At, Calling};
use crate::{
    arguments,
    calling::Wanted,
    connect::{Session, Words},
    failure::Failure,
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
        let wanted = async move |_: &Session, words: &Words, name: String| {
            let mut all = given.unwrap_or_default();
            all.extend(arguments::strings(&words.rest)?);
            Ok(Wanted::Prompt(name, all))
        };
        self.calling.call(self.at, "prompt", wanted).await
    }
}
