//! One call, from its beginning or from a pause, until it is done or has to wait.

use std::{pin::pin, time::Duration};

use antiphon::client::{
    CallTool, Clock, Completed, Error, ErrorKind, GetPrompt, Outcome, Paused, ReadResource, Target,
};
use serde_json::{Map, Value, json};
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep, timeout};

use crate::{
    answering::Desk,
    connect::Session,
    failure::{Exit, Failure},
    paused::Restart,
    terminal,
};

/// How long a server may ask to come back, unless told.
const POLL: Duration = Duration::from_secs(600);
/// How long after a key its signal may come.
const SIGNAL: Duration = Duration::from_secs(5);

/// What to ask of a server.
pub(crate) enum Wanted {
    Tool(String, Map<String, Value>),
    Prompt(String, Map<String, Value>),
    Resource(String),
}

impl Wanted {
    /// The call of a file, to be made again.
    pub(crate) fn again(call: &Target) -> Result<Self, Failure> {
        let name = call.name().to_owned();
        let arguments = match call.arguments() {
            Some(text) => serde_json::from_str(text.get())?,
            None => Map::new(),
        };
        match call.method() {
            "tools/call" => Ok(Self::Tool(name, arguments)),
            "prompts/get" => Ok(Self::Prompt(name, arguments)),
            "resources/read" => Ok(Self::Resource(name)),
            other => Err(Failure::usage(format!("`{other}` cannot be made again"))),
        }
    }

    /// As files have it.
    fn target(&self) -> Result<Target, Failure> {
        let (method, name, arguments) = match self {
            Self::Tool(name, arguments) => ("tools/call", name, Some(arguments)),
            Self::Prompt(name, arguments) => ("prompts/get", name, Some(arguments)),
            Self::Resource(uri) => ("resources/read", uri, None),
        };
        let mut target = json!({ "method": method, "name": name });
        if let Some(arguments) = arguments {
            target["arguments"] = serde_json::to_string(arguments)?.into();
        }
        Ok(serde_json::from_value(target)?)
    }
}

/// How far a call came.
pub(crate) enum Ended {
    /// What was called, and its result.
    Done(String, Completed),
    /// It goes on when somebody answers.
    Paused(Box<Paused>),
    /// It has to be made again when somebody answers.
    Restart(Restart),
}

/// Why a call did not come to an end of its own.
pub(crate) enum Stopped {
    Error(Error),
    Failure(Failure),
    /// The server was not ready in time; the call as it stands.
    NotReady(Box<Paused>, Duration),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Calls of one session.
pub(crate) struct Caller<'a> {
    pub(crate) session: &'a Session,
    pub(crate) desk: &'a Desk,
    /// How long a server may ask to come back.
    pub(crate) poll: Option<Duration>,
}

impl Caller<'_> {
    /// Makes a call.
    pub(crate) async fn start(&self, wanted: Wanted) -> Result<Ended, Stopped> {
        let call = wanted.target()?;
        let name = call.name().to_owned();
        let begun = async {
            self.session.begins().await;
            self.begin(wanted).await
        };
        let finished = self.finish(name, begun);
        let ended = self.unless_interrupted(finished).await;
        match ended {
            Err(Stopped::Error(error)) => match error.kind() {
                // The server has been told already.
                ErrorKind::NotPausable { key, question } => Ok(Ended::Restart(Restart {
                    call,
                    answered: self.desk.record().answered.clone(),
                    open: vec![(key.clone(), (**question).clone())],
                })),
                _ => Err(Stopped::Error(error)),
            },
            ended => ended,
        }
    }

    /// Goes on with a call.
    pub(crate) async fn resume(&self, paused: Paused) -> Result<Ended, Stopped> {
        let name = paused.call().name().to_owned();
        let resumed = async {
            self.session.begins().await;
            self.session.connection.resume(paused).await
        };
        self.unless_interrupted(self.finish(name, resumed)).await
    }

    async fn begin(&self, wanted: Wanted) -> Result<Outcome<Completed>, Error> {
        let connection = &self.session.connection;
        Ok(match wanted {
            Wanted::Tool(name, arguments) => {
                let outcome = connection.start(CallTool::new(name, arguments)).await?;
                outcome.map(Completed::Tool)
            }
            Wanted::Prompt(name, arguments) => {
                let outcome = connection.start(GetPrompt::new(name, arguments)).await?;
                outcome.map(Completed::Prompt)
            }
            Wanted::Resource(uri) => {
                let outcome = connection.start(ReadResource::new(uri)).await?;
                outcome.map(Completed::Resource)
            }
        })
    }

    /// Comes back to a server that is not ready, until it is.
    async fn finish(
        &self,
        name: String,
        begun: impl Future<Output = Result<Outcome<Completed>, Error>>,
    ) -> Result<Ended, Stopped> {
        let poll = self.poll.unwrap_or(POLL);
        // From when on it has not been ready, and in which round.
        let mut waiting: Option<(u32, Instant)> = None;
        let mut outcome = begun.await?;
        loop {
            let paused = match outcome {
                Outcome::Done(result) => return Ok(Ended::Done(name, result)),
                Outcome::Later(paused) => paused,
                Outcome::Paused(paused) => return Ok(Ended::Paused(Box::new(paused))),
                _ => return Err(Error::decode("an outcome of an unknown kind").into()),
            };
            let now = Instant::now();
            let since = match waiting {
                Some((round, since)) if round == paused.round() => since,
                _ => now,
            };
            waiting = Some((paused.round(), since));
            let pause = paused.retry_after();
            if now.duration_since(since) + pause > poll {
                return Err(Stopped::NotReady(Box::new(paused), poll));
            }
            sleep(pause).await;
            outcome = self.session.connection.resume(paused).await?;
        }
    }

    /// Ctrl-C ends it: what was asked of the server is withdrawn.
    async fn unless_interrupted(
        &self,
        work: impl Future<Output = Result<Ended, Stopped>>,
    ) -> Result<Ended, Stopped> {
        // It is dropped after the desk has heard of it.
        let mut work = pin!(work);
        let mut signal = pin!(interrupted());
        tokio::select! {
            biased;
            () = self.desk.interrupted.cancelled() => {
                // Ctrl-C at a prompt is a signal, too, which may come later. Taken for a second one
                // it would keep the server from being told.
                _ = timeout(SIGNAL, signal).await;
                Err(Failure::interrupted().into())
            }
            () = &mut signal => {
                self.desk.interrupt();
                Err(Failure::interrupted().into())
            }
            ended = &mut work => ended,
        }
    }
}

/// Anything else that may take its time, until Ctrl-C.
pub(crate) async fn unless_interrupted<T>(
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        biased;
        () = interrupted() => Err(Failure::interrupted()),
        done = work => done,
    }
}

/// Somebody presses Ctrl-C, or wants this process to end: then, too, the terminal is left as it
/// was, and no child behind.
pub(crate) async fn interrupted() {
    let asked_to_end = async {
        #[cfg(unix)]
        if let Ok(mut asked) = signal(SignalKind::terminate()) {
            asked.recv().await;
            return;
        }
        std::future::pending().await
    };
    let pressed = async {
        loop {
            let heard = tokio::signal::ctrl_c().await;
            if heard.is_err() || !terminal::was_disturbed() {
                return;
            }
        }
    };
    tokio::select! {
        () = pressed => {}
        () = asked_to_end => {}
    }
}

/// What to say when the poll clock ran out.
pub(crate) fn not_ready(after: Duration) -> Failure {
    let after = humantime::format_duration(after);
    Failure::new(
        Exit::TimedOut,
        format!(
            "the server was not done within {after} (the {} clock)",
            Clock::Poll
        ),
    )
}
