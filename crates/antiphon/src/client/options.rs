//! What is special about one call.

use std::{sync::Arc, time::Duration};

use antiphon_types::{LoggingLevel, MetaObject, ProgressNotificationParams, meta};
use tokio_util::sync::CancellationToken;

type OnProgress = Arc<dyn Fn(&ProgressNotificationParams) + Send + Sync>;

/// What is special about one call; what is not said is as the client has it.
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
    /// What the caller calls it.
    pub(super) tag: Option<String>,
    /// Nothing that was kept will do.
    pub(super) fresh: bool,
}

impl Options {
    /// Whether the metadata may decide about the result, so that no other request has the same
    /// answer (CACHE-C-01). What traces a request does not.
    pub(super) fn says_more(&self) -> bool {
        let tracing = [meta::TRACEPARENT, meta::TRACESTATE, meta::BAGGAGE];
        !self.meta.keys().all(|key| tracing.contains(&key.as_str()))
    }
}

/// What can be said of a call, whether it begins or goes on.
macro_rules! options {
    ($($of:tt)*) => {
        $($of)* {
        /// How many rounds of questions are answered.
        #[must_use]
        pub fn max_rounds(mut self, rounds: u32) -> Self {
            self.options.max_rounds = Some(rounds);
            self
        }

        /// How long the server may work on each request.
        #[must_use]
        pub fn work_timeout(mut self, timeout: std::time::Duration) -> Self {
            self.options.work = Some(timeout);
            self
        }

        /// How long the answers to a round of questions may take.
        #[must_use]
        pub fn human_timeout(mut self, timeout: std::time::Duration) -> Self {
            self.options.human = Some(timeout);
            self
        }

        /// How long to come back to a server that is not ready.
        #[must_use]
        pub fn poll_timeout(mut self, timeout: std::time::Duration) -> Self {
            self.options.poll = Some(timeout);
            self
        }

        /// Gives the call up when this token fires; the server is told, and callbacks are dropped.
        #[must_use]
        pub fn cancel_with(mut self, token: $crate::CancellationToken) -> Self {
            self.options.cancel = Some(token);
            self
        }

        /// Asks for progress, which goes to this function. It must not block.
        #[must_use]
        pub fn on_progress(
            mut self,
            report: impl Fn(&$crate::types::ProgressNotificationParams) + Send + Sync + 'static,
        ) -> Self {
            self.options.on_progress = Some(std::sync::Arc::new(report));
            self
        }

        /// Gives the call a name of one's own, such as the conversation it belongs to. Callbacks
        /// see it ([`Question::tag`](super::Question::tag)); the server does not.
        #[must_use]
        pub fn tag(mut self, tag: impl Into<String>) -> Self {
            self.options.tag = Some(tag.into());
            self
        }

        /// Asks for log messages of at least this level, which go to the client's
        /// [`on_log`](super::Client::on_log).
        #[must_use]
        pub fn log_level(mut self, level: $crate::types::LoggingLevel) -> Self {
            self.options.log_level = Some(level);
            self
        }

        /// Adds a member to the request's metadata, such as `traceparent`. Those that the protocol
        /// itself needs are not replaced.
        #[must_use]
        pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
            self.options.meta.insert(key.into(), value.into());
            self
        }
        }
    };
}
pub(super) use options;
