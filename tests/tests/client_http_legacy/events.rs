//! HTTP with server-sent events, the transport of 2024-11-05.

use std::time::Duration;

use antiphon::client::ErrorKind;
use antiphon_tests::{
    desk::{events, response},
    until,
};

use super::*;

const OLDEST: Version = Version::V2024_11_05;

/// A stream that names its endpoint, and then does this.
fn stream(endpoint: &str, steps: Vec<Step>) -> Vec<Step> {
    let mut all = vec![
        events(),
        write(format!("event: endpoint\ndata: {endpoint}\n\n")),
    ];
    all.extend(steps);
    all
}

fn said(message: &str) -> Step {
    write(format!("event: message\ndata: {message}\n\n"))
}

fn accepted() -> Vec<Step> {
    response("202 Accepted", "text/plain", "Accepted")
}

fn called(asked: &Asked) -> bool {
    asked.calls("tools/call")
}

fn initialized(asked: &Asked) -> bool {
    asked.calls("initialize")
}

/// LSSE-C-01, LSSE-C-02, LSSE-S-03
#[tokio::test]
async fn all_is_posted_to_one_place_and_comes_on_one_stream() {
    let note =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5}}"#;
    let question = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;
    let desk = Desk::start(move |asked, _| match &*asked.verb {
        "GET" => stream(
            "messages?session=1",
            vec![
                Step::Until(initialized),
                said(&result(0)),
                Step::Until(called),
                said(note),
                said(question),
                said(&result(9)),
                said(&result(5)),
                Step::Hold,
            ],
        ),
        _ if asked.path == "/old/sse" => status("405 Method Not Allowed"),
        _ => accepted(),
    })
    .await;
    let http = Http::new(format!("{}/old/sse?k=1", desk.origin)).header("x-tenant", "a");
    let client = Client::with(http.bearer("secret")).await;
    assert!(client.transport.fall_back().await.expect("spoken"));
    let answer = client.send_as(OLDEST, 0, "initialize").await.expect("sent");
    assert_eq!(all(answer).await.expect("an answer"), [result(0)]);
    let told = client.transport.tell(OLDEST, INITIALIZED.into()).await;
    told.expect("taken");
    client.transport.settled(OLDEST).await;
    let call = client.send_as(OLDEST, 5, "tools/call").await.expect("sent");
    assert_eq!(
        all(call).await.expect("an answer"),
        [note.to_owned(), result(5)]
    );
    assert_eq!(client.heard(), [question.to_owned(), result(9)]);
    let gets = desk.of("GET");
    assert_eq!(gets.len(), 1);
    assert_eq!(gets[0].path, "/old/sse?k=1");
    assert_eq!(gets[0].header("accept"), Some("text/event-stream"));
    assert_eq!(
        desk.methods(),
        ["initialize", "notifications/initialized", "tools/call"]
    );
    for post in desk.of("POST") {
        assert_eq!(post.path, "/old/messages?session=1");
        assert_eq!(post.header("content-type"), Some("application/json"));
        assert_eq!(post.header("mcp-method"), None);
        assert_eq!(post.header("mcp-protocol-version"), None);
    }
    for asked in desk.requests() {
        assert_eq!(asked.header("authorization"), Some("Bearer secret"));
        assert_eq!(asked.header("x-tenant"), Some("a"));
        assert_eq!(asked.header("mcp-session-id"), None);
    }
    client.transport.close().await;
    until(|| desk.left() == 1).await;
    assert_eq!(desk.of("DELETE").len(), 0);
}

/// LHTTP-C-12 knows no transports.
#[tokio::test]
async fn a_newer_revision_is_said_there_too() {
    let desk = Desk::start(|asked, _| match &*asked.verb {
        "GET" => stream(
            "/post",
            vec![Step::Until(called), said(&result(5)), Step::Hold],
        ),
        _ => accepted(),
    })
    .await;
    let client = Client::to(&desk).await;
    client.transport.fall_back().await.expect("spoken");
    let _initialize = client.send(0, "initialize").await.expect("sent");
    desk.wait_for("POST", 1).await;
    let told = client.transport.tell(LATEST, INITIALIZED.into()).await;
    told.expect("taken");
    client.call(5).await.expect("an answer");
    let posts = desk.of("POST");
    let versions: Vec<_> = posts
        .iter()
        .map(|post| post.header("mcp-protocol-version"))
        .collect();
    assert_eq!(versions, [None, Some("2025-11-25"), Some("2025-11-25")]);
}

/// LEG-B-05
#[tokio::test]
async fn one_revision_has_batches_there_too() {
    let batch = format!("[{},{}]", result(1), result(5));
    let desk = Desk::start(move |asked, _| match &*asked.verb {
        "GET" => stream("/post", vec![Step::Until(called), said(&batch), Step::Hold]),
        _ => accepted(),
    })
    .await;
    for (version, answered) in [(Version::V2025_03_26, true), (LATEST, false)] {
        let client = Client::to(&desk).await;
        client.transport.fall_back().await.expect("spoken");
        client.transport.settled(version).await;
        let call = all(client
            .send_as(version, 5, "tools/call")
            .await
            .expect("sent"));
        let patience = Duration::from_millis(500);
        match tokio::time::timeout(patience, call).await {
            Ok(messages) => assert!(answered && messages.expect("an answer") == [result(5)]),
            Err(_) => assert!(!answered),
        }
    }
}

/// LSSE-C-02
#[tokio::test]
async fn a_stream_that_begins_otherwise_is_not_it() {
    let elsewhere = Desk::start(|_, _| accepted()).await;
    let endpoint = |uri: &str| format!("event: endpoint\ndata: {uri}\n\n");
    for (begins, word) in [
        (endpoint(&elsewhere.origin), "same origin"),
        (
            endpoint(&elsewhere.origin.replace("http:", "")),
            "same origin",
        ),
        (endpoint("https://127.0.0.1/x"), "same origin"),
        (endpoint("javascript:alert(1)"), "same origin"),
        (endpoint("http://user@127.0.0.1/"), "same origin"),
        (endpoint("/a\u{1} b"), "same origin"),
        (endpoint(""), "same origin"),
        (
            endpoint(&format!("/{}", "x".repeat(100_000))),
            "same origin",
        ),
        ("data: /messages\n\n".to_owned(), "in place of its endpoint"),
        (
            format!("event: message\ndata: {}\n\n", result(0)),
            "message",
        ),
        (": nothing\n\n".to_owned(), "ended before"),
        (
            format!("event: endpoint\ndata: /{}\n\n", "x".repeat(200_000)),
            "longer than",
        ),
    ] {
        let said = begins.clone();
        let desk = Desk::start(move |_, _| vec![events(), write(said.clone()), Step::Close]).await;
        let client = Client::with(Http::new(&desk.origin).max_message_bytes(150_000)).await;
        let error = client.transport.fall_back().await.expect_err("not it");
        assert!(matches!(error.kind(), ErrorKind::Decode), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(word) && text.len() < 500, "{text}");
    }
    assert_eq!(elsewhere.requests().len(), 0);
}

#[tokio::test]
async fn a_server_that_refuses_does_not_speak_it() {
    for answer in [
        "405 Method Not Allowed",
        "404 Not Found",
        "500 Oh",
        "401 Who",
    ] {
        let desk = Desk::start(move |_, _| status(answer)).await;
        let client = Client::to(&desk).await;
        let error = client.transport.fall_back().await.expect_err("refused");
        let code: u16 = answer[..3].parse().expect("a number");
        assert_eq!(error.http_status(), Some(code), "{error:?}");
        // It is what it was before.
        let error = client.send(0, "initialize").await.expect_err("refused");
        assert_eq!(error.http_status(), Some(code), "{error:?}");
        assert_eq!(
            desk.requests().last().map(|asked| &*asked.path),
            Some("/mcp")
        );
    }
}

/// A stream of today's kind says nothing until there is something to say.
#[tokio::test]
async fn a_stream_that_names_nothing_is_not_waited_for_for_ever() {
    let desk = Desk::start(|_, _| vec![events(), Step::Hold]).await;
    let client = Client::to(&desk).await;
    let transport = Arc::new(client.transport);
    let falling = transport.clone();
    let falling = tokio::spawn(async move { falling.fall_back().await });
    desk.wait_for("GET", 1).await;
    a_while().await;
    tokio::time::pause();
    let error = falling.await.expect("no panic").expect_err("not it");
    assert!(matches!(error.kind(), ErrorKind::Transport), "{error:?}");
    assert!(error.to_string().contains("no endpoint"), "{error}");
}

/// A message that is not taken fails the one request that it is.
#[tokio::test]
async fn what_is_not_taken_fails_alone() {
    let desk = Desk::start(|asked, _| match &*asked.verb {
        "GET" => stream(
            "/post",
            vec![Step::Until(called), said(&result(2)), Step::Hold],
        ),
        _ if asked.calls("ping") => response("400 Bad Request", "text/plain", "what?"),
        _ => accepted(),
    })
    .await;
    let client = Client::to(&desk).await;
    client.transport.fall_back().await.expect("spoken");
    let ping = client.send(1, "ping").await.expect("on its way");
    let error = all(ping).await.expect_err("not taken");
    assert!(matches!(error.kind(), ErrorKind::Status(400)), "{error:?}");
    assert!(error.to_string().contains("what?"), "{error}");
    assert_eq!(client.call(2).await.expect("an answer"), [result(2)]);
    let message = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let told = client.transport.tell(OLDEST, message.into()).await;
    assert_eq!(told.expect_err("not taken").http_status(), Some(400));
    a_while().await;
    assert_eq!(desk.methods(), ["ping", "tools/call", "ping"]);
}

/// A server may answer the POST of a call only once it is served, and ask meanwhile.
#[tokio::test]
async fn a_slow_post_holds_up_nothing() {
    let question = r#"{"jsonrpc":"2.0","id":"q","method":"roots/list"}"#;
    let answered = |asked: &Asked| asked.body.contains(r#""id":"q""#);
    let desk = Desk::start(move |asked, _| match &*asked.verb {
        "GET" => stream(
            "/post",
            vec![
                Step::Until(called),
                said(question),
                Step::Until(answered),
                said(&result(1)),
                said(&result(2)),
                Step::Hold,
            ],
        ),
        _ if called(asked) => {
            let mut steps = vec![Step::Until(answered)];
            steps.extend(accepted());
            steps
        }
        _ => accepted(),
    })
    .await;
    let client = Client::to(&desk).await;
    client.transport.fall_back().await.expect("spoken");
    let call = client.send(1, "tools/call").await.expect("sent");
    let ping = client.send(2, "ping").await.expect("sent");
    until(|| client.heard() == [question]).await;
    desk.wait_for("POST", 2).await;
    let answer = r#"{"jsonrpc":"2.0","id":"q","result":{}}"#;
    let told = client.transport.tell(OLDEST, answer.into()).await;
    told.expect("taken");
    assert_eq!(all(call).await.expect("an answer"), [result(1)]);
    assert_eq!(all(ping).await.expect("an answer"), [result(2)]);
}

#[tokio::test]
async fn letting_go_cancels_there_too() {
    let desk = Desk::start(|asked, _| match &*asked.verb {
        "GET" => stream("/post", vec![Step::Hold]),
        _ => accepted(),
    })
    .await;
    let client = Client::to(&desk).await;
    client.transport.fall_back().await.expect("spoken");
    let call = client.send(7, "tools/call").await.expect("sent");
    desk.wait_for("POST", 1).await;
    drop(call);
    let posts = desk.wait_for("POST", 2).await;
    assert!(posts[1].calls("notifications/cancelled") && posts[1].body.contains(":7}"));
    assert_eq!(posts[1].path, "/post");
    // The stream ends with the transport.
    drop(client);
    until(|| desk.left() == 1).await;
}

/// The stream is the session: without it there is nothing, until one starts over.
#[tokio::test]
async fn when_the_stream_is_lost_all_is() {
    let desk = Desk::start(|asked, before| match &*asked.verb {
        "GET" if before == 0 => stream("/first", vec![Step::Until(called), Step::Close]),
        "GET" => stream(
            "/second",
            vec![Step::Until(initialized), said(&result(0)), Step::Hold],
        ),
        _ => accepted(),
    })
    .await;
    let client = Client::to(&desk).await;
    client.transport.fall_back().await.expect("spoken");
    for id in [1, 2] {
        let answer = match client.send(id, "tools/call").await {
            Ok(incoming) => all(incoming).await,
            Err(error) => Err(error),
        };
        let error = answer.expect_err("lost");
        match id {
            1 => assert!(matches!(error.kind(), ErrorKind::Transport), "{error:?}"),
            _ => assert!(matches!(error.kind(), ErrorKind::SessionLost), "{error:?}"),
        }
        assert!(error.to_string().contains("ended its stream"), "{error}");
    }
    assert_eq!(desk.of("GET").len(), 1);
    client.transport.start_over().await.expect("there again");
    let answer = client.send(0, "initialize").await.expect("sent");
    assert_eq!(all(answer).await.expect("an answer"), [result(0)]);
    let posts = desk.of("POST");
    assert_eq!(posts.last().map(|post| &*post.path), Some("/second"));
    drop(desk);
    let over = tokio::time::timeout(Duration::from_secs(5), client.transport.start_over());
    over.await.expect("in time").expect_err("nobody there");
}
