//! A server of an older revision that a test plays by hand, in memory; and a way to it whose
//! sessions can be lost.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon::{
    client::{Channel, Connect, Error, Events, Identity, Incoming, Outgoing, Pending, Transport},
    memory::{self, Peer},
    types::Version,
};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::script::respond;

/// How long a message may take that is bound to come.
const PATIENCE: Duration = Duration::from_secs(20);

/// The server's end, played by hand.
pub struct Older(Peer);

/// A way to an older server, and the server.
pub fn older() -> (Peer, Older) {
    let (client, server) = memory::pair();
    (client, Older(server))
}

impl Older {
    /// The next message.
    pub async fn receive(&mut self) -> Value {
        let message = tokio::time::timeout(PATIENCE, self.0.receive()).await;
        let message = message.expect("a message is bound to come");
        serde_json::from_slice(&message.expect("the client is there")).expect("JSON")
    }

    /// The next message; `None` once the client is gone.
    pub async fn next(&mut self) -> Option<Value> {
        let message = self.0.receive().await?;
        Some(serde_json::from_slice(&message).expect("JSON"))
    }

    /// The next message, which is of this method.
    pub async fn expect(&mut self, method: &str) -> Value {
        let message = self.receive().await;
        assert_eq!(message["method"], method, "{message}");
        message
    }

    /// The next message, which answers the request of this id.
    pub async fn answer_to(&mut self, id: impl Into<Value>) -> Value {
        let message = self.receive().await;
        assert!(message.get("method").is_none(), "{message}");
        assert_eq!(message["id"], id.into(), "{message}");
        message
    }

    /// Nothing more comes for a while.
    pub async fn quiet(&mut self) {
        let patience = Duration::from_millis(50);
        if let Ok(Some(message)) = tokio::time::timeout(patience, self.0.receive()).await {
            panic!(
                "nothing was to come, but {}",
                String::from_utf8_lossy(&message)
            );
        }
    }

    /// Sends a message.
    pub async fn send(&self, message: Value) {
        assert!(self.0.send(message.to_string()).await, "the client is gone");
    }

    /// Sends a text as it is.
    pub async fn write(&self, text: &str) {
        assert!(self.0.send(text.to_owned()).await, "the client is gone");
    }

    /// Sends a request.
    pub async fn ask(&self, id: impl Into<Value>, question: &Value) {
        let mut question = question.clone();
        (question["jsonrpc"], question["id"]) = ("2.0".into(), id.into());
        self.send(question).await;
    }

    /// Sends a notification.
    pub async fn notify(&self, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }))
            .await;
    }

    /// Answers a request: with an error if there is a `code`.
    pub async fn respond(&self, request: &Value, result: &Value) {
        self.send(respond(request, result)).await;
    }

    /// Does not know the probe.
    pub async fn refuse_probe(&mut self) {
        let probe = self.expect("server/discover").await;
        let unknown = json!({ "code": -32601, "message": "Method not found" });
        self.respond(&probe, &unknown).await;
    }

    /// Makes a handshake in this version; gives the request.
    pub async fn shake(&mut self, version: &str, capabilities: Value) -> Value {
        let request = self.expect("initialize").await;
        self.respond(&request, &initialized(version, capabilities))
            .await;
        self.expect("notifications/initialized").await;
        request
    }

    /// Does not know the probe, and makes a handshake in this version.
    pub async fn greet(&mut self, version: &str, capabilities: Value) -> Value {
        self.refuse_probe().await;
        self.shake(version, capabilities).await
    }
}

/// The result of `initialize`.
pub fn initialized(version: &str, capabilities: Value) -> Value {
    json!({
        "protocolVersion": version, "capabilities": capabilities,
        "serverInfo": { "name": "veteran", "version": "0.9" },
        "instructions": "Be patient.",
    })
}

/// A tool's text, as older servers have it.
pub fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// A way whose sessions can be lost, as those over HTTP can.
pub struct Sessions {
    peer: Peer,
    losing: Losing,
}

/// What is known of the sessions of such a way.
#[derive(Clone, Default)]
pub struct Losing {
    lost: Arc<AtomicBool>,
    started_over: Arc<AtomicUsize>,
}

impl Losing {
    /// The session is lost, until another one begins.
    pub fn lose(&self) {
        self.lost.store(true, Ordering::SeqCst);
    }

    /// How often another one began.
    pub fn started_over(&self) -> usize {
        self.started_over.load(Ordering::SeqCst)
    }
}

/// The same as [`older`], with sessions that can be lost.
pub fn forgetful() -> (Sessions, Losing, Older) {
    let (peer, server) = older();
    let losing = Losing::default();
    let sessions = Sessions {
        peer,
        losing: losing.clone(),
    };
    (sessions, losing, server)
}

impl Connect for Sessions {
    type Transport = Session;

    async fn connect(self, events: Events) -> Result<Session, Error> {
        Ok(Session {
            channel: self.peer.connect(events).await?,
            losing: self.losing,
        })
    }
}

/// What [`Sessions`] become.
pub struct Session {
    channel: Channel,
    losing: Losing,
}

impl Transport for Session {
    fn identity(&self) -> &Identity {
        self.channel.identity()
    }

    fn send<'a>(&'a self, request: Outgoing<'a>) -> Pending<'a, Result<Incoming, Error>> {
        Box::pin(async move {
            if request.method != "initialize" && self.losing.lost.load(Ordering::SeqCst) {
                // So that others notice as well.
                tokio::task::yield_now().await;
                return Err(Error::session_lost());
            }
            self.channel.send(request).await
        })
    }

    fn tell(&self, version: Version, message: Bytes) -> Pending<'_, Result<(), Error>> {
        self.channel.tell(version, message)
    }

    fn start_over(&self) -> Pending<'_, Result<(), Error>> {
        self.losing.lost.store(false, Ordering::SeqCst);
        self.losing.started_over.fetch_add(1, Ordering::SeqCst);
        self.channel.start_over()
    }
}
