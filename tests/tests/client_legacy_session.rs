//! A session with an older server: its requests, its changes, links that must be opened first,
//! batches, and sessions that are lost.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon::{
    Client, Kind,
    client::{
        CallTool, Change, Clock, Connection, ErrorKind, Event, Outcome, Paused, ReadResource, Step,
        Traffic,
    },
    types::{CallToolResult, ListRootsResult, LoggingLevel, SubscriptionFilter, Version},
};
use antiphon_tests::{
    older_server::{Older, forgetful, older, text},
    script::{self, asking, form, roots},
    until,
};
use serde_json::{Value, json};
use tokio::join;

fn desk() -> Client {
    Client::new("desk", "1.0")
}

async fn met_in(version: &str, client: &Client, offers: Value) -> (Connection, Older) {
    let (peer, mut server) = older();
    let (connected, _) = join!(client.connect(peer), server.greet(version, offers));
    (connected.expect("connected"), server)
}

async fn met(client: &Client, offers: Value) -> (Connection, Older) {
    met_in("2025-11-25", client, offers).await
}

/// A session in which nothing is lost yet.
async fn met_forgetful(
    client: &Client,
    offers: &Value,
) -> (Connection, antiphon_tests::older_server::Losing, Older) {
    let (sessions, losing, mut server) = forgetful();
    let greeting = server.greet("2025-11-25", offers.clone());
    let (connected, _) = join!(client.connect(sessions), greeting);
    (connected.expect("connected"), losing, server)
}

/// Progress as ever; no metadata of today; and no id twice (LEG-B-02).
#[tokio::test]
async fn requests_are_those_of_the_revision() {
    let reports = Arc::new(AtomicUsize::new(0));
    let count = reports.clone();
    let client = desk().on_log(LoggingLevel::Info, |_| {});
    let (connection, mut server) = met(&client, json!({ "tools": {}, "resources": {} })).await;
    let call = CallTool::new("t", json!({}))
        .on_progress(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        })
        .log_level(LoggingLevel::Debug)
        .meta("traceparent", "00-x")
        .meta("io.modelcontextprotocol/protocolVersion", "2026-07-28")
        .meta("io.modelcontextprotocol/logLevel", "debug");
    let (result, call) = join!(connection.call(call), async {
        let call = server.expect("tools/call").await;
        let token = &call["params"]["_meta"]["progressToken"];
        let progress = json!({ "progressToken": token, "progress": 1 });
        server.notify("notifications/progress", progress).await;
        server.respond(&call, &text("done")).await;
        call
    });
    result.expect("a result");
    assert_eq!(reports.load(Ordering::SeqCst), 1);
    let meta = json!({ "traceparent": "00-x", "progressToken": call["id"] });
    assert_eq!(call["params"]["_meta"], meta);

    // Without any hints nothing is kept.
    let mut ids = vec![call["id"].clone()];
    for _ in 0..2 {
        let (listed, request) = join!(connection.tools().all(), async {
            let request = server.expect("tools/list").await;
            let tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
            server.respond(&request, &json!({ "tools": [tool] })).await;
            request
        });
        assert_eq!(listed.expect("a list").len(), 1);
        assert_eq!(request["params"], json!({}));
        ids.push(request["id"].clone());
        let (read, request) = join!(connection.call(ReadResource::new("a:b")), async {
            let request = server.expect("resources/read").await;
            server.respond(&request, &json!({ "contents": [] })).await;
            request
        });
        read.expect("a resource");
        assert_eq!(request["params"], json!({ "uri": "a:b" }));
        ids.push(request["id"].clone());
    }
    let (read, ()) = join!(connection.read_resource("a:c"), async {
        let request = server.expect("resources/read").await;
        let missing = json!({ "code": -32002, "message": "Not found" });
        server.respond(&request, &missing).await;
        ids.push(request["id"].clone());
    });
    assert!(read.expect_err("not there").is_not_found());
    let count = ids.len();
    ids.sort_by_key(Value::as_i64);
    ids.dedup();
    assert_eq!(ids.len(), count);
}

/// LFEAT-C-01, LFEAT-C-02, LEG-B-07 from this side.
#[tokio::test]
async fn pings_levels_and_roots() {
    let client = desk().on_roots(|roots| async move { roots.list([]) });
    let (connection, mut server) = met(&client, json!({ "logging": {} })).await;
    let (alive, ()) = join!(connection.ping(), async {
        let ping = server.expect("ping").await;
        server.respond(&ping, &json!({})).await;
    });
    alive.expect("alive");
    let (set, request) = join!(connection.set_log_level(LoggingLevel::Alert), async {
        let request = server.expect("logging/setLevel").await;
        server.respond(&request, &json!({})).await;
        request
    });
    set.expect("set");
    assert_eq!(request["params"], json!({ "level": "alert" }));
    connection.roots_changed().await.expect("told");
    let told = server.expect("notifications/roots/list_changed").await;
    assert!(told.get("id").is_none());

    let (connection, mut server) = met(&desk(), json!({})).await;
    let error = connection.roots_changed().await.expect_err("no roots");
    assert!(matches!(error.kind(), ErrorKind::Invalid), "{error:?}");
    let error = connection.set_log_level(LoggingLevel::Alert).await;
    assert!(matches!(
        error.expect_err("no log").kind(),
        ErrorKind::Invalid
    ));
    server.quiet().await;

    // At a server of today: by asking for what there is, with each request, and not at all.
    let (peer, seen) = script::answers([text("done")]);
    let connection = desk().connect(peer).await.expect("connected");
    connection.ping().await.expect("alive");
    connection.roots_changed().await.expect("nothing to tell");
    connection
        .set_log_level(LoggingLevel::Alert)
        .await
        .expect("set");
    connection.call_tool("t", ()).await.expect("a result");
    let messages = seen.messages();
    assert_eq!(messages.len(), 1);
    let level = &messages[0]["params"]["_meta"]["io.modelcontextprotocol/logLevel"];
    assert_eq!(*level, "alert");
}

const CHANGES: &str = r#"{
    "tools": { "listChanged": true }, "prompts": {},
    "resources": { "subscribe": true, "listChanged": true }
}"#;

fn offers() -> Value {
    serde_json::from_str(CHANGES).expect("JSON")
}

async fn updated(server: &Older, uri: &str) {
    let uri = json!({ "uri": uri });
    server.notify("notifications/resources/updated", uri).await;
}

/// SHIM-C-03: the same subscription, told of and taken back where that is needed.
#[tokio::test]
async fn changes_come_as_they_do_at_other_servers() {
    let (connection, mut server) = met(&desk(), offers()).await;
    let filter = SubscriptionFilter::new().tools().prompts().resource("a:x");
    let listening = |filter: SubscriptionFilter| connection.listen(filter);
    let (changes, request) = join!(listening(filter), async {
        let request = server.expect("resources/subscribe").await;
        server.respond(&request, &json!({})).await;
        request
    });
    assert_eq!(request["params"], json!({ "uri": "a:x" }));
    let mut changes = changes.expect("subscribed");
    let acknowledged = serde_json::to_value(changes.acknowledged()).expect("JSON");
    // Prompts do not change here.
    assert_eq!(
        acknowledged,
        json!({ "toolsListChanged": true, "resourceSubscriptions": ["a:x"] })
    );
    for method in ["tools", "prompts", "resources"] {
        let method = format!("notifications/{method}/list_changed");
        server.notify(&method, json!({})).await;
    }
    updated(&server, "b:y").await;
    updated(&server, "a:x/part").await;
    // The same once more, before it was taken.
    updated(&server, "a:x/part").await;
    updated(&server, "a:x").await;
    for expected in [
        Change::Tools,
        Change::Resource("a:x/part".into()),
        Change::Resource("a:x".into()),
    ] {
        let change = changes.next().await.expect("a change").expect("not lost");
        assert_eq!(change, expected);
    }
    // Two of them to the same, of which the last unsubscribes.
    let (second, ()) = join!(
        listening(SubscriptionFilter::new().resource("a:x")),
        async {
            let request = server.expect("resources/subscribe").await;
            server.respond(&request, &json!({})).await;
        }
    );
    drop(changes);
    server.quiet().await;
    drop(second.expect("subscribed"));
    let request = server.expect("resources/unsubscribe").await;
    assert_eq!(request["params"], json!({ "uri": "a:x" }));
    server.respond(&request, &json!({})).await;
    // Refused: there is no subscription, and of two the first is taken back.
    let filter = SubscriptionFilter::new().resource("a:1").resource("a:2");
    let (refused, ()) = join!(listening(filter), async {
        let request = server.expect("resources/subscribe").await;
        server.respond(&request, &json!({})).await;
        let request = server.expect("resources/subscribe").await;
        let missing = json!({ "code": -32002, "message": "No" });
        server.respond(&request, &missing).await;
    });
    assert!(refused.expect_err("refused").is_not_found());
    let request = server.expect("resources/unsubscribe").await;
    assert_eq!(request["params"], json!({ "uri": "a:1" }));
}

/// A subscription ends with its connection, or with its server; and it holds only so much.
#[tokio::test]
async fn subscriptions_are_lost_with_an_error() {
    let filter = || SubscriptionFilter::new().tools();
    let (connection, mut server) = met(&desk(), offers()).await;
    let mut changes = connection.listen(filter()).await.expect("subscribed");
    server.quiet().await;
    drop(server);
    changes.next().await.expect("an end").expect_err("lost");
    assert!(changes.next().await.is_none());

    let (connection, _server) = met(&desk(), offers()).await;
    let mut changes = connection.listen(filter()).await.expect("subscribed");
    connection.close().await;
    changes.next().await.expect("an end").expect_err("closed");

    let (connection, mut server) = met(&desk(), offers()).await;
    let (changes, ()) = join!(
        connection.listen(SubscriptionFilter::new().resource("a:")),
        async {
            let request = server.expect("resources/subscribe").await;
            server.respond(&request, &json!({})).await;
        }
    );
    let mut changes = changes.expect("subscribed");
    for at in 0..3000 {
        updated(&server, &format!("a:{at}")).await;
    }
    let mut count = 0;
    loop {
        match changes.next().await.expect("an end") {
            Ok(_) => count += 1,
            Err(error) => break assert!(error.to_string().contains("not taken"), "{error}"),
        }
    }
    assert!(count <= 2048, "{count}");
}

/// The error that says that links must be opened first.
fn needs(ids: &[&str]) -> Value {
    let link = |id: &&str| json!({ "mode": "url", "message": "Sign in", "url": format!("https://example.com/{id}"), "elicitationId": id });
    let links: Vec<_> = ids.iter().map(link).collect();
    json!({ "code": -32042, "message": "Sign in first", "data": { "elicitations": links } })
}

async fn completed(server: &Older, id: &str) {
    let id = json!({ "elicitationId": id });
    server
        .notify("notifications/elicitation/complete", id)
        .await;
}

/// LFEAT-C-06, LFEAT-C-07
#[tokio::test]
async fn links_are_opened_and_the_call_is_made_again() {
    let shown = Arc::new(Mutex::new(Vec::new()));
    let log = shown.clone();
    let client = desk().on_url(move |link| {
        assert_eq!(link.call().name(), "t");
        log.lock()
            .expect("unpoisoned")
            .push((link.round(), link.url.clone()));
        async move { link.accept() }
    });
    let (connection, mut server) = met(&client, json!({})).await;
    let (result, ()) = join!(connection.call_tool("t", json!({ "a": 1 })), async {
        let call = server.expect("tools/call").await;
        server.respond(&call, &needs(&["one", "two", "one"])).await;
        until(|| shown.lock().expect("unpoisoned").len() == 2).await;
        for id in ["other", "one", "one"] {
            completed(&server, id).await;
        }
        server.quiet().await;
        completed(&server, "two").await;
        let again = server.expect("tools/call").await;
        assert_eq!(again["params"], call["params"]);
        assert_ne!(again["id"], call["id"]);
        server.respond(&again, &needs(&["three"])).await;
        until(|| shown.lock().expect("unpoisoned").len() == 3).await;
        completed(&server, "three").await;
        let again = server.expect("tools/call").await;
        server.respond(&again, &text("done")).await;
    });
    assert_eq!(result.expect("a result").first_text(), Some("done"));
    let mut shown = shown.lock().expect("unpoisoned").clone();
    shown.sort();
    let url = |id: &str| format!("https://example.com/{id}");
    assert_eq!(shown, [(1, url("one")), (1, url("two")), (2, url("three"))]);
}

/// Where it does not come to that, the error is what there is.
#[tokio::test]
async fn links_that_nobody_opens_are_an_error() {
    let declining = desk().on_url(|link| async move { link.decline() });
    let accepting = desk()
        .human_timeout(Duration::from_millis(50))
        .on_url(|link| async move { link.accept() });
    let mut unsafe_link = needs(&["x"]);
    unsafe_link["data"]["elicitations"][0]["url"] = "javascript:alert(1)".into();
    let mut nameless = needs(&["x"]);
    nameless["data"]["elicitations"][0]
        .as_object_mut()
        .expect("a link")
        .remove("elicitationId");
    let many: Vec<String> = (0..101).map(|at| at.to_string()).collect();
    let many = needs(&many.iter().map(String::as_str).collect::<Vec<_>>());
    let rows = [
        (desk(), "2025-11-25", needs(&["x"]), Some(-32042)),
        (
            desk().by_hand([Kind::Url]),
            "2025-11-25",
            needs(&["x"]),
            Some(-32042),
        ),
        (declining, "2025-11-25", needs(&["x"]), Some(-32042)),
        (accepting.clone(), "2025-06-18", needs(&["x"]), Some(-32042)),
        (accepting.clone(), "2025-11-25", needs(&[]), Some(-32042)),
        (accepting.clone(), "2025-11-25", nameless, Some(-32042)),
        (accepting.clone(), "2025-11-25", many, Some(-32042)),
        (
            accepting.clone(),
            "2025-11-25",
            json!({ "code": -32042, "message": "m", "data": 7 }),
            Some(-32042),
        ),
        (accepting.clone(), "2025-11-25", unsafe_link, Some(-32600)),
        (accepting.clone(), "2025-11-25", needs(&["x"]), None),
    ];
    for (client, version, error, code) in rows {
        let (connection, mut server) = met_in(version, &client, json!({})).await;
        let (result, ()) = join!(connection.call_tool("t", ()), async {
            let call = server.expect("tools/call").await;
            server.respond(&call, &error).await;
        });
        let ended = result.expect_err("not opened");
        assert_eq!(ended.code(), code, "{error}: {ended:?}");
        if code.is_none() {
            let clock = Clock::Human;
            assert!(
                matches!(ended.kind(), ErrorKind::TimedOut { clock: which, .. } if *which == clock)
            );
        }
        server.quiet().await;
    }
    // Again and again: no more than the rounds that are allowed.
    let client = desk()
        .max_rounds(2)
        .on_url(|link| async move { link.accept() });
    let (connection, mut server) = met(&client, json!({})).await;
    let (result, calls) = join!(connection.call_tool("t", ()), async {
        for at in 0.. {
            let call = tokio::time::timeout(Duration::from_millis(200), server.receive()).await;
            let Ok(call) = call else { return at };
            let id = at.to_string();
            server.respond(&call, &needs(&[&id])).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
            completed(&server, &id).await;
        }
        0
    });
    assert_eq!(calls, 3);
    assert!(matches!(
        result.expect_err("rounds").kind(),
        ErrorKind::RoundsExceeded(_)
    ));
}

/// LEG-B-05, LEG-B-06
#[tokio::test]
async fn batches_are_read_where_there_are_any() {
    for (version, reads) in [
        ("2025-03-26", true),
        ("2025-06-18", false),
        ("2024-11-05", false),
    ] {
        let logs = Arc::new(AtomicUsize::new(0));
        let count = logs.clone();
        let events = Arc::new(AtomicUsize::new(0));
        let strays = events.clone();
        let client = desk()
            .work_timeout(Duration::from_millis(300))
            .on_roots(|roots| async move { roots.list([]) })
            .on_log(LoggingLevel::Debug, move |_| {
                count.fetch_add(1, Ordering::SeqCst);
            })
            .on_event(move |event| {
                if let Event::Message(_) = event {
                    strays.fetch_add(1, Ordering::SeqCst);
                }
            });
        let (connection, mut server) = met_in(version, &client, json!({})).await;
        let calling = async { join!(connection.call_tool("a", ()), connection.call_tool("b", ())) };
        let (results, ()) = join!(calling, async {
            let calls = [
                server.expect("tools/call").await,
                server.expect("tools/call").await,
            ];
            let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": 1 } });
            let mut ask = roots();
            (ask["jsonrpc"], ask["id"]) = ("2.0".into(), "r".into());
            let answer = |call: &Value| json!({ "jsonrpc": "2.0", "id": call["id"], "result": text("batched") });
            let batch = json!([
                log,
                ask,
                answer(&calls[1]),
                answer(&calls[0]),
                [answer(&calls[0])],
                7
            ]);
            server.send(batch).await;
            server.write("[").await;
            server.write("[]").await;
            if reads {
                server.answer_to("r").await;
            }
        });
        for result in [results.0, results.1] {
            match reads {
                true => assert_eq!(result.expect("a result").first_text(), Some("batched")),
                false => drop(result.expect_err("no batches here")),
            }
        }
        assert_eq!(logs.load(Ordering::SeqCst), usize::from(reads), "{version}");
        assert!(events.load(Ordering::SeqCst) > 0);
    }
}

/// LHTTP-C-10: another session, what was subscribed to, and the requests once more; all together
/// and once.
#[tokio::test]
async fn a_lost_session_is_renewed_once_for_all() {
    let (connection, losing, mut server) = met_forgetful(&desk(), &offers()).await;
    let filter = SubscriptionFilter::new().resource("a:x");
    let (changes, ()) = join!(connection.listen(filter), async {
        let request = server.expect("resources/subscribe").await;
        server.respond(&request, &json!({})).await;
    });
    let mut changes = changes.expect("subscribed");
    losing.lose();
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let connection = connection.clone();
            tokio::spawn(async move { connection.call_tool("t", ()).await })
        })
        .collect();
    let greeting = server.shake("2025-06-18", json!({ "tools": {} })).await;
    assert_eq!(greeting["params"]["protocolVersion"], "2025-11-25");
    let request = server.expect("resources/subscribe").await;
    assert_eq!(request["params"], json!({ "uri": "a:x" }));
    server.respond(&request, &json!({})).await;
    for _ in 0..20 {
        let call = server.expect("tools/call").await;
        server.respond(&call, &text("done")).await;
    }
    for call in calls {
        call.await.expect("no panic").expect("a result");
    }
    assert_eq!(losing.started_over(), 1);
    // What changed in between, nobody told.
    let change = changes.next().await.expect("a change").expect("not lost");
    assert_eq!(change, Change::Resource("a:x".into()));
    // And the server is what it is now.
    assert_eq!(connection.protocol_version(), Version::V2025_06_18);
    assert!(connection.server_capabilities().resources.is_none());
    let lost = connection.negotiation();
    assert_eq!(
        lost.iter()
            .filter(|step| **step == Step::SessionLost)
            .count(),
        1
    );
}

/// A server that loses every session, or takes nobody in, is not tried for ever.
#[tokio::test]
async fn a_session_that_cannot_be_had_is_an_error() {
    let (connection, losing, mut server) = met_forgetful(&desk(), &json!({})).await;
    losing.lose();
    let (result, ()) = join!(connection.call_tool("t", ()), async {
        let greeting = server.expect("initialize").await;
        let initialized = antiphon_tests::older_server::initialized("2025-11-25", &json!({}));
        // Lost again at once.
        losing.lose();
        server.respond(&greeting, &initialized).await;
        server.expect("notifications/initialized").await;
    });
    let error = result.expect_err("lost again");
    assert!(matches!(error.kind(), ErrorKind::SessionLost), "{error:?}");

    let calls: Vec<_> = (0..10)
        .map(|_| {
            let connection = connection.clone();
            tokio::spawn(async move { connection.call_tool("t", ()).await })
        })
        .collect();
    let greeting = server.expect("initialize").await;
    let full = json!({ "code": -32000, "message": "Full" });
    server.respond(&greeting, &full).await;
    for call in calls {
        let error = call.await.expect("no panic").expect_err("full");
        assert!(error.to_string().contains("Full"), "{error}");
    }
    server.quiet().await;
}

/// LEG-C-07: whoever noticed first may go away; the handshake goes on, and is not cancelled.
#[tokio::test]
async fn a_renewal_does_not_depend_on_who_noticed() {
    let (connection, losing, mut server) = met_forgetful(&desk(), &json!({})).await;
    losing.lose();
    let impatient = {
        let connection = connection.clone();
        tokio::spawn(async move { connection.call_tool("t", ()).await })
    };
    let greeting = server.expect("initialize").await;
    impatient.abort();
    server.quiet().await;
    let initialized = antiphon_tests::older_server::initialized("2025-11-25", &json!({}));
    server.respond(&greeting, &initialized).await;
    server.expect("notifications/initialized").await;
    let (alive, ()) = join!(connection.ping(), async {
        let ping = server.expect("ping").await;
        server.respond(&ping, &json!({})).await;
    });
    alive.expect("alive");
    assert_eq!(losing.started_over(), 1);
}

/// A question of a session that is gone is nobody's.
#[tokio::test]
async fn questions_end_with_their_session() {
    let given_up = Arc::new(AtomicBool::new(false));
    let noted = given_up.clone();
    let client = desk().on_form(move |form| {
        let (over, noted) = (form.cancelled().clone(), noted.clone());
        tokio::spawn(async move {
            over.cancelled().await;
            noted.store(true, Ordering::SeqCst);
        });
        async move {
            std::future::pending::<()>().await;
            form.cancel()
        }
    });
    let (connection, losing, mut server) = met_forgetful(&client, &json!({})).await;
    server.ask("q", &form("m")).await;
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert!(!given_up.load(Ordering::SeqCst));
    losing.lose();
    let (alive, ()) = join!(connection.ping(), async {
        server.shake("2025-11-25", json!({})).await;
        let ping = server.expect("ping").await;
        server.respond(&ping, &json!({})).await;
    });
    alive.expect("alive");
    until(|| given_up.load(Ordering::SeqCst)).await;
    server.quiet().await;
}

/// The error says what to do instead.
#[tokio::test]
async fn a_paused_call_is_not_resumed_in_an_older_session() {
    let client = desk().by_hand([Kind::Roots]);
    let (peer, _) = script::answers([asking([("r", roots())], Some("s"))]);
    let modern = client.connect(peer).await.expect("connected");
    let outcome = modern
        .start(CallTool::new("t", ()))
        .await
        .expect("an outcome");
    let Outcome::Paused(paused) = outcome else {
        panic!("{outcome:?}")
    };
    let paused: Paused = paused.answer("r", ListRootsResult::new(Vec::new()));
    let (connection, mut server) = met(&client, json!({})).await;
    let error = connection
        .resume::<CallToolResult>(paused)
        .await
        .expect_err("not here");
    let text = error.to_string();
    assert!(
        text.contains("begun in revision 2026-07-28") && text.contains("begin it anew"),
        "{text}"
    );
    error.into_paused().expect("unharmed");
    server.quiet().await;
}

/// All that goes over the wire is shown, in both directions.
#[tokio::test]
async fn traffic_is_shown() {
    let shown = Arc::new(Mutex::new(Vec::new()));
    let log = shown.clone();
    let client = desk().on_traffic(move |traffic| {
        let (mark, text) = match traffic {
            Traffic::Sent(text) => (">", text),
            Traffic::Received(text) => ("<", text),
        };
        let message: Value = serde_json::from_slice(text).expect("JSON");
        let what = message["method"].as_str().unwrap_or("response");
        log.lock()
            .expect("unpoisoned")
            .push(format!("{mark} {what}"));
    });
    let (_connection, mut server) = met(&client, json!({})).await;
    server.ask(1, &json!({ "method": "ping" })).await;
    server.answer_to(1).await;
    let shown = shown.lock().expect("unpoisoned").clone();
    assert_eq!(
        shown,
        [
            "> server/discover",
            "< response",
            "> initialize",
            "< response",
            "> notifications/initialized",
            "< ping",
            "> response",
        ]
    );
}
