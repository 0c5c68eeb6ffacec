//! `limits floor`: the least a correct 2026-07-28 server does.
//!
//! A message is parsed once, borrowing from the bytes it arrived in; the headers are checked
//! against it; the tool is found by name and run as a boxed future; the answer is written in one
//! buffer. There is no session, no logging, no schema validation beyond deserialising arguments.

mod confirm;
mod http;
mod message;
mod reply;
mod seal;
mod stdio;
mod tools;

pub(crate) use http::http;
pub(crate) use reply::{ask_answer, list_answer, text_answer};
pub(crate) use stdio::stdio;

use bytes::Bytes;
use message::Message;
use reply::{Refusal, discover_answer};
use tools::{Call, Tools, Work};

/// What a message leads to.
enum Step {
    /// An answer that needed no tool.
    Answer(Vec<u8>),
    /// A tool at work for the request with this id.
    Work(Bytes, Work),
    /// A notification: nothing is answered.
    Nothing,
}

struct Floor {
    tools: Tools,
    list: Bytes,
}

impl Floor {
    fn new(fillers: usize) -> Self {
        Self {
            tools: Tools::new(fillers),
            list: Bytes::from(tools::list(fillers)),
        }
    }

    /// Takes one message; `mirrored` checks it against what was said outside of the body.
    fn take(
        &self,
        body: &Bytes,
        mirrored: impl FnOnce(&Message<'_>) -> Result<(), Refusal>,
    ) -> Result<Step, (Bytes, Refusal)> {
        let message = Message::parse(body)?;
        let Some(id) = message.id() else {
            return Ok(Step::Nothing);
        };
        let id = body.slice_ref(id.as_bytes());
        match self.dispatch(body, &id, &message, mirrored) {
            Ok(step) => Ok(step),
            Err(refusal) => Err((id, refusal)),
        }
    }

    fn dispatch(
        &self,
        body: &Bytes,
        id: &Bytes,
        message: &Message<'_>,
        mirrored: impl FnOnce(&Message<'_>) -> Result<(), Refusal>,
    ) -> Result<Step, Refusal> {
        mirrored(message)?;
        message.check()?;
        match message.method() {
            "tools/call" => {
                let name = message.name().ok_or(Refusal::Params("name is missing"))?;
                let tool = self.tools.get(name).ok_or(Refusal::UnknownTool)?;
                if tool.asks {
                    message.check_form()?;
                }
                Ok(Step::Work(id.clone(), (tool.run)(Call::new(body, message))))
            }
            "tools/list" => Ok(Step::Answer(reply::result(id, &self.list))),
            "server/discover" => Ok(Step::Answer(discover_answer(id))),
            _ => Err(Refusal::UnknownMethod),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

    /// The error code that a body is refused with, if it is.
    fn code(body: &str) -> Option<i64> {
        let body = Bytes::copy_from_slice(body.replace("META", META).as_bytes());
        let (id, refusal) = Floor::new(1).take(&body, |_| Ok(())).err()?;
        let answer: serde_json::Value = serde_json::from_slice(&refusal.answer(&id)).ok()?;
        answer["error"]["code"].as_i64()
    }

    #[test]
    fn takes_what_is_right() {
        for body in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":""},META}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"filler_0000",META}}"#,
            r#"{"params":{META},"method":"tools\/list","id":-1,"jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        ] {
            assert_eq!(code(body), None, "{body}");
        }
    }

    #[test]
    fn asks_those_who_take_forms() {
        for (expected, declared) in [
            (None, r#"{"elicitation":{"form":{}}}"#),
            (None, r#"{"elicitation":{}}"#),
            (Some(-32021), r#"{"elicitation":{"url":{}}}"#),
            (Some(-32602), r#"{"elicitation":7}"#),
        ] {
            let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"confirm",META}}"#;
            let meta = META.replace("{}", declared);
            assert_eq!(code(&body.replace("META", &meta)), expected, "{declared}");
        }
    }

    #[test]
    fn refuses_what_is_wrong() {
        for (expected, body) in [
            (-32700, r#"{"jsonrpc":"2.0","id":1"#),
            (-32600, r#"[]"#),
            (
                -32600,
                r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list","params":{META}}"#,
            ),
            (
                -32600,
                r#"{"jsonrpc":"1.0","id":1,"method":"tools/list","params":{META}}"#,
            ),
            (
                -32602,
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#,
            ),
            (
                -32602,
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":7}"#,
            ),
            (
                -32602,
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{META}}"#,
            ),
            (
                -32602,
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no",META}}"#,
            ),
            (
                -32601,
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/no","params":{META}}"#,
            ),
            (
                -32021,
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"confirm","arguments":{"action":""},META}}"#,
            ),
            (
                -32022,
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
            ),
        ] {
            assert_eq!(code(body), Some(expected), "{body}");
        }
    }

    #[test]
    fn answers_are_json() {
        let discovered = discover_answer(b"1");
        let failed = reply::tool_answer(b"2", &Err("\"quoted\"".to_owned()));
        for answer in [discovered, list_answer(b"3", 2), failed] {
            let json: serde_json::Value = serde_json::from_slice(&answer).expect("JSON");
            assert_eq!(json["result"]["resultType"], "complete", "{json}");
        }
        let asked = ask_answer(b"4", "\"Run\"?", "state");
        let asked: serde_json::Value = serde_json::from_slice(&asked).expect("JSON");
        let result = &asked["result"];
        assert_eq!(result["requestState"], "state", "{asked}");
        assert_eq!(
            result["inputRequests"]["confirm"]["params"]["message"],
            "\"Run\"?"
        );
    }
}
