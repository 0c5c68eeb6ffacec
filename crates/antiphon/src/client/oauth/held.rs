//! [`Held`]: how long requests were held up by a person.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// How long a person was waited for, all in all.
#[derive(Default)]
pub(super) struct Held(Mutex<State>);

#[derive(Default)]
struct State {
    before: Duration,
    since: Option<Instant>,
}

impl Held {
    /// A person is waited for, until what comes back is dropped.
    pub(super) fn begin(&self) -> Waiting<'_> {
        self.state().since = Some(Instant::now());
        Waiting(self)
    }

    /// How long so far.
    pub(super) fn total(&self) -> Duration {
        let state = self.state();
        let now = state.since.map_or(Duration::ZERO, |since| since.elapsed());
        state.before + now
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct Waiting<'a>(&'a Held);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        if let Some(since) = state.since.take() {
            state.before += since.elapsed();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn waiting_adds_up() {
        let held = Held::default();
        let second = Duration::from_secs(1);
        assert_eq!(held.total(), Duration::ZERO);
        for turn in 1..=2 {
            let waiting = held.begin();
            tokio::time::advance(second).await;
            assert_eq!(held.total(), second * turn, "it counts while it goes on");
            drop(waiting);
            tokio::time::advance(second).await;
            assert_eq!(held.total(), second * turn);
        }
    }
}
