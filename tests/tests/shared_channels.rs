//! Many requests on one channel: cancellation, ids, order, and a process that will not die.

use std::time::Duration;

use antiphon_tests::{
    call,
    older::{Older, everything, never},
    request,
    wire::{Connection, Process, Wire},
    with_meta,
};
use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_antiphon-tests-stdio");

fn cancel(id: impl Into<Value>) -> Value {
    let params = json!({ "requestId": id.into(), "reason": "no longer wanted" });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
}

/// STDIO-C-06, STDIO-S-04, STDIO-S-05, CANC-S-05, CANC-S-06, CANC-B-02, CANC-B-04
#[tokio::test]
async fn a_cancelled_request_is_dropped_and_never_answered() {
    for wire in [Wire::Memory, Wire::Stdio] {
        let mut connection = wire.open(BINARY).await;
        connection
            .send(&call("s", "slow", json!({"ms": 60_000})))
            .await;
        connection
            .send(&call(1, "slow", json!({"ms": 60_000})))
            .await;
        // Unknown, finished, malformed and differently typed ids are ignored.
        connection.send(&cancel("1")).await;
        connection.send(&cancel("unknown")).await;
        connection.send(&cancel(json!({}))).await;
        connection
            .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled"}))
            .await;
        connection.send(&cancel("s")).await;
        let text = loop {
            let exchange = connection.ask(&call(2, "slow", json!({"ms": 20}))).await;
            assert_eq!(exchange.response["id"], 2, "only this one is answered");
            if exchange.text().ends_with("1 dropped") {
                break exchange.text().to_owned();
            }
        };
        assert_eq!(text, "slept 20, 1 dropped");
        connection.send(&cancel(1)).await;
        connection.send(&cancel(1)).await;
        // Its id is free again.
        assert_eq!(
            connection.ask(&call(1, "echo", json!({}))).await.text(),
            "{}"
        );
    }
}

/// BASE-C-03: an id that still waits for its answer cannot be used again, however it is spelt.
#[tokio::test]
async fn an_id_in_use_is_refused() {
    for wire in [Wire::Memory, Wire::Stdio] {
        let mut connection = wire.open(BINARY).await;
        connection
            .send(&call("a", "slow", json!({"ms": 600_000})))
            .await;
        let again = call("a", "echo", json!({})).to_string();
        let again = again.replace(r#""id":"a""#, r#""id":"\u0061""#);
        assert!(again.contains(r#""\u0061""#));
        connection.send_text(&again).await;
        let answer = connection.receive().await.expect("an answer");
        assert_eq!(answer["error"]["code"], -32600);
        connection.send(&cancel("a")).await;
        assert_eq!(
            connection.ask(&call("a", "echo", json!({}))).await.text(),
            "{}"
        );
    }
}

/// STATE-S-04: a slow request holds nobody up.
#[tokio::test]
async fn fast_requests_overtake_slow_ones() {
    for wire in [Wire::Memory, Wire::Stdio] {
        let mut connection = wire.open(BINARY).await;
        connection
            .send(&call("slow", "slow", json!({"ms": 600_000})))
            .await;
        for id in 0..40 {
            connection
                .send(&call(id, "echo", json!({ "id": id })))
                .await;
        }
        for id in 0..40 {
            let message = connection.receive().await.expect("an answer");
            assert_eq!(message["id"], id);
        }
    }
}

/// elsewhere.md: an early, unknown, malformed or hostile line never ends the server.
#[tokio::test]
async fn a_bad_line_is_answered_and_survived() {
    let mut process = Process::start(BINARY);
    for (line, code) in [
        (&b"not json\n"[..], -32700),
        (b"{\"jsonrpc\":\"2.0\",\n", -32700),
        (b"\xff\xfe\xfd\n", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pong\"}\n", -32602),
        (b"[]\n", -32600),
        (b"42\n", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\"}}\n", -32602),
        (b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/list\"}\n", -32602),
    ] {
        process.write(line).await;
        let answer = process.read().await.expect("an answer");
        assert_eq!(answer["error"]["code"], code, "{}", String::from_utf8_lossy(line));
    }
    // Nothing comes back for these.
    process.write(b"\n\r\n   \n").await;
    process
        .write(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")
        .await;
    process
        .write(b"{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}\n")
        .await;
    process
        .write(format!("{}\n", call(5, "echo", json!({}))).as_bytes())
        .await;
    assert_eq!(process.read().await.expect("an answer")["id"], 5);
}

/// A client that looks for the newer revision first, however it asks, finds the process alive and
/// can open a session in it.
#[tokio::test]
async fn a_probe_before_the_handshake_is_survived() {
    let mut process = Process::start(BINARY);
    for (probe, code) in [
        (request(1, "server/discover", json!({})), None),
        (
            json!({"jsonrpc": "2.0", "id": 2, "method": "server/discover"}),
            Some(-32602),
        ),
        (
            json!({"jsonrpc": "2.0", "id": 3, "method": "server/discover", "params": {}}),
            Some(-32602),
        ),
        (
            with_meta(
                request(4, "server/discover", json!({})),
                "io.modelcontextprotocol/protocolVersion",
                "2030-01-01",
            ),
            Some(-32022),
        ),
    ] {
        process.write(format!("{probe}\n").as_bytes()).await;
        let answer = process.read().await.expect("an answer");
        assert_eq!(answer["id"], probe["id"]);
        assert_eq!(answer["error"]["code"].as_i64(), code, "{probe}");
    }
    let mut older = Older::process(process);
    older.greet("2025-06-18", &everything()).await;
    assert_eq!(older.greeted["protocolVersion"], "2025-06-18");
    let (_, response) = older.call("echo", json!({"a": 1}), never).await;
    assert_eq!(response["result"]["content"][0]["text"], r#"{"a":1}"#);
}

/// wire.md 10.2, step 4: without metadata and before any handshake, a client learns what is
/// served.
#[tokio::test]
async fn a_client_that_says_nothing_learns_what_is_served() {
    let mut connection = Connection::Stdio(Box::new(Process::start(BINARY)));
    let bare = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let exchange = connection.ask(&bare).await;
    assert_eq!(
        exchange.response["error"]["data"]["supported"],
        json!(["2026-07-28"])
    );
}

/// A line beyond the limit is refused, skipped, and costs nothing else.
#[tokio::test]
async fn a_line_too_long_is_refused() {
    let mut process = Process::start(BINARY);
    let long = vec![b'x'; 5 * 1024 * 1024];
    process.write(&long).await;
    process.write(b"\n").await;
    let answer = process.read().await.expect("an answer");
    assert_eq!(answer["error"]["code"], -32600);
    assert!(
        answer["error"]["message"]
            .as_str()
            .expect("a text")
            .contains("4194304 bytes")
    );
    process
        .write(format!("{}\n", call(5, "echo", json!({}))).as_bytes())
        .await;
    assert_eq!(process.read().await.expect("an answer")["id"], 5);
}

/// STDIO-S-06: the end of the input is the end; what was asked before is still answered, and
/// what would take too long is dropped.
#[tokio::test]
async fn the_end_of_input_ends_the_process() {
    let mut process = Process::start(BINARY);
    let listen = request("L", "subscriptions/listen", json!({"notifications": {}}));
    for message in [
        listen,
        call(1, "slow", json!({"ms": 200})),
        call(2, "slow", json!({"ms": 600_000})),
    ] {
        process.write(format!("{message}\n").as_bytes()).await;
    }
    // No line break at the end: the input may just stop.
    process
        .write(call(3, "echo", json!({})).to_string().as_bytes())
        .await;
    process.input = None;
    let mut answered = Vec::new();
    while let Some(message) = process.read().await {
        answered.extend(message.get("id").cloned());
    }
    answered.sort_by_key(Value::to_string);
    assert_eq!(answered, [json!("L"), json!(1), json!(3)]);
    let status = tokio::time::timeout(Duration::from_secs(10), process.child.wait()).await;
    assert!(status.expect("it ends").expect("a status").success());
}

/// A client that stops reading and goes away ends the process as well.
#[tokio::test]
async fn a_reader_that_goes_away_ends_the_process() {
    let mut process = Process::start(BINARY);
    let Process {
        child,
        input,
        output,
    } = &mut process;
    let mut input = input.take().expect("open");
    let _ = std::mem::replace(output, {
        // Drop our end of its output.
        let mut other = Process::start(BINARY);
        other.input = None;
        other.output
    });
    let line = format!(
        "{}\n",
        call(1, "echo", json!({"text": "x".repeat(200_000)}))
    );
    use tokio::io::AsyncWriteExt;
    for _ in 0..50 {
        if input.write_all(line.as_bytes()).await.is_err() {
            break;
        }
    }
    let status = tokio::time::timeout(Duration::from_secs(10), child.wait()).await;
    assert!(status.expect("it ends").expect("a status").success());
}

/// STDIO-S-01, STDIO-B-01: one message per line, whatever the text inside.
#[tokio::test]
async fn line_breaks_inside_values_do_not_break_lines() {
    let mut process = Process::start(BINARY);
    let text = "one\ntwo\r\nthree\u{2028}four\u{85}";
    process
        .write(format!("{}\n", call(1, "echo", json!({ "text": text }))).as_bytes())
        .await;
    let answer = process.read().await.expect("an answer");
    let echoed = answer["result"]["content"][0]["text"]
        .as_str()
        .expect("a text");
    let echoed: Value = serde_json::from_str(echoed).expect("JSON");
    assert_eq!(echoed["text"], text);
}

/// BASE-S-01, SUB-S-06: an id comes back digit for digit, however large, also as the id of a
/// subscription; and one that is half a character is none.
#[tokio::test]
async fn ids_are_echoed_exactly() {
    let mut process = Process::start(BINARY);
    let huge = "123456789012345678901234567890";
    let template = call("ID", "echo", json!({})).to_string();
    process
        .write(format!("{}\n", template.replace("\"ID\"", huge)).as_bytes())
        .await;
    let line = process
        .output
        .next_line()
        .await
        .expect("readable")
        .expect("a line");
    assert!(
        line.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{huge},"#)),
        "{line}"
    );
    let listen = request("ID", "subscriptions/listen", json!({"notifications": {}})).to_string();
    process
        .write(format!("{}\n", listen.replace("\"ID\"", huge)).as_bytes())
        .await;
    let line = process
        .output
        .next_line()
        .await
        .expect("readable")
        .expect("a line");
    assert!(
        line.contains(&format!(r#"subscriptionId":{huge}}}"#)),
        "{line}"
    );
    process
        .write(format!("{}\n", template.replace("\"ID\"", r#""\ud800""#)).as_bytes())
        .await;
    let answer = process.read().await.expect("an answer");
    assert_eq!(answer["error"]["code"], -32600);
    assert!(answer.get("id").is_none());
}

/// Work that was moved to other tasks learns that its call is over, answered or cancelled.
#[tokio::test]
async fn the_cancellation_token_ends_with_the_call() {
    let mut connection = Wire::Memory.open(BINARY).await;
    let answered = connection.ask(&call(1, "background", json!({}))).await;
    assert_eq!(answered.text(), "left to a task");
    connection
        .send(&call(2, "background", json!({"ms": 600_000})))
        .await;
    connection.send(&cancel(2)).await;
    let both = async {
        while !connection
            .ask(&call(3, "slow", json!({"ms": 5})))
            .await
            .text()
            .ends_with("2 dropped")
        {}
    };
    let ended = tokio::time::timeout(Duration::from_secs(20), both).await;
    assert!(ended.is_ok(), "a token was never cancelled");
}

/// A host vouches for whom it serves in process.
#[tokio::test]
async fn an_embedding_host_names_the_caller() {
    use antiphon::{auth::Principal, memory};
    let (mut client, server) = memory::pair();
    let ada = Some(Principal::subject("ada"));
    tokio::spawn(memory::serve_as(
        antiphon_tests::harbour::endpoint(),
        server,
        ada,
    ));
    assert!(client.send(call(1, "who", json!({})).to_string()).await);
    let answer = client.receive().await.expect("an answer");
    let answer: Value = serde_json::from_slice(&answer).expect("JSON");
    let text = answer["result"]["content"][0]["text"]
        .as_str()
        .expect("a text");
    assert!(text.contains(r#""principal":"ada""#), "{text}");
}
