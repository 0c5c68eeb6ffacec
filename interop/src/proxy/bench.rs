//! [`Bench`]: two replicas behind nginx, from start to end.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use antiphon::{
    Client, Http, Kind,
    client::{Connection, Era},
    types::Version,
};
use antiphon_interop::process::{self, Running};

use tokio::time::sleep;

use crate::nginx::{Nginx, free_ports};

/// What the replicas are called, in the order of `proxy.conf`.
pub(crate) const NAMES: [&str; 2] = ["a", "b"];

/// How long nginx may take to write down what it did.
const PATIENCE: Duration = Duration::from_secs(10);

/// What `proxy.conf` says of HTTP.
const VERSION: &str = "proxy_http_version 1.1;";

/// Who remembers which states were used.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Guard {
    /// Nobody does.
    None,
    /// Each replica for itself.
    Memory,
    /// Both, in one file.
    File,
}

/// What there is to choose.
#[derive(Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) guard: Guard,
    /// Whether the tools `hold` and `stamp` are there.
    pub(crate) staged: bool,
    /// What stands in `proxy.conf` instead of the line with the version of HTTP.
    pub(crate) version: &'static str,
}

impl Setup {
    pub(crate) fn with(guard: Guard) -> Self {
        Self {
            guard,
            staged: false,
            version: VERSION,
        }
    }

    pub(crate) fn staged(mut self) -> Self {
        self.staged = true;
        self
    }

    pub(crate) fn version(mut self, line: &'static str) -> Self {
        self.version = line;
        self
    }
}

/// What every bench needs to know.
pub(crate) struct Place {
    /// A folder that is ours alone.
    pub(crate) folder: PathBuf,
    /// Where our programs are built.
    pub(crate) built: PathBuf,
    /// What `proxy.conf` says.
    pub(crate) site: String,
}

pub(crate) struct Bench {
    pub(crate) nginx: Nginx,
    replicas: [Option<Running>; 2],
    ports: [u16; 2],
    words: [Vec<String>; 2],
    /// Where the tools `hold` and `stamp` meet others.
    pub(crate) stage: PathBuf,
}

impl Bench {
    /// A new one, in a folder of its own.
    pub(crate) async fn start(place: &Place, setup: Setup) -> Result<Self, Box<dyn Error>> {
        let number = fs::read_dir(&place.folder)?.count();
        let folder = place.folder.join(format!("bench-{number}"));
        let stage = folder.join("stage");
        fs::create_dir_all(&stage)?;
        let ports = free_ports::<3>()?;
        let words = NAMES.map(|name| replica(place, setup, &folder, name));
        let mut replicas = [None, None];
        for (number, replica) in replicas.iter_mut().enumerate() {
            *replica = Some(process::serve(&words[number], ports[number + 1])?);
        }
        if !place.site.contains(VERSION) {
            return Err(format!("{VERSION} is not in proxy.conf").into());
        }
        let site = place.site.replace(VERSION, setup.version);
        Ok(Self {
            nginx: Nginx::start(&folder.join("nginx"), &site, ports).await?,
            replicas,
            ports: [ports[1], ports[2]],
            words,
            stage,
        })
    }

    /// A client of 2026-07-28, or of older times, whose questions wait for us.
    pub(crate) async fn client(&self, era: &str) -> Result<Connection, Box<dyn Error>> {
        let client = Client::new("antiphon-interop", "1.0")
            .by_hand([Kind::Form, Kind::Url, Kind::Sample, Kind::Roots])
            .era(match era {
                "modern" => Era::Pinned(Version::V2026_07_28),
                _ => Era::Legacy,
            });
        Ok(client.connect(Http::new(&self.nginx.url)).await?)
    }

    /// Ends a replica in the middle of whatever it does.
    pub(crate) fn kill(&mut self, number: usize) {
        self.replicas[number] = None;
    }

    /// Starts those again that are down, each on the port that it had.
    pub(crate) fn revive(&mut self) -> Result<(), Box<dyn Error>> {
        for number in 0..2 {
            if self.replicas[number].is_none() {
                let running = process::serve(&self.words[number], self.ports[number])?;
                self.replicas[number] = Some(running);
            }
        }
        Ok(())
    }

    /// How many rounds of calls to this name were answered.
    pub(crate) fn rounds(&self, name: &str) -> Result<usize, Box<dyn Error>> {
        let answered = self.nginx.answered()?;
        Ok(answered.iter().filter(|one| one.name == name).count())
    }

    /// The replicas that were tried for a round of the calls to this name, rounds counted from 0 since the
    /// bench was started. The last one answered.
    pub(crate) async fn tried(
        &self,
        name: &str,
        round: usize,
    ) -> Result<Vec<usize>, Box<dyn Error>> {
        let found = || {
            let answered = self.nginx.answered()?;
            let mut rounds = answered.into_iter().filter(|one| one.name == name);
            let round = rounds.nth(round).map(|found| found.tried);
            round.ok_or_else(|| format!("nginx tells of no such round of {name}").into())
        };
        soon(found).await
    }

    /// Who answered that round.
    pub(crate) async fn who(&self, name: &str, round: usize) -> Result<usize, Box<dyn Error>> {
        let tried = self.tried(name, round).await?;
        Ok(*tried.last().ok_or("nobody answered")?)
    }

    /// The replica with the first session that there was.
    pub(crate) async fn first_host(&self) -> Result<usize, Box<dyn Error>> {
        let first = || Ok(self.sessions()?.first().ok_or("there is no session")?.1);
        soon(first).await
    }

    /// Every session that a request was answered in, and by which replica.
    pub(crate) fn sessions(&self) -> Result<Vec<(String, usize)>, Box<dyn Error>> {
        let answered = self.nginx.answered()?.into_iter();
        Ok(answered
            // Once a session is gone, anybody may say so.
            .filter(|one| !one.session.is_empty() && one.status < 300)
            .filter_map(|one| Some((one.session.clone(), one.by()?)))
            .collect())
    }
}

/// What comes of it once nginx has written down what it did, which may be after the client has its answer.
pub(crate) async fn soon<T>(
    what: impl Fn() -> Result<T, Box<dyn Error>>,
) -> Result<T, Box<dyn Error>> {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if let Ok(came) = what() {
            return Ok(came);
        }
        sleep(Duration::from_millis(5)).await;
    }
    what()
}

/// The words that start a replica.
fn replica(place: &Place, setup: Setup, folder: &Path, name: &str) -> Vec<String> {
    let path = |path: PathBuf| path.to_string_lossy().into_owned();
    let mut words: Vec<_> = ["setpriv", "--pdeathsig", "KILL", "--"]
        .map(str::to_owned)
        .to_vec();
    words.push(path(place.built.join("antiphon-interop-server")));
    let guard = match setup.guard {
        Guard::None => "none".to_owned(),
        Guard::Memory => "memory".to_owned(),
        Guard::File => path(folder.join("states")),
    };
    let keys = path(place.folder.join("keys"));
    words.extend(["--replica", name, "--keys", &keys, "--guard", &guard].map(str::to_owned));
    if setup.staged {
        words.extend(["--stage".to_owned(), path(folder.join("stage"))]);
    }
    words
}
