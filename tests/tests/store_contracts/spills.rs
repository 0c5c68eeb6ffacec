//! Spills with one thing wrong.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon::{
    store::{Handle, Kept, MemoryStore, Moment, Owner, Spill, Spilled, Storing},
    testing::spill_contract,
};

use crate::told;

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
