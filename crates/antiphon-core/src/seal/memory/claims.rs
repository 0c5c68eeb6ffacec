//! What states and steps have in common: one at a time holds them, until they are done.

use std::collections::{HashMap, hash_map};

use super::{ByRandom, Expiring};
use crate::{
    moment::Moment,
    seal::guard::{Claim, Fingerprint, Holder, Standing, StateId},
};

/// What is known of all that was claimed.
#[derive(Default)]
pub(super) struct Claims {
    known: HashMap<StateId, Known, ByRandom>,
    /// When to forget which.
    expiring: Expiring<StateId>,
    /// Of what came of those that are done.
    bytes: usize,
}

struct Known {
    answers: Fingerprint,
    keep_until: Moment,
    stage: Stage,
}

enum Stage {
    Claimed { holder: Holder, lease_until: Moment },
    Released,
    Done(Option<Box<[u8]>>),
}

impl Claims {
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn knows(&self, id: &StateId) -> bool {
        self.known.contains_key(id)
    }

    /// Claims, if there is room for one more in case it is new.
    pub(super) fn claim(&mut self, claim: &Claim, room: bool) -> Standing {
        let claimed = Stage::Claimed {
            holder: claim.holder,
            lease_until: claim.lease_until,
        };
        match self.known.entry(claim.id) {
            hash_map::Entry::Vacant(_) if !room => Standing::Full,
            hash_map::Entry::Vacant(vacant) => {
                vacant.insert(Known {
                    answers: claim.answers,
                    keep_until: claim.keep_until,
                    stage: claimed,
                });
                self.expiring.add(claim.keep_until, claim.id);
                Standing::Yours
            }
            hash_map::Entry::Occupied(mut occupied) => {
                let Known {
                    answers,
                    keep_until,
                    stage,
                } = occupied.get_mut();
                match stage {
                    Stage::Done(kept) => {
                        Standing::Done(*answers, kept.as_deref().map(<[u8]>::to_vec))
                    }
                    Stage::Claimed { lease_until, .. } if claim.now < *lease_until => {
                        Standing::Running(*answers)
                    }
                    Stage::Released if claim.answers != *answers => Standing::Done(*answers, None),
                    Stage::Claimed { .. } if !(claim.take_over && claim.answers == *answers) => {
                        Standing::Lost(*answers)
                    }
                    Stage::Claimed { .. } | Stage::Released => {
                        *stage = claimed;
                        self.expiring.remove(*keep_until, claim.id);
                        *keep_until = claim.keep_until.max(*keep_until);
                        self.expiring.add(*keep_until, claim.id);
                        Standing::Yours
                    }
                }
            }
        }
    }

    pub(super) fn renew(&mut self, id: &StateId, holder: &Holder, until: Moment) {
        if let Some(Stage::Claimed { lease_until, .. }) = self.held(id, holder) {
            *lease_until = until;
        }
    }

    /// Leaves it to the same answers, if this is its holder.
    pub(super) fn release(&mut self, id: &StateId, holder: &Holder) {
        if let Some(stage) = self.held(id, holder) {
            *stage = Stage::Released;
        }
    }

    /// Leaves it to anyone, if this is its holder.
    pub(super) fn give_up(&mut self, id: &StateId, holder: &Holder) {
        if self.held(id, holder).is_some()
            && let Some(known) = self.known.remove(id)
        {
            self.expiring.remove(known.keep_until, *id);
        }
    }

    /// It is done, with what came of it, if this is its holder; whether it is.
    pub(super) fn finish(&mut self, id: &StateId, holder: &Holder, kept: Option<&[u8]>) -> bool {
        let Some(stage) = self.held(id, holder) else {
            return false;
        };
        *stage = Stage::Done(kept.map(Into::into));
        self.bytes += kept.map_or(0, <[u8]>::len);
        true
    }

    /// Forgets what came of it, though not that it is done.
    pub(super) fn forget_what_came(&mut self, id: &StateId) {
        if let Some(Known {
            stage: Stage::Done(kept),
            ..
        }) = self.known.get_mut(id)
        {
            self.bytes -= kept.take().map_or(0, |kept| kept.len());
        }
    }

    /// Forgets the next that has expired.
    pub(super) fn forget_one(&mut self, now: Moment) -> Option<StateId> {
        let id = self.expiring.next(now)?;
        self.forget_what_came(&id);
        self.known.remove(&id);
        Some(id)
    }

    fn held(&mut self, id: &StateId, by: &Holder) -> Option<&mut Stage> {
        let stage = &mut self.known.get_mut(id)?.stage;
        matches!(stage, Stage::Claimed { holder, .. } if holder == by).then_some(stage)
    }
}
