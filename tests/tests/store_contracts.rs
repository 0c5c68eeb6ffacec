//! Our stores keep the contracts that we hold others to, and stores that break a rule are told which.

use std::{
    any::Any,
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon::{
    store::{
        Claim, Ending, FileStore, Guard, Handle, Holder, Kept, MemoryStore, Moment, Owner, Spill,
        Spilled, Standing, StateId, Storing, Unavailable,
    },
    testing::{guard_contract, spill_contract},
};
use antiphon_tests::ground::Ground;

#[tokio::test(flavor = "multi_thread")]
async fn memory_keeps_both_contracts() {
    guard_contract(async || MemoryStore::new()).await;
    spill_contract(async || MemoryStore::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_keeps_both_contracts() {
    let ground = Ground::new();
    let count = AtomicUsize::new(0);
    let new = async || {
        let name = count.fetch_add(1, Ordering::Relaxed).to_string();
        FileStore::open(ground.file(&name)).expect("a new file")
    };
    guard_contract(&new).await;
    spill_contract(&new).await;
}

/// A suite asks for new stores, but does not need them to be empty.
#[tokio::test(flavor = "multi_thread")]
async fn one_file_keeps_both_contracts_again_and_again() {
    let ground = Ground::new();
    let store = FileStore::open(ground.file("store")).expect("a new file");
    for _ in 0..2 {
        guard_contract(async || store.clone()).await;
        spill_contract(async || store.clone()).await;
    }
}

#[tokio::test]
async fn contracts_hold_on_a_runtime_with_one_thread() {
    guard_contract(async || MemoryStore::new()).await;
    spill_contract(async || Arc::new(MemoryStore::new())).await;
}

/// What is wrong with a guard.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Flaw {
    ForgetsEarly,
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

/// What is wrong with a spill.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Leak {
    CountsTheExpired,
    CountsEveryone,
    CountsTheRefused,
    HasNoQuota,
    LeavesOutTheNewBody,
    KeepsTheRefused,
    CutsBodies,
    HasNoEmptyBodies,
    InventsBodies,
    GivesOnce,
    NeverExpires,
    ExpiresEarly,
    LosesOneOfMany,
}

/// A spill in memory with one thing wrong.
struct Leaky {
    leak: Leak,
    inner: MemoryStore,
    given: Mutex<HashSet<Handle>>,
    expiring: Mutex<HashMap<Handle, Moment>>,
    began: Moment,
    open: AtomicUsize,
}

impl Spill for Leaky {
    fn put<'a>(&'a self, body: &'a Spilled<'a>) -> Storing<'a, Kept> {
        Box::pin(async move {
            let mut told = body.clone();
            match self.leak {
                Leak::CountsTheExpired => {
                    let mut expiring = self.expiring.lock().unwrap();
                    expiring.insert(body.handle, body.keep_until);
                    told.keep_until = Moment::LAST;
                }
                Leak::CountsEveryone => told.owner = Owner([0; 16]),
                Leak::HasNoQuota => told.quota = u64::MAX,
                Leak::LeavesOutTheNewBody => told.quota += body.body.len() as u64,
                Leak::CutsBodies => told.body = &body.body[..body.body.len().min(64 << 10)],
                Leak::LosesOneOfMany => {
                    let others = self.open.fetch_add(1, Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    self.open.fetch_sub(1, Ordering::SeqCst);
                    if others > 0 {
                        return Ok(Kept::Kept);
                    }
                }
                _ => {}
            }
            let kept = self.inner.put(&told).await?;
            if self.leak == Leak::CountsTheRefused && kept == Kept::OverQuota {
                let refused = Spilled {
                    body: &body.body[..1],
                    ..body.clone()
                };
                self.inner.put(&refused).await?;
            }
            if self.leak == Leak::KeepsTheRefused && kept == Kept::OverQuota {
                let elsewhere = Spilled {
                    owner: Owner([0; 16]),
                    quota: u64::MAX,
                    ..body.clone()
                };
                self.inner.put(&elsewhere).await?;
            }
            Ok(kept)
        })
    }

    fn get<'a>(&'a self, handle: &'a Handle, now: Moment) -> Storing<'a, Option<Vec<u8>>> {
        Box::pin(async move {
            let now = match self.leak {
                Leak::NeverExpires => self.began,
                Leak::ExpiresEarly => now.after(Duration::from_secs(60)),
                _ => now,
            };
            let found = self.inner.get(handle, now).await?;
            Ok(match self.leak {
                Leak::HasNoEmptyBodies => found.filter(|body| !body.is_empty()),
                Leak::CountsTheExpired => {
                    let expiring = self.expiring.lock().unwrap();
                    found.filter(|_| expiring.get(handle).is_some_and(|until| now < *until))
                }
                Leak::InventsBodies => Some(found.unwrap_or_default()),
                Leak::GivesOnce => found.filter(|_| self.given.lock().unwrap().insert(*handle)),
                _ => found,
            })
        })
    }

    fn is_shared(&self) -> bool {
        false
    }
}

#[tokio::test]
async fn a_flawed_spill_is_told_what_is_wrong() {
    let leaks = [
        (
            Leak::CountsTheExpired,
            "bodies that have expired do not count",
        ),
        (
            Leak::CountsEveryone,
            "what one owner has does not count for another",
        ),
        (
            Leak::CountsTheRefused,
            "a body that is refused is not kept, nor counted",
        ),
        (Leak::HasNoQuota, "an owner has at most the quota"),
        (Leak::LeavesOutTheNewBody, "the new body included"),
        (Leak::KeepsTheRefused, "a body that is refused is not kept"),
        (Leak::CutsBodies, "comes back as it was"),
        (Leak::HasNoEmptyBodies, "an empty body, the first time"),
        (
            Leak::InventsBodies,
            "there is no body under a handle nobody used",
        ),
        (Leak::GivesOnce, "each time"),
        (
            Leak::NeverExpires,
            "a body is there until it expires, and not after",
        ),
        (
            Leak::ExpiresEarly,
            "a body is there until it expires, and not after",
        ),
        (
            Leak::LosesOneOfMany,
            "bodies that are put at once are all kept",
        ),
    ];
    for (leak, rule) in leaks {
        let suite = tokio::spawn(spill_contract(async move || Leaky {
            leak,
            inner: MemoryStore::new(),
            given: Mutex::default(),
            expiring: Mutex::default(),
            began: Moment::from(std::time::SystemTime::now()),
            open: AtomicUsize::new(0),
        }));
        told(&format!("{leak:?}"), suite.await, "spill", rule);
    }
}

/// The suite must have panicked, and named the rule.
fn told(flaw: &str, suite: Result<(), tokio::task::JoinError>, contract: &str, rule: &str) {
    let error = suite.expect_err(&format!("{flaw} went unnoticed"));
    let panic: Box<dyn Any + Send> = error.into_panic();
    let message = panic.downcast_ref::<String>().expect("a message");
    let begin = format!("the {contract} contract is broken: ");
    assert!(message.starts_with(&begin), "{flaw}: {message}");
    assert!(message.contains(rule), "{flaw}: {message}");
}
