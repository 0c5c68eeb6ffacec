//! [`Course`]: how a call goes, act by act, and how it must go again.

use std::collections::{BTreeMap, BTreeSet};

use antiphon_types::InputRequest;

use super::{
    Trouble,
    finding::Finding,
    heard::{self, Heard, Says},
};
use crate::server::fault::Step;

/// What has happened in a call so far.
#[derive(Debug, Default)]
pub(super) struct Course {
    acts: Vec<Act>,
    /// The steps since the last act.
    steps: Steps,
    /// All questions that were asked, with the leg.
    asked: BTreeMap<String, (u32, InputRequest)>,
    answered: BTreeSet<String>,
    /// The steps that were done in this call.
    done: BTreeSet<String>,
}

/// One or more requests up to questions, or to the end. Those that were told to come back later
/// belong to the act that follows: how many there are depends on how long something takes.
#[derive(Debug)]
struct Act {
    heard: Heard,
    steps: Steps,
}

/// The steps of `once` that were taken, by their keys.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Steps {
    pub(super) taken: BTreeSet<String>,
    /// Those whose work was done.
    pub(super) done: BTreeSet<String>,
}

impl Steps {
    fn differ(&self, came: &Self) -> Option<Finding> {
        if self == came {
            return None;
        }
        Some(match self.taken == came.taken {
            false => Self::other(&self.taken, &came.taken),
            true => Self::other(&self.done, &came.done),
        })
    }

    fn other(wanted: &BTreeSet<String>, came: &BTreeSet<String>) -> Finding {
        let of = |keys: &BTreeSet<String>| keys.iter().cloned().collect::<Vec<_>>();
        Finding::steps(&of(wanted), &of(came))
    }
}

impl FromIterator<Step> for Steps {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        let mut all = Self::default();
        for Step { key, done } in steps {
            if done {
                all.done.insert(key.clone());
            }
            all.taken.insert(key);
        }
        all
    }
}

/// What may differ.
pub(super) struct Leniency<'a> {
    pub(super) trouble: Option<Trouble>,
    pub(super) reworded: &'a [String],
    pub(super) result_may_differ: bool,
}

impl Course {
    /// These were sent.
    pub(super) fn answers<'a>(&mut self, keys: impl Iterator<Item = &'a str>) {
        self.answered.extend(keys.map(ToOwned::to_owned));
    }

    /// These steps were taken in a request of this call.
    pub(super) fn took(&mut self, steps: &Steps) -> Result<(), Finding> {
        for key in &steps.done {
            if !self.done.insert(key.clone()) {
                return Err(Finding::done_twice(key));
            }
        }
        self.steps.taken.extend(steps.taken.iter().cloned());
        self.steps.done.extend(steps.done.iter().cloned());
        Ok(())
    }

    /// This is what came in a leg. If it goes otherwise than it went before, why.
    pub(super) fn came(
        &mut self,
        leg: u32,
        heard: &Heard,
        wanted: Option<&Self>,
        leniency: &Leniency<'_>,
    ) -> Result<(), Finding> {
        if heard.says == Says::Later {
            return Ok(());
        }
        if let Some(wanted) = wanted {
            self.compare(heard, wanted, leniency)?;
        }
        for (key, question) in heard.questions().into_iter().flatten() {
            self.asked.insert(key.clone(), (leg, question.clone()));
        }
        let (heard, steps) = (heard.clone(), std::mem::take(&mut self.steps));
        self.acts.push(Act { heard, steps });
        Ok(())
    }

    fn compare(&self, came: &Heard, all: &Self, leniency: &Leniency<'_>) -> Result<(), Finding> {
        let act = all.acts.get(self.acts.len());
        let wanted = act.map(|act| &act.heard);
        if let Says::Ends(end) = &came.says
            && let Some(failed) = &end.failed
            && !wanted.is_some_and(|it| matches!(&it.says, Says::Ends(it) if it.failed.is_some()))
        {
            return Err(Finding::failed(failed, wanted));
        }
        for (key, question) in came.questions().into_iter().flatten() {
            if wanted.is_none_or(|wanted| wanted.asks(key).is_none()) {
                self.asked_in_vain(key, question, leniency.trouble)?;
            }
        }
        if let Some(differ) = act.and_then(|act| act.steps.differ(&self.steps)) {
            return Err(differ);
        }
        let Some(wanted) = wanted else {
            return Err(Finding::branch(None, came));
        };
        // Questions may be made of what was done by `once`, which may differ from call to call.
        let of_once = !self.done.is_empty();
        match (&wanted.says, &came.says) {
            (Says::Asks(before), Says::Asks(now)) => {
                if !before.keys().eq(now.keys()) {
                    return Err(Finding::branch(Some(wanted), came));
                }
                let reworded = |key| of_once || leniency.reworded.contains(key);
                let mut pairs = before.iter().zip(now.values());
                let other = pairs.find(|((key, before), now)| match reworded(key) {
                    true => !heard::same_kind(before, now),
                    false => !heard::same_in_any_call(before, now),
                });
                match other {
                    None => Ok(()),
                    Some(((key, before), now)) => {
                        Err(Finding::drift(leniency.trouble, key, before, now))
                    }
                }
            }
            (Says::Ends(before), Says::Ends(now)) => {
                let same = before.failed.is_some() == now.failed.is_some()
                    && (leniency.result_may_differ || before.same_in_any_call(now));
                match same {
                    true => Ok(()),
                    false => Err(Finding::result(before, now)),
                }
            }
            _ => Err(Finding::branch(Some(wanted), came)),
        }
    }

    /// A question of this call that was asked and answered does not come again.
    fn asked_in_vain(
        &self,
        key: &str,
        question: &InputRequest,
        trouble: Option<Trouble>,
    ) -> Result<(), Finding> {
        match self.asked.get(key).filter(|_| self.answered.contains(key)) {
            None => Ok(()),
            Some((leg, before)) if heard::same_but_for_a_note(before, question) => {
                Err(Finding::lost(key, *leg))
            }
            Some((_, before)) => Err(Finding::drift(trouble, key, before, question)),
        }
    }
}

/// What came of a request that was run after another run of it: nothing in it may be new. Of a
/// first request it is another call, whose words may be others where the script says so.
pub(super) fn same_run(
    (first, before): (&Heard, &Steps),
    (second, now): (&Heard, &Steps),
    reworded: Option<&[String]>,
) -> Result<(), Finding> {
    if let Says::Ends(end) = &second.says
        && let Some(failed) = &end.failed
    {
        return Err(Finding::failed(failed, Some(first)));
    }
    if let Some(key) = now.done.intersection(&before.taken).next() {
        return Err(Finding::done_twice(key));
    }
    if before.taken != now.taken {
        return Err(Steps::other(&before.taken, &now.taken));
    }
    let (Some(asked), Some(again)) = (first.questions(), second.questions()) else {
        return Err(Finding::branch(Some(first), second));
    };
    if !asked.keys().eq(again.keys()) {
        return Err(Finding::branch(Some(first), second));
    }
    let mut pairs = asked.iter().zip(again.values());
    let other = pairs.find(|((key, before), now)| match reworded {
        None => before != now,
        Some(reworded) if reworded.contains(key) => !heard::same_kind(before, now),
        Some(_) => !heard::same_in_any_call(before, now),
    });
    match other {
        None => Ok(()),
        Some(((key, before), now)) => {
            let trouble = Some(Trouble::RunAgain);
            Err(Finding::drift(trouble, key, before, now))
        }
    }
}
