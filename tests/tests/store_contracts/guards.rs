//! Guards with one thing wrong.

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
        Claim, Ending, Guard, Holder, MemoryStore, Moment, Standing, StateId, Storing, Unavailable,
    },
    testing::guard_contract,
};

use crate::{TICK, earlier, told};

/// What is wrong with a guard.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Flaw {
    LetsGoATickEarly,
    HoldsATickLonger,
    ForgetsEarly,
    ForgetsATickEarly,
    ForgetsWhenBusy,
    LooksThenWrites,
    LooksThenTakesOver,
    GrantsAgain,
    TakesAnyHolder,
    TakesAnyHolderToRenew,
    TellsOwnAnswers,
    NeverLosesAClaim,
    NeverLetsTakeOver,
    TakesOverWithAnyAnswers,
    TakesOverUnasked,
    TakesOverRunning,
    DropsRenewals,
    DropsAnswers,
    CutsAnswers,
    KeepsAnswerOfUsed,
    EndsTwice,
    LetsTheFirstEnd,
    RevivesByRenewing,
    DropsReleases,
    ReleasesToAll,
    ConfusesIds,
    KeepsTheFirstTime,
    IsAway,
}

/// A guard in memory with one thing wrong.
struct Flawed {
    flaw: Flaw,
    inner: MemoryStore,
    claims: Mutex<HashMap<StateId, Claim>>,
    ended: Mutex<HashSet<StateId>>,
    holders: Mutex<HashSet<(StateId, Holder)>>,
    busy: AtomicUsize,
}

impl Flawed {
    fn new(flaw: Flaw) -> Self {
        Self {
            flaw,
            inner: MemoryStore::new(),
            claims: Mutex::default(),
            ended: Mutex::default(),
            holders: Mutex::default(),
            busy: AtomicUsize::new(0),
        }
    }

    fn known(&self, id: &StateId) -> Option<Claim> {
        self.claims.lock().unwrap().get(id).cloned()
    }

    /// What the store is told instead of this.
    fn told(&self, mut claim: Claim) -> Claim {
        let known = self.known(&claim.id);
        match self.flaw {
            Flaw::LetsGoATickEarly => claim.lease_until = earlier(claim.lease_until),
            Flaw::HoldsATickLonger => claim.lease_until = claim.lease_until.after(TICK),
            Flaw::ForgetsATickEarly => claim.keep_until = earlier(claim.keep_until),
            Flaw::ForgetsEarly => claim.keep_until = claim.now.after(Duration::from_secs(1200)),
            Flaw::TakesOverUnasked => claim.take_over = true,
            Flaw::NeverLetsTakeOver => claim.take_over = false,
            Flaw::TakesOverWithAnyAnswers => {
                claim.answers = known.map_or(claim.answers, |known| known.answers);
            }
            Flaw::ReleasesToAll if self.ended.lock().unwrap().contains(&claim.id) => {
                claim.answers = known.map_or(claim.answers, |known| known.answers);
            }
            Flaw::ConfusesIds => claim.id.0[15] = 0,
            Flaw::KeepsTheFirstTime => {
                claim.keep_until = known.map_or(claim.keep_until, |known| known.keep_until);
            }
            _ => {}
        }
        claim
    }

    /// What is answered instead of this.
    fn answered(&self, claim: &Claim, standing: Standing) -> Standing {
        let known = self.known(&claim.id);
        match (self.flaw, standing) {
            (Flaw::ForgetsWhenBusy, standing) => {
                let full = self.busy.fetch_add(1, Ordering::Relaxed) > 1_000;
                if full && known.is_some() {
                    Standing::Yours
                } else {
                    standing
                }
            }
            (Flaw::GrantsAgain, Standing::Running(_)) if known.as_ref() == Some(claim) => {
                Standing::Yours
            }
            (Flaw::TellsOwnAnswers, Standing::Running(_)) => Standing::Running(claim.answers),
            (Flaw::NeverLosesAClaim, Standing::Lost(answers)) => Standing::Running(answers),
            (Flaw::TakesOverRunning, Standing::Running(_)) if claim.take_over => Standing::Yours,
            (Flaw::DropsAnswers, Standing::Done(answers, _)) => Standing::Done(answers, None),
            (Flaw::KeepsAnswerOfUsed, Standing::Done(answers, None)) => {
                Standing::Done(answers, Some(Vec::new()))
            }
            (Flaw::CutsAnswers, Standing::Done(answers, Some(mut answer))) => {
                answer.truncate(100);
                Standing::Done(answers, Some(answer))
            }
            (_, standing) => standing,
        }
    }

    /// For guards that look first and write later: whether there is reason to write.
    async fn looks_free(&self, claim: &Claim) -> Result<bool, Unavailable> {
        let look = Claim {
            take_over: false,
            ..claim.clone()
        };
        match self.flaw {
            Flaw::LooksThenWrites => Ok(self.known(&claim.id).is_none()),
            Flaw::LooksThenTakesOver if claim.take_over && self.known(&claim.id).is_some() => {
                Ok(self.inner.claim(&look).await? == Standing::Lost(claim.answers))
            }
            _ => Ok(false),
        }
    }

    fn held_once(&self, id: &StateId, holder: &Holder) -> bool {
        self.holders.lock().unwrap().contains(&(*id, *holder))
    }

    /// Whose word counts.
    fn holder(&self, id: &StateId, holder: &Holder) -> Holder {
        self.known(id).map_or(*holder, |known| known.holder)
    }
}

impl Guard for Flawed {
    fn claim<'a>(&'a self, claim: &'a Claim) -> Storing<'a, Standing> {
        Box::pin(async move {
            if self.flaw == Flaw::IsAway {
                return Err(Unavailable("away".to_owned()));
            }
            if self.looks_free(claim).await? {
                // Meanwhile, others look as well.
                tokio::task::yield_now().await;
                self.inner.claim(claim).await?;
                self.claims.lock().unwrap().insert(claim.id, claim.clone());
                return Ok(Standing::Yours);
            }
            let standing = self.inner.claim(&self.told(claim.clone())).await?;
            let answered = self.answered(claim, standing);
            if answered == Standing::Yours {
                let held = (claim.id, claim.holder);
                self.holders.lock().unwrap().insert(held);
                let mut claims = self.claims.lock().unwrap();
                let kept = self.flaw == Flaw::KeepsTheFirstTime && claims.contains_key(&claim.id);
                if !kept {
                    claims.insert(claim.id, claim.clone());
                }
            }
            Ok(answered)
        })
    }

    fn renew<'a>(&'a self, id: &'a StateId, holder: &'a Holder, until: Moment) -> Storing<'a, ()> {
        Box::pin(async move {
            match self.flaw {
                Flaw::DropsRenewals => Ok(()),
                Flaw::RevivesByRenewing => {
                    let ended = self.ended.lock().unwrap().contains(id);
                    if let Some(known) = self.known(id).filter(|_| ended) {
                        self.inner.claim(&known).await?;
                    }
                    self.inner.renew(id, holder, until).await
                }
                Flaw::TakesAnyHolderToRenew => {
                    let holder = self.holder(id, holder);
                    self.inner.renew(id, &holder, until).await
                }
                Flaw::ConfusesIds => {
                    let mut id = *id;
                    id.0[15] = 0;
                    self.inner.renew(&id, holder, until).await
                }
                _ => self.inner.renew(id, holder, until).await,
            }
        })
    }

    fn end<'a>(
        &'a self,
        id: &'a StateId,
        holder: &'a Holder,
        ending: Ending<'a>,
    ) -> Storing<'a, ()> {
        Box::pin(async move {
            let mut id = *id;
            let mut holder = *holder;
            let mut ending = ending;
            match self.flaw {
                Flaw::ConfusesIds => id.0[15] = 0,
                Flaw::TakesAnyHolder => holder = self.holder(&id, &holder),
                Flaw::LetsTheFirstEnd if self.held_once(&id, &holder) => {
                    holder = self.holder(&id, &holder);
                }
                Flaw::RevivesByRenewing => {
                    self.ended.lock().unwrap().insert(id);
                }
                Flaw::DropsReleases if ending == Ending::Released => ending = Ending::Used,
                Flaw::ReleasesToAll if ending == Ending::Released => {
                    self.ended.lock().unwrap().insert(id);
                }
                Flaw::EndsTwice => {
                    let again = !self.ended.lock().unwrap().insert(id);
                    let known = self.known(&id).filter(|known| known.holder == holder);
                    if let (true, Some(known)) = (again, known) {
                        // As if what had ended had not.
                        let late = known.keep_until.after(Duration::from_secs(3600));
                        let keep_until = late.after(Duration::from_secs(3600));
                        let claim = Claim {
                            now: late,
                            keep_until,
                            ..known
                        };
                        self.inner.claim(&claim).await?;
                    }
                }
                _ => {}
            }
            self.inner.end(&id, &holder, ending).await
        })
    }

    fn is_shared(&self) -> bool {
        false
    }
}

#[tokio::test]
async fn a_flawed_guard_is_told_what_is_wrong() {
    let flaws = [
        (Flaw::LetsGoATickEarly, "others find the state running"),
        (
            Flaw::HoldsATickLonger,
            "a claim is lost once its lease is over",
        ),
        (
            Flaw::ForgetsATickEarly,
            "nothing is forgotten before its time",
        ),
        (Flaw::ForgetsEarly, "nothing is forgotten before its time"),
        (
            Flaw::ForgetsWhenBusy,
            "nothing is forgotten before its time",
        ),
        (
            Flaw::LooksThenWrites,
            "of many claims at once, one is granted",
        ),
        (
            Flaw::LooksThenTakesOver,
            "of many who take over at once, one does",
        ),
        (Flaw::GrantsAgain, "others find the state running"),
        (Flaw::TakesAnyHolder, "only its holder ends a claim"),
        (
            Flaw::TakesAnyHolderToRenew,
            "only its holder renews a claim",
        ),
        (
            Flaw::TellsOwnAnswers,
            "others find the state running with the first answers",
        ),
        (
            Flaw::NeverLosesAClaim,
            "a claim is lost once its lease is over",
        ),
        (
            Flaw::NeverLetsTakeOver,
            "a lost claim is taken over with the same answers",
        ),
        (
            Flaw::TakesOverWithAnyAnswers,
            "a lost claim is not taken over with other answers",
        ),
        (Flaw::TakesOverUnasked, "stays so until it is taken over"),
        (Flaw::TakesOverRunning, "others find the state running"),
        (
            Flaw::DropsRenewals,
            "a claim that its holder renews is held for longer",
        ),
        (
            Flaw::DropsAnswers,
            "with the first answers and what was answered",
        ),
        (
            Flaw::CutsAnswers,
            "with the first answers and what was answered",
        ),
        (
            Flaw::KeepsAnswerOfUsed,
            "with the first answers and nothing else",
        ),
        (Flaw::EndsTwice, "a claim that has ended does not end again"),
        (
            Flaw::LetsTheFirstEnd,
            "a claim that was taken over is no longer its first holder's",
        ),
        (
            Flaw::RevivesByRenewing,
            "a claim that has ended is not renewed",
        ),
        (Flaw::DropsReleases, "free to the same answers"),
        (
            Flaw::ReleasesToAll,
            "free to the same answers, and to no others",
        ),
        (
            Flaw::ConfusesIds,
            "what happens to one state changes no other",
        ),
        (
            Flaw::KeepsTheFirstTime,
            "remembered as long as the later claim says",
        ),
        (Flaw::IsAway, "the store is unavailable: away"),
    ];
    for (flaw, rule) in flaws {
        let suite = tokio::spawn(guard_contract(async move || Flawed::new(flaw)));
        told(&format!("{flaw:?}"), suite.await, "guard", rule);
    }
}
