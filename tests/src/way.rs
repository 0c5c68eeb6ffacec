//! A client's way to a fresh harbour, on every transport.

use std::{
    process::Command,
    sync::{Arc, Mutex},
};

use antiphon::client::{
    Client, Connect, Connection, Error, Events, Http, Identity, Incoming, Outgoing, Pending, Stdio,
    Transport,
};

use crate::{
    harbour,
    http::Server,
    wire::{Open, Wire},
};

/// A way to a harbour of its own. On HTTP all connections lead to one and the same, otherwise each
/// has its own.
pub struct Way {
    /// The transport.
    pub wire: Wire,
    binary: String,
    server: Option<Server>,
    sent: Arc<Mutex<Vec<String>>>,
}

impl Open for Way {
    async fn open(wire: Wire, binary: &str) -> Self {
        let server = match wire {
            Wire::Http => {
                let service = antiphon::http::service(harbour::endpoint());
                Some(Server::start(service).await)
            }
            Wire::Memory | Wire::Stdio => None,
        };
        Self {
            wire,
            binary: binary.to_owned(),
            server,
            sent: Arc::default(),
        }
    }
}

impl Way {
    /// The way itself.
    pub fn to(&self) -> Watched {
        Watched {
            sent: self.sent.clone(),
            to: match (&self.server, self.wire) {
                (Some(server), _) => To::Http(Http::new(format!("http://{}/mcp", server.address))),
                (None, Wire::Stdio) => To::Stdio(Stdio::spawn(Command::new(&self.binary))),
                (None, _) => To::Memory(antiphon::memory(harbour::endpoint())),
            },
        }
    }

    /// Connects.
    pub async fn connect(&self, client: &Client) -> Connection {
        client.connect(self.to()).await.expect("a connection")
    }

    /// Connects a client that can answer nothing.
    pub async fn plain(&self) -> Connection {
        self.connect(&Client::new("tests", "1.0")).await
    }

    /// The methods of all requests that were sent since this was last asked.
    pub fn sent(&self) -> Vec<String> {
        std::mem::take(&mut self.sent.lock().expect("unpoisoned"))
    }
}

/// A way that takes notes.
pub struct Watched {
    to: To,
    sent: Arc<Mutex<Vec<String>>>,
}

enum To {
    Memory(antiphon::memory::Peer),
    Stdio(Stdio),
    Http(Http),
}

impl Connect for Watched {
    type Transport = WatchedTransport;

    async fn connect(self, events: Events) -> Result<WatchedTransport, Error> {
        let transport: Box<dyn Transport> = match self.to {
            To::Memory(to) => Box::new(to.connect(events).await?),
            To::Stdio(to) => Box::new(to.connect(events).await?),
            To::Http(to) => Box::new(to.connect(events).await?),
        };
        Ok(WatchedTransport {
            transport,
            sent: self.sent,
        })
    }
}

/// A transport that takes notes.
pub struct WatchedTransport {
    transport: Box<dyn Transport>,
    sent: Arc<Mutex<Vec<String>>>,
}

impl Transport for WatchedTransport {
    fn identity(&self) -> &Identity {
        self.transport.identity()
    }

    fn send<'a>(&'a self, request: Outgoing<'a>) -> Pending<'a, Result<Incoming, Error>> {
        let method = request.method.to_owned();
        self.sent.lock().expect("unpoisoned").push(method);
        self.transport.send(request)
    }

    fn authorization(&self) -> Pending<'_, Result<Option<u64>, Error>> {
        self.transport.authorization()
    }

    fn mirrors(&self) -> bool {
        self.transport.mirrors()
    }

    fn close(&self) -> Pending<'_, ()> {
        self.transport.close()
    }
}
