//! What goes wrong while a question is out.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon::{Ask, Form, Server, Stop, legacy::Shim, raw::Endpoint};
use antiphon_tests::{
    older::{Older, accept, never},
    until,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[derive(Form)]
struct Name {
    name: String,
}

struct Desk {
    endpoint: Endpoint,
    runs: Arc<AtomicUsize>,
    done: Arc<AtomicUsize>,
}

impl Desk {
    fn new(shim: Shim) -> Self {
        let (runs, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (running, doing) = (runs.clone(), done.clone());
        let server: Server = Server::new("desk", "1.0")
            .tool("two", move |ask: Ask| {
                let (running, doing) = (running.clone(), doing.clone());
                async move {
                    running.fetch_add(1, Ordering::SeqCst);
                    let one = ask.form::<Name>("one", "One?");
                    let other = ask.form::<Name>("other", "Other?");
                    let text = format!("{} {}", one?.name, other?.name);
                    doing.fetch_add(1, Ordering::SeqCst);
                    Ok::<_, Stop>(text)
                }
            })
            .shim(shim);
        Self {
            endpoint: server.into(),
            runs,
            done,
        }
    }
}

fn reply(asked: &Value, name: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": asked["id"],
        "result": {"action": "accept", "content": {"name": name}}})
}

/// wire.md 11, step 7: cancelling the call withdraws its questions, and answers to them are late.
#[tokio::test]
async fn a_call_that_is_cancelled_withdraws_its_questions() {
    let desk = Desk::new(Shim::new());
    let mut older = Older::open(desk.endpoint.clone(), "2025-11-25").await;
    let id = older.begin("tools/call", json!({"name": "two"})).await;
    let (one, other) = (older.hear().await, older.hear().await);
    older.say(&reply(&one, "a")).await;
    older
        .notify("notifications/cancelled", json!({"requestId": id}))
        .await;
    let withdrawn = older.hear().await;
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], other["id"]);
    older.say(&reply(&other, "b")).await;
    assert_eq!(older.hear_at_once().await, None);
    assert_eq!(desk.done.load(Ordering::SeqCst), 0);
    until(|| desk.endpoint.calls() == 0).await;
    assert_eq!(desk.endpoint.waiting_calls(), 0);
}

/// Twice, for nothing, in the wrong type: an answer counts once.
#[tokio::test]
async fn answers_that_nobody_waits_for_change_nothing() {
    let desk = Desk::new(Shim::new());
    let mut older = Older::open(desk.endpoint.clone(), "2025-11-25").await;
    let id = older.begin("tools/call", json!({"name": "two"})).await;
    let (one, other) = (older.hear().await, older.hear().await);
    let text = one["id"].to_string();
    older
        .say(&json!({"jsonrpc": "2.0", "id": text, "result": {"action": "cancel"}}))
        .await;
    older
        .say(&json!({"jsonrpc": "2.0", "id": 999, "result": {"action": "cancel"}}))
        .await;
    older
        .say(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": ""}}))
        .await;
    older.say(&reply(&one, "a")).await;
    older.say(&reply(&one, "z")).await;
    older.say(&reply(&other, "b")).await;
    older.say(&reply(&other, "z")).await;
    let response = older.hear().await;
    assert_eq!(response["id"], id);
    assert_eq!(response["result"]["content"][0]["text"], "a b");
    assert_eq!(desk.done.load(Ordering::SeqCst), 1);
}

/// An answer of another session is none here.
#[tokio::test]
async fn an_answer_counts_only_in_its_session() {
    let desk = Desk::new(Shim::new());
    let mut asked = Older::open(desk.endpoint.clone(), "2025-11-25").await;
    let other = Older::open(desk.endpoint.clone(), "2025-11-25").await;
    asked.begin("tools/call", json!({"name": "two"})).await;
    let (one, two) = (asked.hear().await, asked.hear().await);
    for question in [&one, &two] {
        other.say(&reply(question, "thief")).await;
    }
    assert_eq!(asked.hear_at_once().await, None);
    for question in [&one, &two] {
        asked.say(&reply(question, "me")).await;
    }
    assert_eq!(asked.hear().await["result"]["content"][0]["text"], "me me");
}

#[tokio::test]
async fn nobody_is_waited_for_without_end() {
    let desk = Desk::new(Shim::new().answer_timeout(Duration::from_millis(100)));
    let mut older = Older::open(desk.endpoint.clone(), "2025-11-25").await;
    let id = older.begin("tools/call", json!({"name": "two"})).await;
    let (one, other) = (older.hear().await, older.hear().await);
    older.say(&reply(&one, "a")).await;
    let withdrawn = older.hear().await;
    assert_eq!(withdrawn["params"]["requestId"], other["id"]);
    let response = older.hear().await;
    assert_eq!(
        (&response["id"], &response["result"]["isError"]),
        (&json!(id), &json!(true))
    );
    let text = response["result"]["content"][0]["text"]
        .as_str()
        .expect("a text");
    assert!(text.contains("`other`"), "{text}");
    // Late.
    older.say(&reply(&other, "b")).await;
    assert_eq!(older.hear_at_once().await, None);
    assert_eq!(desk.runs.load(Ordering::SeqCst), 1);
}

/// All rounds together have an end, too.
#[tokio::test]
async fn a_whole_call_has_its_time() {
    let desk = Desk::new(Shim::new().call_timeout(Duration::from_millis(100)));
    let mut older = Older::open(desk.endpoint.clone(), "2025-11-25").await;
    older.begin("tools/call", json!({"name": "two"})).await;
    let (_, _) = (older.hear().await, older.hear().await);
    let mut last = older.hear().await;
    while last.get("method").is_some() {
        last = older.hear().await;
    }
    assert_eq!(last["result"]["isError"], true);
}

#[tokio::test]
async fn so_many_calls_wait_and_no_more() {
    let desk = Desk::new(Shim::new().waiting_calls(1));
    let mut first = Older::open(desk.endpoint.clone(), "2025-11-25").await;
    let mut second = Older::open(desk.endpoint.clone(), "2025-11-25").await;
    let id = first.begin("tools/call", json!({"name": "two"})).await;
    let (one, other) = (first.hear().await, first.hear().await);
    assert_eq!(desk.endpoint.waiting_calls(), 1);
    let (_, refused) = second.call("two", json!({}), never).await;
    assert_eq!(refused["result"]["isError"], true);
    first.say(&reply(&one, "a")).await;
    first.say(&reply(&other, "b")).await;
    assert_eq!(first.hear().await["id"], id);
    let (_, response) = second
        .call("two", json!({}), |_| accept(json!({"name": "c"})))
        .await;
    assert_eq!(response["result"]["content"][0]["text"], "c c");
}

/// A client that is gone leaves nothing behind.
#[tokio::test]
async fn a_client_that_leaves_takes_its_calls_along() {
    let desk = Desk::new(Shim::new());
    let mut older = Older::open(desk.endpoint.clone(), "2025-11-25").await;
    older.begin("tools/call", json!({"name": "two"})).await;
    older.hear().await;
    assert_eq!(desk.endpoint.waiting_calls(), 1);
    drop(older);
    until(|| desk.endpoint.waiting_calls() == 0 && desk.endpoint.calls() == 0).await;
    assert_eq!(desk.done.load(Ordering::SeqCst), 0);
}

/// An answer that does not fit is asked again, as everywhere.
#[tokio::test]
async fn what_does_not_fit_is_asked_again() {
    let desk = Desk::new(Shim::new());
    let mut older = Older::open(desk.endpoint.clone(), "2025-06-18").await;
    let mut tries = 0;
    let (said, response) = older
        .call("two", json!({}), |asked| {
            if asked["params"]["message"]
                .as_str()
                .is_some_and(|text| text.starts_with("One?"))
                && tries == 0
            {
                tries += 1;
                return Ok(json!("yes"));
            }
            accept(json!({"name": "x"}))
        })
        .await;
    assert_eq!(response["result"]["content"][0]["text"], "x x");
    assert_eq!(said.len(), 3);
}

/// On stdio too: whoever closes the pipe while a question is out gets an end, and soon.
#[tokio::test]
async fn the_end_of_the_input_ends_what_waits() {
    let desk = Desk::new(Shim::new());
    let (client, server) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(server);
    let serving = tokio::spawn(antiphon::stdio::serve_on(
        desk.endpoint.clone(),
        input,
        output,
    ));
    let (mut from, mut to) = tokio::io::split(client);
    let say = |message: Value| format!("{message}\n");
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "a", "version": "1"}}});
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "two"}});
    to.write_all(say(hello).as_bytes()).await.expect("written");
    to.write_all(say(call).as_bytes()).await.expect("written");
    until(|| desk.endpoint.waiting_calls() == 1).await;
    to.shutdown().await.expect("closed");
    let mut all = String::new();
    let read = from.read_to_string(&mut all);
    tokio::time::timeout(Duration::from_secs(10), read)
        .await
        .expect("no hang")
        .expect("read");
    let last: Value = serde_json::from_str(all.lines().last().expect("a line")).expect("JSON");
    assert_eq!(
        (&last["id"], &last["result"]["isError"]),
        (&json!(1), &json!(true)),
        "{all}"
    );
    serving.await.expect("no panic").expect("served");
    assert_eq!(desk.endpoint.waiting_calls(), 0);
}
