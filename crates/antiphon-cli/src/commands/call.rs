//! `antiphon call`: call a tool.

use clap::{Args, ValueHint};
use serde_json::{Map, Value};

use super::{At, Calling};
use crate::{
    arguments,
    calling::Wanted,
    completing::{self, Offered},
    connect::{Session, Words},
    failure::Failure,
    target::Place,
};

/// Call a tool, and answer what it asks.
///
/// Arguments are written as key=value, and typed by the tool's schema; key:=JSON takes JSON. What the
/// tool asks is answered by --answers, by --root and --sampler, or at the terminal. If nobody is there,
/// the call is saved to a file, and `antiphon resume` goes on with it.
#[derive(Args)]
#[command(
    override_usage = "antiphon call [OPTIONS] <URL|NAME> <TOOL> [KEY=VALUE]...\n       \
                      antiphon call [OPTIONS] <TOOL> [KEY=VALUE]... -- <COMMAND> [ARGS]...",
    after_help = EXAMPLES
)]
pub(crate) struct Call {
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
  antiphon call https://shop.example.com/mcp order title=Dune copies=2
  antiphon call shop order --args @order.json --json
  antiphon call deploy env=prod -- ./my-server --verbose
  antiphon call shop order title=Dune --answers answers.toml --strict
  antiphon call shop order title=Dune --save order.paused.json < /dev/null
  antiphon call shop report --timeout work=5m --trace

Exit codes: 0 done, 1 the tool failed, 2 usage or a bad file, 3 the server cannot be reached or
started, 4 it answered with an error or is no MCP server, 5 timed out, 6 too many rounds,
7 unauthorised, 20 the call waits for an answer, 21 its state is not accepted any more,
130 interrupted.";

impl Call {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let given = arguments::given(self.args.as_deref())?;
        let wanted = async move |session: &Session, words: &Words, name: String| {
            let mut all = given.unwrap_or_default();
            if !words.rest.is_empty() {
                let schema = schema(session, &words.place, &name).await?;
                let known = schema.as_ref().map(arguments::names);
                let pairs = super::pairs(words, known.as_deref())?;
                let schema = schema.unwrap_or_default();
                all = super::told(session, arguments::over(all, &pairs, &schema)?);
            }
            Ok(Wanted::Tool(name, all))
        };
        self.calling.call(self.at, "tool", wanted).await
    }
}

/// What the tool takes; nothing is known of it if the server does not list it.
async fn schema(
    session: &Session,
    place: &Place,
    name: &str,
) -> Result<Option<Map<String, Value>>, Failure> {
    let tools = match session.connection.tools().all().await {
        Ok(tools) => tools,
        Err(error) => return Err(session.failure(error).await),
    };
    completing::remember(place, Offered::Tools(&tools));
    let tool = tools.into_iter().find(|tool| tool.name == name);
    Ok(tool.map(|tool| tool.input_schema))
}
