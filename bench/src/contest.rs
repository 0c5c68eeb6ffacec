//! Servers taking turns: one burst each per round, so that a busy moment of the machine meets all.

use std::{io, time::Duration};

use tokio::time::timeout;

use crate::{
    load::{self, Burst},
    pipes::Pipes,
    report::Report,
    server::{Listening, Server},
    workload::{Heap, STAGES, Selection, Stage, WORKLOADS, Workload},
};

/// How much longer than its length a burst may take.
const GRACE: Duration = Duration::from_secs(20);

/// Who takes part, and for how long.
pub(crate) struct Contest<'a> {
    pub(crate) servers: &'a [Server],
    pub(crate) rounds: u32,
    pub(crate) burst: Duration,
}

/// A server's bursts, or why there are none; nothing for one that takes no part.
pub(crate) type Bursts = Option<io::Result<Vec<Burst>>>;

impl Contest<'_> {
    /// Runs the chosen workloads, stage by stage.
    pub(crate) async fn run(&self, chosen: &Selection, report: &mut Report) {
        for stage in STAGES {
            let workloads: Vec<&Workload> = WORKLOADS
                .iter()
                .filter(|workload| workload.stage == stage && chosen.wants(workload.name))
                .collect();
            if workloads.is_empty() {
                continue;
            }
            let mut players = Vec::new();
            for server in self.servers {
                players.push(Player::start(server, stage).await);
            }
            for workload in workloads {
                let results = self.play(workload, &mut players).await;
                report.add(workload, results);
            }
        }
    }

    async fn play(&self, workload: &Workload, players: &mut [Player<'_>]) -> Vec<(String, Bursts)> {
        let bursts = |player: &Player<'_>| player.running.as_ref().map(|_| Ok(Vec::new()));
        let mut results: Vec<Bursts> = players.iter().map(bursts).collect();
        for round in 0..=self.rounds {
            for turn in 0..players.len() {
                // Another server opens each round.
                let at = (turn + round as usize) % players.len();
                let Some(Ok(bursts)) = &mut results[at] else {
                    continue;
                };
                match players[at].burst(workload, self.burst).await {
                    // The first round only warms up.
                    Ok(burst) if round > 0 => bursts.push(burst),
                    Ok(_) => {}
                    Err(error) => results[at] = Some(Err(error)),
                }
            }
        }
        let names = players.iter().map(|player| player.server.name.clone());
        names.zip(results).collect()
    }
}

/// A server in a stage.
struct Player<'a> {
    server: &'a Server,
    /// None if it has no part in the stage.
    running: Option<io::Result<Running>>,
}

enum Running {
    Http(Listening),
    Stdio(Box<Pipes>),
    Older(Listening),
}

impl<'a> Player<'a> {
    async fn start(server: &'a Server, stage: Stage) -> Self {
        let running = match stage {
            Stage::Http { fillers, heap } => {
                Some(server.start_http(fillers, heap).await.map(Running::Http))
            }
            Stage::Stdio => {
                let pipes = Pipes::start(server).await;
                Some(pipes.map(|pipes| Running::Stdio(Box::new(pipes))))
            }
            Stage::Older if server.modern => None,
            Stage::Older => Some(server.start_http(0, Heap::Free).await.map(Running::Older)),
        };
        Self { server, running }
    }

    async fn burst(&mut self, workload: &Workload, length: Duration) -> io::Result<Burst> {
        let (kind, width) = (workload.kind, workload.width);
        let burst = async {
            match &mut self.running {
                Some(Ok(Running::Http(server))) => {
                    load::burst(server, kind, self.server.checks, width, length).await
                }
                Some(Ok(Running::Stdio(pipes))) => pipes.burst(kind, width, length).await,
                Some(Ok(Running::Older(server))) => load::older_burst(server, width, length).await,
                Some(Err(error)) => Err(io::Error::other(format!("did not start: {error}"))),
                None => Err(io::Error::other("takes no part")),
            }
        };
        match timeout(length + GRACE, burst).await {
            Ok(burst) => burst,
            Err(_) => Err(io::Error::other("an answer is missing")),
        }
    }
}
