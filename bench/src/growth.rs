//! What a request costs as something else grows: the number of tools, of open connections, of idle
//! sessions, or of bytes in the request itself.
//!
//! The levels of one server take turns, each in a process of its own, so that a busy moment of the
//! machine does not look like growth.

use std::{fs, io, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    figures::{Figures, Row, Spread, table},
    http::Connection,
    load::{self, Burst, DRIVE_PATIENCE, Lane, Repeated},
    older::open_session,
    request::{Checks, FIRST_SERIAL, Kind, OWN_TOOLS},
    server::{Heap, Listening, Server, Setup},
    table::{Table, grouped},
    turns::{Pace, Player},
};

/// Descriptors that a process needs beside its idle connections.
const OTHER_FILES: u64 = 300;

/// What grows.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Axis {
    Tools,
    Connections,
    Sessions,
    Bytes,
}

pub(crate) const AXES: [Axis; 4] = [Axis::Tools, Axis::Connections, Axis::Sessions, Axis::Bytes];

/// Servers along one axis.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Growth {
    pub(crate) axis: Axis,
    pub(crate) servers: Vec<Row<Curve>>,
}

/// One server along one axis.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Curve {
    pub(crate) points: Vec<Point>,
}

/// What a request costs at one level.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Point {
    pub(crate) at: u64,
    /// CPU microseconds of the server per request.
    pub(crate) cpu_us: Spread,
}

impl Axis {
    /// The name of the workload.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tools => "growth-tools",
            Self::Connections => "growth-connections",
            Self::Sessions => "growth-sessions",
            Self::Bytes => "growth-bytes",
        }
    }

    /// What is counted along the axis.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Connections => "idle connections",
            Self::Sessions => "idle sessions of 2025-11-25",
            Self::Bytes => "bytes of text",
        }
    }

    fn levels(self) -> &'static [u64] {
        match self {
            Self::Tools => &[4, 100, 1_000, 10_000],
            Self::Connections => &[1, 100, 1_000, 10_000],
            Self::Sessions => &[0, 100, 1_000, 10_000],
            // Servers take messages of up to 4 MiB.
            Self::Bytes => &[64, 1 << 10, 16 << 10, 256 << 10, 1 << 20, 3 << 20],
        }
    }

    fn setup(self, level: u64) -> Setup {
        match self {
            Self::Tools => Setup {
                fillers: usize::try_from(level).map_or(0, |all| all.saturating_sub(OWN_TOOLS)),
                ..Setup::default()
            },
            Self::Bytes => Setup {
                heap: Heap::Kept,
                ..Setup::default()
            },
            Self::Connections | Self::Sessions => Setup::default(),
        }
    }

    /// What is sent, and how many at a time.
    fn work(self, level: u64) -> (Kind, u32) {
        match self {
            Self::Bytes => (Kind::Sized(u32::try_from(level).unwrap_or(u32::MAX)), 4),
            Self::Tools | Self::Connections | Self::Sessions => (Kind::Echo, 32),
        }
    }
}

impl Curve {
    /// What the last level costs, as a multiple of what the first one does.
    pub(crate) fn growth(&self) -> Option<Spread> {
        let (first, last) = (self.points.first()?, self.points.last()?);
        Some(last.cpu_us.over(first.cpu_us))
    }

    /// The same for the cost of each unit, and from a given level on.
    pub(crate) fn growth_of_each(&self, from: u64) -> Option<f64> {
        let first = self.points.iter().find(|point| point.at == from)?;
        let last = self.points.last()?;
        let each = |point: &Point| point.cpu_us.median / point.at as f64;
        Some(each(last) / each(first))
    }
}

/// Measures servers along an axis, one after the other.
pub(crate) async fn measure(axis: Axis, servers: &[&Server], pace: Pace) -> Growth {
    let mut rows = Vec::new();
    for server in servers {
        let name = server.name.clone();
        rows.push(match axis == Axis::Sessions && server.modern {
            true => Row::absent(name),
            false => Row::new(name, curve(axis, server, pace).await),
        });
    }
    Growth {
        axis,
        servers: rows,
    }
}

async fn curve(axis: Axis, server: &Server, pace: Pace) -> io::Result<Curve> {
    let files = open_files()?;
    let mut levels = Vec::new();
    let mut open = OTHER_FILES;
    for &at in axis.levels() {
        if axis == Axis::Connections {
            open += at;
            if open > files {
                eprintln!("{at} connections are left out: only {files} files may be open");
                continue;
            }
        }
        levels.push(Level::start(axis, server, at).await?);
    }
    let results = pace.take_turns(&mut levels).await;
    let mut points = Vec::new();
    for (level, bursts) in levels.iter_mut().zip(results) {
        level.check().await?;
        let cpu_us = Figures::new(&bursts?)?.cpu_us;
        points.push(Point {
            at: level.at,
            cpu_us,
        });
    }
    Ok(Curve { points })
}

/// A server at one level.
struct Level<'a> {
    axis: Axis,
    at: u64,
    server: &'a Server,
    listening: Listening,
    /// Connections on which nothing more is sent while others are measured.
    idle: Vec<Lane>,
}

impl<'a> Level<'a> {
    async fn start(axis: Axis, server: &'a Server, at: u64) -> io::Result<Self> {
        let mut level = Self {
            axis,
            at,
            server,
            listening: server.start_http(axis.setup(at)).await?,
            idle: Vec::new(),
        };
        let count = u32::try_from(at).unwrap_or(u32::MAX);
        let (connections, sessions) = match axis {
            Axis::Connections => (count, 0),
            Axis::Sessions => (0, count),
            Axis::Tools | Axis::Bytes => (0, 0),
        };
        level.idle = idle(level.listening.port, connections, sessions).await?;
        level.listening.process.settle().await?;
        Ok(level)
    }

    /// Fails if the first or the last idle connection was closed meanwhile.
    async fn check(&mut self) -> io::Result<()> {
        let last = self.idle.len().saturating_sub(1);
        for at in [0, last] {
            if let Some(lane) = self.idle.get_mut(at) {
                let closed = |error| io::Error::other(format!("an idle connection ended: {error}"));
                lane.exchange().await.map_err(closed)?;
            }
        }
        Ok(())
    }
}

impl Player for Level<'_> {
    async fn burst(&mut self, length: Duration) -> io::Result<Burst> {
        let (kind, width) = self.axis.work(self.at);
        load::burst(&self.listening, kind, self.server.checks, width, length).await
    }
}

/// Connections to a server that may still be starting, each of which has had one answer, and sessions
/// of 2025-11-25, opened over a connection that is closed again.
pub(crate) async fn idle(port: u16, connections: u32, sessions: u32) -> io::Result<Vec<Lane>> {
    let mut idle = Vec::new();
    for _ in 0..connections {
        let connection = Connection::open_soon(port, DRIVE_PATIENCE).await?;
        let mut lane = Lane::new(connection, port, Kind::Echo, Checks::Full, FIRST_SERIAL);
        lane.exchange().await?;
        idle.push(lane);
    }
    if sessions > 0 {
        let mut connection = Connection::open_soon(port, DRIVE_PATIENCE).await?;
        for _ in 0..sessions {
            open_session(&mut connection, port).await?;
        }
    }
    Ok(idle)
}

/// How many files this process, and those that it starts, may have open.
fn open_files() -> io::Result<u64> {
    let limits = fs::read_to_string("/proc/self/limits")?;
    soft_limit(&limits).ok_or_else(|| io::Error::other("/proc/self/limits is odd"))
}

fn soft_limit(limits: &str) -> Option<u64> {
    let line = limits
        .lines()
        .find_map(|l| l.strip_prefix("Max open files"))?;
    match line.split_whitespace().next()? {
        "unlimited" => Some(u64::MAX),
        number => number.parse().ok(),
    }
}

/// The levels from left to right, and what the last costs compared with the first.
pub(crate) fn shown(growth: &Growth) -> Table {
    let axis = growth.axis;
    let longest = (growth.servers.iter())
        .filter_map(|row| row.found.as_ref())
        .max_by_key(|curve| curve.points.len());
    let levels = longest.map_or(&[][..], |curve| &curve.points);
    let mut head = vec![axis.unit().to_owned()];
    head.extend(levels.iter().map(|point| grouped(point.at)));
    head.push("last over first".to_owned());
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    table(&head, &growth.servers, |curve| {
        let points = curve.points.iter();
        let mut cells: Vec<String> = points
            .map(|point| format!("{:.2}", point.cpu_us.median))
            .collect();
        cells.resize(levels.len(), "-".to_owned());
        let times = curve.growth().map_or(0.0, |growth| growth.median);
        cells.push(format!("{times:.2}"));
        cells
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(u64, f64)]) -> Curve {
        let point = |&(at, us): &(u64, f64)| Point {
            at,
            cpu_us: Spread {
                median: us,
                least: us / 2.0,
            },
        };
        Curve {
            points: points.iter().map(point).collect(),
        }
    }

    #[test]
    fn growth_is_from_the_first_to_the_last() {
        let curve = curve(&[(10, 2.0), (100, 9.0), (1000, 3.0)]);
        assert_eq!(curve.growth().map(|growth| growth.median), Some(1.5));
        let each = curve.growth_of_each(100).expect("a level");
        assert!((each - 3.0 / 1000.0 / (9.0 / 100.0)).abs() < 1e-9, "{each}");
        assert_eq!(curve.growth_of_each(50), None);
    }

    #[test]
    fn every_level_that_was_reached_has_a_column() {
        let growth = Growth {
            axis: Axis::Connections,
            servers: vec![
                Row::new("a".to_owned(), Ok(curve(&[(1, 2.0), (10_000, 3.0)]))),
                Row::new("b".to_owned(), Ok(curve(&[(1, 4.0)]))),
            ],
        };
        let text = shown(&growth).to_string();
        assert!(
            text.contains("| idle connections |    1 | 10,000 |"),
            "{text}"
        );
        assert!(
            text.contains("| 2.00 |   3.00 |            1.50 |"),
            "{text}"
        );
        assert!(
            text.contains("| 4.00 |      - |            1.00 |"),
            "{text}"
        );
    }

    #[test]
    fn reads_the_limit_of_open_files() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\n\
            Max processes  7  8  processes\nMax open files            1024     20000   files\n";
        assert_eq!(soft_limit(limits), Some(1024));
        assert!(open_files().is_ok_and(|files| files > 10));
    }
}
