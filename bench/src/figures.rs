//! From bursts and jobs to figures.

use std::io;

use serde::{Deserialize, Serialize};

use crate::{
    clients::{Cost, Job},
    load::Burst,
    table::Table,
};

/// One server or client: what was found, or what went wrong; neither if it takes no part.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Row<T> {
    pub(crate) server: String,
    #[serde(flatten)]
    pub(crate) found: Option<T>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<String>,
}

/// One server under one workload.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Figures {
    /// CPU microseconds of the server per request.
    pub(crate) cpu_us: Spread,
    /// The same, as a multiple of the baseline's.
    pub(crate) ratio: Option<Spread>,
    /// The same, as a multiple of the best peer's.
    pub(crate) peer_ratio: Option<Spread>,
    pub(crate) requests: usize,
    pub(crate) requests_per_second: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
}

/// One client.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct ClientFigures {
    pub(crate) echo: CallFigures,
    pub(crate) confirm: CallFigures,
}

/// One client, one kind of call.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct CallFigures {
    /// CPU microseconds of the client per call.
    pub(crate) cpu_us: Spread,
    /// The same, as a multiple of the baseline's.
    pub(crate) ratio: Option<Spread>,
    /// The same, as a multiple of the best peer's.
    pub(crate) peer_ratio: Option<Spread>,
    pub(crate) wall_us: f64,
}

/// A figure over the rounds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
}

impl<T> Row<T> {
    pub(crate) fn new(server: String, found: io::Result<T>) -> Self {
        let (found, failure) = match found {
            Ok(found) => (Some(found), None),
            Err(error) => (None, Some(error.to_string())),
        };
        Self {
            server,
            found,
            failure,
        }
    }

    /// One that takes no part.
    pub(crate) fn absent(server: String) -> Self {
        Self {
            server,
            found: None,
            failure: None,
        }
    }
}

/// What was found for the server of this name.
pub(crate) fn found<'a, T>(rows: &'a [Row<T>], server: &str) -> Option<&'a T> {
    let row = rows.iter().find(|row| row.server == server)?;
    row.found.as_ref()
}

/// A table with a line for each, and remarks in place of figures.
pub(crate) fn table<T>(head: &[&str], rows: &[Row<T>], cells: impl Fn(&T) -> Vec<String>) -> Table {
    let mut table = Table::new(head.iter().copied());
    for row in rows {
        match (&row.found, &row.failure) {
            (Some(found), _) => table.row(&row.server, cells(found)),
            (None, Some(failure)) => table.remark(&row.server, format!("failed: {failure}")),
            (None, None) => table.remark(&row.server, "takes no part"),
        }
    }
    table
}

impl Figures {
    pub(crate) fn new(bursts: &[Burst]) -> io::Result<Self> {
        if bursts.iter().any(|burst| burst.latencies.is_empty()) {
            return Err(io::Error::other("a burst ended without an answer"));
        }
        let over_bursts = |figure: fn(&Burst) -> f64| Spread::of(bursts.iter().map(figure));
        Ok(Self {
            cpu_us: cpu_us(bursts),
            ratio: None,
            peer_ratio: None,
            requests: bursts.iter().map(|b| b.latencies.len()).sum(),
            requests_per_second: over_bursts(|b| b.latencies.len() as f64 / b.wall.as_secs_f64())
                .median,
            p50_us: over_bursts(|b| percentile(&b.latencies, 50)).median,
            p99_us: over_bursts(|b| percentile(&b.latencies, 99)).median,
        })
    }
}

/// CPU microseconds per request.
fn cpu_us(bursts: &[Burst]) -> Spread {
    let each = |b: &Burst| b.cpu.as_secs_f64() * 1e6 / b.latencies.len() as f64;
    Spread::of(bursts.iter().map(each))
}

impl ClientFigures {
    pub(crate) fn new(jobs: &[Job]) -> Self {
        let calls = |pick: fn(&Job) -> Cost| CallFigures {
            cpu_us: Spread::of(jobs.iter().map(|job| pick(job).cpu_us)),
            ratio: None,
            peer_ratio: None,
            wall_us: Spread::of(jobs.iter().map(|job| pick(job).wall_us)).median,
        };
        Self {
            echo: calls(Job::echo),
            confirm: calls(Job::confirm),
        }
    }
}

impl Spread {
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = if values.len().is_multiple_of(2) {
            (values[middle - 1] + values[middle]) / 2.0
        } else {
            values[middle]
        };
        Self {
            median,
            least: values[0],
        }
    }

    pub(crate) fn over(self, base: Self) -> Self {
        Self {
            median: self.median / base.median,
            least: self.least / base.least,
        }
    }
}

/// A multiple of somebody else's, where there is one.
pub(crate) fn times(ratio: Option<Spread>, pick: fn(Spread) -> f64) -> String {
    let ratio = ratio.map(pick);
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"))
}

/// In microseconds, of latencies in nanoseconds: the least that so many per cent do not exceed.
fn percentile(latencies: &[u32], percent: usize) -> f64 {
    let mut sorted = latencies.to_vec();
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    let (_, value, _) = sorted.select_nth_unstable(rank - 1);
    f64::from(*value) / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_percentiles() {
        let spread = Spread::of([3.0, 1.0, 8.0, 2.0].into_iter());
        assert_eq!((spread.median, spread.least), (2.5, 1.0));
        let latencies: Vec<u32> = (1..=200).map(|n| n * 1000).collect();
        assert_eq!(percentile(&latencies, 50), 100.0);
        assert_eq!(percentile(&latencies, 99), 198.0);
        assert_eq!(percentile(&[7000], 99), 7.0);
    }

    #[test]
    fn rows_are_the_same_after_being_written_and_read() {
        let spread = Spread {
            median: 2.0,
            least: 1.0,
        };
        let rows = [
            Row::new("a".to_owned(), Ok(spread)),
            Row::new("b".to_owned(), Err(io::Error::other("no answer"))),
            Row::absent("c".to_owned()),
        ];
        let text = serde_json::to_string(&rows).expect("JSON");
        let read: Vec<Row<Spread>> = serde_json::from_str(&text).expect("rows");
        assert_eq!(found(&read, "a"), Some(&spread));
        assert_eq!(read[1].failure.as_deref(), Some("no answer"));
        assert!(read[2].found.is_none() && read[2].failure.is_none());
    }
}
