//! A plain HTTP client and a running server, for tests that look at the HTTP side.

use std::net::SocketAddr;

use antiphon::http::{HttpService, serve};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{HeaderMap, Request, Response, body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{net::TcpStream, task::JoinHandle};
use tokio_util::sync::CancellationToken;

/// A server on a port of its own, stopped when it is dropped.
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<std::io::Result<()>>,
}

impl Server {
    /// Starts one.
    pub async fn start(service: HttpService) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let address = listener.local_addr().expect("an address");
        let stop = CancellationToken::new();
        let serving =
            serve(listener, service).with_graceful_shutdown(stop.clone().cancelled_owned());
        let task = tokio::spawn(async move { serving.await });
        Self {
            address,
            stop,
            task,
        }
    }

    /// Tells it to stop.
    pub fn shut_down(&self) {
        self.stop.cancel();
    }

    /// Tells it to stop and waits until it has.
    pub async fn stop(mut self) {
        self.shut_down();
        (&mut self.task).await.expect("no panic").expect("no error");
    }

    /// Posts a message with the headers that go with it.
    pub async fn post(&self, message: &Value) -> Answer {
        self.send(post(message)).await
    }

    /// Sends any request.
    pub async fn send(&self, request: Request<Full<Bytes>>) -> Answer {
        Answer::of(self.open(request).await).await
    }

    /// Sends a request and returns once the response's head is there.
    pub async fn open(&self, request: Request<Full<Bytes>>) -> Response<Incoming> {
        open(self.address, request).await
    }
}

/// Sends a request to whatever listens at `address`, and reads the response to its end.
pub async fn send(address: SocketAddr, request: Request<Full<Bytes>>) -> Answer {
    Answer::of(open(address, request).await).await
}

/// Sends a request to whatever listens at `address`, and returns once the response's head is there.
pub async fn open(address: SocketAddr, mut request: Request<Full<Bytes>>) -> Response<Incoming> {
    let stream = TcpStream::connect(address).await.expect("a connection");
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .expect("a handshake");
    tokio::spawn(connection);
    if !request.headers().contains_key("host") {
        let host = address.to_string().parse().expect("a header");
        request.headers_mut().insert("host", host);
    }
    sender.send_request(request).await.expect("a response")
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The POST that carries a message: headers from the body, as a client makes them.
pub fn post(message: &Value) -> Request<Full<Bytes>> {
    let params = &message["params"];
    let mut request = Request::post("/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    if let Some(method) = message["method"].as_str() {
        request = request.header("mcp-method", method);
        let name = match method {
            "tools/call" | "prompts/get" => params["name"].as_str(),
            "resources/read" => params["uri"].as_str(),
            _ => None,
        };
        if let Some(name) = name {
            request = request.header("mcp-name", &*encode(name));
        }
    }
    let version = &params["_meta"]["io.modelcontextprotocol/protocolVersion"];
    request = request.header(
        "mcp-protocol-version",
        version.as_str().unwrap_or("2026-07-28"),
    );
    let body = Full::new(Bytes::from(message.to_string()));
    request.body(body).expect("a request")
}

fn encode(name: &str) -> String {
    antiphon_core::mirror::encode(name).into_owned()
}

/// A response, read to its end.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its messages: one for JSON, one per event for a stream.
    pub messages: Vec<Value>,
    /// Its body as it came.
    pub text: String,
}

impl Answer {
    /// Reads a response to its end.
    pub async fn of(response: Response<Incoming>) -> Self {
        let (head, body) = response.into_parts();
        let bytes = body.collect().await.expect("a body").to_bytes();
        let text = String::from_utf8(bytes.to_vec()).expect("UTF-8");
        let is_stream = head
            .headers
            .get("content-type")
            .is_some_and(|kind| kind == "text/event-stream");
        let messages = if is_stream {
            events(&text)
        } else if text.is_empty() {
            Vec::new()
        } else {
            vec![serde_json::from_str(&text).expect("JSON")]
        };
        Self {
            status: head.status.as_u16(),
            headers: head.headers,
            messages,
            text,
        }
    }

    /// The last message.
    pub fn last(&self) -> &Value {
        self.messages.last().unwrap_or(&Value::Null)
    }

    /// The error's code, or 0.
    pub fn code(&self) -> i64 {
        self.last()["error"]["code"].as_i64().unwrap_or(0)
    }

    /// A header's text.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().expect("ASCII"))
    }
}

/// The messages of an event stream.
pub fn events(text: &str) -> Vec<Value> {
    text.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter(|data| !data.is_empty())
        .map(|data| serde_json::from_str(data).expect("JSON"))
        .collect()
}
