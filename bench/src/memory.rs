//! Memory: at rest, after work, with many calls open, and with many sessions of older clients.

use std::{
    io,
    time::{Duration, Instant},
};

use serde::Serialize;

use crate::{
    http::Connection,
    load::{self, Lane},
    older::open_session,
    request::{FIRST_SERIAL, Kind, SLOW_MS},
    server::{Listening, Server},
    workload::Heap,
};

/// How many requests are sent before memory is looked at again.
pub(crate) const REQUESTS: u32 = 10_000;
/// Over how many connections.
const CONNECTIONS: u32 = 32;
/// How many slow calls are open at a time.
pub(crate) const OPEN: u32 = 1_000;
/// How many sessions of older clients are open at a time.
pub(crate) const SESSIONS: u32 = 2_000;

/// What a server holds, in KiB.
#[derive(Debug, Serialize)]
pub(crate) struct Memory {
    /// After the first answer.
    pub(crate) idle_kib: u64,
    /// After [`REQUESTS`] echoes.
    pub(crate) worked_kib: u64,
    /// What each of [`OPEN`] calls adds, its connection included.
    pub(crate) open_call_kib: f64,
    /// What each of [`SESSIONS`] idle sessions of 2025-11-25 adds, if there are such.
    pub(crate) older_session_kib: Option<f64>,
}

pub(crate) async fn measure(server: &Server) -> io::Result<Memory> {
    let listening = server.start_http(0, Heap::Free).await?;
    let process = &listening.process;
    process.settle().await?;
    let idle_kib = process.resident_kib()?;

    let worked_kib = work(&listening, server).await?;

    let start = Instant::now();
    let mut calls = Vec::new();
    for _ in 0..OPEN {
        let connection = Connection::open(listening.port).await?;
        let mut call = Lane::new(
            connection,
            listening.port,
            Kind::Slow,
            server.checks,
            FIRST_SERIAL,
        );
        call.send().await?;
        calls.push(call);
    }
    process.settle().await?;
    let open_kib = process.resident_kib()?;
    let slow = Duration::from_millis(SLOW_MS);
    if start.elapsed() >= slow {
        return Err(io::Error::other(
            "the first calls ended before the last began",
        ));
    }
    for call in &mut calls {
        call.receive().await?;
        if start.elapsed() < slow {
            return Err(io::Error::other("a slow call was not slow"));
        }
    }
    Ok(Memory {
        idle_kib,
        worked_kib,
        open_call_kib: each(worked_kib, open_kib, OPEN),
        older_session_kib: match server.modern {
            true => None,
            false => Some(sessions(server).await?),
        },
    })
}

/// Has the server answer [`REQUESTS`] echoes; what it holds then.
async fn work(listening: &Listening, server: &Server) -> io::Result<u64> {
    let mut lanes = load::open(listening, Kind::Echo, server.checks, CONNECTIONS).await?;
    for _ in 0..REQUESTS / CONNECTIONS {
        for lane in &mut lanes {
            lane.send().await?;
        }
        for lane in &mut lanes {
            lane.receive().await?;
        }
    }
    drop(lanes);
    listening.process.settle().await?;
    listening.process.resident_kib()
}

/// What each of many idle sessions adds, in a process in which nothing lies free that open calls
/// left behind. All are opened over one connection.
async fn sessions(server: &Server) -> io::Result<f64> {
    let listening = server.start_http(0, Heap::Free).await?;
    let before = work(&listening, server).await?;
    let mut connection = Connection::open(listening.port).await?;
    for _ in 0..SESSIONS {
        open_session(&mut connection, listening.port).await?;
    }
    listening.process.settle().await?;
    Ok(each(before, listening.process.resident_kib()?, SESSIONS))
}

fn each(before: u64, after: u64, count: u32) -> f64 {
    (after as f64 - before as f64) / f64::from(count)
}
