//! A guard with moods, for tests of what troubles of a store do to calls.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use antiphon::store::{
    Claim, Ending, Guard, Holder, MemoryStore, Moment, Standing, StateId, Storing, Unavailable,
};

/// A guard that can be told to fail.
#[derive(Clone, Default)]
pub struct Moody {
    store: Arc<MemoryStore>,
    /// Answers nothing.
    pub away: Arc<AtomicBool>,
    /// Forgets to say that work is over, like a process that was killed.
    pub dies: Arc<AtomicBool>,
    /// All answers it was given to keep.
    pub recorded: Arc<Mutex<Vec<u8>>>,
}

impl Guard for Moody {
    fn claim<'a>(&'a self, claim: &'a Claim) -> Storing<'a, Standing> {
        match self.away.load(Ordering::SeqCst) {
            true => Box::pin(async { Err(Unavailable("gone fishing".to_owned())) }),
            false => self.store.claim(claim),
        }
    }

    fn renew<'a>(&'a self, id: &'a StateId, holder: &'a Holder, until: Moment) -> Storing<'a, ()> {
        self.store.renew(id, holder, until)
    }

    fn end<'a>(
        &'a self,
        id: &'a StateId,
        holder: &'a Holder,
        ending: Ending<'a>,
    ) -> Storing<'a, ()> {
        if let Ending::Answered(answer) = ending {
            self.recorded
                .lock()
                .expect("fine")
                .extend_from_slice(answer);
        }
        match self.dies.load(Ordering::SeqCst) {
            true => Box::pin(async { Ok(()) }),
            false => self.store.end(id, holder, ending),
        }
    }

    fn is_shared(&self) -> bool {
        true
    }
}
