//! What goes wrong while a question is out.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon::{Ask, Form, Limits, Server, Stop, legacy::Shim, raw::Endpoint};
use antiphon_tests::{behaviours, wire::Wire};
use antiphon_tests::{
    older::{Older, accept, never},
    until,
};
use serde_json::{Value, json};

#[derive(Form)]
struct Name {
    name: String,
}

pub(crate) struct Desk {
    pub(crate) endpoint: Endpoint,
    runs: Arc<AtomicUsize>,
    pub(crate) done: Arc<AtomicUsize>,
}

impl Desk {
    pub(crate) fn new(shim: Shim) -> Self {
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

behaviours! {
    /// wire.md 11, step 7: cancelling the call withdraws its questions, and answers to them are late.
    async fn a_call_that_is_cancelled_withdraws_its_questions(way: Wire) {
        let desk = Desk::new(Shim::new());
        let mut older = Older::open(way, desk.endpoint.clone(), "2025-11-25").await;
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
    async fn answers_that_nobody_waits_for_change_nothing(way: Wire) {
        let desk = Desk::new(Shim::new());
        let mut older = Older::open(way, desk.endpoint.clone(), "2025-11-25").await;
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
    async fn an_answer_counts_only_in_its_session(way: Wire) {
        let desk = Desk::new(Shim::new());
        let mut asked = Older::open(way, desk.endpoint.clone(), "2025-11-25").await;
        let mut other = Older::open(way, desk.endpoint.clone(), "2025-11-25").await;
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

    async fn nobody_is_waited_for_without_end(way: Wire) {
        let desk = Desk::new(Shim::new().answer_timeout(Duration::from_millis(100)));
        let mut older = Older::open(way, desk.endpoint.clone(), "2025-11-25").await;
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
    async fn a_whole_call_has_its_time(way: Wire) {
        let desk = Desk::new(Shim::new().call_timeout(Duration::from_millis(100)));
        let mut older = Older::open(way, desk.endpoint.clone(), "2025-11-25").await;
        older.begin("tools/call", json!({"name": "two"})).await;
        let (_, _) = (older.hear().await, older.hear().await);
        let mut last = older.hear().await;
        while last.get("method").is_some() {
            last = older.hear().await;
        }
        assert_eq!(last["result"]["isError"], true);
    }

    async fn so_many_calls_wait_and_no_more(way: Wire) {
        let desk = Desk::new(Shim::new().waiting_calls(1));
        let mut first = Older::open(way, desk.endpoint.clone(), "2025-11-25").await;
        let mut second = Older::open(way, desk.endpoint.clone(), "2025-11-25").await;
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

    /// An answer that does not fit is asked again, as everywhere.
    async fn what_does_not_fit_is_asked_again(way: Wire) {
        let desk = Desk::new(Shim::new());
        let mut older = Older::open(way, desk.endpoint.clone(), "2025-06-18").await;
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

    /// Whoever waits for a person keeps nobody else from being served.
    async fn a_call_that_waits_takes_no_place(way: Wire) {
        let server: Server = Server::new("desk", "1.0")
            .tool("ask", async |ask: Ask| -> Result<String, Stop> {
                let Name { name } = ask.form("name", "Name?")?;
                Ok(name)
            })
            .tool("echo", async || "here")
            .limits(Limits::new().calls(1));
        let mut older = Older::open(way, server, "2025-11-25").await;
        let id = older.begin("tools/call", json!({"name": "ask"})).await;
        let asked = older.hear().await;
        let (_, response) = older.call("echo", json!({}), never).await;
        assert_eq!(response["result"]["content"][0]["text"], "here", "{response}");
        older.say(&reply(&asked, "Ada")).await;
        let response = older.hear().await;
        assert_eq!(response["id"], id);
        assert_eq!(response["result"]["content"][0]["text"], "Ada");
    }
}
