//! [`Meter`]: which part of a benchmark counts.

use std::{alloc::System, fmt, hint::black_box, ops::AddAssign};

use stats_alloc::{INSTRUMENTED_SYSTEM, Stats, StatsAlloc};

/// Counts what is allocated, at two additions each.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Rounds before anything is counted, in which whatever is made at first use is made.
const WARM_UP: u32 = 50;

/// Runs a benchmark's rounds, and adds up what the work in them allocates.
pub(crate) struct Meter {
    times: u32,
    warm: bool,
    heap: Heap,
}

/// What was allocated.
#[derive(Default)]
struct Heap {
    allocations: usize,
    bytes: usize,
}

impl Meter {
    /// A meter for so many rounds.
    pub(crate) fn new(times: u32) -> Self {
        Self {
            times,
            warm: false,
            heap: Heap::default(),
        }
    }

    /// Repeats a round.
    pub(crate) fn repeat(&mut self, mut round: impl FnMut(&mut Self)) {
        for number in 0..WARM_UP + self.times {
            self.warm = number >= WARM_UP;
            round(self);
        }
    }

    /// The part of a round that counts; what comes before and after it is preparation and proof.
    /// What it makes and does not return is also dropped in here.
    pub(crate) fn count<T>(&mut self, work: impl FnOnce() -> T) -> T {
        if !self.warm {
            return black_box(work());
        }
        let before = ALLOCATOR.stats();
        let result = counted(work);
        self.heap += ALLOCATOR.stats() - before;
        result
    }
}

/// callgrind counts in here and nowhere else, by this function's name.
#[inline(never)]
fn counted<T>(work: impl FnOnce() -> T) -> T {
    black_box(work())
}

impl AddAssign<Stats> for Heap {
    fn add_assign(&mut self, stats: Stats) {
        // One that grows counts again, as it does for valgrind.
        self.allocations += stats.allocations + stats.reallocations;
        self.bytes += stats.bytes_allocated;
    }
}

/// Allocations and bytes, all rounds together.
impl fmt::Display for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.heap.allocations, self.heap.bytes)
    }
}
