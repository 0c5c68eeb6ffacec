//! [`Nginx`]: the proxy, and who answered behind it.

use std::{
    error::Error,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use antiphon_interop::process::Running;
use tokio::{net::TcpStream, time::sleep};

/// What is around the site: where files go, and what is written down. Nothing of how requests are passed on.
const AROUND: &str = "\
daemon off;
worker_processes 1; # each worker has a turn of its own
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {}
http {
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxied;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    gzip on; # as Debian has it
    log_format who '$upstream_addr|$status|$request_method|$http_mcp_method|$http_mcp_name|$http_mcp_session_id';
    access_log {folder}/access.log who;
    include {folder}/site.conf;
}
";

/// What stands in `interop/proxy.conf`: the proxy, and both replicas.
const FRONT: &str = "127.0.0.1:8080";
const REPLICAS: [&str; 2] = ["127.0.0.1:3001", "127.0.0.1:3002"];

/// How long nginx may take to start.
const PATIENCE: Duration = Duration::from_secs(10);

/// Ports below those that the system gives away by itself, so that nobody else takes the port of a
/// replica that is down.
pub(crate) fn free_ports<const N: usize>() -> Result<[u16; N], Box<dyn Error>> {
    let from = 20_000 + u16::try_from(std::process::id() % 1_000)? * 10;
    let free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let ports: Vec<_> = (from..32_000).filter(free).take(N).collect();
    ports
        .try_into()
        .map_err(|_| "there are not enough free ports".into())
}

/// A request that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answered {
    /// The replicas that were tried, by number. The last one answered.
    pub(crate) tried: Vec<usize>,
    pub(crate) status: u16,
    pub(crate) verb: String,
    /// `Mcp-Method`, as clients of 2026-07-28 say it.
    pub(crate) method: String,
    /// `Mcp-Name`.
    pub(crate) name: String,
    pub(crate) session: String,
}

impl Answered {
    /// The number of the replica that answered.
    pub(crate) fn by(&self) -> Option<usize> {
        self.tried.last().copied()
    }
}

pub(crate) struct Nginx {
    folder: PathBuf,
    running: Running,
    replicas: [String; 2],
    pub(crate) url: String,
}

impl Nginx {
    /// Starts it in this folder, with this site in front of replicas on these ports.
    pub(crate) async fn start(
        folder: &Path,
        site: &str,
        ports: [u16; 3],
    ) -> Result<Self, Box<dyn Error>> {
        let [front, a, b] = ports.map(|port| format!("127.0.0.1:{port}"));
        fs::create_dir_all(folder)?;
        let mut site = site.to_owned();
        for (theirs, ours) in [FRONT, REPLICAS[0], REPLICAS[1]]
            .into_iter()
            .zip([&front, &a, &b])
        {
            if !site.contains(theirs) {
                return Err(format!("{theirs} is not in proxy.conf").into());
            }
            site = site.replace(theirs, ours);
        }
        fs::write(folder.join("site.conf"), site)?;
        let around = AROUND.replace("{folder}", &folder.to_string_lossy());
        fs::write(folder.join("nginx.conf"), around)?;
        let running = Command::new("setpriv")
            .args(["--pdeathsig", "TERM", "--", "nginx"])
            .arg("-p")
            .arg(folder)
            .args(["-e", "stderr", "-c"])
            .arg(folder.join("nginx.conf"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.join("stderr"))?)
            .spawn()?;
        let mut nginx = Self {
            folder: folder.to_owned(),
            running: Running(running),
            replicas: [a, b],
            url: format!("http://{front}/mcp"),
        };
        nginx.listens(&front).await?;
        Ok(nginx)
    }

    async fn listens(&mut self, front: &str) -> Result<(), Box<dyn Error>> {
        let until = Instant::now() + PATIENCE;
        while TcpStream::connect(front).await.is_err() {
            if self.running.0.try_wait()?.is_some() || Instant::now() > until {
                return Err(format!("nginx does not start: {}", self.words_of_errors()).into());
            }
            sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    /// What nginx has to say about errors.
    pub(crate) fn words_of_errors(&self) -> String {
        let mut words = String::new();
        for file in ["stderr", "error.log"] {
            let text = fs::read_to_string(self.folder.join(file)).unwrap_or_default();
            _ = write!(words, "{text}");
        }
        words
    }

    /// Every request that was answered to its end, in the order in which they ended.
    pub(crate) fn answered(&self) -> Result<Vec<Answered>, Box<dyn Error>> {
        let text = fs::read_to_string(self.folder.join("access.log"))?;
        text.lines().map(|line| self.read(line)).collect()
    }

    fn read(&self, line: &str) -> Result<Answered, Box<dyn Error>> {
        let odd = || format!("nginx writes {line:?}");
        let parts: Vec<_> = line.split('|').collect();
        let [tried, status, verb, method, name, session] = parts[..] else {
            return Err(odd().into());
        };
        let number = |address: &str| self.replicas.iter().position(|known| known == address);
        let said = |text: &str| text.strip_prefix('-').unwrap_or(text).to_owned();
        Ok(Answered {
            // One that reached no replica names an upstream, or nobody.
            tried: tried.split(", ").filter_map(number).collect(),
            status: status.parse().map_err(|_| odd())?,
            verb: verb.to_owned(),
            method: said(method),
            name: said(name),
            session: said(session),
        })
    }
}

impl Drop for Nginx {
    /// A master that is killed leaves its workers behind, so it is asked to stop.
    fn drop(&mut self) {
        let stop = format!("kill -TERM {}", self.running.0.id());
        let stopped = Command::new("sh").args(["-c", &stop]).status();
        if stopped.is_ok_and(|status| status.success()) {
            _ = self.running.0.wait();
        }
    }
}
