//! [`Candidate`]: a server that is audited, and how it is started.

use std::{error::Error, fs, io, net::TcpListener};

use antiphon_interop::process::{Running, serve};
use serde::Deserialize;

use crate::Given;

/// Peers of the newest revision; the others are audited in the one before.
const MODERN: &str = "modern";

/// The peer whose server takes the tokens `one` and `two`: its SDK itself ties states to principals. With the
/// others that is for authors to do.
const WITH_TOKENS: &str = "Python 2";

/// A server.
pub(crate) struct Candidate {
    /// Its name and version.
    pub(crate) name: String,
    /// What starts it.
    words: Vec<String>,
    pub(crate) is_ours: bool,
    pub(crate) is_modern: bool,
    /// Whether there are two of it.
    has_replica: bool,
    /// Whether it knows the tokens `one` and `two`.
    pub(crate) has_tokens: bool,
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
        let shared = ["--tokens", "--keys", &text(&keys), "--guard", &text(&used)];
        let shared = shared.map(str::to_owned);
        let version = env!("CARGO_PKG_VERSION");
        let mut all = vec![
            Self {
                name: format!("Antiphon {version}"),
                words: vec![program.clone()],
                is_ours: true,
                is_modern: true,
                has_replica: false,
                has_tokens: false,
            },
            Self {
                name: format!("Antiphon {version}, two replicas, tokens"),
                words: [&[program][..], &shared].concat(),
                is_ours: true,
                is_modern: true,
                has_replica: true,
                has_tokens: true,
            },
        ];
        let Some(installed) = &given.installed else {
            return Ok(all);
        };
        let peers = given.here.join("peers.json");
        let peers =
            fs::read_to_string(&peers).map_err(|error| format!("{}: {error}", peers.display()))?;
        let peers: Vec<Peer> = serde_json::from_str(&peers)?;
        all.extend(peers.into_iter().map(|peer| {
            let whole = |word: &String| {
                let word = word.replace("{here}", &text(&given.here));
                word.replace("{installed}", &text(installed))
            };
            let has_tokens = peer.name.starts_with(WITH_TOKENS);
            let mut words: Vec<_> = peer.server.iter().map(whole).collect();
            words.extend(has_tokens.then(|| "--tokens".to_owned()));
            Self {
                name: peer.name,
                words,
                is_ours: false,
                is_modern: peer.eras.iter().any(|era| era == MODERN),
                has_replica: false,
                has_tokens,
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
