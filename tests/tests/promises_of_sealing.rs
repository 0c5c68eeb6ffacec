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
    auth::{Principal, StaticTokens},
    http,
    raw::Endpoint,
    sealing::{Key, KeyRing, Replay, Sealing},
    types::{BooleanSchema, ElicitRequestParams, FormSchema, InputRequired},
};
use antiphon_core::seal::memory::MemoryStore;
use antiphon_tests::{
    call,
    http::{Server as HttpServer, post},
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
async fn a_panic_is_an_answer_too() {
    let (log, _guard) = Log::of_everything();
    let (clock, shop) = (Clock::default(), Shop::default());
    let sealing = clock.of(Sealing::default()).rerun_if_unknown();
    let mut connection = Connection::memory(server(sealing, &shop));
    let asked = connection.ask(&first()).await;
    for _ in 0..2 {
        let answer = connection.ask(&answered(&asked, "panic")).await;
        answer.refused(-32603, 200);
        clock.pass(31);
    }
    let answer = connection.ask(&answered(&asked, true)).await;
    assert_frozen(&answer, "with other answers");
    assert_eq!(log.text().matches("a handler panicked").count(), 1);
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

/// A state belongs to whom it was made for, by a token or by what a proxy says.
#[tokio::test]
async fn nobody_answers_for_somebody_else() {
    let tokens = StaticTokens::new()
        .token("ada-token", Principal::subject("ada"))
        .token("bob-token", Principal::subject("bob"));
    let shop = Shop::default();
    let by_token = http::service(server(Sealing::default(), &shop)).verifier(tokens);
    let by_header = Sealing::default()
        .bind_principal(|call| Some(call.headers()?.get("x-user")?.to_str().ok()?.to_owned()));
    let by_header = http::service(server(by_header, &shop));
    for (service, header, ada, bob) in [
        (
            HttpServer::start(by_token).await,
            "authorization",
            "Bearer ada-token",
            "Bearer bob-token",
        ),
        (HttpServer::start(by_header).await, "x-user", "ada", "bob"),
    ] {
        let ask = async |who: &str, message: &Value| {
            let mut request = post(message);
            let value = who.parse().expect("a header");
            request.headers_mut().insert(header, value);
            service.send(request).await.last().clone()
        };
        let asked = Exchange {
            status: None,
            notifications: Vec::new(),
            response: ask(ada, &first()).await,
        };
        let refused = ask(bob, &answered(&asked, true)).await;
        assert_eq!(refused["error"].to_string(), FROZEN, "{header}");
        let done = ask(ada, &answered(&asked, true)).await;
        assert_eq!(done["result"]["resultType"], "complete", "{header}: {done}");
    }
    assert_eq!(shop.orders.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_name_is_left_behind_in_good_order() {
    let shop = Shop::default();
    let asked = Connection::memory(server(keys(), &shop))
        .ask(&first())
        .await;
    let renamed = || keys().audience("store");
    let mut other = Connection::memory(server(renamed(), &shop));
    assert_frozen(&other.ask(&answered(&asked, true)).await, "another name");
    let renamed = renamed().accept_audiences(["shop"]);
    let mut renamed = Connection::memory(server(renamed, &shop));
    let answer = renamed.ask(&answered(&asked, true)).await;
    assert_eq!(answer.text(), "Order number 1.");
}

/// Carries as many bytes along as the arguments say.
async fn carry(call: Call) -> Result<String, Stop> {
    match call.request_state_text() {
        Some(state) => Ok(state.len().to_string()),
        None => {
            let arguments: Value = call.args()?;
            let bytes = arguments["bytes"].as_u64().unwrap_or_default();
            let state = "x".repeat(usize::try_from(bytes).expect("few"));
            Err(Stop::ask(InputRequired::later(state)))
        }
    }
}

#[tokio::test]
async fn what_is_too_large_to_travel_stays_here_or_is_an_error() {
    let carrier = |sealing| -> Server {
        Server::new("carrier", "1.0")
            .tool("carry", carry)
            .sealing(sealing)
    };
    let large = call(1, "carry", json!({ "bytes": 100_000 }));
    let huge = call(1, "carry", json!({ "bytes": 2_000_000 }));
    let there_and_back = async |connection: &mut Connection, message: &Value| {
        let asked = connection.ask(message).await;
        let state = asked.result()["requestState"].clone();
        let mut message = message.clone();
        message["params"]["requestState"] = state.clone();
        let text = connection.ask(&message).await.text().to_owned();
        (state.as_str().expect("a state").len(), text)
    };

    let mut connection = Connection::memory(carrier(Sealing::default()));
    let (length, text) = there_and_back(&mut connection, &large).await;
    assert!(length > 100_000);
    assert_eq!(text, "100000");
    connection.ask(&huge).await.refused(-32603, 500);

    let spilling = Sealing::default().spill(MemoryStore::new());
    let mut connection = Connection::memory(carrier(spilling));
    for (message, told) in [(&large, "100000"), (&huge, "2000000")] {
        let (length, text) = there_and_back(&mut connection, message).await;
        assert!(length < 1000, "{length}");
        assert_eq!(text, told);
    }
    // Used or not, it stays until it expires, and there is room for 4 MiB.
    connection.ask(&huge).await.result();
    connection.ask(&huge).await.refused(-32603, 500);
}

/// Full means later, and nothing that was used is forgotten for it.
#[tokio::test]
async fn a_full_store_puts_off() {
    let shop = Shop::default();
    let sealing = Sealing::default().single_use(MemoryStore::new().markers(1));
    let mut connection = Connection::memory(server(sealing, &shop));
    let one = connection.ask(&first()).await;
    let other = connection.ask(&first()).await;
    let answer = connection.ask(&answered(&one, true)).await;
    assert_eq!(answer.text(), "Order number 1.");
    connection
        .ask(&answered(&other, true))
        .await
        .refused(-32603, 500);
    let answer = connection.ask(&answered(&one, true)).await;
    assert_eq!(answer.text(), "Order number 1.");
}

#[tokio::test]
async fn a_file_of_keys_is_read_again() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("keys-of-a-shop");
    let (one, two) = ("a".repeat(64), "b".repeat(64));
    let write = |text: &str| std::fs::write(&path, text).expect("written");
    write(&format!("# keys\n\nhex:{one}\n"));
    let ring = KeyRing::from_file(&path).expect("keys");
    let before = ring.ids();
    assert_eq!(before.len(), 1);
    assert!(!ring.reload().expect("readable"), "nothing changed");
    for wrong in [
        "",
        "hex:abc\n",
        &format!("hex:{one}\nhex:{one}\n"),
        "secret\n",
    ] {
        write(wrong);
        let error = ring.reload().expect_err(wrong).to_string();
        assert!(
            !error.contains("secret") && !error.contains(&one),
            "{error}"
        );
        assert_eq!(ring.ids(), before, "{wrong}");
    }
    write(&format!("hex:{two}\nhex:{one}\n"));
    let reloading = tokio::spawn(ring.clone().keep_reloading(Duration::from_millis(5)));
    until(|| ring.ids().len() == 2).await;
    assert_eq!(ring.ids()[1], before[0]);
    reloading.abort();
}
