//! [`Odd`]: a server of 2026-07-28 whose tool does exactly what a test says, well or badly.

use std::sync::Arc;

use axum::{
    Router,
    body::{Bytes, to_bytes},
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    task::{JoinHandle, spawn_blocking},
};

use crate::runtime::RUNTIME;

/// What a tool makes of the parameters of a call: a `result` or an `error`.
type Tool = dyn Fn(&Value) -> Value + Send + Sync;

/// A server, until it is dropped.
pub(crate) struct Odd {
    pub(crate) url: String,
    task: JoinHandle<()>,
}

impl Odd {
    /// Serves the tool `order`, which takes a `title`, and `reserve`, which takes the same.
    pub(crate) fn serve(tool: impl Fn(&Value) -> Value + Send + Sync + 'static) -> Self {
        Self::with_schema(&json!({ "title": { "type": "string" } }), tool)
    }

    /// The same with other arguments.
    pub(crate) fn with_schema(
        properties: &Value,
        tool: impl Fn(&Value) -> Value + Send + Sync + 'static,
    ) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        listener.set_nonblocking(true).expect("a socket");
        let schema =
            json!({ "type": "object", "properties": properties, "additionalProperties": false });
        let tools = json!([
            { "name": "order", "inputSchema": schema },
            { "name": "reserve", "inputSchema": schema },
        ]);
        let tool: Arc<Tool> = Arc::new(tool);
        let app = Router::new().fallback(answer).with_state((tool, tools));
        let task = RUNTIME.spawn(async move {
            let listener = TcpListener::from_std(listener).expect("a socket");
            _ = axum::serve(listener, app).await;
        });
        let url = format!("http://{address}/mcp");
        Self { url, task }
    }
}

impl Drop for Odd {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State((tool, tools)): State<(Arc<Tool>, Value)>, request: Request) -> Response {
    let body = to_bytes(request.into_body(), 64 << 20).await;
    let message: Value = serde_json::from_slice(&body.unwrap_or_default()).unwrap_or_default();
    let mut said = match message["method"].as_str() {
        Some("server/discover") => done(json!({
            "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
            "ttlMs": 0, "cacheScope": "private",
        })),
        Some("tools/list") => done(json!({ "tools": tools, "ttlMs": 0, "cacheScope": "private" })),
        Some("tools/call") => {
            let params = message["params"].clone();
            let said = spawn_blocking(move || tool(&params)).await;
            said.expect("a tool does not panic")
        }
        _ => json!({ "error": { "code": -32601, "message": "There is no such method." } }),
    };
    if said.is_null() {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    said["jsonrpc"] = json!("2.0");
    said["id"] = message["id"].clone();
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (kind, Bytes::from(said.to_string())).into_response()
}

fn done(mut result: Value) -> Value {
    result["resultType"] = json!("complete");
    json!({ "result": result })
}

/// It ran.
pub(crate) fn ran(text: impl AsRef<str>) -> Value {
    done(json!({ "content": [{ "type": "text", "text": text.as_ref() }] }))
}

/// It failed, as tools do.
pub(crate) fn failed(text: &str) -> Value {
    done(json!({ "content": [{ "type": "text", "text": text }], "isError": true }))
}

/// An error of JSON-RPC.
pub(crate) fn refused(text: &str) -> Value {
    json!({ "error": { "code": -32602, "message": text } })
}

/// It asks under this key, in these words, whether to go on.
pub(crate) fn asks(key: &str, message: &str, state: &str) -> Value {
    let form = json!({
        "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"],
    });
    let question = json!({ "method": "elicitation/create",
        "params": { "mode": "form", "message": message, "requestedSchema": form } });
    json!({ "result": {
        "resultType": "input_required", "inputRequests": { key: question }, "requestState": state,
    } })
}

/// What is said under a key: yes, no, or nothing that counts.
pub(crate) fn said(params: &Value, key: &str) -> Option<bool> {
    let answer = &params["inputResponses"][key];
    match answer["action"].as_str()? {
        "accept" => answer["content"]["ok"].as_bool(),
        "decline" | "cancel" => Some(false),
        _ => None,
    }
}
