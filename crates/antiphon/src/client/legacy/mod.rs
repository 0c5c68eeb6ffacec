//! Servers of 2025-11-25 and before: the handshake, the session, and what they ask of their own
//! accord.
//!
//! | file | concern |
//! |---|---|
//! | `settle` | which revision to speak: probes and handshakes, in which order |
//! | `probe` | one probe, and answers to it that come late |
//! | `handshake` | one handshake |
//! | `mend` | sessions that are lost, and answers of another era |
//! | `known` | what was negotiated, which a new handshake may change |
//! | `calls` | the calls in flight, whose clocks stand still while somebody is asked |
//! | `heard` | what a server says of its own accord, and whom that is for |
//! | `pushed` | what a server asks of its own accord |
//! | `replies` | what it gets for that |
//! | `links` | the error that says that links must be opened first |
//! | `changes` | subscriptions |
//! | `utilities` | pings, log levels, roots that have changed |

mod calls;
mod changes;
mod handshake;
mod heard;
mod known;
mod links;
mod mend;
mod probe;
mod pushed;
mod replies;
mod settle;
mod utilities;

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use antiphon_types::{ClientCapabilities, LoggingLevel, Version};

use super::negotiation::Trace;

pub(super) use calls::{Running, limit};
pub(super) use changes::Feed;
pub(super) use heard::batch;
pub(super) use known::Known;

/// What a connection remembers for the sake of older servers.
#[derive(Default)]
pub(super) struct Session {
    pub(super) trace: Trace,
    /// Changes with each handshake, and whenever the era was looked at anew.
    epoch: AtomicU64,
    /// The server has given a result in the revision that is spoken.
    confirmed: AtomicBool,
    /// The least severe level of logs that was asked for since the connection was made.
    level: Mutex<Option<LoggingLevel>>,
    /// It is HTTP+SSE that carries the messages, all on one stream.
    fell_back: AtomicBool,
    speaking: Mutex<Option<Arc<Speaking>>>,
    calls: Arc<calls::Calls>,
    pushed: pushed::Pushed,
    links: links::Links,
    changes: changes::Feeds,
    mending: mend::Mending,
}

/// What is spoken with an older server.
#[derive(Debug)]
struct Speaking {
    version: Version,
    /// What the server may ask.
    capabilities: ClientCapabilities,
    /// The handshake is done, so that it may.
    settled: bool,
}

impl Session {
    /// What is spoken, if the server is an older one.
    fn speaking(&self) -> Option<Arc<Speaking>> {
        lock(&self.speaking).clone()
    }

    fn speak(&self, speaking: Option<Speaking>) {
        *lock(&self.speaking) = speaking.map(Arc::new);
    }

    /// Whether this is what is spoken still, in the same session.
    fn still_speaks(&self, speaking: &Arc<Speaking>) -> bool {
        let now = lock(&self.speaking);
        now.as_ref().is_some_and(|now| Arc::ptr_eq(now, speaking))
    }

    /// Which handshake the session goes back to.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    fn next_epoch(&self) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
    }

    /// The server has shown that it speaks what is spoken.
    pub(super) fn confirm(&self) {
        if !self.confirmed.load(Ordering::Relaxed) {
            self.confirmed.store(true, Ordering::Relaxed);
        }
    }

    /// The level of logs that was asked for since the connection was made.
    pub(super) fn level(&self) -> Option<LoggingLevel> {
        *lock(&self.level)
    }

    fn set_level(&self, level: LoggingLevel) {
        *lock(&self.level) = Some(level);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.pushed.withdraw_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
