//! Batches, which 2025-03-26 has and no other revision.

use antiphon_tests::{
    harbour,
    http::Server,
    older_http::{Older, call, request, text, watched},
    until,
};
use serde_json::{Value, json};

async fn client(version: &str) -> (Server, Older) {
    let server = Server::start(antiphon::http::service(harbour::endpoint())).await;
    let client = Older::open(server.address, version).await;
    (server, client)
}

/// LEG-B-05, LHTTP-S-04
#[tokio::test]
async fn a_batch_is_answered_as_one() {
    let (_server, client) = client("2025-03-26").await;
    let note = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
    let response = json!({"jsonrpc": "2.0", "id": 5, "result": {}});
    let batch = json!([
        call(1, "echo", json!({"n": 1})),
        note,
        request("p", "ping", json!({})),
        response,
        request(3, "no/such", json!({})),
        call(4, "slow", json!({"ms": 50})),
        {"jsonrpc": "2.0", "id": {}, "method": "x"},
        7,
    ]);
    let answer = client.post(&batch).await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, "application/json")
    );
    let answers = answer.last().as_array().expect("an array");
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(
        ids,
        [
            json!(1),
            json!("p"),
            json!(3),
            json!(4),
            Value::Null,
            Value::Null
        ]
    );
    assert_eq!(text(&answers[0]), r#"{"n":1}"#);
    assert_eq!(answers[2]["error"]["code"], -32601);
    assert!(answers[4].get("id").is_some(), "LEG-S-07");
    let quiet = client.post(&json!([note, response])).await;
    assert_eq!((quiet.status, quiet.text.as_str()), (202, ""));
}

/// LEG-B-05, SHIM-S-05: one stream for all, each response an event.
#[tokio::test]
async fn a_batch_that_asks_is_answered_with_events() {
    let (_server, client) = client("2025-03-26").await;
    let batch = json!([
        watched(1, "progress", json!({})),
        call(2, "slow", json!({"ms": 30})),
        request(3, "no/such", json!({})),
    ]);
    let events = client.stream(&batch).await.rest().await;
    let mut answered: Vec<_> = (events.iter())
        .filter_map(|event| event.data["id"].as_u64())
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, [1, 2, 3]);
    assert_eq!(events.len(), 6, "{events:?}");
    // And can be gone on with.
    let last = events[0].id.clone().expect("an id");
    assert_eq!(client.listen(Some(&last)).await.rest().await, events[1..]);
}

/// One of them is cancelled, the others are not.
#[tokio::test]
async fn one_of_a_batch_can_be_cancelled() {
    let endpoint = harbour::endpoint();
    let server = Server::start(antiphon::http::service(endpoint.clone())).await;
    let client = Older::open(server.address, "2025-03-26").await;
    let batch = json!([
        call(1, "slow", json!({"ms": 60_000})),
        call(2, "slow", json!({"ms": 400})),
    ]);
    let running = client.clone();
    let running = tokio::spawn(async move { running.post(&batch).await });
    until(|| endpoint.calls() == 2).await;
    assert_eq!(client.cancel(1).await, 202);
    let answer = running.await.expect("no panic");
    let answers = answer.last().as_array().expect("an array");
    assert_eq!(answers.len(), 1, "{}", answer.text);
    assert_eq!(text(&answers[0]), "slept 400, 1 dropped");
}

/// LEG-B-06, LEG-C-08, wire.md 10.1, step 5.1
#[tokio::test]
async fn what_is_no_batch_is_refused_whole() {
    let (_server, older) = client("2025-03-26").await;
    let good = call(1, "echo", json!({}));
    let modern = antiphon_tests::call(2, "echo", json!({}));
    let many: Vec<_> = (0..101).map(|id| call(id, "echo", json!({}))).collect();
    for batch in [
        json!([]),
        json!([good, [good]]),
        json!([good, request(2, "initialize", json!({}))]),
        json!([good, modern]),
        json!(many),
    ] {
        let answer = older.post(&batch).await;
        assert_eq!(
            (answer.status, answer.code()),
            (400, -32600),
            "{}",
            answer.text
        );
        assert_eq!(answer.last().get("id"), Some(&Value::Null));
    }
    let broken = older.send(older.request("POST", "[{]")).await;
    assert_eq!((broken.status, broken.code()), (400, -32700));
    let unknown = older.in_session("none").post(&json!([good])).await;
    assert_eq!(unknown.status, 404);
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let (_server, client) = client(version).await;
        let answer = client.post(&json!([good])).await;
        assert_eq!((answer.status, answer.code()), (400, -32600), "{version}");
    }
}
