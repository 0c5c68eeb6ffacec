//! Legs: what goes to the server and what comes back, a line each, without the metadata.

use std::{
    collections::HashSet,
    fmt::Write,
    sync::{Mutex, PoisonError},
};

use antiphon::client::Traffic;
use serde_json::{Map, Value};

use super::printable;

/// Longest part of a line that the server, or the arguments, may fill.
const LONGEST: usize = 400;

/// Tells the legs of calls from everything else that is sent, and describes them.
#[derive(Default)]
pub(crate) struct Legs {
    /// The requests that have no response yet.
    open: Mutex<HashSet<String>>,
}

impl Legs {
    /// A line about this message, if it belongs to a call.
    pub(crate) fn describe(&self, traffic: Traffic<'_>) -> Option<String> {
        match traffic {
            Traffic::Sent(text) => {
                let message: Value = serde_json::from_slice(text).ok()?;
                let line = sent(&message)?;
                self.open().insert(message.get("id")?.to_string());
                Some(format!("-> {line}"))
            }
            Traffic::Received(text) => {
                let message: Value = serde_json::from_slice(text).ok()?;
                let line = match message.get("id") {
                    Some(id) if self.open().remove(&id.to_string()) => received(&message)?,
                    Some(_) => return None,
                    None => notified(&message)?,
                };
                Some(format!("<- {line}"))
            }
        }
    }

    fn open(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn sent(message: &Value) -> Option<String> {
    let method = message.get("method")?.as_str()?;
    let params = message.get("params")?;
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

fn received(message: &Value) -> Option<String> {
    if let Some(error) = message.get("error") {
        let text = error.get("message").and_then(Value::as_str);
        return Some(format!(
            "error {} {}",
            error.get("code").map(compact).unwrap_or_default(),
            printable::excerpt(text.unwrap_or_default(), LONGEST)
        ));
    }
    let result = message.get("result")?;
    if result.get("resultType").and_then(Value::as_str) != Some("input_required") {
        return Some(match result.get("isError") {
            Some(Value::Bool(true)) => "complete, failed".to_owned(),
            _ => "complete".to_owned(),
        });
    }
    let requests = result.get("inputRequests").and_then(Value::as_object);
    let mut line = "input_required".to_owned();
    push(&mut line, &format!("[{}]", keys(requests)));
    push(&mut line, &state(result));
    Some(line)
}

fn keys(requests: Option<&Map<String, Value>>) -> String {
    let keys = requests.into_iter().flatten();
    let keys: Vec<_> = keys.map(|(key, _)| printable::excerpt(key, 80)).collect();
    keys.join(", ")
}

fn notified(message: &Value) -> Option<String> {
    let params = message.get("params")?;
    let text = |name: &str| match params.get(name) {
        Some(Value::String(text)) => printable::excerpt(text, LONGEST),
        Some(other) => compact(other),
        None => String::new(),
    };
    let mut line = match message.get("method")?.as_str()? {
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
        let legs = Legs::default();
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
        assert_eq!(told[1], r#"<- error "\u{9b}2J\u{202e}" "#);
    }
}
