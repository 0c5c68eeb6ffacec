//! Servers that mean no good.

use std::time::{Duration, Instant};

use antiphon::client::ErrorKind;
use antiphon_tests::{
    desk::{events, response},
    until,
};

use super::*;

/// LHTTP-S-22
#[tokio::test]
async fn a_bad_name_of_a_session_is_refused() {
    let long = "x".repeat(5000);
    for name in [
        "a\tb",
        "a b",
        "Malmö",
        "a\u{1}b",
        "",
        &long,
        "a\r\nmcp-session-id: b",
    ] {
        let welcomed = welcome(name);
        let welcomed = Mutex::new(Some(welcomed));
        let desk = Desk::start(move |asked, _| match asked.calls("initialize") {
            true => welcomed
                .lock()
                .expect("unpoisoned")
                .take()
                .expect("one try"),
            false => usual(asked),
        })
        .await;
        let client = Client::to(&desk).await;
        let error = client.send(0, "initialize").await.expect_err("refused");
        assert!(
            matches!(error.kind(), ErrorKind::Decode | ErrorKind::Transport),
            "{error:?}"
        );
        assert!(error.to_string().len() < 300, "{error}");
        // It was not kept.
        client.call(1).await.expect("an answer");
        assert_eq!(desk.requests()[1].header("mcp-session-id"), None, "{name}");
    }
}

#[tokio::test]
async fn a_request_that_is_merely_accepted_is_not_answered() {
    let desk = Desk::start(|_, _| status("202 Accepted")).await;
    let client = Client::to(&desk).await;
    let error = client.call(1).await.expect_err("no answer");
    assert!(matches!(error.kind(), ErrorKind::Decode), "{error:?}");
    assert!(error.to_string().contains("202"), "{error}");
    a_while().await;
    assert_eq!(desk.requests().len(), 1);
}

/// The server may say when to come back, be it never; whoever waits can still let go.
#[tokio::test]
async fn a_server_that_says_never_is_believed() {
    for retry in ["18446744073709551615", "99999999999999999999999999"] {
        let desk = Desk::start(move |asked, _| match asked.calls("tools/call") {
            true => vec![
                events(),
                write(format!("id: 1\nretry: {retry}\n\n")),
                Step::Close,
            ],
            false => usual(asked),
        })
        .await;
        let client = Client::to(&desk).await;
        let call = client.call(1);
        assert!(
            tokio::time::timeout(Duration::from_secs(2), call)
                .await
                .is_err()
        );
        assert_eq!(desk.of("GET").len(), 0);
        until(|| {
            desk.methods()
                .contains(&"notifications/cancelled".to_owned())
        })
        .await;
    }
}

/// A server that has us come back for nothing does not get a storm of requests.
#[tokio::test]
async fn coming_back_at_once_is_not_what_happens() {
    let desk = Desk::start(|asked, _| match asked.calls("notifications/cancelled") {
        true => usual(asked),
        false => vec![events(), write("id: 1\nretry: 0\n\n"), Step::Close],
    })
    .await;
    let client = Client::to(&desk).await;
    let call = client.call(1);
    assert!(
        tokio::time::timeout(Duration::from_secs(1), call)
            .await
            .is_err()
    );
    let calls = desk.of("GET").len();
    assert!((5..=10).contains(&calls), "{calls}");
    // On its own stream nobody waits, so the pauses grow.
    let desk = Desk::start(|_, _| vec![events(), write("id: 1\nretry: 0\n\n"), Step::Close]).await;
    let client = Client::to(&desk).await;
    client.transport.settled(LATEST).await;
    tokio::time::sleep(Duration::from_millis(1300)).await;
    assert_eq!(desk.of("GET").len(), 2);
}

/// An id that is too long is not kept, wherever it stands, and does no harm.
#[tokio::test]
async fn endless_ids_are_read_past() {
    let long = format!("id: {}\ndata: 1\n\n", "x".repeat(1 << 20));
    let desk = Desk::start(move |asked, _| match &*asked.verb {
        "GET" => vec![events(), write(long.clone()), event("2"), Step::Hold],
        _ if asked.calls("tools/call") => {
            vec![events(), write(long.clone()), event("2"), event(&result(1))]
        }
        _ => usual(asked),
    })
    .await;
    let client = Client::settled(&desk).await;
    let messages = client.call(1).await.expect("an answer");
    assert_eq!(messages, ["1".to_owned(), "2".to_owned(), result(1)]);
    until(|| client.heard().len() == 2).await;
    // One without an end costs nothing but patience.
    let desk = Desk::start(|asked, _| match asked.calls("tools/call") {
        true => vec![events(), write("id: "), Step::Flood("x".repeat(1 << 16))],
        false => usual(asked),
    })
    .await;
    let client = Client::to(&desk).await;
    let call = client.call(1);
    assert!(
        tokio::time::timeout(Duration::from_millis(500), call)
            .await
            .is_err()
    );
    until(|| {
        desk.methods()
            .contains(&"notifications/cancelled".to_owned())
    })
    .await;
}

/// What is too long ends the request, and the server hears of it.
#[tokio::test]
async fn what_is_too_long_is_given_up() {
    let long = "x".repeat(200);
    let desk = Desk::start(move |asked, _| match &*asked.verb {
        "GET" => vec![
            events(),
            write("id: 7\nretry: 1\n\n"),
            event(&long),
            Step::Hold,
        ],
        _ if asked.calls("tools/call") => vec![events(), write("id: 1\n\n"), event(&long)],
        _ if asked.calls("ping") => json(&long),
        _ => usual(asked),
    })
    .await;
    let http = Http::new(&desk.origin).max_message_bytes(150);
    let client = Client::with(http).await;
    client.send(0, "initialize").await.expect("an answer");
    for method in ["tools/call", "ping"] {
        let answer = match client.send(1, method).await {
            Ok(incoming) => all(incoming).await,
            Err(error) => Err(error),
        };
        let error = answer.expect_err("too long");
        assert!(matches!(error.kind(), ErrorKind::Decode), "{error:?}");
        assert!(
            error.to_string().contains("longer than 150 bytes"),
            "{error}"
        );
    }
    until(|| desk.methods().len() == 4).await;
    a_while().await;
    let cancelled = desk
        .methods()
        .iter()
        .filter(|method| **method == "notifications/cancelled")
        .count();
    assert_eq!(cancelled, 1, "the whole answer was there");
    // The server's own stream is opened anew in a while, and not from where that would come again.
    client.transport.settled(LATEST).await;
    desk.wait_for("GET", 1).await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(desk.of("GET").len(), 1);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(31)).await;
    tokio::time::resume();
    let gets = desk.wait_for("GET", 2).await;
    assert_eq!(gets[1].header("last-event-id"), None);
}

/// A server that does not take the answer for the end does not keep anybody.
#[tokio::test]
async fn a_stream_without_an_end_is_left() {
    let desk = Desk::start(|asked, _| match asked.calls("tools/call") {
        true => vec![
            events(),
            event(&result(1)),
            Step::Flood(": more\n\n".repeat(1000)),
        ],
        false => usual(asked),
    })
    .await;
    let client = Client::to(&desk).await;
    let mut incoming = client.send(1, "tools/call").await.expect("a stream");
    let answer = next(&mut incoming).await.expect("a message");
    assert_eq!(answer.expect("the answer"), result(1));
    drop(incoming);
    client.send(2, "ping").await.expect("an answer");
    // The same where nothing should come at all.
    let desk = Desk::start(|_, _| vec![events(), Step::Flood(": more\n\n".repeat(1000))]).await;
    let client = Client::to(&desk).await;
    let started = Instant::now();
    let told = client.transport.tell(LATEST, INITIALIZED.into()).await;
    told.expect("taken");
    assert!(started.elapsed() < Duration::from_secs(3));
}

/// Answers that nobody asked for, and two to one request.
#[tokio::test]
async fn answers_nobody_waits_for_are_nobodys() {
    let nameless = r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"?"}}"#;
    let desk = Desk::start(move |asked, _| match asked.body.contains(r#""id":1"#) {
        true => vec![
            events(),
            event(&result(8)),
            event(&result(1)),
            event(&result(1)),
        ],
        false => vec![events(), event(nameless)],
    })
    .await;
    let client = Client::to(&desk).await;
    assert_eq!(client.call(1).await.expect("an answer"), [result(1)]);
    assert_eq!(client.heard(), [result(8), result(1)]);
    // An error that names no request is that of the one whose stream it is.
    assert_eq!(client.call(2).await.expect("an answer"), [nameless]);
    a_while().await;
    assert_eq!(desk.requests().len(), 2);
}

#[tokio::test]
async fn ids_are_used_by_one_request_at_a_time() {
    let desk = Desk::start(|asked, _| match asked.calls("tools/call") {
        true => vec![events(), Step::Hold],
        false => usual(asked),
    })
    .await;
    let client = Client::to(&desk).await;
    let first = client.send(1, "tools/call").await.expect("a stream");
    let error = client.send(1, "ping").await.expect_err("in use");
    assert!(matches!(error.kind(), ErrorKind::Invalid), "{error:?}");
    drop(first);
    client.send(1, "ping").await.expect("an answer");
}

/// A page in place of a server, for every verb.
#[tokio::test]
async fn a_page_is_no_server() {
    let desk = Desk::start(|_, _| response("200 OK", "text/html", "<h1>Welcome</h1>")).await;
    let client = Client::to(&desk).await;
    let error = client.send(0, "initialize").await.expect_err("a page");
    assert!(matches!(error.kind(), ErrorKind::Decode), "{error:?}");
    let error = client.transport.fall_back().await.expect_err("a page");
    assert!(matches!(error.kind(), ErrorKind::Decode), "{error:?}");
    client.transport.settled(LATEST).await;
    client.transport.close().await;
}
