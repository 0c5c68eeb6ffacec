//! [`Logger`]: log messages for the client of one request.

use std::sync::Arc;

use antiphon_types::{LoggingLevel, LoggingMessageNotificationParams};
use serde::Serialize;

use super::outbox::Outbox;

/// Sends log messages on one request's own stream.
///
/// A message below the level the client named on this request is left out, and without a level
/// all are (LOG-S-02, LOG-S-03).
#[derive(Debug, Clone)]
pub struct Logger {
    level: Option<LoggingLevel>,
    name: Option<String>,
    outbox: Arc<Outbox>,
}

impl Logger {
    pub(crate) fn new(level: Option<LoggingLevel>, outbox: &Arc<Outbox>) -> Self {
        Self {
            level,
            name: None,
            outbox: outbox.clone(),
        }
    }

    /// The same, under a logger's name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Whether a message at `level` would be sent: ask before building a costly one.
    pub fn wants(&self, level: LoggingLevel) -> bool {
        self.level.is_some_and(|least| level >= least)
    }

    /// Sends `data`, any JSON value. Never put credentials or personal data here (LOG-S-07).
    pub fn log(&self, level: LoggingLevel, data: impl Serialize) {
        if !self.wants(level) {
            return;
        }
        let Ok(data) = serde_json::to_value(data) else {
            tracing::error!("log data does not serialise and was dropped");
            return;
        };
        let mut params = LoggingMessageNotificationParams::new(level, data);
        params.logger.clone_from(&self.name);
        self.outbox.notify("notifications/message", &params);
    }

    /// At `debug`.
    pub fn debug(&self, data: impl Serialize) {
        self.log(LoggingLevel::Debug, data);
    }

    /// At `info`.
    pub fn info(&self, data: impl Serialize) {
        self.log(LoggingLevel::Info, data);
    }

    /// At `warning`.
    pub fn warning(&self, data: impl Serialize) {
        self.log(LoggingLevel::Warning, data);
    }

    /// At `error`.
    pub fn error(&self, data: impl Serialize) {
        self.log(LoggingLevel::Error, data);
    }
}
