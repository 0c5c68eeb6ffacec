//! A guard: states, and the answers they got.

use super::{
    FileStore,
    claims::{Most, Names},
};
use crate::store::{Claim, Ending, Guard, Holder, Moment, Standing, StateId, Storing};

pub(super) const NAMES: Names = Names {
    one: "state",
    known: "states",
    forget: "states by time",
    kept: "answers by time",
    bytes: "answer bytes",
};

/// Requests are made at once, not when they are first polled: what was asked for happens even if
/// nobody waits for it.
impl Guard for FileStore {
    fn claim<'a>(&'a self, claim: &'a Claim) -> Storing<'a, Standing> {
        let claim = claim.clone();
        // Answers go when there are too many, so they stand in nobody's way.
        let most = Most {
            known: self.limits.markers,
            bytes: u64::MAX,
        };
        self.thread.ask(0, move |tables| {
            tables.passed(claim.now);
            tables.states.claim(&claim, most)
        })
    }

    fn renew<'a>(&'a self, id: &'a StateId, holder: &'a Holder, until: Moment) -> Storing<'a, ()> {
        let (id, holder) = (*id, *holder);
        self.thread
            .ask(0, move |tables| tables.states.renew(&id, &holder, until))
    }

    fn end<'a>(
        &'a self,
        id: &'a StateId,
        holder: &'a Holder,
        ending: Ending<'a>,
    ) -> Storing<'a, ()> {
        let (id, holder, most) = (*id, *holder, self.limits.answer_bytes);
        match ending {
            Ending::Released => self
                .thread
                .ask(0, move |tables| tables.states.release(&id, &holder)),
            Ending::Answered(answer) if answer.len() as u64 <= most => {
                let answer = answer.to_vec();
                self.thread.ask(answer.len(), move |tables| {
                    tables.states.finish(&id, &holder, Some(&answer))?;
                    tables.states.keep_at_most(most)
                })
            }
            Ending::Answered(_) | Ending::Used => self
                .thread
                .ask(0, move |tables| tables.states.finish(&id, &holder, None)),
        }
    }

    fn is_shared(&self) -> bool {
        false
    }
}
