//! Clients under test: each does the same job at the same server, and tells what it took.

use std::{io, process::Stdio, str::FromStr, time::Duration};

use serde::Deserialize;
use tokio::time::timeout;

use crate::{
    report::Report,
    server::{Server, Setup, named, shell},
};

/// How long a job may take.
const PATIENCE: Duration = Duration::from_secs(180);

/// A client as it was named on the command line.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) name: String,
    command: String,
    /// Whether its job takes long, and is done in fewer rounds.
    pub(crate) slow: bool,
}

impl FromStr for Client {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, command) = named(text)?;
        Ok(Self {
            name,
            command,
            slow: false,
        })
    }
}

/// What a client says of one job.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Job {
    echo_n: u64,
    echo_wall_ns: u64,
    echo_cpu_ns: u64,
    mrtr_n: u64,
    mrtr_wall_ns: u64,
    mrtr_cpu_ns: u64,
}

/// What calls of one kind took, each, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cost {
    pub(crate) cpu_us: f64,
    pub(crate) wall_us: f64,
}

impl Cost {
    fn new(count: u64, wall: u64, cpu: u64) -> Self {
        let each = |nanoseconds: u64| nanoseconds as f64 / 1e3 / count as f64;
        Self {
            cpu_us: each(cpu),
            wall_us: each(wall),
        }
    }
}

impl Job {
    pub(crate) fn echo(&self) -> Cost {
        Cost::new(self.echo_n, self.echo_wall_ns, self.echo_cpu_ns)
    }

    pub(crate) fn confirm(&self) -> Cost {
        Cost::new(self.mrtr_n, self.mrtr_wall_ns, self.mrtr_cpu_ns)
    }
}

/// Has the clients take turns at the partner, one job each per round.
pub(crate) async fn compare(
    clients: &[Client],
    partner: &Server,
    rounds: u32,
    report: &mut Report,
) -> io::Result<()> {
    let server = partner.start_http(Setup::default()).await?;
    let mut results: Vec<io::Result<Vec<Job>>> = clients.iter().map(|_| Ok(Vec::new())).collect();
    for round in 0..=rounds as usize {
        for turn in 0..clients.len() {
            // Another client opens each round.
            let at = (turn + round) % clients.len();
            let last = clients[at].rounds(rounds);
            let Ok(jobs) = &mut results[at] else {
                continue;
            };
            if round > last as usize {
                continue;
            }
            match clients[at].work(server.port).await {
                // The first round only warms up.
                Ok(job) if round > 0 => jobs.push(job),
                Ok(_) => {}
                Err(error) => results[at] = Err(error),
            }
        }
    }
    let names = clients.iter().map(|client| client.name.clone());
    report.add_clients(names.zip(results).collect());
    Ok(())
}

impl Client {
    fn rounds(&self, all: u32) -> u32 {
        if self.slow { all.div_ceil(3) } else { all }
    }

    async fn work(&self, port: u16) -> io::Result<Job> {
        let flags = format!("--url http://127.0.0.1:{port}/mcp");
        let mut command = shell(&self.command, &flags);
        let output = command.stdin(Stdio::null()).stderr(Stdio::inherit());
        let output = timeout(PATIENCE, output.output()).await??;
        if !output.status.success() {
            return Err(io::Error::other(format!("it ended: {}", output.status)));
        }
        let job: Job = serde_json::from_slice(&output.stdout)?;
        match job.echo_n > 0 && job.mrtr_n > 0 {
            true => Ok(job),
            false => Err(io::Error::other("it called nothing")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_for_each_call() {
        let line = r#"{"echo_n":4,"echo_wall_ns":8000,"echo_cpu_ns":4000,"mrtr_n":2,"mrtr_wall_ns":9000,"mrtr_cpu_ns":3000}"#;
        let job: Job = serde_json::from_str(line).expect("a job");
        let cost = |cpu_us, wall_us| Cost { cpu_us, wall_us };
        assert_eq!(job.echo(), cost(1.0, 2.0));
        assert_eq!(job.confirm(), cost(1.5, 4.5));
    }
}
