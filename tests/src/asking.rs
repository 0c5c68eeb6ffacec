//! Calls that take several rounds, by hand: first legs, states and retries.

use serde_json::{Value, json};

use crate::{call, wire::Connection};

/// A retry of `message` with this state and these answers.
pub fn retry(message: &Value, state: &str, answers: Value) -> Value {
    let mut retry = message.clone();
    retry["params"]["requestState"] = state.into();
    retry["params"]["inputResponses"] = answers;
    retry
}

/// A form that was accepted with `{"ok": true}`.
pub fn yes() -> Value {
    json!({ "action": "accept", "content": { "ok": true } })
}

/// A form that was declined.
pub fn no() -> Value {
    json!({ "action": "decline" })
}

/// The state that came with the questions; fails the test if there are none.
pub fn state_of(result: &Value) -> String {
    assert_eq!(result["resultType"], "input_required", "{result}");
    result["requestState"].as_str().expect("a state").to_owned()
}

/// Calls a tool that asks, and returns its state.
pub async fn asked(connection: &mut Connection, tool: &str) -> String {
    let first = call(0, tool, json!({}));
    state_of(connection.ask(&first).await.result())
}

/// Answers `confirm` on a tool that was called without arguments.
pub fn confirm(tool: &str, state: &str, answer: impl Into<Value>) -> Value {
    retry(
        &call(1, tool, json!({})),
        state,
        json!({ "confirm": answer.into() }),
    )
}
