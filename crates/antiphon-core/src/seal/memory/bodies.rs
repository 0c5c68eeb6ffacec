//! A spill: bodies, and whose they are.

use std::collections::HashMap;

use super::{ByRandom, Expiring, MemoryStore, lock};
use crate::{
    moment::Moment,
    seal::{
        guard::Storing,
        spill::{Handle, Kept, Owner, Spill, Spilled},
    },
};

impl Spill for MemoryStore {
    fn put<'a>(&'a self, body: &'a Spilled<'a>) -> Storing<'a, Kept> {
        let kept = lock(&self.bodies).put(body, self.body_bytes);
        Box::pin(async move { Ok(kept) })
    }

    fn get<'a>(&'a self, handle: &'a Handle, now: Moment) -> Storing<'a, Option<Vec<u8>>> {
        let bodies = lock(&self.bodies);
        let body = bodies.kept.get(handle);
        let body = body.filter(|body| now < body.keep_until);
        let body = body.map(|body| body.bytes.to_vec());
        Box::pin(async { Ok(body) })
    }

    fn is_shared(&self) -> bool {
        false
    }
}

#[derive(Default)]
pub(super) struct Bodies {
    kept: HashMap<Handle, Body, ByRandom>,
    expiring: Expiring<Handle>,
    /// How many bytes each owner has here.
    owned: HashMap<Owner, u64>,
    bytes: u64,
}

struct Body {
    owner: Owner,
    bytes: Box<[u8]>,
    keep_until: Moment,
}

impl Bodies {
    fn put(&mut self, body: &Spilled<'_>, most: u64) -> Kept {
        while let Some(handle) = self.expiring.next(body.now) {
            self.forget(&handle);
        }
        let size = body.body.len() as u64;
        let owned = self.owned.get(&body.owner).copied().unwrap_or_default();
        if owned.saturating_add(size) > body.quota {
            return Kept::OverQuota;
        }
        if self.bytes.saturating_add(size) > most {
            return Kept::Full;
        }
        self.bytes += size;
        self.owned.insert(body.owner, owned + size);
        self.expiring.add(body.keep_until, body.handle);
        let kept = Body {
            owner: body.owner,
            bytes: body.body.into(),
            keep_until: body.keep_until,
        };
        self.kept.insert(body.handle, kept);
        Kept::Kept
    }

    fn forget(&mut self, handle: &Handle) {
        let Some(body) = self.kept.remove(handle) else {
            return;
        };
        let size = body.bytes.len() as u64;
        self.bytes -= size;
        if let Some(owned) = self.owned.get_mut(&body.owner) {
            *owned -= size;
            if *owned == 0 {
                self.owned.remove(&body.owner);
            }
        }
    }
}
