//! Memory: at rest, after work, and with many calls open.

use std::{
    io,
    time::{Duration, Instant},
};

use serde::Serialize;

use crate::{
    http::Connection,
    load::{self, Lane},
    request::{FIRST_SERIAL, Kind, SLOW_MS},
    server::Server,
    workload::Heap,
};

/// How many requests are sent before memory is looked at again.
pub(crate) const REQUESTS: u32 = 10_000;
/// Over how many connections.
const CONNECTIONS: u32 = 32;
/// How many slow calls are open at a time.
pub(crate) const OPEN: u32 = 1_000;

/// What a server holds, in KiB.
#[derive(Debug, Serialize)]
pub(crate) struct Memory {
    /// After the first answer.
    pub(crate) idle_kib: u64,
    /// After [`REQUESTS`] echoes.
    pub(crate) worked_kib: u64,
    /// What each of [`OPEN`] calls adds, its connection included.
    pub(crate) open_call_kib: f64,
}

pub(crate) async fn measure(server: &Server) -> io::Result<Memory> {
    let listening = server.start_http(0, Heap::Free).await?;
    let process = &listening.process;
    process.settle().await?;
    let idle_kib = process.resident_kib()?;

    let mut lanes = load::open(&listening, Kind::Echo, server.checks, CONNECTIONS).await?;
    for _ in 0..REQUESTS / CONNECTIONS {
        for lane in &mut lanes {
            lane.send().await?;
        }
        for lane in &mut lanes {
            lane.receive().await?;
        }
    }
    drop(lanes);
    process.settle().await?;
    let worked_kib = process.resident_kib()?;

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
        open_call_kib: (open_kib as f64 - worked_kib as f64) / f64::from(OPEN),
    })
}
