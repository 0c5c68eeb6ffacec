//! [`Wire`]: requests as an audit writes them, byte by byte, over a transport of the SDK.
//!
//! The SDK's client would never send what is sent here: states that were tampered with, doubled
//! names, answers that fit no question. Its transports do not look into messages.

use std::{
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use antiphon::{
    client::{Bytes, Error, Incoming, Outgoing, Traffic, Transport},
    types::Version,
};
use serde_json::{Value, json, value::RawValue};
use tokio::{sync::broadcast, time::timeout};

use super::reply::Reply;
use crate::trace::Trace;

/// What a client tells of itself.
const CLIENT: &str = "antiphon";

/// A way to one server, as one principal.
pub(super) struct Wire {
    pub(super) transport: Arc<dyn Transport>,
    clock: Duration,
    ids: AtomicI64,
    /// How many requests there were, on all wires.
    sent: Arc<AtomicU64>,
    trace: Option<Arc<Trace>>,
    /// Errors that do not say which request they are for: it could not be read.
    stray: broadcast::Sender<Bytes>,
}

/// One request, of any method.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) method: String,
    /// What a header names as well.
    pub(super) name: Option<String>,
    /// Arguments that headers repeat.
    pub(super) mirrored: Vec<(String, String)>,
    pub(super) version: Version,
    /// The parameters as text, but for the metadata: `"name":"x","arguments":{}`.
    pub(super) members: Vec<(String, String)>,
    /// What the client can be asked; none where no metadata is sent.
    pub(super) capabilities: Option<Value>,
}

impl Request {
    /// A request of the modern era, from a client that can be asked anything.
    pub(super) fn new(method: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            name: None,
            mirrored: Vec::new(),
            version: Version::LATEST,
            members: Vec::new(),
            capabilities: Some(everything()),
        }
    }

    /// One whose target is also in a header.
    pub(super) fn of(method: &str, member: &str, name: &str) -> Self {
        let mut request = Self::new(method);
        request.name = Some(name.to_owned());
        request.with(member, &Value::from(name).to_string())
    }

    /// The same with another parameter, whose value is JSON text.
    pub(super) fn with(mut self, member: &str, value: &str) -> Self {
        self.members.push((member.to_owned(), value.to_owned()));
        self
    }

    /// The whole message.
    fn body(&self, id: i64) -> String {
        let mut params = Vec::new();
        for (member, value) in &self.members {
            params.push(format!("{}:{value}", Value::from(member.as_str())));
        }
        if let Some(capabilities) = &self.capabilities {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": self.version.as_str(),
                "io.modelcontextprotocol/clientInfo":
                    {"name": CLIENT, "version": env!("CARGO_PKG_VERSION")},
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            });
            params.push(format!("\"_meta\":{meta}"));
        }
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":{{{}}}}}"#,
            Value::from(self.method.as_str()),
            params.join(",")
        )
    }
}

/// All that a server may ask for.
pub(super) fn everything() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}})
}

impl Wire {
    pub(super) fn new(
        transport: Arc<dyn Transport>,
        clock: Duration,
        sent: Arc<AtomicU64>,
        trace: Option<Arc<Trace>>,
        stray: broadcast::Sender<Bytes>,
    ) -> Self {
        Self {
            transport,
            clock,
            ids: AtomicI64::new(1),
            sent,
            trace,
            stray,
        }
    }

    /// How long a request may take.
    pub(super) fn clock(&self) -> Duration {
        self.clock
    }

    pub(super) fn next_id(&self) -> i64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends a request, and waits for its response.
    pub(super) async fn ask(&self, request: &Request) -> Reply {
        match timeout(self.clock, self.answer(request)).await {
            Ok(Ok((message, status))) => Reply::read(&message, status),
            Ok(Err(error)) => Reply::of_error(&error),
            Err(_) => Reply::Late(self.clock),
        }
    }

    async fn answer(&self, request: &Request) -> Result<(Bytes, Option<u16>), Error> {
        let mut stray = self.stray.subscribe();
        let mut incoming = self.send(self.next_id(), request).await?;
        loop {
            let (message, status) = tokio::select! {
                biased;
                message = next(&mut incoming) => message
                    .ok_or_else(|| Error::transport("it ended without a response"))??,
                // Requests of an audit wait alone, but for those that are all the same.
                Ok(message) = stray.recv() => (message, None),
            };
            self.heard(&message);
            if is_response(&message) {
                return Ok((message, status));
            }
        }
    }

    /// Sends a request; what comes back is read by whoever asked.
    pub(super) async fn send(&self, id: i64, request: &Request) -> Result<Incoming, Error> {
        let body = Bytes::from(request.body(id));
        self.told(&body);
        self.sent.fetch_add(1, Ordering::Relaxed);
        let mut outgoing = Outgoing::new(id, &request.method, body);
        outgoing.name = request.name.as_deref();
        outgoing.params = &request.mirrored;
        outgoing.version = request.version;
        self.transport.send(outgoing).await
    }

    pub(super) fn told(&self, body: &[u8]) {
        if let Some(trace) = &self.trace {
            trace.show(Traffic::Sent(body));
        }
    }

    pub(super) fn heard(&self, message: &[u8]) {
        if let Some(trace) = &self.trace {
            trace.show(Traffic::Received(message));
        }
    }
}

/// The next message, and the HTTP status if it is not the usual one.
pub(super) async fn next(incoming: &mut Incoming) -> Option<Result<(Bytes, Option<u16>), Error>> {
    match incoming {
        Incoming::Whole(message) => match message.is_empty() {
            true => None,
            false => Some(Ok((std::mem::take(message), None))),
        },
        Incoming::Refused { status, message } => match message.is_empty() {
            true => None,
            false => Some(Ok((std::mem::take(message), Some(*status)))),
        },
        Incoming::Stream(stream) => {
            let message = poll_fn(|context| stream.as_mut().poll_next(context)).await?;
            Some(message.map(|message| (message, None)))
        }
    }
}

/// Whether a message is an error that does not say which request it is for (BASE-S-06).
pub(super) fn is_stray(message: &[u8]) -> bool {
    let message: Value = serde_json::from_slice(message).unwrap_or_default();
    message.get("error").is_some() && message.get("id").is_none_or(Value::is_null)
}

/// Whether a message is no notification and no request.
pub(super) fn is_response(message: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Head<'a> {
        #[serde(borrow)]
        method: Option<&'a RawValue>,
    }
    serde_json::from_slice::<Head<'_>>(message).map_or(true, |head| head.method.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_sent_as_it_is() {
        let request =
            Request::of("tools/call", "name", "a\"b").with("arguments", r#"{"a":1,"a":2}"#);
        let body = request.body(7);
        assert!(body.contains(r#""id":7,"method":"tools/call""#), "{body}");
        assert!(
            body.contains(r#""name":"a\"b","arguments":{"a":1,"a":2}"#),
            "{body}"
        );
        let whole: Value = serde_json::from_str(&body).expect("JSON");
        let meta = &whole["params"]["_meta"];
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"],
            "2026-07-28"
        );
    }

    #[test]
    fn only_responses_end_a_request() {
        assert!(is_response(br#"{"id":1,"result":{}}"#));
        assert!(is_response(b"rubbish"));
        assert!(!is_response(br#"{"method":"notifications/progress"}"#));
        assert!(is_stray(
            br#"{"error":{"code":-32600,"message":"too long"}}"#
        ));
        assert!(!is_stray(
            br#"{"id":1,"error":{"code":-32600,"message":"no"}}"#
        ));
    }
}
