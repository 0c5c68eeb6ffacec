//! The server that a soak is run against: `--http PORT` or `--stdio`, `--ttl SECONDS`, and `--leak
//! KIND` for a server that the soak must find fault with. In all else it is as servers are by
//! default.

use std::{
    fs::File,
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

use antiphon::{
    Answer, Args, Ask, Form, Json, Messages, Progress, Resource, Server, State, Stop,
    http::{self, HttpService, Sessions},
    legacy::Shim,
    schemars::{self, JsonSchema},
    sealing::Sealing,
};
use clap::{Parser, ValueEnum};
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;

/// What clients watch.
const NOTE: &str = "note://today";

/// Serve what a soak calls.
#[derive(Parser)]
struct Options {
    /// The port of the machine itself to listen on.
    #[arg(long, required_unless_present = "stdio")]
    http: Option<u16>,
    /// Serve standard input and output instead.
    #[arg(long)]
    stdio: bool,
    /// How long states are good, sessions may be idle, answers may take, and ended streams are kept.
    #[arg(long, default_value_t = 20)]
    ttl: u64,
    /// Lose something with every echo.
    #[arg(long, hide = true)]
    leak: Option<Leak>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Leak {
    Tasks,
    Memory,
    Descriptors,
}

/// What handlers know.
#[derive(Clone)]
struct Host {
    leak: Option<Leak>,
    lost: Arc<Mutex<Lost>>,
    /// What HTTP is served by, if it is.
    service: Arc<OnceLock<HttpService>>,
}

#[derive(Default)]
struct Lost {
    memory: Vec<Box<[u8]>>,
    files: Vec<File>,
}

impl Host {
    fn lose(&self) {
        let Some(leak) = self.leak else { return };
        let mut lost = self.lost.lock().expect("nobody panics here");
        match leak {
            Leak::Tasks => drop(tokio::spawn(std::future::pending::<()>())),
            Leak::Memory => lost.memory.push(vec![1; 16 << 10].into()),
            Leak::Descriptors => lost.files.extend(File::open("/dev/null")),
        }
    }
}

/// Returns its text.
#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

async fn echo(Args(Echo { text }): Args<Echo>, State(host): State<Host>) -> String {
    host.lose();
    text
}

/// Sleeps.
#[derive(Deserialize, JsonSchema)]
struct Slow {
    ms: u64,
}

async fn slow(Args(Slow { ms }): Args<Slow>) -> String {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    format!("slept {ms}")
}

/// Says how far it is, again and again.
#[derive(Deserialize, JsonSchema)]
struct Count {
    to: u32,
    /// Between two steps.
    ms: u64,
}

async fn count(Args(Count { to, ms }): Args<Count>, progress: Progress) -> String {
    for step in 1..=to {
        progress.report_of(step, to);
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
    format!("counted {to}")
}

/// Runs an action once the user has agreed.
#[derive(Deserialize, JsonSchema)]
struct Confirm {
    action: String,
    /// How long the action takes.
    #[serde(default)]
    ms: u64,
}

#[derive(Form)]
struct Agreed {
    ok: bool,
}

async fn confirm(Args(Confirm { action, ms }): Args<Confirm>, ask: Ask) -> Result<String, Stop> {
    let Answer::Accept(Agreed { ok: true }) = ask.form("confirm", format!("Run {action}?"))? else {
        return Ok("refused".to_owned());
    };
    if ms > 0 {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
    Ok(format!("done: {action}"))
}

/// Changes the note.
async fn touch(server: Server) -> &'static str {
    server.notify_resource_updated(NOTE);
    "touched"
}

/// What the server holds.
#[derive(Serialize, JsonSchema)]
struct Stats {
    tasks: usize,
    sessions: usize,
    event_bytes: usize,
}

async fn stats(State(host): State<Host>) -> Json<Stats> {
    let sessions = host.service.get().map(HttpService::session_counts);
    let sessions = sessions.unwrap_or_default();
    Json(Stats {
        tasks: Handle::current().metrics().num_alive_tasks(),
        sessions: sessions.open,
        event_bytes: sessions.event_bytes,
    })
}

/// Asks for a text about something.
#[derive(Deserialize, JsonSchema)]
struct Brief {
    topic: String,
}

async fn brief(Args(Brief { topic }): Args<Brief>) -> Messages {
    Messages::new().user(format!("Write about {topic}."))
}

async fn note() -> &'static str {
    "Nothing to do."
}

fn server(host: Host, ttl: Duration) -> Server {
    Server::new("soak", "1.0.0")
        .tool("echo", echo)
        .tool("slow", slow)
        .tool("count", count)
        .tool("confirm", confirm)
        .tool("touch", touch)
        .tool("stats", stats)
        .prompt("brief", brief)
        .add(Resource::new(NOTE, note).watched())
        .sealing(Sealing::process_key().ttl(ttl))
        .shim(Shim::new().answer_timeout(ttl))
        .with_state(host)
}

#[tokio::main(worker_threads = 2)]
async fn main() -> std::io::Result<()> {
    let options = Options::parse();
    let ttl = Duration::from_secs(options.ttl);
    let host = Host {
        leak: options.leak,
        lost: Arc::default(),
        service: Arc::default(),
    };
    let server = server(host.clone(), ttl);
    let Some(port) = options.http else {
        return antiphon::stdio::serve(server).await;
    };
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    let service = http::service(server).sessions(Sessions::new().idle(ttl).replay(ttl));
    _ = host.service.set(service.clone());
    http::serve(listener, service).await
}
