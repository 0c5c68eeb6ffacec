//! One HTTP request, of either era: who sends it, what is in it, how it is answered.

use std::{borrow::Cow, sync::Arc};

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{Flaw, json as arguments, modern, older, shop::Shop};

pub(crate) const MODERN: &str = "2026-07-28";
pub(crate) const OLDER: &str = "2025-11-25";
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// One of the servers that stand for one.
pub(crate) struct Replica {
    pub(crate) shop: Arc<Shop>,
    pub(crate) number: usize,
    pub(crate) sessions: older::Sessions,
}

/// A message.
#[derive(Deserialize)]
pub(crate) struct Message<'a> {
    pub(crate) id: Option<Value>,
    pub(crate) method: Option<String>,
    #[serde(borrow)]
    pub(crate) params: Option<Params<'a>>,
    pub(crate) result: Option<Value>,
    pub(crate) error: Option<Value>,
}

/// What parameters of any method may have.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Params<'a> {
    pub(crate) name: Option<String>,
    pub(crate) uri: Option<String>,
    #[serde(borrow)]
    pub(crate) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) input_responses: Option<&'a RawValue>,
    pub(crate) request_state: Option<String>,
    pub(crate) capabilities: Value,
    #[serde(rename = "_meta")]
    pub(crate) meta: Value,
}

impl Message<'_> {
    /// What it calls, for a method that calls something.
    pub(crate) fn name(&self) -> Option<&str> {
        let params = self.params.as_ref()?;
        match self.method.as_deref()? {
            "tools/call" | "prompts/get" => params.name.as_deref(),
            "resources/read" => params.uri.as_deref(),
            _ => None,
        }
    }
}

pub(crate) async fn answer(State(replica): State<Arc<Replica>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    // All of it, however long it is: who is refused in the middle never sees why.
    let Ok(body) = to_bytes(body, usize::MAX).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let flaw = replica.shop.flaw;
    let text = str::from_utf8(&body).unwrap_or_default();
    let message: Result<Message<'_>, _> = serde_json::from_str(text);
    let principal = match head.headers.get(header::AUTHORIZATION) {
        Some(token) if token == "Bearer one" => Some("one"),
        Some(token) if token == "Bearer two" => Some("two"),
        Some(_) => return unauthorized(),
        None => {
            let params = message.as_ref().ok().and_then(|it| it.params.as_ref());
            let has_state = params.is_some_and(|params| params.request_state.is_some());
            if flaw != Some(Flaw::Anonymous) || !has_state {
                return unauthorized();
            }
            None
        }
    };
    match head.method {
        Method::POST => {}
        Method::DELETE => return replica.sessions.end(&head.headers, principal),
        _ => return StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
    let message = match message {
        Ok(message) => message,
        Err(error) if error.is_data() => {
            return failed(
                400,
                None,
                -32602,
                "The parameters are not as they should be.",
            );
        }
        Err(_) => return failed(400, None, -32700, "This is no JSON."),
    };
    if !arguments::is_plain(text) && flaw != Some(Flaw::DuplicateNames) {
        return failed(200, message.id.as_ref(), -32602, "A name is there twice.");
    }
    let said = message.params.as_ref().map(|params| &params.meta[VERSION]);
    let header = text_of(&head.headers, "mcp-protocol-version");
    let is_modern = match said {
        Some(Value::String(version)) => {
            if header.is_none_or(|header| header != version) {
                return failed(
                    400,
                    message.id.as_ref(),
                    -32020,
                    "MCP-Protocol-Version differs.",
                );
            }
            if version != MODERN {
                return unsupported(message.id.as_ref(), version);
            }
            true
        }
        Some(Value::Null) | None => match (message.method.as_deref(), header) {
            (Some("initialize"), Some(MODERN)) => {
                return failed(404, message.id.as_ref(), -32601, "There is no such method.");
            }
            (Some("initialize"), _) => false,
            (Some(_), Some(MODERN)) if message.id.is_some() => {
                return failed(400, message.id.as_ref(), -32602, "The metadata is missing.");
            }
            (_, None | Some(MODERN | OLDER)) => false,
            (_, Some(other)) => return unsupported(message.id.as_ref(), other),
        },
        Some(_) => return failed(400, message.id.as_ref(), -32602, "The version is no text."),
    };
    match is_modern {
        true => modern::answer(&replica, &head.headers, principal, message).await,
        false => older::answer(&replica, &head.headers, principal, message),
    }
}

/// A header, as text.
pub(crate) fn text_of<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// A mirrored header, which may be encoded.
pub(crate) fn mirrored<'a>(headers: &'a HeaderMap, name: &str) -> Option<Cow<'a, str>> {
    let text = text_of(headers, name)?.trim();
    let encoded = text.strip_prefix("=?base64?");
    let Some(encoded) = encoded.and_then(|text| text.strip_suffix("?=")) else {
        return Some(text.into());
    };
    let decoded = String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?;
    Some(decoded.into())
}

fn unauthorized() -> Response {
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    (StatusCode::UNAUTHORIZED, challenge).into_response()
}

fn unsupported(id: Option<&Value>, version: &str) -> Response {
    let data = json!({ "supported": [MODERN, OLDER], "requested": version });
    let error = json!({ "code": -32022, "message": "Not a version of ours.", "data": data });
    answered(400, id, "error", &error)
}

/// An error.
pub(crate) fn failed(status: u16, id: Option<&Value>, code: i32, message: &str) -> Response {
    let error = json!({ "code": code, "message": message });
    answered(status, id, "error", &error)
}

/// A response with a `result` or an `error`.
pub(crate) fn answered(status: u16, id: Option<&Value>, part: &str, content: &Value) -> Response {
    let message = json!({ "jsonrpc": "2.0", "id": id, part: content });
    let status = StatusCode::from_u16(status).expect("one of ours");
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (status, kind, Body::from(message.to_string())).into_response()
}
