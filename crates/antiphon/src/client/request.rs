//! [`Request`]: a call, and what is special about this one.

use std::{fmt, marker::PhantomData, sync::Arc, time::Duration};

use antiphon_types::{LoggingLevel, MetaObject, ProgressNotificationParams, meta, method};
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Error, Target};

/// A call of a tool.
pub type CallTool = Request<method::CallTool>;
/// A request for a prompt.
pub type GetPrompt = Request<method::GetPrompt>;
/// A request for a resource.
pub type ReadResource = Request<method::ReadResource>;

/// One of the three requests that may be answered with questions: [`CallTool`], [`GetPrompt`],
/// [`ReadResource`].
///
/// What is not said here is as the [`Client`](super::Client) has it.
#[derive(Clone)]
pub struct Request<M> {
    pub(super) target: Result<Target, Arc<Error>>,
    pub(super) options: Options,
    method: PhantomData<fn() -> M>,
}

type OnProgress = Arc<dyn Fn(&ProgressNotificationParams) + Send + Sync>;

/// What is special about one call.
#[derive(Clone, Default)]
pub(super) struct Options {
    pub(super) max_rounds: Option<u32>,
    pub(super) work: Option<Duration>,
    pub(super) human: Option<Duration>,
    pub(super) poll: Option<Duration>,
    pub(super) cancel: Option<CancellationToken>,
    pub(super) on_progress: Option<OnProgress>,
    pub(super) log_level: Option<LoggingLevel>,
    pub(super) meta: MetaObject,
}

impl Options {
    /// Whether the metadata may decide about the result, so that no other request has the same
    /// answer (CACHE-C-01). What traces a request does not.
    pub(super) fn says_more(&self) -> bool {
        let tracing = [meta::TRACEPARENT, meta::TRACESTATE, meta::BAGGAGE];
        !self.meta.keys().all(|key| tracing.contains(&key.as_str()))
    }
}

impl CallTool {
    /// A call of this tool. The arguments serialise to an object, or to nothing at all: `()`.
    pub fn new(name: impl Into<String>, arguments: impl Serialize) -> Self {
        Self::to(Target::new("tools/call", name.into(), &arguments))
    }
}

impl GetPrompt {
    /// A request for this prompt. The arguments serialise to an object of strings, or to nothing
    /// at all: `()`.
    pub fn new(name: impl Into<String>, arguments: impl Serialize) -> Self {
        let target = Target::new("prompts/get", name.into(), &arguments);
        Self::to(target.and_then(only_strings))
    }
}

impl ReadResource {
    /// A request for the resource at this URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self::to(Ok(Target::resource(uri.into())))
    }
}

/// PROMPT-C-02
fn only_strings(target: Target) -> Result<Target, Error> {
    let arguments = target
        .arguments()
        .map(|raw| serde_json::from_str(raw.get()));
    match arguments {
        Some(Ok(Value::Object(arguments))) => {
            match arguments.iter().find(|(_, value)| !value.is_string()) {
                None => Ok(target),
                Some((name, _)) => Err(Error::invalid(format!(
                    "{target}: the argument `{name}` of a prompt must be a string"
                ))),
            }
        }
        _ => Ok(target),
    }
}

impl<M> Request<M> {
    fn to(target: Result<Target, Error>) -> Self {
        Self {
            target: target.map_err(Arc::new),
            options: Options::default(),
            method: PhantomData,
        }
    }

    /// How many rounds of questions are answered.
    #[must_use]
    pub fn max_rounds(mut self, rounds: u32) -> Self {
        self.options.max_rounds = Some(rounds);
        self
    }

    /// How long the server may work on each request.
    #[must_use]
    pub fn work_timeout(mut self, timeout: Duration) -> Self {
        self.options.work = Some(timeout);
        self
    }

    /// How long the answers to a round of questions may take.
    #[must_use]
    pub fn human_timeout(mut self, timeout: Duration) -> Self {
        self.options.human = Some(timeout);
        self
    }

    /// How long to come back to a server that is not ready.
    #[must_use]
    pub fn poll_timeout(mut self, timeout: Duration) -> Self {
        self.options.poll = Some(timeout);
        self
    }

    /// Gives the call up when this token fires; the server is told, and callbacks are dropped.
    #[must_use]
    pub fn cancel_with(mut self, token: CancellationToken) -> Self {
        self.options.cancel = Some(token);
        self
    }

    /// Asks for progress, which goes to this function. It must not block.
    #[must_use]
    pub fn on_progress(
        mut self,
        report: impl Fn(&ProgressNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.options.on_progress = Some(Arc::new(report));
        self
    }

    /// Asks for log messages of at least this level, which go to the client's
    /// [`on_log`](super::Client::on_log).
    #[must_use]
    pub fn log_level(mut self, level: LoggingLevel) -> Self {
        self.options.log_level = Some(level);
        self
    }

    /// Adds a member to the request's metadata, such as `traceparent`. Those that the protocol
    /// itself needs are not replaced.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.options.meta.insert(key.into(), value.into());
        self
    }
}

impl<M> fmt::Debug for Request<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            Ok(target) => write!(f, "Request({target})"),
            Err(error) => write!(f, "Request({error})"),
        }
    }
}
