//! One rule of a contract: its words, and what is needed to put a store to the test.

use std::{
    fmt::Debug,
    hash::{BuildHasher, RandomState},
    time::{Duration, SystemTime},
};

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

/// The time it is when a test begins.
pub(super) fn present() -> Moment {
    Moment::from(SystemTime::now())
}

pub(super) const MINUTE: Duration = Duration::from_secs(60);
pub(super) const HOUR: Duration = Duration::from_secs(3600);
