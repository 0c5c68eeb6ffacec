//! [`Replica`]: what a server has to know that is one of several. See `interop/proxy`.

use std::{
    error::Error,
    fs::{self, OpenOptions},
    io::Write,
    path::PathBuf,
    time::Duration,
};

use antiphon::{
    Ask, Form, Progress, Server, Stop, Tool,
    auth::{Principal, StaticTokens},
    http::{HttpService, Sessions},
    sealing::{KeyRing, Sealing},
};

use crate::turns::Turns;

/// Who remembers which states were used.
enum Guard {
    Nobody,
    /// Each replica for itself.
    Memory,
    /// All of them, in one file.
    File(PathBuf),
}

/// What the options say; without any, there is but one server.
#[derive(Default)]
pub(crate) struct Replica {
    /// `--replica NAME`: what it is called.
    name: Option<String>,
    /// `--keys FILE`: the keys of all of them.
    keys: Option<PathBuf>,
    /// `--guard none|memory|FILE`.
    guard: Option<Guard>,
    /// `--tokens`: only with the token `one` or `two`, which are those of two principals.
    has_tokens: bool,
    /// `--stage FOLDER`: adds the tools `hold` and `stamp`, which meet others there.
    stage: Option<PathBuf>,
}

impl Replica {
    /// The options, and all other words.
    pub(crate) fn given(
        mut words: impl Iterator<Item = String>,
    ) -> Result<(Self, Vec<String>), String> {
        let (mut replica, mut rest) = (Self::default(), Vec::new());
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--replica" => replica.name = Some(value()?),
                "--keys" => replica.keys = Some(value()?.into()),
                "--guard" => {
                    replica.guard = Some(match value()?.as_str() {
                        "none" => Guard::Nobody,
                        "memory" => Guard::Memory,
                        file => Guard::File(file.into()),
                    });
                }
                "--tokens" => replica.has_tokens = true,
                "--stage" => replica.stage = Some(value()?.into()),
                _ => rest.push(word),
            }
        }
        Ok((replica, rest))
    }

    pub(crate) fn seal<S: Clone + Send + Sync + 'static>(
        &self,
        server: Server<S>,
    ) -> Result<Server<S>, Box<dyn Error>> {
        let Some(keys) = &self.keys else {
            return Ok(server);
        };
        let sealing = Sealing::keys(KeyRing::from_file(keys)?).audience("ensemble");
        Ok(server.sealing(match &self.guard {
            // Of several replicas this is refused, and rightly so: it is here to show why.
            Some(Guard::Memory) | None => sealing,
            Some(Guard::Nobody) => sealing.replicas(2).replayable(),
            Some(Guard::File(path)) => sealing.replicas(2).single_use(Turns::at(path)),
        }))
    }

    /// What it has to know of the requests that it is sent.
    pub(crate) fn serve(&self, service: HttpService) -> HttpService {
        let service = match &self.name {
            Some(name) => service.sessions(Sessions::new().replica(name)),
            None => service,
        };
        if !self.has_tokens {
            return service;
        }
        let [one, two] = ["Ada", "Bob"].map(Principal::subject);
        service.verifier(StaticTokens::new().token("one", one).token("two", two))
    }

    pub(crate) fn add<S: Clone + Send + Sync + 'static>(&self, server: Server<S>) -> Server<S> {
        let Some(stage) = &self.stage else {
            return server;
        };
        let name = self.name.clone().unwrap_or_default();
        let (stage, stamps) = (stage.clone(), stage.join("stamps"));
        let hold = move |progress: Progress| hold(progress, stage.clone());
        let stamp = move |ask: Ask| stamp(ask, stamps.clone(), name.clone());
        server
            .add(Tool::new("hold", hold).description("Reports, and waits to be released"))
            .add(Tool::new("stamp", stamp).description("Asks, and stamps what all can see"))
    }
}

/// Reports three times. Each time it waits until somebody who heard of it makes a file of that number.
async fn hold(progress: Progress, stage: PathBuf) -> &'static str {
    for step in 1..=3 {
        progress.report_with(step, Some(3), "held");
        let heard = stage.join(step.to_string());
        while !heard.exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    "released"
}

#[derive(Form)]
struct Sure {
    ok: bool,
}

/// Leaves a line that says who did it: `stamp N by NAME`.
async fn stamp(ask: Ask, stamps: PathBuf, name: String) -> Result<String, Stop> {
    let Sure { ok } = ask.form("sure", "Stamp it?")?;
    if !ok {
        return Ok("refused".to_owned());
    }
    let mut file = OpenOptions::new().create(true).append(true).open(&stamps)?;
    writeln!(file, "{name}")?;
    let number = fs::read_to_string(&stamps)?.lines().count();
    Ok(format!("stamp {number} by {name}"))
}
