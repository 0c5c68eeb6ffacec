//! A client of an older revision over HTTP, by hand: what it sends, and the events it gets.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::http::{Answer, open};

/// How long anything may take; a test that waits longer has found a hang.
const PATIENCE: Duration = Duration::from_secs(10);

/// A client, and the session it has.
#[derive(Debug, Clone)]
pub struct Older {
    /// Where the server is.
    pub address: SocketAddr,
    /// What it calls the session.
    pub session: Option<String>,
    /// Its revision, said in every header; none is said if empty.
    pub version: String,
    /// Its bearer token.
    pub token: Option<String>,
}

impl Older {
    /// One that has not said anything yet.
    pub fn new(address: SocketAddr, version: &str) -> Self {
        Self {
            address,
            session: None,
            version: version.to_owned(),
            token: None,
        }
    }

    /// With this token.
    #[must_use]
    pub fn token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// The same with another session's id.
    #[must_use]
    pub fn in_session(&self, session: &str) -> Self {
        Self {
            session: Some(session.to_owned()),
            ..self.clone()
        }
    }

    /// Opens a session for a client that can be asked everything, and says that it is ready.
    pub async fn open(address: SocketAddr, version: &str) -> Self {
        Self::new(address, version).opened().await
    }

    /// The same.
    pub async fn opened(mut self) -> Self {
        let answer = self.initialize().await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let result = &answer.last()["result"];
        assert_eq!(result["protocolVersion"], *self.version, "{result}");
        self.session = Some(answer.header("mcp-session-id").to_owned());
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&ready).await.status, 202);
        self
    }

    /// Sends `initialize`.
    pub async fn initialize(&self) -> Answer {
        let params = json!({
            "protocolVersion": self.version,
            "capabilities": {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}},
            "clientInfo": {"name": "older", "version": "1"},
        });
        let message = request(0, "initialize", params);
        let mut client = self.clone();
        (client.session, client.version) = (None, String::new());
        client.post(&message).await
    }

    /// A request with the headers of this client.
    pub fn request(&self, verb: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
        let mut request = Request::builder().method(verb).uri("/mcp");
        if verb == "POST" {
            request = request
                .header("content-type", "application/json")
                .header("accept", "application/json, text/event-stream");
        } else if verb == "GET" {
            request = request.header("accept", "text/event-stream");
        }
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        if !self.version.is_empty() {
            request = request.header("mcp-protocol-version", &*self.version);
        }
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        request.body(Full::new(body.into())).expect("a request")
    }

    /// Sends any request of this client's, and reads all of the answer.
    pub async fn send(&self, request: Request<Full<Bytes>>) -> Answer {
        let answer = async { Answer::of(open(self.address, request).await).await };
        timeout(PATIENCE, answer).await.expect("no hang")
    }

    /// Sends a request, and returns once the head of the response is there.
    pub async fn begin(&self, request: Request<Full<Bytes>>) -> Response<Incoming> {
        let response = open(self.address, request);
        timeout(PATIENCE, response).await.expect("no hang")
    }

    /// Posts a message, and reads all of the answer.
    pub async fn post(&self, message: &Value) -> Answer {
        self.send(self.request("POST", message.to_string())).await
    }

    /// Posts a message that is answered with a stream.
    pub async fn stream(&self, message: &Value) -> Events {
        let request = self.request("POST", message.to_string());
        Events::of(self.begin(request).await)
    }

    /// Calls a tool, and reads all of the answer.
    pub async fn call(&self, id: impl Into<Value>, tool: &str, arguments: Value) -> Answer {
        self.post(&call(id, tool, arguments)).await
    }

    /// Calls a tool that is answered with a stream.
    pub async fn streamed(&self, id: impl Into<Value>, tool: &str, arguments: Value) -> Events {
        self.stream(&call(id, tool, arguments)).await
    }

    /// Opens a stream, a new one or one that goes on after an event.
    pub async fn get(&self, last: Option<&str>) -> Response<Incoming> {
        let mut request = self.request("GET", "");
        if let Some(last) = last {
            let last = last.parse().expect("a header");
            request.headers_mut().insert("last-event-id", last);
        }
        self.begin(request).await
    }

    /// Opens a stream that must be there.
    pub async fn listen(&self, last: Option<&str>) -> Events {
        Events::of(self.get(last).await)
    }

    /// Tries to go on after an event; the status, and the error's text.
    pub async fn resume_fails(&self, last: &str) -> (u16, String) {
        let answer = Answer::of(self.get(Some(last)).await).await;
        let text = answer.last()["error"]["message"]
            .as_str()
            .unwrap_or_default();
        (answer.status, text.to_owned())
    }

    /// Ends the session; the status.
    pub async fn delete(&self) -> u16 {
        self.send(self.request("DELETE", "")).await.status
    }

    /// Answers a question of the server's.
    pub async fn answer(&self, question: &Value, result: Value) -> Answer {
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
        self.post(&answer).await
    }

    /// Cancels a request.
    pub async fn cancel(&self, id: impl Into<Value>) -> u16 {
        let id: Value = id.into();
        let params = json!({"requestId": id});
        let method = "notifications/cancelled";
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.post(&message).await.status
    }
}

/// A request as older clients send it.
pub fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "id": id.into(), "method": method});
    message["params"] = params;
    message
}

/// A `tools/call` as older clients send it.
pub fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    let mut params = json!({"name": tool});
    params["arguments"] = arguments;
    request(id, "tools/call", params)
}

/// The same with a progress token.
pub fn watched(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    let mut message = call(id, tool, arguments);
    message["params"]["_meta"] = json!({"progressToken": 1});
    message
}

/// The text of a tool's result.
pub fn text(message: &Value) -> &str {
    let text = &message["result"]["content"][0]["text"];
    text.as_str()
        .unwrap_or_else(|| panic!("no text: {message}"))
}

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its id.
    pub id: Option<String>,
    /// How long to wait before coming back.
    pub retry: Option<u64>,
    /// Its message; nothing if it has none.
    pub data: Value,
}

impl Event {
    fn parse(text: &str) -> Option<Self> {
        let field = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.strip_prefix(name));
            let value = lines.next().map(|value| value.trim_start().to_owned());
            assert_eq!(lines.next(), None, "{name} stands twice: {text}");
            value
        };
        let event = Self {
            id: field("id:"),
            retry: field("retry:").map(|retry| retry.parse().expect("a number")),
            data: match field("data:") {
                None => Value::Null,
                Some(data) if data.is_empty() => Value::Null,
                Some(data) => serde_json::from_str(&data).expect("JSON"),
            },
        };
        let is_comment = text.lines().all(|line| line.starts_with(':'));
        (!is_comment).then_some(event)
    }
}

/// A response that is a stream.
#[derive(Debug)]
pub struct Events {
    body: Incoming,
    text: String,
}

impl Events {
    /// Of this response.
    pub fn of(response: Response<Incoming>) -> Self {
        assert_eq!(response.status(), 200);
        let kind = &response.headers()["content-type"];
        assert_eq!(kind, "text/event-stream");
        Self {
            body: response.into_body(),
            text: String::new(),
        }
    }

    /// The next event; `None` at the end.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let rest = self.text.split_off(end + 2);
                let event = std::mem::replace(&mut self.text, rest);
                match Event::parse(&event) {
                    Some(event) => return Some(event),
                    None => continue,
                }
            }
            let frame = timeout(PATIENCE, self.body.frame()).await.expect("no hang");
            let Some(Ok(frame)) = frame else {
                assert_eq!(self.text, "", "whole events");
                return None;
            };
            let data = frame.into_data().expect("data");
            self.text
                .push_str(std::str::from_utf8(&data).expect("UTF-8"));
        }
    }

    /// The next event that carries a message.
    pub async fn message(&mut self) -> Event {
        loop {
            let event = self.next().await.expect("a message");
            if !event.data.is_null() {
                return event;
            }
        }
    }

    /// All that is left.
    pub async fn rest(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }

    /// Whether nothing comes for a while, and the stream stays open.
    pub async fn is_quiet(&mut self) -> bool {
        timeout(Duration::from_millis(150), self.next())
            .await
            .is_err()
    }
}
