//! Older clients that mean harm, or have bad luck: what they must not be able to do.

use std::{sync::Arc, time::Duration};

use antiphon::{
    Answer, Ask, Call, Form, Resource, Server as Desk, Stop,
    http::{Sessions, service},
    legacy::Shim,
    raw::Endpoint,
};
use antiphon_tests::{
    harbour,
    http::{Server, post},
    older::{self, Older, accept},
    older_http::{Older as Web, request, watched},
    until,
    wire::Wire,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

const WAYS: [Wire; 3] = [Wire::Memory, Wire::Stdio, Wire::Http];

#[derive(Form)]
struct Confirm {
    ok: bool,
}

/// A desk that asks once, or twice with a wait in between for somebody to ring the bell.
fn desk(shim: Shim) -> (Desk, Arc<Semaphore>) {
    let bell = Arc::new(Semaphore::new(0));
    let ring = bell.clone();
    let twice = move |ask: Ask| {
        let bell = ring.clone();
        async move {
            let Confirm { ok } = ask.form("one", "One?")?;
            ask.once("work", async || Ok::<_, Stop>(1)).await?;
            bell.acquire().await.expect("never closed").forget();
            let Confirm { ok: other } = ask.form("other", "Other?")?;
            Ok::<_, Stop>(format!("{ok} {other}"))
        }
    };
    let once = async |ask: Ask| {
        let Confirm { ok } = ask.form("one", "One?")?;
        Ok::<_, Stop>(ok.to_string())
    };
    let desk = Desk::new("desk", "1")
        .tool("once", once)
        .tool("twice", twice)
        .shim(shim);
    (desk, bell)
}

/// SHIM-S-07: a time without end is one that nobody will see, and no reason to end at once.
#[tokio::test]
async fn times_may_be_as_long_as_anybody_likes() {
    for way in WAYS {
        let shim = Shim::new()
            .answer_timeout(Duration::MAX)
            .call_timeout(Duration::MAX)
            .poll_timeout(Duration::MAX);
        let later = async |ask: Ask| {
            ask.later(Duration::ZERO)?;
            Ok::<_, Stop>("done")
        };
        let plain = async |call: Call| match call.elicit("One?").await? {
            Answer::Accept(Confirm { ok }) => Ok(ok.to_string()),
            _ => Err(Stop::fail("no")),
        };
        let desk = desk(shim).0.tool("later", later).tool("plain", plain);
        let mut older = Older::open(way, desk, "2025-11-25").await;
        for tool in ["once", "plain"] {
            let (_, response) = older
                .call(tool, json!({}), |_| accept(json!({"ok": true})))
                .await;
            assert_eq!(response["result"]["content"][0]["text"], "true", "{way:?}");
        }
        older.begin("tools/call", json!({"name": "later"})).await;
        assert_eq!(older.ask("ping", json!({})).await["result"], json!({}));
    }
}

/// HTTP-S-17: nor is a silence without end.
#[tokio::test]
async fn streams_may_be_silent_for_as_long_as_anybody_likes() {
    let service = service(harbour::endpoint()).keep_alive(Duration::MAX);
    let server = Server::start(service).await;
    let client = Web::open(server.address, "2025-11-25").await;
    let events = client.stream(&watched(1, "progress", json!({}))).await;
    let last = events.rest().await.pop().expect("an answer");
    assert_eq!(last.data["id"], 1);
}

/// CANC-S-06, SHIM-S-07: whoever cancelled a call is not asked anything for it any more.
#[tokio::test]
async fn a_call_that_was_cancelled_asks_nothing_more() {
    for way in WAYS {
        let (desk, bell) = desk(Shim::new());
        let endpoint: Endpoint = desk.into();
        let mut older = Older::open(way, endpoint.clone(), "2025-11-25").await;
        let id = older.begin("tools/call", json!({"name": "twice"})).await;
        let asked = older.hear().await;
        assert_eq!(asked["method"], "elicitation/create");
        let yes = json!({"action": "accept", "content": {"ok": true}});
        older
            .say(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": yes}))
            .await;
        until(|| endpoint.waiting_calls() == 0).await;
        // Until the work is done, which is what the answer was for.
        tokio::time::sleep(Duration::from_millis(50)).await;
        older
            .notify("notifications/cancelled", json!({"requestId": id}))
            .await;
        older.ask("ping", json!({})).await;
        bell.add_permits(1);
        until(|| endpoint.calls() == 0).await;
        assert_eq!(older.hear_at_once().await, None, "{way:?}");
    }
}

/// LHTTP-S-10: what is asked belongs to a call, and one that is answered is over.
#[tokio::test]
async fn a_call_that_is_over_asks_nothing() {
    for way in WAYS {
        let (said, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let leave = move |call: Call| {
            let said = said.clone();
            async move {
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    let asked = call.elicit::<Confirm>("Still there?").await;
                    _ = said.send(asked.is_err());
                });
                "left"
            }
        };
        let desk: Desk = Desk::new("desk", "1").tool("leave", leave);
        let mut older = Older::open(way, desk, "2025-11-25").await;
        older.call("leave", json!({}), older::never).await;
        let failed = tokio::time::timeout(Duration::from_secs(5), heard.recv()).await;
        assert_eq!(failed.expect("no hang"), Some(true), "{way:?}");
        assert_eq!(older.hear_at_once().await, None, "{way:?}");
    }
}

/// LEG-B-05: one line cannot be answered with millions.
#[tokio::test]
async fn a_batch_has_an_end() {
    for way in [Wire::Memory, Wire::Stdio] {
        let mut older = Older::open(way, desk(Shim::new()).0, "2025-03-26").await;
        older.say(&Value::Array(vec![json!(1); 101])).await;
        let refused = older.hear().await;
        assert_eq!(refused["error"]["code"], -32600, "{refused}");
        assert_eq!(older.hear_at_once().await, None, "{way:?}");
        let pings: Vec<_> = (0..100).map(|id| request(id, "ping", json!({}))).collect();
        older.say(&Value::Array(pings)).await;
        for _ in 0..100 {
            assert_eq!(older.hear().await["result"], json!({}));
        }
    }
}

/// What a session keeps for half an hour is not for its client to choose.
#[tokio::test]
async fn a_session_keeps_only_so_much_of_what_its_client_says() {
    let desk: Desk =
        Desk::new("desk", "1").add(Resource::new("note://{name}", async || "text").watched());
    let service = service(desk);
    let server = Server::start(service.clone()).await;
    let mut client = Web::new(server.address, "");
    let long = "x".repeat(1024 * 1024);
    for (capabilities, name) in [
        (json!({}), &*long),
        (json!({"experimental": {"a": {"b": long}}}), "a"),
        (json!({"elicitation": {"form": {"b": long}}}), "a"),
    ] {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": name, "version": "1"}});
        let answer = client.post(&request(1, "initialize", params)).await;
        assert_eq!(answer.last()["error"]["code"], -32602, "{}", answer.status);
    }
    assert_eq!(service.session_counts().open, 0);
    client.version = "2025-11-25".to_owned();
    let client = client.opened().await;
    let mut kept = 0;
    for id in 1..20 {
        let uri = format!("note://{id}{}", &long[..100_000]);
        let subscribe = request(id, "resources/subscribe", json!({"uri": uri}));
        let answer = client.post(&subscribe).await;
        kept += usize::from(answer.last().get("result").is_some());
    }
    assert!(kept < 5, "{kept} times 100 kB");
    let subscribe = request(99, "resources/subscribe", json!({"uri": "note://short"}));
    let answer = client.post(&subscribe).await;
    assert_eq!(answer.last()["result"], json!({}), "{}", answer.text);
}

/// A call that never ends by itself does not keep its session for a client that never comes back.
#[tokio::test]
async fn a_session_that_nobody_is_in_ends_with_its_calls() {
    for version in ["2025-06-18", "2025-11-25"] {
        let endless = async |call: Call| {
            call.progress().report(1);
            std::future::pending::<()>().await;
            "never"
        };
        let desk: Endpoint = Desk::new("desk", "1").tool("endless", endless).into();
        let sessions = Sessions::new().idle(Duration::from_millis(300));
        let service = service(desk.clone()).sessions(sessions);
        let server = Server::start(service.clone()).await;
        let client = Web::open(server.address, version).await;
        let endless = watched(1, "endless", json!({}));
        let mut stream = client.stream(&endless).await;
        stream.message().await;
        // Somebody is there.
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert_eq!((desk.calls(), service.session_counts().open), (1, 1));
        drop(stream);
        until(|| desk.calls() == 0).await;
        until(|| service.session_counts().expired == 1).await;
    }
}

/// ERA-S-06: whoever says 2026-07-28 has nothing to do with sessions, whatever else it says.
#[tokio::test]
async fn modern_rubbish_is_answered_without_a_look_at_sessions() {
    let server = Server::start(service(harbour::endpoint())).await;
    let client = Web::open(server.address, "2025-06-18").await;
    for rubbish in ["{", "7", "{\"jsonrpc\":\"2.0\"}", "\"\\ud800\""] {
        let mut modern = client.clone();
        modern.version = "2026-07-28".to_owned();
        let answer = modern.send(modern.request("POST", rubbish)).await;
        modern.session = None;
        let plain = modern.send(modern.request("POST", rubbish)).await;
        assert_eq!((answer.status, &*answer.text), (plain.status, &*plain.text));
        assert!(!answer.text.contains("\"id\""), "{}", answer.text);
    }
}

/// Modern answers are what they were before there were sessions, to browsers too.
#[tokio::test]
async fn browsers_are_shown_the_session_where_there_is_one() {
    let server = Server::start(service(harbour::endpoint())).await;
    let client = Web::new(server.address, "");
    let shown = async |mut request: hyper::Request<_>| {
        let origin = "http://localhost:1".parse().expect("a header");
        request.headers_mut().insert("origin", origin);
        let answer = client.send(request).await;
        answer.header("access-control-expose-headers").to_owned()
    };
    let modern = antiphon_tests::request(1, "tools/list", json!({}));
    assert_eq!(shown(post(&modern)).await, "www-authenticate, retry-after");
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "a", "version": "1"}});
    let open = request(1, "initialize", params).to_string();
    assert_eq!(
        shown(client.request("POST", open)).await,
        "www-authenticate, retry-after, mcp-session-id"
    );
}
