//! [`Asked`]: a request of an older revision that is on its way.

use std::{sync::Arc, time::Duration};

use antiphon_types::Version;
use bytes::Bytes;
use http::HeaderValue;
use tokio::{runtime::Handle, time::timeout};

use super::{
    session::Session,
    stamp::Stamp,
    waiting::{Answer, Place},
};
use crate::client::{Error, Event, Outgoing};

/// How long it may take to tell the server that nobody waits any more.
const PATIENCE: Duration = Duration::from_secs(5);

/// A request that was sent. Dropped before its answer, it is cancelled: for servers of these
/// revisions a connection that ends means nothing (LHTTP-S-11, LHTTP-C-04).
pub(super) struct Asked {
    pub(super) session: Arc<Session>,
    pub(super) stamp: Stamp,
    pub(super) version: Version,
    place: Place,
    stage: Stage,
    /// The session that its answer begins.
    begins: Option<Option<HeaderValue>>,
    /// May be cancelled (LEG-C-07).
    cancellable: bool,
    /// Where that would run, wherever this is dropped.
    runtime: Option<Handle>,
}

#[derive(PartialEq)]
enum Stage {
    /// The server may still work on it.
    Open,
    /// It was answered.
    Answered,
    /// It was lost, or refused.
    Over,
}

impl Asked {
    /// A request that is about to be sent.
    ///
    /// # Errors
    /// When its id is in use.
    pub(super) fn new(
        session: Arc<Session>,
        request: &Outgoing<'_>,
        stamp: Stamp,
    ) -> Result<Self, Error> {
        let place = session.waiting.enter(request.id)?;
        Ok(Self {
            stamp,
            version: request.version,
            place,
            stage: Stage::Open,
            begins: None,
            cancellable: request.method != "initialize",
            runtime: Handle::try_current().ok(),
            session,
        })
    }

    /// If this is answered, that begins a session.
    pub(super) fn begins(&mut self, id: Option<HeaderValue>) {
        // Whoever comes back for the answer has to name it already (LHTTP-C-09).
        self.stamp.session.clone_from(&id);
        self.begins = Some(id);
    }

    /// Waits for an answer that comes on another stream.
    pub(super) async fn elsewhere(&mut self) -> Bytes {
        self.place.answer().await
    }

    /// Nothing comes any more: the request was lost, or refused.
    pub(super) fn over(&mut self) {
        self.stage = Stage::Over;
        self.place.leave();
    }

    /// Nobody waits for the answer, and the server is told so if it may still work on it.
    pub(super) fn give_up(&mut self) {
        if self.stage == Stage::Open
            && self.cancellable
            && let Some(runtime) = &self.runtime
        {
            let message = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}}"#,
                self.place.id
            );
            let (session, stamp) = (self.session.clone(), self.stamp.clone());
            let told = async move {
                _ = timeout(PATIENCE, session.mention(&stamp, message.into())).await;
            };
            self.session.partings.spawn_on(told, runtime);
        }
        self.over();
    }

    pub(super) fn is_answered(&self) -> bool {
        self.stage == Stage::Answered
    }

    /// This is the answer, whatever it says.
    pub(super) fn answered_by(&mut self, message: &[u8]) {
        if let Some(id) = self.begins.take()
            && let Answer::To(_, true) = Answer::of(message)
        {
            self.session.begin(id);
        }
        self.stage = Stage::Answered;
        self.place.leave();
    }

    /// Takes a message of the request's own stream: gives it back if it is for the caller.
    pub(super) fn sort(&mut self, message: Bytes) -> Option<Bytes> {
        let events = &self.session.wire.events;
        match Answer::of(&message) {
            // After the answer the caller does not look any more.
            _ if self.is_answered() => events.report(Event::Message(message)),
            Answer::To(id, _) if id.is_none_or(|id| id == self.place.id) => {
                self.answered_by(&message);
                return Some(message);
            }
            Answer::To(..) => self.session.waiting.hear(message, events),
            Answer::None | Answer::Noise => return Some(message),
        }
        None
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.give_up();
    }
}
