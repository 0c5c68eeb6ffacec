//! The commands, one a file.

pub(crate) mod call;
pub(crate) mod complete;
pub(crate) mod inspect;
pub(crate) mod listen;
pub(crate) mod prompt;
pub(crate) mod read;
pub(crate) mod resume;
pub(crate) mod show;

use std::sync::Arc;

use clap::Args;
use clap_complete::ArgValueCompleter;

use crate::{
    answering::Desk,
    calling::{Caller, Wanted, unless_interrupted},
    completing,
    connect::{Session, Words},
    ending::Ending,
    failure::Failure,
    options::{Asking, Connecting, Showing},
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
        let place = words.place.clone();
        let opening = Session::open(place, &self.connecting, Some(desk), progress);
        let session = unless_interrupted(opening).await?;
        let ended = async {
            let wanted = unless_interrupted(wanted(&session, &words, name)).await?;
            let caller = Caller {
                session: &session,
                desk,
                poll: self.connecting.timeout.poll,
            };
            let ended = caller.start(wanted).await;
            let ending = Ending {
                session: &session,
                desk,
                style,
                json: self.showing.json,
                save: self.asking.save.as_deref(),
                typed: typed.as_deref(),
            };
            ending.show(ended).await
        };
        let ended = ended.await;
        session.close().await;
        ended
    }
}
