//! What is said: messages of both eras, and whether an answer is the right one.

use std::fmt::Display;

use serde_json::{Value, json};

/// Why a soak cannot go on.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;
pub(crate) type Done = Result<(), Failure>;

/// The resource that clients watch.
pub(crate) const NOTE: &str = "note://today";
/// As long as no flow lasts: a call that is to be cancelled sleeps for it.
pub(crate) const FOR_EVER_MS: u64 = 3_600_000;

/// A request of 2026-07-28, which wants to hear of progress.
pub(crate) fn modern(id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "antiphon-soak", "version": "0.1.0"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        "progressToken": id,
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// A request of 2025-11-25, which wants to hear of progress.
pub(crate) fn older(id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({"progressToken": id});
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// The greeting of a client of 2025-11-25.
pub(crate) fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"elicitation": {"form": {}}},
        "clientInfo": {"name": "antiphon-soak", "version": "0.1.0"},
    }})
}

pub(crate) fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// The parameters of a call.
pub(crate) fn tool(name: &str, arguments: &Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

/// What a user says to the question of `confirm`.
pub(crate) fn says(ok: bool) -> Value {
    json!({"action": "accept", "content": {"ok": ok}})
}

/// The answer to a question that a server of 2025-11-25 asked.
pub(crate) fn answer(question: &Value, said: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": question["id"], "result": said})
}

/// Fails with what was got, unless it is as it should be.
pub(crate) fn expect(holds: bool, what: impl Display, got: &impl Display) -> Done {
    match holds {
        true => Ok(()),
        false => Err(format!("expected {what}, got {got}").into()),
    }
}

/// Fails unless a tool said exactly this.
pub(crate) fn expect_text(message: &Value, text: &str) -> Done {
    let result = &message["result"];
    let right = result["content"][0]["text"] == text && result["isError"] != true;
    expect(right, format_args!("the text {text:?}"), message)
}

/// Fails unless this is the error of that code.
pub(crate) fn expect_error(message: &Value, code: i64) -> Done {
    let right = message["error"]["code"] == code;
    expect(right, format_args!("the error {code}"), message)
}

/// Fails unless this is what every state gets that is not good.
pub(crate) fn expect_refused_state(message: &Value) -> Done {
    expect_error(message, -32602)?;
    let reason = &message["error"]["data"]["reason"];
    expect(
        reason == "invalid_request_state",
        "a refused state",
        message,
    )
}
