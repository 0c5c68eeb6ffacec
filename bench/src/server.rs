//! Servers under test: how they are started, watched and stopped.

use std::{
    future::Future,
    io,
    net::{Ipv4Addr, TcpListener},
    process::Stdio,
    str::FromStr,
    time::Duration,
};

use tokio::{
    process::{Child, ChildStdin, ChildStdout, Command},
    time::sleep,
};

use crate::{
    cpu::CpuTime,
    http::Connection,
    load::{Lane, Repeated},
    request::{Checks, FIRST_SERIAL, Kind},
    resident::resident_kib,
};

/// How long a server may take until it answers.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a server is started with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Setup {
    /// How many filler tools.
    pub(crate) fillers: usize,
    pub(crate) heap: Heap,
    /// How many threads, if that is said.
    pub(crate) workers: Option<u32>,
}

/// What a server's allocator does with large pieces of memory that it no longer needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Heap {
    /// Whatever it does of itself.
    #[default]
    Free,
    /// Keeps them, if it is glibc's. Of itself that one returns them to the kernel when they happen
    /// to lie at the end of the heap, which can double the cost of a large message and differs
    /// between two starts of the same server.
    Kept,
}

/// A server as it was named on the command line.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) name: String,
    command: String,
    pub(crate) checks: Checks,
    /// Whether it knows no older revisions.
    pub(crate) modern: bool,
    /// Whether it takes too long for what is done a million times.
    pub(crate) slow: bool,
}

impl FromStr for Server {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, command) = named(text)?;
        Ok(Self {
            name,
            command,
            checks: Checks::Full,
            modern: false,
            slow: false,
        })
    }
}

/// A name and the command that it stands for.
pub(crate) fn named(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, command)) if !name.is_empty() && !command.trim().is_empty() => {
            Ok((name.to_owned(), command.to_owned()))
        }
        _ => Err("expected NAME=COMMAND".to_owned()),
    }
}

/// A command line with flags. The shell replaces itself, so that the process that is watched is the
/// program.
pub(crate) fn shell(command: &str, flags: &str) -> Command {
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(format!("exec {command} {flags}"))
        .kill_on_drop(true);
    shell
}

impl Server {
    /// Starts the server on a free port and waits for its first answer.
    pub(crate) async fn start_http(&self, setup: Setup) -> io::Result<Listening> {
        let port = free_port()?;
        let mut flags = format!("--http {port}");
        if setup.fillers > 0 {
            flags += &format!(" --tools {}", setup.fillers);
        }
        if let Some(workers) = setup.workers {
            flags += &format!(" --workers {workers}");
        }
        let mut command = shell(&self.command, &flags);
        if setup.heap == Heap::Kept {
            command
                .env("MALLOC_MMAP_THRESHOLD_", "33554432")
                .env("MALLOC_TRIM_THRESHOLD_", "268435456");
        }
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
        let mut process = Process(child);
        let answered = async {
            let connection = Connection::open_soon(port, PATIENCE).await?;
            let mut lane = Lane::new(connection, port, Kind::Echo, self.checks, FIRST_SERIAL);
            lane.exchange().await
        };
        process.alive_until(answered).await?;
        Ok(Listening { process, port })
    }

    /// Starts the server on pipes.
    pub(crate) fn start_stdio(&self) -> io::Result<(Process, ChildStdin, ChildStdout)> {
        let mut command = shell(&self.command, "--stdio");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().expect("standard input is piped");
        let output = child.stdout.take().expect("standard output is piped");
        Ok((Process(child), input, output))
    }
}

/// A server that answers on a port.
pub(crate) struct Listening {
    pub(crate) process: Process,
    pub(crate) port: u16,
}

/// A server's process, which ends with this value.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn cpu(&self) -> io::Result<CpuTime> {
        CpuTime::of(self.pid()?)
    }

    pub(crate) fn resident_kib(&self) -> io::Result<u64> {
        resident_kib(self.pid()?)
    }

    /// Waits for `work`, but not longer than patience lasts and the process lives.
    pub(crate) async fn alive_until<T>(
        &mut self,
        work: impl Future<Output = io::Result<T>>,
    ) -> io::Result<T> {
        tokio::select! {
            done = work => done,
            ended = self.0.wait() => Err(io::Error::other(format!("the server ended: {}", ended?))),
            () = sleep(PATIENCE) => Err(io::Error::other("the server does not answer")),
        }
    }

    /// Waits until the process has nothing left to do.
    pub(crate) async fn settle(&self) -> io::Result<()> {
        const PAUSE: Duration = Duration::from_millis(50);
        let mut before = self.cpu()?;
        for _ in 0..40 {
            sleep(PAUSE).await;
            let now = self.cpu()?;
            if now.since(before) < PAUSE / 100 {
                return Ok(());
            }
            before = now;
        }
        Err(io::Error::other("the server is never idle"))
    }

    fn pid(&self) -> io::Result<u32> {
        let ended = || io::Error::other("the server has ended");
        self.0.id().ok_or_else(ended)
    }
}

/// A port that nobody listens on at this moment.
pub(crate) fn free_port() -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}
