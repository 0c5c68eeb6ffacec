//! JSON until the first notification, events from then on; and what a client that leaves means.

use std::time::Duration;

use antiphon_tests::{
    call, harbour, http::Server, http::post, request, request_as, until, with_meta,
};
use http_body_util::BodyExt;
use serde_json::{Value, json};

async fn server() -> Server {
    Server::start(antiphon::http::service(harbour::endpoint())).await
}

/// HTTP-S-10, HTTP-S-11, HTTP-S-14, HTTP-S-16, HTTP-S-18, AMB-13
#[tokio::test]
async fn the_first_notification_makes_it_a_stream() {
    let server = server().await;
    let plain = server.post(&call(1, "progress", json!({}))).await;
    assert_eq!(plain.header("content-type"), "application/json");
    let message = with_meta(call(1, "progress", json!({})), "progressToken", 9);
    let answer = server.post(&message).await;
    assert_eq!(answer.header("content-type"), "text/event-stream");
    assert_eq!(answer.header("x-accel-buffering"), "no");
    assert_eq!(answer.messages.len(), 4);
    assert_eq!(answer.last()["result"]["content"][0]["text"], "progressed");
    for line in answer.text.lines() {
        assert!(line.is_empty() || line.starts_with("data: "), "{line}");
    }
}

/// HTTP-S-28, AMB-04: an error before any notification keeps its status, a later one is in-band.
#[tokio::test]
async fn errors_keep_their_status_until_the_stream_begins() {
    let server = server().await;
    let message = request_as(&json!({}), 1, "tools/call", json!({"name": "ask"}));
    let message = with_meta(message, "progressToken", 1);
    let answer = server.post(&message).await;
    assert_eq!((answer.status, answer.code()), (400, -32021));
    assert_eq!(answer.header("content-type"), "application/json");
    let message = request_as(&json!({}), 1, "tools/call", json!({"name": "fail_late"}));
    let message = with_meta(message, "progressToken", 1);
    let answer = server.post(&message).await;
    assert_eq!((answer.status, answer.code()), (200, -32021));
    assert_eq!(answer.header("content-type"), "text/event-stream");
    assert_eq!(answer.messages[0]["method"], "notifications/progress");
}

/// A client that does not read its stream delays only itself: the call comes to its end, and
/// progress beyond what may wait is left out.
#[tokio::test]
async fn a_stream_nobody_reads_holds_up_nothing() {
    let endpoint = harbour::endpoint();
    let server = Server::start(antiphon::http::service(endpoint.clone())).await;
    let message = with_meta(
        call(1, "chatty", json!({"count": 300_000})),
        "progressToken",
        1,
    );
    let response = server.open(post(&message)).await;
    until(|| endpoint.calls() == 0).await;
    let answer = antiphon_tests::http::Answer::of(response).await;
    assert_eq!(answer.last()["result"]["content"][0]["text"], "said 300000");
    assert!(answer.messages.len() < 100_000, "{}", answer.messages.len());
}

/// HTTP-S-17, HTTP-C-08: a silent stream says now and then that it is alive.
#[tokio::test]
async fn a_silent_stream_is_kept_alive_by_comments() {
    let service =
        antiphon::http::service(harbour::endpoint()).keep_alive(Duration::from_millis(20));
    let server = Server::start(service).await;
    let listen = request("L", "subscriptions/listen", json!({"notifications": {}}));
    let mut body = server.open(post(&listen)).await.into_body();
    let mut text = String::new();
    while text.matches(": keep-alive\n\n").count() < 3 {
        let frame = body.frame().await.expect("open").expect("a frame");
        text.push_str(std::str::from_utf8(frame.data_ref().expect("data")).expect("UTF-8"));
    }
    assert!(text.starts_with("data: {"), "{text}");
}

/// HTTP-S-19 to HTTP-S-21, CANC-S-01, AMB-15: leaving is cancelling, with or without a stream.
#[tokio::test]
async fn a_client_that_leaves_has_cancelled() {
    let endpoint = harbour::endpoint();
    let server = Server::start(antiphon::http::service(endpoint.clone())).await;
    let slow = call(1, "slow", json!({"ms": 60_000}));
    for message in [slow.clone(), with_meta(slow, "progressToken", 1)] {
        let pending = tokio::time::timeout(Duration::from_millis(100), server.open(post(&message)));
        assert!(pending.await.is_err(), "it would have taken a minute");
    }
    let listen = request(
        "L",
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    );
    drop(server.open(post(&listen)).await);
    until(|| endpoint.calls() == 0).await;
    let answer = server.post(&call(2, "slow", json!({"ms": 0}))).await;
    assert_eq!(
        answer.last()["result"]["content"][0]["text"],
        "slept 0, 2 dropped"
    );
    let answer = server
        .post(&call(3, "announce", json!({"what": "tools"})))
        .await;
    assert_eq!(answer.last()["result"]["content"][0]["text"], "0 listening");
}

/// SUB-S-07, SUB-S-08, AMB-01: stopping ends subscriptions with their result, lets calls end,
/// and does not reach what another server of the same endpoint has open.
#[tokio::test]
async fn stopping_in_good_order_answers_everyone() {
    let endpoint = harbour::endpoint();
    let server = Server::start(antiphon::http::service(endpoint.clone())).await;
    let other = Server::start(antiphon::http::service(endpoint.clone())).await;
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let listen = request("L", "subscriptions/listen", filter);
    let listening = server.open(post(&listen)).await;
    let mut elsewhere = other.open(post(&listen)).await.into_body();
    elsewhere
        .frame()
        .await
        .expect("open")
        .expect("an acknowledgment");
    let slow = post(&call(1, "slow", json!({"ms": 1000})));
    let (slow, ()) = tokio::join!(server.open(slow), async {
        until(|| endpoint.calls() == 3).await;
        server.shut_down();
    });
    let slow = antiphon_tests::http::Answer::of(slow).await;
    assert_eq!(
        slow.last()["result"]["content"][0]["text"],
        "slept 1000, 0 dropped"
    );
    let answer = antiphon_tests::http::Answer::of(listening).await;
    let methods: Vec<&Value> = answer
        .messages
        .iter()
        .map(|message| &message["method"])
        .collect();
    assert_eq!(
        methods,
        [
            &json!("notifications/subscriptions/acknowledged"),
            &Value::Null
        ]
    );
    let result = &answer.last()["result"];
    assert_eq!(result["resultType"], "complete");
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/subscriptionId"],
        "L"
    );
    server.stop().await;
    other
        .post(&call(1, "announce", json!({"what": "tools"})))
        .await;
    let frame = elsewhere.frame().await.expect("open").expect("a change");
    let frame = std::str::from_utf8(frame.data_ref().expect("data")).expect("UTF-8");
    assert!(
        frame.contains("notifications/tools/list_changed"),
        "{frame}"
    );
}

/// SUB-S-07: a subscription that only just makes it is ended as well.
#[tokio::test]
async fn a_subscription_that_comes_while_stopping_is_ended() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let server = server().await;
    let listen = request("L", "subscriptions/listen", json!({"notifications": {}})).to_string();
    let (first, rest) = listen.split_at(20);
    let mut stream = tokio::net::TcpStream::connect(server.address)
        .await
        .expect("connected");
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: subscriptions/listen\r\n\
         content-length: {}\r\n\r\n{first}",
        server.address,
        listen.len()
    );
    stream.write_all(head.as_bytes()).await.expect("written");
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.shut_down();
    tokio::time::sleep(Duration::from_millis(50)).await;
    stream.write_all(rest.as_bytes()).await.expect("written");
    let mut answer = String::new();
    let read = stream.read_to_string(&mut answer);
    tokio::time::timeout(Duration::from_secs(10), read)
        .await
        .expect("it is ended, not left open")
        .expect("readable");
    assert!(
        answer.contains("notifications/subscriptions/acknowledged"),
        "{answer}"
    );
    assert!(answer.contains(r#""resultType":"complete""#), "{answer}");
}

/// HTTP-S-19: leaving is noticed although bytes beyond the request were sent before.
#[tokio::test]
async fn a_client_that_sent_more_and_leaves_has_cancelled() {
    use tokio::io::AsyncWriteExt;
    let endpoint = harbour::endpoint();
    // No keep-alive helps to notice it.
    let service = antiphon::http::service(endpoint.clone()).keep_alive(Duration::from_secs(600));
    let server = Server::start(service).await;
    let listen = json!({"notifications": {"toolsListChanged": true}});
    for message in [
        call(1, "slow", json!({"ms": 600_000})),
        request(2, "subscriptions/listen", listen),
    ] {
        let echo = text_of(&server, &call(9, "echo", json!({})));
        for beyond in ["\r\n", &*echo] {
            let mut stream = tokio::net::TcpStream::connect(server.address)
                .await
                .expect("connected");
            let sent = format!("{}{beyond}", text_of(&server, &message));
            stream.write_all(sent.as_bytes()).await.expect("written");
            until(|| endpoint.calls() == 1).await;
            drop(stream);
            until(|| endpoint.calls() == 0).await;
        }
    }
}

/// Requests sent ahead are answered in order, also to a client that has said all it has to say.
#[tokio::test]
async fn requests_sent_ahead_are_answered() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let server = server().await;
    let mut stream = tokio::net::TcpStream::connect(server.address)
        .await
        .expect("connected");
    let sent: String = (1..=3)
        .map(|id| text_of(&server, &call(id, "echo", json!({}))))
        .collect();
    stream.write_all(sent.as_bytes()).await.expect("written");
    stream.shutdown().await.expect("half closed");
    let mut answers = String::new();
    stream.read_to_string(&mut answers).await.expect("readable");
    let ids: Vec<_> = answers
        .match_indices(r#""id":"#)
        .map(|(at, _)| &answers[at + 5..at + 6])
        .collect();
    assert_eq!(ids, ["1", "2", "3"], "{answers}");
}

/// A request as it travels.
fn text_of(server: &Server, message: &Value) -> String {
    let request = post(message);
    let mut text = format!("POST /mcp HTTP/1.1\r\nhost: {}\r\n", server.address);
    for (name, value) in request.headers() {
        text += &format!("{name}: {}\r\n", value.to_str().expect("ASCII"));
    }
    let body = message.to_string();
    text + &format!("content-length: {}\r\n\r\n{body}", body.len())
}
