//! [`Failure`]: why a command ended badly, and the exit code that says so.

use std::{error::Error, fmt, process::ExitCode};

/// Why a command ended badly. A wrong command line never gets this far: its code is 2.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something went wrong on the way: 1.
    Run(Box<dyn Error + Send + Sync>),
    /// It could not even start: 3.
    Start(String),
}

impl Failure {
    /// It could not start, because of this.
    pub(crate) fn start(what: impl fmt::Display, why: &dyn Error) -> Self {
        Self::Start(format!("{what}: {why}"))
    }

    pub(crate) fn code(&self) -> ExitCode {
        match self {
            Self::Run(_) => ExitCode::from(1),
            Self::Start(_) => ExitCode::from(3),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(error) => error.fmt(f),
            Self::Start(text) => f.write_str(text),
        }
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Run(error.into())
    }
}
