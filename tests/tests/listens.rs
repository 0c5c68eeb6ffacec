//! `subscriptions/listen`: what is acknowledged, what is delivered, and how it ends.

use antiphon_tests::{
    call, harbour,
    http::{Server, events, post},
    request,
    wire::{Connection, Wire},
};
use http_body_util::BodyExt;
use serde_json::{Value, json};

const ID: &str = "io.modelcontextprotocol/subscriptionId";

fn listen(id: impl Into<Value>, filter: Value) -> Value {
    let mut params = json!({});
    params["notifications"] = filter;
    request(id, "subscriptions/listen", params)
}

async fn open(wire: Wire) -> Connection {
    wire.open(env!("CARGO_BIN_EXE_antiphon-tests-stdio")).await
}

/// Announces a change and waits for both the answer and, if one is due, the notification.
async fn announce(connection: &mut Connection, what: &str) -> Vec<Value> {
    let exchange = connection
        .ask(&call("announce", "announce", json!({ "what": what })))
        .await;
    exchange.notifications
}

/// SUB-S-01 to SUB-S-06, SUB-S-13, RES-S-08, META-S-08, STDIO-C-05
async fn only_what_was_asked_for_is_delivered(wire: Wire) {
    let mut connection = open(wire).await;
    connection
        .send(&listen(
            1,
            json!({
                "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": false,
                "resourceSubscriptions": ["tide://1"]
            }),
        ))
        .await;
    let ack = connection.receive().await.expect("an acknowledgment");
    assert_eq!(ack["method"], "notifications/subscriptions/acknowledged");
    // Prompts do not announce changes here, and resources were not asked for.
    assert_eq!(
        ack["params"]["notifications"],
        json!({
            "toolsListChanged": true, "resourceSubscriptions": ["tide://1"]
        })
    );
    assert_eq!(ack["params"]["_meta"][ID], json!(1));
    let mut seen = Vec::new();
    for what in ["prompts", "resources", "tide://2", "tide://1", "tools"] {
        seen.extend(announce(&mut connection, what).await);
    }
    seen.extend(
        connection
            .ask(&call("last", "slow", json!({"ms": 50})))
            .await
            .notifications,
    );
    let seen: Vec<_> = seen
        .iter()
        .map(|n| (n["method"].clone(), n["params"].clone()))
        .collect();
    assert_eq!(
        seen,
        [
            (
                json!("notifications/resources/updated"),
                json!({"uri": "tide://1", "_meta": {ID: 1}})
            ),
            (
                json!("notifications/tools/list_changed"),
                json!({"_meta": {ID: 1}})
            ),
        ]
    );
}

#[tokio::test]
async fn memory_only_what_was_asked_for_is_delivered() {
    only_what_was_asked_for_is_delivered(Wire::Memory).await;
}

#[tokio::test]
async fn stdio_only_what_was_asked_for_is_delivered() {
    only_what_was_asked_for_is_delivered(Wire::Stdio).await;
}

/// AMB-01, CANC-S-02, CANC-S-04, SUB-S-07 to SUB-S-09: on a shared channel the end is announced
/// and then answered.
#[tokio::test]
async fn the_server_ends_a_subscription_in_good_order() {
    for wire in [Wire::Memory, Wire::Stdio] {
        let mut connection = open(wire).await;
        connection
            .send(&listen("L", json!({"toolsListChanged": true})))
            .await;
        connection.receive().await.expect("an acknowledgment");
        connection
            .send(&call(2, "announce", json!({"what": "end"})))
            .await;
        let mut messages = Vec::new();
        for _ in 0..3 {
            messages.push(connection.receive().await.expect("a message"));
        }
        messages.retain(|message| message["id"] != json!(2));
        assert_eq!(messages[0]["method"], "notifications/cancelled");
        assert_eq!(messages[0]["params"]["requestId"], "L");
        assert_eq!(messages[0]["params"]["_meta"][ID], "L");
        assert_eq!(messages[1]["id"], "L");
        assert_eq!(messages[1]["result"]["resultType"], "complete");
        assert_eq!(messages[1]["result"]["_meta"][ID], "L");
    }
}

/// SUB-C-07, STDIO-S-05: after a cancellation the server is silent about that subscription.
#[tokio::test]
async fn a_cancelled_subscription_is_silent() {
    for wire in [Wire::Memory, Wire::Stdio] {
        let mut connection = open(wire).await;
        connection
            .send(&listen("L", json!({"toolsListChanged": true})))
            .await;
        connection.receive().await.expect("an acknowledgment");
        connection
            .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "L"}}))
            .await;
        assert!(announce(&mut connection, "tools").await.is_empty());
        let last = connection.ask(&call(3, "slow", json!({"ms": 30}))).await;
        assert!(last.notifications.is_empty());
    }
}

/// SUB-C-04: several subscriptions on one channel, each with its own id and filter.
#[tokio::test]
async fn subscriptions_do_not_mix() {
    let mut connection = open(Wire::Memory).await;
    connection
        .send(&listen(1, json!({"toolsListChanged": true})))
        .await;
    connection.receive().await.expect("an acknowledgment");
    connection
        .send(&listen("1", json!({"resourcesListChanged": true})))
        .await;
    connection.receive().await.expect("an acknowledgment");
    let mut seen = announce(&mut connection, "tools").await;
    seen.extend(announce(&mut connection, "resources").await);
    seen.extend(
        connection
            .ask(&call(9, "slow", json!({"ms": 30})))
            .await
            .notifications,
    );
    let ids: Vec<_> = seen
        .iter()
        .map(|n| (&n["method"], &n["params"]["_meta"][ID]))
        .collect();
    assert_eq!(
        ids,
        [
            (&json!("notifications/tools/list_changed"), &json!(1)),
            (&json!("notifications/resources/list_changed"), &json!("1")),
        ]
    );
}

/// SUB-S-02, SUB-S-06, HTTP-S-15: the same over HTTP, on the stream of the request itself.
#[tokio::test]
async fn http_streams_carry_their_own_subscription() {
    let server = Server::start(antiphon::http::service(harbour::endpoint())).await;
    let filter = json!({"toolsListChanged": true, "resourceSubscriptions": ["tide://1"]});
    let mut body = server.open(post(&listen(7, filter))).await.into_body();
    let mut text = String::new();
    let mut read = async |upto: usize| {
        while events(&text).len() < upto {
            let frame = body.frame().await.expect("open").expect("a frame");
            text.push_str(std::str::from_utf8(frame.data_ref().expect("data")).expect("UTF-8"));
        }
        events(&text)
    };
    let ack = &read(1).await[0];
    assert_eq!(ack["params"]["_meta"][ID], 7);
    for what in ["prompts", "tide://2", "tools"] {
        server
            .post(&call(1, "announce", json!({ "what": what })))
            .await;
    }
    assert_eq!(
        read(2).await[1]["method"],
        "notifications/tools/list_changed"
    );
    server
        .post(&call(1, "announce", json!({"what": "tide://1"})))
        .await;
    assert_eq!(read(3).await[2]["params"]["uri"], "tide://1");
    server
        .post(&call(1, "announce", json!({"what": "end"})))
        .await;
    let last = read(4).await.pop().expect("the result");
    assert_eq!(
        (&last["id"], &last["result"]["_meta"][ID]),
        (&json!(7), &json!(7))
    );
    assert!(
        body.frame().await.is_none(),
        "the stream ends with the result"
    );
}

/// A burst of changes is delivered once.
#[tokio::test]
async fn changes_are_coalesced() {
    let mut connection = open(Wire::Memory).await;
    connection
        .send(&listen(1, json!({"toolsListChanged": true})))
        .await;
    connection.receive().await.expect("an acknowledgment");
    let mut seen = announce(&mut connection, "burst").await.len();
    let last = connection.ask(&call(9, "slow", json!({"ms": 30}))).await;
    seen += last.notifications.len();
    assert_eq!(seen, 1);
}
