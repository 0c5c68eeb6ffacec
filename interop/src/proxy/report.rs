//! [`Report`]: what came of it all.

use std::{error::Error, fmt::Write};

use antiphon_interop::process::Outcome;

/// What is tried, and what came of each check of it.
struct Group {
    what: String,
    checks: Vec<(String, Outcome)>,
}

impl Group {
    fn marks(&self) -> String {
        let mark = |outcome: &Outcome| match outcome {
            Outcome::Passed => '✓',
            Outcome::Failed(_) => '✗',
            Outcome::Cannot(_) => '–',
        };
        self.checks
            .iter()
            .map(|(_, outcome)| mark(outcome))
            .collect()
    }

    /// How many passed, of how many; and those that did not.
    fn passed(&self) -> String {
        let count = self.checks.len();
        let mut others = Vec::new();
        for (name, outcome) in &self.checks {
            match outcome {
                Outcome::Passed => {}
                Outcome::Failed(why) => others.push(format!("{name} failed: {why}")),
                Outcome::Cannot(why) => others.push(format!("{name}: {why}")),
            }
        }
        match (count, &others[..]) {
            (1, []) => "✓".to_owned(),
            (_, []) => format!("{count} of {count}"),
            _ => format!("{} of {count}; {}", count - others.len(), others.join("; ")),
        }
    }

    fn failures(&self) -> impl Iterator<Item = String> {
        self.checks
            .iter()
            .filter_map(|(name, outcome)| match outcome {
                Outcome::Failed(why) => Some(format!("{}, {name}: {why}", self.what)),
                _ => None,
            })
    }
}

#[derive(Default)]
pub(crate) struct Report(Vec<Group>);

impl Report {
    /// Says what came of several checks.
    pub(crate) fn group(&mut self, what: impl Into<String>, checks: Vec<(String, Outcome)>) {
        let group = Group {
            what: what.into(),
            checks,
        };
        println!("{} {}", group.marks(), group.what);
        for failure in group.failures() {
            println!("FAILED {failure}");
        }
        self.0.push(group);
    }

    /// Says what came of one.
    pub(crate) fn check(&mut self, what: impl Into<String>, done: Result<(), Box<dyn Error>>) {
        self.group(what, vec![("it".to_owned(), outcome(done))]);
    }

    pub(crate) fn has_failures(&self) -> bool {
        self.0.iter().any(|group| group.failures().next().is_some())
    }

    pub(crate) fn summary(&self) -> String {
        let all = self.0.iter().flat_map(|group| &group.checks);
        let (mut passed, mut failed, mut beyond) = (0, 0, 0);
        for (_, outcome) in all {
            *match outcome {
                Outcome::Passed => &mut passed,
                Outcome::Failed(_) => &mut failed,
                Outcome::Cannot(_) => &mut beyond,
            } += 1;
        }
        let count = passed + failed + beyond;
        format!("{count} checks: {passed} passed, {beyond} beyond the peer's SDK, {failed} failed")
    }

    /// Everything, as Markdown.
    pub(crate) fn page(&self, nginx: &str, day: &str) -> String {
        let mut page = format!(
            "# Behind nginx\n\n\
             Written by `interop/proxy all` on {day}, with {nginx} and what [proxy.conf](proxy.conf) says: two replicas in turn, \
             with the same keys.\n\n{}.\n\n\
             Clients go through the cases of [the contract](CONTRACT.md): ours through all, but `changes` only in sessions; those of \
             others through the ones that ask, unless [the list of peers](peers.json) has a defect there. With modern clients \
             there is one check more: that the rounds of every call went to both replicas.\n\n\
             | | passed |\n|---|---|\n",
            self.summary(),
        );
        for group in &self.0 {
            _ = writeln!(page, "| {} | {} |", group.what, group.passed());
        }
        page
    }
}

pub(crate) fn outcome(done: Result<(), Box<dyn Error>>) -> Outcome {
    match done {
        Ok(()) => Outcome::Passed,
        Err(why) => Outcome::Failed(why.to_string()),
    }
}
