//! The client of the grid, as `interop/CONTRACT.md` has it.
//!
//! `antiphon-interop-client --era modern|legacy --url URL CASE...`, or `CASE... -- COMMAND ARGS...`.

mod asking;
mod plain;
mod user;

use std::{
    error::Error,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use antiphon::{
    Client, Http, Stdio,
    client::{Connection, Era, Traffic},
    types::{LoggingLevel, Version},
};
use serde_json::json;
use tokio::time::timeout;

use user::User;

const PATIENCE: Duration = Duration::from_secs(20);

/// What came of a case; an error says why it failed.
type Done = Result<(), Box<dyn Error>>;

/// A server, and the user at this end.
struct Grid {
    server: Connection,
    user: User,
    /// How often resources were listed.
    lists: Arc<AtomicU32>,
}

impl Grid {
    async fn play(&self, case: &str) -> Done {
        match case {
            "list" => self.list().await,
            "tools" => self.tools().await,
            "unicode" => self.unicode().await,
            "structured" => self.structured().await,
            "large" => self.large().await,
            "progress" => self.progress().await,
            "log" => self.log().await,
            "cancel-call" => self.cancel_call().await,
            "pages" => self.pages().await,
            "read" => self.read().await,
            "complete" => self.complete().await,
            "prompt" => self.prompt().await,
            "changes" => self.changes().await,
            "form" => self.form().await,
            "accept" => self.accept().await,
            "decline" => self.decline().await,
            "cancel" => self.cancel().await,
            "url" => self.url().await,
            "sampling" => self.sampling().await,
            "roots" => self.roots().await,
            "together" => self.together().await,
            "rounds" => self.rounds().await,
            "state-only" => self.state_only().await,
            "prompt-asks" => self.prompt_asks().await,
            "template-asks" => self.template_asks().await,
            other => Err(format!("there is no case {other}").into()),
        }
    }

    fn is_modern(&self) -> bool {
        self.server.protocol_version() == Version::V2026_07_28
    }
}

/// What the command line says.
struct Given {
    era: Era,
    url: Option<String>,
    command: Vec<String>,
    cases: Vec<String>,
}

fn given() -> Option<Given> {
    let (mut era, mut url, mut cases) = (None, None, Vec::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--" => break,
            "--era" => {
                era = Some(match words.next()?.as_str() {
                    "modern" => Era::Pinned(Version::V2026_07_28),
                    "legacy" => Era::Legacy,
                    _ => return None,
                });
            }
            "--url" => url = Some(words.next()?),
            _ => cases.push(word),
        }
    }
    let command: Vec<_> = words.collect();
    let given = Given {
        era: era?,
        url,
        command,
        cases,
    };
    (given.url.is_some() == given.command.is_empty()).then_some(given)
}

async fn connect(given: &Given) -> Result<Grid, Box<dyn Error>> {
    let (user, lists) = (User::default(), Arc::new(AtomicU32::new(0)));
    let client = user.at(Client::new("antiphon-interop", "1.0"));
    let (listener, listed) = (user.clone(), lists.clone());
    let client = client
        .era(given.era)
        .on_log(LoggingLevel::Info, move |message| listener.hears(message))
        .on_traffic(move |traffic| {
            if let Traffic::Sent(message) = traffic
                && String::from_utf8_lossy(message).contains(r#""method":"resources/list""#)
            {
                listed.fetch_add(1, Relaxed);
            }
        });
    let server = match &given.url {
        Some(url) => client.connect(Http::new(url)).await?,
        None => {
            let mut command = Command::new(&given.command[0]);
            command.args(&given.command[1..]);
            client.connect(Stdio::spawn(command)).await?
        }
    };
    Ok(Grid {
        server,
        user,
        lists,
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: antiphon-interop-client --era modern|legacy --url URL CASE... | CASE... -- COMMAND ARGS...";
    let given = given().ok_or(usage)?;
    let grid = connect(&given).await?;
    for case in &given.cases {
        let done = timeout(PATIENCE, grid.play(case)).await;
        let done = done.unwrap_or_else(|_| Err("it did not end within 20 seconds".into()));
        println!(
            "{}",
            match done {
                Ok(()) => json!({ "case": case, "ok": true }),
                Err(why) => json!({ "case": case, "ok": false, "why": why.to_string() }),
            }
        );
    }
    grid.server.close().await;
    Ok(())
}
