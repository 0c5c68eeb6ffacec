//! A client of an older revision, by hand: on a channel in memory.

use std::time::Duration;

use antiphon::{memory, raw::Endpoint};
use serde_json::{Value, json};
use tokio::time::timeout;

/// How long any one message may take; a test that waits longer has found a hang.
const PATIENCE: Duration = Duration::from_secs(20);

/// The revisions that open with `initialize`, newest first.
pub const REVISIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// All that a client can declare.
pub fn everything() -> Value {
    json!({
        "elicitation": { "form": {}, "url": {} },
        "sampling": { "tools": {}, "context": {} },
        "roots": { "listChanged": true },
    })
}

/// A client of an older revision.
pub struct Older {
    peer: memory::Peer,
    next: i64,
    /// What `initialize` was answered with.
    pub greeted: Value,
}

impl Older {
    /// Opens a session of this revision, able to do everything.
    pub async fn open(endpoint: impl Into<Endpoint>, version: &str) -> Self {
        Self::open_as(endpoint, version, &everything()).await
    }

    /// Opens a session of this revision with these capabilities.
    pub async fn open_as(endpoint: impl Into<Endpoint>, version: &str, can: &Value) -> Self {
        let mut older = Self::silent(endpoint);
        let params = json!({
            "protocolVersion": version,
            "capabilities": can,
            "clientInfo": { "name": "older", "version": "1.0" },
        });
        older.greeted = older.ask("initialize", params).await["result"].clone();
        older.notify("notifications/initialized", json!({})).await;
        older
    }

    /// A connection on which nothing was said yet.
    pub fn silent(endpoint: impl Into<Endpoint>) -> Self {
        Self {
            peer: memory::connect(endpoint),
            next: 0,
            greeted: Value::Null,
        }
    }

    /// Sends any message.
    pub async fn say(&self, message: &Value) {
        self.peer.send(message.to_string()).await;
    }

    /// Sends a notification.
    pub async fn notify(&self, method: &str, params: Value) {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    /// Sends a request; its id.
    pub async fn begin(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let id = self.next;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    /// The next message, whatever it is.
    pub async fn hear(&mut self) -> Value {
        let message = timeout(PATIENCE, self.peer.receive()).await;
        let message = message.expect("no hang").expect("still there");
        serde_json::from_slice(&message).expect("JSON")
    }

    /// What is heard within a moment, if anything is.
    pub async fn hear_at_once(&mut self) -> Option<Value> {
        let message = timeout(Duration::from_millis(150), self.peer.receive()).await;
        let message = message.ok()??;
        Some(serde_json::from_slice(&message).expect("JSON"))
    }

    /// The response to a request that asks nothing; notifications are passed over.
    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        loop {
            let message = self.hear().await;
            assert!(
                message.get("id").is_none() || message.get("method").is_none(),
                "asked: {message}"
            );
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Calls a tool and answers what it asks: `Ok` is a result, `Err` an error. What was said in
    /// between, then the response.
    pub async fn call(
        &mut self,
        tool: &str,
        arguments: Value,
        answer: impl FnMut(&Value) -> Result<Value, Value>,
    ) -> (Vec<Value>, Value) {
        let params = json!({"name": tool, "arguments": arguments});
        let id = self.begin("tools/call", params).await;
        self.finish(id, answer).await
    }

    /// Answers what is asked until the response to `id` is there.
    pub async fn finish(
        &mut self,
        id: i64,
        mut answer: impl FnMut(&Value) -> Result<Value, Value>,
    ) -> (Vec<Value>, Value) {
        let mut said = Vec::new();
        loop {
            let message = self.hear().await;
            if message.get("method").is_none() && message["id"] == id {
                return (said, message);
            }
            if message.get("id").is_some() {
                let id = message["id"].clone();
                let response = match answer(&message) {
                    Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                    Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
                };
                self.say(&response).await;
            }
            said.push(message);
        }
    }
}

/// Accepts a form with these values.
pub fn accept(content: Value) -> Result<Value, Value> {
    Ok(json!({"action": "accept", "content": content}))
}

/// What is never asked.
pub fn never(asked: &Value) -> Result<Value, Value> {
    panic!("nothing was to be asked: {asked}")
}
