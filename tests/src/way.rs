//! A client's way to a fresh harbour, on every transport.

use std::{
    process::Command,
    sync::{Arc, Mutex},
};

use antiphon::client::{
    Client, Connect, Connection, Error, Events, Http, Identity, Incoming, Negotiated, Outgoing,
    Pending, Stdio, Transport,
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
    sent: Sent,
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
            sent: Sent::default(),
        }
    }
}

impl Way {
    /// Connects.
    pub async fn connect(&self, client: &Client) -> Connection {
        self.go(client, None).await
    }

    /// Connects to a server that is known already.
    pub async fn connect_as(&self, client: &Client, known: Negotiated) -> Connection {
        self.go(client, Some(known)).await
    }

    /// Connects a client that can answer nothing.
    pub async fn plain(&self) -> Connection {
        self.connect(&Client::new("tests", "1.0")).await
    }

    /// The methods of all requests that were sent since this was last asked.
    pub fn sent(&self) -> Vec<String> {
        self.sent.take()
    }

    async fn go(&self, client: &Client, known: Option<Negotiated>) -> Connection {
        match (&self.server, self.wire) {
            (Some(server), _) => {
                let url = format!("http://{}/mcp", server.address);
                self.watched(client, Http::new(url), known).await
            }
            (None, Wire::Stdio) => {
                let child = Stdio::spawn(Command::new(&self.binary));
                self.watched(client, child, known).await
            }
            (None, _) => {
                let peer = antiphon::memory(harbour::endpoint());
                self.watched(client, peer, known).await
            }
        }
    }

    async fn watched(
        &self,
        client: &Client,
        to: impl Connect + Send,
        known: Option<Negotiated>,
    ) -> Connection {
        let to = self.sent.watch(to);
        let connection = match known {
            Some(known) => client.connect_as(to, known).await,
            None => client.connect(to).await,
        };
        connection.expect("a connection")
    }
}

/// The methods of requests that were sent.
#[derive(Clone, Default)]
pub struct Sent(Arc<Mutex<Vec<String>>>);

impl Sent {
    /// Takes notes of what goes this way.
    pub fn watch<C>(&self, to: C) -> Watched<C> {
        Watched {
            to,
            sent: self.clone(),
        }
    }

    /// All since this was last asked.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("unpoisoned"))
    }
}

/// A way, or a transport, that takes notes.
pub struct Watched<T> {
    to: T,
    sent: Sent,
}

impl<C: Connect + Send> Connect for Watched<C> {
    type Transport = Watched<C::Transport>;

    async fn connect(self, events: Events) -> Result<Self::Transport, Error> {
        let transport = self.to.connect(events).await?;
        Ok(self.sent.watch(transport))
    }
}

impl<T: Transport> Transport for Watched<T> {
    fn identity(&self) -> &Identity {
        self.to.identity()
    }

    fn send<'a>(&'a self, request: Outgoing<'a>) -> Pending<'a, Result<Incoming, Error>> {
        let method = request.method.to_owned();
        self.sent.0.lock().expect("unpoisoned").push(method);
        self.to.send(request)
    }

    fn authorization(&self) -> Pending<'_, Result<Option<u64>, Error>> {
        self.to.authorization()
    }

    fn mirrors(&self) -> bool {
        self.to.mirrors()
    }

    fn close(&self) -> Pending<'_, ()> {
        self.to.close()
    }
}
