//! A state is good once, whatever happens on the way (MRTR-S-19).

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon::{
    Call, Context, FromCall, Layer, Next, Outcome, Server, Stop, Tool, http,
    raw::Reply,
    sealing::{Codec, CodecError, Coding, Replay, Sealing},
    store::MemoryStore,
    types::{
        BooleanSchema, CallToolResult, ContentBlock, ElicitRequestParams, FormSchema, InputRequired,
    },
};
use antiphon_tests::{
    asking::{asked, confirm, no, retry, state_of, yes},
    call,
    clock::Clock,
    http as wire,
    log::Log,
    moody::Moody,
    request, until,
    wire::Connection,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// What the tools of a test did.
#[derive(Clone)]
struct Deeds {
    done: Arc<AtomicUsize>,
    /// Work waits here, if the test says so.
    gate: Arc<Semaphore>,
}

impl Default for Deeds {
    fn default() -> Self {
        Self {
            done: Arc::default(),
            gate: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
        }
    }
}

impl Deeds {
    fn done(&self) -> usize {
        self.done.load(Ordering::SeqCst)
    }

    /// Asks, and acts on whatever is answered.
    async fn act(self, call: Call) -> Result<String, Stop> {
        match call.responses().elicit("confirm").given() {
            None => Err(sure()),
            Some(answer) => {
                let count = self.done.fetch_add(1, Ordering::SeqCst) + 1;
                let passed = self.gate.acquire().await.expect("open");
                drop(passed);
                Ok(format!("{:?} {count}", answer.action))
            }
        }
    }

    fn server(&self, sealing: Sealing) -> Server {
        let deeds = self.clone();
        let act = move |call: Call| deeds.clone().act(call);
        Server::new("actor", "1.0")
            .sealing(sealing)
            .tool("act", act.clone())
            .prompt("act", act.clone())
            .resource("act://now", act)
    }
}

fn sure() -> Stop {
    let form = FormSchema::new().required("ok", BooleanSchema::new());
    let question = ElicitRequestParams::form("Sure?", form);
    Stop::ask(InputRequired::ask("confirm", question))
}

fn default_server() -> (Deeds, Connection) {
    let deeds = Deeds::default();
    let connection = Connection::memory(deeds.server(Sealing::default()));
    (deeds, connection)
}

/// The reasons in a log, in order.
fn reasons(log: &Log) -> Vec<String> {
    let log = log.text();
    let lines = log.lines().filter(|line| line.contains("was refused"));
    lines
        .filter_map(|line| {
            let (_, rest) = line.split_once("reason=\"")?;
            Some(rest.split_once('"')?.0.to_owned())
        })
        .collect()
}

/// Tools, prompts and resources alike: the same answers get the same again, others get nothing.
#[tokio::test]
async fn the_same_again_is_answered_the_same_and_done_once() {
    let deeds = Deeds::default();
    let (log, _guard) = Log::of_everything();
    let mut connection = Connection::memory(deeds.server(Sealing::default()));
    for (count, first) in [
        request(0, "tools/call", json!({ "name": "act" })),
        request(0, "prompts/get", json!({ "name": "act" })),
        request(0, "resources/read", json!({ "uri": "act://now" })),
    ]
    .into_iter()
    .enumerate()
    {
        let state = state_of(connection.ask(&first).await.result());
        let mut again = retry(&first, &state, json!({ "confirm": yes() }));
        let answer = connection.ask(&again).await;
        let text = format!("Accept {}", count + 1);
        assert!(answer.result().to_string().contains(&text), "{answer:?}");
        again["id"] = "another".into();
        // Spelt otherwise, and with something nobody asked for.
        let respelt = r#"{"more":1,"confirm":{"content":{"ok":true},"action":"accept"}}"#;
        again["params"]["inputResponses"] = serde_json::from_str(respelt).expect("JSON");
        let repeated = connection.ask(&again).await;
        assert_eq!(repeated.result(), answer.result());
        assert_eq!(repeated.response["id"], "another");
        let other = retry(&first, &state, json!({ "confirm": no() }));
        connection.ask(&other).await.refused(-32602, 200);
        assert_eq!(deeds.done(), count + 1);
    }
    assert_eq!(reasons(&log), ["other_answers"; 3]);
}

/// A state that led to another question is as used as one that led to an end.
#[tokio::test]
async fn a_call_has_no_branches() {
    async fn twice(call: Call) -> Result<String, Stop> {
        let answers = call.responses();
        match call.request_state::<String>()? {
            None if answers.is_empty() => Err(sure()),
            None => {
                let form = FormSchema::new().required("ok", BooleanSchema::new());
                let question = ElicitRequestParams::form("Really?", form);
                let ask = InputRequired::ask("again", question);
                let first = answers.elicit("confirm").given().expect("asked");
                Err(Stop::ask(ask.carrying(&format!("{:?}", first.action))?))
            }
            Some(first) => Ok(first),
        }
    }
    let server: Server = Server::new("actor", "1.0").tool("twice", twice);
    let mut connection = Connection::memory(server);
    let first = asked(&mut connection, "twice").await;
    let accepted = confirm("twice", &first, yes());
    let second = state_of(connection.ask(&accepted).await.result());
    assert_ne!(first, second);
    let declined = confirm("twice", &first, no());
    connection.ask(&declined).await.refused(-32602, 200);
    // The lost answer to the first round can be had again: it is the very same state.
    let again = state_of(connection.ask(&accepted).await.result());
    assert_eq!(again, second);
    let message = call(1, "twice", json!({}));
    let end = retry(&message, &second, json!({ "again": yes() }));
    assert_eq!(connection.ask(&end).await.text(), "Accept");
}

/// Whoever comes while the work goes on waits for its answer, though not for ever.
#[tokio::test]
async fn who_comes_meanwhile_waits_on_the_work_clock() {
    let deeds = Deeds {
        gate: Arc::new(Semaphore::new(0)),
        ..Deeds::default()
    };
    let sealing = Sealing::default().work_timeout(Duration::from_millis(50));
    let server = deeds.server(sealing);
    let mut one = Connection::memory(server.clone());
    let mut two = Connection::memory(server);
    let state = asked(&mut one, "act").await;
    let message = confirm("act", &state, yes());
    let (late, message) = (message.clone(), message);
    let running = tokio::spawn(async move { one.ask(&message).await.text().to_owned() });
    until(|| deeds.done() == 1).await;
    let (log, guard) = Log::of_everything();
    let waited = two.ask(&late).await;
    waited.refused(-32603, 200);
    drop(guard);
    // A client can bring this about: it is no trouble of ours.
    assert!(!log.text().contains("ERROR"), "{}", log.text());
    deeds.gate.add_permits(9);
    assert_eq!(running.await.expect("no panic"), "Accept 1");
    assert_eq!(two.ask(&late).await.text(), "Accept 1");
    assert_eq!(deeds.done(), 1);
}

/// A client that leaves in the middle can come back for its answer.
#[tokio::test]
async fn what_was_begun_is_finished_though_the_client_leaves() {
    let deeds = Deeds {
        gate: Arc::new(Semaphore::new(0)),
        ..Deeds::default()
    };
    let service = http::service(deeds.server(Sealing::default()));
    let server = wire::Server::start(service).await;
    let first = server.post(&call(0, "act", json!({}))).await;
    let message = confirm("act", &state_of(&first.last()["result"]), yes());
    let leaving = tokio::spawn({
        let address = server.address;
        let post = wire::post(&message);
        async move { wire::send(address, post).await }
    });
    until(|| deeds.done() == 1).await;
    leaving.abort();
    _ = leaving.await;
    tokio::time::sleep(Duration::from_millis(30)).await;
    deeds.gate.add_permits(9);
    let answer = server.post(&message).await;
    assert_eq!(answer.last()["result"]["content"][0]["text"], "Accept 1");
    assert_eq!(deeds.done(), 1);
}

#[tokio::test]
async fn an_answer_too_large_to_keep_is_not_repeated() {
    let (log, _guard) = Log::of_everything();
    let deeds = Deeds::default();
    let sealing = Sealing::default().answer_bytes(10);
    let mut connection = Connection::memory(deeds.server(sealing));
    let message = confirm("act", &asked(&mut connection, "act").await, yes());
    assert_eq!(connection.ask(&message).await.text(), "Accept 1");
    connection.ask(&message).await.refused(-32602, 200);
    assert_eq!(reasons(&log), ["answer_not_kept"]);
    assert_eq!(deeds.done(), 1);
}

#[tokio::test]
async fn replayable_means_what_it_says() {
    let deeds = Deeds::default();
    let mut connection = Connection::memory(deeds.server(Sealing::default().replayable()));
    let state = asked(&mut connection, "act").await;
    for (answer, text) in [
        (yes(), "Accept 1"),
        (yes(), "Accept 2"),
        (no(), "Decline 3"),
    ] {
        let message = confirm("act", &state, answer);
        assert_eq!(connection.ask(&message).await.text(), text);
    }
}

/// A handler that panics has run, and is not run again.
#[tokio::test]
async fn a_panic_is_an_end() {
    let deeds = Deeds::default();
    let counted = deeds.clone();
    let server: Server = Server::new("actor", "1.0").tool("panic", move |call: Call| {
        let deeds = counted.clone();
        async move {
            if call.responses().is_empty() {
                return Err::<String, _>(sure());
            }
            deeds.done.fetch_add(1, Ordering::SeqCst);
            panic!("on purpose")
        }
    });
    let mut connection = Connection::memory(server);
    let message = confirm("panic", &asked(&mut connection, "panic").await, yes());
    for _ in 0..2 {
        connection.ask(&message).await.refused(-32603, 200);
    }
    assert_eq!(deeds.done(), 1);
}

// ---- what comes before the claim uses nothing up ----

/// Lets calls through only if it is open.
#[derive(Clone, Default)]
struct Door(Arc<AtomicBool>);

impl Layer for Door {
    async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
        match self.0.load(Ordering::SeqCst) {
            true => next.run(call).await,
            false => call.stop(Stop::fail("closed")),
        }
    }
}

impl FromCall<Self> for Door {
    async fn from_call(_: &Context<'_>, door: &Self) -> Result<Self, Stop> {
        match door.0.load(Ordering::SeqCst) {
            true => Ok(door.clone()),
            false => Err(Stop::fail("closed")),
        }
    }
}

#[tokio::test]
async fn a_layer_or_an_extractor_that_refuses_uses_nothing_up() {
    let deeds = Deeds::default();
    let door = Door::default();
    let (one, two) = (deeds.clone(), deeds.clone());
    let layered = Tool::new("layered", move |call: Call| one.clone().act(call));
    let server: Server = Server::new("actor", "1.0")
        .add(layered.layer(door.clone()))
        .tool("extracted", move |_: Door, call: Call| {
            two.clone().act(call)
        })
        .with_state(door.clone());
    let mut connection = Connection::memory(server);
    for (count, tool) in ["layered", "extracted"].into_iter().enumerate() {
        door.0.store(true, Ordering::SeqCst);
        let message = confirm(tool, &asked(&mut connection, tool).await, yes());
        door.0.store(false, Ordering::SeqCst);
        assert_eq!(connection.ask(&message).await.text(), "closed");
        door.0.store(true, Ordering::SeqCst);
        assert_eq!(
            connection.ask(&message).await.text(),
            format!("Accept {}", count + 1)
        );
    }
}

/// Tool, headers, state, arguments: the first that is wrong is told.
#[tokio::test]
async fn the_boundary_has_an_order() {
    use antiphon::{Args, schemars};
    /// Works.
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[expect(dead_code, reason = "it only has to be there")]
    struct Work {
        #[schemars(extend("x-mcp-header" = "Region"))]
        region: String,
    }
    let server: Server = Server::new("worker", "1.0").tool("work", async |_: Args<Work>| "done");
    let server = wire::Server::start(http::service(server)).await;
    let bad = |tool: &str, arguments: Value| {
        let mut message = call(1, tool, arguments);
        message["params"]["requestState"] = "made up".into();
        message
    };
    let unknown = server.post(&bad("play", json!({}))).await;
    assert!(unknown.text.contains("Unknown tool"), "{}", unknown.text);
    let header = |message: &Value, region: &str| {
        let mut post = wire::post(message);
        let region = region.parse().expect("a header");
        post.headers_mut().insert("mcp-param-region", region);
        post
    };
    let mismatch = bad("work", json!({ "region": "north" }));
    let mismatch = server.send(header(&mismatch, "south")).await;
    assert_eq!((mismatch.status, mismatch.code()), (400, -32020));
    let arguments = server.post(&bad("work", json!({}))).await;
    let text = "Invalid or expired requestState";
    assert!(arguments.text.contains(text), "{}", arguments.text);
}

/// Layers run with every request, but what they make of an answer is made once.
#[tokio::test]
async fn layers_do_not_work_on_a_repeated_answer() {
    #[derive(Clone, Default)]
    struct Adds(Arc<AtomicUsize>);
    impl Layer for Adds {
        async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
            self.0.fetch_add(1, Ordering::SeqCst);
            match next.run(call).await {
                Outcome::Tool(Reply::Complete(mut result)) => {
                    result.content.push(ContentBlock::text("added"));
                    Outcome::Tool(result.into())
                }
                Outcome::Tool(Reply::Rendered(_)) => {
                    Outcome::Tool(CallToolResult::text("made of the repeated one").into())
                }
                other => other,
            }
        }
    }
    let deeds = Deeds::default();
    let adds = Adds::default();
    let server = deeds.server(Sealing::default()).layer(adds.clone());
    let mut connection = Connection::memory(server);
    let message = confirm("act", &asked(&mut connection, "act").await, yes());
    let answer = connection.ask(&message).await;
    assert_eq!(answer.result()["content"].as_array().map(Vec::len), Some(2));
    assert_eq!(connection.ask(&message).await.result(), answer.result());
    assert_eq!(adds.0.load(Ordering::SeqCst), 3);
    assert_eq!(deeds.done(), 1);
}

/// Extractors and layers that ask use the state up like handlers that do.
#[tokio::test]
async fn whoever_asks_uses_the_state_up() {
    struct Asks;
    impl<S: Sync> FromCall<S> for Asks {
        const ASKS: bool = true;
        async fn from_call(call: &Context<'_>, _: &S) -> Result<Self, Stop> {
            second(call).map(|()| Self)
        }
    }
    struct AsksToo;
    impl Layer for AsksToo {
        async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
            match second(call) {
                Ok(()) => next.run(call).await,
                Err(stop) => call.stop(stop),
            }
        }
    }
    /// Asks for ever.
    fn second(call: &Context<'_>) -> Result<(), Stop> {
        match call.request_state_text() {
            Some("over") => Ok(()),
            _ => Err(sure()),
        }
    }
    let server: Server = Server::new("actor", "1.0")
        .tool("extracted", async |_: Asks| "done")
        .add(Tool::new("layered", async || "done").layer(AsksToo));
    let mut connection = Connection::memory(server);
    for tool in ["extracted", "layered"] {
        let first = asked(&mut connection, tool).await;
        let second = connection.ask(&confirm(tool, &first, yes())).await;
        let second = state_of(second.result());
        let other = connection.ask(&confirm(tool, &first, no())).await;
        other.refused(-32602, 200);
        let again = connection.ask(&confirm(tool, &first, yes())).await;
        assert_eq!(state_of(again.result()), second, "{tool}");
    }
}

// ---- stores and codecs with troubles of their own ----

#[tokio::test]
async fn a_guard_that_is_away_costs_no_state() {
    let (deeds, moody) = (Deeds::default(), Moody::default());
    let sealing = Sealing::default().single_use(moody.clone());
    let mut connection = Connection::memory(deeds.server(sealing));
    let message = confirm("act", &asked(&mut connection, "act").await, yes());
    moody.away.store(true, Ordering::SeqCst);
    let answer = connection.ask(&message).await;
    answer.refused(-32603, 200);
    assert!(!answer.response.to_string().contains("fishing"));
    assert_eq!(deeds.done(), 0);
    moody.away.store(false, Ordering::SeqCst);
    assert_eq!(connection.ask(&message).await.text(), "Accept 1");
    assert_eq!(connection.ask(&message).await.text(), "Accept 1");
    // What rests outside the process rests sealed.
    let recorded = moody.recorded.lock().expect("fine");
    assert!(recorded.len() > 20);
    assert!(!String::from_utf8_lossy(&recorded).contains("Accept"));
}

/// What became of work whose process died is not known, and nobody guesses.
#[tokio::test]
async fn work_that_was_lost_is_not_done_again() {
    let (log, _guard) = Log::of_everything();
    for rerun in [false, true] {
        let (deeds, moody, clock) = (Deeds::default(), Moody::default(), Clock::default());
        let mut sealing = clock.on(Sealing::default().single_use(moody.clone()));
        if rerun {
            sealing = sealing.rerun_if_unknown();
        }
        let mut connection = Connection::memory(deeds.server(sealing));
        let state = asked(&mut connection, "act").await;
        let message = confirm("act", &state, yes());
        moody.dies.store(true, Ordering::SeqCst);
        connection.ask(&message).await;
        moody.dies.store(false, Ordering::SeqCst);
        clock.forward(31);
        let other = connection.ask(&confirm("act", &state, no())).await;
        other.refused(-32602, 200);
        let again = connection.ask(&message).await;
        match rerun {
            true => assert_eq!(again.text(), "Accept 2"),
            false => again.refused(-32602, 200),
        }
        assert_eq!(deeds.done(), 1 + usize::from(rerun));
    }
    assert_eq!(
        reasons(&log),
        ["other_answers", "outcome_unknown", "other_answers"]
    );
}

#[tokio::test]
async fn a_full_guard_refuses_until_there_is_room() {
    let (deeds, clock) = (Deeds::default(), Clock::default());
    let store = MemoryStore::new().markers(1);
    let sealing = clock.on(Sealing::default().single_use(store));
    let mut connection = Connection::memory(deeds.server(sealing));
    let one = confirm("act", &asked(&mut connection, "act").await, yes());
    assert_eq!(connection.ask(&one).await.text(), "Accept 1");
    clock.forward(300);
    let two = confirm("act", &asked(&mut connection, "act").await, yes());
    connection.ask(&two).await.refused(-32603, 200);
    clock.forward(335);
    connection.ask(&one).await.refused(-32602, 200);
    assert_eq!(connection.ask(&two).await.text(), "Accept 2");
}

/// A codec that adds a byte, and can be told to fail.
#[derive(Clone, Default)]
struct Odd {
    away: Arc<AtomicBool>,
}

impl Odd {
    fn code(&self, bytes: Result<Vec<u8>, CodecError>) -> Coding<'_> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            match self.away.load(Ordering::SeqCst) {
                true => Err(CodecError::Unavailable("gone fishing".to_owned())),
                false => bytes,
            }
        })
    }
}

impl Codec for Odd {
    fn seal<'a>(&'a self, plain: &'a [u8]) -> Coding<'a> {
        self.code(Ok([&[42], plain].concat()))
    }

    fn open<'a>(&'a self, sealed: &'a [u8]) -> Coding<'a> {
        let wrong = CodecError::Invalid("not mine".to_owned());
        self.code(sealed.strip_prefix(&[42]).map(<[u8]>::to_vec).ok_or(wrong))
    }
}

#[tokio::test]
async fn a_codec_that_is_away_costs_no_state() {
    let (log, _guard) = Log::of_everything();
    let (deeds, odd) = (Deeds::default(), Odd::default());
    let sealing = Sealing::codec(odd.clone())
        .audience("actor")
        .replay(Replay::Repeat);
    let mut connection = Connection::memory(deeds.server(sealing));
    let state = asked(&mut connection, "act").await;
    let message = confirm("act", &state, yes());
    odd.away.store(true, Ordering::SeqCst);
    connection.ask(&message).await.refused(-32603, 200);
    let first = connection.ask(&call(0, "act", json!({}))).await;
    first.refused(-32603, 200);
    odd.away.store(false, Ordering::SeqCst);
    // Sealed by a ring, not by the codec; and by another codec.
    let (_, mut ringed) = default_server();
    let foreign = asked(&mut ringed, "act").await;
    connection
        .ask(&confirm("act", &foreign, yes()))
        .await
        .refused(-32602, 200);
    // Form 2, 7 bytes in all.
    let made_up = confirm("act", "AgAAB0FBQQ", yes());
    connection.ask(&made_up).await.refused(-32602, 200);
    assert_eq!(connection.ask(&message).await.text(), "Accept 1");
    assert_eq!(connection.ask(&message).await.text(), "Accept 1");
    assert_eq!(reasons(&log), ["unknown_form", "codec"]);
}

/// If the next question cannot be sealed, the round can be tried again.
#[tokio::test]
async fn a_round_whose_questions_cannot_be_sealed_uses_nothing_up() {
    let odd = Odd::default();
    let sealing = Sealing::codec(odd.clone()).audience("actor");
    let away = odd.away.clone();
    let asks = move |call: Call| {
        let away = away.clone();
        async move {
            // The codec leaves while the handler runs.
            away.store(call.request_state_text() == Some("1"), Ordering::SeqCst);
            let round = call.request_state_text().map_or("1", |_| "2");
            let form = FormSchema::new().required("ok", BooleanSchema::new());
            let question = ElicitRequestParams::form("Sure?", form);
            InputRequired::ask("confirm", question).with_state(round)
        }
    };
    let server: Server = Server::new("actor", "1.0")
        .sealing(sealing)
        .tool("asks", asks);
    let mut connection = Connection::memory(server);
    let message = confirm("asks", &asked(&mut connection, "asks").await, yes());
    for _ in 0..2 {
        odd.away.store(false, Ordering::SeqCst);
        connection.ask(&message).await.refused(-32603, 200);
    }
}
