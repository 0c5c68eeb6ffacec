//! [`Older`]: a session with a server in a revision before 2026-07-28, message by message.

use std::sync::Arc;

use antiphon::{
    client::{Bytes, Incoming},
    types::Version,
};
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::timeout};

use crate::{
    audit::{
        Audit,
        reply::Reply,
        wire::{Request, Wire, is_response, next},
    },
    connect::As,
};

/// The newest of the older revisions.
const NEWEST: Version = Version::V2025_11_25;

/// A session that was opened.
pub(super) struct Older {
    pub(super) wire: Arc<Wire>,
    version: Version,
    /// What the server says that belongs to no request, as far as a channel can tell.
    heard: mpsc::UnboundedReceiver<Bytes>,
    /// Whether it was asked for its directories.
    pub(super) is_asked_for_roots: bool,
}

/// What is heard of a call.
pub(super) enum Heard {
    /// The server asks, under this id.
    Asks { id: Value, question: Value },
    /// The call is over.
    Ends(Reply),
}

impl Older {
    /// A way of its own to the server, on which nothing was said yet.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) async fn reach(audit: &Audit) -> Result<Self, String> {
        let (report, heard) = mpsc::unbounded_channel();
        let aside = Box::new(move |message| _ = report.send(message));
        let wire = audit.reach.wire(As::Caller, aside).await;
        let wire = wire.map_err(|failure| failure.to_string())?;
        let version = match audit.subject.version.is_modern() {
            true => NEWEST,
            false => audit.subject.version,
        };
        Ok(Self {
            wire,
            version,
            heard,
            is_asked_for_roots: false,
        })
    }

    /// The handshake.
    ///
    /// # Errors
    /// What the server said instead.
    pub(super) async fn greet(&mut self, capabilities: &Value) -> Result<(), String> {
        let reply = self.wire.ask(&self.initialize(capabilities)).await;
        let Reply::Done(result) = &reply else {
            return Err(format!("it speaks no older revision: {}", reply.shown()));
        };
        let version = result.get("protocolVersion").and_then(Value::as_str);
        let version = version.and_then(|version| version.parse().ok());
        self.version = version.ok_or("it settled on an unknown revision")?;
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.tell(&initialized).await;
        self.wire.transport.settled(self.version).await;
        Ok(())
    }

    /// The request that opens a session.
    pub(super) fn initialize(&self, capabilities: &Value) -> Request {
        let about = json!({"name": "antiphon", "version": env!("CARGO_PKG_VERSION")});
        let version = Value::from(self.version.as_str());
        self.request("initialize")
            .with("protocolVersion", &version.to_string())
            .with("capabilities", &capabilities.to_string())
            .with("clientInfo", &about.to_string())
    }

    /// A request of this session's revision, which carries no metadata.
    pub(super) fn request(&self, method: &str) -> Request {
        let mut request = Request::new(method);
        request.version = self.version;
        request.capabilities = None;
        request
    }

    /// A call of the tool under audit.
    pub(super) fn call(&self, audit: &Audit) -> Request {
        let subject = &audit.subject;
        let arguments = Value::Object(subject.arguments.clone());
        self.request("tools/call")
            .with("name", &Value::from(subject.tool.name.as_str()).to_string())
            .with("arguments", &arguments.to_string())
    }

    /// Sends a call.
    pub(super) async fn begin(&self, request: &Request) -> Result<Incoming, Reply> {
        let sending = self.wire.send(self.wire.next_id(), request);
        match timeout(self.wire.clock(), sending).await {
            Ok(Ok(incoming)) => Ok(incoming),
            Ok(Err(error)) => Err(Reply::of_error(&error)),
            Err(_) => Err(Reply::Late(self.wire.clock())),
        }
    }

    /// What comes next of a call.
    pub(super) async fn next(&mut self, incoming: &mut Incoming) -> Heard {
        let clock = self.wire.clock();
        let heard = timeout(clock, self.hear(incoming)).await;
        heard.unwrap_or(Heard::Ends(Reply::Late(clock)))
    }

    async fn hear(&mut self, incoming: &mut Incoming) -> Heard {
        loop {
            let message = tokio::select! {
                biased;
                message = next(incoming) => match message {
                    Some(Ok((message, status))) => {
                        if is_response(&message) {
                            self.wire.heard(&message);
                            return Heard::Ends(Reply::read(&message, status));
                        }
                        message
                    }
                    Some(Err(error)) => return Heard::Ends(Reply::of_error(&error)),
                    None => {
                        let why = "it ended without a response".to_owned();
                        return Heard::Ends(Reply::Lost(why));
                    }
                },
                Some(message) = self.heard.recv() => message,
            };
            self.wire.heard(&message);
            let message: Value = serde_json::from_slice(&message).unwrap_or_default();
            let (Some(id), Some(method)) = (message.get("id"), message.get("method")) else {
                continue;
            };
            match method.as_str() {
                Some("ping") => self.answer(id, &json!({})).await,
                // Mostly asked as soon as it can be, for no call in particular.
                Some("roots/list") => {
                    self.is_asked_for_roots = true;
                    self.answer(id, &json!({"roots": []})).await;
                }
                _ => {
                    let params = message.get("params").cloned().unwrap_or_default();
                    let question = json!({"method": method, "params": params});
                    let id = id.clone();
                    return Heard::Asks { id, question };
                }
            }
        }
    }

    /// Answers a question.
    pub(super) async fn answer(&self, id: &Value, answer: &Value) {
        self.tell(&json!({"jsonrpc": "2.0", "id": id, "result": answer}))
            .await;
    }

    async fn tell(&self, message: &Value) {
        let message = Bytes::from(message.to_string());
        self.wire.told(&message);
        // Whether it was taken shows in what comes of it.
        _ = timeout(
            self.wire.clock(),
            self.wire.transport.tell(self.version, message),
        )
        .await;
    }

    pub(super) async fn close(self) {
        self.wire.transport.close().await;
    }
}
