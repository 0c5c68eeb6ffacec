//! Who gets which message of a channel, tried without a wire.

use std::{future::poll_fn, time::Duration};

use super::*;

/// A channel without a wire: what is written to it, and what it reports.
struct Wireless {
    shared: Arc<Shared>,
    queue: Queue,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Wireless {
    fn new() -> Self {
        let events = Arc::new(Mutex::new(Vec::new()));
        let log = events.clone();
        let report = move |event| log.lock().expect("not poisoned").push(event);
        let (shared, queue) = Shared::new(Events::new(report));
        Self {
            shared,
            queue,
            events,
        }
    }

    async fn send(&self, id: i64, method: &str) -> Incoming {
        let body = format!("request {id}");
        let sent = self.shared.send(Outgoing::new(id, method, body)).await;
        sent.expect("sent")
    }

    fn receive(&self, message: &str) {
        self.shared
            .receive(Bytes::copy_from_slice(message.as_bytes()));
    }

    /// All that is ready to be written.
    async fn written(&mut self) -> Vec<String> {
        let mut batch = Vec::new();
        let take = self.queue.take(&mut batch);
        _ = tokio::time::timeout(Duration::from_millis(20), take).await;
        batch.iter().map(text).collect()
    }

    /// What was reported since the last time, in short.
    fn events(&self) -> Vec<String> {
        let mut events = self.events.lock().expect("not poisoned");
        let short = |event| match event {
            Event::Message(message) => text(&message),
            Event::Noise(what) => format!("noise: {what}"),
            other => format!("{other:?}"),
        };
        events.drain(..).map(short).collect()
    }
}

fn text(bytes: &Bytes) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

async fn next(incoming: &mut Incoming) -> Option<Result<Bytes, Error>> {
    let next = poll_fn(|context| incoming.poll_next(context));
    let patience = Duration::from_secs(20);
    tokio::time::timeout(patience, next).await.expect("no hang")
}

/// All that comes back, an error as its text.
async fn all(mut incoming: Incoming) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(message) = next(&mut incoming).await {
        all.push(message.map_or_else(|error| error.to_string(), |message| text(&message)));
    }
    all
}

fn answer(id: i64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

fn progress(id: i64) -> String {
    format!(r#"{{"method":"notifications/progress","params":{{"progressToken":{id}}}}}"#)
}

fn change(id: i64) -> String {
    format!(
        r#"{{"method":"notifications/tools/list_changed","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
    )
}

fn cancelled(id: i64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    )
}

#[tokio::test]
async fn every_request_gets_its_own_messages() {
    let wireless = Wireless::new();
    let (one, two) = (wireless.send(1, "a").await, wireless.send(2, "b").await);
    let listen = wireless.send(3, "subscriptions/listen").await;
    for message in [
        progress(2),
        answer(2),
        progress(1),
        change(3),
        progress(1),
        answer(3),
        answer(1),
    ] {
        wireless.receive(&message);
    }
    assert_eq!(all(one).await, [progress(1), progress(1), answer(1)]);
    assert_eq!(all(two).await, [progress(2), answer(2)]);
    assert_eq!(all(listen).await, [change(3), answer(3)]);
    assert_eq!(wireless.events(), [""; 0]);
}

#[tokio::test]
async fn what_is_nobodys_is_reported() {
    let wireless = Wireless::new();
    let one = wireless.send(1, "a").await;
    let nobodys = [
        answer(7),
        progress(7),
        // A subscription, but the request is none; and no subscription, so it goes on.
        change(1),
        cancelled(1),
        r#"{"id":null,"error":{"code":-32700,"message":"?"}}"#.into(),
        r#"{"id":1,"method":"ping"}"#.into(),
    ];
    for message in &nobodys {
        wireless.receive(message);
    }
    assert_eq!(wireless.events(), nobodys);
    wireless.receive("Ready!\u{7}");
    assert_eq!(wireless.events(), [r"noise: Ready!\u{7}"]);
    wireless.receive(&answer(1));
    wireless.receive(&answer(1));
    assert_eq!(wireless.events(), [answer(1)]);
    assert_eq!(all(one).await, [answer(1)]);
}

#[tokio::test]
async fn a_log_message_is_of_the_only_call_there_is() {
    let wireless = Wireless::new();
    let log = r#"{"method":"notifications/message","params":{}}"#.to_owned();
    wireless.receive(&log);
    assert_eq!(wireless.events(), [&*log]);
    let _listen = wireless.send(1, "subscriptions/listen").await;
    let one = wireless.send(2, "a").await;
    wireless.receive(&log);
    let two = wireless.send(3, "b").await;
    wireless.receive(&log);
    assert_eq!(wireless.events(), [&*log]);
    wireless.receive(&answer(2));
    wireless.receive(&log);
    wireless.receive(&answer(3));
    assert_eq!(all(one).await, [log.clone(), answer(2)]);
    assert_eq!(all(two).await, [log, answer(3)]);
}

/// AMB-01
#[tokio::test]
async fn a_subscription_that_the_server_ends_has_ended() {
    let mut wireless = Wireless::new();
    let listen = wireless.send(1, "subscriptions/listen").await;
    wireless.written().await;
    wireless.receive(&cancelled(1));
    wireless.receive(&answer(1));
    assert_eq!(all(listen).await, [cancelled(1)]);
    assert_eq!(wireless.events(), [answer(1)]);
    assert_eq!(wireless.written().await, [""; 0]);
}

/// STDIO-C-06, CANC-C-02, CANC-C-03, CANC-C-04
#[tokio::test]
async fn what_is_given_up_is_cancelled_while_it_is_in_flight() {
    let mut wireless = Wireless::new();
    let one = wireless.send(1, "a").await;
    let two = wireless.send(2, "a").await;
    assert_eq!(wireless.written().await, ["request 1", "request 2"]);
    let three = wireless.send(3, "a").await;
    wireless.receive(&answer(2));
    // In flight, answered, not yet written.
    drop((one, two, three));
    assert_eq!(wireless.written().await, [cancelled(1)]);
    wireless.receive(&answer(1));
    assert_eq!(wireless.events(), [answer(1)]);
    // All of the ids are free again.
    for id in 1..=3 {
        let again = wireless.send(id, "a").await;
        wireless.receive(&answer(id));
        assert_eq!(all(again).await, [answer(id)]);
    }
}

#[tokio::test]
async fn what_is_ready_leaves_together() {
    let mut wireless = Wireless::new();
    let mut waiting = Vec::new();
    for id in 0..50 {
        waiting.push(wireless.send(id, "a").await);
    }
    let mut batch = Vec::new();
    assert!(wireless.queue.take(&mut batch).await);
    assert_eq!(batch.len(), 50);
}

#[tokio::test]
async fn a_request_that_is_flooded_fails_alone() {
    let mut wireless = Wireless::new();
    let (one, two) = (wireless.send(1, "a").await, wireless.send(2, "b").await);
    wireless.written().await;
    for _ in 0..=slot::WAITING {
        wireless.receive(&progress(1));
    }
    wireless.receive(&answer(1));
    wireless.receive(&answer(2));
    let one = all(one).await;
    assert_eq!(one.len(), slot::WAITING + 1);
    assert!(one[slot::WAITING].contains("faster"), "{:?}", one.last());
    assert_eq!(all(two).await, [answer(2)]);
    assert_eq!(wireless.written().await, [cancelled(1)]);
    assert_eq!(wireless.events(), [answer(1)]);
}

#[tokio::test]
async fn an_answer_finds_room_behind_any_number_of_notifications() {
    let wireless = Wireless::new();
    let one = wireless.send(1, "a").await;
    for _ in 0..slot::WAITING {
        wireless.receive(&progress(1));
    }
    wireless.receive(&answer(1));
    assert_eq!(all(one).await.last(), Some(&answer(1)));
}

#[tokio::test]
async fn an_id_in_use_is_refused() {
    let wireless = Wireless::new();
    let one = wireless.send(1, "a").await;
    let again = wireless.shared.send(Outgoing::new(1, "a", "again")).await;
    let error = again.expect_err("in use");
    assert!(
        matches!(error.kind(), crate::client::ErrorKind::Invalid),
        "{error}"
    );
    wireless.receive(&answer(1));
    assert_eq!(all(one).await, [answer(1)]);
}

#[tokio::test]
async fn when_the_channel_ends_everybody_is_told_once() {
    let wireless = Wireless::new();
    let (one, two) = (wireless.send(1, "a").await, wireless.send(2, "b").await);
    wireless.receive(&progress(1));
    wireless.shared.fail("the crane fell over");
    wireless.shared.fail("and then the quay");
    assert_eq!(all(one).await, [&progress(1), "the crane fell over"]);
    assert_eq!(all(two).await, ["the crane fell over"]);
    let events = wireless.events();
    assert!(
        events.len() == 1 && events[0].contains("crane"),
        "{events:?}"
    );
    let late = wireless.shared.send(Outgoing::new(3, "a", "late")).await;
    assert_eq!(late.expect_err("over").to_string(), "the crane fell over");
}

#[tokio::test]
async fn when_this_side_closes_nothing_is_reported() {
    let mut wireless = Wireless::new();
    let (one, two) = (wireless.send(1, "a").await, wireless.send(2, "b").await);
    assert_eq!(wireless.written().await.len(), 2);
    drop(one);
    let three = wireless.send(3, "a").await;
    wireless.shared.close();
    wireless.receive(&answer(2));
    for incoming in [two, three] {
        assert_eq!(
            all(incoming).await,
            ["the connection was closed on this side"]
        );
    }
    assert_eq!(wireless.events(), [""; 0]);
    // What was given up before is still told, and nothing else.
    assert_eq!(wireless.written().await, [cancelled(1)]);
    assert!(!wireless.queue.take(&mut Vec::new()).await);
}

#[tokio::test]
async fn a_full_queue_holds_requests_back() {
    let mut wireless = Wireless::new();
    let mut waiting = Vec::new();
    for id in 0..queue::WAITING as i64 {
        waiting.push(wireless.send(id, "a").await);
    }
    let patience = Duration::from_millis(20);
    let held_back = tokio::time::timeout(patience, wireless.send(99, "a")).await;
    assert!(held_back.is_err());
    // Held back and dropped: never sent, and its id was never used.
    assert_eq!(wireless.written().await.len(), queue::WAITING);
    assert_eq!(wireless.written().await, [""; 0]);
    wireless.send(99, "a").await;
}
