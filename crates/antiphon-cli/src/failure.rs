//! [`Failure`]: why a command ended badly, and the exit code that says so.

use std::{error::Error as StdError, fmt, io, process::ExitCode};

use antiphon::client::{Error, ErrorKind};

/// How a command can end badly; the exit code is the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The tool failed, or the command did.
    Failed = 1,
    /// Wrong usage, or a file that cannot be used. A wrong command line is told by its parser.
    Usage = 2,
    /// The server cannot be reached or started.
    Unreachable = 3,
    /// The server answered with an error, or does not speak the protocol.
    Protocol = 4,
    /// A clock ran out.
    TimedOut = 5,
    /// The server asks and asks.
    Rounds = 6,
    /// The server wants to know who is calling.
    Unauthorized = 7,
    /// The call waits for an answer.
    Paused = 20,
    /// The server does not take the answers of a paused call any more.
    Expired = 21,
    /// Somebody pressed Ctrl-C.
    Interrupted = 130,
}

/// Why a command ended badly.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// What is said on standard error; nothing if all has been said.
    pub(crate) text: String,
}

impl Failure {
    pub(crate) fn new(exit: Exit, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { exit, text }
    }

    /// All has been said.
    pub(crate) fn silent(exit: Exit) -> Self {
        Self::new(exit, "")
    }

    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::new(Exit::Usage, text)
    }

    /// It could not start, because of this.
    pub(crate) fn start(what: impl fmt::Display, why: &dyn StdError) -> Self {
        Self::new(Exit::Unreachable, format!("{what}: {why}"))
    }

    /// The same, with another line.
    pub(crate) fn and(mut self, line: &str) -> Self {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
        self
    }

    pub(crate) fn interrupted() -> Self {
        Self::new(Exit::Interrupted, "interrupted")
    }

    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(self.exit as u8)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What the exit code of an error is.
fn exit(kind: &ErrorKind) -> Exit {
    match kind {
        ErrorKind::Transport => Exit::Unreachable,
        ErrorKind::Protocol(_)
        | ErrorKind::Status(_)
        | ErrorKind::Version { .. }
        | ErrorKind::SessionLost
        | ErrorKind::Unsupported { .. }
        | ErrorKind::SchemaMismatch(_)
        | ErrorKind::Decode => Exit::Protocol,
        ErrorKind::TimedOut { .. } => Exit::TimedOut,
        ErrorKind::RoundsExceeded(_) => Exit::Rounds,
        ErrorKind::Unauthorized { .. } => Exit::Unauthorized,
        ErrorKind::Paused(_) | ErrorKind::NotPausable { .. } => Exit::Paused,
        ErrorKind::Invalid | ErrorKind::NotResumed { .. } | ErrorKind::InvalidAnswer { .. } => {
            Exit::Usage
        }
        ErrorKind::Cancelled => Exit::Interrupted,
        _ => Exit::Failed,
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(
            exit(error.kind()),
            crate::printable::quoted(&error.to_string()),
        )
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::Interrupted => Self::interrupted(),
            _ => Self::new(Exit::Failed, error.to_string()),
        }
    }
}

impl From<tokio::task::JoinError> for Failure {
    fn from(error: tokio::task::JoinError) -> Self {
        Self::new(Exit::Failed, error.to_string())
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::new(Exit::Failed, error.to_string())
    }
}

impl From<&str> for Failure {
    fn from(text: &str) -> Self {
        Self::new(Exit::Failed, text)
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self::new(Exit::Failed, text)
    }
}
