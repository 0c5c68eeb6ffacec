//! [`Peer`]: an SDK, with the programs that are built on it.

use std::{error::Error, fs, path::Path};

use serde::Deserialize;

use crate::cell::{End, Era, Transport};

/// An SDK; `interop/peers.json` has them all.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Peer {
    /// Its name and version.
    pub(crate) name: String,
    pub(crate) eras: Vec<Era>,
    /// The words that start its server. `{here}` is this folder, `{installed}` where peers are
    /// installed.
    pub(crate) server: Vec<String>,
    pub(crate) client: Vec<String>,
    /// What fails for a reason of its own.
    #[serde(default)]
    pub(crate) defects: Vec<Defect>,
}

/// A defect of a peer, and the cells it breaks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Defect {
    /// The script in `interop/defects` that shows it.
    pub(crate) file: String,
    /// The words that start that script, which shows it without any code of ours: it ends with 0 as
    /// long as the defect is there.
    pub(crate) script: Vec<String>,
    /// What is wrong.
    pub(crate) what: String,
    pub(crate) our_end: End,
    pub(crate) cases: Vec<String>,
    /// Whether it depends on how things fall out: then a cell may pass as well.
    #[serde(default)]
    pub(crate) sometimes: bool,
    /// Only in this era.
    pub(crate) era: Option<Era>,
    /// Only on this transport.
    pub(crate) transport: Option<Transport>,
}

impl Peer {
    pub(crate) fn read(here: &Path, installed: &Path) -> Result<Vec<Self>, Box<dyn Error>> {
        let path = here.join("peers.json");
        let text =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut peers: Vec<Self> =
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let [here, installed] = [here, installed].map(|path| path.to_string_lossy().into_owned());
        for peer in &mut peers {
            let scripts = peer.defects.iter_mut().map(|defect| &mut defect.script);
            for words in [&mut peer.server, &mut peer.client]
                .into_iter()
                .chain(scripts)
            {
                for word in words {
                    *word = word
                        .replace("{here}", &here)
                        .replace("{installed}", &installed);
                }
            }
        }
        Ok(peers)
    }
}

/// The programs that are built here.
pub(crate) struct Ours {
    pub(crate) server: Vec<String>,
    pub(crate) client: Vec<String>,
    pub(crate) tool: Vec<String>,
}

impl Ours {
    pub(crate) fn in_folder(built: &Path) -> Self {
        let program = |role: &str| {
            let path = built.join(format!("antiphon-interop-{role}"));
            vec![path.to_string_lossy().into_owned()]
        };
        Self {
            server: program("server"),
            client: program("client"),
            tool: program("tool"),
        }
    }
}
