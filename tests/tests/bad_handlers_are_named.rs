//! Handlers that ask in a way that cannot work: the test kit fails with a message that names it, and
//! the client gets an error instead of a wrong answer.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, SystemTime},
};

use antiphon::{Ask, Form, Server, State, Stop, testing::Script};
use antiphon_tests::log::Log;
use serde_json::json;

#[derive(Form)]
struct Name {
    name: String,
}

type Counter = Arc<AtomicU32>;

/// A question made of the time.
async fn timestamp(ask: Ask) -> Result<String, Stop> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let Name { name } = ask.form("name", format!("Name, at {}?", now.as_nanos()))?;
    Ok(name)
}

/// Two questions under one key.
async fn clash(ask: Ask) -> Result<String, Stop> {
    let one = ask.form::<Name>("name", "First name?");
    let two = ask.form::<Name>("name", "Last name?");
    Ok(format!("{} {}", one?.name, two?.name))
}

/// The same question twice is one question.
async fn twice(ask: Ask) -> Result<String, Stop> {
    let one = ask.form::<Name>("name", "Name?");
    let two = ask.form::<Name>("name", "Name?");
    Ok(format!("{} {}", one?.name, two?.name))
}

/// Takes the `Stop` for an answer.
async fn swallowed(State(effects): State<Counter>, ask: Ask) -> Result<String, Stop> {
    let name = match ask.form::<Name>("name", "Name?") {
        Ok(Name { name }) => name,
        Err(_) => "nobody".to_owned(),
    };
    effects.fetch_add(1, Ordering::SeqCst);
    Ok(format!("Hello, {name}"))
}

/// Asks when it has returned.
async fn late(State(asked): State<Counter>, ask: Ask) -> &'static str {
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let stop = ask.form::<Name>("name", "Name?").err().expect("too late");
        assert!(stop.to_string().contains("`name`"), "{stop}");
        let done = ask.once("work", async || Ok(1)).await;
        assert!(done.is_err(), "too late");
        asked.fetch_add(1, Ordering::SeqCst);
    });
    "done"
}

/// Asks within `once`.
async fn within(ask: Ask) -> Result<String, Stop> {
    ask.once("work", async || {
        let Name { name } = ask.form("name", "Name?")?;
        Ok(name)
    })
    .await
}

/// Does two things under one key.
async fn once_twice(ask: Ask) -> Result<u32, Stop> {
    let one = ask.once("work", async || Ok(1)).await?;
    let two: u32 = ask.once("work", async || Ok(2)).await?;
    Ok(one + two)
}

/// What is done is not what can be read back.
async fn unreadable(ask: Ask) -> Result<String, Stop> {
    let number: f64 = ask.once("number", async || Ok(f64::NAN)).await?;
    Ok(format!("{number}"))
}

fn server(counter: &Counter) -> Server {
    Server::new("bad", "1.0")
        .tool("timestamp", timestamp)
        .tool("clash", clash)
        .tool("twice", twice)
        .tool("swallowed", swallowed)
        .tool("late", late)
        .tool("within", within)
        .tool("unreadable", unreadable)
        .tool("once_twice", |ask: Ask| async move {
            once_twice(ask).await.map(|sum| sum.to_string())
        })
        .with_state(counter.clone())
}

fn people() -> Script {
    let ada = json!({ "name": "Ada" });
    (0..6).fold(Script::new(), |script, _| {
        script.accept("name", ada.clone()).optional()
    })
}

/// What the test kit says about a tool; fails if it finds nothing wrong.
async fn found(server: &Server, tool: &'static str, people: Script) -> String {
    let server = server.clone();
    let play = tokio::spawn(async move { people.call_tool(&server, tool, ()).await.text() });
    let panic = play.await.expect_err("the kit finds it").into_panic();
    let text = panic.downcast_ref::<String>().expect("a text");
    text.clone()
}

#[tokio::test]
async fn the_test_kit_names_what_is_wrong() {
    let counter = Counter::default();
    let server = server(&counter);
    for (tool, parts) in [
        ("timestamp", &["`name`", "Name, at "][..]),
        ("clash", &["`name`", "clashes"]),
        ("swallowed", &["`name`", "swallowed"]),
        ("within", &["`name`", "within `once`"]),
        ("once_twice", &["`work`", "twice"]),
        ("unreadable", &["`number`", "read back"]),
    ] {
        let text = found(&server, tool, people()).await;
        for part in parts {
            assert!(text.contains(part), "{tool}: {part} is missing from {text}");
        }
    }
    let played = people().call_tool(&server, "twice", ()).await;
    assert_eq!(played.text(), "Ada Ada");
    played.assert_rounds([["name"]]);
}

/// Words that never settle are refused even where the kit is told to let them pass.
#[tokio::test]
async fn a_question_that_drifts_fails_after_two_more() {
    let server = server(&Counter::default());
    let text = found(&server, "timestamp", people().reworded("name")).await;
    assert!(text.contains("`name` drifts"), "{text}");
}

#[tokio::test]
async fn who_asks_late_is_found_by_the_next_who_looks() {
    let counter = Counter::default();
    let server = server(&counter);
    let played = Script::new().call_tool(&server, "late", ()).await;
    assert_eq!(played.text(), "done");
    while counter.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let looked = tokio::spawn(async move { Script::check_late(&server) });
    let panic = looked.await.expect_err("it is found").into_panic();
    let text = panic.downcast_ref::<String>().expect("a text");
    assert!(text.contains("`name`") && text.contains("late"), "{text}");
}

/// Without the kit: the call completes, and the log says so.
#[tokio::test]
async fn a_swallowed_question_is_told_to_the_log() {
    let (log, _guard) = Log::of_everything();
    let counter = Counter::default();
    let client = antiphon::Client::new("tests", "1.0")
        .by_hand([antiphon::Kind::Form])
        .connect(antiphon::memory(server(&counter)))
        .await
        .expect("connected");
    let result = client.call_tool("swallowed", ()).await.expect("a result");
    assert_eq!(result.first_text(), Some("Hello, nobody"));
    assert!(
        log.text().contains("`name` was swallowed"),
        "{}",
        log.text()
    );
    let error = client.call_tool("clash", ()).await.expect_err("an error");
    assert_eq!(error.code(), Some(-32603));
    assert!(error.to_string().contains("`name`"), "{error}");
}
