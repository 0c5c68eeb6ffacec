//! The plain run: one function from top to bottom, whose people answer at once.

use std::collections::{BTreeMap, BTreeSet};

use super::flow::{Flow, Keys, NAMES, Op, RESOLVERS, answer, mixed, question, worked};

/// What a run came to.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Run {
    pub(crate) text: String,
    /// Every piece of work, by its key, and how often it was done.
    pub(crate) done: BTreeMap<String, u32>,
    /// All questions.
    pub(crate) asked: BTreeSet<String>,
}

pub(crate) fn run(flow: &Flow) -> Run {
    let mut plain = Plain {
        flow,
        run: Run::default(),
        resolved: [None; RESOLVERS],
    };
    // What the handler declares to need, then what it does.
    let (one, other) = (plain.resolve(2), plain.resolve(3));
    let own = plain.ops(&flow.handler, "", &mut Keys::default(), 7);
    plain.run.text = format!("{one} {other} {own}");
    plain.run
}

struct Plain<'f> {
    flow: &'f Flow,
    run: Run,
    resolved: [Option<u64>; RESOLVERS],
}

impl Plain<'_> {
    fn resolve(&mut self, number: usize) -> u64 {
        if let Some(known) = self.resolved[number] {
            return known;
        }
        let prefix = format!("{}.", NAMES[number]);
        let ops = &self.flow.resolvers[number];
        let value = self.ops(ops, &prefix, &mut Keys::default(), number as u64);
        self.resolved[number] = Some(value);
        value
    }

    fn ops(&mut self, ops: &[Op], prefix: &str, keys: &mut Keys, from: u64) -> u64 {
        ops.iter().fold(from, |so_far, op| match op {
            Op::Ask(numbers) => {
                let keys: Vec<_> = numbers.iter().map(|it| keys.next('q', *it)).collect();
                let answers: Vec<_> = keys
                    .iter()
                    .map(|key| {
                        let question = question(&format!("{prefix}{key}"), so_far);
                        let answer = answer(self.flow.people, &question);
                        self.run.asked.insert(question);
                        answer
                    })
                    .collect();
                mixed(so_far, &answers)
            }
            Op::Once(number) => {
                let came = self.work(prefix, &keys.next('w', *number), so_far);
                mixed(so_far, &came)
            }
            Op::Join(one, other) => {
                let both = [keys.next('w', *one), keys.next('w', *other)];
                let came = both.map(|key| self.work(prefix, &key, so_far));
                mixed(so_far, &came)
            }
            Op::Take(number) => mixed(so_far, &self.resolve(*number)),
            Op::Later(_) => so_far,
            Op::Branch(yes, no) => {
                let way = if so_far.is_multiple_of(2) { yes } else { no };
                self.ops(way, prefix, keys, so_far)
            }
        })
    }

    fn work(&mut self, prefix: &str, key: &str, so_far: u64) -> u64 {
        let key = format!("{prefix}{key}");
        let came = worked(&key, so_far);
        *self.run.done.entry(key).or_default() += 1;
        came
    }
}
