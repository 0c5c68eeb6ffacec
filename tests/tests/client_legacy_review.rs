//! What a hostile look at the client of older servers found: each of these went wrong once.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use antiphon::{
    Client,
    client::{Connection, ErrorKind, Event, Http, Negotiated},
    types::{SubscriptionFilter, Version},
};
use antiphon_tests::{
    desk::{Asked, Desk, Step, events, json as whole, status, wait, write},
    older_server::{Older, forgetful, initialized, older, text},
    until,
};
use serde_json::{Value, json};
use tokio::{join, time::timeout};

const PATIENCE: Duration = Duration::from_secs(20);

fn client() -> Client {
    Client::new("desk", "1.0")
}

async fn met(client: &Client, offers: Value) -> (Connection, Older) {
    let (peer, mut server) = older();
    let (connected, _) = join!(client.connect(peer), server.greet("2025-11-25", offers));
    (connected.expect("connected"), server)
}

fn message(asked: &Asked) -> Value {
    serde_json::from_str(&asked.body).unwrap_or_default()
}

fn respond(asked: &Asked, result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": message(asked)["id"], "result": result }).to_string()
}

fn event(message: impl std::fmt::Display) -> Step {
    write(format!("data: {message}\n\n"))
}

/// The answer to `initialize` under a session.
fn welcome(asked: &Asked, capabilities: &Value) -> Vec<Step> {
    let body = respond(asked, &initialized("2025-11-25", capabilities));
    vec![write(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nmcp-session-id: s-1\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    ))]
}

/// An older server over HTTP as it is when nothing special is asked of it.
fn usual(asked: &Asked, capabilities: &Value) -> Vec<Step> {
    let id = message(asked)["id"].as_i64();
    match &*asked.verb {
        _ if asked.calls("server/discover") => status("400 Bad Request"),
        _ if asked.calls("initialize") => welcome(asked, capabilities),
        "POST" if id.is_some() && asked.calls("tools/call") => {
            whole(&respond(asked, &text("done")))
        }
        "POST" if id.is_some() && message(asked)["method"].is_string() => {
            whole(&respond(asked, &json!({})))
        }
        "POST" => status("202 Accepted"),
        "DELETE" => status("204 No Content"),
        _ => status("405 Method Not Allowed"),
    }
}

fn roots(id: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "roots/list" })
}

fn rooted() -> Client {
    client().on_roots(|roots| async move {
        tokio::time::sleep(Duration::from_millis(400)).await;
        roots.list([])
    })
}

/// Many servers ask for the roots as soon as they hear that the handshake is done: on the stream
/// that is just being opened, or before they have taken the notification.
#[tokio::test]
async fn what_is_asked_right_after_the_handshake_is_answered() {
    let desk = Desk::start(|asked, _| match &*asked.verb {
        "GET" => vec![
            write(format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
                 data: {}\n\n",
                roots("early")
            )),
            Step::Hold,
        ],
        _ => usual(asked, &json!({})),
    })
    .await;
    let connection = rooted().connect(Http::new(&desk.origin)).await;
    let connection = connection.expect("connected");
    let answered = |asked: &Asked| asked.body.contains("early");
    until(|| desk.requests().iter().any(answered)).await;
    connection.close().await;
}

/// The same over HTTP+SSE, where the notification is taken late.
#[tokio::test]
async fn what_is_asked_before_the_notification_is_taken_is_answered() {
    let desk = Desk::start(|asked, _| match (&*asked.verb, &*asked.path) {
        ("GET", _) => vec![
            events(),
            write("event: endpoint\ndata: /post\n\n"),
            Step::To(
                |asked| asked.path == "/post" && asked.calls("initialize"),
                |asked| {
                    let result = initialized("2024-11-05", &json!({}));
                    format!("data: {}\n\n", respond(asked, &result))
                },
            ),
            Step::Until(|asked| asked.calls("notifications/initialized")),
            event(roots("early")),
            Step::Hold,
        ],
        ("POST", "/post") if asked.calls("notifications/initialized") => {
            let mut slow = vec![wait(200)];
            slow.extend(status("202 Accepted"));
            slow
        }
        ("POST", "/post") => status("202 Accepted"),
        _ => status("405 Method Not Allowed"),
    })
    .await;
    let connection = rooted().connect(Http::new(&desk.origin)).await;
    let connection = connection.expect("connected");
    let answered = |asked: &Asked| asked.body.contains("early");
    until(|| desk.requests().iter().any(answered)).await;
    connection.close().await;
}

/// A session that is gone takes its subscriptions along, also when nobody asks for anything.
#[tokio::test]
async fn a_subscription_does_not_wait_for_a_session_that_is_gone() {
    let offers = json!({ "tools": { "listChanged": true } });
    for refusal in ["404 Not Found", "401 Unauthorized"] {
        let offers = offers.clone();
        let desk = Desk::start(move |asked, before| match &*asked.verb {
            "GET" if before == 0 => vec![
                events(),
                write("retry: 100\nid: 1\ndata:\n\n"),
                wait(300),
                Step::Close,
            ],
            "GET" => status(refusal),
            _ => usual(asked, &offers),
        })
        .await;
        let connection = client().connect(Http::new(&desk.origin)).await;
        let connection = connection.expect("connected");
        let filter = SubscriptionFilter::new().tools();
        let mut changes = connection.listen(filter).await.expect("subscribed");
        let lost = timeout(PATIENCE, changes.next()).await.expect("told");
        let error = lost.expect("an error first").expect_err("lost");
        assert!(matches!(error.kind(), ErrorKind::Transport), "{error:?}");
        connection.close().await;
    }
}

/// HTTP+SSE: a message that is not taken is the trouble of whoever sent it.
#[tokio::test]
async fn one_refused_message_takes_no_questions_and_subscriptions_along() {
    let desk = Desk::start(|asked, _| match (&*asked.verb, &*asked.path) {
        ("GET", _) => vec![
            events(),
            write("event: endpoint\ndata: /post\n\n"),
            Step::To(
                |asked| asked.path == "/post" && asked.calls("initialize"),
                |asked| {
                    let offers = json!({ "tools": { "listChanged": true } });
                    let result = initialized("2024-11-05", &offers);
                    format!("data: {}\n\n", respond(asked, &result))
                },
            ),
            Step::Until(|asked| asked.calls("notifications/initialized")),
            event(roots("slow")),
            Step::Until(|asked| asked.calls("tools/call")),
            wait(300),
            event(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })),
            Step::Hold,
        ],
        ("POST", "/post") if asked.calls("tools/call") => status("503 Service Unavailable"),
        ("POST", "/post") => status("202 Accepted"),
        _ => status("405 Method Not Allowed"),
    })
    .await;
    let asked = Arc::new(AtomicBool::new(false));
    let open = Arc::new(AtomicBool::new(false));
    let (is_asked, opened) = (asked.clone(), open.clone());
    let client = client().on_roots(move |roots| {
        is_asked.store(true, Ordering::SeqCst);
        let opened = opened.clone();
        async move {
            until(|| opened.load(Ordering::SeqCst)).await;
            roots.list([])
        }
    });
    let connection = client.connect(Http::new(&desk.origin)).await;
    let connection = connection.expect("connected");
    until(|| asked.load(Ordering::SeqCst)).await;
    let filter = SubscriptionFilter::new().tools();
    let mut changes = connection.listen(filter).await.expect("subscribed");
    let refused = connection.call_tool("t", ()).await.expect_err("refused");
    assert_eq!(refused.http_status(), Some(503), "{refused:?}");
    let change = timeout(PATIENCE, changes.next()).await.expect("told");
    change.expect("a change").expect("not lost");
    open.store(true, Ordering::SeqCst);
    until(|| desk.requests().iter().any(|it| it.body.contains("slow"))).await;
    connection.close().await;
}

/// HTTP+SSE: a server may never finish what it says to a POST, as long as it answers on its stream.
#[tokio::test]
async fn posts_that_never_end_do_not_pile_up() {
    const CALLS: usize = 80;
    let desk = Desk::start(|asked, _| match (&*asked.verb, &*asked.path) {
        ("GET", _) => {
            let mut steps = vec![
                events(),
                write("event: endpoint\ndata: /post\n\n"),
                Step::To(
                    |asked| asked.path == "/post" && asked.calls("initialize"),
                    |asked| {
                        let result = initialized("2024-11-05", &json!({}));
                        format!("data: {}\n\n", respond(asked, &result))
                    },
                ),
            ];
            let first = 4;
            for id in first..first + CALLS {
                let answer = json!({ "jsonrpc": "2.0", "id": id, "result": text("done") });
                steps.extend([wait(10), event(answer)]);
            }
            steps.push(Step::Hold);
            steps
        }
        ("POST", "/post") if asked.calls("tools/call") => vec![Step::Hold],
        ("POST", "/post") => status("202 Accepted"),
        _ => status("405 Method Not Allowed"),
    })
    .await;
    let client = client().work_timeout(Duration::from_secs(15));
    let connection = client.connect(Http::new(&desk.origin)).await;
    let connection = connection.expect("connected");
    // Those that the server answers and those that it does not: nobody waits for their POSTs.
    for _ in 0..CALLS {
        let call = timeout(Duration::from_millis(100), connection.call_tool("t", ()));
        _ = call.await;
    }
    let sent = || {
        desk.of("POST")
            .iter()
            .filter(|it| it.calls("tools/call"))
            .count()
    };
    let started = Instant::now();
    while sent() < CALLS && started.elapsed() < PATIENCE {
        _ = timeout(Duration::from_millis(500), connection.call_tool("t", ())).await;
    }
    assert!(sent() >= CALLS, "only {} calls were sent", sent());
    connection.close().await;
}

/// ERA-C-12: what was known may be out of date, however the server puts that.
#[tokio::test]
async fn a_server_that_was_an_older_one_is_asked_anew() {
    for (code, data) in [
        (-32601, json!(null)),
        (-32602, json!({ "supported": ["2026-07-28"] })),
        (-32600, json!(null)),
    ] {
        let (peer, mut server) = older();
        let known = Negotiated::new(Version::V2025_06_18);
        let serving = async {
            let greeting = server.expect("initialize").await;
            let refusal = json!({ "code": code, "message": "no", "data": data });
            server.respond(&greeting, &refusal).await;
            let probe = server.expect("server/discover").await;
            let result = json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {},
            });
            server.respond(&probe, &result).await;
        };
        let client = client();
        let connecting = timeout(PATIENCE, client.connect_as(peer, known));
        let (connected, ()) = join!(connecting, serving);
        let connection = connected.expect("no hang").expect("connected");
        assert_eq!(connection.protocol_version(), Version::LATEST, "{code}");
    }
}

/// And if it is not modern either, its own words are what the caller gets.
#[tokio::test]
async fn a_server_that_refuses_both_is_quoted() {
    let (peer, mut server) = older();
    let known = Negotiated::new(Version::V2025_06_18);
    let serving = async {
        let greeting = server.expect("initialize").await;
        let refusal = json!({ "code": -32600, "message": "closed on Mondays" });
        server.respond(&greeting, &refusal).await;
        server.refuse_probe().await;
        server
    };
    let client = client();
    let connecting = client.connect_as(peer, known);
    let (connected, mut server) = join!(connecting, serving);
    let error = connected.expect_err("refused");
    assert_eq!(error.code(), Some(-32600), "{error:?}");
    assert_eq!(server.next().await, None);
}

/// wire.md 10.3 step 1: a session with what has become a modern server.
#[tokio::test]
async fn a_server_that_becomes_modern_is_spoken_with_as_such() {
    let (connection, mut server) = met(&client(), json!({ "tools": {} })).await;
    let calling = connection.call_tool("t", ());
    let serving = async {
        let call = server.expect("tools/call").await;
        let data = json!({ "supported": ["2026-07-28"], "requested": "2025-11-25" });
        let refusal = json!({ "code": -32022, "message": "no", "data": data });
        server.respond(&call, &refusal).await;
        let probe = server.expect("server/discover").await;
        let result = json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": { "tools": {} },
        });
        server.respond(&probe, &result).await;
        let call = server.expect("tools/call").await;
        let meta = &call["params"]["_meta"];
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"],
            "2026-07-28"
        );
        server.respond(&call, &text("done")).await;
    };
    let (called, ()) = join!(timeout(PATIENCE, calling), serving);
    let result = called.expect("no hang").expect("a result");
    assert_eq!(result.first_text(), Some("done"));
    assert_eq!(connection.protocol_version(), Version::LATEST);
}

/// ERA-C-03: one that named a modern version of ours is not greeted, whatever it says next.
#[tokio::test]
async fn a_server_that_showed_itself_modern_is_not_greeted() {
    let (peer, mut server) = older();
    let serving = async {
        let probe = server.expect("server/discover").await;
        let data = json!({ "supported": ["2026-07-28"] });
        let refusal = json!({ "code": -32022, "message": "no", "data": data });
        server.respond(&probe, &refusal).await;
        let probe = server.expect("server/discover").await;
        let refusal = json!({ "code": -32603, "message": "out of order" });
        server.respond(&probe, &refusal).await;
        server
    };
    let client = client();
    let (connected, mut server) = join!(client.connect(peer), serving);
    let error = connected.expect_err("out of order");
    assert_eq!(error.code(), Some(-32603), "{error:?}");
    assert_eq!(server.next().await, None, "nothing after that");
}

/// A list of links that nobody could open keeps nobody busy.
#[tokio::test]
async fn endless_links_are_no_work() {
    let client = client().on_url(|link| async move { link.decline() });
    let (connection, mut server) = met(&client, json!({ "tools": {} })).await;
    let calling = connection.call_tool("t", ());
    let serving = async {
        let call = server.expect("tools/call").await;
        let link = |at| {
            json!({
                "mode": "url", "message": "", "url": "https://a.b/",
                "elicitationId": format!("{at}"),
            })
        };
        let links: Vec<_> = (0..60_000).map(link).collect();
        let data = json!({ "elicitations": links });
        let refusal = json!({ "code": -32042, "message": "links", "data": data });
        server.respond(&call, &refusal).await;
        Instant::now()
    };
    let (called, sent) = join!(calling, serving);
    assert_eq!(called.expect_err("links").code(), Some(-32042));
    let took = sent.elapsed();
    assert!(took < Duration::from_secs(5), "{took:?}");
}

/// What waits in a subscription is bounded in bytes as well.
#[tokio::test]
async fn changes_that_nobody_takes_are_bounded_in_bytes() {
    let offers = json!({ "resources": { "subscribe": true } });
    let (connection, mut server) = met(&client(), offers).await;
    let filter = SubscriptionFilter::new().resource("sea://a");
    let listening = connection.listen(filter);
    let serving = async {
        let subscribe = server.expect("resources/subscribe").await;
        server.respond(&subscribe, &json!({})).await;
    };
    let (listening, ()) = join!(listening, serving);
    let mut changes = listening.expect("subscribed");
    let long = "x".repeat(1 << 20);
    for at in 0..40 {
        let params = json!({ "uri": format!("sea://a/{at}/{long}") });
        server
            .notify("notifications/resources/updated", params)
            .await;
    }
    let ping = async {
        let ping = server.expect("ping").await;
        server.respond(&ping, &json!({})).await;
    };
    let (pinged, ()) = join!(connection.ping(), ping);
    pinged.expect("all of that was read");
    let mut taken = 0;
    let error = loop {
        match timeout(PATIENCE, changes.next()).await.expect("no hang") {
            Some(Ok(_)) => taken += 1,
            Some(Err(error)) => break error,
            None => panic!("it was not ended"),
        }
    };
    assert!(taken < 20, "{taken} MB");
    assert!(format!("{error:?}").contains("were not taken"), "{error:?}");
}

/// A server may say something else of itself each time, such as what day it is, for as long as the
/// connection lasts.
#[tokio::test]
async fn any_number_of_sessions_may_be_lost() {
    let (sessions, losing, mut server) = forgetful();
    let client = client();
    let greeting = server.greet("2025-11-25", json!({ "tools": {} }));
    let (connected, _) = join!(client.connect(sessions), greeting);
    let connection = connected.expect("connected");
    for day in 0..100 {
        losing.lose();
        let serving = async {
            let request = server.expect("initialize").await;
            let mut result = initialized("2025-11-25", &json!({ "tools": {} }));
            result["instructions"] = format!("This is day {day}.").into();
            server.respond(&request, &result).await;
            server.expect("notifications/initialized").await;
            let call = server.expect("tools/call").await;
            server.respond(&call, &text("done")).await;
        };
        let calling = connection.call_tool("t", ());
        let (called, ()) = join!(timeout(PATIENCE, calling), serving);
        called.expect("no hang").expect("a result");
    }
}

/// A connection that was closed says nothing any more, not even to a question.
#[tokio::test]
async fn nothing_is_said_after_closing() {
    let desk = Desk::start(|asked, _| match &*asked.verb {
        _ if asked.calls("tools/call") => vec![events(), event(roots("open")), Step::Hold],
        _ => usual(asked, &json!({ "tools": {} })),
    })
    .await;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let client = client().on_roots(move |roots| {
        count.fetch_add(1, Ordering::SeqCst);
        async move {
            tokio::time::sleep(Duration::from_millis(300)).await;
            roots.list([])
        }
    });
    let connection = client.connect(Http::new(&desk.origin)).await;
    let connection = connection.expect("connected");
    let other = connection.clone();
    let calling = tokio::spawn(async move { other.call_tool("t", ()).await });
    until(|| asked.load(Ordering::SeqCst) == 1).await;
    let clone = connection.clone();
    connection.close().await;
    calling.await.expect("no panic").expect_err("closed");
    clone.roots_changed().await.expect_err("closed");
    tokio::time::sleep(Duration::from_millis(600)).await;
    for asked in desk.requests() {
        assert!(!asked.body.contains("open"), "{asked:?}");
        assert!(
            !asked.calls("notifications/roots/list_changed"),
            "{asked:?}"
        );
    }
}

/// What the stream of an old session asks is not answered in the new one.
#[tokio::test]
async fn answers_stay_in_their_session() {
    let desk = Desk::start(|asked, _| match &*asked.verb {
        _ if asked.calls("tools/call") && asked.body.contains("slow") => vec![
            events(),
            Step::Until(|asked| asked.body.contains("after")),
            wait(100),
            event(roots("stale")),
            wait(900),
            event(respond(asked, &text("done"))),
        ],
        _ if asked.calls("tools/call")
            && asked.body.contains("lose")
            && asked.header("mcp-session-id") == Some("s-1") =>
        {
            status("404 Not Found")
        }
        _ if asked.calls("initialize") && asked.body.contains(r#""id":2,"#) => {
            usual(asked, &json!({ "tools": {} }))
        }
        _ if asked.calls("initialize") => {
            let body = respond(asked, &initialized("2025-11-25", &json!({ "tools": {} })));
            vec![write(format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nmcp-session-id: s-2\r\n\
                 content-length: {}\r\n\r\n{body}",
                body.len()
            ))]
        }
        _ => usual(asked, &json!({})),
    })
    .await;
    let connection = rooted().connect(Http::new(&desk.origin)).await;
    let connection = connection.expect("connected");
    let other = connection.clone();
    let slow = tokio::spawn(async move { other.call_tool("slow", ()).await });
    until(|| desk.requests().iter().any(|it| it.body.contains("slow"))).await;
    connection.call_tool("lose", ()).await.expect("renewed");
    connection.call_tool("after", ()).await.expect("a result");
    slow.await.expect("no panic").expect("a result");
    for asked in desk.requests() {
        assert!(!asked.body.contains("stale"), "{asked:?}");
    }
    connection.close().await;
}

/// Closing does not wait for a session that is being renewed, nor does whoever wanted it.
#[tokio::test]
async fn a_renewal_ends_with_the_connection() {
    let desk = Desk::start(|asked, before| match &*asked.verb {
        _ if asked.calls("tools/call") => status("404 Not Found"),
        _ if asked.calls("notifications/initialized") && before > 3 => vec![Step::Hold],
        _ => usual(asked, &json!({ "tools": {} })),
    })
    .await;
    let connection = client().connect(Http::new(&desk.origin)).await;
    let connection = connection.expect("connected");
    let other = connection.clone();
    let calling = tokio::spawn(async move { other.call_tool("t", ()).await });
    let greeted = |it: &Asked| it.calls("notifications/initialized");
    until(|| desk.requests().into_iter().filter(greeted).count() == 2).await;
    timeout(Duration::from_secs(5), connection.close())
        .await
        .expect("closed");
    let called = timeout(Duration::from_secs(5), calling).await;
    called
        .expect("no hang")
        .expect("no panic")
        .expect_err("closed");
}

/// A batch of millions is no batch.
#[tokio::test]
async fn an_endless_batch_is_noise() {
    let heard = Arc::new(AtomicUsize::new(0));
    let count = heard.clone();
    let client = client().on_event(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
    });
    let (peer, mut server) = older();
    let greeting = server.greet("2025-03-26", json!({}));
    let (connected, _) = join!(client.connect(peer), greeting);
    let connection = connected.expect("connected");
    heard.store(0, Ordering::SeqCst);
    server
        .write(&format!("[{}0]", "0,".repeat(1_000_000)))
        .await;
    let ping = async {
        let ping = server.expect("ping").await;
        server.respond(&ping, &json!({})).await;
    };
    let (pinged, ()) = join!(connection.ping(), ping);
    pinged.expect("still there");
    assert_eq!(heard.load(Ordering::SeqCst), 1);
}

/// HTTP+SSE: streams are cut off by whatever is in between. The next request begins another, and if
/// there is none to be had yet, the one after that.
#[tokio::test]
async fn a_stream_that_is_cut_off_is_opened_again() {
    let desk = Desk::start(|asked, before| match (&*asked.verb, &*asked.path) {
        ("GET", _) if before == 1 => status("503 Service Unavailable"),
        ("GET", _) => {
            let endpoint = match before {
                0 => "/first",
                _ => "/second",
            };
            let greeted: fn(&Asked) -> bool = match before {
                0 => |asked| asked.path == "/first" && asked.calls("initialize"),
                _ => |asked| asked.path == "/second" && asked.calls("initialize"),
            };
            let called: fn(&Asked) -> bool = match before {
                0 => |asked| asked.path == "/first" && asked.calls("tools/call"),
                _ => |asked| asked.path == "/second" && asked.calls("tools/call"),
            };
            let mut steps = vec![
                events(),
                write(format!("event: endpoint\ndata: {endpoint}\n\n")),
                Step::To(greeted, |asked| {
                    let result = initialized("2024-11-05", &json!({ "tools": {} }));
                    format!("data: {}\n\n", respond(asked, &result))
                }),
                Step::To(called, |asked| {
                    format!("data: {}\n\n", respond(asked, &text("done")))
                }),
            ];
            steps.push(match before {
                0 => Step::Close,
                _ => Step::Hold,
            });
            steps
        }
        ("POST", "/first" | "/second") => status("202 Accepted"),
        _ => status("405 Method Not Allowed"),
    })
    .await;
    let cut_off = Arc::new(AtomicBool::new(false));
    let told = cut_off.clone();
    let client = client().on_event(move |event| {
        if let Event::Transport(_) = event {
            told.store(true, Ordering::SeqCst);
        }
    });
    let connection = client.connect(Http::new(&desk.origin)).await;
    let connection = connection.expect("connected");
    cut_off.store(false, Ordering::SeqCst);
    connection.call_tool("t", ()).await.expect("a result");
    until(|| cut_off.load(Ordering::SeqCst)).await;
    let away = connection.call_tool("t", ()).await.expect_err("away");
    assert_eq!(away.http_status(), Some(503), "{away:?}");
    connection.call_tool("t", ()).await.expect("there again");
    connection.close().await;
}

/// The hook runs where the server is listened to; what it does to itself is its own trouble.
#[tokio::test]
async fn a_hook_that_panics_ends_one_call() {
    let client = client()
        .on_form(|form| async move { form.decline() })
        .on_round(|_| -> Result<(), String> { panic!("on purpose") });
    let (connection, mut server) = met(&client, json!({ "tools": {} })).await;
    let calling = connection.call_tool("t", ());
    let serving = async {
        server.expect("tools/call").await;
        let form = json!({
            "method": "elicitation/create",
            "params": { "message": "?", "requestedSchema": { "type": "object", "properties": {} } },
        });
        server.ask("q", &form).await;
    };
    let (called, ()) = join!(timeout(PATIENCE, calling), serving);
    let error = called.expect("no hang").expect_err("refused");
    assert!(
        matches!(error.kind(), ErrorKind::Stopped { .. }),
        "{error:?}"
    );
    let ping = async {
        loop {
            let message = server.receive().await;
            if message["method"] == "ping" {
                break server.respond(&message, &json!({})).await;
            }
        }
    };
    let (pinged, ()) = join!(connection.ping(), ping);
    pinged.expect("still there");
}

/// Questions wait for a person, and a server may send as many as fit.
#[tokio::test]
async fn questions_that_wait_are_bounded_in_bytes() {
    let client = client().on_form(|form| async move {
        std::future::pending::<()>().await;
        form.decline()
    });
    let (_connection, mut server) = met(&client, json!({})).await;
    let long = "x".repeat(6 << 20);
    let form = json!({
        "method": "elicitation/create",
        "params": { "message": long, "requestedSchema": { "type": "object", "properties": {} } },
    });
    for id in 0..12 {
        server.ask(id, &form).await;
    }
    let refused = server.receive().await;
    assert_eq!(refused["error"]["code"], -32603, "{refused}");
}
