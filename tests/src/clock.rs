//! A clock that a test moves.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime},
};

use antiphon::sealing::Sealing;

/// Stands still until it is moved.
#[derive(Clone)]
pub struct Clock {
    began: SystemTime,
    shift: Arc<AtomicI64>,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            began: SystemTime::now(),
            shift: Arc::default(),
        }
    }
}

impl Clock {
    /// Moves it so many seconds.
    pub fn forward(&self, seconds: i64) {
        self.shift.fetch_add(seconds, Ordering::SeqCst);
    }

    /// Gives a server this clock.
    pub fn on(&self, sealing: Sealing) -> Sealing {
        let clock = self.clone();
        sealing.clock(move || {
            let shift = clock.shift.load(Ordering::SeqCst);
            let span = Duration::from_secs(shift.unsigned_abs());
            match shift < 0 {
                true => clock.began - span,
                false => clock.began + span,
            }
        })
    }
}
