//! Load over pipes: a number of requests in flight, answered in any order.

use std::{
    collections::VecDeque,
    io,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{ChildStdin, ChildStdout},
};

use crate::{
    load::{Burst, nanoseconds},
    request::{Checks, FIRST_SERIAL, Kind, Request, next, serial, wrong},
    server::{Process, Server},
};

/// A server on standard input and output.
pub(crate) struct Pipes {
    process: Process,
    input: ChildStdin,
    output: ChildStdout,
    /// What was read and not yet taken for an answer.
    unread: Vec<u8>,
    echo: Request,
    serial: u32,
    checks: Checks,
    in_flight: VecDeque<(u32, Instant)>,
}

impl Pipes {
    /// Starts the server and greets it, as a client would.
    pub(crate) async fn start(server: &Server) -> io::Result<Self> {
        let (mut process, mut input, mut output) = server.start_stdio()?;
        let mut unread = Vec::with_capacity(64 << 10);
        let mut hello = Request::line(Kind::Discover);
        let greeted = async {
            input.write_all(hello.stamp(FIRST_SERIAL)).await?;
            while !unread.ends_with(b"\n") {
                if output.read_buf(&mut unread).await? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            hello.check(&unread, server.checks)
        };
        process.alive_until(greeted).await?;
        unread.clear();
        Ok(Self {
            process,
            input,
            output,
            unread,
            echo: Request::line(Kind::Echo),
            serial: FIRST_SERIAL,
            checks: server.checks,
            in_flight: VecDeque::new(),
        })
    }

    /// Keeps `window` echoes in flight for so long, then waits for the last of them.
    pub(crate) async fn burst(&mut self, window: u32, length: Duration) -> io::Result<Burst> {
        self.in_flight.clear();
        let cpu = self.process.cpu()?;
        let start = Instant::now();
        let deadline = start + length;
        let (mut latencies, mut unsent) = (Vec::with_capacity(4096), Vec::new());
        for _ in 0..window {
            self.ask(start, &mut unsent);
        }
        while !self.in_flight.is_empty() {
            self.input.write_all(&unsent).await?;
            unsent.clear();
            if self.output.read_buf(&mut self.unread).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let now = Instant::now();
            let unread = std::mem::take(&mut self.unread);
            let mut taken = 0;
            for end in memchr::memchr_iter(b'\n', &unread) {
                let asked = self.settle(&unread[taken..end])?;
                taken = end + 1;
                latencies.push(nanoseconds(now - asked));
                if now < deadline {
                    self.ask(now, &mut unsent);
                }
            }
            self.unread = unread;
            self.unread.drain(..taken);
        }
        Ok(Burst {
            cpu: self.process.cpu()?.since(cpu),
            wall: start.elapsed(),
            latencies,
        })
    }

    /// Appends a new request to what is sent next.
    fn ask(&mut self, now: Instant, unsent: &mut Vec<u8>) {
        self.serial = next(self.serial);
        unsent.extend_from_slice(self.echo.stamp(self.serial));
        self.in_flight.push_back((self.serial, now));
    }

    /// Takes the request that this line answers out of those in flight; when it was asked.
    fn settle(&mut self, line: &[u8]) -> io::Result<Instant> {
        let at = match self.checks {
            Checks::Full => serial(line).and_then(|serial| {
                self.in_flight
                    .iter()
                    .position(|(asked, _)| *asked == serial)
            }),
            Checks::Shape => serial(line).map(|_| 0),
        };
        at.and_then(|at| self.in_flight.remove(at))
            .map(|(_, asked)| asked)
            .ok_or_else(|| wrong("an answer to no request", line))
    }
}
