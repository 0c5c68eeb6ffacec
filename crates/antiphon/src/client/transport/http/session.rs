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
use tokio_util::task::TaskTracker;

use super::{
    answer::{self, Served},
    asked::Asked,
    bearer::Token,
    head::Sent,
    reply::Reply,
    stamp::{Stamp, given},
    waiting::Waiting,
    wire::{Answered, Wire},
};
use crate::client::{Error, Incoming, Outgoing, transport::batch::split};

/// How long a server may take to hear that a session is over.
const FAREWELL: Duration = Duration::from_secs(2);

/// The session with a server.
pub(super) struct Session {
    pub(super) wire: Arc<Wire>,
    pub(super) waiting: Arc<Waiting>,
    /// What the server is being told although nobody waits for it.
    pub(super) partings: TaskTracker,
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

/// What a server made of a request.
enum Taken {
    /// It is answered, as it comes; with the id of a session that begins with that.
    Served(Served, Option<HeaderValue>),
    /// It is over.
    Over(Incoming),
}

impl Session {
    pub(super) fn new(wire: Arc<Wire>) -> Self {
        Self {
            wire,
            waiting: Arc::default(),
            partings: TaskTracker::new(),
            agreed: Mutex::default(),
        }
    }

    /// Sends a request. The stream that comes back holds what the server says because of it.
    pub(super) async fn send(self: &Arc<Self>, request: Outgoing<'_>) -> Result<Incoming, Error> {
        let stamp = match request.method {
            // Of whatever was before, it knows nothing (LHTTP-C-10).
            "initialize" => Stamp::default(),
            _ => self.stamp(request.version),
        };
        // A person may have to be asked for it; until then there is nothing to cancel.
        let token = self.wire.credentials.token().await?;
        let mut asked = Asked::new(self.clone(), &request, stamp.clone())?;
        let taken = tokio::select! {
            biased;
            taken = self.post(&request, &stamp, token) => taken,
            message = asked.elsewhere() => Ok(Taken::Over(Incoming::Whole(message))),
        };
        match taken {
            Ok(Taken::Served(served, begins)) => {
                if request.method == "initialize" {
                    asked.begins(begins);
                }
                Ok(incoming(asked, served))
            }
            Ok(Taken::Over(incoming)) => {
                asked.over();
                Ok(incoming)
            }
            Err(error) => {
                asked.over();
                Err(error)
            }
        }
    }

    async fn post(
        &self,
        request: &Outgoing<'_>,
        stamp: &Stamp,
        token: Option<Token>,
    ) -> Result<Taken, Error> {
        let sent = Sent::Post(stamp, request.body.clone(), Some(request));
        let uri = &self.wire.endpoint.uri;
        let Answered { head, body, .. } = self.wire.exchange(uri, &sent, token).await?;
        if head.status.is_success() {
            let begins = match request.method {
                "initialize" => given(&head.headers)?,
                _ => None,
            };
            let served = answer::served(&head, body, self.wire.limit).await?;
            return Ok(Taken::Served(served, begins));
        }
        if self.is_lost(head.status, stamp) {
            answer::ignore(body).await;
            return Err(Error::session_lost());
        }
        let refused = answer::refused(head.status, body, self.wire.limit).await;
        refused.map(Taken::Over)
    }

    /// Sends a message that has no answer of its own (LHTTP-S-04).
    pub(super) async fn tell(&self, version: Version, message: Bytes) -> Result<(), Error> {
        let stamp = self.stamp(version);
        let sent = Sent::Post(&stamp, message, None);
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
        if self.is_lost(head.status, stamp) {
            answer::ignore(body).await;
            return Err(Error::session_lost());
        }
        Err(answer::not_taken(head.status, body).await)
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
        self.lost(stamp);
        true
    }

    /// The server does not know this session any more.
    pub(super) fn lost(&self, stamp: &Stamp) {
        let mut agreed = self.lock();
        if agreed.id == stamp.session {
            agreed.lost = true;
        }
    }

    /// Forgets the session.
    pub(super) fn forget(&self) {
        *self.lock() = Agreed::default();
    }

    /// Ends the session, if there is one with a name (LHTTP-C-11). Whatever the server says to
    /// that is fine (LHTTP-S-25).
    pub(super) async fn end(&self) {
        let agreed = std::mem::take(&mut *self.lock());
        // What was given up is told first: under a session that is over nobody would listen.
        self.partings.close();
        _ = timeout(FAREWELL, self.partings.wait()).await;
        self.partings.reopen();
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

/// What comes back for a request that is served.
fn incoming(mut asked: Asked, served: Served) -> Incoming {
    let message = match served {
        Served::Events(body) => {
            return Incoming::Stream(Reply::events(asked, body).into_stream());
        }
        Served::Whole(message) => message,
    };
    let mut messages = VecDeque::new();
    split(asked.version, message, &mut messages);
    if messages.len() > 1 {
        return Incoming::Stream(Reply::messages(asked, messages).into_stream());
    }
    let message = messages.pop_front().unwrap_or_default();
    asked.answered_by(&message);
    Incoming::Whole(message)
}
