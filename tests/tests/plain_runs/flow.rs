//! Flows: what a handler and its resolvers do, as data, and what people answer.

use std::hash::{DefaultHasher, Hash, Hasher};

use proptest::{collection::vec, prelude::*};

/// How many resolvers there are.
pub(crate) const RESOLVERS: usize = 4;

pub(crate) const NAMES: [&str; RESOLVERS] = ["r0", "r1", "r2", "r3"];

/// A handler, its resolvers, and the people it asks.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    pub(crate) handler: Vec<Op>,
    /// Each takes those of lower numbers only.
    pub(crate) resolvers: [Vec<Op>; RESOLVERS],
    /// What people are like.
    pub(crate) people: u64,
}

/// One thing that is done. All that is done together makes a number.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    /// Questions that leave together, under keys of these numbers.
    Ask(Vec<u8>),
    /// Work under a key of this number.
    Once(u8),
    /// Pieces of work at the same time.
    Join(u8, u8),
    /// What a resolver gives.
    Take(usize),
    /// Comes back later, until so many rounds have passed.
    Later(u8),
    /// One of both, depending on the number so far.
    Branch(Vec<Self>, Vec<Self>),
}

pub(crate) fn flows() -> impl Strategy<Value = Flow> {
    let resolvers = [ops(0), ops(1), ops(2), ops(3)];
    (ops(RESOLVERS), resolvers, any::<u64>()).prop_map(|(handler, resolvers, people)| Flow {
        handler,
        resolvers,
        people,
    })
}

/// Of one that takes resolvers below this number.
fn ops(below: usize) -> impl Strategy<Value = Vec<Op>> {
    let take = if below == 0 {
        Just(Op::Once(9)).boxed()
    } else {
        (0..below).prop_map(Op::Take).boxed()
    };
    let op = prop_oneof![
        5 => vec(0..4u8, 1..3).prop_map(Op::Ask),
        4 => (0..4u8).prop_map(Op::Once),
        1 => (4..6u8, 6..8u8).prop_map(|(one, other)| Op::Join(one, other)),
        3 => take,
        1 => (1..3u8).prop_map(Op::Later),
    ];
    let branch = (vec(op.clone(), 0..3), vec(op.clone(), 0..3));
    let op = prop_oneof![
        6 => op,
        1 => branch.prop_map(|(yes, no)| Op::Branch(yes, no)),
    ];
    vec(op, 0..5)
}

/// Keys are good for one thing in a run, so each thing has its own: by its number, and by how many
/// of that number came before it here.
#[derive(Default)]
pub(crate) struct Keys(Vec<(char, u8)>);

impl Keys {
    pub(crate) fn next(&mut self, kind: char, number: u8) -> String {
        let before = self.0.iter().filter(|it| **it == (kind, number)).count();
        self.0.push((kind, number));
        format!("{kind}{number}-{before}")
    }
}

/// What was asked, in the words that depend on all that came before.
pub(crate) fn question(key: &str, so_far: u64) -> String {
    format!("{key} after {so_far}?")
}

/// What people answer: a number, or nothing if they decline, or go away.
pub(crate) fn answer(people: u64, question: &str) -> Reply {
    match mixed(people, question) % 8 {
        0 => Reply::Decline,
        1 => Reply::Cancel,
        other => Reply::Accept(u32::try_from(other).expect("below 8") * 100),
    }
}

#[derive(Debug, Clone, Copy, Hash)]
pub(crate) enum Reply {
    Accept(u32),
    Decline,
    Cancel,
}

/// What comes of work.
pub(crate) fn worked(key: &str, so_far: u64) -> u64 {
    mixed(so_far, &("work", key)) % 1_000
}

/// All that came before, and this.
pub(crate) fn mixed(so_far: u64, more: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    so_far.hash(&mut hasher);
    more.hash(&mut hasher);
    // Small enough to be told apart by people.
    hasher.finish() % 1_000_000
}
