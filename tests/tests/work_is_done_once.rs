//! `once`: what is done in one round and known in all later ones.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use antiphon::{Ask, Form, Server, State, Stop, testing::Script};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Form)]
struct Name {
    name: String,
}

#[derive(Clone, Default)]
struct App {
    effects: Arc<AtomicU32>,
    runs: Arc<AtomicU32>,
    keys: Arc<Mutex<Vec<String>>>,
}

impl App {
    fn effect(&self) -> u32 {
        self.effects.fetch_add(1, Ordering::SeqCst) + 1
    }
}

fn server(app: &App) -> Server {
    Server::new("once", "1.0")
        .tool("charge", charge)
        .tool("shared", shared)
        .tool("failing", failing)
        .tool("changed", changed)
        .tool("later", later)
        .with_state(app.clone())
}

fn names<const N: usize>(keys: [&str; N]) -> Script {
    keys.iter().fold(Script::new(), |script, key| {
        script.accept(*key, json!({ "name": format!("<{key}>") }))
    })
}

#[derive(Serialize, Deserialize)]
struct Charge {
    number: u32,
    rate: f64,
}

async fn charge(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let _: Name = ask.form("a", "A?")?;
    app.keys.lock().unwrap().push(ask.idempotency_key("charge"));
    let Charge { number, rate } = ask
        .once("charge", async || {
            tokio::task::yield_now().await;
            Ok(Charge {
                number: app.effect(),
                rate: 0.1,
            })
        })
        .await?;
    let _: Name = ask.form("b", format!("B after {number}?"))?;
    let _: Name = ask.form("c", "C?")?;
    Ok(format!("number {number} at {rate}"))
}

#[tokio::test]
async fn an_effect_happens_once_in_a_call_of_many_rounds() {
    let app = App::default();
    let server = server(&app);
    let people = names(["a", "b", "c"]);
    let played = people.call_tool(&server, "charge", ()).await;
    assert_eq!(played.text(), "number 1 at 0.1");
    assert_eq!(app.effects.load(Ordering::SeqCst), 1);
    let played = people.call_tool(&server, "charge", ()).await;
    assert_eq!(played.text(), "number 2 at 0.1", "another call");
    let keys = app.keys.lock().unwrap();
    let (one, two) = (&keys[..3], &keys[3..]);
    assert!(one.iter().all(|key| *key == one[0]), "{keys:?}");
    assert!(two.iter().all(|key| *key == two[0]), "{keys:?}");
    assert_ne!(one[0], two[0], "in another call it is another");
    assert!(one[0].len() == 32 && one[0].bytes().all(|byte| byte.is_ascii_hexdigit()));
}

async fn shared(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    // The first is done at once, before the second has begun to run.
    let one = ask.once("work", async || Ok(app.effect()));
    let two = ask.once("work", async || Ok(app.effect()));
    let (one, two) = tokio::join!(one, two);
    let slow = || async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        Ok(app.effect())
    };
    let (three, four) = tokio::join!(ask.once("slow", slow), ask.once("slow", slow));
    let _: Name = ask.form("a", "A?")?;
    Ok(format!("{} {} {} {}", one?, two?, three?, four?))
}

#[tokio::test]
async fn those_who_begin_together_share_one_run() {
    let app = App::default();
    let played = names(["a"]).call_tool(&server(&app), "shared", ()).await;
    assert_eq!(played.text(), "1 1 2 2");
    assert_eq!(app.effects.load(Ordering::SeqCst), 2);
}

/// Fails in its first run.
async fn failing(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let _: Name = ask.form("a", "A?")?;
    let first = app.runs.fetch_add(1, Ordering::SeqCst) == 0;
    let done = ask
        .once("work", async || match first {
            true => Err(Stop::fail("not today")),
            false => Ok(app.effect()),
        })
        .await;
    let _: Name = ask.form("b", "B?")?;
    Ok(format!("{:?}", done.map_err(|stop| stop.to_string())))
}

#[tokio::test]
async fn a_failure_is_not_remembered() {
    let app = App::default();
    let played = names(["a", "b"])
        .call_tool(&server(&app), "failing", ())
        .await;
    assert_eq!(played.text(), "Ok(1)");
}

/// Asks something else once the work is done.
async fn changed(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let run = app.runs.fetch_add(1, Ordering::SeqCst);
    let words = if run < 2 { "before" } else { "after" };
    let _: Name = ask.form("a", words)?;
    let number = ask.once("work", async || Ok(app.effect())).await?;
    let _: Name = ask.form("b", "B?")?;
    Ok(format!("{number}"))
}

/// Work that was done upon an answer is neither done again nor used upon another answer.
#[tokio::test]
async fn an_answer_that_work_was_done_upon_does_not_change() {
    let app = App::default();
    let people = names(["a", "b"]).reworded("a");
    let played = people.call_tool(&server(&app), "changed", ()).await;
    let failure = played.failure();
    assert!(
        failure.contains("`a`") && failure.contains("call again"),
        "{failure}"
    );
    assert_eq!(app.effects.load(Ordering::SeqCst), 1);
}

async fn later(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let job = ask.once("start", async || Ok(app.effect())).await?;
    if ask.round() < 40 {
        ask.later(Duration::from_millis(1))?;
    }
    let Name { name } = ask.form("a", "A?")?;
    Ok(format!("job {job} for {name} after {} rounds", ask.round()))
}

/// Rounds that ask nothing count against no limit but that of time.
#[tokio::test]
async fn a_handler_may_have_its_client_come_back() {
    let app = App::default();
    let played = names(["a"]).call_tool(&server(&app), "later", ()).await;
    assert_eq!(played.text(), "job 1 for <a> after 41 rounds");
    assert_eq!(app.effects.load(Ordering::SeqCst), 1);
}
