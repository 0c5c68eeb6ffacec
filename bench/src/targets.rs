//! The targets, and how far they were reached in a run.

use crate::{
    counts::{Counts, cell, figure},
    figures::{Figures, Spread, found},
    growth::Axis,
    memory::Memory,
    report::Report,
    table::Table,
};

/// Above this a cost that should be flat has grown. Bursts of the same work differ by as much.
const FLAT: f64 = 1.10;
/// The same for instructions, which differ by less.
const FLAT_INSTRUCTIONS: f64 = 1.03;
/// From here on a text is long enough for its bytes to be what costs.
const LONG_TEXT: u64 = 256 << 10;
/// Above this the cost of a byte has grown. Longer texts leave the caches, for the floor as well.
const LINEAR: f64 = 1.5;
/// Above this memory has grown.
const STEADY: f64 = 1.02;

/// Something to be reached.
#[derive(Debug)]
pub(crate) struct Target {
    what: String,
    limit: f64,
    digits: usize,
    unit: &'static str,
    reached: Option<f64>,
    /// The cheapest round, where rounds differ.
    least: Option<f64>,
}

/// What a target is held against.
pub(crate) struct Found<'a> {
    pub(crate) report: &'a Report,
    pub(crate) counts: &'a Counts,
    /// What `bench/growth` printed.
    pub(crate) growth: &'a Counts,
    /// What `bench/micro` printed.
    pub(crate) micro: &'a str,
    /// What `bench/rebuild` printed.
    pub(crate) rebuild: &'a str,
}

impl Target {
    fn new(what: impl Into<String>, limit: f64, unit: &'static str, reached: Option<f64>) -> Self {
        Self {
            what: what.into(),
            limit,
            digits: 2,
            unit,
            reached,
            least: None,
        }
    }

    fn times(what: &str, limit: f64, unit: &'static str, reached: Option<Spread>) -> Self {
        Self {
            least: reached.map(|spread| spread.least),
            ..Self::new(what, limit, unit, reached.map(|spread| spread.median))
        }
    }

    /// Figures without a part after the point.
    fn whole(self) -> Self {
        Self { digits: 0, ..self }
    }

    fn verdict(&self) -> &'static str {
        match self.reached {
            None => "not measured",
            Some(reached) if reached <= self.limit => "reached",
            Some(_) => "**missed**",
        }
    }
}

/// All of them.
pub(crate) fn targets(found: &Found<'_>) -> Vec<Target> {
    let parts = [
        found.instructions(),
        found.cpu(),
        found.memory(),
        found.growth(),
        found.build(),
    ];
    parts.into_iter().flatten().collect()
}

/// As a table.
pub(crate) fn shown(targets: &[Target]) -> Table {
    let mut table = Table::new(["target", "at most", "found", "least", ""]);
    for target in targets {
        let figure = |figure: f64| format!("{figure:.*}", target.digits);
        let or_dash = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), figure);
        let limit = format!("{} {}", figure(target.limit), target.unit);
        let cells = vec![
            limit.trim_end().to_owned(),
            or_dash(target.reached),
            or_dash(target.least),
            target.verdict().to_owned(),
        ];
        table.row(&target.what, cells);
    }
    table
}

impl Found<'_> {
    fn subject(&self) -> &str {
        &self.report.roles.subject
    }

    fn instructions(&self) -> Vec<Target> {
        let (counts, subject) = (self.counts, self.subject());
        let ratio = |work| counts.ratio(work, subject, &self.report.roles.baseline);
        let allocations = counts
            .of("echo", subject)
            .and_then(|count| count.allocations);
        let many = counts.ratio("echo", &format!("{subject}-503"), subject);
        vec![
            Target::new(
                "echo over HTTP, instructions",
                1.3,
                "x floor",
                ratio("echo"),
            ),
            Target::new("echo over HTTP, allocations", 30.0, "", allocations).whole(),
            Target::new(
                "confirm, two legs, instructions",
                1.5,
                "x floor",
                ratio("confirm"),
            ),
            Target::new(
                "echo among 503 tools, instructions",
                1.03,
                "x few tools",
                many,
            ),
        ]
    }

    fn cpu(&self) -> Vec<Target> {
        let report = self.report;
        let figures = |workload| report.figures(workload, self.subject());
        let floor = |workload| figures(workload).and_then(|figures: &Figures| figures.ratio);
        let peer = |workload| figures(workload).and_then(|figures: &Figures| figures.peer_ratio);
        let client = found(&report.clients, self.subject());
        let workers = found(&report.workers, self.subject());
        let nested = "10 KB of arguments into a struct, against serde_json alone";
        vec![
            Target::times(
                "`tools/list` of 503 tools, CPU",
                1.15,
                "x floor",
                floor("list"),
            ),
            Target::times("echo of 1 MiB, CPU", 0.7, "x floor", floor("large")),
            Target::times(
                "echo over stdio, 1 in flight, CPU",
                1.5,
                "x floor",
                floor("stdio-1"),
            ),
            Target::times(
                "echo over stdio, 32 in flight, CPU",
                1.5,
                "x floor",
                floor("stdio-32"),
            ),
            Target::new(
                "10 KB of nested arguments, instructions",
                1.3,
                "x serde_json",
                figure(self.micro, nested),
            ),
            Target::times(
                "client echo, CPU",
                1.4,
                "x hyper",
                client.and_then(|client| client.echo.ratio),
            ),
            Target::times(
                "client confirm, CPU",
                1.4,
                "x hyper",
                client.and_then(|client| client.confirm.ratio),
            ),
            Target::times(
                "confirm of 2025-11-25, 1 session, CPU",
                0.5,
                "x best peer",
                peer("older-confirm-1"),
            ),
            Target::times(
                "confirm of 2025-11-25, 32 sessions, CPU",
                0.5,
                "x best peer",
                peer("older-confirm-32"),
            ),
            Target::times(
                "two workers, CPU per echo",
                1.15,
                "x one worker",
                workers.map(|workers| workers.ratio),
            ),
        ]
    }

    fn memory(&self) -> Vec<Target> {
        let memory = found(&self.report.memory, self.subject());
        let of = |pick: fn(&Memory) -> f64| memory.map(pick);
        let session = memory.and_then(|memory| memory.older_session_kib);
        let long = memory.and_then(|memory| memory.long.as_ref());
        vec![
            Target::new(
                "memory of an open call",
                18.0,
                "KiB",
                of(|m| m.open_call_kib),
            ),
            Target::new(
                "memory of an idle session of 2025-11-25",
                4.0,
                "KiB",
                session,
            ),
            Target::new("memory at rest", 6144.0, "KiB", of(|m| m.idle_kib as f64)).whole(),
            Target::new(
                "memory after 1,000,000 echoes",
                STEADY,
                "x that after 100,000",
                long.map(|long| long.growth()),
            ),
        ]
    }

    fn growth(&self) -> Vec<Target> {
        let curve = |axis| found(&self.report.along(axis)?.servers, self.subject());
        let mut targets: Vec<Target> = [Axis::Tools, Axis::Connections, Axis::Sessions]
            .into_iter()
            .map(|axis| {
                let curve = curve(axis);
                // Reached only if the whole way was gone.
                let whole =
                    curve.filter(|curve| curve.points.last().is_some_and(|p| p.at == 10_000));
                let what = format!("CPU per echo, 10,000 {}", axis.unit());
                let growth = whole.and_then(|curve| curve.growth());
                Target::times(&what, FLAT, "x few", growth)
            })
            .collect();
        for what in ["tools", "connections", "sessions"] {
            let growth = self
                .growth
                .ratio("echo beside", &format!("10000-{what}"), "few");
            let what = format!("instructions per echo, 10,000 {what}");
            targets.push(Target::new(what, FLAT_INSTRUCTIONS, "x few", growth));
        }
        let bytes = curve(Axis::Bytes).and_then(|curve| curve.growth_of_each(LONG_TEXT));
        targets.push(Target::new(
            "CPU per byte, text of 3 MiB",
            LINEAR,
            "x that of 256 KiB",
            bytes,
        ));
        targets
    }

    fn build(&self) -> Vec<Target> {
        let of = |head| cell(self.rebuild, head, self.subject());
        let seconds = of("beyond the derives");
        let crates = of("server, client, HTTP and TLS");
        vec![
            Target::new(
                "rebuild after touching one handler, beyond the derives",
                5.0,
                "CPU seconds",
                seconds,
            ),
            Target::new("crates for server, client, HTTP and TLS", 161.0, "", crates).whole(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Roles;

    fn verdicts(counts: &str, micro: &str) -> Vec<(String, &'static str)> {
        let roles = Roles {
            baseline: "floor".to_owned(),
            client_baseline: "hyper".to_owned(),
            subject: "antiphon".to_owned(),
            limits: vec!["floor".to_owned()],
        };
        let found = Found {
            report: &Report::new(roles, 1, 1),
            counts: &Counts::read(counts),
            growth: &Counts::default(),
            micro,
            rebuild: "",
        };
        let targets = targets(&found).into_iter();
        targets
            .map(|target| (target.what.clone(), target.verdict()))
            .collect()
    }

    #[test]
    fn what_was_not_measured_is_neither_reached_nor_missed() {
        assert!(
            verdicts("", "")
                .iter()
                .all(|(_, verdict)| *verdict == "not measured")
        );
    }

    #[test]
    fn a_target_is_reached_up_to_its_limit() {
        let counts = |ours: u32| {
            format!("per echo instructions x\nfloor 1000 1 1 1\nantiphon {ours} 1 31 1\n")
        };
        let micro = "10 KB of arguments into a struct, against serde_json alone: 1.31\n";
        let reached = verdicts(&counts(1300), micro);
        assert_eq!(reached[0].1, "reached");
        assert_eq!(reached[1].1, "**missed**");
        let nested = reached.iter().find(|(what, _)| what.starts_with("10 KB"));
        assert_eq!(nested.map(|(_, verdict)| *verdict), Some("**missed**"));
        assert_eq!(verdicts(&counts(1301), "")[0].1, "**missed**");
    }
}
