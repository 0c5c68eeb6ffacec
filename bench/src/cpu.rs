//! The CPU time of a process, as Linux tells it in `/proc`.

use std::{fs, io, time::Duration};

/// A unit of the times in `/proc/PID/stat`, which Linux fixes at a hundredth of a second.
const TICK: Duration = Duration::from_millis(10);

/// The CPU time that a process had used at one moment, in all of its threads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CpuTime {
    /// Of the threads alive, in nanoseconds, where the kernel keeps scheduler statistics.
    threads: Option<Duration>,
    /// Of all threads there ever were, in ticks.
    ticks: Duration,
}

impl CpuTime {
    pub(crate) fn of(pid: u32) -> io::Result<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        Ok(Self {
            threads: threads(pid).ok(),
            ticks: ticks(&stat).ok_or_else(|| io::Error::other("/proc/PID/stat is odd"))?,
        })
    }

    /// The time used since `earlier`. The fine clock forgets threads that have ended; the coarse
    /// one, which rounds user and system time down, tells when that matters.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        let ticks = self.ticks.saturating_sub(earlier.ticks);
        match (self.threads, earlier.threads) {
            (Some(now), Some(then)) => now.saturating_sub(then).max(ticks.saturating_sub(2 * TICK)),
            _ => ticks,
        }
    }
}

fn threads(pid: u32) -> io::Result<Duration> {
    let mut sum = 0;
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        // A thread may end between being listed and being read.
        let Ok(text) = fs::read_to_string(thread?.path().join("schedstat")) else {
            continue;
        };
        let first = text.split_whitespace().next();
        sum += first.and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
    }
    match sum {
        0 => Err(io::Error::other("no scheduler statistics")),
        nanoseconds => Ok(Duration::from_nanos(nanoseconds)),
    }
}

/// User and system time; the fields are counted from the name, which may hold anything.
fn ticks(stat: &str) -> Option<Duration> {
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(11);
    let mut field = || fields.next()?.parse::<u32>().ok();
    Some(TICK * (field()? + field()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_its_own_process() {
        let pid = std::process::id();
        let before = CpuTime::of(pid).expect("time");
        let mut sum = 0_u64;
        while CpuTime::of(pid).expect("time").since(before) < Duration::from_millis(20) {
            sum = (0..100_000_u64).fold(sum, |sum, n| std::hint::black_box(sum ^ n));
        }
    }

    #[test]
    fn finds_the_times_behind_an_odd_name() {
        let stat = "7 (a) b) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0";
        assert_eq!(ticks(stat), Some(Duration::from_secs(3)));
    }

    #[test]
    fn a_thread_that_ended_is_not_forgotten() {
        let ms = Duration::from_millis;
        let before = CpuTime {
            threads: Some(ms(900)),
            ticks: ms(900),
        };
        let after = CpuTime {
            threads: Some(ms(200)),
            ticks: ms(1900),
        };
        assert_eq!(after.since(before), ms(980));
    }
}
