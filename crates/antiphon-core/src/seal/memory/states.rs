//! A guard: states, and the answers they got.

use std::collections::VecDeque;

use super::{Claims, MemoryStore, lock};
use crate::{
    moment::Moment,
    seal::guard::{Claim, Ending, Guard, Holder, Standing, StateId, Storing},
};

/// A guard that nobody has to wait for.
impl MemoryStore {
    /// [`Guard::claim`], at once.
    pub fn claim_now(&self, claim: &Claim) -> Standing {
        lock(&self.states).claim(claim, self.markers)
    }

    /// [`Guard::end`], at once.
    pub fn end_now(&self, id: &StateId, holder: &Holder, ending: Ending<'_>) {
        lock(&self.states).end(id, holder, ending, self.answer_bytes);
    }
}

impl Guard for MemoryStore {
    fn claim<'a>(&'a self, claim: &'a Claim) -> Storing<'a, Standing> {
        let standing = self.claim_now(claim);
        Box::pin(async { Ok(standing) })
    }

    fn renew<'a>(&'a self, id: &'a StateId, holder: &'a Holder, until: Moment) -> Storing<'a, ()> {
        lock(&self.states).claims.renew(id, holder, until);
        Box::pin(async { Ok(()) })
    }

    fn end<'a>(
        &'a self,
        id: &'a StateId,
        holder: &'a Holder,
        ending: Ending<'a>,
    ) -> Storing<'a, ()> {
        self.end_now(id, holder, ending);
        Box::pin(async { Ok(()) })
    }

    fn is_shared(&self) -> bool {
        false
    }
}

#[derive(Default)]
pub(super) struct States {
    claims: Claims,
    /// Those whose answers are kept, oldest first.
    answered: VecDeque<StateId>,
}

impl States {
    fn claim(&mut self, claim: &Claim, most: usize) -> Standing {
        while let Some(id) = self.claims.forget_one(claim.now) {
            self.forgotten(&id);
        }
        let room = self.claims.len() < most;
        self.claims.claim(claim, room)
    }

    fn end(&mut self, id: &StateId, holder: &Holder, ending: Ending<'_>, most: usize) {
        let answer = match ending {
            Ending::Released => return self.claims.release(id, holder),
            Ending::Answered(answer) if answer.len() <= most => Some(answer),
            Ending::Answered(_) | Ending::Used => None,
        };
        if self.claims.finish(id, holder, answer) && answer.is_some() {
            self.answered.push_back(*id);
        }
        while self.claims.bytes() > most
            && let Some(oldest) = self.answered.pop_front()
        {
            self.claims.forget_what_came(&oldest);
        }
    }

    /// States mostly expire in the order they were answered in; what did not is swept now and then.
    fn forgotten(&mut self, id: &StateId) {
        if self.answered.front() == Some(id) {
            self.answered.pop_front();
        } else if self.answered.len() > 2 * self.claims.len() + 64 {
            self.answered.retain(|id| self.claims.knows(id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::guard::Fingerprint;

    #[test]
    fn debug_shows_no_answers() {
        let store = MemoryStore::new();
        let claim = Claim {
            id: StateId([1; 16]),
            answers: Fingerprint([2; 16]),
            holder: Holder([3; 16]),
            now: Moment::default(),
            lease_until: Moment::LAST,
            keep_until: Moment::LAST,
            take_over: false,
        };
        drop(store.claim(&claim));
        drop(store.end(&claim.id, &claim.holder, Ending::Answered(&[211; 7])));
        assert_eq!(lock(&store.states).claims.bytes(), 7);
        assert!(!format!("{store:?}").contains("211"), "{store:?}");
    }
}
