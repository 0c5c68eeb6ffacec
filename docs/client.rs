// A client for the guides' assertions: it sends one request at a time, in memory.

use antiphon::{memory, raw::Endpoint};
use serde_json::{Value, json};

pub struct Client {
    peer: memory::Peer,
    /// What came besides answers.
    pub notifications: Vec<Value>,
}

impl Client {
    /// Connects to a server.
    pub fn of(server: impl Into<Endpoint>) -> Self {
        Self {
            peer: memory::connect(server),
            notifications: Vec::new(),
        }
    }

    /// Connects on behalf of somebody.
    pub fn signed_in(server: impl Into<Endpoint>, principal: antiphon::auth::Principal) -> Self {
        let (peer, served) = memory::pair();
        let served = memory::serve_as(server.into(), served, Some(principal));
        tokio::spawn(served);
        Self {
            peer,
            notifications: Vec::new(),
        }
    }

    /// The result of a request, or its error.
    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        self.send(1, method, params).await;
        loop {
            let message = self.receive().await;
            match (message.get("result"), message.get("error")) {
                (Some(answer), _) | (_, Some(answer)) => return answer.clone(),
                _ => self.notifications.push(message),
            }
        }
    }

    /// Subscribes to notifications, and waits until that is acknowledged.
    pub async fn listen(&mut self, notifications: Value) -> Value {
        let params = json!({ "notifications": notifications });
        self.send(2, "subscriptions/listen", params).await;
        self.receive().await
    }

    /// The next notification.
    pub async fn heard(&mut self) -> Value {
        match self.notifications.is_empty() {
            true => self.receive().await,
            false => self.notifications.remove(0),
        }
    }

    async fn receive(&mut self) -> Value {
        let message = self.peer.receive().await.expect("an answer");
        serde_json::from_slice(&message).expect("JSON")
    }

    async fn send(&self, id: u64, method: &str, mut params: Value) {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "guides", "version": "1.0" },
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/logLevel": "info",
            "progressToken": 1,
        });
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        assert!(self.peer.send(request.to_string()).await, "it is gone");
    }

    /// Calls a tool.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.request("tools/call", params).await
    }

    /// The first text of a tool's result.
    pub async fn text(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        let text = result["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("no text: {result}"))
            .to_owned()
    }

    /// The first text of a resource.
    pub async fn read(&mut self, uri: &str) -> String {
        let result = self.request("resources/read", json!({ "uri": uri })).await;
        let text = result["contents"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("no text: {result}"))
            .to_owned()
    }
}
