//! A journal: steps, and what came of them.

use super::{
    FileStore,
    claims::{Most, Names},
};
use crate::store::{
    Ended, Entered, Entry, Holder, Journal, Moment, Standing, StateId, StepId, Storing,
};

pub(super) const NAMES: Names = Names {
    one: "step",
    known: "steps",
    forget: "steps by time",
    kept: "results by time",
    bytes: "result bytes",
};

/// Requests are made at once, as those of the guard are.
impl Journal for FileStore {
    fn enter<'a>(&'a self, entry: &'a Entry) -> Storing<'a, Entered> {
        let claim = entry.as_claim();
        let most = Most {
            known: self.limits.steps,
            bytes: self.limits.step_bytes,
        };
        self.thread.ask(0, move |tables| {
            tables.passed(claim.now);
            Ok(match tables.steps.claim(&claim, most)? {
                Standing::Yours => Entered::Yours,
                Standing::Running(upon) => Entered::Running(upon),
                Standing::Lost(upon) => Entered::Unknown(upon),
                Standing::Done(upon, Some(result)) => Entered::Done(upon, result),
                // Results never go before their steps.
                Standing::Done(_, None) => return Err(tables.steps.damaged(&claim.id)),
                Standing::Full => Entered::Full,
            })
        })
    }

    fn renew<'a>(&'a self, step: &'a StepId, holder: &'a Holder, until: Moment) -> Storing<'a, ()> {
        let (id, holder) = (StateId(step.0), *holder);
        self.thread
            .ask(0, move |tables| tables.steps.renew(&id, &holder, until))
    }

    fn end<'a>(
        &'a self,
        step: &'a StepId,
        holder: &'a Holder,
        ended: Ended<'a>,
    ) -> Storing<'a, ()> {
        let (id, holder) = (StateId(step.0), *holder);
        match ended {
            Ended::Done(result) => {
                let result = result.to_vec();
                self.thread.ask(result.len(), move |tables| {
                    tables.steps.finish(&id, &holder, Some(&result))
                })
            }
            Ended::Failed => self
                .thread
                .ask(0, move |tables| tables.steps.give_up(&id, &holder)),
        }
    }

    fn is_shared(&self) -> bool {
        false
    }
}
