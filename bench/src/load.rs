//! Load over HTTP: connections that each send a request when the last one is answered.

use std::{
    future::Future,
    io,
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

use crate::{
    confirm::{Retry, state},
    http::Connection,
    older::{self, Visit},
    request::{Checks, FIRST_SERIAL, Kind, LANE_SERIALS, Request, next},
    server::Listening,
};

/// How long a driven server may take to listen; an instrumented one is slow.
pub(crate) const DRIVE_PATIENCE: Duration = Duration::from_secs(180);

/// What one burst came to.
#[derive(Default)]
pub(crate) struct Burst {
    pub(crate) cpu: Duration,
    pub(crate) wall: Duration,
    /// Of every request, or of every call in two legs, in nanoseconds.
    pub(crate) latencies: Vec<u32>,
}

/// Something that is done again and again for the length of a burst.
pub(crate) trait Repeated: Send + Sized + 'static {
    /// Does it once, up to the answer.
    fn exchange(&mut self) -> impl Future<Output = io::Result<()>> + Send;
}

/// One connection and the request that it repeats.
pub(crate) struct Lane {
    connection: Connection,
    request: Request,
    /// The second leg of a request that has two.
    retry: Option<Retry>,
    checks: Checks,
    serial: u32,
}

impl Lane {
    pub(crate) fn new(
        connection: Connection,
        port: u16,
        kind: Kind,
        checks: Checks,
        serial: u32,
    ) -> Self {
        Self {
            connection,
            request: Request::post(kind, port),
            retry: kind.second_leg().map(|_| Retry::post(port)),
            checks,
            serial,
        }
    }

    pub(crate) async fn send(&mut self) -> io::Result<()> {
        self.serial = next(self.serial);
        self.connection.send(self.request.stamp(self.serial)).await
    }

    /// Takes the answer, or all that is left of a call in two legs.
    pub(crate) async fn receive(&mut self) -> io::Result<()> {
        let answer = self.connection.receive().await?;
        self.request.check(answer, self.checks)?;
        if let Some(retry) = &mut self.retry {
            let second = retry.fill(self.serial, state(answer)?);
            self.connection.send(second).await?;
            let answer = self.connection.receive().await?;
            retry.check(answer, self.checks)?;
        }
        Ok(())
    }
}

impl Repeated for Lane {
    async fn exchange(&mut self) -> io::Result<()> {
        self.send().await?;
        self.receive().await
    }
}

/// Repeats until the deadline; gives back what was repeated, so that the burst is over before the
/// server has a connection to close.
async fn repeat<R: Repeated>(mut lane: R, deadline: Instant) -> io::Result<(R, Vec<u32>)> {
    let mut latencies = Vec::with_capacity(4096);
    loop {
        let start = Instant::now();
        if start >= deadline {
            return Ok((lane, latencies));
        }
        lane.exchange().await?;
        latencies.push(nanoseconds(start.elapsed()));
    }
}

/// Connections to a server, each of which has had one answer.
pub(crate) async fn open(
    server: &Listening,
    kind: Kind,
    checks: Checks,
    count: u32,
) -> io::Result<Vec<Lane>> {
    let mut lanes = Vec::new();
    for lane in 0..count {
        let connection = Connection::open(server.port).await?;
        let serial = FIRST_SERIAL + lane * LANE_SERIALS;
        let mut lane = Lane::new(connection, server.port, kind, checks, serial);
        lane.exchange().await?;
        lanes.push(lane);
    }
    Ok(lanes)
}

/// Keeps so many connections busy for so long.
pub(crate) async fn burst(
    server: &Listening,
    kind: Kind,
    checks: Checks,
    connections: u32,
    length: Duration,
) -> io::Result<Burst> {
    let lanes = open(server, kind, checks, connections).await?;
    Ok(keep_busy(server, lanes, length).await?.0)
}

/// The same with so many sessions of revision 2025-11-25, each of which confirms.
pub(crate) async fn older_burst(
    server: &Listening,
    sessions: u32,
    length: Duration,
) -> io::Result<Burst> {
    let visits = older::open(server, sessions).await?;
    let (burst, visits) = keep_busy(server, visits, length).await?;
    for visit in visits {
        visit.end().await?;
    }
    Ok(burst)
}

async fn keep_busy<R: Repeated>(
    server: &Listening,
    lanes: Vec<R>,
    length: Duration,
) -> io::Result<(Burst, Vec<R>)> {
    let cpu = server.process.cpu()?;
    let start = Instant::now();
    let mut running = JoinSet::new();
    for lane in lanes {
        running.spawn(repeat(lane, start + length));
    }
    let (mut latencies, mut idle) = (Vec::new(), Vec::new());
    while let Some(joined) = running.join_next().await {
        let (lane, measured) = joined.map_err(io::Error::other)??;
        latencies.extend(measured);
        idle.push(lane);
    }
    let burst = Burst {
        cpu: server.process.cpu()?.since(cpu),
        wall: start.elapsed(),
        latencies,
    };
    Ok((burst, idle))
}

/// Sends `count` requests over one connection, and nothing else, to a server that may still be
/// starting.
pub(crate) async fn drive(port: u16, kind: Kind, checks: Checks, count: u32) -> io::Result<()> {
    let connection = Connection::open_soon(port, DRIVE_PATIENCE).await?;
    let lane = Lane::new(connection, port, kind, checks, FIRST_SERIAL);
    count_down(lane, count).await
}

/// The same in one session of revision 2025-11-25, in which it confirms.
pub(crate) async fn drive_older(port: u16, count: u32) -> io::Result<()> {
    let connection = Connection::open_soon(port, DRIVE_PATIENCE).await?;
    count_down(Visit::open(connection, port, FIRST_SERIAL).await?, count).await
}

async fn count_down(mut lane: impl Repeated, count: u32) -> io::Result<()> {
    for _ in 0..count {
        lane.exchange().await?;
    }
    Ok(())
}

pub(crate) fn nanoseconds(time: Duration) -> u32 {
    u32::try_from(time.as_nanos()).unwrap_or(u32::MAX)
}
