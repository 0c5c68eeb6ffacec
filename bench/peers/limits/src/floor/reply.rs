//! The answer as it is written: known text around the few bytes that change.

use contract::VERSION;
use hyper::StatusCode;
use serde_json::json;

use super::tools::{Answer, Outcome};

/// The end of every result, and of the message around it.
const IDENTITY: &[u8] =
    br#","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"limits","version":"0.0.0"}}}}"#;

/// Why a message is not acted upon.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Json,
    Request,
    Params(&'static str),
    UnknownTool,
    State,
    NoForms,
    UnknownMethod,
    Mirror(&'static str),
    Version(String),
}

impl Refusal {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::UnknownMethod => StatusCode::NOT_FOUND,
            // Tools and their state are the application's business, so HTTP did its part.
            Self::UnknownTool | Self::State => StatusCode::OK,
            _ => StatusCode::BAD_REQUEST,
        }
    }

    pub(super) fn answer(&self, id: &[u8]) -> Vec<u8> {
        let error = match self {
            Self::Json => json!({"code": -32700, "message": "this is not JSON"}),
            Self::Request => json!({"code": -32600, "message": "this is not a request"}),
            Self::Params(what) => json!({"code": -32602, "message": what}),
            Self::UnknownTool => json!({"code": -32602, "message": "there is no such tool"}),
            // One message for all reasons: a forger learns nothing from it.
            Self::State => json!({"code": -32602, "message": "the request state is not valid"}),
            Self::NoForms => json!({
                "code": -32021,
                "message": "this tool asks the user with a form",
                "data": {"requiredCapabilities": {"elicitation": {"form": {}}}},
            }),
            Self::UnknownMethod => json!({"code": -32601, "message": "there is no such method"}),
            Self::Mirror(header) => json!({
                "code": -32020,
                "message": format!("{header} does not repeat the body"),
            }),
            Self::Version(requested) => json!({
                "code": -32022,
                "message": "this protocol version is not spoken here",
                "data": {"supported": [VERSION], "requested": requested},
            }),
        };
        let mut out = opening(id, 128);
        out.extend_from_slice(br#","error":"#);
        out.extend_from_slice(error.to_string().as_bytes());
        out.push(b'}');
        out
    }
}

/// The answer of a tool: its text, its question, or what went wrong as text.
pub(super) fn tool_answer(id: &[u8], outcome: &Outcome) -> Vec<u8> {
    match outcome {
        Ok(Answer::Text(text)) => text_answer(id, text),
        Ok(Answer::Ask { message, state }) => ask_answer(id, message, state),
        Ok(Answer::Refuse(refusal)) => refusal.answer(id),
        Err(problem) => content(id, problem, br#"}],"isError":true"#),
    }
}

/// A text and nothing else.
pub(crate) fn text_answer(id: &[u8], text: &str) -> Vec<u8> {
    content(id, text, b"}]")
}

/// Asks the user for a boolean `ok`; the state must need no escapes.
pub(crate) fn ask_answer(id: &[u8], message: &str, state: &str) -> Vec<u8> {
    let mut out = opening(id, 256 + message.len() + state.len());
    out.extend_from_slice(
        br#","result":{"resultType":"input_required","inputRequests":{"confirm":{"method":"elicitation/create","params":{"mode":"form","message":"#,
    );
    serde_json::to_writer(&mut out, message).expect("a string can be written to memory");
    out.extend_from_slice(
        br#","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}}}},"requestState":""#,
    );
    out.extend_from_slice(state.as_bytes());
    out.push(b'"');
    out.extend_from_slice(IDENTITY);
    out
}

/// The answer to `tools/list` by a server with so many fillers.
pub(crate) fn list_answer(id: &[u8], fillers: usize) -> Vec<u8> {
    result(id, &super::tools::list(fillers))
}

pub(super) fn discover_answer(id: &[u8]) -> Vec<u8> {
    let fields = br#""supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private""#;
    result(id, fields)
}

/// A complete result with these fields.
pub(super) fn result(id: &[u8], fields: &[u8]) -> Vec<u8> {
    let mut out = opening(id, fields.len());
    out.extend_from_slice(br#","result":{"resultType":"complete","#);
    out.extend_from_slice(fields);
    out.extend_from_slice(IDENTITY);
    out
}

fn content(id: &[u8], text: &str, end: &[u8]) -> Vec<u8> {
    let mut out = opening(id, text.len() + 2);
    out.extend_from_slice(
        br#","result":{"resultType":"complete","content":[{"type":"text","text":"#,
    );
    serde_json::to_writer(&mut out, text).expect("a string can be written to memory");
    out.extend_from_slice(end);
    out.extend_from_slice(IDENTITY);
    out
}

/// The start of a message, in a buffer that also holds `room` bytes of payload.
fn opening(id: &[u8], room: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(256 + id.len() + room);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id);
    out
}
