//! [`Parties`]: the authorization server, the shop, and people with browsers.

use std::{
    ffi::OsStr, net::TcpListener, path::Path, path::PathBuf, process::Stdio, time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    time::timeout,
};

use crate::{Boxed, Done};

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The servers; they end with this.
pub(crate) struct Parties {
    /// Where the authorization server is installed.
    authority: PathBuf,
    pub(crate) issuer: String,
    pub(crate) url: String,
    _running: [Child; 2],
}

impl Parties {
    pub(crate) async fn start(authority: PathBuf, shop: &Path) -> Result<Self, Boxed> {
        let [issuer_port, port] = [free_port()?, free_port()?].map(|port| port.to_string());
        let issuer = format!("http://127.0.0.1:{issuer_port}");
        let server = authority.join("server.mjs");
        let running = [
            ready(Command::new("node").arg(server).arg(&issuer_port)).await?,
            ready(Command::new(shop).arg(&port).arg(&issuer)).await?,
        ];
        Ok(Self {
            authority,
            url: format!("http://127.0.0.1:{port}/mcp"),
            issuer,
            _running: running,
        })
    }

    /// A person who signs in at a page, and comes back.
    pub(crate) fn person(&self, name: impl AsRef<OsStr>) -> Person {
        Person {
            script: self.authority.join("person.mjs"),
            name: name.as_ref().into(),
        }
    }
}

/// A person with a browser.
#[derive(Clone)]
pub(crate) struct Person {
    script: PathBuf,
    name: std::ffi::OsString,
}

impl Person {
    /// Opens a page, signs in, and follows where that leads.
    pub(crate) async fn visit(self, page: String) -> Done {
        let output = Command::new("node")
            .args([self.script.as_os_str(), page.as_ref(), &self.name])
            .kill_on_drop(true)
            .output();
        let output = timeout(PATIENCE, output).await??;
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
        }
    }
}

/// Starts a server, and waits until it listens.
async fn ready(command: &mut Command) -> Result<Child, Boxed> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let output = child.stdout.take().ok_or("its output is piped")?;
    let mut lines = BufReader::new(output).lines();
    let ready = async {
        while let Some(line) = lines.next_line().await? {
            if line == "ready" {
                return Ok(());
            }
        }
        Err(Boxed::from("a server does not start"))
    };
    timeout(PATIENCE, ready).await??;
    Ok(child)
}

fn free_port() -> Result<u16, Boxed> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
