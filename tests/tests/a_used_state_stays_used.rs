//! A state that was used stays used: past its time, when the next round fails, and when stores
//! and codecs are slow (MRTR-S-19).

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use antiphon::{
    Call, Context, Layer, Next, Outcome, Server, Stop, Tool, http,
    sealing::{Codec, CodecError, Coding, Sealing},
    store::{
        Claim, Ending, Guard, Holder, MemoryStore, Moment, Standing, StateId, Storing, Unavailable,
    },
    types::{BooleanSchema, ElicitRequestParams, FormSchema, InputRequired},
};
use antiphon_tests::{
    asking::{asked, confirm, no, state_of, yes},
    call,
    clock::Clock,
    http as wire,
    log::Log,
    moody::Moody,
    until,
    wire::Connection,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

fn sure() -> InputRequired {
    let form = FormSchema::new().required("ok", BooleanSchema::new());
    InputRequired::ask("confirm", ElicitRequestParams::form("Sure?", form))
}

/// Work that takes as long as the test says.
#[derive(Clone)]
struct Work {
    begun: Arc<AtomicUsize>,
    gate: Arc<Semaphore>,
}

impl Work {
    fn new() -> Self {
        Self {
            begun: Arc::default(),
            gate: Arc::new(Semaphore::new(0)),
        }
    }

    fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }

    fn let_go(&self) {
        self.gate.add_permits(100);
    }

    fn tool(&self) -> Tool {
        let work = self.clone();
        Tool::new("act", move |call: Call| {
            let work = work.clone();
            async move {
                if call.responses().is_empty() {
                    return Err(Stop::ask(sure()));
                }
                let count = work.begun.fetch_add(1, Ordering::SeqCst) + 1;
                work.gate.acquire().await.expect("open").forget();
                Ok(format!("done {count}"))
            }
        })
    }
}

// ---- time ----

/// What is remembered of a state is forgotten some time after it expired. Whoever still waits for
/// its answer then must not take it for new.
#[tokio::test]
async fn a_state_that_expires_while_somebody_waits_is_not_used_again() {
    let (log, _guard) = Log::of_everything();
    let (work, clock) = (Work::new(), Clock::default());
    let server: Server = Server::new("actor", "1.0")
        .sealing(clock.on(Sealing::default()))
        .add(work.tool());
    let mut one = Connection::memory(server.clone());
    let mut two = Connection::memory(server);
    let message = confirm("act", &asked(&mut one, "act").await, yes());
    one.send(&message).await;
    until(|| work.begun() == 1).await;
    let waiting = tokio::spawn(async move { two.ask(&message).await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    clock.forward(600 + 31);
    let refused = tokio::time::timeout(Duration::from_secs(5), waiting).await;
    assert_eq!(work.begun(), 1);
    refused
        .expect("an answer")
        .expect("no panic")
        .refused(-32602, 200);
    assert!(log.text().contains(r#"reason="expired""#));
    work.let_go();
    let first = one.receive().await.expect("an answer");
    assert_eq!(first["result"]["content"][0]["text"], "done 1");
}

/// Takes as long as the test says before it lets calls through.
#[derive(Clone)]
struct Slow(Arc<Semaphore>);

impl Layer for Slow {
    async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
        self.0.acquire().await.expect("open").forget();
        next.run(call).await
    }
}

/// What comes between opening and claiming may take long, too.
#[tokio::test]
async fn a_state_that_expires_before_it_is_claimed_is_not_used() {
    let (work, clock) = (Work::new(), Clock::default());
    work.let_go();
    let slow = Slow(Arc::new(Semaphore::new(2)));
    let server: Server = Server::new("actor", "1.0")
        .sealing(clock.on(Sealing::default()))
        .add(work.tool().layer(slow.clone()));
    let mut one = Connection::memory(server.clone());
    let mut two = Connection::memory(server);
    let state = asked(&mut one, "act").await;
    let used = one.ask(&confirm("act", &state, yes())).await;
    assert_eq!(used.text(), "done 1");
    two.send(&confirm("act", &state, no())).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    clock.forward(600 + 31);
    slow.0.add_permits(1);
    let refused = two.receive().await.expect("an answer");
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(work.begun(), 1);
}

// ---- rounds whose questions cannot be sealed ----

/// Asks for a number until it is the right one, and counts how often it was not.
async fn guess(call: Call, tries: Arc<AtomicUsize>) -> Result<String, Stop> {
    let Some(answer) = call.responses().accepted::<Value>("confirm") else {
        return Err(Stop::ask(sure()));
    };
    tries.fetch_add(1, Ordering::SeqCst);
    match answer["pin"] == "1234" {
        true => Ok("open".to_owned()),
        // What was tried is carried along, and with it whatever the client wrote.
        false => Err(Stop::ask(sure().carrying(&answer)?)),
    }
}

fn guessing(sealing: Sealing) -> (Arc<AtomicUsize>, Connection) {
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = tries.clone();
    let server: Server = Server::new("safe", "1.0")
        .sealing(sealing)
        .tool("guess", move |call: Call| guess(call, counted.clone()));
    (tries, Connection::memory(server))
}

fn pin(pin: &str, bytes: usize) -> Value {
    json!({ "action": "accept", "content": { "pin": pin, "note": "x".repeat(bytes) } })
}

/// A client that makes the next state too large, or fills what it may have in the spill, must not
/// get as many tries out of one state as it likes.
#[tokio::test]
async fn what_a_client_makes_too_large_is_used_up() {
    let spilling = Sealing::default()
        .spill(MemoryStore::new())
        .spill_above(1000)
        .spill_quota(2000);
    let full = Sealing::default()
        .spill(MemoryStore::new().body_bytes(2000))
        .spill_above(1000);
    for (sealing, bytes) in [
        (Sealing::default(), 1 << 20),
        (spilling, 3000),
        (full, 3000),
    ] {
        let (tries, mut safe) = guessing(sealing);
        let state = asked(&mut safe, "guess").await;
        let wrong = confirm("guess", &state, pin("0000", bytes));
        safe.ask(&wrong).await.refused(-32603, 200);
        let right = confirm("guess", &state, pin("1234", 0));
        safe.ask(&right).await.refused(-32602, 200);
        safe.ask(&wrong).await.refused(-32603, 200);
        assert_eq!(tries.load(Ordering::SeqCst), 1, "{bytes}");
    }
}

/// A codec that can be told to fail, or to wait.
#[derive(Clone)]
struct Kms {
    away: Arc<AtomicBool>,
    waiting: Arc<AtomicUsize>,
    gate: Arc<Semaphore>,
}

impl Kms {
    fn new() -> Self {
        Self {
            away: Arc::default(),
            waiting: Arc::default(),
            gate: Arc::new(Semaphore::new(1)),
        }
    }
}

impl Codec for Kms {
    fn seal<'a>(&'a self, plain: &'a [u8]) -> Coding<'a> {
        Box::pin(async {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            self.gate.acquire().await.expect("open").forget();
            match self.away.load(Ordering::SeqCst) {
                true => Err(CodecError::Unavailable("gone fishing".to_owned())),
                false => Ok(plain.to_vec()),
            }
        })
    }

    fn open<'a>(&'a self, sealed: &'a [u8]) -> Coding<'a> {
        Box::pin(async { Ok(sealed.to_vec()) })
    }
}

/// A codec may fail because of what the client wrote: many take so many bytes and no more. A round
/// whose questions it does not seal can be tried again, but no other answers.
#[tokio::test]
async fn a_codec_that_fails_gives_no_second_guess() {
    let kms = Kms::new();
    kms.gate.add_permits(100);
    let (tries, mut safe) = guessing(Sealing::codec(kms.clone()).audience("safe"));
    let state = asked(&mut safe, "guess").await;
    let wrong = confirm("guess", &state, pin("0000", 0));
    kms.away.store(true, Ordering::SeqCst);
    safe.ask(&wrong).await.refused(-32603, 200);
    let right = confirm("guess", &state, pin("1234", 0));
    safe.ask(&right).await.refused(-32602, 200);
    kms.away.store(false, Ordering::SeqCst);
    state_of(safe.ask(&wrong).await.result());
    assert_eq!(tries.load(Ordering::SeqCst), 2);
}

/// Work that is done again because its outcome is unknown, and whose questions then cannot be
/// sealed, may be tried once more: with the same answers, never with others.
#[tokio::test]
async fn what_was_taken_over_is_not_given_back_to_others() {
    let (kms, guard, clock) = (Kms::new(), Moody::default(), Clock::default());
    kms.gate.add_permits(100);
    let sealing = Sealing::codec(kms.clone())
        .audience("safe")
        .single_use(guard.clone())
        .rerun_if_unknown();
    let (tries, mut safe) = guessing(clock.on(sealing));
    let state = asked(&mut safe, "guess").await;
    let wrong = confirm("guess", &state, pin("0000", 0));
    guard.dies.store(true, Ordering::SeqCst);
    safe.ask(&wrong).await;
    guard.dies.store(false, Ordering::SeqCst);
    clock.forward(31);
    kms.away.store(true, Ordering::SeqCst);
    safe.ask(&wrong).await.refused(-32603, 200);
    kms.away.store(false, Ordering::SeqCst);
    assert_eq!(tries.load(Ordering::SeqCst), 2);
    let right = confirm("guess", &state, pin("1234", 0));
    safe.ask(&right).await.refused(-32602, 200);
    state_of(safe.ask(&wrong).await.result());
    assert_eq!(tries.load(Ordering::SeqCst), 3);
}

/// Sealing and recording are part of the work: a claim is held until they are done.
#[tokio::test(start_paused = true)]
async fn a_slow_codec_does_not_lose_a_claim() {
    let kms = Kms::new();
    let began = tokio::time::Instant::now();
    let start = SystemTime::now();
    let sealing = Sealing::codec(kms.clone())
        .audience("actor")
        .clock(move || start + began.elapsed());
    let server: Server = Server::new("actor", "1.0")
        .sealing(sealing)
        .tool("asks", async || sure());
    let mut one = Connection::memory(server.clone());
    let mut two = Connection::memory(server);
    let message = confirm("asks", &asked(&mut one, "asks").await, yes());
    one.send(&message).await;
    until(|| kms.waiting.load(Ordering::SeqCst) == 2).await;
    tokio::time::sleep(Duration::from_secs(45)).await;
    two.send(&message).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    kms.gate.add_permits(1);
    let first = one.receive().await.expect("an answer");
    let second = two.receive().await.expect("an answer");
    assert_eq!(state_of(&first["result"]), state_of(&second["result"]));
}

// ---- claims that nobody waits for ----

/// A guard that grants at once and says so late, or never.
#[derive(Clone, Default)]
struct Late {
    store: Arc<MemoryStore>,
    mute: Arc<AtomicBool>,
    failing: Arc<AtomicBool>,
}

impl Guard for Late {
    fn claim<'a>(&'a self, claim: &'a Claim) -> Storing<'a, Standing> {
        let granted = self.store.claim(claim);
        Box::pin(async {
            if self.mute.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            match self.failing.load(Ordering::SeqCst) {
                true => Err(Unavailable("the connection was lost".to_owned())),
                false => granted.await,
            }
        })
    }

    fn renew<'a>(&'a self, id: &'a StateId, holder: &'a Holder, until: Moment) -> Storing<'a, ()> {
        self.store.renew(id, holder, until)
    }

    fn end<'a>(
        &'a self,
        id: &'a StateId,
        holder: &'a Holder,
        ending: Ending<'a>,
    ) -> Storing<'a, ()> {
        self.store.end(id, holder, ending)
    }

    fn is_shared(&self) -> bool {
        true
    }
}

/// Gives a call so long.
#[derive(Clone)]
struct Deadline(Duration);

impl Layer for Deadline {
    async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
        match tokio::time::timeout(self.0, next.run(call)).await {
            Ok(outcome) => outcome,
            Err(_) => call.stop(Stop::fail("too late")),
        }
    }
}

/// A claim that was granted to nobody is given back: nothing was done.
#[tokio::test]
async fn a_claim_that_never_came_to_work_uses_nothing_up() {
    let (work, late) = (Work::new(), Late::default());
    work.let_go();
    let deadline = Deadline(Duration::from_millis(50));
    let server: Server = Server::new("actor", "1.0")
        .sealing(Sealing::default().single_use(late.clone()))
        .add(work.tool().layer(deadline));
    let mut connection = Connection::memory(server);
    for (trouble, count) in [(&late.mute, 1), (&late.failing, 2)] {
        let message = confirm("act", &asked(&mut connection, "act").await, yes());
        trouble.store(true, Ordering::SeqCst);
        connection.ask(&message).await;
        trouble.store(false, Ordering::SeqCst);
        assert_eq!(work.begun(), count - 1);
        let answer = connection.ask(&message).await;
        assert_eq!(answer.text(), format!("done {count}"));
    }
}

/// Does something of its own after the call, and means to come to its end.
#[derive(Clone)]
struct Thorough(Arc<AtomicUsize>);

impl Layer for Thorough {
    async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
        call.run_to_end();
        let outcome = next.run(call).await;
        self.0.fetch_add(1, Ordering::SeqCst);
        outcome
    }
}

/// Who waits for somebody else's answer may be abandoned, unless it said otherwise itself.
#[tokio::test]
async fn waiting_does_not_take_back_what_a_layer_said() {
    let work = Work::new();
    let finished = Arc::new(AtomicUsize::new(0));
    let server: Server = Server::new("actor", "1.0")
        .sealing(Sealing::default())
        .add(work.tool().layer(Thorough(finished.clone())));
    let server = wire::Server::start(http::service(server)).await;
    let first = server.post(&call(0, "act", json!({}))).await;
    let message = confirm("act", &state_of(&first.last()["result"]), yes());
    let send = || {
        let (address, post) = (server.address, wire::post(&message));
        tokio::spawn(async move { wire::send(address, post).await })
    };
    let working = send();
    until(|| work.begun() == 1).await;
    let waiting = send();
    tokio::time::sleep(Duration::from_millis(50)).await;
    waiting.abort();
    _ = waiting.await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    work.let_go();
    // That which asked, that which works, that which waits.
    until(|| finished.load(Ordering::SeqCst) == 3).await;
    _ = working.await;
}
