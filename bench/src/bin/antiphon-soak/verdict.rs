//! Whether a server came out of the soak as it went in.

use std::time::Duration;

use crate::hosts::Holding;

/// How much resident memory may grow from the second quarter of the run to the last: this share, or
/// this much, whichever is more.
const SHARE: f64 = 0.03;
const KIB: u64 = 1024;

/// What a server held in the course of a run.
pub(crate) struct Course {
    pub(crate) name: &'static str,
    /// Before there was any load.
    pub(crate) before: Holding,
    /// While there was, in order, with the time since it began.
    pub(crate) samples: Vec<(Duration, Holding)>,
    /// When all of it had time to go.
    pub(crate) after: Holding,
}

impl Course {
    /// What is wrong with it, each in a line.
    pub(crate) fn faults(&self, length: Duration) -> Vec<String> {
        let mut faults = Vec::new();
        let (before, after) = (self.before, self.after);
        let mut back = |what: &str, before: u64, after: u64| {
            if after > before {
                let name = self.name;
                faults.push(format!("{name}: {what}: {before} before, {after} after"));
            }
        };
        back("tasks", before.tasks, after.tasks);
        back("sessions", before.sessions, after.sessions);
        back("bytes of events", before.event_bytes, after.event_bytes);
        let descriptors = [before, after].map(|holding| holding.descriptors as u64);
        back("descriptors", descriptors[0], descriptors[1]);
        let threads = [before, after].map(|holding| holding.threads as u64);
        back("threads", threads[0], threads[1]);
        let (second, last) = self.growth(length);
        if last > allowed(second) {
            faults.push(format!(
                "{}: resident memory: {second} KiB in the second quarter, {last} KiB in the last, \
                 {} KiB allowed",
                self.name,
                allowed(second)
            ));
        }
        faults
    }

    /// Whether nothing is left of the load.
    pub(crate) fn is_over(&self) -> bool {
        let (before, after) = (self.before, self.after);
        after.tasks <= before.tasks
            && after.sessions <= before.sessions
            && after.event_bytes <= before.event_bytes
            && after.descriptors <= before.descriptors
            && after.threads <= before.threads
    }

    /// The median of resident memory in the second quarter, and in the last.
    pub(crate) fn growth(&self, length: Duration) -> (u64, u64) {
        let median = |from: Duration, to: Duration| {
            let within = |at: &Duration| from <= *at && *at < to;
            let samples = self.samples.iter().filter(|(at, _)| within(at));
            let mut samples: Vec<_> = samples.map(|(_, held)| held.resident_kib).collect();
            samples.sort_unstable();
            samples.get(samples.len() / 2).copied().unwrap_or(0)
        };
        let quarter = length / 4;
        (
            median(quarter, 2 * quarter),
            median(3 * quarter, 2 * length),
        )
    }
}

/// The most that may be resident in the last quarter.
pub(crate) fn allowed(second: u64) -> u64 {
    second + KIB.max((second as f64 * SHARE) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(resident: impl Fn(u64) -> u64) -> Course {
        let held = |resident_kib| Holding {
            resident_kib,
            tasks: 1,
            ..Holding::default()
        };
        let samples = (0..100).map(|at| (Duration::from_secs(at), held(resident(at))));
        Course {
            name: "it",
            before: held(1),
            samples: samples.collect(),
            after: held(1),
        }
    }

    const LENGTH: Duration = Duration::from_secs(100);

    #[test]
    fn what_grows_early_is_no_fault() {
        let flat = course(|at| 10_000 + 500 * at.min(30));
        assert_eq!(flat.faults(LENGTH), Vec::<String>::new());
        assert_eq!(flat.growth(LENGTH), (25_000, 25_000));
    }

    #[test]
    fn what_goes_on_growing_is_one() {
        let faults = course(|at| 10_000 + 24 * at).faults(LENGTH);
        assert_eq!(faults.len(), 1);
        assert!(
            faults[0].contains("resident memory: 10888 KiB"),
            "{faults:?}"
        );
        // A share of much is more.
        assert_eq!(course(|at| 100_000 + 12 * at).faults(LENGTH).len(), 0);
    }

    #[test]
    fn whatever_is_left_is_one() {
        let mut left = course(|_| 10_000);
        assert!(left.is_over());
        left.after.tasks = 2;
        left.after.descriptors = 3;
        assert!(!left.is_over());
        assert_eq!(
            left.faults(LENGTH),
            [
                "it: tasks: 1 before, 2 after",
                "it: descriptors: 0 before, 3 after"
            ]
        );
    }
}
