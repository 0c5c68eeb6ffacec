//! A client's way to a fresh harbour, on every transport.

use std::{
    process::Command,
    sync::{Arc, Mutex},
};

use antiphon::{
    client::{
        Client, Connect, Connection, Era, Error, Events, Http, Identity, Incoming, Negotiated,
        Outgoing, Pending, Stdio, Transport,
    },
    types::Version,
};
use bytes::Bytes;

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
    /// The revision that is spoken.
    pub version: Version,
    binary: String,
    server: Option<Server>,
    sent: Sent,
}

impl Open for Way {
    async fn open(wire: Wire, binary: &str) -> Self {
        Self::of(wire, Version::LATEST, binary).await
    }
}

impl Way {
    /// Opens one whose clients speak this revision.
    pub async fn of(wire: Wire, version: Version, binary: &str) -> Self {
        let server = match wire {
            Wire::Http => {
                let service = antiphon::http::service(harbour::endpoint());
                Some(Server::start(service).await)
            }
            Wire::Memory | Wire::Stdio => None,
        };
        Self {
            wire,
            version,
            binary: binary.to_owned(),
            server,
            sent: Sent::default(),
        }
    }

    /// Whether a session is opened, in which the client is asked while its calls wait.
    pub fn is_older(&self) -> bool {
        !self.version.is_modern()
    }

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
        let client = match self.is_older() {
            true => &client.clone().era(Era::Pinned(self.version)),
            false => client,
        };
        let connection = match known {
            Some(known) => client.connect_as(to, known).await,
            None => client.connect(to).await,
        };
        let connection = connection.expect("a connection");
        assert_eq!(connection.protocol_version(), self.version);
        connection
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

    fn life(&self) -> u64 {
        self.to.life()
    }

    fn is_channel(&self) -> bool {
        self.to.is_channel()
    }

    fn tell(&self, version: Version, message: Bytes) -> Pending<'_, Result<(), Error>> {
        self.to.tell(version, message)
    }

    fn settled(&self, version: Version) -> Pending<'_, ()> {
        self.to.settled(version)
    }

    fn start_over(&self) -> Pending<'_, Result<(), Error>> {
        self.to.start_over()
    }

    fn fall_back(&self) -> Pending<'_, Result<bool, Error>> {
        self.to.fall_back()
    }

    fn close(&self) -> Pending<'_, ()> {
        self.to.close()
    }
}

/// Makes these [`behaviours`](crate::behaviours) tests in each older revision, too, on each
/// transport: `in_2025_11_25::memory::NAME` and so on. They are given a [`Way`].
#[macro_export]
macro_rules! in_older_revisions {
    ($($name:ident),* $(,)?) => {
        $crate::in_older_revisions!(@ in_2025_11_25 V2025_11_25: $($name)*);
        $crate::in_older_revisions!(@ in_2025_06_18 V2025_06_18: $($name)*);
        $crate::in_older_revisions!(@ in_2025_03_26 V2025_03_26: $($name)*);
        $crate::in_older_revisions!(@ in_2024_11_05 V2024_11_05: $($name)*);
    };
    (@ $module:ident $version:ident: $($name:ident)*) => {
        mod $module {
            use super::behaviour;
            $crate::in_older_revisions!(@wire memory Memory $version: $($name)*);
            $crate::in_older_revisions!(@wire stdio Stdio $version: $($name)*);
            $crate::in_older_revisions!(@wire http Http $version: $($name)*);
        }
    };
    (@wire $module:ident $wire:ident $version:ident: $($name:ident)*) => {
        mod $module {
            use super::behaviour;
            $(#[tokio::test]
            async fn $name() {
                let binary = env!("CARGO_BIN_EXE_antiphon-tests-stdio");
                let wire = $crate::wire::Wire::$wire;
                let version = antiphon::types::Version::$version;
                behaviour::$name($crate::way::Way::of(wire, version, binary).await).await;
            })*
        }
    };
}
