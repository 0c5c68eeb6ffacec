//! [`Error`]: why an exchange over HTTP brought nothing.

use std::{error::Error as StdError, fmt, time::Duration};

/// Any error that can be boxed.
pub(crate) type Boxed = Box<dyn StdError + Send + Sync>;

/// Why an exchange over HTTP brought nothing.
#[derive(Debug)]
pub(crate) struct Error {
    pub(crate) kind: Kind,
    pub(crate) message: String,
    pub(crate) source: Option<Boxed>,
}

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It cannot be done as it was configured.
    Invalid,
    /// Nobody is there, or whoever was is gone.
    Transport {
        /// The request never left.
        unsent: bool,
    },
    /// What came cannot be used.
    Decode,
    /// It was answered with this status, which leads nowhere.
    Status(u16),
    /// It took longer than this.
    TimedOut(Duration),
}

impl Error {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
        }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, message)
    }

    pub(crate) fn decode(message: impl Into<String>) -> Self {
        Self::new(Kind::Decode, message)
    }

    pub(crate) fn caused_by(mut self, source: impl Into<Boxed>) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
