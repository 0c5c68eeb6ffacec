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
    confirm::{Retry, state},
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
    serial: u32,
    checks: Checks,
    in_flight: VecDeque<InFlight>,
}

/// What is repeated in a burst.
struct Lines {
    kind: Kind,
    first: Request,
    second: Retry,
    unsent: Vec<u8>,
}

/// A request that is not answered yet.
struct InFlight {
    leg: Kind,
    serial: u32,
    /// When its first leg was asked.
    asked: Instant,
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
            serial: FIRST_SERIAL,
            checks: server.checks,
            in_flight: VecDeque::new(),
        })
    }

    /// Keeps `window` calls in flight for so long, then waits for the last of them.
    pub(crate) async fn burst(
        &mut self,
        kind: Kind,
        window: u32,
        length: Duration,
    ) -> io::Result<Burst> {
        let mut lines = Lines {
            kind,
            first: Request::line(kind),
            second: Retry::line(),
            unsent: Vec::new(),
        };
        self.in_flight.clear();
        let cpu = self.process.cpu()?;
        let start = Instant::now();
        let deadline = start + length;
        let mut latencies = Vec::with_capacity(4096);
        for _ in 0..window {
            self.ask(start, &mut lines);
        }
        while !self.in_flight.is_empty() {
            self.input.write_all(&lines.unsent).await?;
            lines.unsent.clear();
            if self.output.read_buf(&mut self.unread).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let now = Instant::now();
            let unread = std::mem::take(&mut self.unread);
            let mut taken = 0;
            for end in memchr::memchr_iter(b'\n', &unread) {
                let asked = self.settle(&unread[taken..end], &mut lines)?;
                taken = end + 1;
                let Some(asked) = asked else {
                    continue;
                };
                latencies.push(nanoseconds(now - asked));
                if now < deadline {
                    self.ask(now, &mut lines);
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
    fn ask(&mut self, now: Instant, lines: &mut Lines) {
        self.serial = next(self.serial);
        lines
            .unsent
            .extend_from_slice(lines.first.stamp(self.serial));
        self.in_flight.push_back(InFlight {
            leg: lines.kind,
            serial: self.serial,
            asked: now,
        });
    }

    /// Takes the request that this line answers out of those in flight; when it was asked, or
    /// nothing if its second leg was appended to what is sent next.
    fn settle(&mut self, line: &[u8], lines: &mut Lines) -> io::Result<Option<Instant>> {
        let mut legs = [Some(lines.kind), lines.kind.second_leg()]
            .into_iter()
            .flatten();
        let answered = legs.find_map(|leg| Some((leg, serial(leg, line)?)));
        let at = answered.and_then(|(leg, serial)| {
            let fixed = self.checks == Checks::Shape;
            let mut calls = self.in_flight.iter();
            calls.position(|call| call.leg == leg && (fixed || call.serial == serial))
        });
        let mut call = at
            .and_then(|at| self.in_flight.remove(at))
            .ok_or_else(|| wrong("an answer to no request", line))?;
        let Some(second) = call.leg.second_leg() else {
            return Ok(Some(call.asked));
        };
        let retry = lines.second.fill(call.serial, state(line)?);
        lines.unsent.extend_from_slice(retry);
        call.leg = second;
        self.in_flight.push_back(call);
        Ok(None)
    }
}
