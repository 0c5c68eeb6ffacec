//! [`Reply`]: what came back for one request, told apart by what it means to an audit.

use std::{error::Error as _, io, time::Duration};

use antiphon::client::{Error, ErrorKind};
use serde_json::{Map, Value};

use crate::{printable, render::json_line};

/// Longest quotation of what a server said.
const LONGEST: usize = 300;

/// What came back.
#[derive(Debug, Clone)]
pub(super) enum Reply {
    /// The server asks.
    Asks(Round),
    /// It is done: the result.
    Done(Value),
    /// It is done, and failed: the result of a tool that says so.
    Failed(Value),
    /// A JSON-RPC error.
    Refused(Refusal),
    /// An HTTP status without a message.
    Denied(u16),
    /// Nothing that can be read, or nothing at all: the way broke, or brought rubbish.
    Lost(String),
    /// The server hung up while the request was still being sent: what it said to that, if anything,
    /// is lost.
    Cut,
    /// Nothing in time.
    Late(Duration),
}

/// What a server asks in one round, and the state that goes with it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Round {
    /// The questions, by key, as they came.
    pub(super) questions: Map<String, Value>,
    pub(super) state: Option<String>,
}

/// A JSON-RPC error, and the HTTP status it came with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Refusal {
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) data: Option<Value>,
    pub(super) status: Option<u16>,
}

impl Reply {
    /// A response, and the HTTP status if it was not the usual one.
    pub(super) fn read(message: &[u8], status: Option<u16>) -> Self {
        let Ok(message) = serde_json::from_slice::<Value>(message) else {
            let text = String::from_utf8_lossy(message);
            return Self::Lost(format!("no JSON: {}", printable::excerpt(&text, 80)));
        };
        if let Some(error) = message.get("error") {
            return Self::Refused(Refusal {
                code: error.get("code").and_then(Value::as_i64).unwrap_or(0),
                message: text(error.get("message")),
                data: error.get("data").cloned(),
                status,
            });
        }
        let Some(result) = message.get("result").filter(|result| result.is_object()) else {
            return Self::Lost("a response with neither a result nor an error".to_owned());
        };
        match result.get("resultType").and_then(Value::as_str) {
            Some("input_required") => Self::Asks(Round {
                questions: match result.get("inputRequests") {
                    Some(Value::Object(questions)) => questions.clone(),
                    _ => Map::new(),
                },
                state: result
                    .get("requestState")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            }),
            None | Some("complete") => match result.get("isError") {
                Some(Value::Bool(true)) => Self::Failed(result.clone()),
                _ => Self::Done(result.clone()),
            },
            Some(other) => Self::Lost(format!(
                "a result of the unknown kind {}",
                printable::excerpt(other, 80)
            )),
        }
    }

    /// What it means that a request failed on its way.
    pub(super) fn of_error(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::Status(status) | ErrorKind::Unauthorized { status, .. } => {
                Self::Denied(*status)
            }
            _ if is_cut(error) => Self::Cut,
            _ => Self::Lost(printable::excerpt(&error.to_string(), LONGEST)),
        }
    }

    /// Whether it is over: the call ran to its end, well or badly.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self, Self::Done(_) | Self::Failed(_))
    }

    /// Whether the server itself is in trouble.
    pub(super) fn is_trouble(&self) -> bool {
        match self {
            Self::Lost(_) | Self::Cut | Self::Late(_) => true,
            Self::Denied(status) => is_trouble(*status),
            Self::Refused(refusal) => refusal.status.is_some_and(is_trouble),
            Self::Asks(_) | Self::Done(_) | Self::Failed(_) => false,
        }
    }

    /// What a caller is told by a no, whichever way it is said. HTTP's own (401, 403) are of those who
    /// look at tokens, and not at states.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        let told = |code: i64, message: String, status: Option<u16>| Refusal {
            code,
            message,
            data: None,
            status,
        };
        match self {
            Self::Refused(refusal) => Some(refusal.clone()),
            Self::Failed(result) => Some(told(0, said(result), None)),
            Self::Denied(401 | 403) => None,
            Self::Denied(status) => Some(told(0, String::new(), Some(*status))),
            _ => None,
        }
    }

    /// In a few words, harmless.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Asks(round) if round.questions.is_empty() => "asked to come back".to_owned(),
            Self::Asks(round) => {
                let keys: Vec<_> = round.questions.keys().map(String::as_str).collect();
                format!("asked for {}", printable::excerpt(&keys.join(", "), 80))
            }
            Self::Done(result) => format!("completed: {}", said(result)),
            Self::Failed(result) => format!("failed as a tool: {}", said(result)),
            Self::Refused(refusal) => refusal.shown(),
            Self::Denied(status) => format!("HTTP {status}"),
            Self::Lost(why) => format!("lost: {why}"),
            Self::Cut => "hung up while the request was being sent".to_owned(),
            Self::Late(after) => format!("no answer within {}", humantime::format_duration(*after)),
        }
    }

    /// Whether two replies are of one kind and say the same.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Done(one), Self::Done(another)) | (Self::Failed(one), Self::Failed(another)) => {
                told(one) == told(another)
            }
            _ => false,
        }
    }

    /// The same, whatever the numbers and ids in it: runs are counted, orders have names of their own.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Done(one), Self::Done(another)) | (Self::Failed(one), Self::Failed(another)) => {
                without_numbers(one) == without_numbers(another)
            }
            _ => false,
        }
    }
}

impl Refusal {
    pub(super) fn shown(&self) -> String {
        let data = match &self.data {
            Some(data) => format!(" {}", printable::excerpt(&json_line(data), 120)),
            None => String::new(),
        };
        let message = printable::excerpt(&self.message, LONGEST);
        match self.code {
            // No error of JSON-RPC.
            0 => message,
            code => format!("error {code} {message}{data}"),
        }
    }

    /// What a caller could tell it from another by.
    pub(super) fn text(&self) -> String {
        let data = self.data.as_ref().map(Value::to_string);
        format!(
            "{} {} {}",
            self.code,
            self.message,
            data.unwrap_or_default()
        )
    }
}

/// Whether an HTTP status is about the server, and not about what it was sent: it broke, or has had
/// enough of requests.
fn is_trouble(status: u16) -> bool {
    status >= 500 || matches!(status, 408 | 425 | 429)
}

/// Whether the other side closed a connection that was being written to.
fn is_cut(error: &Error) -> bool {
    let mut causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.any(|cause| {
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        matches!(
            kind,
            Some(
                io::ErrorKind::BrokenPipe
                    | io::ErrorKind::ConnectionReset
                    | io::ErrorKind::ConnectionAborted
            )
        )
    })
}

/// What a result says, without its metadata.
fn told(result: &Value) -> Value {
    let mut told = result.clone();
    if let Some(members) = told.as_object_mut() {
        members.shift_remove("_meta");
        members.shift_remove("resultType");
    }
    told
}

/// What a result says but for words with a digit in them.
fn without_numbers(result: &Value) -> String {
    let text = told(result).to_string();
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let words = words.map(|word| match word.contains(|c: char| c.is_ascii_digit()) {
        true => word.trim_start_matches(|c: char| c.is_ascii_alphanumeric()),
        false => word,
    });
    words.collect()
}

/// The texts of a result.
fn said(result: &Value) -> String {
    let blocks = result.get("content").and_then(Value::as_array);
    let texts: Vec<_> = blocks
        .into_iter()
        .flatten()
        .filter_map(|block| block.get("text").and_then(Value::as_str))
        .collect();
    match texts.is_empty() {
        true => printable::excerpt(&json_line(&told(result)), LONGEST),
        false => printable::excerpt(&texts.join(" "), LONGEST),
    }
}

fn text(value: Option<&Value>) -> String {
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reply(message: &Value) -> Reply {
        Reply::read(message.to_string().as_bytes(), None)
    }

    fn done(text: &str) -> Reply {
        reply(
            &json!({"result": {"content": [{"type": "text", "text": text}],
            "_meta": {"at": text}}}),
        )
    }

    #[test]
    fn replies_are_told_apart() {
        assert!(done("x").is_complete());
        let failed = json!({"result": {"isError": true, "content": []}});
        assert!(matches!(reply(&failed), Reply::Failed(_)));
        let asks = json!({"result": {"resultType": "input_required",
            "inputRequests": {"a": {}}, "requestState": "s"}});
        let Reply::Asks(round) = reply(&asks) else {
            panic!("it asks");
        };
        assert_eq!(round.state.as_deref(), Some("s"));
        assert!(round.questions.contains_key("a"));
        let refused = json!({"error": {"code": -32602, "message": "no"}});
        assert!(reply(&refused).refusal().is_some());
        assert!(reply(&json!({"result": {"resultType": "task"}})).is_trouble());
        assert!(reply(&json!({"id": 1})).is_trouble());
        assert!(Reply::read(b"<html>", None).is_trouble());
        assert!(!Reply::Denied(401).is_trouble() && Reply::Denied(502).is_trouble());
        assert!(Reply::Denied(429).is_trouble());
        assert!(Reply::Denied(401).refusal().is_none() && Reply::Denied(422).refusal().is_some());
        let told = reply(
            &json!({"result": {"isError": true, "content": [{"type": "text", "text": "no"}]}}),
        );
        assert_eq!(
            told.refusal().map(|refusal| refusal.message).as_deref(),
            Some("no")
        );
    }

    #[test]
    fn numbers_do_not_make_two_results_unlike() {
        assert!(done("run 1").is_like(&done("run 2")));
        assert!(!done("run 1").is_same_as(&done("run 2")));
        assert!(done("run 1").is_same_as(&done("run 1")));
        assert!(!done("ordered").is_like(&done("declined")));
        let [one, two] =
            ["6f1d-4bc8-a77e", "0c95-9e2f-b3d1"].map(|id| done(&format!("order {id}.")));
        assert!(one.is_like(&two) && !one.is_like(&done("no order.")));
    }

    #[test]
    fn what_is_quoted_is_harmless_and_short() {
        let shown = done(&"\u{1b}[2J".repeat(1000)).shown();
        assert!(!shown.contains('\u{1b}') && shown.len() < 5000, "{shown}");
    }
}
