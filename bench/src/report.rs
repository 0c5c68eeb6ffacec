//! Everything that was measured: shown as it comes, and written as JSON.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize};

use crate::{
    clients::Job,
    contest::Bursts,
    figures::{CallFigures, ClientFigures, Figures, Row, Spread, found, table, times},
    growth::{self, Axis, Growth},
    memory::{self, Memory},
    table::Table,
    workers::{self, Workers},
    workload::Workload,
};

/// Who is compared with whom.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Roles {
    /// The server that the others are compared with.
    pub(crate) baseline: String,
    /// The client that the others are compared with.
    pub(crate) client_baseline: String,
    /// Whose figures are held against the targets.
    pub(crate) subject: String,
    /// Lower bounds. Everyone else but the subject is its peer.
    pub(crate) limits: Vec<String>,
}

/// Everything that was measured.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Report {
    #[serde(flatten)]
    pub(crate) roles: Roles,
    pub(crate) rounds: u32,
    pub(crate) burst_ms: u64,
    pub(crate) workloads: Vec<Comparison>,
    pub(crate) workers: Vec<Row<Workers>>,
    pub(crate) growth: Vec<Growth>,
    pub(crate) memory: Vec<Row<Memory>>,
    pub(crate) clients: Vec<Row<ClientFigures>>,
}

/// All servers under one workload.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Comparison {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) servers: Vec<Row<Figures>>,
}

impl Roles {
    fn is_peer(&self, name: &str) -> bool {
        name != self.subject && !self.limits.iter().any(|limit| limit == name)
    }

    /// What the cheapest peer takes.
    fn best_peer<'a>(&self, costs: impl Iterator<Item = (&'a str, Spread)>) -> Option<Spread> {
        costs
            .filter(|(name, _)| self.is_peer(name))
            .map(|(_, cost)| cost)
            .min_by(|a, b| a.median.total_cmp(&b.median))
    }
}

impl Report {
    pub(crate) fn new(roles: Roles, rounds: u32, burst_ms: u64) -> Self {
        Self {
            roles,
            rounds,
            burst_ms,
            workloads: Vec::new(),
            workers: Vec::new(),
            growth: Vec::new(),
            memory: Vec::new(),
            clients: Vec::new(),
        }
    }

    /// Takes the bursts of a workload and shows its table.
    pub(crate) fn add(&mut self, workload: &Workload, results: Vec<(String, Bursts)>) {
        let results = results.into_iter();
        let mut servers: Vec<_> = results
            .map(|(server, bursts)| match bursts {
                Some(bursts) => Row::new(server, bursts.and_then(|b| Figures::new(&b))),
                None => Row::absent(server),
            })
            .collect();
        let base = found(&servers, &self.roles.baseline).map(|figures| figures.cpu_us);
        let peer = self.roles.best_peer(servers.iter().filter_map(|row| {
            let figures = row.found.as_ref()?;
            Some((row.server.as_str(), figures.cpu_us))
        }));
        for figures in servers.iter_mut().filter_map(|row| row.found.as_mut()) {
            figures.ratio = base.map(|base| figures.cpu_us.over(base));
            figures.peer_ratio = peer.map(|peer| figures.cpu_us.over(peer));
        }
        let comparison = Comparison {
            name: workload.name.to_owned(),
            title: workload.title.to_owned(),
            servers,
        };
        let title = format!("{}: {}", comparison.name, comparison.title);
        show(&title, &comparison.shown(&self.roles.baseline));
        self.workloads.push(comparison);
    }

    pub(crate) fn add_workers(&mut self, rows: Vec<Row<Workers>>) {
        self.workers = rows;
        show(
            "workers: echo over HTTP, 32 connections",
            &workers::shown(&self.workers),
        );
    }

    pub(crate) fn add_growth(&mut self, found: Growth) {
        let title = format!("{}: CPU us per echo", found.axis.name());
        show(&title, &growth::shown(&found));
        self.growth.push(found);
    }

    pub(crate) fn add_memory(&mut self, server: &str, found: io::Result<Memory>) {
        self.memory.push(Row::new(server.to_owned(), found));
    }

    pub(crate) fn show_memory(&self) {
        show("memory", &memory::shown(&self.memory));
    }

    /// Takes the jobs of all clients and shows their tables.
    pub(crate) fn add_clients(&mut self, results: Vec<(String, io::Result<Vec<Job>>)>) {
        let results = results.into_iter();
        self.clients = results
            .map(|(name, jobs)| Row::new(name, jobs.map(|jobs| ClientFigures::new(&jobs))))
            .collect();
        self.compare_calls(|found| &mut found.echo);
        self.compare_calls(|found| &mut found.confirm);
        for (title, table) in self.shown_clients() {
            show(&format!("clients: {title}"), &table);
        }
    }

    fn compare_calls(&mut self, pick: fn(&mut ClientFigures) -> &mut CallFigures) {
        let mut costs = Vec::new();
        for row in &mut self.clients {
            if let Some(found) = &mut row.found {
                costs.push((row.server.clone(), pick(found).cpu_us));
            }
        }
        let named = |(name, cost): &(String, Spread)| {
            (*name == self.roles.client_baseline).then_some(*cost)
        };
        let base = costs.iter().find_map(named);
        let costs = costs.iter().map(|(name, cost)| (name.as_str(), *cost));
        let peer = self.roles.best_peer(costs);
        for found in self.clients.iter_mut().filter_map(|row| row.found.as_mut()) {
            let figures = pick(found);
            figures.ratio = base.map(|base| figures.cpu_us.over(base));
            figures.peer_ratio = peer.map(|peer| figures.cpu_us.over(peer));
        }
    }

    /// The tables of the clients, with what they are about.
    pub(crate) fn shown_clients(&self) -> [(&'static str, Table); 2] {
        [
            (
                "echo, one after the other",
                self.shown_calls(|found| &found.echo),
            ),
            (
                "confirm, two legs each",
                self.shown_calls(|found| &found.confirm),
            ),
        ]
    }

    fn shown_calls(&self, pick: fn(&ClientFigures) -> &CallFigures) -> Table {
        let ratio = format!("x {}", self.roles.client_baseline);
        let head = [
            "client",
            "CPU us",
            &ratio,
            "x best peer",
            "least",
            &ratio,
            "wall us",
        ];
        table(&head, &self.clients, |found| {
            let figures = pick(found);
            vec![
                format!("{:.2}", figures.cpu_us.median),
                times(figures.ratio, |ratio| ratio.median),
                times(figures.peer_ratio, |ratio| ratio.median),
                format!("{:.2}", figures.cpu_us.least),
                times(figures.ratio, |ratio| ratio.least),
                format!("{:.1}", figures.wall_us),
            ]
        })
    }

    /// What was found for a server under a workload.
    pub(crate) fn figures(&self, workload: &str, server: &str) -> Option<&Figures> {
        let comparison = self.workloads.iter().find(|w| w.name == workload)?;
        found(&comparison.servers, server)
    }

    /// What was found along an axis.
    pub(crate) fn along(&self, axis: Axis) -> Option<&Growth> {
        self.growth.iter().find(|growth| growth.axis == axis)
    }

    pub(crate) fn read(file: &Path) -> io::Result<Self> {
        let text = fs::read(file).map_err(|error| about(file, &error))?;
        serde_json::from_slice(&text).map_err(|error| about(file, &error))
    }

    pub(crate) fn write(&self, file: &Path) -> io::Result<()> {
        let mut json = serde_json::to_vec_pretty(self)?;
        json.push(b'\n');
        fs::write(file, json).map_err(|error| about(file, &error))
    }

    /// How many rows hold no figures.
    pub(crate) fn failures(&self) -> usize {
        let servers = self.workloads.iter().flat_map(|w| &w.servers);
        let growing = self.growth.iter().flat_map(|growth| &growth.servers);
        let failures = servers.map(|row| &row.failure);
        failures
            .chain(self.workers.iter().map(|row| &row.failure))
            .chain(growing.map(|row| &row.failure))
            .chain(self.memory.iter().map(|row| &row.failure))
            .chain(self.clients.iter().map(|row| &row.failure))
            .filter(|failure| failure.is_some())
            .count()
    }
}

impl Comparison {
    pub(crate) fn shown(&self, baseline: &str) -> Table {
        let ratio = format!("x {baseline}");
        let head = [
            "server",
            "CPU us",
            &ratio,
            "x best peer",
            "least",
            &ratio,
            "req/s",
            "p50 us",
            "p99 us",
        ];
        table(&head, &self.servers, |figures| {
            vec![
                format!("{:.2}", figures.cpu_us.median),
                times(figures.ratio, |ratio| ratio.median),
                times(figures.peer_ratio, |ratio| ratio.median),
                format!("{:.2}", figures.cpu_us.least),
                times(figures.ratio, |ratio| ratio.least),
                format!("{:.0}", figures.requests_per_second),
                format!("{:.1}", figures.p50_us),
                format!("{:.1}", figures.p99_us),
            ]
        })
    }
}

/// Shows a table as soon as it is there: a run is long.
fn show(title: &str, table: &Table) {
    println!("\n{title}\n\n{table}");
}

fn about(file: &Path, error: &impl ToString) -> io::Error {
    io::Error::other(format!("{}: {}", file.display(), error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::load::Burst;

    fn report() -> Report {
        let roles = Roles {
            baseline: "floor".to_owned(),
            client_baseline: "hyper".to_owned(),
            subject: "ours".to_owned(),
            limits: vec!["floor".to_owned(), "hyper".to_owned()],
        };
        Report::new(roles, 1, 1)
    }

    #[test]
    fn ratios_are_to_the_baseline_and_failures_are_counted() {
        let burst = |us: u64| Burst {
            cpu: Duration::from_micros(us),
            wall: Duration::from_secs(1),
            latencies: vec![1000; 100],
        };
        let mut report = report();
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
    fn the_best_peer_is_neither_a_limit_nor_the_subject() {
        let cost = |median| Spread {
            median,
            least: median,
        };
        let costs = [
            ("floor", cost(1.0)),
            ("ours", cost(2.0)),
            ("slow", cost(9.0)),
            ("quick", cost(5.0)),
        ];
        let roles = report().roles;
        assert_eq!(roles.best_peer(costs.into_iter()), Some(cost(5.0)));
        assert_eq!(roles.best_peer(costs[..2].iter().copied()), None);
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
        let mut report = report();
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
