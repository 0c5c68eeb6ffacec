//! [`MemoryStore`]: a guard and a spill in the memory of one process.

use std::{
    collections::{BTreeSet, HashMap, VecDeque, hash_map::Entry},
    fmt,
    hash::{BuildHasherDefault, Hasher},
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{
    guard::{Claim, Ending, Fingerprint, Guard, Holder, Standing, StateId, Storing},
    spill::{Handle, Kept, Owner, Spill, Spilled},
};
use crate::moment::Moment;

/// Remembers used states, and keeps large bodies, until they expire or the process ends.
pub struct MemoryStore {
    markers: usize,
    answer_bytes: usize,
    body_bytes: u64,
    guarded: Mutex<Guarded>,
    bodies: Mutex<Bodies>,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self {
            markers: 1 << 20,
            answer_bytes: 32 << 20,
            body_bytes: 256 << 20,
            guarded: Mutex::default(),
            bodies: Mutex::default(),
        }
    }
}

impl MemoryStore {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many states it remembers at once. 1,048,576; more are refused until others expire.
    pub fn markers(mut self, most: usize) -> Self {
        self.markers = most;
        self
    }

    /// How many bytes of answers it keeps. 32 MiB; beyond that the oldest are forgotten, though
    /// never that they were given.
    pub fn answer_bytes(mut self, most: usize) -> Self {
        self.answer_bytes = most;
        self
    }

    /// How many bytes of bodies it keeps. 256 MiB; more are refused until others expire.
    pub fn body_bytes(mut self, most: u64) -> Self {
        self.body_bytes = most;
        self
    }
}

/// How much it keeps, and nothing of what.
impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("markers", &self.markers)
            .field("answer_bytes", &self.answer_bytes)
            .field("body_bytes", &self.body_bytes)
            .finish_non_exhaustive()
    }
}

impl Guard for MemoryStore {
    fn claim<'a>(&'a self, claim: &'a Claim) -> Storing<'a, Standing> {
        let standing = lock(&self.guarded).claim(claim, self.markers);
        Box::pin(async { Ok(standing) })
    }

    fn renew<'a>(&'a self, id: &'a StateId, holder: &'a Holder, until: Moment) -> Storing<'a, ()> {
        if let Some(lease_until) = lock(&self.guarded).held(id, holder) {
            *lease_until = until;
        }
        Box::pin(async { Ok(()) })
    }

    fn end<'a>(
        &'a self,
        id: &'a StateId,
        holder: &'a Holder,
        ending: Ending<'a>,
    ) -> Storing<'a, ()> {
        lock(&self.guarded).end(id, holder, ending, self.answer_bytes);
        Box::pin(async { Ok(()) })
    }

    fn is_shared(&self) -> bool {
        false
    }
}

/// What is known of the states that were presented.
#[derive(Default)]
struct Guarded {
    states: HashMap<StateId, State, BuildHasherDefault<AsRandom>>,
    /// When to forget which.
    expiring: Expiring<StateId>,
    /// The answers that are kept, oldest first.
    answered: VecDeque<StateId>,
    answer_bytes: usize,
}

struct State {
    answers: Fingerprint,
    keep_until: Moment,
    step: Step,
}

enum Step {
    Claimed { holder: Holder, lease_until: Moment },
    Released,
    Done(Option<Box<[u8]>>),
}

impl Guarded {
    fn claim(&mut self, claim: &Claim, most: usize) -> Standing {
        while let Some(id) = self.expiring.next(claim.now) {
            self.forget(&id);
        }
        let room = self.states.len() < most;
        let claimed = Step::Claimed {
            holder: claim.holder,
            lease_until: claim.lease_until,
        };
        match self.states.entry(claim.id) {
            Entry::Vacant(_) if !room => Standing::Full,
            Entry::Vacant(vacant) => {
                vacant.insert(State {
                    answers: claim.answers,
                    keep_until: claim.keep_until,
                    step: claimed,
                });
                self.expiring.add(claim.keep_until, claim.id);
                Standing::Yours
            }
            Entry::Occupied(mut occupied) => {
                let State {
                    answers,
                    keep_until,
                    step,
                } = occupied.get_mut();
                match step {
                    Step::Done(answer) => {
                        Standing::Done(*answers, answer.as_deref().map(<[u8]>::to_vec))
                    }
                    Step::Claimed { lease_until, .. } if claim.now < *lease_until => {
                        Standing::Running(*answers)
                    }
                    Step::Released if claim.answers != *answers => Standing::Done(*answers, None),
                    Step::Claimed { .. } if !(claim.take_over && claim.answers == *answers) => {
                        Standing::Lost(*answers)
                    }
                    Step::Claimed { .. } | Step::Released => {
                        *step = claimed;
                        self.expiring.remove(*keep_until, claim.id);
                        *keep_until = claim.keep_until.max(*keep_until);
                        self.expiring.add(*keep_until, claim.id);
                        Standing::Yours
                    }
                }
            }
        }
    }

    fn held(&mut self, id: &StateId, by: &Holder) -> Option<&mut Moment> {
        match &mut self.states.get_mut(id)?.step {
            Step::Claimed {
                holder,
                lease_until,
            } if holder == by => Some(lease_until),
            _ => None,
        }
    }

    fn end(&mut self, id: &StateId, holder: &Holder, ending: Ending<'_>, most: usize) {
        let Entry::Occupied(mut state) = self.states.entry(*id) else {
            return;
        };
        if !matches!(&state.get().step, Step::Claimed { holder: by, .. } if by == holder) {
            return;
        }
        let answer = match ending {
            Ending::Released => {
                state.get_mut().step = Step::Released;
                return;
            }
            Ending::Answered(answer) if answer.len() <= most => Some(answer),
            Ending::Answered(_) | Ending::Used => None,
        };
        if let Some(answer) = answer {
            self.answer_bytes += answer.len();
            self.answered.push_back(*id);
        }
        state.get_mut().step = Step::Done(answer.map(Into::into));
        while self.answer_bytes > most
            && let Some(oldest) = self.answered.pop_front()
        {
            self.forget_answer(&oldest);
        }
    }

    fn forget_answer(&mut self, id: &StateId) {
        if let Some(State {
            step: Step::Done(answer),
            ..
        }) = self.states.get_mut(id)
        {
            self.answer_bytes -= answer.take().map_or(0, |answer| answer.len());
        }
    }

    fn forget(&mut self, id: &StateId) {
        self.forget_answer(id);
        self.states.remove(id);
        // States mostly expire in the order they were answered in; what did not is swept now and
        // then.
        if self.answered.front() == Some(id) {
            self.answered.pop_front();
        } else if self.answered.len() > 2 * self.states.len() + 64 {
            self.answered.retain(|id| self.states.contains_key(id));
        }
    }
}

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
struct Bodies {
    kept: HashMap<Handle, Body, BuildHasherDefault<AsRandom>>,
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

/// What expires when.
struct Expiring<T>(BTreeSet<(Moment, T)>);

impl<T> Default for Expiring<T> {
    fn default() -> Self {
        Self(BTreeSet::new())
    }
}

impl<T: Ord> Expiring<T> {
    fn add(&mut self, at: Moment, what: T) {
        self.0.insert((at, what));
    }

    fn remove(&mut self, at: Moment, what: T) {
        self.0.remove(&(at, what));
    }

    /// Takes out the next that has expired.
    fn next(&mut self, now: Moment) -> Option<T> {
        let (at, _) = self.0.first()?;
        if now <= *at {
            return None;
        }
        self.0.pop_first().map(|(_, what)| what)
    }
}

/// Takes numbers that are random already, and that no peer chooses, for their own hash.
#[derive(Debug, Default)]
struct AsRandom(u64);

impl Hasher for AsRandom {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk() {
            self.0 ^= u64::from_le_bytes(*first);
        }
    }

    /// Of an array's length, which goes before it.
    fn write_usize(&mut self, _length: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_answers() {
        let store = MemoryStore::new();
        let claim = Claim {
            id: StateId([1; 16]),
            answers: Fingerprint([2; 16]),
            holder: Holder([3; 16]),
            now: Moment::default(),
            lease_until: Moment::LAST,
            keep_until: Moment::LAST,
            take_over: false,
        };
        drop(store.claim(&claim));
        drop(store.end(&claim.id, &claim.holder, Ending::Answered(&[211; 7])));
        assert_eq!(lock(&store.guarded).answer_bytes, 7);
        assert!(!format!("{store:?}").contains("211"), "{store:?}");
    }
}
