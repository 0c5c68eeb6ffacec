//! What is so only where a client has a channel of its own.

use std::{sync::atomic::Ordering, time::Duration};

use antiphon::legacy::Shim;
use antiphon_tests::{
    older::{Older, REVISIONS},
    until,
    wire::Wire,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{faults::Desk, handshake::plain};

/// wire.md 10.2, step 3
#[tokio::test]
async fn there_is_one_handshake() {
    for way in [Wire::Memory, Wire::Stdio] {
        let mut older = Older::open(way, plain(), "2025-06-18").await;
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "a", "version": "1"}});
        let response = older.ask("initialize", params).await;
        assert_eq!(response["error"]["code"], -32600, "{response}");
        let (_, response) = older
            .call("echo", json!({}), antiphon_tests::older::never)
            .await;
        assert_eq!(
            response["result"]["content"][0]["text"],
            "Legacy 2025-06-18"
        );
    }
}

/// LEG-B-07, wire.md 10.2, step 4
#[tokio::test]
async fn before_the_handshake_there_is_only_ping() {
    for way in [Wire::Memory, Wire::Stdio] {
        let mut older = Older::silent(way, plain()).await;
        assert_eq!(older.ask("ping", json!({})).await["result"], json!({}));
        let response = older.ask("tools/list", json!({})).await;
        assert_eq!(response["error"]["code"], -32602, "{response}");
        assert_eq!(
            response["error"]["data"]["supported"],
            json!(["2026-07-28"])
        );
        let mut older = Older::open(way, plain(), "2024-11-05").await;
        assert_eq!(older.ask("ping", json!({})).await["result"], json!({}));
    }
}

/// Nothing that comes is dropped without a word, and nothing ends the session.
#[tokio::test]
async fn what_is_not_json_is_a_parse_error() {
    for way in [Wire::Memory, Wire::Stdio] {
        for version in REVISIONS {
            let mut older = Older::open(way, plain(), version).await;
            for nonsense in ["{", "nonsense", "{} {}"] {
                older.say_text(nonsense).await;
                let heard = older.hear().await;
                assert_eq!(heard["error"]["code"], -32700, "{version} {nonsense}");
                let has_null = heard.get("id").is_some();
                assert_eq!(has_null, version < "2025-11-25", "{version}: {heard}");
            }
            assert_eq!(older.ask("ping", json!({})).await["result"], json!({}));
        }
    }
}

/// ERA-S-05
#[tokio::test]
async fn who_wants_no_older_clients_has_none() {
    for way in [Wire::Memory, Wire::Stdio] {
        let mut older = Older::silent(way, plain().modern_only()).await;
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "a", "version": "1"}});
        let response = older.ask("initialize", params).await;
        assert_eq!(response["error"]["code"], -32022);
        assert_eq!(
            response["error"]["data"]["supported"],
            json!(["2026-07-28"])
        );
        assert_eq!(older.ask("ping", json!({})).await["error"]["code"], -32602);
    }
}

/// A client that is gone leaves nothing behind.
#[tokio::test]
async fn a_client_that_leaves_takes_its_calls_along() {
    for way in [Wire::Memory, Wire::Stdio] {
        let desk = Desk::new(Shim::new());
        let mut older = Older::open(way, desk.endpoint.clone(), "2025-11-25").await;
        older.begin("tools/call", json!({"name": "two"})).await;
        older.hear().await;
        assert_eq!(desk.endpoint.waiting_calls(), 1);
        drop(older);
        until(|| desk.endpoint.waiting_calls() == 0 && desk.endpoint.calls() == 0).await;
        assert_eq!(desk.done.load(Ordering::SeqCst), 0);
    }
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
