//! What asks nobody.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use antiphon::{
    Args, Json, Logger, Progress, Prompt, Resource, Server, State, Tool,
    schemars::{self, JsonSchema},
};
use serde::{Deserialize, Serialize};

/// What the tools share.
#[derive(Clone, Default)]
pub(crate) struct Ensemble {
    /// Whether a sleep was cancelled.
    woken: Arc<AtomicBool>,
    /// How often the note was touched.
    touched: Arc<AtomicU32>,
}

type Unfinished = Server<Ensemble>;

const NOTE: &str = "note://today";

pub(crate) fn add(server: Unfinished) -> Unfinished {
    let mut server = server
        .add(Tool::new("echo", echo).description("Says the same"))
        .add(Tool::new("add", sum).description("Adds two numbers"))
        .add(Tool::new("size", size).description("Takes an argument of another alphabet"))
        .add(Tool::new("count", count).description("Counts, and says how far it is"))
        .add(Tool::new("log", log).description("Logs twice"))
        .add(Tool::new("sleep", sleep).description("Sleeps until it is cancelled"))
        .add(Tool::new("slept", slept).description("Says whether a sleep was cancelled"))
        .add(Tool::new("touch", touch).description("Changes the note"))
        .add(
            Prompt::new("greet", greet)
                .description("A greeting")
                .choices("style", ["formal", "friendly", "funny"]),
        )
        .add(Prompt::new("grüße_東京", size).description("Has a name of another alphabet"));
    for number in 0..25 {
        let item = move || async move { format!("item {number}") };
        server = server
            .add(Resource::new(format!("item://{number}"), item).name(format!("item {number}")));
    }
    server.add(Resource::new(NOTE, note).name("today").watched())
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

async fn echo(Args(Echo { text }): Args<Echo>) -> String {
    text
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

async fn sum(Args(Add { a, b }): Args<Add>) -> Json<Sum> {
    Json(Sum { sum: a + b })
}

#[derive(Deserialize, JsonSchema)]
struct Size {
    #[serde(rename = "größe")]
    size: String,
}

async fn size(Args(Size { size }): Args<Size>) -> String {
    format!("größe: {size}")
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    to: u32,
}

async fn count(Args(Count { to }): Args<Count>, progress: Progress) -> String {
    for step in 1..=to {
        progress.report_with(step, Some(to), format!("step {step}"));
        // Some clients read a stream in pieces; the pieces should differ.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    format!("counted {to}")
}

async fn log(logger: Logger) -> &'static str {
    let logger = logger.named("ensemble");
    logger.info("one");
    logger.warning("two");
    "logged"
}

/// Notes that whoever slept was woken, unless they woke by themselves.
struct Sleeper(Option<Arc<AtomicBool>>);

impl Drop for Sleeper {
    fn drop(&mut self) {
        if let Some(woken) = &self.0 {
            woken.store(true, SeqCst);
        }
    }
}

async fn sleep(State(ensemble): State<Ensemble>) -> &'static str {
    let mut sleeper = Sleeper(Some(ensemble.woken));
    tokio::time::sleep(Duration::from_secs(30)).await;
    sleeper.0 = None;
    "slept for 30 seconds"
}

async fn slept(State(ensemble): State<Ensemble>) -> &'static str {
    match ensemble.woken.swap(false, SeqCst) {
        true => "cancelled",
        false => "not cancelled",
    }
}

async fn touch(State(ensemble): State<Ensemble>, server: Server) -> &'static str {
    ensemble.touched.fetch_add(1, SeqCst);
    server.notify_resource_updated(NOTE);
    "touched"
}

async fn note(State(ensemble): State<Ensemble>) -> String {
    format!("version {}", 1 + ensemble.touched.load(SeqCst))
}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    name: String,
    style: String,
}

async fn greet(Args(Greet { name, style }): Args<Greet>) -> String {
    format!("Write a {style} greeting to {name}.")
}
