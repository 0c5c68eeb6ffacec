//! [`Session`]: what is agreed on with a server of an older revision, and the messages under it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use antiphon_types::Version;
use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use tokio::time::timeout;

use super::{
    answer::{self, Served},
    asked::Asked,
    batch::split,
    head::Sent,
    reply::Reply,
    stamp::{Stamp, given},
    waiting::Waiting,
    wire::{Answered, Wire},
};
use crate::client::{Error, Incoming, Outgoing};

/// How long a server may take to hear that a session is over.
const FAREWELL: Duration = Duration::from_secs(2);

/// The session with a server.
pub(super) struct Session {
    pub(super) wire: Arc<Wire>,
    pub(super) waiting: Arc<Waiting>,
    agreed: Mutex<Agreed>,
}

#[derive(Default)]
struct Agreed {
    /// The id that the server gave.
    id: Option<HeaderValue>,
    version: Option<Version>,
    /// The server does not know it any more.
    lost: bool,
}

impl Session {
    pub(super) fn new(wire: Arc<Wire>) -> Self {
        Self {
            wire,
            waiting: Arc::default(),
            agreed: Mutex::default(),
        }
    }

    /// Sends a request. The stream that comes back holds what the server says because of it.
    pub(super) async fn send(self: &Arc<Self>, request: Outgoing<'_>) -> Result<Incoming, Error> {
        let begins = request.method == "initialize";
        let stamp = match begins {
            // Of whatever was before, it knows nothing (LHTTP-C-10).
            true => Stamp::default(),
            false => self.stamp(request.version),
        };
        let token = self.wire.credentials.token().await?;
        let mut asked = Asked::new(self.clone(), &request, stamp.clone())?;
        let sent = Sent::Post(&stamp, request.body);
        let uri = &self.wire.endpoint.uri;
        let answered = tokio::select! {
            biased;
            answered = self.wire.exchange(uri, &sent, token) => answered,
            message = asked.elsewhere() => {
                asked.over();
                return Ok(Incoming::Whole(message));
            }
        };
        let served = async {
            let Answered { head, body, .. } = answered?;
            if !head.status.is_success() {
                return match self.is_lost(head.status, &stamp) {
                    true => Err(Error::session_lost()),
                    false => answer::refused(head.status, body, self.wire.limit)
                        .await
                        .map(Err),
                };
            }
            if begins {
                asked.begins(given(&head.headers)?);
            }
            answer::served(&head, body, self.wire.limit).await.map(Ok)
        };
        // Dropping this before its end gives the request up; its end does not.
        let served = served.await;
        let served = match served {
            Ok(Ok(served)) => served,
            Ok(Err(refused)) => {
                asked.over();
                return Ok(refused);
            }
            Err(error) => {
                asked.over();
                return Err(error);
            }
        };
        Ok(match served {
            Served::Events(body) => Incoming::Stream(Reply::events(asked, body).into_stream()),
            Served::Whole(message) => {
                let mut messages = VecDeque::new();
                split(request.version, message, &mut messages);
                match messages.len() {
                    1 => {
                        let message = messages.pop_front().unwrap_or_default();
                        asked.answered_by(&message);
                        Incoming::Whole(message)
                    }
                    _ => Incoming::Stream(Reply::messages(asked, messages).into_stream()),
                }
            }
        })
    }

    /// Sends a message that has no answer of its own (LHTTP-S-04).
    pub(super) async fn tell(&self, version: Version, message: Bytes) -> Result<(), Error> {
        let stamp = self.stamp(version);
        let sent = Sent::Post(&stamp, message);
        let answered = self.wire.ask(&self.wire.endpoint.uri, &sent).await?;
        self.taken(answered, &stamp).await
    }

    /// Sends a message whose loss nobody would notice.
    pub(super) async fn mention(&self, stamp: &Stamp, message: Bytes) {
        let sent = Sent::Parting(stamp, message);
        match self.wire.ask(&self.wire.endpoint.uri, &sent).await {
            Ok(answered) => answer::ignore(answered.body).await,
            Err(error) => tracing::debug!(%error, "the server was not told"),
        }
    }

    async fn taken(&self, answered: Answered, stamp: &Stamp) -> Result<(), Error> {
        let Answered { head, body, .. } = answered;
        if head.status.is_success() {
            answer::ignore(body).await;
            return Ok(());
        }
        match self.is_lost(head.status, stamp) {
            true => Err(Error::session_lost()),
            false => Err(answer::not_taken(head.status, body).await),
        }
    }

    /// What requests of the session say.
    pub(super) fn stamp(&self, version: Version) -> Stamp {
        let mut agreed = self.lock();
        agreed.version = Some(version);
        Stamp::new(agreed.id.clone(), version)
    }

    /// The handshake brought a session, or one without an id.
    pub(super) fn begin(&self, id: Option<HeaderValue>) {
        *self.lock() = Agreed {
            id,
            ..Agreed::default()
        };
    }

    /// Whether this status says that the session is gone (LHTTP-S-24).
    fn is_lost(&self, status: StatusCode, stamp: &Stamp) -> bool {
        if status != StatusCode::NOT_FOUND || stamp.session.is_none() {
            return false;
        }
        let mut agreed = self.lock();
        if agreed.id == stamp.session {
            agreed.lost = true;
        }
        true
    }

    /// Forgets the session.
    pub(super) fn forget(&self) {
        *self.lock() = Agreed::default();
    }

    /// Ends the session, if there is one with a name (LHTTP-C-11). Whatever the server says to
    /// that is fine (LHTTP-S-25).
    pub(super) async fn end(&self) {
        let agreed = std::mem::take(&mut *self.lock());
        if agreed.id.is_none() || agreed.lost {
            return;
        }
        let stamp = match agreed.version {
            Some(version) => Stamp::new(agreed.id, version),
            None => Stamp {
                session: agreed.id,
                version: None,
            },
        };
        let delete = Sent::Delete(&stamp);
        let farewell = async {
            if let Ok(answered) = self.wire.ask(&self.wire.endpoint.uri, &delete).await {
                answer::ignore(answered.body).await;
            }
        };
        _ = timeout(FAREWELL, farewell).await;
    }

    fn lock(&self) -> MutexGuard<'_, Agreed> {
        self.agreed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
