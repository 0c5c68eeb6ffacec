//! A server that says whatever a test wants, in memory.

use std::sync::{Arc, Mutex};

use antiphon::memory::{self, Peer};
use serde_json::{Value, json};

/// What a scripted server was sent.
#[derive(Clone, Default)]
pub struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    /// All messages but `server/discover`, as they came.
    pub fn texts(&self) -> Vec<String> {
        self.0.lock().expect("unpoisoned").clone()
    }

    /// The same, parsed.
    pub fn messages(&self) -> Vec<Value> {
        let texts = self.texts();
        let parse = |text: &String| serde_json::from_str(text).expect("JSON");
        texts.iter().map(parse).collect()
    }

    /// The methods.
    pub fn methods(&self) -> Vec<String> {
        let name = |message: &Value| message["method"].as_str().expect("a method").to_owned();
        self.messages().iter().map(name).collect()
    }
}

/// A server that answers each request with the results that `answer` gives, the first of them
/// for the first request; after the last it is silent. Discovery works by itself.
pub fn answers(results: impl IntoIterator<Item = Value>) -> (Peer, Seen) {
    let results = Mutex::new(Vec::from_iter(results).into_iter());
    script(move |request| {
        let result = results.lock().expect("unpoisoned").next();
        result
            .map(|result| respond(request, &result))
            .into_iter()
            .collect()
    })
}

/// A server that sends the messages that `answer` gives for each request or notification.
pub fn script(answer: impl Fn(&Value) -> Vec<Value> + Send + 'static) -> (Peer, Seen) {
    let (client, mut server) = memory::pair();
    let seen = Seen::default();
    let log = seen.clone();
    tokio::spawn(async move {
        while let Some(message) = server.receive().await {
            let text = String::from_utf8(message.to_vec()).expect("UTF-8");
            let request: Value = serde_json::from_str(&text).expect("JSON");
            let messages = if request["method"] == "server/discover" {
                vec![respond(&request, &discovered())]
            } else {
                log.0.lock().expect("unpoisoned").push(text);
                answer(&request)
            };
            for message in messages {
                server.send(message.to_string()).await;
            }
        }
    });
    (client, seen)
}

/// What a modern server answers to `server/discover`.
pub fn discovered() -> Value {
    json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
        "ttlMs": 0, "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "impostor", "version": "9"}},
    })
}

/// The response with this result, or with this error if it has a `code`.
pub fn respond(request: &Value, result: &Value) -> Value {
    let part = if result.get("code").is_some() {
        "error"
    } else {
        "result"
    };
    json!({ "jsonrpc": "2.0", "id": request["id"], part: result })
}

/// A tool's text.
pub fn text(text: &str) -> Value {
    json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] })
}

/// Questions, and perhaps a state.
pub fn asking<const N: usize>(questions: [(&str, Value); N], state: Option<&str>) -> Value {
    let mut result = json!({ "resultType": "input_required" });
    if N > 0 {
        let questions = questions.map(|(key, question)| (key.to_owned(), question));
        result["inputRequests"] = Value::Object(questions.into_iter().collect());
    }
    if let Some(state) = state {
        result["requestState"] = state.into();
    }
    result
}

/// A form with one yes-or-no field, `ok`.
pub fn form(message: &str) -> Value {
    json!({ "method": "elicitation/create", "params": {
        "mode": "form", "message": message,
        "requestedSchema": {
            "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"],
        },
    }})
}

/// A link.
pub fn link(url: &str) -> Value {
    let params = json!({ "mode": "url", "message": "Sign in", "url": url });
    json!({ "method": "elicitation/create", "params": params })
}

/// A request for a completion.
pub fn sample() -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": "Hi" } });
    let params = json!({ "messages": [message], "maxTokens": 5 });
    json!({ "method": "sampling/createMessage", "params": params })
}

/// A request for the roots.
pub fn roots() -> Value {
    json!({ "method": "roots/list" })
}
