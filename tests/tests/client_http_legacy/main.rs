//! The client's HTTP transport with servers of older revisions, each a hand-written one on a real
//! socket.

mod events;
mod hostile;
mod resuming;
mod sessions;
mod standalone;
mod whole;

use std::{
    future::poll_fn,
    sync::{Arc, Mutex},
    time::Duration,
};

use antiphon::{
    client::{Connect, Error, Event, Events, Http, HttpTransport, Incoming, Outgoing, Transport},
    types::Version,
};
use antiphon_tests::desk::{Asked, Desk, Step, json, status, write};

const LATEST: Version = Version::V2025_11_25;
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// The answer to a request.
fn result(id: i64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

/// An event that is a message.
fn event(message: &str) -> Step {
    write(format!("data: {message}\n\n"))
}

/// The answer to `initialize`, under a session of this name.
fn welcome(session: &str) -> Vec<Step> {
    let body = result(0);
    let length = body.len();
    vec![write(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nmcp-session-id: {session}\r\n\
         content-length: {length}\r\n\r\n{body}"
    ))]
}

/// What every server here says that is not asked for anything special.
fn usual(asked: &Asked) -> Vec<Step> {
    let message: serde_json::Value = serde_json::from_str(&asked.body).unwrap_or_default();
    match (
        &*asked.verb,
        message["method"].as_str(),
        message["id"].as_i64(),
    ) {
        ("POST", Some("initialize"), _) => welcome("s-1"),
        ("POST", Some(_), Some(id)) => json(&result(id)),
        ("POST", ..) => status("202 Accepted"),
        ("DELETE", ..) => status("204 No Content"),
        _ => status("405 Method Not Allowed"),
    }
}

/// A transport, and what it told that belongs to no request.
struct Client {
    transport: HttpTransport,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Client {
    async fn with(http: Http) -> Self {
        let events = Arc::new(Mutex::new(Vec::new()));
        let log = events.clone();
        let report = move |event| log.lock().expect("unpoisoned").push(event);
        let transport = http.connect(Events::new(report)).await;
        Self {
            transport: transport.expect("a transport"),
            events,
        }
    }

    async fn to(desk: &Desk) -> Self {
        Self::with(Http::new(format!("{}/mcp", desk.origin))).await
    }

    /// After the handshake.
    async fn settled(desk: &Desk) -> Self {
        let client = Self::to(desk).await;
        client.shake_hands().await;
        client
    }

    async fn shake_hands(&self) {
        let answer = self.send(0, "initialize").await.expect("an answer");
        assert_eq!(all(answer).await.expect("a result"), [result(0)]);
        let told = self.transport.tell(LATEST, INITIALIZED.into()).await;
        told.expect("taken");
        self.transport.settled(LATEST).await;
    }

    async fn send(&self, id: i64, method: &str) -> Result<Incoming, Error> {
        self.send_as(LATEST, id, method).await
    }

    async fn send_as(&self, version: Version, id: i64, method: &str) -> Result<Incoming, Error> {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#);
        let mut outgoing = Outgoing::new(id, method, body);
        outgoing.version = version;
        outgoing.name = Some("a name");
        let params = [("mcp-param-a".to_owned(), "b".to_owned())];
        outgoing.params = &params;
        self.transport.send(outgoing).await
    }

    /// All messages that come back.
    async fn call(&self, id: i64) -> Result<Vec<String>, Error> {
        all(self.send(id, "tools/call").await?).await
    }

    /// The messages that belong to no request, and what is noise.
    fn heard(&self) -> Vec<String> {
        let events = self.events.lock().expect("unpoisoned");
        let text = |event: &Event| match event {
            Event::Message(message) => Some(String::from_utf8_lossy(message).into_owned()),
            Event::Noise(text) => Some(format!("noise: {text}")),
            _ => None,
        };
        events.iter().filter_map(text).collect()
    }
}

async fn next(incoming: &mut Incoming) -> Option<Result<String, Error>> {
    let message = match incoming {
        Incoming::Whole(message) | Incoming::Refused { message, .. } => match message.is_empty() {
            true => None,
            false => Some(Ok(std::mem::take(message))),
        },
        Incoming::Stream(stream) => {
            let next = poll_fn(|context| stream.as_mut().poll_next(context));
            let patience = Duration::from_secs(20);
            tokio::time::timeout(patience, next).await.expect("no hang")
        }
    };
    message.map(|message| Ok(String::from_utf8(message?.to_vec()).expect("UTF-8")))
}

async fn all(mut incoming: Incoming) -> Result<Vec<String>, Error> {
    let mut messages = Vec::new();
    while let Some(message) = next(&mut incoming).await {
        messages.push(message?);
    }
    Ok(messages)
}

/// Waits for what should not happen to happen.
async fn a_while() {
    tokio::time::sleep(Duration::from_millis(300)).await;
}
