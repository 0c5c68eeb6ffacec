//! `antiphon audit`: attack an interactive server from outside.

use std::{path::PathBuf, time::Duration};

use antiphon::client::Error;
use clap::{Args, ValueHint};
use serde_json::{Map, Value};

use super::At;
use crate::{
    answering::Rules,
    arguments,
    audit::{self, Audit as Auditing, Report, Settings, Subject},
    calling::unless_interrupted,
    connect::{Session, Words},
    failure::{Exit, Failure},
    nearest,
    options::{Connecting, TokenFile},
    printable,
    progress::Progress,
    render::Style,
    target::{self, Place},
};

/// Attack an interactive server from outside: tamper with its states, use them again, as somebody
/// else, elsewhere, and give answers that are none.
///
/// The tool must ask something when it is called with these arguments. Questions are agreed to only
/// with --allow-effects; without it they are declined, and what cannot be found out like that is not
/// tested. Use it on servers that are yours, and with a tool that may run often.
#[derive(Args)]
#[command(
    override_usage = "antiphon audit [OPTIONS] <URL|NAME> --tool <TOOL> [KEY=VALUE]...\n       \
                      antiphon audit [OPTIONS] --tool <TOOL> [KEY=VALUE]... -- <COMMAND> [ARGS]...",
    after_help = EXAMPLES
)]
pub(crate) struct Audit {
    #[command(flatten)]
    at: At,
    /// The tool to call; it must ask something.
    #[arg(long, value_name = "TOOL")]
    tool: String,
    /// The arguments as a JSON object, from a file, or with @- from standard input.
    #[arg(long, value_name = "JSON|@FILE", value_hint = ValueHint::FilePath)]
    args: Option<String>,
    /// Agree to what the tool asks: calls then do what they do.
    #[arg(long)]
    allow_effects: bool,
    /// Answer by the rules in this file, as `call` does, and by the forms where there is no rule.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    answers: Option<PathBuf>,
    /// The access token of another principal, in this environment variable.
    #[arg(long, value_name = "VAR", conflicts_with = "bearer2")]
    bearer2_env: Option<String>,
    /// The access token of another principal, in this file.
    #[arg(long, value_name = "@FILE", value_hint = ValueHint::FilePath)]
    bearer2: Option<TokenFile>,
    /// Another instance of the same server.
    #[arg(long, value_name = "URL")]
    replica: Option<String>,
    /// Keep a state for so long to see whether it expires; 11m unless told.
    #[arg(
        long,
        value_name = "DURATION",
        num_args = 0..=1,
        default_missing_value = "11m",
        value_parser = humantime::parse_duration
    )]
    wait: Option<Duration>,
    /// Only these probes, by their names.
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    only: Vec<String>,
    /// End with 1 also if a probe is weak.
    #[arg(long)]
    strict: bool,
    /// Print what was found as JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connecting: Connecting,
}

const EXAMPLES: &str = "\
Examples:
  antiphon audit https://shop.example.com/mcp --tool order title=Dune
  antiphon audit shop --tool order title=Dune --allow-effects --answers answers.toml
  antiphon audit shop --tool order title=Dune --bearer-env ADA --bearer2-env BOB --allow-effects
  antiphon audit shop --tool order title=Dune --replica https://two.example.com/mcp --allow-effects
  antiphon audit --tool deploy env=prod --allow-effects --wait 11m -- ./my-server
  antiphon audit shop --tool order title=Dune --only state-tampered,replayed --json

Exit codes: 0 no probe failed, 1 one failed (with --strict also: one is weak), 2 usage or a bad file,
3 the server cannot be reached or started, 4 it answered with an error, or the tool never asks,
5 timed out, 7 unauthorised, 130 interrupted.";

impl Audit {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let probes = audit::chosen(&self.only)?;
        let given = arguments::given(self.args.as_deref())?;
        let rules = self.answers.as_deref().map(Rules::read).transpose()?;
        let words = self.at.words(&self.connecting)?;
        let settings = Settings {
            rules,
            allow_effects: self.allow_effects,
            wait: self.wait,
            second: self.second(&words.place)?,
            replica: self.replica()?,
        };
        let style = Style::of_stdout();
        let progress = Progress::stderr();
        let work = async {
            // What is sent by the audit itself is traced, and not how the server was found.
            let quiet = Connecting {
                trace: false,
                jsonl: None,
                ..self.connecting.clone()
            };
            let session = Session::open(words.place.clone(), &quiet, None, &progress).await?;
            let prepared = self.prepare(&words, &session, given, settings).await;
            session.close().await;
            let auditing = prepared?;
            let announced = auditing.effects(&probes);
            self.announce(announced);
            let rows = auditing.run(&probes).await;
            auditing.close().await;
            Ok(Report::new(&auditing, rows?, announced))
        };
        let report = unless_interrupted(work).await?;
        match self.json {
            true => say!("{}", report.json(&style)?),
            false => say!("{}", report.table(&style)),
        }
        match report.has_failed() || (self.strict && report.is_weak()) {
            true => Err(Failure::silent(Exit::Failed)),
            false => Ok(()),
        }
    }

    /// Says what may happen, before it does.
    fn announce(&self, calls: usize) {
        let calls = match calls {
            1 => "one call that may have effects".to_owned(),
            calls => format!("up to {calls} calls that may have effects"),
        };
        match self.allow_effects {
            true => tell!("antiphon: this makes {calls}"),
            false => tell!(
                "antiphon: questions are declined; with --allow-effects this would make {calls}"
            ),
        }
    }

    /// How the second principal calls.
    fn second(&self, place: &Place) -> Result<Option<Connecting>, Failure> {
        if self.bearer2.is_none() && self.bearer2_env.is_none() {
            return Ok(None);
        }
        if !place.is_http() {
            return Err(Failure::usage(
                "--bearer2: a server that is started by a command takes no tokens",
            ));
        }
        let variable = |name: &Option<String>| std::env::var(name.as_deref()?).ok();
        let first = variable(&self.connecting.bearer_env);
        if first.is_some() && first == variable(&self.bearer2_env) {
            return Err(Failure::usage(
                "--bearer2-env: both tokens are the same, and so is who they are for",
            ));
        }
        Ok(Some(Connecting {
            bearer: self.bearer2.clone(),
            bearer_env: self.bearer2_env.clone(),
            ..self.connecting.clone()
        }))
    }

    fn replica(&self) -> Result<Option<Place>, Failure> {
        let Some(url) = &self.replica else {
            return Ok(None);
        };
        match target::find(url, self.connecting.config.as_deref())? {
            place if place.is_http() => Ok(Some(place)),
            _ => Err(Failure::usage(
                "--replica: it must be a URL, or the name of one",
            )),
        }
    }

    /// Finds the tool and what else there is, and opens the wires.
    async fn prepare(
        &self,
        words: &Words,
        session: &Session,
        given: Option<Map<String, Value>>,
        settings: Settings,
    ) -> Result<Auditing, Failure> {
        let connection = &session.connection;
        let tools = match connection.tools().all().await {
            Ok(tools) => tools,
            Err(error) => return Err(session.failure(error).await),
        };
        let Some(tool) = tools.iter().find(|tool| tool.name == self.tool).cloned() else {
            let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
            let instead = nearest::instead(&self.tool, &names);
            let name = printable::excerpt(&self.tool, 60);
            return Err(Failure::usage(format!(
                "the server has no tool {name}: {instead}"
            )));
        };
        let known = arguments::names(&tool.input_schema);
        let pairs = super::pairs(words, Some(&known))?;
        let filled = arguments::over(given.unwrap_or_default(), &pairs, &tool.input_schema)?;
        let arguments = super::told(session, filled);
        let subject = Subject {
            version: connection.protocol_version(),
            capabilities: connection.server_capabilities().clone(),
            tool,
            arguments,
            tools,
            // A server that has none may refuse to list them.
            prompts: offered(connection.prompts().all().await),
            resources: offered(connection.resources().all().await),
        };
        Auditing::prepare(&words.place, &self.connecting, subject, session, settings).await
    }
}

fn offered<T>(listed: Result<Vec<T>, Error>) -> Vec<T> {
    listed.unwrap_or_default()
}
