//! [`MemoryStore`]: a guard, a spill and a journal in the memory of one process.
//!
//! | module | concern |
//! |---|---|
//! | `states` | a guard: states, and the answers they got |
//! | `bodies` | a spill: bodies, and whose they are |
//! | `steps` | a journal: steps, and what came of them |
//! | `claims` | what is held by one at a time, until it is done |
//! | `expiring` | what expires when |

mod bodies;
mod claims;
mod expiring;
mod states;
mod steps;

use std::{
    fmt,
    hash::{BuildHasherDefault, Hasher},
    sync::{Mutex, MutexGuard, PoisonError},
};

use self::{bodies::Bodies, claims::Claims, expiring::Expiring, states::States, steps::Steps};

/// Remembers used states and what came of steps, and keeps large bodies, until they expire or the process ends.
pub struct MemoryStore {
    markers: usize,
    answer_bytes: usize,
    body_bytes: u64,
    steps: usize,
    step_bytes: u64,
    states: Mutex<States>,
    bodies: Mutex<Bodies>,
    journalled: Mutex<Steps>,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self {
            markers: 1 << 20,
            answer_bytes: 32 << 20,
            body_bytes: 256 << 20,
            steps: 1 << 20,
            step_bytes: 256 << 20,
            states: Mutex::default(),
            bodies: Mutex::default(),
            journalled: Mutex::default(),
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

    /// How many steps it remembers at once. 1,048,576; more are refused until others expire or fail.
    pub fn steps(mut self, most: usize) -> Self {
        self.steps = most;
        self
    }

    /// From how many bytes of results on no more steps may begin until others expire. 256 MiB; the
    /// results of those that have begun are kept beyond that.
    pub fn step_bytes(mut self, most: u64) -> Self {
        self.step_bytes = most;
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
            .field("steps", &self.steps)
            .field("step_bytes", &self.step_bytes)
            .finish_non_exhaustive()
    }
}

/// For tables whose keys are random already.
type ByRandom = BuildHasherDefault<AsRandom>;

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
