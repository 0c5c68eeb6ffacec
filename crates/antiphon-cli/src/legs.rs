//! Legs: what goes to the server and what comes back, a line each, without the metadata.

use std::{
    collections::HashMap,
    fmt::Write,
    sync::{Mutex, MutexGuard, PoisonError},
};

use antiphon::client::Traffic;
use serde_json::{Map, Value};

use crate::printable;

/// Longest part of a line that the server, or the arguments, may fill.
const LONGEST: usize = 400;

/// Tells the legs of calls from everything else that is sent, and describes them.
#[derive(Default)]
pub(crate) struct Legs {
    /// Whether everything else is described, too.
    all: bool,
    /// The methods of the requests that have no response yet, by id.
    open: Mutex<HashMap<String, String>>,
}

impl Legs {
    /// Describes whatever is sent.
    pub(crate) fn all() -> Self {
        Self {
            all: true,
            ..Self::default()
        }
    }

    /// A line about this message, if it is to be told.
    pub(crate) fn describe(&self, traffic: Traffic<'_>) -> Option<String> {
        let (arrow, text) = match traffic {
            Traffic::Sent(text) => ("->", text),
            Traffic::Received(text) => ("<-", text),
        };
        let message: Value = serde_json::from_slice(text).ok()?;
        let line = match traffic {
            Traffic::Sent(_) => self.sent(&message),
            Traffic::Received(_) => self.received(&message),
        };
        Some(format!("{arrow} {}", line?).trim_end().to_owned())
    }

    fn sent(&self, message: &Value) -> Option<String> {
        let id = message.get("id");
        let (Some(method), params) = parts(message) else {
            // An older server asked.
            return Some(format!("[{}] {}", short(id?), answer(message)));
        };
        let line = match called(method, params) {
            Some(line) => line,
            None if self.all => other(method, params),
            None => return None,
        };
        if let Some(id) = id {
            self.open().insert(id.to_string(), method.to_owned());
        }
        Some(line)
    }

    fn received(&self, message: &Value) -> Option<String> {
        match (parts(message), message.get("id")) {
            ((Some(method), params), Some(id)) => {
                Some(format!("[{}] {}", short(id), asked(method, params)))
            }
            ((Some(method), params), None) => match notified(method, params) {
                Some(line) => Some(line),
                None => self.all.then(|| other(method, params)),
            },
            ((None, _), Some(id)) => {
                let asked = self.open().remove(&id.to_string());
                match asked {
                    Some(method) => Some(responded(&method, message)),
                    // Under an id of the server's own: what it did not read it may refuse so.
                    None => self
                        .all
                        .then(|| format!("[{}] {}", short(id), responded("", message))),
                }
            }
            ((None, _), None) => self.all.then(|| responded("", message)),
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The method and the parameters.
fn parts(message: &Value) -> (Option<&str>, &Value) {
    let method = message.get("method").and_then(Value::as_str);
    (method, message.get("params").unwrap_or(&Value::Null))
}

/// A leg of a call.
fn called(method: &str, params: &Value) -> Option<String> {
    let target = match method {
        "tools/call" | "prompts/get" => params.get("name")?,
        "resources/read" => params.get("uri")?,
        _ => return None,
    };
    let mut line = format!("{method} {}", printable::excerpt(target.as_str()?, 100));
    if let Some(arguments) = params.get("arguments") {
        push(&mut line, &compact(arguments));
    }
    if let Some(answers) = params.get("inputResponses").and_then(Value::as_object) {
        let answers: Vec<_> = (answers.iter())
            .map(|(key, answer)| format!("{}: {}", printable::excerpt(key, 80), answered(answer)))
            .collect();
        push(&mut line, &format!("[{}]", answers.join(", ")));
    }
    push(&mut line, &state(params));
    Some(line)
}

/// What was answered to one question.
fn answered(answer: &Value) -> String {
    let Some(action) = answer.get("action").and_then(Value::as_str) else {
        return compact(answer);
    };
    match answer.get("content") {
        Some(content) => format!("{} {}", printable::line(action), compact(content)),
        None => printable::line(action),
    }
}

/// Anything that is no call.
fn other(method: &str, params: &Value) -> String {
    let mut line = printable::excerpt(method, 100);
    push(&mut line, &told(params));
    line
}

/// What an older server asks in the course of a call.
fn asked(method: &str, params: &Value) -> String {
    let mut line = printable::excerpt(method, 100);
    if let Some(message) = params.get("message").and_then(Value::as_str) {
        push(&mut line, &printable::excerpt(message, LONGEST));
    }
    line
}

/// What it is answered.
fn answer(message: &Value) -> String {
    match (message.get("error"), message.get("result")) {
        (Some(error), _) => failed(error),
        (None, Some(result)) => answered(result),
        (None, None) => String::new(),
    }
}

fn failed(error: &Value) -> String {
    let text = error.get("message").and_then(Value::as_str);
    format!(
        "error {} {}",
        error.get("code").map(compact).unwrap_or_default(),
        printable::excerpt(text.unwrap_or_default(), LONGEST)
    )
}

fn responded(method: &str, message: &Value) -> String {
    if let Some(error) = message.get("error") {
        return failed(error);
    }
    let result = message.get("result").unwrap_or(&Value::Null);
    if !["tools/call", "prompts/get", "resources/read"].contains(&method) {
        return told(result);
    }
    if result.get("resultType").and_then(Value::as_str) != Some("input_required") {
        return match result.get("isError") {
            Some(Value::Bool(true)) => "complete, failed".to_owned(),
            _ => "complete".to_owned(),
        };
    }
    let requests = result.get("inputRequests").and_then(Value::as_object);
    let mut line = "input_required".to_owned();
    push(&mut line, &format!("[{}]", keys(requests)));
    push(&mut line, &state(result));
    line
}

fn keys(requests: Option<&Map<String, Value>>) -> String {
    let keys = requests.into_iter().flatten();
    let keys: Vec<_> = keys.map(|(key, _)| printable::excerpt(key, 80)).collect();
    keys.join(", ")
}

fn notified(method: &str, params: &Value) -> Option<String> {
    let text = |name: &str| match params.get(name) {
        Some(Value::String(text)) => printable::excerpt(text, LONGEST),
        Some(other) => compact(other),
        None => String::new(),
    };
    let mut line = match method {
        "notifications/progress" => format!("progress {}", text("progress")),
        "notifications/message" => return Some(format!("log {} {}", text("level"), text("data"))),
        _ => return None,
    };
    if params.get("total").is_some() {
        _ = write!(line, "/{}", text("total"));
    }
    push(&mut line, &text("message"));
    Some(line)
}

fn state(of: &Value) -> String {
    match of.get("requestState").and_then(Value::as_str) {
        Some(state) => format!("state {} bytes", state.len()),
        None => String::new(),
    }
}

/// Members without the metadata; of lists, how many there are.
fn told(value: &Value) -> String {
    let Some(members) = value.as_object() else {
        return match value {
            Value::Null => String::new(),
            other => compact(other),
        };
    };
    let members = members.iter().filter(|(name, _)| *name != "_meta");
    let shown: Map<_, _> = members
        .map(|(name, member)| {
            let shown = match member {
                Value::Array(list) if list.iter().any(Value::is_object) => {
                    format!("{} of them", list.len()).into()
                }
                other => other.clone(),
            };
            (name.clone(), shown)
        })
        .collect();
    match shown.is_empty() {
        true => String::new(),
        false => compact(&Value::Object(shown)),
    }
}

/// An id, which is a number or a text.
fn short(id: &Value) -> String {
    match id {
        Value::String(text) => printable::excerpt(text, 80),
        other => printable::excerpt(&other.to_string(), 80),
    }
}

fn compact(value: &Value) -> String {
    printable::excerpt(&value.to_string(), LONGEST)
}

fn push(line: &mut String, part: &str) {
    if !part.is_empty() {
        line.push(' ');
        line.push_str(part);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The lines about these messages, each sent (`true`) or received.
    fn lines(messages: &[(bool, Value)]) -> Vec<String> {
        lines_of(&Legs::default(), messages)
    }

    fn lines_of(legs: &Legs, messages: &[(bool, Value)]) -> Vec<String> {
        let told = messages.iter().filter_map(|(is_sent, message)| {
            let text = message.to_string();
            legs.describe(match is_sent {
                true => Traffic::Sent(text.as_bytes()),
                false => Traffic::Received(text.as_bytes()),
            })
        });
        told.collect()
    }

    #[test]
    fn a_call_in_two_legs() {
        let meta = json!({ "io.modelcontextprotocol/clientInfo": {} });
        let messages = [
            (
                true,
                json!({ "id": 1, "method": "tools/call", "params":
                { "name": "deploy", "arguments": { "env": "prod" }, "_meta": meta } }),
            ),
            (
                false,
                json!({ "id": 1, "result": { "resultType": "input_required",
                "inputRequests": { "confirm": {} }, "requestState": "12345", "_meta": meta } }),
            ),
            (
                true,
                json!({ "id": 2, "method": "tools/call", "params":
                { "name": "deploy", "arguments": { "env": "prod" }, "requestState": "12345",
                  "inputResponses": { "confirm": { "action": "accept", "content": { "confirm": true } } },
                  "_meta": meta } }),
            ),
            (
                false,
                json!({ "method": "notifications/progress",
                "params": { "progress": 1, "total": 2, "message": "half" } }),
            ),
            (
                false,
                json!({ "id": 2, "result": { "resultType": "complete", "content": [] } }),
            ),
        ];
        assert_eq!(
            lines(&messages),
            [
                r#"-> tools/call deploy {"env":"prod"}"#,
                "<- input_required [confirm] state 5 bytes",
                r#"-> tools/call deploy {"env":"prod"} [confirm: accept {"confirm":true}] state 5 bytes"#,
                "<- progress 1/2 half",
                "<- complete",
            ]
        );
    }

    #[test]
    fn what_belongs_to_no_call_is_not_told() {
        let messages = [
            (
                true,
                json!({ "id": 1, "method": "tools/list", "params": {} }),
            ),
            (false, json!({ "id": 1, "result": { "tools": [] } })),
            (
                false,
                json!({ "method": "notifications/tools/list_changed", "params": {} }),
            ),
        ];
        assert_eq!(lines(&messages), [""; 0]);
    }

    #[test]
    fn whoever_wants_to_see_all_does() {
        let messages = [
            (
                true,
                json!({ "id": 1, "method": "initialize", "params":
                { "protocolVersion": "2025-11-25", "_meta": { "a": 1 } } }),
            ),
            (
                false,
                json!({ "id": 1, "result": { "protocolVersion": "2025-06-18" } }),
            ),
            (true, json!({ "method": "notifications/initialized" })),
            (
                true,
                json!({ "id": 2, "method": "tools/list", "params": {} }),
            ),
            (
                false,
                json!({ "id": 2, "result": { "tools": [{ "name": "a" }, { "name": "b" }] } }),
            ),
        ];
        assert_eq!(
            lines_of(&Legs::all(), &messages),
            [
                r#"-> initialize {"protocolVersion":"2025-11-25"}"#,
                r#"<- {"protocolVersion":"2025-06-18"}"#,
                "-> notifications/initialized",
                "-> tools/list",
                r#"<- {"tools":"2 of them"}"#,
            ]
        );
    }

    #[test]
    fn what_an_older_server_asks_is_a_leg_of_the_call() {
        let messages = [
            (
                true,
                json!({ "id": 1, "method": "tools/call", "params": { "name": "deploy" } }),
            ),
            (
                false,
                json!({ "id": "q", "method": "elicitation/create", "params":
                { "message": "Sure?\u{1b}[2J", "requestedSchema": {} } }),
            ),
            (
                true,
                json!({ "id": "q", "result": { "action": "decline" } }),
            ),
            (false, json!({ "id": 1, "result": { "content": [] } })),
        ];
        assert_eq!(
            lines(&messages),
            [
                "-> tools/call deploy",
                r"<- [q] elicitation/create Sure?\u{1b}[2J",
                "-> [q] decline",
                "<- complete",
            ]
        );
    }

    #[test]
    fn errors_and_rounds_without_questions() {
        let call = |id: u8| {
            (
                true,
                json!({ "id": id, "method": "resources/read", "params": { "uri": "a:b" } }),
            )
        };
        let messages = [
            call(1),
            (
                false,
                json!({ "id": 1, "error": { "code": -32602, "message": "no \u{1b}[2J" } }),
            ),
            call(2),
            (
                false,
                json!({ "id": 2, "result": { "resultType": "input_required",
                "requestState": "1" } }),
            ),
            call(3),
            (false, json!({ "id": 3, "result": { "isError": true } })),
        ];
        let told = lines(&messages);
        assert_eq!(told[1], r"<- error -32602 no \u{1b}[2J");
        assert_eq!(told[3], "<- input_required [] state 1 bytes");
        assert_eq!(told[5], "<- complete, failed");
        // What is no error as it should be does nothing to the terminal either.
        let odd = json!({ "id": 4, "error": { "code": "\u{9b}2J\u{202e}" } });
        let told = lines(&[call(4), (false, odd)]);
        assert_eq!(told[1], r#"<- error "\u{9b}2J\u{202e}""#);
    }
}
