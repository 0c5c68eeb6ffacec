//! [`Observer`]: what is told about every request once it is over.

use std::{fmt, sync::Arc, time::Duration};

use antiphon_types::Version;

/// Hears of every request once: what a server counts and times.
///
/// It is called where the request ran, so it should only note what it hears. A panic in it is
/// logged and costs nothing else. A closure will do:
///
/// ```
/// use antiphon::{raw::{About, Answered}, types::Implementation};
///
/// let about = About::new(Implementation::new("quay", "1.0")).observer(|answered: &Answered<'_>| {
///     eprintln!("{} {} {:?}", answered.method, answered.outcome.name(), answered.duration);
/// });
/// # let _ = about;
/// ```
pub trait Observer: Send + Sync + 'static {
    /// A request was answered, or abandoned.
    fn answered(&self, answered: &Answered<'_>);
}

impl<F: Fn(&Answered<'_>) + Send + Sync + 'static> Observer for F {
    fn answered(&self, answered: &Answered<'_>) {
        self(answered);
    }
}

/// One request that is over. Texts of the peer are cut after 100 characters; they are its own
/// choice all the same, so beware of keeping a counter for each.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answered<'a> {
    /// The method, as it was called.
    pub method: &'a str,
    /// The tool or prompt by name, or the resource by URI.
    pub target: Option<&'a str>,
    /// The revision the request spoke, unless it was refused for that.
    pub version: Option<Version>,
    /// How it ended.
    pub outcome: Observed,
    /// From the whole message to its answer, or to its end.
    pub duration: Duration,
    /// How it came.
    pub transport: Transport,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Observed {
    /// With a result.
    Complete,
    /// With questions, or to come back later.
    InputRequired,
    /// With a result that tells of a tool's failure (`isError`).
    ToolError,
    /// With a JSON-RPC error of this code.
    Error(i64),
    /// Without an answer: cancelled, or its client left.
    Abandoned,
}

impl Observed {
    /// A short name: what spans call it too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::InputRequired => "input_required",
            Self::ToolError => "tool_error",
            Self::Error(_) => "error",
            Self::Abandoned => "abandoned",
        }
    }
}

/// How a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// In process.
    Memory,
    /// By lines, on standard streams or others.
    Stdio,
    /// Streamable HTTP.
    Http,
}

/// A shared observer.
#[derive(Clone)]
pub(crate) struct Watcher(pub(crate) Arc<dyn Observer>);

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an observer")
    }
}
