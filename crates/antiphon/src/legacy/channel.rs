//! [`Channel`]: the one session that a channel of its own can have.

use std::sync::{Arc, OnceLock};

use antiphon_core::legacy;
use antiphon_types::Version;
use bytes::Bytes;
use tokio::task::AbortHandle;

use super::{answering::unaddressed, session::Session, watching};
use crate::engine::{inflight::InFlight, lines::Lines};

/// How many messages one batch may have.
pub(super) const BATCH: usize = 100;

/// What a shared channel knows of a client that opened with `initialize` on it (ERA-S-03).
#[derive(Debug)]
pub(crate) struct Channel {
    session: OnceLock<Arc<Session>>,
    lines: Arc<Lines>,
    pub(super) in_flight: Arc<InFlight>,
    /// What tells the client of changes.
    telling: OnceLock<AbortHandle>,
}

impl Channel {
    pub(crate) fn new(lines: Arc<Lines>, in_flight: Arc<InFlight>) -> Self {
        Self {
            session: OnceLock::new(),
            lines,
            in_flight,
            telling: OnceLock::new(),
        }
    }

    pub(super) fn session(&self) -> Option<&Arc<Session>> {
        self.session.get()
    }

    /// Opens the session; `false` if there is one already.
    pub(super) fn open(&self, session: Arc<Session>) -> bool {
        self.session.set(session).is_ok()
    }

    /// The messages of a batch, from a client whose revision has such (LEG-B-05). One that is
    /// empty, or too long, is none.
    pub(crate) fn batch(&self, body: &Bytes) -> Option<Vec<Bytes>> {
        let has_batches = |session: &Arc<Session>| session.version == Version::V2025_03_26;
        if body.trim_ascii_start().first() != Some(&b'[')
            || !self.session().is_some_and(has_batches)
        {
            return None;
        }
        let messages = legacy::batch(std::str::from_utf8(body).ok()?)?;
        if messages.is_empty() || messages.len() > BATCH {
            return None;
        }
        let messages = messages
            .iter()
            .map(|message| body.slice_ref(message.get().as_bytes()));
        Some(messages.collect())
    }

    /// The client says no more: what it was asked has no answer.
    pub(crate) fn end(&self) {
        if let Some(session) = self.session() {
            session.asked.end();
        }
    }

    /// The id of an error that is nobody's.
    pub(crate) fn nobody(&self) -> Option<&'static str> {
        unaddressed(self.session()?.version)
    }

    /// From here on the client hears of changes (LEG-S-02).
    pub(super) fn begin_telling(&self) {
        let Some(session) = self.session() else {
            return;
        };
        self.telling.get_or_init(|| {
            let (session, lines) = (session.clone(), self.lines.clone());
            tokio::spawn(watching::tell(session, lines)).abort_handle()
        });
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        if let Some(telling) = self.telling.get() {
            telling.abort();
        }
        self.end();
    }
}
