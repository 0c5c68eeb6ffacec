//! One rule of a contract: its words, and what is needed to put a store to the test.

use std::{
    fmt::Debug,
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::sync::Barrier;

use crate::store::{Moment, Unavailable};

/// A rule in words, told when it is broken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) contract: &'static str,
    pub(super) words: &'static str,
}

impl Rule {
    /// What a store answered at a certain point must be this.
    pub(super) fn expect<T: Debug + PartialEq>(self, point: &str, came: &T, expected: &T) {
        if came != expected {
            self.broken(&format!("{point}: expected {expected:?}, came {came:?}"));
        }
    }

    /// A store must be able to answer.
    pub(super) fn answered<T>(self, answer: Result<T, Unavailable>) -> T {
        answer.unwrap_or_else(|error| self.broken(&format!("the store is {error}")))
    }

    /// What comes of work that begins at the same time.
    pub(super) async fn at_once<T: Send + 'static>(
        self,
        work: Vec<impl Future<Output = T> + Send + 'static>,
    ) -> Vec<T> {
        let start = Arc::new(Barrier::new(work.len()));
        let begin = |work| {
            let start = Arc::clone(&start);
            tokio::spawn(async move {
                start.wait().await;
                work.await
            })
        };
        let tasks: Vec<_> = work.into_iter().map(begin).collect();
        let mut came = Vec::new();
        for task in tasks {
            match task.await {
                Ok(it) => came.push(it),
                Err(error) => self.broken(&format!("one of many panicked: {error}")),
            }
        }
        came
    }

    pub(super) fn broken(self, how: &str) -> ! {
        let Self { contract, words } = self;
        panic!("the {contract} contract is broken: {words}; {how}");
    }
}

/// Something that no other test has.
pub(super) fn random() -> [u8; 16] {
    let mut bytes = [0; 16];
    for (part, half) in bytes.chunks_exact_mut(8).zip(0_u8..) {
        let number = RandomState::new().hash_one(half);
        part.copy_from_slice(&number.to_be_bytes());
    }
    bytes
}

/// Bytes without a pattern that a store could be lucky with.
pub(super) fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_u32;
    let byte = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..length).map(byte).collect()
}

/// Of many bytes, a few will do to see what is wrong.
pub(super) fn in_short(bytes: &[u8]) -> String {
    let begin = &bytes[..bytes.len().min(16)];
    format!("{} bytes that begin with {begin:02x?}", bytes.len())
}

/// The time it is when a test begins.
pub(super) fn present() -> Moment {
    Moment::from(SystemTime::now())
}

pub(super) const MINUTE: Duration = Duration::from_secs(60);
pub(super) const HOUR: Duration = Duration::from_secs(3600);
