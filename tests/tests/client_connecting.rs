//! Connecting: which revision is spoken, what is known of a server, and without asking again.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU32, Ordering},
};

use antiphon::{
    Ask, Client, Form, Http, Kind, Server, Stdio, Stop,
    client::{
        CallTool, Connect, Era, ErrorKind, Event, Identity, Negotiated, Paused, Streams, Traffic,
    },
    memory::{self, Peer},
    types::{CallToolResult, Implementation, ListRootsResult, Version},
};
use antiphon_tests::{
    http,
    script::{discovered, respond, text},
};
use serde_json::{Value, json};

/// A server that answers all requests, discovery too, with these results or errors in turn.
fn server(results: impl IntoIterator<Item = Value>) -> (Peer, Arc<Mutex<Vec<Value>>>) {
    let (client, mut server) = memory::pair();
    let mut results = Vec::from_iter(results).into_iter();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    tokio::spawn(async move {
        while let Some(message) = server.receive().await {
            let request: Value = serde_json::from_slice(&message).expect("JSON");
            if let Some(result) = results.next() {
                server.send(respond(&request, &result).to_string()).await;
            }
            log.lock().expect("unpoisoned").push(request);
        }
    });
    (client, seen)
}

fn other_version(supported: &Value) -> Value {
    let data = json!({ "supported": supported, "requested": "2026-07-28" });
    json!({ "code": -32022, "message": "Protocol version not supported", "data": data })
}

#[tokio::test]
async fn a_server_is_known_after_one_request() {
    let mut result = discovered();
    result["instructions"] = "Reserve first.".into();
    let (peer, seen) = server([result]);
    let connection = Client::new("desk", "1.0")
        .connect(peer)
        .await
        .expect("connected");
    assert_eq!(connection.protocol_version(), Version::V2026_07_28);
    assert_eq!(connection.instructions(), Some("Reserve first."));
    assert!(connection.server_capabilities().tools.is_some());
    assert_eq!(connection.server_info().expect("an info").name, "impostor");
    // What it says of itself is not what it is.
    assert_eq!(*connection.server(), Identity::Memory);
    let seen = seen.lock().expect("unpoisoned");
    assert_eq!(seen.len(), 1);
    let meta = &seen[0]["params"]["_meta"];
    let info = &meta["io.modelcontextprotocol/clientInfo"];
    assert_eq!(info, &json!({"name": "desk", "version": "1.0"}));
    assert_eq!(
        meta["io.modelcontextprotocol/clientCapabilities"],
        json!({})
    );
}

/// Who configures nothing speaks the newest revision, and is asked.
#[tokio::test]
async fn what_nobody_configures_is_modern_and_asks() {
    #[derive(Form)]
    struct Name {
        name: String,
    }
    async fn greet(ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form("name", "Who are you?")?;
        Ok(format!("Hello, {name}!"))
    }
    async fn greeted(to: impl Connect + Send) {
        let client = Client::new("desk", "1.0")
            .on_form(|form| async move { form.accept(json!({ "name": "Ada" })) });
        let connection = client.connect(to).await.expect("connected");
        assert_eq!(connection.protocol_version(), Version::LATEST);
        let result = connection.call_tool("greet", ()).await.expect("a result");
        assert_eq!(result.first_text(), Some("Hello, Ada!"));
        connection.close().await;
    }
    let server: Server = Server::new("desk", "1.0").tool("greet", greet);
    greeted(antiphon::memory(server.clone())).await;

    let (ours, theirs) = tokio::io::duplex(1000);
    let (input, output) = tokio::io::split(theirs);
    tokio::spawn(antiphon::stdio::serve_on(server.clone(), input, output));
    let (read, write) = tokio::io::split(ours);
    greeted(Streams::new(read, write, "a pipe")).await;

    let served = http::Server::start(antiphon::http::service(server)).await;
    greeted(Http::new(format!("http://{}/mcp", served.address))).await;
}

/// META-C-03, and servers that put their name where earlier revisions had it.
#[tokio::test]
async fn a_client_may_stay_anonymous_and_a_server_may_be_odd() {
    let mut result = discovered();
    result["_meta"] = json!({});
    result["serverInfo"] = json!({"name": "old habits", "version": "1"});
    let (peer, seen) = server([result]);
    let client = Client::with_info(Implementation::new("desk", "1.0")).anonymous();
    let connection = client.connect(peer).await.expect("connected");
    assert_eq!(
        connection.server_info().expect("an info").name,
        "old habits"
    );
    let seen = seen.lock().expect("unpoisoned");
    let meta = seen[0]["params"]["_meta"].as_object().expect("metadata");
    assert!(!meta.contains_key("io.modelcontextprotocol/clientInfo"));
}

/// VER-C-02, VER-C-03: one corrective attempt, also for a version that we thought it had.
#[tokio::test]
async fn a_refused_version_is_tried_once_more() {
    let again = other_version(&json!(["2026-07-28"]));
    let (peer, seen) = server([again.clone(), discovered(), again.clone(), text("done")]);
    let connection = Client::new("desk", "1.0")
        .connect(peer)
        .await
        .expect("connected");
    connection.call_tool("t", ()).await.expect("a result");
    assert_eq!(seen.lock().expect("unpoisoned").len(), 4);

    let (peer, seen) = server([again.clone(), again.clone(), discovered()]);
    let error = Client::new("desk", "1.0")
        .connect(peer)
        .await
        .expect_err("ping-pong");
    assert_eq!(error.code(), Some(-32022));
    assert_eq!(seen.lock().expect("unpoisoned").len(), 2);
}

/// wire.md 10.3 and 10.5: to a client of this era only, a server of another one is told apart, and
/// the versions are named.
#[tokio::test]
async fn a_server_of_another_era_is_an_error_that_names_the_versions() {
    let mut old = discovered();
    old["supportedVersions"] = json!(["2025-11-25"]);
    let mut future = discovered();
    future["supportedVersions"] = json!(["2031-01-01"]);
    let unknown = json!({ "code": -32601, "message": "Method not found" });
    for (answer, named) in [
        (old, "2025-11-25"),
        (future, "2031-01-01"),
        (
            other_version(&json!(["2025-06-18", "2031-01-01"])),
            "2025-06-18, 2031-01-01",
        ),
        (unknown, "none that it names"),
    ] {
        let (peer, seen) = server([answer]);
        let client = Client::new("desk", "1.0").era(Era::Pinned(Version::LATEST));
        let error = client.connect(peer).await.expect_err("no version");
        assert!(
            matches!(error.kind(), ErrorKind::Version { .. }),
            "{error:?}"
        );
        let text = error.to_string();
        assert!(
            text.contains(named) && text.contains("2026-07-28"),
            "{text}"
        );
        assert_eq!(seen.lock().expect("unpoisoned").len(), 1);
    }
    // A modern server that objects to something else is no older one.
    let mismatch = json!({ "code": -32020, "message": "Mcp-Method is missing" });
    let (peer, _) = server([mismatch]);
    let error = Client::new("desk", "1.0")
        .connect(peer)
        .await
        .expect_err("refused");
    assert_eq!(error.code(), Some(-32020));
}

#[tokio::test]
async fn a_known_server_needs_no_round_trip() {
    let (peer, _) = server([discovered()]);
    let client = Client::new("desk", "1.0");
    let connection = client.connect(peer).await.expect("connected");
    let stored = serde_json::to_string(connection.negotiated()).expect("JSON");
    let known: Negotiated = serde_json::from_str(&stored).expect("read");
    let (peer, seen) = server([text("done")]);
    let connection = client
        .connect_as(peer, known.clone())
        .await
        .expect("connected");
    assert_eq!(*connection.negotiated(), known);
    assert!(seen.lock().expect("unpoisoned").is_empty());
    connection.call_tool("t", ()).await.expect("a result");
    assert_eq!(seen.lock().expect("unpoisoned").len(), 1);
}

#[tokio::test]
async fn traffic_is_shown_as_it_is() {
    let (peer, _) = server([discovered(), text("done")]);
    let (sent, received) = (
        Arc::new(AtomicU32::new(0)),
        Arc::new(Mutex::new(Vec::new())),
    );
    let (count, log) = (sent.clone(), received.clone());
    let client = Client::new("desk", "1.0").on_traffic(move |traffic| match traffic {
        Traffic::Sent(_) => {
            count.fetch_add(1, Ordering::SeqCst);
        }
        Traffic::Received(text) => log.lock().expect("unpoisoned").push(text.to_vec()),
    });
    let connection = client.connect(peer).await.expect("connected");
    connection.call_tool("t", ()).await.expect("a result");
    assert_eq!(sent.load(Ordering::SeqCst), 2);
    let received = received.lock().expect("unpoisoned");
    assert_eq!(received.len(), 2);
    assert!(received[1].ends_with(br#""text":"done"}]}}"#));
}

/// Whoever looks after all connections hears of those that fail, whatever carries them.
#[tokio::test]
async fn a_transport_that_fails_is_told() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let log = told.clone();
    let client = Client::new("desk", "1.0").on_event(move |event| {
        if let Event::Transport(error) = event {
            log.lock().expect("unpoisoned").push(error.to_string());
        }
    });
    let nobody = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("bound");
    let url = format!("http://{}/mcp", nobody.local_addr().expect("an address"));
    drop(nobody);
    let error = client
        .connect(Http::new(&url))
        .await
        .expect_err("nobody is there");
    assert!(matches!(error.kind(), ErrorKind::Transport), "{error:?}");
    assert!(!error.may_have_been_sent());
    let mut child = std::process::Command::new("sh");
    child.args(["-c", "echo broken >&2; exit 3"]);
    let error = client
        .connect(Stdio::spawn(child))
        .await
        .expect_err("it exits");
    assert!(matches!(error.kind(), ErrorKind::Transport), "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with("connecting to sh -c "), "{text}");
    assert!(error.may_have_been_sent());
    let told = told.lock().expect("unpoisoned");
    // One that exits when it is probed is started once more.
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[1], told[2]);
    assert!(
        told[0].contains(url.trim_end_matches("/mcp")),
        "{}",
        told[0]
    );
    assert!(
        told[1].contains("status 3") && told[1].contains("broken"),
        "{}",
        told[1]
    );
}

/// Methods of extensions go through as they are, but may not ask.
#[tokio::test]
async fn any_method_can_be_requested() {
    let asks = json!({ "resultType": "input_required", "requestState": "s" });
    let (peer, seen) = server([discovered(), json!({ "tide": 1.5 }), asks]);
    let connection = Client::new("desk", "1.0")
        .connect(peer)
        .await
        .expect("connected");
    let params = json!({ "port": "oslo", "_meta": { "traceparent": "t" } });
    let params = params.as_object().expect("an object");
    let result = connection.request("org.example/tide", params).await;
    assert_eq!(result.expect("a result"), json!({ "tide": 1.5 }));
    let error = connection
        .request("org.example/tide", params)
        .await
        .expect_err("asks");
    assert!(matches!(error.kind(), ErrorKind::Decode), "{error:?}");
    let seen = seen.lock().expect("unpoisoned").clone();
    let sent = &seen[1]["params"];
    assert_eq!(
        (&seen[1]["method"], &sent["port"]),
        (&json!("org.example/tide"), &json!("oslo"))
    );
    assert_eq!(sent["_meta"]["traceparent"], "t");
    assert_eq!(
        sent["_meta"]["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );
    assert!(!connection.is_closed());
    let clone = connection.clone();
    connection.close().await;
    assert!(clone.is_closed());
}

/// A server's name is its user's choice, and part of what it is.
#[tokio::test]
async fn servers_can_be_named() {
    let asks = json!({ "resultType": "input_required", "inputRequests": { "r": { "method": "roots/list" } } });
    let client = Client::new("desk", "1.0").by_hand([Kind::Roots]);
    let (peer, _) = server([discovered(), asks]);
    let work = client.connect(peer.named("work")).await.expect("connected");
    assert_eq!(work.server().to_string(), "work (this process)");
    let error = work.call_tool("t", ()).await.expect_err("by hand");
    let paused = error.into_paused().expect("the call");
    let paused = paused.answer("r", ListRootsResult::new(Vec::new()));
    let stored = serde_json::to_string(&paused).expect("JSON");
    for (name, is_it) in [("home", false), ("work", true)] {
        let (peer, seen) = server([discovered(), text("done")]);
        let connection = client.connect(peer.named(name)).await.expect("connected");
        let paused: Paused = serde_json::from_str(&stored).expect("read");
        let outcome = connection.resume::<CallToolResult>(paused).await;
        assert_eq!(outcome.is_ok(), is_it, "{outcome:?}");
        assert_eq!(
            seen.lock().expect("unpoisoned").len(),
            1 + usize::from(is_it)
        );
    }
}

/// A host that lists whatever its servers have need not look at what they offer first.
#[tokio::test]
async fn a_server_without_such_things_has_an_empty_list_of_them() {
    let unknown = json!({ "code": -32601, "message": "Method not found" });
    let (peer, _) = server([discovered(), unknown.clone(), unknown]);
    let connection = Client::new("desk", "1.0")
        .connect(peer)
        .await
        .expect("connected");
    assert_eq!(connection.prompts().all().await.expect("none"), []);
    // It says that it has tools.
    let error = connection.tools().all().await.expect_err("a lie");
    assert_eq!(error.code(), Some(-32601));
}

/// The first error that most authors of clients meet says what to do.
#[tokio::test]
async fn a_missing_capability_is_named_with_its_callback() {
    let data = json!({ "requiredCapabilities": { "elicitation": { "form": {} }, "sampling": { "tools": {} } } });
    let missing = json!({ "code": -32021, "message": "No", "data": data });
    let (peer, _) = server([discovered(), missing]);
    let connection = Client::new("desk", "1.0")
        .connect(peer)
        .await
        .expect("connected");
    let error = connection.call_tool("t", ()).await.expect_err("refused");
    let text = error.to_string();
    assert!(
        text.contains("`Client::on_form`, or `by_hand([Kind::Form])`"),
        "{text}"
    );
    assert!(
        text.contains("on_sample_with_tools") && !text.contains("`Client::on_sample`"),
        "{text}"
    );
}

/// Callbacks, kinds that are answered by hand, and extensions: that is what is declared, and
/// nothing that a caller adds to the metadata replaces it.
#[tokio::test]
async fn a_client_declares_what_it_has() {
    let settings = json!({ "depth": 3 });
    let settings = settings.as_object().expect("an object").clone();
    let client = Client::new("desk", "1.0")
        .on_url(|link| async move { link.decline() })
        .by_hand([Kind::SampleWithTools, Kind::Roots])
        .extension("org.example/tides", settings);
    let declared = json!({
        "elicitation": { "url": {} }, "sampling": { "tools": {} }, "roots": {},
        "extensions": { "org.example/tides": { "depth": 3 } },
    });
    assert_eq!(
        serde_json::to_value(client.capabilities()).expect("JSON"),
        declared
    );
    let (peer, seen) = server([discovered(), text("done")]);
    let connection = client.connect(peer).await.expect("connected");
    let key = "io.modelcontextprotocol/clientCapabilities";
    let call = CallTool::new("t", ())
        .meta(key, json!({}))
        .meta("org.example/x", 1);
    connection.call(call).await.expect("a result");
    let seen = seen.lock().expect("unpoisoned").clone();
    let meta = &seen[1]["params"]["_meta"];
    assert_eq!((&meta[key], &meta["org.example/x"]), (&declared, &json!(1)));
}
