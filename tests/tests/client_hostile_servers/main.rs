//! Servers that misbehave. Whatever they send, and whenever they stop, a call ends in an error that
//! says what is wrong, in time, in bounds, and without a request that is not due.

mod http;
mod listens;
mod lists;
mod messages;
mod processes;
mod schemas;

use std::{
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use antiphon::{
    Client,
    client::{
        CallTool, Change, Clock, Connection, Error, ErrorKind, Event, Http, Negotiated, Stdio,
        Subscription,
    },
    types::{Root, SubscriptionFilter, Version},
};
use antiphon_tests::{
    rogue::{Act, Framing, Rogue, Running, result_of},
    script::{asking, respond, script},
    socket::Socket,
    way::Sent,
};
use serde_json::{Value, json};
use tokio::{
    task::{JoinError, JoinSet},
    time::timeout,
};

use Act::{Chatter, Die, Drip, Flood, Hold, Say, Wait, Write};

/// What a server has for one request.
const WORK: Duration = Duration::from_millis(600);

/// When a clock of that must have rung, even on a busy machine.
const SOON: Duration = Duration::from_secs(5);

/// Far longer than anything here takes: what takes longer has found a hang.
const BUDGET: Duration = Duration::from_secs(30);

/// The longest message that is read.
const LIMIT: usize = 8 << 20;

/// The rounds that are answered.
const ROUNDS: u32 = 2;

/// A client that agrees to everything, and what it is told.
fn client() -> (Client, Events) {
    let events = Events::default();
    let log = events.clone();
    let client = Client::new("tests", "1.0")
        .work_timeout(BUDGET)
        .poll_timeout(WORK)
        .human_timeout(BUDGET)
        .max_rounds(ROUNDS)
        .on_form(|form| async move { form.accept(json!({ "ok": true })) })
        .on_roots(|roots| async move { roots.list([Root::new("file:///srv")]) })
        .on_event(move |event| log.note(event));
    (client, events)
}

/// What belongs to no call, in short.
#[derive(Clone, Default)]
struct Events(Arc<Mutex<Vec<String>>>);

impl Events {
    fn note(&self, event: &Event) {
        let mut events = self.0.lock().expect("unpoisoned");
        // A flood is not to be kept.
        if events.len() < 100 {
            events.push(match event {
                Event::Message(message) => String::from_utf8_lossy(message).into_owned(),
                Event::Noise(text) => format!("noise: {text}"),
                other => format!("{other:?}"),
            });
        }
    }

    fn any(&self, part: &str) -> bool {
        let events = self.0.lock().expect("unpoisoned");
        events.iter().any(|event| event.contains(part))
    }
}

/// How something ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    Done,
    Decode,
    Transport,
    TimedOut(Clock),
    Rounds,
    Unsupported,
    Protocol(i64),
    Status(u16),
    Version,
    Other(String),
}

const LATE: End = End::TimedOut(Clock::Work);

impl End {
    fn of<T>(outcome: &Result<T, Error>) -> Self {
        let Err(error) = outcome else {
            return Self::Done;
        };
        // Whoever reads it sees what happened, and nothing that the server wants them to see.
        let text = error.to_string();
        assert!(text.len() < 4_000, "{} bytes: {text:.300}", text.len());
        assert!(!text.contains('\u{1b}'), "{text:?}");
        match error.kind() {
            ErrorKind::Decode | ErrorKind::SchemaMismatch(_) => Self::Decode,
            ErrorKind::Transport => Self::Transport,
            ErrorKind::TimedOut { clock, .. } => Self::TimedOut(*clock),
            ErrorKind::RoundsExceeded(_) => Self::Rounds,
            ErrorKind::Unsupported { .. } => Self::Unsupported,
            ErrorKind::Protocol(object) => Self::Protocol(object.code),
            ErrorKind::Status(status) => Self::Status(*status),
            ErrorKind::Version { .. } => Self::Version,
            other => Self::Other(format!("{other:?}")),
        }
    }
}

/// A server, on the way that it is reached.
struct Met {
    client: Client,
    events: Events,
    sent: Sent,
    rogue: Rogue,
    limit: usize,
    running: Option<Running>,
}

impl Met {
    async fn new(rogue: Rogue, framing: Framing) -> Self {
        let (client, events) = client();
        let running = match framing {
            Framing::Lines => None,
            Framing::Json | Framing::Events => Some(Running::start(rogue.clone(), framing).await),
        };
        Self {
            client,
            events,
            sent: Sent::default(),
            rogue,
            limit: LIMIT,
            running,
        }
    }

    async fn connect(&self) -> Result<Connection, Error> {
        match &self.running {
            Some(running) => {
                self.client
                    .connect(self.sent.watch(self.http(running)))
                    .await
            }
            None => {
                self.client
                    .connect(self.sent.watch(child(&self.rogue)))
                    .await
            }
        }
    }

    async fn connect_as(&self, known: Negotiated) -> Result<Connection, Error> {
        match &self.running {
            Some(running) => self.client.connect_as(self.http(running), known).await,
            None => self.client.connect_as(child(&self.rogue), known).await,
        }
    }

    fn http(&self, running: &Running) -> Http {
        Http::new(&running.url).max_message_bytes(self.limit)
    }

    /// How many requests of a method were sent; no more than that may arrive.
    fn requests(&self, method: &str) -> usize {
        let count = |methods: Vec<String>| methods.iter().filter(|other| *other == method).count();
        let sent = count(self.sent.take());
        if let Some(running) = &self.running {
            // What was given up may not have got that far.
            let arrived = count(running.requests());
            assert!(arrived <= sent, "{sent} were sent, and {arrived} arrived");
        }
        sent
    }
}

/// The rogue in a process of its own.
fn child(rogue: &Rogue) -> Stdio {
    let mut command = Command::new(env!("CARGO_BIN_EXE_antiphon-tests-rogue"));
    command.arg(serde_json::to_string(rogue).expect("JSON"));
    spawn(command)
}

/// A shell that plays the server.
fn shell(script: &str) -> Stdio {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    spawn(command)
}

fn spawn(command: Command) -> Stdio {
    Stdio::spawn(command)
        .max_message_bytes(LIMIT)
        .grace(Duration::from_millis(200))
}

/// Closes a connection, which must not take for ever either.
async fn close(connection: Connection) {
    timeout(BUDGET, connection.close())
        .await
        .expect("it closes");
}

/// A notification.
fn notification(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{{{params}}}}}"#)
}

/// Progress of the request with this token.
fn progress(token: &str) -> String {
    notification(
        "progress",
        &format!(r#""progressToken":{token},"progress":1"#),
    )
}

/// A refusal.
fn refused(code: i64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":$ID,"error":{{"code":{code},"message":"no"}}}}"#)
}

/// Runs many at a time, each of which has the budget.
async fn each<T: Send + 'static, F: Future<Output = ()> + Send + 'static>(
    all: impl IntoIterator<Item = T>,
    run: impl Fn(T) -> F,
) {
    let mut running = JoinSet::new();
    let mut failed = 0;
    let mut count = |done: Option<Result<(), JoinError>>| {
        // What went wrong is told already.
        failed += usize::from(!matches!(done, Some(Ok(()))));
    };
    for one in all {
        if running.len() == 6 {
            count(running.join_next().await);
        }
        running.spawn(run(one));
    }
    while let Some(done) = running.join_next().await {
        count(Some(done));
    }
    assert_eq!(failed, 0, "see above");
}
