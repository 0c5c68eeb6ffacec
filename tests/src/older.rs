//! A client of an older revision, by hand, on every transport.

use std::{net::SocketAddr, time::Duration};

use antiphon::{http::HttpService, memory, raw::Endpoint};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    sync::mpsc,
    time::timeout,
};

use crate::{
    http::{Server, events, open, post},
    wire::{Process, Wire},
};

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
    link: Link,
    next: i64,
    /// What `initialize` was answered with.
    pub greeted: Value,
}

/// How it reaches the server.
enum Link {
    Memory(memory::Peer),
    Stdio {
        from: Lines<BufReader<ReadHalf<DuplexStream>>>,
        to: WriteHalf<DuplexStream>,
    },
    Process(Box<Process>),
    Http(Box<Web>),
}

/// Streams of messages, all into one queue.
struct Web {
    address: SocketAddr,
    _server: Option<Server>,
    token: Option<String>,
    session: Option<String>,
    version: Option<String>,
    heard: mpsc::UnboundedSender<Value>,
    queue: mpsc::UnboundedReceiver<Value>,
}

impl Older {
    /// Opens a session of this revision, able to do everything.
    pub async fn open(wire: Wire, endpoint: impl Into<Endpoint>, version: &str) -> Self {
        Self::open_as(wire, endpoint, version, &everything()).await
    }

    /// Opens a session of this revision with these capabilities.
    pub async fn open_as(
        wire: Wire,
        endpoint: impl Into<Endpoint>,
        version: &str,
        can: &Value,
    ) -> Self {
        let mut older = Self::silent(wire, endpoint).await;
        older.greet(version, can).await;
        older
    }

    /// A connection on which nothing was said yet.
    pub async fn silent(wire: Wire, endpoint: impl Into<Endpoint>) -> Self {
        let link = match wire {
            Wire::Memory => Link::Memory(memory::connect(endpoint)),
            Wire::Stdio => {
                let (client, server) = tokio::io::duplex(64 * 1024);
                let (input, output) = tokio::io::split(server);
                tokio::spawn(antiphon::stdio::serve_on(endpoint.into(), input, output));
                let (from, to) = tokio::io::split(client);
                let from = BufReader::new(from).lines();
                Link::Stdio { from, to }
            }
            Wire::Http => Link::over(antiphon::http::service(endpoint)).await,
        };
        Self::on(link)
    }

    /// The same, over a service that is set up already.
    pub async fn over(service: HttpService) -> Self {
        Self::on(Link::over(service).await)
    }

    /// The same, to a process that serves on stdio.
    pub fn process(process: Process) -> Self {
        Self::on(Link::Process(Box::new(process)))
    }

    /// The same, to whatever serves HTTP at this address.
    pub fn at(address: SocketAddr) -> Self {
        Self::on(Link::at(address, None))
    }

    /// Brings this token along, over HTTP.
    pub fn bearer(mut self, token: &str) -> Self {
        if let Link::Http(web) = &mut self.link {
            web.token = Some(token.to_owned());
        }
        self
    }

    fn on(link: Link) -> Self {
        Self {
            link,
            next: 0,
            greeted: Value::Null,
        }
    }

    /// The handshake.
    pub async fn greet(&mut self, version: &str, can: &Value) {
        let params = json!({
            "protocolVersion": version,
            "capabilities": can,
            "clientInfo": { "name": "older", "version": "1.0" },
        });
        self.greeted = self.ask("initialize", params).await["result"].clone();
        if let Link::Http(web) = &mut self.link {
            web.version = self.greeted["protocolVersion"].as_str().map(str::to_owned);
        }
        self.notify("notifications/initialized", json!({})).await;
        if let Link::Http(web) = &mut self.link {
            web.listen().await;
        }
    }

    /// Sends any message.
    pub async fn say(&mut self, message: &Value) {
        match &mut self.link {
            Link::Http(web) => web.post(message).await,
            _ => self.say_text(&message.to_string()).await,
        }
    }

    /// Sends a message as it is spelt; not on HTTP.
    pub async fn say_text(&mut self, message: &str) {
        let line = format!("{message}\n");
        match &mut self.link {
            Link::Memory(peer) => _ = peer.send(message.to_owned()).await,
            Link::Stdio { to, .. } => to.write_all(line.as_bytes()).await.expect("written"),
            Link::Process(process) => process.write(line.as_bytes()).await,
            Link::Http(_) => panic!("HTTP has no stream to send on"),
        }
    }

    /// Sends a notification.
    pub async fn notify(&mut self, method: &str, params: Value) {
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
        let message = timeout(PATIENCE, self.link.next()).await;
        message.expect("no hang").expect("still there")
    }

    /// What is heard within a moment, if anything is.
    pub async fn hear_at_once(&mut self) -> Option<Value> {
        let message = timeout(Duration::from_millis(150), self.link.next()).await;
        message.ok()?
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

impl Link {
    async fn over(service: HttpService) -> Self {
        let server = Server::start(service).await;
        Self::at(server.address, Some(server))
    }

    fn at(address: SocketAddr, server: Option<Server>) -> Self {
        let (heard, queue) = mpsc::unbounded_channel();
        Self::Http(Box::new(Web {
            address,
            _server: server,
            token: None,
            session: None,
            version: None,
            heard,
            queue,
        }))
    }

    async fn next(&mut self) -> Option<Value> {
        match self {
            Self::Memory(peer) => {
                let message = peer.receive().await?;
                Some(serde_json::from_slice(&message).expect("JSON"))
            }
            Self::Stdio { from, .. } => {
                let line = from.next_line().await.expect("readable")?;
                Some(serde_json::from_str(&line).expect("JSON"))
            }
            Self::Process(process) => process.read().await,
            Self::Http(web) => web.queue.recv().await,
        }
    }
}

impl Web {
    /// A request of these revisions.
    fn request(&self, method: &str, body: String) -> Request<Full<Bytes>> {
        let accept = match method {
            "GET" => "text/event-stream",
            _ => "application/json, text/event-stream",
        };
        let mut request = Request::builder()
            .method(method)
            .uri("/mcp")
            .header("accept", accept)
            .header("content-type", "application/json");
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        if let Some(version) = self.version.as_deref().filter(|it| *it >= "2025-06-18") {
            request = request.header("mcp-protocol-version", version);
        }
        request.body(Full::new(body.into())).expect("a request")
    }

    /// Posts a message; whatever comes back is heard.
    async fn post(&mut self, message: &Value) {
        let modern = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        let request = match modern.is_string() {
            true => post(message),
            false => self.request("POST", message.to_string()),
        };
        let response = open(self.address, request).await;
        if let Some(session) = response.headers().get("mcp-session-id") {
            self.session = Some(session.to_str().expect("ASCII").to_owned());
        }
        self.hear(response);
    }

    /// Opens the stream of what the server says of its own accord.
    async fn listen(&mut self) {
        let request = self.request("GET", String::new());
        let response = open(self.address, request).await;
        if response.status() == 200 {
            self.hear(response);
        }
    }

    fn hear(&self, response: Response<Incoming>) {
        let (heard, (head, mut body)) = (self.heard.clone(), response.into_parts());
        let stream = head.headers.get("content-type");
        let stream = stream.is_some_and(|kind| kind == "text/event-stream");
        tokio::spawn(async move {
            let mut text = String::new();
            while let Some(Ok(frame)) = body.frame().await {
                let Ok(data) = frame.into_data() else {
                    continue;
                };
                text += std::str::from_utf8(&data).expect("UTF-8");
                // Only whole events.
                if let (true, Some(end)) = (stream, text.rfind("\n\n")) {
                    for message in events(&text[..end]) {
                        _ = heard.send(message);
                    }
                    text.drain(..end + 2);
                }
            }
            if !stream && !text.is_empty() {
                match serde_json::from_str(&text).expect("JSON") {
                    Value::Array(all) => all.into_iter().for_each(|one| _ = heard.send(one)),
                    one => _ = heard.send(one),
                }
            }
        });
    }
}

/// Accepts a form with these values.
pub fn accept(content: Value) -> Result<Value, Value> {
    let mut answer = json!({"action": "accept"});
    answer["content"] = content;
    Ok(answer)
}

/// What is never asked.
pub fn never(asked: &Value) -> Result<Value, Value> {
    panic!("nothing was to be asked: {asked}")
}
