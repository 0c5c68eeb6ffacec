//! Memory: at rest, after work, after much work, with many calls open, and with many sessions of older
//! clients.

use std::{
    io,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::{
    figures::{Row, table},
    http::Connection,
    load::{self, Lane, Repeated},
    older::open_session,
    request::{FIRST_SERIAL, Kind, SLOW_MS},
    server::{Listening, Server, Setup},
    table::{Table, grouped},
};

/// How many requests are sent before memory is looked at again.
const REQUESTS: u32 = 10_000;
/// After how many more it is looked at, and looked at once again.
const MORE: u32 = 100_000;
const MOST: u32 = 1_000_000;
/// How many confirms are looked at for what each of them leaves behind.
const CONFIRMS: u32 = 100_000;
/// Over how many connections.
const CONNECTIONS: u32 = 32;
/// How many slow calls are open at a time.
const OPEN: u32 = 1_000;
/// How many sessions of older clients are open at a time.
const SESSIONS: u32 = 2_000;

/// What a server holds, in KiB.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Memory {
    /// After the first answer.
    pub(crate) idle_kib: u64,
    /// After [`REQUESTS`] echoes.
    pub(crate) worked_kib: u64,
    /// What each of [`OPEN`] calls adds, its connection included.
    pub(crate) open_call_kib: f64,
    /// What each of [`SESSIONS`] idle sessions of 2025-11-25 adds, if there are such.
    pub(crate) older_session_kib: Option<f64>,
    /// What it holds after much work, unless it is too slow for that.
    pub(crate) long: Option<Long>,
}

/// What a server holds after much work, in KiB.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Long {
    /// After [`REQUESTS`] echoes, in another process than above.
    pub(crate) first_kib: u64,
    /// After [`MORE`] echoes.
    pub(crate) more_kib: u64,
    /// After [`MOST`] echoes.
    pub(crate) most_kib: u64,
    /// What each of [`CONFIRMS`] confirms adds, in bytes, once it is over.
    pub(crate) confirm_bytes: f64,
}

impl Long {
    /// What the last nine tenths of the echoes added, as a multiple of what there was.
    pub(crate) fn growth(&self) -> f64 {
        self.most_kib as f64 / self.more_kib as f64
    }
}

pub(crate) async fn measure(server: &Server) -> io::Result<Memory> {
    let listening = server.start_http(Setup::default()).await?;
    let process = &listening.process;
    process.settle().await?;
    let idle_kib = process.resident_kib()?;
    let worked_kib = work(&listening, server, Kind::Echo, REQUESTS).await?;
    let open_kib = open_calls(&listening, server).await?;
    drop(listening);
    Ok(Memory {
        idle_kib,
        worked_kib,
        open_call_kib: each(worked_kib, open_kib, OPEN),
        older_session_kib: match server.modern {
            true => None,
            false => Some(sessions(server).await?),
        },
        long: match server.slow {
            true => None,
            false => Some(much_work(server).await?),
        },
    })
}

/// What a server holds while [`OPEN`] calls are under way, all of which are then answered.
async fn open_calls(listening: &Listening, server: &Server) -> io::Result<u64> {
    let (port, checks) = (listening.port, server.checks);
    let start = Instant::now();
    let mut calls = Vec::new();
    for _ in 0..OPEN {
        let connection = Connection::open(port).await?;
        let mut call = Lane::new(connection, port, Kind::Slow, checks, FIRST_SERIAL);
        call.send().await?;
        calls.push(call);
    }
    listening.process.settle().await?;
    let open_kib = listening.process.resident_kib()?;
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
    Ok(open_kib)
}

/// Has the server do so many of a kind; what it holds then.
async fn work(listening: &Listening, server: &Server, kind: Kind, count: u32) -> io::Result<u64> {
    let mut lanes = load::open(listening, kind, server.checks, CONNECTIONS).await?;
    for _ in 0..count / CONNECTIONS {
        if kind.second_leg().is_some() {
            for lane in &mut lanes {
                lane.exchange().await?;
            }
            continue;
        }
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
    let listening = server.start_http(Setup::default()).await?;
    let before = work(&listening, server, Kind::Echo, REQUESTS).await?;
    let mut connection = Connection::open(listening.port).await?;
    for _ in 0..SESSIONS {
        open_session(&mut connection, listening.port).await?;
    }
    listening.process.settle().await?;
    Ok(each(before, listening.process.resident_kib()?, SESSIONS))
}

async fn much_work(server: &Server) -> io::Result<Long> {
    let listening = server.start_http(Setup::default()).await?;
    let first_kib = work(&listening, server, Kind::Echo, REQUESTS).await?;
    let more_kib = work(&listening, server, Kind::Echo, MORE - REQUESTS).await?;
    let most_kib = work(&listening, server, Kind::Echo, MOST - MORE).await?;
    let before = work(&listening, server, Kind::Confirm, REQUESTS).await?;
    let after = work(&listening, server, Kind::Confirm, CONFIRMS).await?;
    Ok(Long {
        first_kib,
        more_kib,
        most_kib,
        confirm_bytes: each(before, after, CONFIRMS) * 1024.0,
    })
}

fn each(before: u64, after: u64, count: u32) -> f64 {
    (after as f64 - before as f64) / f64::from(count)
}

/// All servers, side by side.
pub(crate) fn shown(rows: &[Row<Memory>]) -> Table {
    let number = |count: u32| grouped(count.into());
    let head = [
        "KiB".to_owned(),
        "idle".to_owned(),
        format!("after {} echoes", number(REQUESTS)),
        number(MORE),
        number(MOST),
        format!("each of {} open calls", number(OPEN)),
        format!("each of {} idle sessions", number(SESSIONS)),
        "bytes after each confirm".to_owned(),
    ];
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    table(&head, rows, |memory| {
        let long = |pick: fn(&Long) -> String| {
            let long = memory.long.as_ref();
            long.map_or_else(|| "-".to_owned(), pick)
        };
        let session = memory.older_session_kib;
        vec![
            memory.idle_kib.to_string(),
            memory.worked_kib.to_string(),
            long(|long| long.more_kib.to_string()),
            long(|long| long.most_kib.to_string()),
            format!("{:.1}", memory.open_call_kib),
            session.map_or_else(|| "-".to_owned(), |kib| format!("{kib:.1}")),
            long(|long| format!("{:.0}", long.confirm_bytes)),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_has_a_dash() {
        let memory = Memory {
            idle_kib: 5000,
            worked_kib: 5100,
            open_call_kib: 17.25,
            older_session_kib: None,
            long: Some(Long {
                first_kib: 5100,
                more_kib: 5200,
                most_kib: 5304,
                confirm_bytes: 99.6,
            }),
        };
        let growth = memory.long.as_ref().expect("measured").growth();
        assert!((growth - 1.02).abs() < 1e-9);
        let text = shown(&[Row::new("a".to_owned(), Ok(memory))]).to_string();
        let line = text.lines().last().expect("a line");
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let expected = [
            "", "a", "5000", "5100", "5200", "5304", "17.2", "-", "100", "",
        ];
        assert_eq!(cells, expected);
    }
}
