//! Servers under the same load, workload by workload.

use std::{io, time::Duration};

use crate::{
    load::{self, Burst},
    pipes::Pipes,
    report::Report,
    server::{Listening, Server, Setup},
    turns::{Pace, Player},
    workload::{STAGES, Selection, Stage, WORKLOADS, Workload},
};

/// A server's bursts, or why there are none; nothing for one that takes no part.
pub(crate) type Bursts = Option<io::Result<Vec<Burst>>>;

/// Runs the chosen workloads, stage by stage.
pub(crate) async fn run(servers: &[Server], pace: Pace, chosen: &Selection, report: &mut Report) {
    for stage in STAGES {
        let workloads: Vec<&Workload> = WORKLOADS
            .iter()
            .filter(|workload| workload.stage == stage && chosen.wants(workload.name))
            .collect();
        if workloads.is_empty() {
            continue;
        }
        let mut entrants = Vec::new();
        for server in servers {
            entrants.push(Entrant::start(server, stage).await);
        }
        for workload in workloads {
            let results = play(workload, pace, &mut entrants).await;
            report.add(workload, results);
        }
    }
}

async fn play(
    workload: &Workload,
    pace: Pace,
    entrants: &mut [Entrant<'_>],
) -> Vec<(String, Bursts)> {
    let mut results: Vec<(String, Bursts)> = entrants
        .iter()
        .map(|entrant| (entrant.server.name.clone(), None))
        .collect();
    let (mut places, mut players) = (Vec::new(), Vec::new());
    for (place, entrant) in entrants.iter_mut().enumerate() {
        if let Some(running) = &mut entrant.running {
            places.push(place);
            players.push(Contestant {
                server: entrant.server,
                running,
                workload,
            });
        }
    }
    let bursts = pace.take_turns(&mut players).await;
    for (place, bursts) in places.into_iter().zip(bursts) {
        results[place].1 = Some(bursts);
    }
    results
}

/// A server in a stage.
struct Entrant<'a> {
    server: &'a Server,
    /// None if it has no part in the stage.
    running: Option<io::Result<Running>>,
}

enum Running {
    Http(Listening),
    Stdio(Box<Pipes>),
    Older(Listening),
}

impl<'a> Entrant<'a> {
    async fn start(server: &'a Server, stage: Stage) -> Self {
        let running = match stage {
            Stage::Http(setup) => Some(server.start_http(setup).await.map(Running::Http)),
            Stage::Stdio => {
                let pipes = Pipes::start(server).await;
                Some(pipes.map(|pipes| Running::Stdio(Box::new(pipes))))
            }
            Stage::Older if server.modern => None,
            Stage::Older => {
                let listening = server.start_http(Setup::default()).await;
                Some(listening.map(Running::Older))
            }
        };
        Self { server, running }
    }
}

/// A server that is running, and what it is asked to do.
struct Contestant<'a> {
    server: &'a Server,
    running: &'a mut io::Result<Running>,
    workload: &'a Workload,
}

impl Player for Contestant<'_> {
    async fn burst(&mut self, length: Duration) -> io::Result<Burst> {
        let (kind, width) = (self.workload.kind, self.workload.width);
        match self.running {
            Ok(Running::Http(server)) => {
                load::burst(server, kind, self.server.checks, width, length).await
            }
            Ok(Running::Stdio(pipes)) => pipes.burst(kind, width, length).await,
            Ok(Running::Older(server)) => load::older_burst(server, width, length).await,
            Err(error) => Err(io::Error::other(format!("did not start: {error}"))),
        }
    }
}
