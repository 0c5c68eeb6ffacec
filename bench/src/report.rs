//! The figures: from bursts to tables and JSON.

use std::{fs, io, path::Path};

use serde::Serialize;

use crate::{
    clients::{Cost, Job},
    contest::Bursts,
    load::Burst,
    memory::{self, Memory},
    workload::Workload,
};

/// Everything that was measured.
#[derive(Serialize)]
pub(crate) struct Report {
    baseline: String,
    client_baseline: String,
    rounds: u32,
    burst_ms: u64,
    workloads: Vec<Comparison>,
    memory: Vec<Row<Memory>>,
    clients: Vec<Row<ClientFigures>>,
}

/// All servers under one workload.
#[derive(Serialize)]
struct Comparison {
    name: &'static str,
    title: &'static str,
    servers: Vec<Row<Figures>>,
}

/// One server: what was found, or what went wrong; neither if it takes no part.
#[derive(Serialize)]
struct Row<T> {
    server: String,
    #[serde(flatten)]
    found: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

/// One server under one workload.
#[derive(Serialize)]
struct Figures {
    /// CPU microseconds of the server per request.
    cpu_us: Spread,
    /// The same, as a multiple of the baseline's.
    ratio: Option<Spread>,
    requests: usize,
    requests_per_second: f64,
    p50_us: f64,
    p99_us: f64,
}

/// One client.
#[derive(Serialize)]
struct ClientFigures {
    echo: CallFigures,
    confirm: CallFigures,
}

/// One client, one kind of call.
#[derive(Clone, Copy, Serialize)]
struct CallFigures {
    /// CPU microseconds of the client per call.
    cpu_us: Spread,
    /// The same, as a multiple of the baseline's.
    ratio: Option<Spread>,
    wall_us: f64,
}

/// A figure over the rounds.
#[derive(Clone, Copy, Serialize)]
struct Spread {
    median: f64,
    least: f64,
}

impl Report {
    pub(crate) fn new(
        baseline: String,
        client_baseline: String,
        rounds: u32,
        burst_ms: u64,
    ) -> Self {
        Self {
            baseline,
            client_baseline,
            rounds,
            burst_ms,
            workloads: Vec::new(),
            memory: Vec::new(),
            clients: Vec::new(),
        }
    }

    /// Takes the bursts of a workload and prints its table.
    pub(crate) fn add(&mut self, workload: &Workload, results: Vec<(String, Bursts)>) {
        let results = results.into_iter();
        let mut servers: Vec<_> = results
            .map(|(server, bursts)| match bursts {
                Some(bursts) => Row::new(server, bursts.and_then(|b| Figures::new(&b))),
                None => Row::absent(server),
            })
            .collect();
        let base = servers
            .iter()
            .find(|row| row.server == self.baseline)
            .and_then(|row| row.found.as_ref())
            .map(|figures| figures.cpu_us);
        for figures in servers.iter_mut().filter_map(|row| row.found.as_mut()) {
            figures.ratio = base.map(|base| figures.cpu_us.over(base));
        }
        let comparison = Comparison {
            name: workload.name,
            title: workload.title,
            servers,
        };
        comparison.print(&self.baseline);
        self.workloads.push(comparison);
    }

    pub(crate) fn add_memory(&mut self, server: &str, found: io::Result<Memory>) {
        self.memory.push(Row::new(server.to_owned(), found));
    }

    pub(crate) fn print_memory(&self) {
        let head = [
            "idle KiB".to_owned(),
            format!("after {} requests", memory::REQUESTS),
            format!("per call with {} open", memory::OPEN),
            format!("per older session, {} idle", memory::SESSIONS),
        ];
        print("memory", &head, &self.memory, |memory| {
            vec![
                memory.idle_kib.to_string(),
                memory.worked_kib.to_string(),
                format!("{:.1}", memory.open_call_kib),
                (memory.older_session_kib)
                    .map_or_else(|| "-".to_owned(), |kib| format!("{kib:.1}")),
            ]
        });
    }

    /// Takes the jobs of all clients and prints their tables.
    pub(crate) fn add_clients(&mut self, results: Vec<(String, io::Result<Vec<Job>>)>) {
        let results = results.into_iter();
        self.clients = results
            .map(|(name, jobs)| Row::new(name, jobs.map(|jobs| ClientFigures::new(&jobs))))
            .collect();
        let baseline = |row: &&Row<_>| row.server == self.client_baseline;
        let base = self.clients.iter().find(baseline);
        let base = base.and_then(|row| row.found.as_ref());
        if let Some((echo, confirm)) = base.map(|base| (base.echo.cpu_us, base.confirm.cpu_us)) {
            for figures in self.clients.iter_mut().filter_map(|row| row.found.as_mut()) {
                figures.echo.ratio = Some(figures.echo.cpu_us.over(echo));
                figures.confirm.ratio = Some(figures.confirm.cpu_us.over(confirm));
            }
        }
        self.print_calls("clients: echo, one after the other", |found| &found.echo);
        self.print_calls("clients: confirm, two legs each", |found| &found.confirm);
    }

    fn print_calls(&self, title: &str, pick: fn(&ClientFigures) -> &CallFigures) {
        let times = format!("x {}", self.client_baseline);
        let head = ["CPU us", &times, "least", &times, "wall us"].map(str::to_owned);
        print(title, &head, &self.clients, |found| {
            let figures = pick(found);
            vec![
                format!("{:.2}", figures.cpu_us.median),
                times_of(figures.ratio, |ratio| ratio.median),
                format!("{:.2}", figures.cpu_us.least),
                times_of(figures.ratio, |ratio| ratio.least),
                format!("{:.1}", figures.wall_us),
            ]
        });
    }

    pub(crate) fn write(&self, file: &Path) -> io::Result<()> {
        let mut json = serde_json::to_vec_pretty(self)?;
        json.push(b'\n');
        fs::write(file, json)
            .map_err(|error| io::Error::other(format!("{}: {error}", file.display())))
    }

    /// How many rows hold no figures.
    pub(crate) fn failures(&self) -> usize {
        let servers = self.workloads.iter().flat_map(|w| &w.servers);
        let failures = servers.map(|row| &row.failure);
        failures
            .chain(self.memory.iter().map(|row| &row.failure))
            .chain(self.clients.iter().map(|row| &row.failure))
            .filter(|failure| failure.is_some())
            .count()
    }
}

impl Comparison {
    fn print(&self, baseline: &str) {
        let ratio = format!("x {baseline}");
        let head = [
            "CPU us", &ratio, "least", &ratio, "req/s", "p50 us", "p99 us",
        ]
        .map(str::to_owned);
        let title = format!("{}: {}", self.name, self.title);
        print(&title, &head, &self.servers, |figures| {
            vec![
                format!("{:.2}", figures.cpu_us.median),
                times_of(figures.ratio, |ratio| ratio.median),
                format!("{:.2}", figures.cpu_us.least),
                times_of(figures.ratio, |ratio| ratio.least),
                format!("{:.0}", figures.requests_per_second),
                format!("{:.1}", figures.p50_us),
                format!("{:.1}", figures.p99_us),
            ]
        });
    }
}

impl<T> Row<T> {
    fn new(server: String, found: io::Result<T>) -> Self {
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
    fn absent(server: String) -> Self {
        Self {
            server,
            found: None,
            failure: None,
        }
    }
}

impl Figures {
    fn new(bursts: &[Burst]) -> io::Result<Self> {
        if bursts.iter().any(|burst| burst.latencies.is_empty()) {
            return Err(io::Error::other("a burst ended without an answer"));
        }
        let over_bursts = |figure: fn(&Burst) -> f64| Spread::of(bursts.iter().map(figure));
        Ok(Self {
            cpu_us: over_bursts(|b| b.cpu.as_secs_f64() * 1e6 / b.latencies.len() as f64),
            ratio: None,
            requests: bursts.iter().map(|b| b.latencies.len()).sum(),
            requests_per_second: over_bursts(|b| b.latencies.len() as f64 / b.wall.as_secs_f64())
                .median,
            p50_us: over_bursts(|b| percentile(&b.latencies, 50)).median,
            p99_us: over_bursts(|b| percentile(&b.latencies, 99)).median,
        })
    }
}

impl ClientFigures {
    fn new(jobs: &[Job]) -> Self {
        let calls = |pick: fn(&Job) -> Cost| CallFigures {
            cpu_us: Spread::of(jobs.iter().map(|job| pick(job).cpu_us)),
            ratio: None,
            wall_us: Spread::of(jobs.iter().map(|job| pick(job).wall_us)).median,
        };
        Self {
            echo: calls(Job::echo),
            confirm: calls(Job::confirm),
        }
    }
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Self {
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

    fn over(self, base: Self) -> Self {
        Self {
            median: self.median / base.median,
            least: self.least / base.least,
        }
    }
}

/// A multiple of the baseline's, where there is one.
fn times_of(ratio: Option<Spread>, pick: fn(Spread) -> f64) -> String {
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

/// Prints a table: names to the left, figures to the right, failures in place of figures.
fn print<T>(title: &str, head: &[String], rows: &[Row<T>], cells: impl Fn(&T) -> Vec<String>) {
    let cells: Vec<_> = rows
        .iter()
        .map(|row| row.found.as_ref().map(&cells))
        .collect();
    let name = rows.iter().map(|row| row.server.len()).max().unwrap_or(0);
    let widths: Vec<usize> = head
        .iter()
        .enumerate()
        .map(|(column, head)| {
            let cells = cells.iter().flatten().map(|cells| cells[column].len());
            cells.chain([head.len()]).max().unwrap_or(0)
        })
        .collect();
    let line = |first: &str, cells: &[String]| {
        print!("{first:name$}");
        for (cell, width) in cells.iter().zip(&widths) {
            print!("  {cell:>width$}");
        }
        println!();
    };
    println!("\n{title}");
    line("", head);
    for (row, cells) in rows.iter().zip(&cells) {
        match (cells, &row.failure) {
            (Some(cells), _) => line(&row.server, cells),
            (None, Some(failure)) => println!("{:name$}  failed: {failure}", row.server),
            (None, None) => println!("{:name$}  takes no part", row.server),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
    fn ratios_are_to_the_baseline_and_failures_are_counted() {
        let burst = |us: u64| Burst {
            cpu: Duration::from_micros(us),
            wall: Duration::from_secs(1),
            latencies: vec![1000; 100],
        };
        let mut report = Report::new("floor".to_owned(), "hyper".to_owned(), 1, 1);
        let results = vec![
            ("floor".to_owned(), Some(Ok(vec![burst(1000)]))),
            ("ours".to_owned(), Some(Ok(vec![burst(1500)]))),
            (
                "broken".to_owned(),
                Some(Err(io::Error::other("no answer"))),
            ),
            ("absent".to_owned(), None),
        ];
        report.add(&crate::workload::WORKLOADS[0], results);
        assert_eq!(report.failures(), 1);
        let json = serde_json::to_value(&report).expect("JSON");
        let servers = &json["workloads"][0]["servers"];
        assert_eq!(servers[1]["cpu_us"]["median"], 15.0);
        assert_eq!(servers[1]["ratio"]["least"], 1.5);
        assert_eq!(servers[2]["failure"], "no answer");
        assert_eq!(servers[3], serde_json::json!({"server": "absent"}));
    }

    #[test]
    fn clients_are_compared_call_by_call() {
        let job = |echo: u64, confirm: u64| -> Job {
            let job = serde_json::json!({
                "echo_n": 10, "echo_wall_ns": 10 * echo, "echo_cpu_ns": 10 * echo,
                "mrtr_n": 10, "mrtr_wall_ns": 10 * confirm, "mrtr_cpu_ns": 10 * confirm,
            });
            serde_json::from_value(job).expect("a job")
        };
        let mut report = Report::new("floor".to_owned(), "hyper".to_owned(), 2, 1);
        report.add_clients(vec![
            (
                "ours".to_owned(),
                Ok(vec![job(6000, 9000), job(3000, 5000)]),
            ),
            (
                "hyper".to_owned(),
                Ok(vec![job(2000, 5000), job(4000, 5000)]),
            ),
            ("broken".to_owned(), Err(io::Error::other("it ended"))),
        ]);
        assert_eq!(report.failures(), 1);
        let json = serde_json::to_value(&report).expect("JSON");
        let ours = &json["clients"][0];
        assert_eq!(ours["echo"]["cpu_us"]["least"], 3.0);
        assert_eq!(ours["echo"]["ratio"]["median"], 1.5);
        assert_eq!(ours["confirm"]["ratio"]["least"], 1.0);
    }
}
