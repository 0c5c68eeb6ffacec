//! What the guide on sealing promises, as far as its own code does not show it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use antiphon::{
    Call, Context, Layer, Next, Outcome, Server, State, Stop,
    raw::Endpoint,
    sealing::{Key, Replay, Sealing},
    types::{BooleanSchema, ElicitRequestParams, FormSchema, InputRequired},
};
use antiphon_tests::{
    call,
    log::Log,
    until,
    wire::{Connection, Exchange},
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// What happened.
#[derive(Clone)]
struct Shop {
    /// Orders that wait for a permit, or have waited.
    begun: Arc<AtomicUsize>,
    orders: Arc<AtomicUsize>,
    /// One order for each permit.
    open: Arc<Semaphore>,
}

impl Default for Shop {
    fn default() -> Self {
        Self {
            begun: Arc::default(),
            orders: Arc::default(),
            open: Arc::new(Semaphore::new(1000)),
        }
    }
}

/// Asks, then orders; panics if the answer says so.
async fn order(call: Call, State(shop): State<Shop>) -> Result<String, Stop> {
    let answers = call.responses();
    if answers.is_empty() {
        let form = FormSchema::new().required("approve", BooleanSchema::new());
        let question = ElicitRequestParams::form("Order it?", form);
        return Err(Stop::ask(InputRequired::ask("confirm", question)));
    }
    let content: Value = answers.accepted("confirm").unwrap_or_default();
    assert_ne!(content["approve"], "panic", "as the answer says");
    shop.begun.fetch_add(1, Ordering::SeqCst);
    shop.open.acquire().await.expect("never closed").forget();
    let number = shop.orders.fetch_add(1, Ordering::SeqCst) + 1;
    Ok(format!("Order number {number}."))
}

fn server(sealing: Sealing, shop: &Shop) -> Server {
    Server::new("shop", "1.0")
        .tool("order", order)
        .sealing(sealing)
        .with_state(shop.clone())
}

fn keys() -> Sealing {
    let key = Key::new(&[7; 32]).expect("long enough");
    Sealing::keys([key]).audience("shop")
}

/// A clock that is moved by hand.
#[derive(Clone, Default)]
struct Clock(Arc<AtomicU64>);

impl Clock {
    fn of(&self, sealing: Sealing) -> Sealing {
        let Self(seconds) = self.clone();
        sealing.clock(move || {
            let seconds = 1_800_000_000 + seconds.load(Ordering::SeqCst);
            SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
        })
    }

    fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

fn first() -> Value {
    call(1, "order", json!({ "title": "Dune", "copies": 2 }))
}

/// The first request once more, with the state it got and an answer.
fn answered(asked: &Exchange, approve: impl Into<Value>) -> Value {
    let mut message = first();
    message["params"]["requestState"] = asked.result()["requestState"].clone();
    message["params"]["inputResponses"] =
        json!({ "confirm": { "action": "accept", "content": { "approve": approve.into() } } });
    message
}

const FROZEN: &str = r#"{"code":-32602,"message":"Invalid or expired requestState","data":{"reason":"invalid_request_state"}}"#;

fn assert_frozen(answer: &Exchange, why: &str) {
    assert_eq!(answer.response["error"].to_string(), FROZEN, "{why}");
}

#[tokio::test]
async fn a_restart_ends_a_key_of_the_process_but_not_keys_of_yours() {
    let shop = Shop::default();
    let asked = Connection::memory(server(Sealing::default(), &shop))
        .ask(&first())
        .await;
    let mut restarted = Connection::memory(server(Sealing::default(), &shop));
    let answer = restarted.ask(&answered(&asked, true)).await;
    assert_frozen(&answer, "another process");

    let asked = Connection::memory(server(keys(), &shop))
        .ask(&first())
        .await;
    for number in 1..=2 {
        // A memory does not outlive its process: each of them takes it once.
        let mut restarted = Connection::memory(server(keys(), &shop));
        for _ in 0..2 {
            let answer = restarted.ask(&answered(&asked, true)).await;
            assert_eq!(answer.text(), format!("Order number {number}."));
        }
    }
    assert_eq!(shop.orders.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn time_runs_out_for_a_state_and_for_a_call() {
    let (clock, shop) = (Clock::default(), Shop::default());
    let mut connection = Connection::memory(server(clock.of(Sealing::default()), &shop));
    let asked = connection.ask(&first()).await;
    clock.pass(599);
    let answer = connection.ask(&answered(&asked, true)).await;
    assert_eq!(answer.text(), "Order number 1.");
    let asked = connection.ask(&first()).await;
    clock.pass(600);
    assert_frozen(&connection.ask(&answered(&asked, true)).await, "expired");

    let short = clock.of(Sealing::default().call_deadline(Duration::from_secs(10)));
    let mut connection = Connection::memory(server(short, &shop));
    let asked = connection.ask(&first()).await;
    clock.pass(10);
    assert_frozen(&connection.ask(&answered(&asked, true)).await, "overdue");
}

#[tokio::test]
async fn arguments_are_compared_by_what_they_say() {
    let shop = Shop::default();
    let mut connection = Connection::memory(server(Sealing::default(), &shop));
    let asked = connection.ask(&first()).await;
    let mut other = answered(&asked, true);
    other["params"]["arguments"]["copies"] = 3.into();
    assert_frozen(&connection.ask(&other).await, "other arguments");
    let spelt = answered(&asked, true).to_string();
    let same = spelt.replace(
        r#"{"title":"Dune","copies":2}"#,
        r#"{ "copies": 20e-1, "title": "\u0044une" }"#,
    );
    assert_ne!(same, spelt);
    connection.send_text(&same).await;
    let answer = connection.receive().await.expect("an answer");
    assert_eq!(answer["result"]["content"][0]["text"], "Order number 1.");
}

#[tokio::test]
async fn what_got_no_answer_can_still_be_answered() {
    let (log, _guard) = Log::of_everything();
    let shop = Shop::default();
    let mut connection = Connection::memory(server(Sealing::default(), &shop));
    let asked = connection.ask(&first()).await;
    let mut nothing = answered(&asked, true);
    nothing["params"]["inputResponses"] = json!({});
    assert_frozen(&connection.ask(&nothing).await, "no answers");
    nothing["params"]["inputResponses"] = json!({ "other": { "action": "accept" } });
    assert_frozen(&connection.ask(&nothing).await, "others");
    let answer = connection.ask(&answered(&asked, true)).await;
    assert_eq!(answer.text(), "Order number 1.");
    let log = log.text();
    for reason in ["no_answers", "unsolicited_answers"] {
        assert!(log.contains(&format!(r#"reason="{reason}""#)), "{log}");
    }
    assert!(!log.contains("Dune") && !log.contains("approve"), "{log}");
}

#[tokio::test]
async fn a_response_that_is_not_kept_is_not_repeated() {
    let shop = Shop::default();
    for sealing in [
        Sealing::default().answer_bytes(10),
        Sealing::default().replay(Replay::Refuse),
    ] {
        let mut connection = Connection::memory(server(sealing, &shop));
        let asked = connection.ask(&first()).await;
        connection.ask(&answered(&asked, true)).await.text();
        assert_frozen(&connection.ask(&answered(&asked, true)).await, "again");
    }
    assert_eq!(shop.orders.load(Ordering::SeqCst), 2);

    let mut connection = Connection::memory(server(Sealing::default().replayable(), &shop));
    let asked = connection.ask(&first()).await;
    for approve in [true, false] {
        connection.ask(&answered(&asked, approve)).await.text();
    }
    assert_eq!(shop.orders.load(Ordering::SeqCst), 4);
}

/// A client leaves while its order is on the way; whoever asks again waits for it.
#[tokio::test]
async fn what_was_claimed_runs_to_its_end() {
    let shop = Shop {
        open: Arc::new(Semaphore::new(0)),
        ..Shop::default()
    };
    let endpoint = Endpoint::from(server(Sealing::default(), &shop));
    let mut leaves = Connection::memory(endpoint.clone());
    let asked = leaves.ask(&first()).await;
    leaves.send(&answered(&asked, true)).await;
    until(|| shop.begun.load(Ordering::SeqCst) == 1).await;
    drop(leaves);
    let mut again = Connection::memory(endpoint);
    again.send(&answered(&asked, true)).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(shop.orders.load(Ordering::SeqCst), 0);
    shop.open.add_permits(5);
    until(|| shop.orders.load(Ordering::SeqCst) == 1).await;
    let answer = again.receive().await.expect("an answer");
    assert_eq!(answer["result"]["content"][0]["text"], "Order number 1.");
    assert_eq!(shop.orders.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn who_waits_too_long_may_try_again() {
    let shop = Shop {
        open: Arc::new(Semaphore::new(0)),
        ..Shop::default()
    };
    let sealing = Sealing::default().work_timeout(Duration::from_millis(100));
    let endpoint = Endpoint::from(server(sealing, &shop));
    let mut works = Connection::memory(endpoint.clone());
    let asked = works.ask(&first()).await;
    works.send(&answered(&asked, true)).await;
    until(|| shop.begun.load(Ordering::SeqCst) == 1).await;
    let mut again = Connection::memory(endpoint);
    let answer = again.ask(&answered(&asked, true)).await;
    answer.refused(-32603, 200);
    shop.open.add_permits(5);
    let answer = works.receive().await.expect("an answer");
    assert_eq!(answer["result"]["content"][0]["text"], "Order number 1.");
    let answer = again.ask(&answered(&asked, true)).await;
    assert_eq!(answer.text(), "Order number 1.");
}

#[tokio::test]
async fn a_panic_is_an_end_and_is_not_tried_again() {
    for rerun in [false, true] {
        let (log, _guard) = Log::of_everything();
        let (clock, shop) = (Clock::default(), Shop::default());
        let mut sealing = clock.of(Sealing::default());
        if rerun {
            sealing = sealing.rerun_if_unknown();
        }
        let mut connection = Connection::memory(server(sealing, &shop));
        let asked = connection.ask(&first()).await;
        let answer = connection.ask(&answered(&asked, "panic")).await;
        answer.refused(-32603, 500);
        clock.pass(31);
        let again = connection.ask(&answered(&asked, "panic")).await;
        assert_eq!(again.response, answer.response);
        let answer = connection.ask(&answered(&asked, true)).await;
        assert_frozen(&answer, "with other answers");
        assert_eq!(log.text().matches("as the answer says").count(), 1);
    }
}

/// Layers are around all of it: what they do, they do with every request.
#[tokio::test]
async fn layers_are_outside_single_use() {
    #[derive(Clone, Default)]
    struct Counts(Arc<AtomicUsize>);
    impl Layer for Counts {
        async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
            self.0.fetch_add(1, Ordering::SeqCst);
            next.run(call).await
        }
    }
    let (counts, shop) = (Counts::default(), Shop::default());
    let server = server(Sealing::default(), &shop).layer(counts.clone());
    let mut connection = Connection::memory(server);
    let asked = connection.ask(&first()).await;
    for _ in 0..2 {
        let answer = connection.ask(&answered(&asked, true)).await;
        assert_eq!(answer.text(), "Order number 1.");
    }
    assert_eq!(counts.0.load(Ordering::SeqCst), 3);
    assert_eq!(shop.orders.load(Ordering::SeqCst), 1);
}
