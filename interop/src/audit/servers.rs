//! [`Candidate`]: a server that is audited, and how it is started.

use std::{error::Error, fs, io, net::TcpListener};

use antiphon_interop::process::{Running, serve};
use serde::Deserialize;

use crate::Given;

/// The peers that are audited: those of the newest revision.
const MODERN: &str = "modern";

/// A server.
pub(crate) struct Candidate {
    /// Its name and version.
    pub(crate) name: String,
    /// What starts it.
    words: Vec<String>,
    pub(crate) is_ours: bool,
    /// Whether there are two of it.
    has_replica: bool,
}

/// What `interop/peers.json` says that matters here.
#[derive(Deserialize)]
struct Peer {
    name: String,
    eras: Vec<String>,
    server: Vec<String>,
}

impl Candidate {
    /// Ours, and those of the peers if they are installed.
    pub(crate) fn all(given: &Given) -> Result<Vec<Self>, Box<dyn Error>> {
        let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let program = text(&given.built.join("antiphon-interop-server"));
        let (keys, used) = (given.folder.join("keys"), given.folder.join("used"));
        let shared = ["--keys", &text(&keys), "--guard", &text(&used)].map(str::to_owned);
        let version = env!("CARGO_PKG_VERSION");
        let mut all = vec![
            Self {
                name: format!("Antiphon {version}"),
                words: vec![program.clone()],
                is_ours: true,
                has_replica: false,
            },
            Self {
                name: format!("Antiphon {version}, two replicas"),
                words: [&[program][..], &shared].concat(),
                is_ours: true,
                has_replica: true,
            },
        ];
        let Some(installed) = &given.installed else {
            return Ok(all);
        };
        let peers = given.here.join("peers.json");
        let peers =
            fs::read_to_string(&peers).map_err(|error| format!("{}: {error}", peers.display()))?;
        let peers: Vec<Peer> = serde_json::from_str(&peers)?;
        let modern = peers
            .into_iter()
            .filter(|peer| peer.eras.iter().any(|era| era == MODERN));
        all.extend(modern.map(|peer| {
            let whole = |word: &String| {
                let word = word.replace("{here}", &text(&given.here));
                word.replace("{installed}", &text(installed))
            };
            Self {
                name: peer.name,
                words: peer.server.iter().map(whole).collect(),
                is_ours: false,
                has_replica: false,
            }
        }));
        Ok(all)
    }

    /// Starts it: where it listens, and where its replica does.
    pub(crate) fn start(&self) -> io::Result<(Vec<Running>, Vec<String>)> {
        let (mut running, mut urls) = (Vec::new(), Vec::new());
        for _ in 0..1 + usize::from(self.has_replica) {
            let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
            running.push(serve(&self.words, port)?);
            urls.push(format!("http://127.0.0.1:{port}/mcp"));
        }
        Ok((running, urls))
    }
}
