//! Requests under a session, from its beginning to its end.

use std::{error::Error as StdError, time::Duration};

use antiphon::client::{Bearer, Challenge, ErrorKind, Pending};
use antiphon_tests::{desk::response, until};

use super::*;

/// LHTTP-C-01, LHTTP-C-09, LHTTP-C-12, LHTTP-B-01: every byte of what is sent.
#[tokio::test]
async fn requests_under_a_session_are_all_of_this() {
    let desk = Desk::start(|asked, _| usual(asked)).await;
    let http = Http::new(format!("{}/mcp?k=1", desk.origin)).header("x-tenant", "a");
    let client = Client::with(http.bearer("secret")).await;
    client.shake_hands().await;
    client.call(7).await.expect("an answer");
    desk.wait_for("GET", 1).await;
    client.transport.close().await;
    let host = desk.origin.replace("http://", "");
    let agent = format!("antiphon/{}", env!("CARGO_PKG_VERSION"));
    let post = |stamp: &str, body: &str| {
        format!(
            "POST /mcp?k=1 HTTP/1.1\r\nhost: {host}\r\n\
             accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\
             x-tenant: a\r\nuser-agent: {agent}\r\n{stamp}authorization: Bearer secret\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let stamp = "mcp-protocol-version: 2025-11-25\r\nmcp-session-id: s-1\r\n";
    let posts: Vec<_> = desk
        .of("POST")
        .iter()
        .map(|post| post.head.clone() + &post.body)
        .collect();
    assert_eq!(
        posts,
        [
            post("", INITIALIZE),
            post(stamp, INITIALIZED),
            post(stamp, r#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#),
        ]
    );
    for (verb, accept) in [
        ("GET", "text/event-stream"),
        ("DELETE", "application/json, text/event-stream"),
    ] {
        let requests = desk.of(verb);
        assert_eq!(requests.len(), 1, "{verb}");
        assert_eq!(requests[0].path, "/mcp?k=1");
        assert_eq!(requests[0].body, "");
        for (name, value) in [
            ("accept", Some(accept)),
            ("content-type", None),
            ("mcp-protocol-version", Some("2025-11-25")),
            ("mcp-session-id", Some("s-1")),
            ("authorization", Some("Bearer secret")),
            ("x-tenant", Some("a")),
            ("last-event-id", None),
            ("mcp-method", None),
        ] {
            assert_eq!(requests[0].header(name), value, "{verb} {name}");
        }
    }
}

/// LHTTP-C-12
#[tokio::test]
async fn the_revision_is_a_header_where_the_revision_has_it() {
    for (version, header) in [
        (Version::V2024_11_05, None),
        (Version::V2025_03_26, None),
        (Version::V2025_06_18, Some("2025-06-18")),
        (Version::V2025_11_25, Some("2025-11-25")),
    ] {
        let desk = Desk::start(|asked, _| usual(asked)).await;
        let client = Client::to(&desk).await;
        client.send(0, "initialize").await.expect("an answer");
        client.send_as(version, 1, "ping").await.expect("an answer");
        let told = client.transport.tell(version, INITIALIZED.into()).await;
        told.expect("taken");
        client.transport.settled(version).await;
        desk.wait_for("GET", 1).await;
        client.transport.close().await;
        let requests = desk.requests();
        assert_eq!(requests.len(), 5);
        assert_eq!(requests[0].header("mcp-protocol-version"), None);
        for request in &requests[1..] {
            assert_eq!(request.header("mcp-protocol-version"), header);
            assert_eq!(request.header("mcp-session-id"), Some("s-1"));
        }
    }
}

/// LHTTP-S-20: a session comes with the result, be it on a stream, and not with an error.
#[tokio::test]
async fn a_session_begins_with_a_result() {
    let head = |kind: &str| {
        write(format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nmcp-session-id: new\r\n\
             connection: close\r\n\r\n"
        ))
    };
    let refusal = r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"no"}}"#;
    for (stream, good) in [(true, true), (true, false), (false, true), (false, false)] {
        let desk = Desk::start(move |asked, _| {
            if !asked.calls("initialize") {
                return usual(asked);
            }
            let message = if good { result(0) } else { refusal.to_owned() };
            match stream {
                true => vec![
                    head("text/event-stream"),
                    write("id: 1\ndata:\n\n"),
                    event(&message),
                ],
                false => vec![head("application/json"), write(message)],
            }
        })
        .await;
        let client = Client::to(&desk).await;
        let answer = client.send(0, "initialize").await.expect("an answer");
        assert_eq!(all(answer).await.expect("a message").len(), 1);
        client.call(1).await.expect("an answer");
        let session = good.then_some("new");
        assert_eq!(desk.requests()[1].header("mcp-session-id"), session);
        client.transport.close().await;
        assert_eq!(desk.of("DELETE").len(), usize::from(good));
        // Only `initialize` can begin one.
        assert_eq!(desk.of("GET").len(), 0);
    }
}

#[tokio::test]
async fn only_the_handshake_gives_a_session() {
    let desk = Desk::start(|asked, _| match asked.calls("initialize") {
        true => json(&result(0)),
        false => welcome("other"),
    })
    .await;
    let client = Client::to(&desk).await;
    for method in ["initialize", "ping", "ping"] {
        client.send(0, method).await.expect("an answer");
    }
    assert!(
        desk.requests()
            .iter()
            .all(|asked| asked.header("mcp-session-id").is_none())
    );
    client.transport.close().await;
    assert_eq!(desk.of("DELETE").len(), 0);
}

/// LHTTP-S-24, LHTTP-C-10
#[tokio::test]
async fn a_session_that_is_gone_is_called_so() {
    let refusal = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"?"}}"#;
    for body in ["", "<h1>no</h1>", refusal] {
        let desk = Desk::start(move |asked, _| match asked.calls("initialize") {
            true => welcome("s-1"),
            false => response("404 Not Found", "application/json", body),
        })
        .await;
        let client = Client::to(&desk).await;
        // Without a session it is a status like any other.
        let answer = client.send(1, "ping").await;
        match answer {
            Ok(Incoming::Refused { status, message }) => {
                assert_eq!((status, &*message), (404, refusal.as_bytes()));
            }
            Err(error) => assert!(matches!(error.kind(), ErrorKind::Status(404)), "{error:?}"),
            other => panic!("{other:?}"),
        }
        let told = client.transport.tell(LATEST, INITIALIZED.into()).await;
        let error = told.expect_err("not taken");
        assert!(matches!(error.kind(), ErrorKind::Status(404)), "{error:?}");
        client.send(0, "initialize").await.expect("an answer");
        let error = client.send(2, "ping").await.expect_err("gone");
        assert!(matches!(error.kind(), ErrorKind::SessionLost), "{error:?}");
        let told = client.transport.tell(LATEST, INITIALIZED.into()).await;
        let error = told.expect_err("gone");
        assert!(matches!(error.kind(), ErrorKind::SessionLost), "{error:?}");
        // It is not sent without its session meanwhile, and what is gone is not ended.
        let error = client.send(3, "ping").await.expect_err("gone");
        assert!(matches!(error.kind(), ErrorKind::SessionLost), "{error:?}");
        client.transport.close().await;
        assert_eq!(desk.of("DELETE").len(), 0);
    }
}

#[tokio::test]
async fn starting_over_forgets_the_session() {
    let desk = Desk::start(|asked, before| match asked.calls("initialize") {
        true => welcome(&format!("s-{before}")),
        false => usual(asked),
    })
    .await;
    let client = Client::settled(&desk).await;
    client.transport.start_over().await.expect("fine");
    client.call(5).await.expect("an answer");
    client.send(0, "initialize").await.expect("an answer");
    client.call(6).await.expect("an answer");
    let posts = desk.of("POST");
    let sessions: Vec<_> = posts
        .iter()
        .map(|post| post.header("mcp-session-id"))
        .collect();
    assert_eq!(sessions, [None, Some("s-0"), None, None, Some("s-3")]);
    assert_eq!(desk.of("DELETE").len(), 0);
    client.transport.close().await;
    assert_eq!(desk.of("DELETE")[0].header("mcp-session-id"), Some("s-3"));
}

/// ERA-C-08, ERA-C-10: the status is evidence, of the probe too.
#[tokio::test]
async fn refusals_come_with_their_status() {
    let refusal = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}"#;
    for (status, code) in [("400 Bad Request", 400), ("405 No", 405), ("500 Oh", 500)] {
        let desk = Desk::start(move |_, _| response(status, "application/json", refusal)).await;
        let client = Client::to(&desk).await;
        for version in [Version::V2026_07_28, LATEST] {
            match client.send_as(version, 1, "server/discover").await {
                Ok(Incoming::Refused { status, message }) => {
                    assert_eq!((status, &*message), (code, refusal.as_bytes()));
                }
                other => panic!("{other:?}"),
            }
        }
        let desk = Desk::start(move |_, _| response(status, "text/html", "<h1>no</h1>")).await;
        let client = Client::to(&desk).await;
        for version in [Version::V2026_07_28, LATEST] {
            let error = client
                .send_as(version, 1, "initialize")
                .await
                .expect_err("refused");
            assert_eq!(error.http_status(), Some(code), "{error:?}");
            assert!(error.to_string().contains("<h1>no</h1>"), "{error}");
        }
    }
}

/// LHTTP-S-04, and what servers do in its place.
#[tokio::test]
async fn what_is_told_is_taken_with_any_good_status() {
    for answer in [
        "202 Accepted\r\ncontent-length: 0\r\n\r\n",
        "202 Accepted\r\ncontent-length: 8\r\n\r\nAccepted",
        "204 No Content\r\n\r\n",
        "200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}",
        "200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n: nothing\n\n",
    ] {
        let desk = Desk::start(move |_, _| vec![write(format!("HTTP/1.1 {answer}"))]).await;
        let client = Client::to(&desk).await;
        for _ in 0..2 {
            let told = client.transport.tell(LATEST, INITIALIZED.into()).await;
            told.expect("taken");
        }
        assert_eq!(desk.requests()[1].body, INITIALIZED);
    }
    let desk = Desk::start(|_, _| response("400 No", "text/plain", "not now")).await;
    let client = Client::to(&desk).await;
    let told = client.transport.tell(LATEST, INITIALIZED.into()).await;
    let error = told.expect_err("not taken");
    assert!(matches!(error.kind(), ErrorKind::Status(400)), "{error:?}");
    assert!(error.to_string().contains("not now"), "{error}");
    drop(desk);
    let told = client.transport.tell(LATEST, INITIALIZED.into()).await;
    let error = told.expect_err("nobody there");
    assert!(matches!(error.kind(), ErrorKind::Transport), "{error:?}");
}

/// LHTTP-C-11, LHTTP-S-25
#[tokio::test]
async fn the_end_of_a_session_never_fails() {
    for answer in [
        "405 Method Not Allowed",
        "404 Not Found",
        "500 Oh",
        "401 Who",
        "hold",
    ] {
        let desk = Desk::start(move |asked, _| match (&*asked.verb, answer) {
            ("DELETE", "hold") => vec![Step::Hold],
            ("DELETE", answer) => status(answer),
            _ => usual(asked),
        })
        .await;
        let client = Client::settled(&desk).await;
        let started = std::time::Instant::now();
        client.transport.close().await;
        assert!(started.elapsed() < Duration::from_secs(4), "{answer}");
        client.transport.close().await;
        assert_eq!(desk.of("DELETE").len(), 1, "{answer}");
    }
    let desk = Desk::start(|asked, _| usual(asked)).await;
    let client = Client::settled(&desk).await;
    drop(desk);
    client.transport.close().await;
}

/// LHTTP-S-11, LHTTP-C-04: before the head of the response, after it, and in a stream.
#[tokio::test]
async fn letting_go_cancels() {
    let headless = vec![Step::Hold];
    let half = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{";
    let half = vec![write(half), Step::Hold];
    let stream = vec![antiphon_tests::desk::events(), event("{}"), Step::Hold];
    for answer in [headless, half, stream] {
        let answer = Mutex::new(Some(answer));
        let desk = Desk::start(move |asked, _| match asked.calls("tools/call") {
            true => answer.lock().expect("unpoisoned").take().expect("one call"),
            false => usual(asked),
        })
        .await;
        let client = Client::settled(&desk).await;
        let call = async {
            let mut incoming = client.send(5, "tools/call").await.expect("a stream");
            while let Some(message) = next(&mut incoming).await {
                message.expect("a message");
            }
        };
        let patience = Duration::from_millis(100);
        let over = tokio::time::timeout(patience, call).await;
        assert!(over.is_err(), "there is no answer");
        until(|| {
            desk.methods()
                .contains(&"notifications/cancelled".to_owned())
        })
        .await;
        let posts = desk.of("POST");
        assert_eq!(posts.len(), 4);
        assert_eq!(
            posts[3].body,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#
        );
        assert_eq!(posts[3].header("mcp-session-id"), Some("s-1"));
        // The connection is not kept for it either.
        until(|| desk.left() >= 1).await;
        // The id is free again.
        let again = client.send(5, "ping").await.expect("an answer");
        assert_eq!(all(again).await.expect("a result"), [result(5)]);
    }
}

/// What is given up is told before the session ends, however soon that is and however slow the
/// server.
#[tokio::test]
async fn what_is_given_up_is_told_before_the_session_ends() {
    let slow = Duration::from_millis(200);
    let desk = Desk::start(move |asked, _| {
        if asked.calls("tools/call") {
            return vec![Step::Hold];
        }
        let mut steps = usual(asked);
        if asked.calls("notifications/cancelled") {
            steps.insert(0, Step::Wait(slow));
        }
        steps
    })
    .await;
    let client = Client::settled(&desk).await;
    let patience = Duration::from_millis(50);
    let call = tokio::time::timeout(patience, client.send(5, "tools/call")).await;
    assert!(call.is_err(), "there is no answer");
    client.transport.close().await;
    let heard = desk.requests();
    let [.., told, ended] = heard.as_slice() else {
        panic!("{} requests", heard.len());
    };
    assert!(told.calls("notifications/cancelled"), "{}", told.body);
    assert_eq!(ended.verb, "DELETE");
    assert!(ended.at >= told.at + slow, "it was taken first");
}

/// LEG-C-07, and what is over is not cancelled.
#[tokio::test]
async fn what_cannot_be_cancelled_is_not() {
    let desk = Desk::start(|asked, _| {
        if asked.calls("initialize") || asked.calls("server/discover") {
            return vec![Step::Hold];
        }
        let stream = |last| vec![antiphon_tests::desk::events(), event(&result(1)), last];
        match asked.calls("tools/call") {
            true => stream(Step::Hold),
            false => usual(asked),
        }
    })
    .await;
    let client = Client::to(&desk).await;
    let patience = Duration::from_millis(100);
    let over = tokio::time::timeout(patience, client.send(0, "initialize")).await;
    assert!(over.is_err());
    let modern = client.send_as(Version::V2026_07_28, 1, "server/discover");
    assert!(tokio::time::timeout(patience, modern).await.is_err());
    // Answered, but the stream goes on.
    let mut incoming = client.send(1, "tools/call").await.expect("a stream");
    let answer = next(&mut incoming).await.expect("a message");
    assert_eq!(answer.expect("the answer"), result(1));
    drop(incoming);
    until(|| desk.left() == 3).await;
    drop(client.send(2, "ping").await.expect("an answer"));
    a_while().await;
    assert_eq!(
        desk.methods(),
        ["initialize", "server/discover", "tools/call", "ping"]
    );
}

/// A stream may be dropped anywhere, and nothing runs on without its runtime.
#[test]
fn letting_go_outside_of_the_runtime_is_safe() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .worker_threads(1)
        .build()
        .expect("a runtime");
    let (desk, client, first, second) = runtime.block_on(async {
        let desk = Desk::start(|asked, _| match asked.calls("tools/call") {
            true => vec![antiphon_tests::desk::events(), Step::Hold],
            false => usual(asked),
        })
        .await;
        let client = Client::settled(&desk).await;
        let first = client.send(1, "tools/call").await.expect("a stream");
        let second = client.send(2, "tools/call").await.expect("a stream");
        (desk, client, first, second)
    });
    drop(first);
    runtime.block_on(until(|| {
        desk.methods()
            .contains(&"notifications/cancelled".to_owned())
    }));
    drop(runtime);
    drop(second);
    drop(client);
}

/// Gives a token, and another when that is refused.
struct Tokens;

impl Bearer for Tokens {
    fn token<'a>(
        &'a self,
        challenge: Option<&'a Challenge>,
    ) -> Pending<'a, Result<Option<String>, Box<dyn StdError + Send + Sync>>> {
        let token = challenge.map_or("old", |_| "new");
        Box::pin(async move { Ok(Some(token.to_owned())) })
    }
}

/// All that is sent goes the same way: tokens, challenges, redirects.
#[tokio::test]
async fn every_verb_meets_challenges_and_follows_redirects() {
    let desk = Desk::start(|asked, _| {
        if asked.path == "/mcp" {
            let moved = "HTTP/1.1 307 Moved\r\nlocation: /moved\r\ncontent-length: 0\r\n\r\n";
            return vec![write(moved)];
        }
        match (&*asked.verb, asked.header("authorization")) {
            ("POST" | "GET", Some("Bearer old")) => status("401 Who"),
            _ => usual(asked),
        }
    })
    .await;
    let client = Client::with(Http::new(format!("{}/mcp", desk.origin)).bearer_from(Tokens)).await;
    client.shake_hands().await;
    desk.wait_for("GET", 3).await;
    client.transport.close().await;
    let paths = |verb| -> Vec<_> {
        let requests = desk.of(verb);
        let token = |asked: &Asked| asked.header("authorization").map(str::to_owned);
        requests
            .iter()
            .map(|asked| (asked.path.clone(), token(asked)))
            .collect()
    };
    let bearer = |path: &str, token: &str| (path.to_owned(), Some(format!("Bearer {token}")));
    let tour = [
        bearer("/mcp", "old"),
        bearer("/moved", "old"),
        bearer("/moved", "new"),
    ];
    assert_eq!(paths("POST"), [tour.clone(), tour.clone()].concat());
    assert_eq!(paths("GET"), tour);
    assert_eq!(paths("DELETE"), tour[..2]);
}

/// A person may have to answer a challenge, and nobody sees why at the end.
#[tokio::test]
async fn parting_words_meet_no_challenges() {
    let desk = Desk::start(|asked, _| match &*asked.verb {
        "DELETE" => status("401 Who"),
        _ if asked.calls("notifications/cancelled") => status("401 Who"),
        _ if asked.calls("tools/call") => vec![Step::Hold],
        _ => usual(asked),
    })
    .await;
    let client = Client::with(Http::new(format!("{}/mcp", desk.origin)).bearer_from(Tokens)).await;
    client.shake_hands().await;
    let call = client.send(1, "tools/call");
    assert!(
        tokio::time::timeout(Duration::from_millis(50), call)
            .await
            .is_err()
    );
    until(|| desk.methods().len() == 4).await;
    client.transport.close().await;
    a_while().await;
    assert_eq!(desk.of("DELETE").len(), 1);
    assert_eq!(desk.methods().len(), 4);
}
