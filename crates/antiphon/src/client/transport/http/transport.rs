//! [`HttpTransport`]: requests to one HTTP server.

use std::{
    collections::hash_map::RandomState,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use antiphon_types::Version;
use bytes::Bytes;
use tokio::{sync::oneshot, time::timeout};
use tokio_util::task::AbortOnDropHandle;

use super::{
    answer::{self, Served},
    events::EventStream,
    head::Sent,
    session::Session,
    sse::Sse,
    standalone::listen,
    wire::{Answered, Wire, report},
};
use crate::client::{Error, Identity, Incoming, Outgoing, Pending, Transport};

/// How long the first request waits for a server to let its client listen.
const LISTENS_WITHIN: Duration = Duration::from_secs(1);

/// What [`Http`](super::Http) becomes. Every request is a POST of its own (HTTP-C-01); connections
/// are kept and used again.
///
/// With a server of an older revision it keeps a session: it listens for what the server says of
/// its own accord, comes back to streams that end too early, and ends the session when it is
/// closed.
pub struct HttpTransport {
    identity: Identity,
    wire: Arc<Wire>,
    /// Keys of the digests of tokens.
    keys: RandomState,
    session: Arc<Session>,
    beside: Mutex<Beside>,
}

/// What an older server has beside the POSTs.
#[derive(Default)]
struct Beside {
    /// Listens for what the server says of its own accord.
    listening: Option<AbortOnDropHandle<()>>,
    /// The transport that was there before this one, if that is what the server speaks.
    sse: Option<Arc<Sse>>,
}

impl HttpTransport {
    pub(super) fn new(wire: Wire) -> Self {
        let wire = Arc::new(wire);
        Self {
            identity: (&wire.endpoint).into(),
            session: Arc::new(Session::new(wire.clone())),
            wire,
            keys: RandomState::new(),
            beside: Mutex::default(),
        }
    }

    async fn answer(&self, request: Outgoing<'_>) -> Result<Incoming, Error> {
        if request.version.is_modern() {
            return self.stand_alone(&request).await;
        }
        match self.sse() {
            Some(sse) => Box::pin(sse.send(request)).await,
            None => Box::pin(self.session.send(request)).await,
        }
    }

    /// A request that knows no session.
    async fn stand_alone(&self, request: &Outgoing<'_>) -> Result<Incoming, Error> {
        let wire = &self.wire;
        let answered = wire.ask(&wire.endpoint.uri, &Sent::Modern(request)).await?;
        let Answered { head, body, .. } = answered;
        if !head.status.is_success() {
            return Box::pin(answer::refused(head.status, body, wire.limit)).await;
        }
        Ok(match answer::served(&head, body, wire.limit).await? {
            Served::Whole(message) => Incoming::Whole(message),
            Served::Events(body) => {
                let stream = EventStream::new(body, wire.limit, wire.events.clone());
                Incoming::Stream(Box::pin(stream))
            }
        })
    }

    fn sse(&self) -> Option<Arc<Sse>> {
        self.beside().sse.clone()
    }

    fn beside(&self) -> MutexGuard<'_, Beside> {
        self.beside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of an error that its caller is told as well.
    fn reported<T>(&self, outcome: Result<T, Error>) -> Result<T, Error> {
        if let Err(error) = &outcome {
            report(&self.wire.events, error);
        }
        outcome
    }
}

impl Transport for HttpTransport {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn send<'a>(&'a self, request: Outgoing<'a>) -> Pending<'a, Result<Incoming, Error>> {
        Box::pin(async move {
            let answer = self.answer(request).await;
            self.reported(answer)
        })
    }

    fn authorization(&self) -> Pending<'_, Result<Option<u64>, Error>> {
        Box::pin(self.wire.credentials.digest(&self.keys))
    }

    fn held(&self) -> Duration {
        self.wire.credentials.held()
    }

    fn mirrors(&self) -> bool {
        true
    }

    fn tell(&self, version: Version, message: Bytes) -> Pending<'_, Result<(), Error>> {
        Box::pin(async move {
            match self.sse() {
                // There a failure of the transport is that of the stream, and nothing else.
                Some(sse) => sse.tell(version, message).await,
                None => self.reported(self.session.tell(version, message).await),
            }
        })
    }

    fn settled(&self, version: Version) -> Pending<'_, ()> {
        Box::pin(async move {
            let (tell, told) = oneshot::channel();
            {
                let mut beside = self.beside();
                match &beside.sse {
                    Some(sse) => return sse.settled(version),
                    None => {
                        let stamp = self.session.stamp(version);
                        let listening = listen(self.session.clone(), version, stamp, tell);
                        let listening = tokio::spawn(listening);
                        beside.listening = Some(AbortOnDropHandle::new(listening));
                    }
                }
            }
            // What a server asks there before somebody listens is lost with many of them.
            _ = timeout(LISTENS_WITHIN, told).await;
        })
    }

    fn start_over(&self) -> Pending<'_, Result<(), Error>> {
        Box::pin(async move {
            self.session.forget();
            let fell_back = {
                let mut beside = self.beside();
                beside.listening = None;
                beside.sse.is_some()
            };
            // That transport is a session itself. If it cannot be had, this one stays lost.
            if fell_back {
                self.fall_back().await?;
            }
            Ok(())
        })
    }

    fn fall_back(&self) -> Pending<'_, Result<bool, Error>> {
        Box::pin(async move {
            let opened = Sse::open(self.wire.clone()).await;
            let sse = self.reported(opened)?;
            let mut beside = self.beside();
            beside.listening = None;
            beside.sse = Some(Arc::new(sse));
            Ok(true)
        })
    }

    fn close(&self) -> Pending<'_, ()> {
        Box::pin(async move {
            let Beside { listening, sse } = std::mem::take(&mut *self.beside());
            drop(listening);
            match sse {
                Some(sse) => sse.close().await,
                None => self.session.end().await,
            }
        })
    }
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransport")
            .field("server", &format_args!("{}", self.identity))
            .field("proxy", &self.wire.proxy.as_ref().map(ToString::to_string))
            .field("credentials", &self.wire.credentials)
            .finish_non_exhaustive()
    }
}
