//! The commands, one a file.

pub(crate) mod audit;
pub(crate) mod call;
pub(crate) mod complete;
pub(crate) mod inspect;
pub(crate) mod listen;
pub(crate) mod login;
pub(crate) mod logout;
pub(crate) mod prompt;
pub(crate) mod read;
pub(crate) mod resume;
pub(crate) mod show;

use std::sync::Arc;

use antiphon::client::{Completed, ErrorKind};
use clap::Args;
use clap_complete::ArgValueCompleter;
use serde_json::{Map, Value};

use crate::{
    answering::Desk,
    arguments::{self, Filled, Pair},
    calling::{Caller, Ended, Stopped, Wanted, unless_interrupted},
    completing,
    connect::{Session, Words},
    ending::Ending,
    failure::Failure,
    nearest::{self, plain},
    options::{Asking, Connecting, Showing},
    printable,
    progress::Progress,
    render::Style,
};

/// The words of a command: `TARGET WORD...`, or `WORD... -- COMMAND ARGS...`.
#[derive(Args)]
pub(crate) struct At {
    #[arg(value_name = "WORD", add = ArgValueCompleter::new(completing::words), hide = true)]
    words: Vec<String>,
    #[arg(value_name = "COMMAND", last = true, hide = true)]
    command: Vec<String>,
}

impl At {
    fn words(&self, connecting: &Connecting) -> Result<Words, Failure> {
        Words::new(self.words.clone(), self.command.clone(), connecting)
    }

    /// Whether nothing at all was said.
    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.command.is_empty()
    }

    /// What stands for the server.
    fn typed(&self) -> Option<String> {
        match self.command.is_empty() {
            true => self.words.first().cloned(),
            false => None,
        }
    }
}

/// What the three commands that call something have in common.
#[derive(Args)]
pub(crate) struct Calling {
    #[command(flatten)]
    pub(crate) asking: Asking,
    #[command(flatten)]
    pub(crate) connecting: Connecting,
    #[command(flatten)]
    pub(crate) showing: Showing,
}

/// A command that is about to call something.
pub(crate) struct Prepared {
    pub(crate) desk: Arc<Desk>,
    pub(crate) progress: Progress,
    pub(crate) style: Style,
}

impl Calling {
    /// Reads whatever files there are to read, before anything is sent.
    pub(crate) fn prepare(&self) -> Result<Prepared, Failure> {
        let progress = Progress::stderr();
        if let Some(path) = self.asking.save.as_deref().filter(|path| path.exists()) {
            let path = crate::paused::shown(path);
            return Err(Failure::usage(format!("--save {path}: it exists already")));
        }
        Ok(Prepared {
            desk: Desk::new(&self.asking, progress.clone())?,
            progress,
            style: self.showing.style(),
        })
    }

    /// Makes a call to the server, and shows how it ends. What exactly is called may depend on what
    /// the server says of it; that it is called `what` is said where it is missing.
    async fn call(
        &self,
        at: At,
        what: &str,
        wanted: impl AsyncFnOnce(&Session, &Words, String) -> Result<Wanted, Failure>,
    ) -> Result<(), Failure> {
        let typed = at.typed();
        let mut words = at.words(&self.connecting)?;
        let name = words.take(what)?;
        let prepared = self.prepare()?;
        let Prepared {
            desk,
            progress,
            style,
        } = &prepared;
        let (place, called) = (words.place.clone(), name.clone());
        let connecting = self.asking.connecting(&self.connecting);
        let opening = Session::open(place, &connecting, Some(desk), progress);
        let session = unless_interrupted(opening).await?;
        let ended = async {
            let wanted = unless_interrupted(wanted(&session, &words, name)).await?;
            let caller = Caller {
                session: &session,
                desk,
                poll: self.connecting.timeout.poll,
            };
            let ended = caller.start(wanted).await;
            let mut hint = None;
            if may_be_unknown(&ended) {
                let asking = async { Ok(meant(&session, what, &called).await) };
                hint = unless_interrupted(asking).await.unwrap_or_default();
            }
            let ending = Ending {
                session: &session,
                desk,
                style,
                json: self.showing.json,
                save: self.asking.save.as_deref(),
                typed: typed.as_deref(),
            };
            let shown = ending.show(ended).await;
            shown.map_err(|failure| match hint {
                Some(hint) => failure.and(&hint),
                None => failure,
            })
        };
        let ended = ended.await;
        session.close().await;
        ended
    }
}

/// The words after the first as arguments; `known` are the names that are known, if any are.
fn pairs<'a>(words: &'a Words, known: Option<&[&str]>) -> Result<Vec<Pair<'a>>, Failure> {
    let pairs = arguments::parse(&words.rest);
    pairs.map_err(|failure| match known {
        None => failure,
        Some([]) => failure.and("It takes no arguments"),
        Some(names) => failure.and(&format!("It takes: {}", plain(names.iter().copied()))),
    })
}

/// The arguments, after it was said what may be wrong with them.
fn told(session: &Session, filled: Filled) -> Map<String, Value> {
    for doubt in filled.doubts {
        session.progress.line(&format!("antiphon: {doubt}"));
    }
    filled.arguments
}

/// Whether it may have ended like this because there is nothing of that name. Servers of the
/// SDKs for TypeScript and Python say so in a result.
fn may_be_unknown(ended: &Result<Ended, Stopped>) -> bool {
    match ended {
        Ok(Ended::Done(_, Completed::Tool(result))) => result.failed(),
        Err(Stopped::Error(error)) => matches!(error.kind(), ErrorKind::Protocol(_)),
        _ => false,
    }
}

/// What somebody may have meant who called what the server does not have; nothing if it has it.
async fn meant(session: &Session, what: &str, name: &str) -> Option<String> {
    let connection = &session.connection;
    let names: Vec<_> = match what {
        "tool" => {
            let tools = connection.tools().all().await.ok()?.into_iter();
            tools.map(|tool| tool.name).collect()
        }
        "prompt" => {
            let prompts = connection.prompts().all().await.ok()?.into_iter();
            prompts.map(|prompt| prompt.name).collect()
        }
        _ => return None,
    };
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let is_known = names.contains(&name);
    (!is_known).then(|| {
        let meant = nearest::meant(name, &names);
        format!(
            "The server has no {what} {}. {meant}",
            printable::excerpt(name, 60)
        )
    })
}
