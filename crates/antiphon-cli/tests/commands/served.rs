//! [`Served`]: a server in this process, over real HTTP, that remembers what it heard; one of the
//! SDK's, or one that says whatever a test wants it to.

use std::{
    future::pending,
    sync::{Arc, Mutex},
};

use antiphon::{Server, http};
use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::Request,
    http::{HeaderMap, Method, StatusCode},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::post,
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

use crate::runtime::RUNTIME;

/// A request.
#[derive(Clone)]
pub(crate) struct Heard {
    pub(crate) verb: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Heard {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The message in it; null if there is none.
    pub(crate) fn message(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// A server on a port of its own, until it is dropped.
pub(crate) struct Served {
    pub(crate) url: String,
    heard: Arc<Mutex<Vec<Heard>>>,
    task: JoinHandle<()>,
}

impl Served {
    /// Serves this.
    pub(crate) fn server(server: Server) -> Self {
        Self::service(http::service(server))
    }

    pub(crate) fn service(service: http::HttpService) -> Self {
        Self::router(Router::new().route_service("/mcp", service))
    }

    /// Answers every message as the script says, and nothing to notifications.
    pub(crate) fn script(script: impl Fn(&Value) -> Says + Send + Sync + 'static) -> Self {
        let script = Arc::new(script);
        let answer = move |body: Bytes| {
            let script = script.clone();
            async move {
                let message: Value = serde_json::from_slice(&body).unwrap_or_default();
                let Some(id) = message.get("id") else {
                    return StatusCode::ACCEPTED.into_response();
                };
                match script(&message) {
                    Says::Silence => pending().await,
                    says => says.into_response(id),
                }
            }
        };
        Self::router(Router::new().route("/mcp", post(answer)))
    }

    fn router(router: Router) -> Self {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hears = heard.clone();
        let record = move |request: Request, next: Next| {
            let hears = hears.clone();
            async move {
                let (head, body) = request.into_parts();
                let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
                let headers = head.headers.clone();
                let request = Heard {
                    verb: head.method.clone(),
                    headers,
                    body: body.clone(),
                };
                hears.lock().expect("no panic").push(request);
                next.run(Request::from_parts(head, Body::from(body))).await
            }
        };
        let app = router.layer(middleware::from_fn(record));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        listener.set_nonblocking(true).expect("a socket");
        let task = RUNTIME.spawn(async move {
            let listener = TcpListener::from_std(listener).expect("a socket");
            _ = axum::serve(listener, app).await;
        });
        Self {
            url: format!("http://{address}/mcp"),
            heard,
            task,
        }
    }

    /// What it heard.
    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.heard.lock().expect("no panic").clone()
    }

    /// The messages it heard.
    pub(crate) fn messages(&self) -> Vec<Value> {
        self.heard().iter().map(Heard::message).collect()
    }

    /// How many requests of this method it heard.
    pub(crate) fn count(&self, method: &str) -> usize {
        let messages = self.messages();
        messages
            .iter()
            .filter(|one| one["method"] == method)
            .count()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What a script says to a message.
pub(crate) enum Says {
    /// The result, or the error if it has a `code`.
    Result(Value),
    /// Notifications, and then the result.
    After(Vec<Value>, Value),
    /// Anything at all.
    Raw(u16, Vec<(&'static str, String)>, String),
    /// Nothing, ever.
    Silence,
}

impl Says {
    fn into_response(self, id: &Value) -> Response {
        let answer = |result: Value| {
            let part = match result.get("code") {
                Some(_) => "error",
                None => "result",
            };
            json!({ "jsonrpc": "2.0", "id": id, part: result })
        };
        let of_kind = |kind: &'static str, text: String| ([("content-type", kind)], text);
        match self {
            Self::Result(result) => {
                of_kind("application/json", answer(result).to_string()).into_response()
            }
            Self::After(before, result) => {
                let messages = before.into_iter().chain([answer(result)]);
                let events = messages.map(|message| format!("data: {message}\n\n"));
                of_kind("text/event-stream", events.collect()).into_response()
            }
            Self::Raw(status, headers, body) => {
                let status = StatusCode::from_u16(status).expect("a status");
                let mut response = (status, body).into_response();
                for (name, value) in headers {
                    let value = value.parse().expect("a header");
                    response.headers_mut().insert(name, value);
                }
                response
            }
            Self::Silence => unreachable!("there is no response"),
        }
    }
}

/// What a modern server answers to `server/discover`.
pub(crate) fn discovered(capabilities: &Value) -> Says {
    Says::Result(json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"],
        "capabilities": capabilities, "ttlMs": 0, "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "scripted", "version": "9"}},
    }))
}
