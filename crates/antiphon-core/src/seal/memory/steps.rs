//! A journal: steps, and what came of them.

use super::{Claims, MemoryStore, lock};
use crate::{
    moment::Moment,
    seal::{
        guard::{Holder, Standing, StateId, Storing},
        journal::{Ended, Entered, Entry, Journal, StepId},
    },
};

impl Journal for MemoryStore {
    fn enter<'a>(&'a self, entry: &'a Entry) -> Storing<'a, Entered> {
        let entered = lock(&self.journalled).enter(entry, self.steps, self.step_bytes);
        Box::pin(async { Ok(entered) })
    }

    fn renew<'a>(&'a self, step: &'a StepId, holder: &'a Holder, until: Moment) -> Storing<'a, ()> {
        lock(&self.journalled)
            .0
            .renew(&StateId(step.0), holder, until);
        Box::pin(async { Ok(()) })
    }

    fn end<'a>(
        &'a self,
        step: &'a StepId,
        holder: &'a Holder,
        ended: Ended<'a>,
    ) -> Storing<'a, ()> {
        lock(&self.journalled).end(step, holder, ended);
        Box::pin(async { Ok(()) })
    }

    fn is_shared(&self) -> bool {
        false
    }
}

#[derive(Default)]
pub(super) struct Steps(Claims);

impl Steps {
    fn enter(&mut self, entry: &Entry, most: usize, most_bytes: u64) -> Entered {
        while self.0.forget_one(entry.now).is_some() {}
        let room = self.0.len() < most && (self.0.bytes() as u64) < most_bytes;
        match self.0.claim(&entry.as_claim(), room) {
            Standing::Yours => Entered::Yours,
            Standing::Running(upon) => Entered::Running(upon),
            Standing::Lost(upon) => Entered::Unknown(upon),
            Standing::Done(upon, result) => {
                Entered::Done(upon, result.expect("a step is done with a result"))
            }
            Standing::Full => Entered::Full,
        }
    }

    /// What was begun may end: its result is kept even where no more may begin.
    fn end(&mut self, step: &StepId, holder: &Holder, ended: Ended<'_>) {
        let id = StateId(step.0);
        match ended {
            Ended::Done(result) => drop(self.0.finish(&id, holder, Some(result))),
            Ended::Failed => self.0.give_up(&id, holder),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::guard::Fingerprint;

    fn entry(number: u8, now: u64) -> Entry {
        Entry {
            step: StepId([number; 16]),
            upon: Fingerprint([number; 16]),
            holder: Holder([number; 16]),
            now: Moment::from_millis(now),
            lease_until: Moment::from_millis(now + 10),
            keep_until: Moment::from_millis(now + 100),
            take_over: false,
        }
    }

    fn end(steps: &mut Steps, number: u8, ended: Ended<'_>) {
        let Entry { step, holder, .. } = entry(number, 0);
        steps.end(&step, &holder, ended);
    }

    #[test]
    fn when_there_are_many_new_ones_are_refused_until_others_expire_or_fail() {
        let mut steps = Steps::default();
        for number in 1..=2 {
            assert_eq!(steps.enter(&entry(number, 0), 2, 9), Entered::Yours);
        }
        end(&mut steps, 1, Ended::Done(b"one"));
        assert_eq!(steps.enter(&entry(3, 100), 2, 9), Entered::Full);
        let done = Entered::Done(Fingerprint([1; 16]), b"one".to_vec());
        assert_eq!(steps.enter(&entry(1, 100), 2, 9), done);
        end(&mut steps, 2, Ended::Failed);
        assert_eq!(steps.enter(&entry(3, 100), 2, 9), Entered::Yours);
        assert_eq!(steps.enter(&entry(4, 100), 2, 9), Entered::Full);
        // The first has expired.
        assert_eq!(steps.enter(&entry(4, 101), 2, 9), Entered::Yours);
        assert_eq!(steps.enter(&entry(5, 101), 2, 9), Entered::Full);
    }

    #[test]
    fn what_was_begun_may_end_beyond_the_limit_and_then_no_more_begin() {
        let mut steps = Steps::default();
        for number in 1..=3 {
            assert_eq!(steps.enter(&entry(number, 0), 9, 10), Entered::Yours);
        }
        for number in 1..=3 {
            end(&mut steps, number, Ended::Done(&[number; 7]));
        }
        assert_eq!(steps.enter(&entry(4, 100), 9, 10), Entered::Full);
        for number in 1..=3 {
            let done = Entered::Done(Fingerprint([number; 16]), vec![number; 7]);
            assert_eq!(steps.enter(&entry(number, 100), 9, 10), done);
        }
        assert_eq!(steps.enter(&entry(4, 101), 9, 10), Entered::Yours);
        assert_eq!(steps.0.bytes(), 0);
    }

    #[test]
    fn one_that_failed_is_not_forgotten_with_its_first_entry() {
        let mut steps = Steps::default();
        assert_eq!(steps.enter(&entry(1, 0), 9, 9), Entered::Yours);
        end(&mut steps, 1, Ended::Failed);
        assert_eq!(steps.enter(&entry(1, 50), 9, 9), Entered::Yours);
        end(&mut steps, 1, Ended::Done(b"done"));
        let done = Entered::Done(Fingerprint([1; 16]), b"done".to_vec());
        assert_eq!(steps.enter(&entry(1, 150), 9, 9), done);
    }
}
