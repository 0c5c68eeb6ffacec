//! What a request costs a server that runs on two threads, beside one that runs on one.

use std::{io, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    figures::{Figures, Row, Spread, table},
    load::{self, Burst},
    request::Kind,
    server::{Listening, Server, Setup},
    table::Table,
    turns::{Pace, Player},
};

/// Connections in a burst.
const WIDTH: u32 = 32;

/// CPU microseconds per request.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Workers {
    pub(crate) one: Spread,
    pub(crate) two: Spread,
    /// What two take, as a multiple of what one takes.
    pub(crate) ratio: Spread,
}

/// Has these servers take turns, each of them once with one worker and once with two.
pub(crate) async fn measure(servers: &[&Server], pace: Pace) -> Vec<Row<Workers>> {
    let mut crews = Vec::new();
    for server in servers {
        for workers in [1, 2] {
            crews.push(Crew::start(server, workers).await);
        }
    }
    let mut results = pace.take_turns(&mut crews).await.into_iter();
    let mut next = || results.next().unwrap_or_else(|| Ok(Vec::new()));
    let rows = servers.iter().map(|server| {
        let (one, two) = (next(), next());
        Row::new(server.name.clone(), Workers::new(one, two))
    });
    rows.collect()
}

impl Workers {
    fn new(one: io::Result<Vec<Burst>>, two: io::Result<Vec<Burst>>) -> io::Result<Self> {
        let (one, two) = (Figures::new(&one?)?.cpu_us, Figures::new(&two?)?.cpu_us);
        Ok(Self {
            one,
            two,
            ratio: two.over(one),
        })
    }
}

/// A server with so many workers.
struct Crew<'a> {
    server: &'a Server,
    running: io::Result<Listening>,
}

impl<'a> Crew<'a> {
    async fn start(server: &'a Server, workers: u32) -> Self {
        let setup = Setup {
            workers: Some(workers),
            ..Setup::default()
        };
        Self {
            server,
            running: server.start_http(setup).await,
        }
    }
}

impl Player for Crew<'_> {
    async fn burst(&mut self, length: Duration) -> io::Result<Burst> {
        match &self.running {
            Ok(running) => {
                load::burst(running, Kind::Echo, self.server.checks, WIDTH, length).await
            }
            Err(error) => Err(io::Error::other(format!("did not start: {error}"))),
        }
    }
}

/// All of them, side by side.
pub(crate) fn shown(rows: &[Row<Workers>]) -> Table {
    let head = [
        "server",
        "CPU us, 1 worker",
        "CPU us, 2 workers",
        "2 over 1",
        "least, 1",
        "least, 2",
        "2 over 1",
    ];
    table(&head, rows, |found| {
        let us = |figure: f64| format!("{figure:.2}");
        vec![
            us(found.one.median),
            us(found.two.median),
            us(found.ratio.median),
            us(found.one.least),
            us(found.two.least),
            us(found.ratio.least),
        ]
    })
}
