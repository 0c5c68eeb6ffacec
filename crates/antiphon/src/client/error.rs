//! [`Error`]: why a call brought no result.

use std::{error::Error as StdError, fmt, time::Duration};

use antiphon_core::question::Kind;
use antiphon_types::{
    CallToolResult, ClientCapabilities, ErrorObject, InputRequest, InputRequired, code,
};

use serde::Deserialize;

use super::{Paused, Problem};
use crate::excerpt;
#[cfg(feature = "http")]
use crate::web;

/// Any error that can be boxed.
pub(crate) type Boxed = Box<dyn StdError + Send + Sync>;

#[cfg(feature = "http")]
impl From<web::Error> for Error {
    fn from(error: web::Error) -> Self {
        let web::Error {
            kind,
            message,
            source,
        } = error;
        let mut error = match kind {
            web::Kind::Invalid => Self::invalid(message),
            web::Kind::Transport { unsent: false } => Self::transport(message),
            web::Kind::Transport { unsent: true } => Self::transport(message).unsent(),
            web::Kind::Decode => Self::decode(message),
            web::Kind::Status(status) => Self::new(ErrorKind::Status(status), message),
            web::Kind::TimedOut(after) => {
                let clock = Clock::Work;
                Self::new(ErrorKind::TimedOut { clock, after }, message)
            }
        };
        error.0.source = source;
        error
    }
}

/// Why something did not work. A tool that failed is no error but a result.
///
/// What kind of failure it is stands in [`Error::kind`]; the text says what happened, to which
/// call, and where it helps what to do.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    /// The call it happened to.
    during: Option<String>,
    message: String,
    source: Option<Boxed>,
    /// The call as it stood, when somebody had answered already.
    interrupted: Option<Box<Paused>>,
    /// The request never left.
    unsent: bool,
    /// The HTTP status that a JSON-RPC error came with.
    status: Option<u16>,
}

/// What kind of failure it is.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The server answered with an error.
    Protocol(ErrorObject),
    /// The server asked in more rounds than are allowed; its last questions, unanswered.
    RoundsExceeded(Box<InputRequired>),
    /// A clock ran out.
    TimedOut {
        /// Which.
        clock: Clock,
        /// What it allowed.
        after: Duration,
    },
    /// The server asked what nobody declared an answer to. Nothing was sent.
    Unsupported {
        /// The key of the question.
        key: String,
        /// What a JSON-RPC peer would be told, of code -32600.
        error: ErrorObject,
    },
    /// A callback refused a question, or failed. Nothing was sent.
    Refused {
        /// The key of the question.
        key: String,
        /// In which round it came, from 1.
        round: u32,
    },
    /// An answer does not fit its question, after every try. Nothing was sent.
    InvalidAnswer {
        /// The key of the question.
        key: String,
        /// In which round it came, from 1.
        round: u32,
        /// What is wrong with the answer, field by field.
        errors: Vec<String>,
    },
    /// The call waits for answers that its caller gives by hand, see [`Error::into_paused`].
    Paused(Box<Paused>),
    /// The server asks what the caller answers [by hand](super::Client::by_hand), but speaks a
    /// revision in which a call cannot be paused. It was told that there is no answer, and that
    /// the call is cancelled.
    NotPausable {
        /// The key of the question.
        key: String,
        /// The question.
        question: Box<InputRequest>,
    },
    /// A paused call cannot be resumed as it is. Nothing was sent.
    NotResumed {
        /// The call, unharmed.
        paused: Box<Paused>,
        /// Why, question by question.
        problems: Vec<Problem>,
    },
    /// The hook of [`Client::on_round`](super::Client::on_round) refused the questions.
    Stopped {
        /// In which round, from 1.
        round: u32,
    },
    /// The server wants to know who is calling, or will not serve this caller (HTTP 401, 403).
    Unauthorized {
        /// The status.
        status: u16,
        /// The `WWW-Authenticate` headers.
        challenges: Vec<String>,
    },
    /// The server answered with an HTTP status and no JSON-RPC message.
    Status(u16),
    /// The server speaks no revision that is spoken here.
    Version {
        /// What it speaks, as far as it says.
        supported: Vec<String>,
    },
    /// The server does not know the session any more (HTTP 404 to a request under one), so it did
    /// not look at the request. Only servers of older revisions have sessions.
    SessionLost,
    /// The server could not be reached, or was lost before it answered.
    Transport,
    /// The call was cancelled on this side.
    Cancelled,
    /// What the server sent is no valid answer.
    Decode,
    /// The structured content of a tool's result does not fit the tool's own output schema. The
    /// tool ran; this is what it gave.
    SchemaMismatch(Box<CallToolResult>),
    /// What the caller gave cannot be sent.
    Invalid,
}

/// What a deadline is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Clock {
    /// The server's work, from a request to its response.
    Work,
    /// The answers to one round of questions.
    Human,
    /// Coming back to a server that is not ready yet.
    Poll,
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Work => "work",
            Self::Human => "human",
            Self::Poll => "poll",
        })
    }
}

impl Error {
    /// An error of this kind.
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            during: None,
            message: message.into(),
            source: None,
            interrupted: None,
            unsent: false,
            status: None,
        }))
    }

    /// The transport failed; for transports of one's own.
    pub fn transport(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Transport, message)
    }

    /// The peer's bytes are no valid answer; for transports of one's own.
    pub fn decode(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Decode, message)
    }

    /// The server does not know the session that the request was sent under; for transports of
    /// one's own.
    pub fn session_lost() -> Self {
        Self::new(
            ErrorKind::SessionLost,
            "the server does not know this session any more",
        )
    }

    /// What the caller gave cannot be sent.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// The server answered with an error.
    pub(crate) fn protocol(error: ErrorObject) -> Self {
        let said = excerpt::lines(&error.message, 1000);
        let help = missing(&error).map(|kinds| format!("; it needs {kinds}"));
        let help = help.unwrap_or_default();
        let message = format!("the server answered: {said} ({}){help}", error.code);
        Self::new(ErrorKind::Protocol(error), message)
    }

    /// The call was cancelled.
    pub(crate) fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "the call was cancelled")
    }

    /// A clock ran out.
    pub(crate) fn timed_out(clock: Clock, after: Duration) -> Self {
        let what = match clock {
            Clock::Work => "the server did not answer",
            Clock::Human => "the questions were not answered",
            Clock::Poll => "the server was not done",
        };
        let message = format!("{what} within {after:?} (the {clock} clock)");
        Self::new(ErrorKind::TimedOut { clock, after }, message)
    }

    /// Adds what caused it.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Adds the call it happened to, unless there is one already.
    pub(crate) fn during(mut self, call: impl fmt::Display) -> Self {
        self.0.during.get_or_insert_with(|| call.to_string());
        self
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// What caused it, such as the error that a callback gave. Its text is a part of this one's,
    /// so [`source`](StdError::source) goes on with what caused it in turn.
    pub fn cause(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        self.0.source.as_deref()
    }

    /// The kind, by value.
    pub fn into_kind(self) -> ErrorKind {
        self.0.kind
    }

    /// The error that the server answered with.
    pub fn answered(&self) -> Option<&ErrorObject> {
        match &self.0.kind {
            ErrorKind::Protocol(error) => Some(error),
            _ => None,
        }
    }

    /// The code of a JSON-RPC error: what the server sent, or -32600 for a question that
    /// nobody answers.
    pub fn code(&self) -> Option<i64> {
        match &self.0.kind {
            ErrorKind::Protocol(error) | ErrorKind::Unsupported { error, .. } => Some(error.code),
            _ => None,
        }
    }

    /// The HTTP status that the server's error came with, where there was one.
    pub fn http_status(&self) -> Option<u16> {
        match &self.0.kind {
            ErrorKind::Status(status) | ErrorKind::Unauthorized { status, .. } => Some(*status),
            _ => self.0.status,
        }
    }

    /// Adds the HTTP status that a JSON-RPC error came with.
    pub(crate) fn with_status(mut self, status: Option<u16>) -> Self {
        self.0.status = status;
        self
    }

    /// Whether the server says that there is no such resource, in the words of any revision
    /// (RES-C-01, ERR-C-01).
    pub fn is_not_found(&self) -> bool {
        match &self.0.kind {
            ErrorKind::Protocol(error) => {
                error.code == code::RESOURCE_NOT_FOUND
                    || (error.code == code::INVALID_PARAMS
                        && error
                            .data
                            .as_ref()
                            .is_some_and(|data| data.get("uri").is_some()))
            }
            _ => false,
        }
    }

    /// The request never left; for transports of one's own.
    #[must_use]
    pub fn unsent(mut self) -> Self {
        self.0.unsent = true;
        self
    }

    /// Whether the request may have reached the server although there is no answer to it. Where
    /// it is `false` after [`ErrorKind::Transport`], trying again does nothing twice.
    pub fn may_have_been_sent(&self) -> bool {
        !self.0.unsent
            && matches!(
                self.0.kind,
                ErrorKind::Transport
                    | ErrorKind::TimedOut {
                        clock: Clock::Work | Clock::Poll,
                        ..
                    }
            )
    }

    /// The call as it stands, if it can go on; see [`into_paused`](Self::into_paused).
    pub fn paused(&self) -> Option<&Paused> {
        match (&self.0.interrupted, &self.0.kind) {
            (Some(paused), _)
            | (None, ErrorKind::Paused(paused) | ErrorKind::NotResumed { paused, .. }) => {
                Some(paused)
            }
            _ => None,
        }
    }

    /// Keeps the call as it stood: what a person has answered is not to be lost.
    pub(crate) fn interrupted(mut self, paused: Paused) -> Self {
        self.0.interrupted = Some(Box::new(paused));
        self
    }

    /// The call as it stands, if it can go on: it waits for answers by hand, or it was
    /// interrupted after some were given, and has them still.
    ///
    /// Whether to resume one that was interrupted depends on the [`kind`](Self::kind): when the
    /// response was lost, the server may have done its part already.
    ///
    /// # Errors
    /// The error itself, if there is no such call in it.
    pub fn into_paused(mut self) -> Result<Paused, Self> {
        match (self.0.interrupted.take(), self.0.kind) {
            (Some(paused), _)
            | (None, ErrorKind::Paused(paused) | ErrorKind::NotResumed { paused, .. }) => {
                Ok(*paused)
            }
            (None, kind) => {
                self.0.kind = kind;
                Err(self)
            }
        }
    }
}

/// Much of it may be a server's words, so nothing is repeated at any length, or as it is.
/// What a server misses that a client could declare, and how.
fn missing(error: &ErrorObject) -> Option<String> {
    let data = error.data.as_ref()?;
    let required = data.get("requiredCapabilities")?;
    let required = ClientCapabilities::deserialize(required).ok()?;
    let ways = [
        (Kind::Form, "on_form"),
        (Kind::Url, "on_url"),
        (Kind::SampleWithTools, "on_sample_with_tools"),
        (Kind::Sample, "on_sample"),
        (Kind::Roots, "on_roots"),
    ];
    let tools = Kind::SampleWithTools.is_declared(&required);
    let named = ways
        .into_iter()
        .filter(|(kind, _)| kind.is_declared(&required) && !(tools && *kind == Kind::Sample))
        .map(|(kind, callback)| format!("`Client::{callback}`, or `by_hand([Kind::{kind:?}])`"));
    let named = named.collect::<Vec<_>>().join(", and ");
    (error.code == code::MISSING_CLIENT_CAPABILITY && !named.is_empty()).then_some(named)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(during) = &self.0.during {
            write!(f, "{}: ", excerpt::lines(during, 500))?;
        }
        f.write_str(&excerpt::lines(&self.0.message, 2000))?;
        // What a person reads must tell the cause; the chain keeps it for programs.
        match &self.0.source {
            Some(source) => write!(f, ": {}", excerpt::lines(&source.to_string(), 1000)),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind: &dyn fmt::Debug = match &self.0.kind {
            // A result may be of any size.
            ErrorKind::SchemaMismatch(_) => &format_args!("SchemaMismatch(..)"),
            kind => kind,
        };
        f.debug_struct("Error")
            .field("kind", kind)
            .field("text", &format_args!("{self}"))
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        // The cause is in the text already: its own cause is what comes next.
        self.0.source.as_deref().and_then(StdError::source)
    }
}
