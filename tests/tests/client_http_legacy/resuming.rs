//! Streams that end before the answer, and answers that come elsewhere.

use std::time::{Duration, Instant};

use antiphon::client::ErrorKind;
use antiphon_tests::desk::{events, fragile_events, response, wait};

use super::*;

/// A priming event (LHTTP-S-06) of this id that says when to come back.
fn prime(id: &str, retry: u64) -> Step {
    write(format!("id: {id}\nretry: {retry}\ndata:\n\n"))
}

/// LHTTP-C-03, LHTTP-C-07, LHTTP-S-07: a stream that ended or broke is come back to, not too early,
/// with the last id and under the session, as often as it takes.
#[tokio::test]
async fn a_stream_is_come_back_to() {
    for breaks in [false, true] {
        let head = move || if breaks { fragile_events() } else { events() };
        let desk = Desk::start(move |asked, before| {
            if asked.calls("tools/call") {
                return vec![
                    head(),
                    prime("a", 400),
                    event("1"),
                    write("id: b\ndata: 2\n\n"),
                    write("id: c\ndata: cut off"),
                    Step::Close,
                ];
            }
            match (&*asked.verb, asked.header("last-event-id"), before) {
                ("GET", Some("b"), _) => vec![head(), event("3"), Step::Close],
                ("GET", Some(_), _) => vec![head(), event("wrong")],
                ("GET", None, _) => status("405 No"),
                _ => usual(asked),
            }
        })
        .await;
        let client = Client::settled(&desk).await;
        desk.wait_for("GET", 1).await;
        let mut incoming = client.send(5, "tools/call").await.expect("a stream");
        for expected in ["1", "2"] {
            assert_eq!(
                next(&mut incoming).await.expect("more").expect("one"),
                expected
            );
        }
        let ended = Instant::now();
        // There is no newer id on the second, so it goes on from there once more.
        for expected in ["3", "3"] {
            assert_eq!(
                next(&mut incoming).await.expect("more").expect("one"),
                expected
            );
        }
        let gets = desk.of("GET");
        assert_eq!(gets.len(), 3);
        assert!(gets[1].at - ended > Duration::from_millis(380));
        assert!(gets[2].at - gets[1].at > Duration::from_millis(390));
        for get in &gets[1..] {
            assert_eq!(get.header("last-event-id"), Some("b"));
            assert_eq!(get.header("mcp-session-id"), Some("s-1"));
            assert_eq!(get.header("mcp-protocol-version"), Some("2025-11-25"));
            assert_eq!(get.header("accept"), Some("text/event-stream"));
        }
    }
}

/// The story of the conformance suite: nothing but an id, then the answer on the second stream.
#[tokio::test]
async fn the_answer_may_come_on_the_second_stream() {
    let desk = Desk::start(|asked, before| match (&*asked.verb, before) {
        ("POST", _) if asked.calls("tools/call") => {
            vec![events(), prime("event-1", 500), wait(50), Step::Close]
        }
        // Its own stream, which stays open.
        ("GET", 0) => vec![events(), Step::Hold],
        ("GET", _) => vec![events(), event(&result(5)), Step::Close],
        _ => usual(asked),
    })
    .await;
    let client = Client::settled(&desk).await;
    desk.wait_for("GET", 1).await;
    assert_eq!(client.call(5).await.expect("an answer"), [result(5)]);
    a_while().await;
    let gets = desk.of("GET");
    assert_eq!(gets.len(), 2);
    assert_eq!(gets[1].header("last-event-id"), Some("event-1"));
    let call = desk.of("POST").last().expect("the call").at;
    assert!(gets[1].at - call > Duration::from_millis(540));
}

/// HTTP-C-09, as with servers of today: without an id the request is lost.
#[tokio::test]
async fn without_an_id_there_is_no_way_back() {
    let taken_back = "id: 1\ndata: 1\n\nid\ndata: 2\n\n";
    let long = format!("id: 1\n\nid: {}\ndata: 2\n\n", "x".repeat(1 << 20));
    let unsendable = "id: 1\u{1}\ndata: 2\n\n";
    for said in [
        "data: 1\n\n",
        "",
        "retry: 1\n\n",
        taken_back,
        &long,
        unsendable,
    ] {
        for breaks in [false, true] {
            let said = said.to_owned();
            let desk = Desk::start(move |asked, _| match asked.calls("tools/call") {
                true => {
                    let head = if breaks { fragile_events() } else { events() };
                    vec![head, write(said.clone()), Step::Close]
                }
                false => usual(asked),
            })
            .await;
            let client = Client::to(&desk).await;
            let mut incoming = client.send(5, "tools/call").await.expect("a stream");
            let end = loop {
                match next(&mut incoming).await {
                    Some(Ok(_)) => {}
                    end => break end,
                }
            };
            match end {
                None => assert!(!breaks),
                Some(Err(error)) => {
                    assert!(
                        breaks && matches!(error.kind(), ErrorKind::Transport),
                        "{error}"
                    );
                }
                Some(Ok(_)) => unreachable!("skipped above"),
            }
            assert!(next(&mut incoming).await.is_none());
            drop(incoming);
            a_while().await;
            assert_eq!(desk.requests().len(), 1);
        }
    }
}

/// A server that cannot resume says so. The request may have been served, so this is no session
/// that was lost before it.
#[tokio::test]
async fn what_cannot_be_resumed_is_lost() {
    for (answer, word) in [
        (status("405 Method Not Allowed"), "405"),
        (status("404 Not Found"), "404"),
        (status("400 Bad Request"), "400"),
        (status("401 Who"), "401"),
        (json(&result(5)), "in place of a stream"),
        (response("200 OK", "text/html", "hello"), "text/html"),
    ] {
        let answer = Mutex::new(Some(answer));
        let desk = Desk::start(move |asked, _| match &*asked.verb {
            "GET" => answer.lock().expect("unpoisoned").take().expect("one try"),
            "POST" if asked.calls("tools/call") => vec![events(), prime("1", 0), Step::Close],
            _ => usual(asked),
        })
        .await;
        let client = Client::to(&desk).await;
        client.send(0, "initialize").await.expect("an answer");
        let error = client.call(5).await.expect_err("lost");
        assert!(matches!(error.kind(), ErrorKind::Transport), "{error:?}");
        assert!(error.may_have_been_sent());
        let text = error.to_string();
        assert!(
            text.contains("could not be resumed") && text.contains(word),
            "{text}"
        );
        a_while().await;
        assert_eq!(desk.of("GET").len(), 1, "{word}");
        assert_eq!(desk.of("POST").len(), 2, "nothing to cancel");
    }
}

/// A server in trouble is given another chance, later each time.
#[tokio::test]
async fn a_server_in_trouble_is_tried_again() {
    let desk = Desk::start(|asked, before| match (&*asked.verb, before) {
        ("POST", _) => vec![events(), prime("1", 0), Step::Close],
        ("GET", 0) => status("503 Busy"),
        ("GET", _) => vec![events(), event(&result(5))],
        _ => usual(asked),
    })
    .await;
    let client = Client::to(&desk).await;
    assert_eq!(client.call(5).await.expect("an answer"), [result(5)]);
    let gets = desk.of("GET");
    assert_eq!(gets.len(), 2);
    assert!(gets[1].at - gets[0].at > Duration::from_millis(1400));
}

/// LHTTP-S-14 has it only for streams that are resumed; not every server knows.
#[tokio::test]
async fn an_answer_finds_its_request_on_any_stream() {
    let called = |asked: &Asked| asked.calls("tools/call");
    let headless = vec![Step::Hold];
    let silent = vec![events(), Step::Hold];
    // While it waits to come back.
    let pausing = vec![events(), prime("1", 60_000), Step::Close];
    for answer in [headless, silent, pausing] {
        let answer = Mutex::new(Some(answer));
        let desk = Desk::start(move |asked, _| match &*asked.verb {
            "GET" => vec![
                events(),
                Step::Until(called),
                wait(100),
                event(&result(99)),
                event(&result(5)),
                event(&result(5)),
                Step::Hold,
            ],
            _ if asked.calls("tools/call") => {
                answer.lock().expect("unpoisoned").take().expect("one call")
            }
            _ => usual(asked),
        })
        .await;
        let client = Client::settled(&desk).await;
        assert_eq!(client.call(5).await.expect("an answer"), [result(5)]);
        // What nobody waits for, or not any more, is told.
        antiphon_tests::until(|| client.heard().len() == 2).await;
        assert_eq!(client.heard(), [result(99), result(5)]);
        a_while().await;
        assert!(
            !desk
                .methods()
                .contains(&"notifications/cancelled".to_owned())
        );
    }
}

/// An answer on the stream of another request.
#[tokio::test]
async fn requests_may_be_answered_on_each_others_streams() {
    let desk = Desk::start(|asked, _| match &*asked.verb {
        _ if asked.body.contains(r#""id":1"#) => vec![events(), Step::Hold],
        _ if asked.body.contains(r#""id":2"#) => {
            vec![events(), event(&result(1)), event(&result(2))]
        }
        _ => usual(asked),
    })
    .await;
    let client = Client::to(&desk).await;
    let one = client.send(1, "tools/call").await.expect("a stream");
    assert_eq!(client.call(2).await.expect("an answer"), [result(2)]);
    assert_eq!(all(one).await.expect("an answer"), [result(1)]);
    assert_eq!(client.heard(), [""; 0]);
}

/// LHTTP-S-10: what a server asks and tells because of a request belongs to that request.
#[tokio::test]
async fn a_request_gets_all_of_its_stream() {
    let said = [
        r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/message"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7}}"#,
        r#"{"jsonrpc":"2.0","id":"a","result":{}}"#,
    ];
    let late = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    let desk = Desk::start(move |_, _| {
        let mut steps = vec![events()];
        steps.extend(said.iter().map(|said| event(said)));
        steps.extend([event(&result(5)), event(late)]);
        steps
    })
    .await;
    let client = Client::to(&desk).await;
    let messages = client.call(5).await.expect("an answer");
    assert_eq!(messages[..4], said);
    assert_eq!(messages[4..], [result(5)]);
    // After the answer nobody listens to the call any more.
    assert_eq!(client.heard(), [late]);
}

/// Nobody is woken for nothing after the answer, however long the stream goes on.
#[tokio::test]
async fn a_stream_may_go_on_slowly_after_the_answer() {
    let desk = Desk::start(|_, _| {
        let mut steps = vec![events(), event(&result(5))];
        for late in ["1", "2", "3"] {
            steps.extend([wait(50), event(late)]);
        }
        steps
    })
    .await;
    let client = Client::to(&desk).await;
    assert_eq!(client.call(5).await.expect("an answer"), [result(5)]);
    assert_eq!(client.heard(), ["1", "2", "3"]);
}

/// LEG-B-05
#[tokio::test]
async fn one_revision_has_batches() {
    let note = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;
    let batch = format!("[{note},{}]", result(5));
    for stream in [false, true] {
        let said = batch.clone();
        let desk = Desk::start(move |asked, _| match (&*asked.verb, stream) {
            ("GET", _) => vec![events(), event(&format!("[{note},{note}]")), Step::Hold],
            (_, true) => vec![events(), event(&said)],
            (_, false) => json(&said),
        })
        .await;
        let client = Client::to(&desk).await;
        let old = client.send_as(Version::V2025_03_26, 5, "tools/call").await;
        let messages = all(old.expect("an answer")).await.expect("an answer");
        assert_eq!(messages, [note.to_owned(), result(5)]);
        client.transport.settled(Version::V2025_03_26).await;
        antiphon_tests::until(|| client.heard().len() == 2).await;
        assert_eq!(client.heard(), [note, note]);
        let new = client
            .send_as(LATEST, 6, "tools/call")
            .await
            .expect("an answer");
        let messages = all(new).await.expect("an answer");
        assert_eq!(messages, std::slice::from_ref(&batch));
    }
}

/// HTTP-C-08: in a revision without resumption, ids and retry times mean nothing.
#[tokio::test]
async fn requests_that_stand_alone_are_not_resumed() {
    let desk = Desk::start(|asked, _| match &*asked.verb {
        "POST" => vec![events(), prime("1", 0), event("1"), Step::Close],
        _ => usual(asked),
    })
    .await;
    let client = Client::to(&desk).await;
    let incoming = client.send_as(Version::V2026_07_28, 5, "tools/call").await;
    let messages = all(incoming.expect("a stream")).await;
    assert_eq!(messages.expect("an end"), ["1"]);
    a_while().await;
    assert_eq!(desk.requests().len(), 1);
}
