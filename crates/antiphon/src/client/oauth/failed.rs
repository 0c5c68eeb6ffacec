//! [`Failed`]: why nobody could be signed in.

use std::{error::Error as StdError, fmt};

use crate::{client::error::Boxed, web};

/// Why nobody could be signed in. It holds no secret.
#[derive(Debug)]
pub(super) struct Failed {
    message: String,
    source: Option<Boxed>,
    /// What the authorization server calls it.
    pub(super) code: Option<String>,
}

impl Failed {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            source: None,
            code: None,
        }
    }

    pub(super) fn caused_by(mut self, source: impl Into<Boxed>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Whether whoever was asked will say the same the next time.
    pub(super) fn is_final(&self) -> bool {
        const PASSING: [&str; 4] = [
            "temporarily_unavailable",
            "server_error",
            "slow_down",
            "use_dpop_nonce",
        ];
        let code = self.code.as_deref();
        code.is_some_and(|code| !PASSING.contains(&code))
    }

    /// The same, with what it happened to before it.
    pub(super) fn during(mut self, what: impl fmt::Display) -> Self {
        self.message = format!("{what}: {}", self.message);
        self
    }
}

impl From<web::Error> for Failed {
    fn from(error: web::Error) -> Self {
        Self::new(error.message).maybe(error.source)
    }
}

impl Failed {
    fn maybe(mut self, source: Option<Boxed>) -> Self {
        self.source = source;
        self
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

impl StdError for Failed {}
