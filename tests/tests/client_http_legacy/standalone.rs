//! The stream on which a server speaks of its own accord.

use std::time::Duration;

use antiphon_tests::{
    desk::{events, wait},
    until,
};

use super::*;

const NEWS: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
const QUESTION: &str = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;

/// LHTTP-C-05, LHTTP-S-13
#[tokio::test]
async fn what_the_server_says_of_its_own_accord_is_heard() {
    let desk = Desk::start(|asked, _| match &*asked.verb {
        "GET" => vec![
            events(),
            event(NEWS),
            write("event: other\ndata: 1\n\n: comment\n\n"),
            event(QUESTION),
            event("what?"),
            Step::Hold,
        ],
        _ => usual(asked),
    })
    .await;
    let client = Client::settled(&desk).await;
    until(|| client.heard().len() == 3).await;
    assert_eq!(client.heard(), [NEWS, QUESTION, "noise: what?"]);
    // It ends with the transport.
    drop(client);
    until(|| desk.left() == 1).await;
    a_while().await;
    assert_eq!(desk.of("GET").len(), 1);
    assert_eq!(desk.of("DELETE").len(), 0);
}

/// Many servers lose what they ask there while nobody listens, so the first request waits until
/// the stream is open; but not for a server that never says whether it has one.
#[tokio::test]
async fn the_client_listens_before_it_asks() {
    for (head, listens) in [(wait(300), true), (Step::Hold, false)] {
        let desk = Desk::start(move |asked, _| match &*asked.verb {
            "GET" => vec![head.clone(), events(), Step::Hold],
            _ => usual(asked),
        })
        .await;
        let began = std::time::Instant::now();
        let client = Client::settled(&desk).await;
        let waited = began.elapsed();
        assert!(waited >= Duration::from_millis(250), "{waited:?}");
        assert_eq!(desk.of("GET").len(), 1);
        client.call(1).await.expect("an answer");
        assert!(listens || waited < Duration::from_secs(10), "{waited:?}");
    }
}

#[tokio::test]
async fn it_ends_with_its_session() {
    for closes in [true, false] {
        let desk = Desk::start(|asked, _| match &*asked.verb {
            "GET" => vec![events(), Step::Hold],
            _ => usual(asked),
        })
        .await;
        let client = Client::settled(&desk).await;
        desk.wait_for("GET", 1).await;
        match closes {
            true => client.transport.close().await,
            false => client.transport.start_over().await.expect("fine"),
        }
        until(|| desk.left() == 1).await;
        a_while().await;
        assert_eq!(desk.of("GET").len(), 1);
    }
}

/// LHTTP-S-12, and the other statuses that servers have for it.
#[tokio::test]
async fn a_server_may_have_no_such_stream() {
    for answer in ["405 Method Not Allowed", "400 Bad Request", "404 Not Found"] {
        let desk = Desk::start(move |asked, _| match &*asked.verb {
            "GET" => status(answer),
            _ => usual(asked),
        })
        .await;
        let client = Client::settled(&desk).await;
        desk.wait_for("GET", 1).await;
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert_eq!(desk.of("GET").len(), 1, "{answer}");
        assert!(client.events.lock().expect("unpoisoned").is_empty());
        // The session is as good as before.
        client.call(1).await.expect("an answer");
    }
}

/// What was missed may not be kept; what comes from then on is heard.
#[tokio::test]
async fn a_stream_that_cannot_be_resumed_is_begun_anew() {
    for refusal in ["400 Bad Request", "404 Not Found"] {
        let desk = Desk::start(move |asked, before| match &*asked.verb {
            "GET" if asked.header("last-event-id").is_some() => status(refusal),
            "GET" if before == 0 => vec![events(), write("id: 7\nretry: 1\ndata:\n\n")],
            "GET" => vec![events(), event(NEWS), Step::Hold],
            _ => usual(asked),
        })
        .await;
        let client = Client::settled(&desk).await;
        until(|| client.heard().len() == 1).await;
        assert_eq!(client.heard(), [NEWS], "{refusal}");
        let ids = desk.of("GET");
        let ids: Vec<_> = ids.iter().map(|get| get.header("last-event-id")).collect();
        assert_eq!(ids, [None, Some("7"), None], "{refusal}");
    }
}

#[tokio::test]
async fn a_refusal_of_another_kind_is_told_once() {
    let desk = Desk::start(|asked, _| match &*asked.verb {
        "GET" => status("403 Forbidden"),
        _ => usual(asked),
    })
    .await;
    let client = Client::settled(&desk).await;
    until(|| !client.events.lock().expect("unpoisoned").is_empty()).await;
    tokio::time::sleep(Duration::from_millis(1300)).await;
    assert_eq!(desk.of("GET").len(), 1);
    let events = client.events.lock().expect("unpoisoned");
    assert!(matches!(&events[..], [Event::Transport(_)]), "{events:?}");
}

/// One that ends without a word is not pestered: whoever counts GETs must not take those for
/// somebody who comes back for an answer.
#[tokio::test]
async fn a_stream_that_says_nothing_is_left_alone() {
    let desk = Desk::start(|asked, _| match &*asked.verb {
        "GET" => vec![events(), wait(50), Step::Close],
        _ => usual(asked),
    })
    .await;
    let client = Client::settled(&desk).await;
    desk.wait_for("GET", 1).await;
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert_eq!(desk.of("GET").len(), 1);
    drop(client);
}

/// LHTTP-C-03, LHTTP-C-07
#[tokio::test]
async fn it_goes_on_where_it_ended() {
    let desk = Desk::start(|asked, before| match (&*asked.verb, before) {
        ("GET", 0) => vec![
            events(),
            write("id: a\nretry: 400\ndata:\n\n"),
            event(NEWS),
            Step::Close,
        ],
        ("GET", _) => vec![events(), event(QUESTION), Step::Hold],
        _ => usual(asked),
    })
    .await;
    let client = Client::settled(&desk).await;
    until(|| client.heard().len() == 2).await;
    assert_eq!(client.heard(), [NEWS, QUESTION]);
    let gets = desk.of("GET");
    assert_eq!(gets[0].header("last-event-id"), None);
    assert_eq!(gets[1].header("last-event-id"), Some("a"));
    assert_eq!(gets[1].header("mcp-session-id"), Some("s-1"));
    let pause = gets[1].at - gets[0].at;
    assert!(pause > Duration::from_millis(390), "{pause:?}");
}

/// A server that is away for a while is waited for.
#[tokio::test]
async fn a_server_that_is_away_is_waited_for() {
    let desk = Desk::start(|asked, before| match (&*asked.verb, before) {
        ("GET", 0) => vec![Step::Close],
        ("GET", 1) => status("503 Busy"),
        ("GET", _) => vec![events(), event(NEWS), Step::Hold],
        _ => usual(asked),
    })
    .await;
    let client = Client::settled(&desk).await;
    until(|| client.heard().len() == 1).await;
    let gets = desk.of("GET");
    assert!(gets[1].at - gets[0].at > Duration::from_millis(700));
    assert!(gets[2].at - gets[1].at > Duration::from_millis(1400));
}

/// Settled again, there is one stream and not two.
#[tokio::test]
async fn there_is_one_at_a_time() {
    let desk = Desk::start(|asked, _| match &*asked.verb {
        "GET" => vec![events(), Step::Hold],
        _ => usual(asked),
    })
    .await;
    let client = Client::settled(&desk).await;
    desk.wait_for("GET", 1).await;
    client.transport.settled(LATEST).await;
    desk.wait_for("GET", 2).await;
    until(|| desk.left() == 1).await;
    a_while().await;
    assert_eq!(desk.left(), 1);
}
