//! Notifications about progress, logs, cancelling and resources.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::jsonrpc::{ProgressToken, RequestId};
use crate::meta::MetaObject;

/// Params of a notification that has no others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NotificationParams {
    /// Metadata of the notification.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl NotificationParams {
    /// No metadata.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(NotificationParams { plain { meta: MetaObject } });

/// How far a request has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProgressNotificationParams {
    /// The token the request gave.
    pub progress_token: ProgressToken,
    /// How far; grows with every notification.
    pub progress: Number,
    /// How far it will go, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Number>,
    /// What is going on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Metadata of the notification.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ProgressNotificationParams {
    /// The request with this token has come this far.
    pub fn new(progress_token: impl Into<ProgressToken>, progress: impl Into<Number>) -> Self {
        Self {
            progress_token: progress_token.into(),
            progress: progress.into(),
            total: None,
            message: None,
            meta: None,
        }
    }
}

setters!(ProgressNotificationParams {
    into { total: Number, message: String }
    plain { meta: MetaObject }
});

/// A log message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LoggingMessageNotificationParams {
    /// How severe.
    pub level: LoggingLevel,
    /// Which part of the server speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    /// What it says, any JSON.
    pub data: Value,
    /// Metadata of the notification.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl LoggingMessageNotificationParams {
    /// A message of this level.
    pub fn new(level: LoggingLevel, data: impl Into<Value>) -> Self {
        Self {
            level,
            logger: None,
            data: data.into(),
            meta: None,
        }
    }
}

setters!(LoggingMessageNotificationParams {
    into { logger: String }
    plain { meta: MetaObject }
});

/// Severity of a log message; the more severe compares greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoggingLevel {
    /// For finding faults.
    Debug,
    /// Ordinary news.
    Info,
    /// Worth a look.
    Notice,
    /// Might go wrong.
    Warning,
    /// Went wrong.
    Error,
    /// A part is down.
    Critical,
    /// Act at once.
    Alert,
    /// Nothing works.
    Emergency,
}

impl LoggingLevel {
    /// All levels, the least severe first.
    const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

impl fmt::Display for LoggingLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for LoggingLevel {
    type Err = UnknownLoggingLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLoggingLevel> {
        Self::ALL
            .into_iter()
            .find(|level| level.as_str() == text)
            .ok_or_else(|| UnknownLoggingLevel(text.to_owned()))
    }
}

/// Not the name of a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownLoggingLevel(String);

impl fmt::Display for UnknownLoggingLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown logging level {:?}", self.0)
    }
}

impl std::error::Error for UnknownLoggingLevel {}

/// The sender no longer wants a response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CancelledNotificationParams {
    /// To which request. Only 2025-11-25 may leave it out, for tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Metadata of the notification.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl CancelledNotificationParams {
    /// Cancels this request.
    pub fn new(request_id: impl Into<RequestId>) -> Self {
        Self {
            request_id: Some(request_id.into()),
            reason: None,
            meta: None,
        }
    }
}

setters!(CancelledNotificationParams {
    into { reason: String }
    plain { meta: MetaObject }
});

/// A resource has changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResourceUpdatedNotificationParams {
    /// Which, or a part of which.
    pub uri: String,
    /// Metadata of the notification.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl ResourceUpdatedNotificationParams {
    /// The resource at `uri`.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            meta: None,
        }
    }
}

setters!(ResourceUpdatedNotificationParams { plain { meta: MetaObject } });

#[cfg(test)]
mod tests {
    use serde_json::{from_str, json, to_string, to_value};

    use super::*;

    #[test]
    fn numbers_stay_as_they_came() {
        for text in [
            r#"{"progressToken":"t","progress":1,"total":2.0,"message":"m"}"#,
            r#"{"progressToken":18446744073709551616,"progress":0.5,"_meta":{}}"#,
        ] {
            let params: ProgressNotificationParams = from_str(text).unwrap();
            assert_eq!(to_string(&params).unwrap(), text);
        }
        assert!(
            from_str::<ProgressNotificationParams>(r#"{"progressToken":1.5,"progress":1}"#)
                .is_err()
        );
    }

    #[test]
    fn levels_ascend() {
        assert!(LoggingLevel::ALL.is_sorted());
        for level in LoggingLevel::ALL {
            assert_eq!(level.as_str().parse(), Ok(level));
            assert_eq!(to_value(level).unwrap(), level.as_str());
        }
        assert!("loud".parse::<LoggingLevel>().is_err());
        assert!(LoggingLevel::Debug < LoggingLevel::Emergency);
    }

    #[test]
    fn log_data_may_be_null_but_not_absent() {
        let params: LoggingMessageNotificationParams =
            from_str(r#"{"level":"info","data":null}"#).unwrap();
        assert_eq!(params.data, Value::Null);
        assert!(from_str::<LoggingMessageNotificationParams>(r#"{"level":"info"}"#).is_err());
        assert_eq!(
            to_value(LoggingMessageNotificationParams::new(LoggingLevel::Error, "x").logger("l"))
                .unwrap(),
            json!({"level": "error", "logger": "l", "data": "x"})
        );
    }

    #[test]
    fn cancelling_names_a_request_or_none() {
        let text = r#"{"requestId":"L1","reason":"r"}"#;
        let params: CancelledNotificationParams = from_str(text).unwrap();
        assert_eq!(params, CancelledNotificationParams::new("L1").reason("r"));
        assert_eq!(to_string(&params).unwrap(), text);
        let none: CancelledNotificationParams = from_str("{}").unwrap();
        assert_eq!(
            (&none.request_id, to_string(&none).unwrap().as_str()),
            (&None, "{}")
        );
    }
}
