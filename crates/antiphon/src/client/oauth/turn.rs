//! [`Turn`]: one at a time finds out more about the tokens of a server.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use super::held::Held;

/// The turns of all servers.
#[derive(Clone, Default)]
pub(super) struct Turns(Arc<Mutex<HashMap<String, Weak<Turn>>>>);

impl Turns {
    /// Those of one server, which all connections to it share.
    pub(super) fn of(&self, server: &str) -> Arc<Turn> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = all.get(server).and_then(Weak::upgrade) {
            return turn;
        }
        all.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::new(Turn::default());
        all.insert(server.to_owned(), Arc::downgrade(&turn));
        turn
    }
}

/// The turns of one server.
#[derive(Default)]
pub(super) struct Turn {
    pub(super) lock: tokio::sync::Mutex<()>,
    /// How long people were waited for.
    pub(super) held: Held,
    last: Mutex<Failure>,
}

/// A sign-in that failed.
#[derive(Default)]
struct Failure {
    /// How many there were.
    count: u64,
    /// What it was for.
    challenges: Vec<String>,
    why: String,
}

impl Turn {
    /// How many sign-ins have failed so far.
    pub(super) fn failures(&self) -> u64 {
        self.last().count
    }

    /// Why a sign-in for the same has failed since there were so many: whoever waited for it need
    /// not try again at once.
    pub(super) fn failed_since(&self, count: u64, challenges: &[String]) -> Option<String> {
        let last = self.last();
        let is_same = last.count > count && last.challenges == challenges;
        is_same.then(|| last.why.clone())
    }

    pub(super) fn failed(&self, challenges: &[String], why: String) {
        let mut last = self.last();
        *last = Failure {
            count: last.count + 1,
            challenges: challenges.to_vec(),
            why,
        };
    }

    fn last(&self) -> std::sync::MutexGuard<'_, Failure> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
