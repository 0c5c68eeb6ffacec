//! The behaviours of the SDK, on every transport.
//!
//! [`harbour`] is the service under test; [`wire`] carries the same requests to it in memory,
//! to a real child process over stdio, and over a real socket to HTTP, and [`way`] has the client do
//! so. The tests in `tests/` are named for what they show and cite the ledger in `spec/requirements.md`.

pub mod asking;
pub mod clock;
pub mod desk;
pub mod diary;
pub mod direct;
pub mod ground;
#[cfg(doctest)]
mod guides;
pub mod harbour;
pub mod http;
pub mod log;
pub mod moody;
pub mod odd;
pub mod older;
pub mod older_http;
pub mod older_server;
pub mod rogue;
pub mod script;
pub mod socket;
pub mod way;
pub mod wire;

use serde_json::{Value, json};

/// Waits for something that is bound to happen; fails the test if it does not.
pub async fn until(happened: impl Fn() -> bool) {
    let waiting = async {
        while !happened() {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    };
    // Of a busy machine, too.
    let patience = std::time::Duration::from_secs(60);
    tokio::time::timeout(patience, waiting)
        .await
        .expect("it never happened");
}

/// The metadata of a modern request that declares `capabilities`.
pub fn meta(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "tests", "version": "1.0" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

/// A request with these parameters, from a client that can do everything.
pub fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    let everything = json!({
        "elicitation": { "form": {}, "url": {} },
        "sampling": { "tools": {}, "context": {} },
        "roots": {},
    });
    request_as(&everything, id, method, params)
}

/// A request from a client that declares just these capabilities.
pub fn request_as(
    capabilities: &Value,
    id: impl Into<Value>,
    method: &str,
    mut params: Value,
) -> Value {
    if params.get("_meta").is_none() {
        params["_meta"] = meta(capabilities);
    }
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

/// A `tools/call`.
pub fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    let mut params = json!({ "name": tool });
    params["arguments"] = arguments;
    request(id, "tools/call", params)
}

/// A request whose `_meta` has one more key.
pub fn with_meta(mut request: Value, key: &str, value: impl Into<Value>) -> Value {
    request["params"]["_meta"][key] = value.into();
    request
}
