//! [`Session`]: what is known of a client since its `initialize`.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use antiphon_core::{
    envelope::{Meta, Slot},
    legacy,
    question::Kind,
};
use antiphon_types::{ClientCapabilities, Implementation, LoggingLevel, Version};
use serde_json::value::{RawValue, to_raw_value};

use super::asked::Asked;
use crate::{engine::inflight::InFlight, raw::Listener};

/// A client of an older revision, as `initialize` described it.
pub(crate) struct Session {
    pub(crate) version: Version,
    /// What it can be asked, as JSON.
    abilities: Box<RawValue>,
    /// Whether forms are among that, which is what most questions are.
    pub(super) fills_in_forms: bool,
    /// What it says it is, as JSON.
    info: Option<Box<RawValue>>,
    /// Why it cannot be asked anything, if that is so.
    pub(crate) mute: Option<Mute>,
    /// Its requests that are not answered yet.
    pub(crate) in_flight: Arc<InFlight>,
    /// Our requests that it has not answered yet.
    pub(crate) asked: Asked,
    state: Mutex<State>,
}

/// Why a client cannot be asked anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mute {
    /// There are no sessions, so no answer would find its question.
    Stateless,
    /// Answers are single JSON messages, so no question can come before them.
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "HTTP only"))]
    JsonOnly,
}

/// What changes while a session lasts.
#[derive(Default)]
struct State {
    /// The least severe log message that it wants to see.
    level: Option<LoggingLevel>,
    /// What it is told of its own accord.
    listener: Option<Arc<Listener>>,
}

impl Session {
    /// A session of a client that declared this.
    pub(crate) fn new(
        version: Version,
        declared: &ClientCapabilities,
        info: Option<&Implementation>,
        mute: Option<Mute>,
        in_flight: Arc<InFlight>,
    ) -> Self {
        let abilities = match mute {
            None => legacy::abilities(declared, version),
            Some(_) => ClientCapabilities::new(),
        };
        Self {
            version,
            fills_in_forms: Kind::Form.is_declared(&abilities),
            abilities: to_raw_value(&abilities).expect("capabilities are plain JSON"),
            info: info.map(|info| to_raw_value(info).expect("an implementation is plain JSON")),
            mute,
            in_flight,
            asked: Asked::default(),
            state: Mutex::default(),
        }
    }

    /// How much of what the client said is kept.
    pub(super) fn kept_bytes(&self) -> usize {
        let info = self.info.as_ref().map_or(0, |info| info.get().len());
        self.abilities.get().len() + info
    }

    /// A request's metadata, as if it said what `initialize` said (META-S-04 is of a later era).
    pub(super) fn meta<'a>(&'a self, sent: &Meta<'a>) -> Meta<'a> {
        Meta {
            present: sent.present,
            wrong: sent.wrong,
            version: Slot::Absent,
            client_info: self.info.as_deref(),
            client_capabilities: Some(&self.abilities),
            log_level: Slot::Absent,
            progress_token: sent.progress_token,
            others: sent.others.clone(),
        }
    }

    /// The least severe log message to send. Until the client says so, what a person would want
    /// to know (LFEAT-S-05).
    pub(super) fn level(&self) -> LoggingLevel {
        self.lock().level.unwrap_or(LoggingLevel::Info)
    }

    pub(super) fn set_level(&self, level: LoggingLevel) {
        self.lock().level = Some(level);
    }

    /// What the client is told of its own accord, once that is known.
    pub(crate) fn listener(&self) -> Option<Arc<Listener>> {
        self.lock().listener.clone()
    }

    pub(super) fn set_listener(&self, listener: Arc<Listener>) {
        self.lock().listener = Some(listener);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nothing of what the client said.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("version", &self.version)
            .field("mute", &self.mute)
            .finish_non_exhaustive()
    }
}
