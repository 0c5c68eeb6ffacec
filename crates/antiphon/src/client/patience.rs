//! [`Patience`]: a span of time that stands still while a person signs in.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::deadline::after;

/// Until when something is waited for. It moves on by as much as requests are held up meanwhile.
pub(super) struct Patience<H> {
    held: H,
    before: Duration,
    until: Instant,
}

impl<H: Fn() -> Duration> Patience<H> {
    /// From now on, where `held` says how long requests were held up so far.
    pub(super) fn new(span: Duration, held: H) -> Self {
        Self {
            before: held(),
            held,
            until: after(Instant::now(), span),
        }
    }

    fn until(&self) -> Instant {
        after(self.until, (self.held)().saturating_sub(self.before))
    }

    /// What comes of it, if it comes in time.
    pub(super) async fn limit<T>(&self, waiting: impl Future<Output = T>) -> Option<T> {
        tokio::pin!(waiting);
        loop {
            let until = self.until();
            match timeout_at(until, &mut waiting).await {
                Ok(done) => return Some(done),
                // It stood still in the meantime.
                Err(_) if self.until() > until => {}
                Err(_) => return None,
            }
        }
    }
}
