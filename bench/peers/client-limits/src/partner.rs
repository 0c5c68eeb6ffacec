//! The server that clients are measured at: `partner --http PORT`. It answers what CONTRACT.md has
//! clients do, and checks that they do it. It is not under test, and its request state is protected
//! against nothing.

use std::{borrow::Cow, collections::BTreeMap, convert::Infallible, io};

use bytes::Bytes;
use contract::{Flags, Transport};
use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response, StatusCode,
    body::Incoming,
    header::{CONTENT_TYPE, HeaderValue},
    service::service_fn,
};
use serde::Deserialize;
use serde_json::{json, value::RawValue};

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow, default)]
    params: Params<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Params<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Arguments<'a>,
    #[serde(borrow)]
    input_responses: BTreeMap<Cow<'a, str>, Answer<'a>>,
    #[serde(borrow)]
    request_state: Cow<'a, str>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Arguments<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
    #[serde(borrow)]
    action: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    action: Cow<'a, str>,
    content: Option<Content>,
}

#[derive(Deserialize)]
struct Content {
    ok: bool,
}

/// The answer to one message; `None` to one that clients of the bench have no reason to send.
fn answer(body: &[u8]) -> Option<Vec<u8>> {
    let message: Message<'_> = serde_json::from_slice(body).ok()?;
    let params = &message.params;
    let result = match (&*message.method, &*params.name) {
        ("server/discover", _) => json!({
            "resultType": "complete",
            "supportedVersions": [contract::VERSION],
            "capabilities": {"tools": {}},
            "ttlMs": 0,
            "cacheScope": "private",
        }),
        ("tools/list", _) => json!({
            "resultType": "complete",
            "tools": [tool("echo", "text"), tool("confirm", "action")],
            "ttlMs": 60_000,
            "cacheScope": "private",
        }),
        ("tools/call", "echo") => text(&params.arguments.text),
        ("tools/call", "confirm") => confirm(params)?,
        _ => return None,
    };
    let answer = json!({"jsonrpc": "2.0", "id": message.id, "result": result});
    Some(answer.to_string().into_bytes())
}

/// A tool with one argument, which is a string. Some clients look at it before they take an answer.
fn tool(name: &str, argument: &str) -> serde_json::Value {
    json!({
        "name": name,
        "inputSchema": {
            "type": "object",
            "properties": {argument: {"type": "string"}},
            "required": [argument],
        },
    })
}

fn confirm(params: &Params<'_>) -> Option<serde_json::Value> {
    let action = &*params.arguments.action;
    let state = state(action);
    if params.request_state.is_empty() {
        return Some(json!({
            "resultType": "input_required",
            "inputRequests": {"confirm": {
                "method": "elicitation/create",
                "params": {
                    "mode": "form",
                    "message": format!("Run {action}?"),
                    "requestedSchema": {
                        "type": "object",
                        "properties": {"ok": {"type": "boolean"}},
                        "required": ["ok"],
                    },
                },
            }},
            "requestState": state,
        }));
    }
    let answer = params.input_responses.get("confirm")?;
    let accepted = answer.action == "accept" && answer.content.as_ref()?.ok;
    let same = params.request_state == *state;
    (accepted && same).then(|| text(&format!("done: {action}")))
}

/// As long as a sealed state of 190 bytes is, and different for each action.
fn state(action: &str) -> String {
    let mut state = action.replace(' ', "-");
    while state.len() < 300 {
        state.push('x');
    }
    state
}

fn text(text: &str) -> serde_json::Value {
    json!({
        "resultType": "complete",
        "content": [{"type": "text", "text": text}],
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "partner", "version": "0.0.0"}},
    })
}

async fn post(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await;
    let mut response = Response::default();
    match body.ok().and_then(|body| answer(&body.to_bytes())) {
        Some(answer) => *response.body_mut() = Full::from(answer),
        None => *response.status_mut() = StatusCode::BAD_REQUEST,
    }
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    Ok(response)
}

fn main() -> io::Result<()> {
    let flags = Flags::from_env("partner");
    match flags.transport {
        Transport::Http(port) => flags.block_on(contract::serve(port, service_fn(post))),
        Transport::Stdio => Err(io::Error::other("partner serves HTTP only")),
    }
}
