//! Resolvers where names meet, types are odd, and work is dropped.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    time::Duration,
};

use antiphon::{
    Answer, Args, Ask, Client, Context, Form, Layer, Next, Outcome, Resolve, Resolved, Server,
    State, Stop, Tool, memory, resolver,
    schemars::{self, JsonSchema},
    sealing::Sealing,
    store::{Claim, Ending, Guard, Holder, MemoryStore, Moment, Standing, StateId, Storing},
    testing::Script,
};
use antiphon_tests::{
    asking::{retry, state_of},
    call,
    wire::Connection,
};
use serde::Deserialize;
use serde_json::json;

/// What a server says of a tool; nothing if it can offer it.
fn told(tool: Tool<()>) -> Option<String> {
    let server = Server::<()>::new("tests", "1.0").offer_tools();
    server.insert(tool).err().map(|error| error.to_string())
}

#[derive(Clone, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema matters")]
struct Tree {
    left: Option<Box<Self>>,
    right: Option<Box<Self>>,
}

#[derive(Clone)]
struct Leaves;

#[resolver]
async fn leaves(#[arg] tree: Tree) -> Leaves {
    _ = tree;
    Leaves
}

#[test]
fn types_that_hold_themselves_twice_are_compared_to_an_end() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Count {
        tree: Tree,
    }
    async fn count(_: Args<Count>, _: Resolved<Leaves>) {}
    let (done, is_done) = mpsc::channel();
    std::thread::spawn(move || done.send(told(Tool::new("count", count))));
    let told = is_done.recv_timeout(Duration::from_secs(10));
    assert_eq!(told.expect("it comes to an end"), None);
}

/// `b.c` of the one would be `c` of the other.
#[test]
fn names_whose_keys_could_be_the_same_are_refused() {
    #[derive(Clone)]
    struct One;
    #[derive(Clone)]
    struct Two;
    #[resolver(name = "a")]
    async fn one() -> One {
        One
    }
    impl Resolve<()> for Two {
        const NAME: &'static str = "a.b";

        async fn resolve(_: &Context<'_>, (): &()) -> Result<Self, Stop> {
            Ok(Self)
        }
    }
    async fn both(_: Resolved<One>, _: Resolved<Two>) {}
    let refused = told(Tool::new("both", both)).expect("refused");
    assert!(refused.contains("\"a.b\" is no name"), "{refused}");
}

#[tokio::test]
async fn an_idempotency_key_of_a_resolver_is_no_other_s() {
    #[derive(Clone)]
    struct Deposit(String);
    #[resolver]
    async fn charge(ask: Ask) -> Deposit {
        Deposit(ask.idempotency_key("charge"))
    }
    async fn pay(Resolved(Deposit(deposit)): Resolved<Deposit>, ask: Ask) -> String {
        (deposit == ask.idempotency_key("charge")).to_string()
    }
    let server = Server::<()>::new("tests", "1.0").tool("pay", pay);
    let played = Script::new().call_tool(&server, "pay", json!({})).await;
    assert_eq!(played.text(), "false", "two charges with one key");
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema matters")]
enum Delivery {
    Mail { address: String },
    Hand { clerk: String },
}

#[test]
fn arguments_that_are_flattened_into_a_resolver_s_are_checked_too() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Parcel {
        title: String,
        #[serde(flatten)]
        delivery: Delivery,
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Order {
        title: String,
    }
    #[derive(Clone)]
    struct Postage;
    #[resolver]
    async fn postage(_: Args<Parcel>) -> Postage {
        Postage
    }
    async fn order(_: Args<Order>, _: Resolved<Postage>) {}
    let told_ = told(Tool::new("order", order)).expect("nobody sends `by`");
    assert!(told_.contains("`postage`"), "{told_}");
    // Whoever has the same arguments has them all, and so has who has more.
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "pays", rename_all = "lowercase")]
    #[expect(dead_code, reason = "only its schema matters")]
    enum Payment {
        Cash { ducats: u32 },
        Card { number: String },
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Paid {
        title: String,
        #[serde(flatten)]
        delivery: Delivery,
        #[serde(flatten)]
        payment: Payment,
    }
    async fn pay(_: Args<Paid>, _: Resolved<Postage>) {}
    assert_eq!(told(Tool::new("pay", pay)), None);
    async fn send(_: Args<Parcel>, _: Resolved<Postage>) {}
    assert_eq!(told(Tool::new("send", send)), None);
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Class {
    /// Slow.
    Second,
    /// Fast.
    First,
}

#[test]
fn a_choice_with_descriptions_is_a_text() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Trip {
        class: Class,
    }
    #[derive(Clone)]
    struct Fare;
    #[resolver]
    async fn fare(#[arg] class: String) -> Fare {
        _ = class;
        Fare
    }
    #[derive(Clone)]
    struct Seat;
    #[resolver]
    async fn seat(#[arg] class: Class) -> Seat {
        _ = class;
        Seat
    }
    async fn book(_: Args<Trip>, _: Resolved<Seat>) {}
    assert_eq!(told(Tool::new("book", book)), None);
    async fn price(_: Args<Trip>, _: Resolved<Fare>) {}
    assert_eq!(told(Tool::new("price", price)), None);
}

#[test]
fn tuples_are_compared_item_by_item() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Point {
        at: (u32, String),
    }
    #[derive(Clone)]
    struct Same;
    #[resolver]
    async fn same(#[arg] at: (u32, String)) -> Same {
        _ = at;
        Same
    }
    #[derive(Clone)]
    struct Swapped;
    #[resolver]
    async fn swapped(#[arg] at: (String, u32)) -> Swapped {
        _ = at;
        Swapped
    }
    async fn fine(_: Args<Point>, _: Resolved<Same>) {}
    assert_eq!(told(Tool::new("fine", fine)), None);
    async fn wrong(_: Args<Point>, _: Resolved<Swapped>) {}
    let told = told(Tool::new("wrong", wrong)).expect("another type");
    assert!(told.contains("`at`"), "{told}");
}

/// Takes itself, by way of another, and does not say so.
#[derive(Clone)]
struct Snake;
#[derive(Clone)]
struct Tail;

impl Resolve<()> for Snake {
    const NAME: &'static str = "snake";

    async fn resolve(call: &Context<'_>, state: &()) -> Result<Self, Stop> {
        call.resolve::<Tail, _>(state).await?;
        Ok(Self)
    }
}

impl Resolve<()> for Tail {
    const NAME: &'static str = "tail";

    /// Goes on without.
    async fn resolve(call: &Context<'_>, state: &()) -> Result<Self, Stop> {
        _ = call.resolve::<Snake, _>(state).await;
        Ok(Self)
    }
}

#[tokio::test]
async fn a_circle_ends_the_call_whatever_is_made_of_it() {
    async fn bite(snake: Result<Resolved<Snake>, Stop>) -> String {
        snake.is_ok().to_string()
    }
    let server = Server::<()>::new("tests", "1.0").tool("bite", bite);
    let client = Client::new("tests", "1.0").connect(memory(server)).await;
    let called = client
        .expect("in memory")
        .call_tool("bite", json!({}))
        .await;
    let told = called.expect_err("an error").to_string();
    assert!(told.contains("wait for each other"), "{told}");
}

#[derive(Clone)]
struct Slow;

impl Resolve<Arc<AtomicU32>> for Slow {
    const NAME: &'static str = "slow";

    async fn resolve(_: &Context<'_>, count: &Arc<AtomicU32>) -> Result<Self, Stop> {
        count.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(20)).await;
        Ok(Self)
    }
}

/// Begins to wait for it, and then waits for another who does.
#[tokio::test]
async fn a_panic_in_a_resolver_ends_the_call() {
    #[derive(Clone)]
    struct Panics;
    #[resolver]
    async fn panics() -> Panics {
        panic!("on purpose")
    }
    async fn both(_: Resolved<Panics>, _: Result<Resolved<Panics>, Stop>) {}
    let server = Server::<()>::new("tests", "1.0").tool("both", both);
    let played = Script::new().call_tool(&server, "both", json!({})).await;
    assert_eq!(played.error().code, -32603);
}

#[tokio::test]
async fn an_answer_in_an_answer_is_one() {
    #[derive(Form)]
    struct Size {
        size: u32,
    }
    #[derive(Clone)]
    struct Width(u32);
    #[resolver]
    async fn width(ask: Ask) -> Result<Width, Stop> {
        let Size { size } = ask.form("width", "How wide?")?;
        Ok(Width(size))
    }
    async fn wrap(Resolved(width): Resolved<Answer<Answer<Width>>>) -> String {
        match width {
            Answer::Accept(Answer::Accept(Width(width))) => width.to_string(),
            Answer::Accept(Answer::Decline) => "no".to_owned(),
            _ => "?".to_owned(),
        }
    }
    let server = Server::<()>::new("tests", "1.0").tool("wrap", wrap);
    let played = Script::new().decline("width");
    let played = played.call_tool(&server, "wrap", json!({})).await;
    assert_eq!(played.text(), "no");
}

/// A guard that takes its time, as those do that are on a disk or elsewhere.
#[derive(Clone, Default)]
struct Late(Arc<MemoryStore>);

impl Guard for Late {
    fn claim<'a>(&'a self, claim: &'a Claim) -> Storing<'a, Standing> {
        Box::pin(async {
            let standing = self.0.claim(claim).await;
            tokio::time::sleep(Duration::from_millis(5)).await;
            standing
        })
    }

    fn renew<'a>(&'a self, id: &'a StateId, holder: &'a Holder, until: Moment) -> Storing<'a, ()> {
        Guard::renew(&*self.0, id, holder, until)
    }

    fn end<'a>(
        &'a self,
        id: &'a StateId,
        holder: &'a Holder,
        ending: Ending<'a>,
    ) -> Storing<'a, ()> {
        Guard::end(&*self.0, id, holder, ending)
    }

    fn is_shared(&self) -> bool {
        true
    }
}

#[derive(Form, Clone)]
struct Number {
    number: u32,
}
#[derive(Clone)]
struct Mine;
#[derive(Clone)]
struct Yours;

#[derive(Clone)]
struct Paper;

#[resolver]
async fn paper() -> Paper {
    Paper
}

#[resolver]
async fn mine(_: Resolved<Paper>, ask: Ask) -> Result<Mine, Stop> {
    ask.form::<Number>("mine", "Your number?").map(|_| Mine)
}

#[resolver]
async fn yours(_: Resolved<Paper>, ask: Ask) -> Result<Yours, Stop> {
    ask.form::<Number>("yours", "And that of the other?")
        .map(|_| Yours)
}

/// Takes two at a time, before the handler does.
struct Four;

impl Layer for Four {
    async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
        let mine = call.resolve::<Mine, _>(&());
        let yours = call.resolve::<Yours, _>(&());
        let (mine, yours) = tokio::join!(mine, yours);
        match mine.map(drop).and(yours.map(drop)) {
            Ok(()) => next.run(call).await,
            Err(stop) => call.stop(stop),
        }
    }
}

#[tokio::test]
async fn a_state_is_claimed_once_by_those_who_are_resolved_side_by_side_in_a_layer() {
    async fn open(State(count): State<Arc<AtomicU32>>, _: Resolved<Mine>) -> String {
        count.fetch_add(1, Ordering::Relaxed).to_string()
    }
    let count = Arc::<AtomicU32>::default();
    let sealing = Sealing::default()
        .single_use(Late::default())
        .work_timeout(Duration::from_millis(100));
    let server = Server::new("vault", "1.0")
        .tool("open", open)
        .layer(Four)
        .sealing(sealing)
        .with_state(count.clone());
    let mut vault = Connection::memory(server);
    let first = call(1, "open", json!({}));
    let state = state_of(vault.ask(&first).await.result());
    let said = json!({ "action": "accept", "content": { "number": 7 } });
    let again = retry(&first, &state, json!({ "mine": said, "yours": said }));
    assert_eq!(vault.ask(&again).await.text(), "0");
    // The same again gets the same answer.
    assert_eq!(vault.ask(&again).await.text(), "0");
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

/// What is done once, and who agreed to it, before the handler runs.
#[derive(Clone)]
struct Drawn(u32);

#[resolver]
async fn drawn(ask: Ask, State(count): State<Arc<AtomicU32>>) -> Result<Drawn, Stop> {
    _ = ask.confirm("drawn", "Draw a number?", ())?;
    let draw = async || Ok(count.fetch_add(1, Ordering::Relaxed));
    Ok(Drawn(ask.once("draw", draw).await?))
}

struct Draws(Arc<AtomicU32>);

impl Layer for Draws {
    async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
        match call.resolve::<Drawn, _>(&self.0).await {
            Ok(_) => next.run(call).await,
            Err(stop) => call.stop(stop),
        }
    }
}

#[tokio::test]
async fn a_resolver_does_in_a_layer_what_it_does_in_a_handler() {
    async fn show(Resolved(Drawn(number)): Resolved<Drawn>, ask: Ask) -> Result<String, Stop> {
        let Number { number: other } = ask.form("other", "And yours?")?;
        Ok(format!("{number} {other}"))
    }
    let count = Arc::<AtomicU32>::default();
    let server = Server::new("lottery", "1.0")
        .tool("show", show)
        .layer(Draws(count.clone()))
        .with_state::<()>(count.clone());
    let played = Script::new()
        .accept("drawn", json!({ "confirm": true }))
        .accept("other", json!({ "number": 7 }));
    let played = played.call_tool(&server, "show", json!({})).await;
    assert_eq!(played.text(), "0 7");
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

/// Does not wait for it long.
#[derive(Clone)]
struct Impatient;

impl Resolve<Arc<AtomicU32>> for Impatient {
    const NAME: &'static str = "impatient";

    async fn resolve(call: &Context<'_>, count: &Arc<AtomicU32>) -> Result<Self, Stop> {
        let slow = call.resolve::<Slow, _>(count);
        _ = tokio::time::timeout(Duration::from_millis(5), slow).await;
        Ok(Self)
    }
}

#[tokio::test]
async fn whoever_comes_next_begins_anew_if_the_first_has_left() {
    async fn look(_: Resolved<Impatient>, _: Resolved<Slow>) -> &'static str {
        "seen"
    }
    let count = Arc::<AtomicU32>::default();
    let server = Server::new("tests", "1.0")
        .tool("look", look)
        .with_state::<()>(count.clone());
    let played = Script::new().call_tool(&server, "look", json!({})).await;
    assert_eq!(played.text(), "seen");
    assert_eq!(count.load(Ordering::Relaxed), 2);
}

#[derive(Clone)]
struct Shop(u32);
#[derive(Clone)]
struct Stock(u32);

#[resolver]
async fn stock(State(shop): State<Shop>) -> Stock {
    Stock(shop.0)
}

/// Looks into a shop of its own.
struct Elsewhere;

impl Layer for Elsewhere {
    async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
        match call.resolve::<Stock, _>(&Shop(2)).await {
            Ok(_) => next.run(call).await,
            Err(stop) => call.stop(stop),
        }
    }
}

#[tokio::test]
async fn a_handler_gets_what_a_layer_has_resolved() {
    async fn show(Resolved(Stock(stock)): Resolved<Stock>) -> String {
        stock.to_string()
    }
    let server = Server::new("shop", "1.0")
        .tool("show", show)
        .layer(Elsewhere)
        .with_state::<()>(Shop(1));
    let played = Script::new().call_tool(&server, "show", json!({})).await;
    assert_eq!(played.text(), "2");
}
