//! The servers under load, what they are asked about themselves, and what the system says.

use std::{
    fs, io,
    net::{Ipv4Addr, TcpListener},
    path::Path,
    process::Stdio,
    sync::Arc,
};

use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::{
    cpu::CpuTime,
    message::{Failure, modern, older, tool},
    modern::request,
    pipe::Pipe,
    piped::{Era, greet},
    resident::resident_kib,
    wire::Wire,
};

/// What a server holds at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Holding {
    pub(crate) resident_kib: u64,
    pub(crate) descriptors: usize,
    pub(crate) threads: usize,
    pub(crate) tasks: u64,
    pub(crate) sessions: u64,
    pub(crate) event_bytes: u64,
}

/// A server under load. It ends with this value.
pub(crate) struct Host {
    pub(crate) name: &'static str,
    child: Child,
    way: Way,
    asked: u64,
}

/// How it is asked about itself.
enum Way {
    Http(u16, Wire),
    Pipe(Arc<Pipe>, Era),
}

impl Host {
    /// Starts a server on a free port.
    pub(crate) async fn http(server: &Path, flags: &[String]) -> Result<(Self, u16), Failure> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        drop(listener);
        let mut command = Command::new(server);
        command.arg("--http").arg(port.to_string()).args(flags);
        let child = command.stdin(Stdio::null()).kill_on_drop(true).spawn()?;
        let way = Way::Http(port, Wire::open_soon(port).await?);
        Ok((Self::new("http", child, way), port))
    }

    /// Starts a server on pipes, for clients of one era.
    pub(crate) async fn stdio(
        server: &Path,
        flags: &[String],
        era: Era,
    ) -> Result<(Self, Arc<Pipe>), Failure> {
        let mut command = Command::new(server);
        command.arg("--stdio").args(flags);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let input = child.stdin.take().ok_or("standard input is not piped")?;
        let output = child.stdout.take().ok_or("standard output is not piped")?;
        let pipe = Arc::new(Pipe::new(input, output));
        let name = match era {
            Era::Modern => "stdio",
            Era::Older => "stdio, older",
        };
        if era == Era::Older {
            greet(&pipe).await?;
        }
        Ok((Self::new(name, child, Way::Pipe(pipe.clone(), era)), pipe))
    }

    fn new(name: &'static str, child: Child, way: Way) -> Self {
        Self {
            name,
            child,
            way,
            // No lane counts that far.
            asked: 1 << 60,
        }
    }

    pub(crate) fn cpu(&self) -> io::Result<CpuTime> {
        CpuTime::of(self.pid()?)
    }

    /// What it holds now.
    pub(crate) async fn holding(&mut self) -> Result<Holding, Failure> {
        self.asked += 1;
        let params = tool("stats", &json!({}));
        let answer = match &mut self.way {
            Way::Http(port, wire) => {
                let asked = request(*port, self.asked, "tools/call", Some("stats"), params)?;
                wire.send(asked).await?.json(200).await?
            }
            Way::Pipe(pipe, era) => {
                let message = match era {
                    Era::Modern => modern,
                    Era::Older => older,
                };
                let asked = message(self.asked, "tools/call", params);
                pipe.ask(&asked).await?.next().await?
            }
        };
        let stats = &answer["result"]["structuredContent"];
        let number = |value: &Value| {
            let number = value.as_u64();
            number.ok_or_else(|| format!("no figures in {answer}"))
        };
        let pid = self.pid()?;
        Ok(Holding {
            resident_kib: resident_kib(pid)?,
            descriptors: entries(pid, "fd")?,
            threads: entries(pid, "task")?,
            tasks: number(&stats["tasks"])?,
            sessions: number(&stats["sessions"])?,
            event_bytes: number(&stats["event_bytes"])?,
        })
    }

    fn pid(&self) -> io::Result<u32> {
        let ended = || io::Error::other(format!("the server ({}) has ended", self.name));
        self.child.id().ok_or_else(ended)
    }
}

fn entries(pid: u32, of: &str) -> io::Result<usize> {
    Ok(fs::read_dir(format!("/proc/{pid}/{of}"))?.count())
}
