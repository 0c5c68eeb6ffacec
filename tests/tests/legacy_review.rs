//! Older clients that mean harm, or have bad luck: what they must not be able to do.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon::{
    Answer, Ask, Call, Form, Resource, Server as Desk, Stop,
    http::{Sessions, service},
    legacy::Shim,
    raw::{self, Answering, Endpoint, Error, Service},
    types::{Implementation, ServerCapabilities, SubscriptionFilter},
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
    // But a picture is no reason to send anybody away.
    let icon = json!([{"src": format!("data:image/png;base64,{}", &long[..200_000])}]);
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "a", "version": "1", "icons": icon}});
    let answer = client.post(&request(1, "initialize", params)).await;
    assert_eq!(answer.last()["result"]["protocolVersion"], "2025-11-25");
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

/// SHIM-S-07: also of calls that ask in the middle of their handlers.
#[tokio::test]
async fn so_many_calls_wait_in_their_handlers_and_no_more() {
    for way in WAYS {
        let wait = async |call: Call| match call.elicit("One?").await? {
            Answer::Accept(Confirm { ok }) => Ok(ok.to_string()),
            _ => Err(Stop::fail("no")),
        };
        let desk = Desk::new("desk", "1").tool("wait", wait);
        let desk: Endpoint = desk.shim(Shim::new().waiting_calls(1)).into();
        let mut older = Older::open(way, desk.clone(), "2025-11-25").await;
        let first = older.begin("tools/call", json!({"name": "wait"})).await;
        let asked = older.hear().await;
        assert_eq!(desk.waiting_calls(), 1, "{way:?}");
        let (_, refused) = older.call("wait", json!({}), older::never).await;
        assert_eq!(refused["result"]["isError"], true, "{refused}");
        let yes = json!({"action": "accept", "content": {"ok": true}});
        older
            .say(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": yes}))
            .await;
        let (_, response) = older.finish(first, older::never).await;
        assert_eq!(response["result"]["content"][0]["text"], "true");
        until(|| desk.waiting_calls() == 0).await;
    }
}

/// LEG-B-03, LEG-B-04: whose id it is depends on who sent it.
#[tokio::test]
async fn ids_are_their_senders() {
    for way in WAYS {
        let mut older = Older::open(way, desk(Shim::new()).0, "2025-11-25").await;
        older.ask("ping", json!({})).await;
        let call = older.begin("tools/call", json!({"name": "once"})).await;
        let asked = older.hear().await;
        let question = asked["id"].as_i64().expect("a number");
        assert_ne!(question, call);
        // Neither is a request of the client's cancelled by the id of a question, nor a question
        // answered by that of a request.
        older
            .notify("notifications/cancelled", json!({"requestId": question}))
            .await;
        let yes = json!({"action": "accept", "content": {"ok": true}});
        for other in [
            json!(call),
            json!(question.to_string()),
            json!(0),
            json!(-1),
        ] {
            older
                .say(&json!({"jsonrpc": "2.0", "id": other, "result": yes}))
                .await;
        }
        let ping = json!({"jsonrpc": "2.0", "id": question, "method": "ping"});
        older.say(&ping).await;
        let pong = older.hear().await;
        assert_eq!(
            (&pong["id"], &pong["result"]),
            (&json!(question), &json!({}))
        );
        older
            .say(&json!({"jsonrpc": "2.0", "id": question, "result": yes}))
            .await;
        let (_, response) = older.finish(call, older::never).await;
        assert_eq!(response["result"]["content"][0]["text"], "true", "{way:?}");
    }
}

/// LFEAT-B-01: who has no tasks runs the call.
#[tokio::test]
async fn a_task_that_nobody_offered_is_a_call() {
    for way in WAYS {
        let mut older = Older::open(way, desk(Shim::new()).0, "2025-11-25").await;
        let params = json!({"name": "once", "task": {"ttl": 1000}});
        let id = older.begin("tools/call", params).await;
        let (_, response) = older.finish(id, |_| accept(json!({"ok": true}))).await;
        assert_eq!(response["result"]["content"][0]["text"], "true", "{way:?}");
    }
}

/// LHTTP-S-02: a web page that is not welcome neither reads nor ends a session.
#[tokio::test]
async fn strangers_reach_no_session() {
    let server = Server::start(service(harbour::endpoint())).await;
    let client = Web::open(server.address, "2025-11-25").await;
    let ping = request(1, "ping", json!({})).to_string();
    for (verb, body) in [("GET", ""), ("DELETE", ""), ("POST", &*ping)] {
        let mut request = client.request(verb, body.to_owned());
        let origin = "https://evil.example".parse().expect("a header");
        request.headers_mut().insert("origin", origin);
        assert_eq!(client.send(request).await.status, 403, "{verb}");
    }
    assert_eq!(
        client.post(&request(2, "ping", json!({}))).await.status,
        200
    );
}

/// A call that only waits, for a link that is not used, does not hold up the end.
#[tokio::test]
async fn a_server_that_stops_does_not_wait_for_what_is_put_off() {
    let later = async |ask: Ask| {
        ask.later(Duration::from_millis(10))?;
        Ok::<_, Stop>("never")
    };
    let desk: Endpoint = Desk::new("desk", "1").tool("later", later).into();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = antiphon::http::serve(listener, service(desk.clone()))
        .with_graceful_shutdown(async move { _ = stopped.await });
    let serving = tokio::spawn(serving.into_future());
    let client = Web::open(address, "2025-11-25").await;
    let mut stream = client.streamed(1, "later", json!({})).await;
    stream.next().await.expect("primed");
    stop.send(()).expect("serving");
    let answer = stream.message().await;
    assert_eq!(answer.data["result"]["isError"], true, "{answer:?}");
    drop(stream);
    let ended = tokio::time::timeout(Duration::from_secs(10), serving).await;
    ended.expect("soon").expect("no panic").expect("served");
}

/// What a session hears of is settled slowly, or not at first.
struct Hesitant {
    heard: AtomicUsize,
    go: Semaphore,
}

struct Shared(Arc<Hesitant>);

impl Service for Shared {
    fn about(&self) -> raw::About {
        raw::About::new(Implementation::new("hesitant", "1"))
            .capabilities(ServerCapabilities::new().tools(true))
    }

    fn listen<'a>(
        &'a self,
        _: &'a raw::Call<'a>,
        filter: SubscriptionFilter,
    ) -> Answering<'a, SubscriptionFilter> {
        Box::pin(async move {
            if self.0.heard.fetch_add(1, Ordering::SeqCst) == 0 {
                return Err(Error::internal("Not yet"));
            }
            self.0.go.acquire().await.expect("never closed").forget();
            Ok(filter)
        })
    }
}

/// LEG-S-01: who is told that there is no session has none, and of two there is one.
#[tokio::test]
async fn a_handshake_is_what_its_answer_says() {
    for way in [Wire::Memory, Wire::Stdio] {
        let service = Arc::new(Hesitant {
            heard: AtomicUsize::new(0),
            go: Semaphore::new(0),
        });
        let mut older = Older::silent(way, Shared(service.clone())).await;
        let params = |version: &str| {
            json!({"protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": "a", "version": "1"}})
        };
        let failed = older.ask("initialize", params("2025-11-25")).await;
        assert_eq!(failed["error"]["code"], -32603, "{failed}");
        older.begin("initialize", params("2025-06-18")).await;
        older.begin("initialize", params("2025-03-26")).await;
        until(|| service.heard.load(Ordering::SeqCst) == 3).await;
        service.go.add_permits(2);
        let mut opened = 0;
        for _ in 0..2 {
            opened += usize::from(older.hear().await.get("result").is_some());
        }
        assert_eq!(opened, 1, "{way:?}");
    }
}

/// SHIM-S-07: the time of a call begins with it, and once it is over nobody is shown a question
/// that is taken back at once.
#[tokio::test]
async fn a_call_whose_time_is_over_asks_nothing() {
    for way in WAYS {
        let slow = async |ask: Ask| {
            tokio::time::sleep(Duration::from_millis(300)).await;
            let Confirm { ok } = ask.form("one", "One?")?;
            Ok::<_, Stop>(ok.to_string())
        };
        let again = async |ask: Ask| {
            let Confirm { ok } = ask.form("one", "One?")?;
            tokio::time::sleep(Duration::from_millis(300)).await;
            let Confirm { ok: other } = ask.form("other", "Other?")?;
            Ok::<_, Stop>(format!("{ok} {other}"))
        };
        let desk: Desk = Desk::new("desk", "1")
            .tool("slow", slow)
            .tool("again", again);
        let desk = desk.shim(Shim::new().call_timeout(Duration::from_millis(250)));
        let mut older = Older::open(way, desk, "2025-11-25").await;
        for (tool, questions) in [("slow", 0), ("again", 1)] {
            let (said, response) = older
                .call(tool, json!({}), |_| accept(json!({"ok": true})))
                .await;
            assert_eq!(response["result"]["isError"], true, "{response}");
            assert_eq!(said.len(), questions, "{way:?} {tool}: {said:?}");
        }
    }
}
