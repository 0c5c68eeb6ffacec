//! Journals with one thing wrong.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon::{
    store::{
        Ended, Entered, Entry, Fingerprint, Holder, Journal, MemoryStore, Moment, StepId, Storing,
        Unavailable,
    },
    testing::journal_contract,
};

use crate::{TICK, earlier, told};

const HOUR: Duration = Duration::from_secs(3600);

/// What is wrong with a journal.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Slip {
    RefusesTheEager,
    GrantsAgain,
    TellsOwnAnswers,
    TakesOverRunning,
    LetsGoATickEarly,
    HoldsATickLonger,
    IsNeverUnknown,
    TakesOverUnasked,
    NeverLetsTakeOver,
    TakesOverForLess,
    TakesOverUponAnyAnswers,
    DropsRenewals,
    TakesAnyHolderToRenew,
    CutsResults,
    HidesEmptyResults,
    GivesOnce,
    GivesToTheSameOnly,
    TellsOwnAnswersOfResults,
    NeverFails,
    FailsForTheSameOnly,
    KeepsTheAnswersOfTheFailed,
    TakesAnyHolder,
    EndsWhatNeverBegan,
    LetsTheFirstEnd,
    DropsLateRenewals,
    DropsLateResults,
    EndsTwice,
    EndsTheFailed,
    RevivesByRenewing,
    LooksThenWrites,
    LooksThenTakesOver,
    LosesOneOfMany,
    ForgetsEarly,
    ForgetsATickEarly,
    ForgetsWhenBusy,
    ForgetsResultsWhenBusy,
    KeepsTheFirstTime,
    KeepsTheLastTime,
    ConfusesSteps,
    IsAway,
    IsAwayInTheEnd,
}

/// A journal in memory with one thing wrong.
struct Slipping {
    slip: Slip,
    inner: MemoryStore,
    /// The last entry of each that was granted.
    granted: Mutex<HashMap<StepId, Entry>>,
    /// Everyone who ever held one.
    holders: Mutex<HashSet<(StepId, Holder)>>,
    done: Mutex<HashSet<StepId>>,
    failed: Mutex<HashSet<StepId>>,
    given: Mutex<HashSet<StepId>>,
    /// Those that were found to be unknown.
    unknown: Mutex<HashSet<StepId>>,
    busy: AtomicUsize,
    open: AtomicUsize,
}

impl Slipping {
    fn new(slip: Slip) -> Self {
        Self {
            slip,
            inner: MemoryStore::new(),
            granted: Mutex::default(),
            holders: Mutex::default(),
            done: Mutex::default(),
            failed: Mutex::default(),
            given: Mutex::default(),
            unknown: Mutex::default(),
            busy: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
        }
    }

    fn known(&self, step: &StepId) -> Option<Entry> {
        self.granted.lock().unwrap().get(step).cloned()
    }

    fn step(&self, mut step: StepId) -> StepId {
        if self.slip == Slip::ConfusesSteps {
            step.0[15] = 0;
        }
        step
    }

    /// Whose word counts.
    fn holder(&self, step: &StepId, holder: &Holder) -> Holder {
        self.known(step).map_or(*holder, |known| known.holder)
    }

    fn has(steps: &Mutex<HashSet<StepId>>, step: &StepId) -> bool {
        steps.lock().unwrap().contains(step)
    }

    /// What the store is told instead of this.
    fn told(&self, mut entry: Entry) -> Entry {
        let known = self.known(&entry.step);
        entry.step = self.step(entry.step);
        match self.slip {
            Slip::LetsGoATickEarly => entry.lease_until = earlier(entry.lease_until),
            Slip::HoldsATickLonger => entry.lease_until = entry.lease_until.after(TICK),
            Slip::TakesOverUnasked => entry.take_over = true,
            Slip::NeverLetsTakeOver => entry.take_over = false,
            Slip::TakesOverForLess if known.is_some() => entry.lease_until = entry.now,
            Slip::TakesOverUponAnyAnswers => {
                entry.upon = known.map_or(entry.upon, |known| known.upon);
            }
            Slip::KeepsTheAnswersOfTheFailed if Self::has(&self.failed, &entry.step) => {
                entry.upon = known.map_or(entry.upon, |known| known.upon);
            }
            Slip::ForgetsEarly => entry.keep_until = entry.now.after(HOUR / 3),
            Slip::ForgetsATickEarly => entry.keep_until = earlier(entry.keep_until),
            Slip::KeepsTheFirstTime => {
                entry.keep_until = known.map_or(entry.keep_until, |known| known.keep_until);
            }
            _ => {}
        }
        entry
    }

    /// What is answered instead of this.
    fn answered(&self, entry: &Entry, entered: Entered) -> Entered {
        let known = self.known(&entry.step);
        let same = known.as_ref().is_some_and(|it| it.upon == entry.upon);
        match (self.slip, entered) {
            (Slip::RefusesTheEager, Entered::Yours) if entry.take_over && known.is_none() => {
                Entered::Unknown(entry.upon)
            }
            (Slip::GrantsAgain, Entered::Running(_)) if known.as_ref() == Some(entry) => {
                Entered::Yours
            }
            (Slip::TellsOwnAnswers, Entered::Running(_)) => Entered::Running(entry.upon),
            (Slip::TakesOverRunning, Entered::Running(_)) if entry.take_over => Entered::Yours,
            (Slip::IsNeverUnknown, Entered::Unknown(upon)) => Entered::Running(upon),
            (Slip::CutsResults, Entered::Done(upon, mut result)) => {
                result.truncate(64 << 10);
                Entered::Done(upon, result)
            }
            (Slip::HidesEmptyResults, Entered::Done(upon, result)) if result.is_empty() => {
                Entered::Unknown(upon)
            }
            (Slip::GivesOnce, Entered::Done(upon, result)) => {
                let first = self.given.lock().unwrap().insert(entry.step);
                Entered::Done(upon, if first { result } else { Vec::new() })
            }
            (Slip::GivesToTheSameOnly, Entered::Done(upon, _)) if !same => Entered::Running(upon),
            (Slip::TellsOwnAnswersOfResults, Entered::Done(_, result)) => {
                Entered::Done(entry.upon, result)
            }
            (Slip::ForgetsWhenBusy, _) if known.is_some() && self.is_busy() => Entered::Yours,
            (Slip::ForgetsResultsWhenBusy, Entered::Done(upon, _)) if self.is_busy() => {
                Entered::Done(upon, Vec::new())
            }
            (Slip::KeepsTheLastTime, _) if known.is_some_and(|it| entry.now > it.keep_until) => {
                Entered::Yours
            }
            (_, entered) => entered,
        }
    }

    fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed) > 1_000
    }

    /// For journals that look first and write later: whether there is reason to write.
    async fn looks_free(&self, entry: &Entry) -> Result<bool, Unavailable> {
        let known = self.known(&entry.step);
        match self.slip {
            Slip::LooksThenWrites => Ok(known.is_none()),
            Slip::LooksThenTakesOver if entry.take_over && known.is_some() => {
                let look = Entry {
                    take_over: false,
                    ..entry.clone()
                };
                Ok(self.inner.enter(&look).await? == Entered::Unknown(entry.upon))
            }
            _ => Ok(false),
        }
    }

    fn note(&self, entry: &Entry) {
        let held = (entry.step, entry.holder);
        self.holders.lock().unwrap().insert(held);
        self.unknown.lock().unwrap().remove(&entry.step);
        let mut granted = self.granted.lock().unwrap();
        let first = matches!(
            self.slip,
            Slip::KeepsTheFirstTime | Slip::KeepsTheAnswersOfTheFailed
        );
        if !(first && granted.contains_key(&entry.step)) {
            granted.insert(entry.step, entry.clone());
        }
    }

    /// As if what had ended had not.
    async fn reopen(&self, step: &StepId) -> Result<(), Unavailable> {
        if let Some(known) = self.known(step) {
            let now = known.keep_until.after(HOUR);
            let entry = Entry {
                now,
                lease_until: known.lease_until.max(now.after(TICK)),
                keep_until: now.after(HOUR),
                ..known
            };
            self.inner.enter(&entry).await?;
        }
        Ok(())
    }
}

impl Journal for Slipping {
    fn enter<'a>(&'a self, entry: &'a Entry) -> Storing<'a, Entered> {
        Box::pin(async move {
            if self.slip == Slip::IsAway {
                return Err(Unavailable("away".to_owned()));
            }
            self.busy.fetch_add(1, Ordering::Relaxed);
            if self.looks_free(entry).await? {
                // Meanwhile, others look as well.
                tokio::task::yield_now().await;
                self.inner.enter(entry).await?;
                self.note(entry);
                return Ok(Entered::Yours);
            }
            let known = self.known(&entry.step);
            if self.slip == Slip::FailsForTheSameOnly
                && Self::has(&self.failed, &entry.step)
                && let Some(known) = known.filter(|known| known.upon != entry.upon)
            {
                return Ok(Entered::Running(known.upon));
            }
            let entered = self.inner.enter(&self.told(entry.clone())).await?;
            let answered = self.answered(entry, entered);
            match answered {
                Entered::Yours => self.note(entry),
                Entered::Unknown(_) => drop(self.unknown.lock().unwrap().insert(entry.step)),
                _ => {}
            }
            Ok(answered)
        })
    }

    fn renew<'a>(&'a self, step: &'a StepId, holder: &'a Holder, until: Moment) -> Storing<'a, ()> {
        Box::pin(async move {
            let mut holder = *holder;
            match self.slip {
                Slip::DropsRenewals => return Ok(()),
                Slip::DropsLateRenewals if Self::has(&self.unknown, step) => return Ok(()),
                Slip::TakesAnyHolderToRenew => holder = self.holder(step, &holder),
                Slip::RevivesByRenewing if Self::has(&self.done, step) => {
                    self.reopen(step).await?;
                }
                _ => {}
            }
            let step = self.step(*step);
            self.inner.renew(&step, &holder, until).await
        })
    }

    fn end<'a>(
        &'a self,
        step: &'a StepId,
        holder: &'a Holder,
        ended: Ended<'a>,
    ) -> Storing<'a, ()> {
        Box::pin(async move {
            let mut holder = *holder;
            let mut ended = ended;
            let failed = ended == Ended::Failed;
            match self.slip {
                Slip::IsAwayInTheEnd => return Err(Unavailable("away".to_owned())),
                Slip::TakesAnyHolder => holder = self.holder(step, &holder),
                Slip::LetsTheFirstEnd
                    if self.holders.lock().unwrap().contains(&(*step, holder)) =>
                {
                    holder = self.holder(step, &holder);
                }
                Slip::DropsLateResults if !failed && Self::has(&self.unknown, step) => {
                    return Ok(());
                }
                Slip::NeverFails if failed => ended = Ended::Done(b""),
                Slip::EndsWhatNeverBegan if self.known(step).is_none() => {
                    let now = Moment::from(std::time::SystemTime::now());
                    let entry = Entry {
                        step: *step,
                        upon: Fingerprint([0; 16]),
                        holder,
                        now,
                        lease_until: now.after(HOUR),
                        keep_until: now.after(HOUR),
                        take_over: false,
                    };
                    self.inner.enter(&entry).await?;
                }
                Slip::EndsTwice if Self::has(&self.done, step) => self.reopen(step).await?,
                Slip::EndsTheFailed if Self::has(&self.failed, step) && !failed => {
                    self.reopen(step).await?;
                }
                Slip::LosesOneOfMany => {
                    let others = self.open.fetch_add(1, Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    self.open.fetch_sub(1, Ordering::SeqCst);
                    if others > 0 {
                        return Ok(());
                    }
                }
                _ => {}
            }
            let ends = if failed { &self.failed } else { &self.done };
            ends.lock().unwrap().insert(*step);
            let step = self.step(*step);
            self.inner.end(&step, &holder, ended).await
        })
    }

    fn is_shared(&self) -> bool {
        false
    }
}

#[tokio::test]
async fn a_flawed_journal_is_told_what_is_wrong() {
    let early = "nothing is forgotten before its time";
    let running = "others find the step running upon the first answers";
    let given = "is given to all who come to it, with the first answers";
    let slips = [
        (Slip::RefusesTheEager, "the first to enter a step gets it"),
        (Slip::GrantsAgain, running),
        (Slip::TellsOwnAnswers, running),
        (Slip::TakesOverRunning, running),
        (Slip::LetsGoATickEarly, running),
        (Slip::HoldsATickLonger, "unknown once its lease is over"),
        (Slip::IsNeverUnknown, "unknown once its lease is over"),
        (Slip::TakesOverUnasked, "stays so until it is taken over"),
        (
            Slip::NeverLetsTakeOver,
            "is taken over upon the same answers",
        ),
        (Slip::TakesOverForLess, "and is then held anew"),
        (
            Slip::TakesOverUponAnyAnswers,
            "is not taken over upon other answers",
        ),
        (
            Slip::DropsRenewals,
            "an entry that its holder renews is held for longer",
        ),
        (
            Slip::TakesAnyHolderToRenew,
            "only its holder renews an entry",
        ),
        (Slip::CutsResults, given),
        (Slip::HidesEmptyResults, given),
        (Slip::GivesOnce, given),
        (Slip::GivesToTheSameOnly, given),
        (Slip::TellsOwnAnswersOfResults, given),
        (Slip::NeverFails, "a step that failed is free"),
        (Slip::FailsForTheSameOnly, "free to anyone"),
        (
            Slip::KeepsTheAnswersOfTheFailed,
            "as if nobody had begun it",
        ),
        (Slip::TakesAnyHolder, "only its holder ends an entry"),
        (Slip::EndsWhatNeverBegan, "only its holder ends an entry"),
        (Slip::LetsTheFirstEnd, "no longer its first holder's"),
        (Slip::DropsLateRenewals, "whoever is late still renews"),
        (Slip::DropsLateResults, "and ends an entry that nobody"),
        (Slip::EndsTwice, "does not end again"),
        (Slip::EndsTheFailed, "does not end again"),
        (
            Slip::RevivesByRenewing,
            "an entry that has ended is not renewed",
        ),
        (
            Slip::LooksThenWrites,
            "of many who enter at once, one gets it",
        ),
        (
            Slip::LooksThenTakesOver,
            "of many who take over at once, one does",
        ),
        (
            Slip::LosesOneOfMany,
            "results that are written at once are all kept",
        ),
        (Slip::ForgetsEarly, early),
        (Slip::ForgetsATickEarly, early),
        (Slip::ForgetsWhenBusy, early),
        (Slip::ForgetsResultsWhenBusy, early),
        (Slip::KeepsTheFirstTime, "as the later of both entries says"),
        (Slip::KeepsTheLastTime, "as the later of both entries says"),
        (
            Slip::ConfusesSteps,
            "what happens to one step changes no other",
        ),
        (Slip::IsAway, "the store is unavailable: away"),
        (Slip::IsAwayInTheEnd, "the store is unavailable: away"),
    ];
    for (slip, rule) in slips {
        let suite = tokio::spawn(journal_contract(async move || Slipping::new(slip)));
        told(&format!("{slip:?}"), suite.await, "journal", rule);
    }
}
