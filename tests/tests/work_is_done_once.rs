//! `once`: what is done in one round and known in all later ones.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use antiphon::{
    Ask, Context, Form, FromCall, Layer, Next, Outcome, Server, State, Stop, Tool,
    sealing::{Codec, CodecError, Coding, Sealing},
    testing::Script,
    types::{BooleanSchema, ElicitRequestParams, FormSchema, InputRequired},
};
use antiphon_tests::{
    asking::{asked, retry},
    call,
    log::Log,
    wire::Connection,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Form)]
struct Name {
    name: String,
}

#[derive(Clone, Default)]
struct App {
    effects: Arc<AtomicU32>,
    runs: Arc<AtomicU32>,
    keys: Arc<Mutex<Vec<String>>>,
}

impl App {
    fn effect(&self) -> u32 {
        self.effects.fetch_add(1, Ordering::SeqCst) + 1
    }
}

fn server(app: &App) -> Server {
    Server::new("once", "1.0")
        .tool("charge", charge)
        .tool("shared", shared)
        .tool("failing", failing)
        .tool("changed", changed)
        .tool("later", later)
        .tool("hasty", hasty)
        .tool("impatient", impatient)
        .tool("left_behind", left_behind)
        .tool("undecided", undecided)
        .with_state(app.clone())
}

fn names<const N: usize>(keys: [&str; N]) -> Script {
    keys.iter().fold(Script::new(), |script, key| {
        script.accept(*key, json!({ "name": format!("<{key}>") }))
    })
}

#[derive(Serialize, Deserialize)]
struct Charge {
    number: u32,
    rate: f64,
}

async fn charge(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let _: Name = ask.form("a", "A?")?;
    app.keys.lock().unwrap().push(ask.idempotency_key("charge"));
    let Charge { number, rate } = ask
        .once("charge", async || {
            tokio::task::yield_now().await;
            Ok(Charge {
                number: app.effect(),
                rate: 0.1,
            })
        })
        .await?;
    let _: Name = ask.form("b", format!("B after {number}?"))?;
    let _: Name = ask.form("c", "C?")?;
    Ok(format!("number {number} at {rate}"))
}

#[tokio::test]
async fn an_effect_happens_once_in_a_call_of_many_rounds() {
    let app = App::default();
    let server = server(&app);
    let people = names(["a", "b", "c"]);
    let played = people.call_tool(&server, "charge", ()).await;
    assert_eq!(played.text(), "number 1 at 0.1");
    assert_eq!(app.effects.load(Ordering::SeqCst), 1);
    let played = people.call_tool(&server, "charge", ()).await;
    assert_eq!(played.text(), "number 2 at 0.1", "another call");
    let keys = app.keys.lock().unwrap();
    let (one, two) = (&keys[..3], &keys[3..]);
    assert!(one.iter().all(|key| *key == one[0]), "{keys:?}");
    assert!(two.iter().all(|key| *key == two[0]), "{keys:?}");
    assert_ne!(one[0], two[0], "in another call it is another");
    assert!(one[0].len() == 32 && one[0].bytes().all(|byte| byte.is_ascii_hexdigit()));
}

async fn shared(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    // The first is done at once, before the second has begun to run.
    let one = ask.once("work", async || Ok(app.effect()));
    let two = ask.once("work", async || Ok(app.effect()));
    let (one, two) = tokio::join!(one, two);
    let slow = || async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        Ok(app.effect())
    };
    let (three, four) = tokio::join!(ask.once("slow", slow), ask.once("slow", slow));
    let _: Name = ask.form("a", "A?")?;
    Ok(format!("{} {} {} {}", one?, two?, three?, four?))
}

#[tokio::test]
async fn those_who_begin_together_share_one_run() {
    let app = App::default();
    let played = names(["a"]).call_tool(&server(&app), "shared", ()).await;
    assert_eq!(played.text(), "1 1 2 2");
    assert_eq!(app.effects.load(Ordering::SeqCst), 2);
}

/// What two share while it is done, they share in later rounds, when it is there at once.
#[tokio::test]
async fn those_who_share_work_share_it_in_every_round() {
    async fn token(ask: &Ask, app: &App, after: u64) -> Result<u32, Stop> {
        tokio::time::sleep(Duration::from_millis(after)).await;
        let fetch = async || {
            tokio::time::sleep(Duration::from_millis(50)).await;
            Ok(app.effect())
        };
        ask.once("token", fetch).await
    }
    async fn both(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
        let (one, two) = tokio::join!(token(&ask, &app, 0), token(&ask, &app, 5));
        let (one, two) = (one?, two?);
        let _: Name = ask.form("a", "A?")?;
        Ok(format!("{one} {two}"))
    }
    let server = Server::new("once", "1.0")
        .tool("both", both)
        .with_state(App::default());
    let played = names(["a"]).call_tool(&server, "both", ()).await;
    assert_eq!(played.text(), "1 1");
}

/// Fails in its first run.
async fn failing(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let _: Name = ask.form("a", "A?")?;
    let first = app.runs.fetch_add(1, Ordering::SeqCst) == 0;
    let done = ask
        .once("work", async || match first {
            true => Err(Stop::fail("not today")),
            false => Ok(app.effect()),
        })
        .await;
    let _: Name = ask.form("b", "B?")?;
    Ok(format!("{:?}", done.map_err(|stop| stop.to_string())))
}

#[tokio::test]
async fn a_failure_is_not_remembered() {
    let app = App::default();
    let played = names(["a", "b"])
        .call_tool(&server(&app), "failing", ())
        .await;
    assert_eq!(played.text(), "Ok(1)");
}

/// Asks something else once the work is done.
async fn changed(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let run = app.runs.fetch_add(1, Ordering::SeqCst);
    let words = if run < 2 { "before" } else { "after" };
    let _: Name = ask.form("a", words)?;
    let number = ask.once("work", async || Ok(app.effect())).await?;
    let _: Name = ask.form("b", "B?")?;
    Ok(format!("{number}"))
}

/// Work that was done upon an answer is neither done again nor used upon another answer.
#[tokio::test]
async fn an_answer_that_work_was_done_upon_does_not_change() {
    let app = App::default();
    let people = names(["a", "b"]).reworded("a");
    let played = people.call_tool(&server(&app), "changed", ()).await;
    let failure = played.failure();
    assert!(
        failure.contains("`a`") && failure.contains("call again"),
        "{failure}"
    );
    assert_eq!(app.effects.load(Ordering::SeqCst), 1);
}

async fn later(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let job = ask.once("start", async || Ok(app.effect())).await?;
    if ask.round() < 40 {
        ask.later(Duration::from_millis(1))?;
    }
    let Name { name } = ask.form("a", "A?")?;
    Ok(format!("job {job} for {name} after {} rounds", ask.round()))
}

/// Rounds that ask nothing count against no limit but that of time.
#[tokio::test]
async fn a_handler_may_have_its_client_come_back() {
    let app = App::default();
    let played = names(["a"]).call_tool(&server(&app), "later", ()).await;
    assert_eq!(played.text(), "job 1 for <a> after 41 rounds");
    assert_eq!(app.effects.load(Ordering::SeqCst), 1);
}

/// A codec that goes away while work is done.
#[derive(Clone, Default)]
struct Away(Arc<AtomicBool>);

impl Codec for Away {
    fn seal<'a>(&'a self, plain: &'a [u8]) -> Coding<'a> {
        Box::pin(async {
            match self.0.load(Ordering::SeqCst) {
                true => Err(CodecError::Unavailable("gone fishing".to_owned())),
                false => Ok(plain.to_vec()),
            }
        })
    }

    fn open<'a>(&'a self, sealed: &'a [u8]) -> Coding<'a> {
        Box::pin(async { Ok(sealed.to_vec()) })
    }
}

/// `a` and `b` of a tool that was called without arguments.
fn answered(tool: &str, state: &str, key: &str) -> Value {
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    retry(&call(1, tool, json!({})), state, json!({ key: answer }))
}

/// A round whose questions cannot be sealed can be tried again, unless something was done in it.
#[tokio::test]
async fn work_whose_result_cannot_be_sealed_is_not_done_again() {
    let (app, codec) = (App::default(), Away::default());
    let server = server(&app).sealing(Sealing::codec(codec.clone()).audience("once"));
    let mut connection = Connection::memory(server);
    let state = asked(&mut connection, "charge").await;
    let message = answered("charge", &state, "a");
    codec.0.store(true, Ordering::SeqCst);
    connection.ask(&message).await.refused(-32603, 200);
    assert_eq!(app.effects.load(Ordering::SeqCst), 1);
    codec.0.store(false, Ordering::SeqCst);
    connection.ask(&message).await.refused(-32602, 200);
    assert_eq!(app.effects.load(Ordering::SeqCst), 1);
}

/// Gives up the work because the question has no answer yet.
async fn hasty(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let work = ask.once("work", async || {
        let number = app.effect();
        tokio::time::sleep(Duration::from_millis(5)).await;
        Ok(number)
    });
    let question = async { ask.form::<Name>("a", "A?") };
    let (number, _) = tokio::try_join!(work, question)?;
    Ok(format!("{number}"))
}

/// Gives up the work, and begins anew.
async fn impatient(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let slow = async || {
        let number = app.effect();
        tokio::time::sleep(Duration::from_secs(5)).await;
        Ok(number)
    };
    let longest = Duration::from_millis(5);
    if let Ok(done) = tokio::time::timeout(longest, ask.once("work", slow)).await {
        return Ok(format!("{}", done?));
    }
    let number = ask.once("work", async || Ok(app.effect())).await?;
    Ok(format!("{number}"))
}

/// Asks while the work goes on elsewhere.
async fn left_behind(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let (theirs, effects) = (ask.clone(), app.clone());
    let work = tokio::spawn(async move {
        let work = theirs.once("work", async || {
            let number = effects.effect();
            tokio::time::sleep(Duration::from_millis(5)).await;
            Ok(number)
        });
        work.await
    });
    tokio::task::yield_now().await;
    let _: Name = ask.form("a", "A?")?;
    Ok(format!("{}", work.await??))
}

/// What was begun and not ended would be begun again in the next round.
#[tokio::test]
async fn work_that_is_left_in_the_middle_is_not_begun_again() {
    for tool in ["hasty", "impatient", "left_behind"] {
        let app = App::default();
        let mut connection = Connection::memory(server(&app));
        let answer = connection.ask(&call(0, tool, json!({}))).await;
        answer.refused(-32603, 200);
        let told = answer.response.to_string();
        assert!(told.contains("`work`"), "{tool}: {told}");
        assert_eq!(app.effects.load(Ordering::SeqCst), 1, "{tool}");
    }
}

/// Asks in place of a handler that takes too long.
struct Hurry;

impl Layer for Hurry {
    async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
        let longest = Duration::from_millis(5);
        match tokio::time::timeout(longest, next.run(call)).await {
            Ok(outcome) => outcome,
            Err(_) => {
                let form = FormSchema::new().required("ok", BooleanSchema::new());
                let question = ElicitRequestParams::form("Wait on?", form);
                call.stop(Stop::ask(InputRequired::ask("confirm", question)))
            }
        }
    }
}

#[tokio::test]
async fn work_that_a_layer_leaves_is_not_begun_again() {
    let app = App::default();
    async fn slow(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
        let work = ask.once("work", async || {
            let number = app.effect();
            tokio::time::sleep(Duration::from_secs(5)).await;
            Ok(number)
        });
        Ok(format!("{}", work.await?))
    }
    let server: Server = Server::new("once", "1.0")
        .add(Tool::new("slow", slow).layer(Hurry))
        .with_state(app.clone());
    let mut connection = Connection::memory(server);
    let answer = connection.ask(&call(0, "slow", json!({}))).await;
    answer.refused(-32603, 200);
    assert!(answer.response.to_string().contains("`work`"));
    assert_eq!(app.effects.load(Ordering::SeqCst), 1);
}

/// Has two minds about what comes of its work.
async fn undecided(ask: Ask) -> Result<String, Stop> {
    if ask.round() == 0 {
        ask.once("word", async || Ok("hunter2".to_owned())).await?;
    } else {
        ask.once("word", async || Ok(7)).await?;
    }
    let _: Name = ask.form("a", "A?")?;
    Ok("never".to_owned())
}

#[tokio::test]
async fn what_came_of_work_is_not_told_to_the_log() {
    let (log, _guard) = Log::of_everything();
    let mut connection = Connection::memory(server(&App::default()));
    let state = asked(&mut connection, "undecided").await;
    let answer = connection.ask(&answered("undecided", &state, "a")).await;
    assert_eq!(answer.code(), -32603);
    assert!(
        log.text().contains("`word` cannot be read back"),
        "{}",
        log.text()
    );
    assert!(!log.text().contains("hunter2"), "{}", log.text());
}

/// Works before the handler does.
struct Eager<const ASKS: bool>;

impl<const ASKS: bool> FromCall<App> for Eager<ASKS> {
    const ASKS: bool = ASKS;

    async fn from_call(call: &Context<'_>, app: &App) -> Result<Self, Stop> {
        let ask = call.ask()?;
        if ask.round() > 0 {
            ask.once("work", async || Ok(app.effect())).await?;
        }
        Ok(Self)
    }
}

/// One who sends a state again gets what it got before, and nothing is done; so nothing can be
/// done before it is known to be the first time.
#[tokio::test]
async fn extractors_work_once_too() {
    async fn eager<const ASKS: bool>(_: Eager<ASKS>, ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form("a", "A?")?;
        Ok(name)
    }
    let app = App::default();
    let server: Server = Server::new("once", "1.0")
        .tool("asks", eager::<true>)
        .tool("hides", eager::<false>)
        .with_state(app.clone());
    let mut connection = Connection::memory(server);
    let state = asked(&mut connection, "asks").await;
    let message = answered("asks", &state, "a");
    for _ in 0..2 {
        assert_eq!(connection.ask(&message).await.text(), "Ada");
        assert_eq!(app.effects.load(Ordering::SeqCst), 1);
    }
    let state = asked(&mut connection, "hides").await;
    let message = answered("hides", &state, "a");
    for _ in 0..2 {
        let answer = connection.ask(&message).await;
        answer.refused(-32603, 200);
        let told = answer.response.to_string();
        assert!(told.contains("`work`") && told.contains("ASKS"), "{told}");
    }
    assert_eq!(app.effects.load(Ordering::SeqCst), 1);
}

/// No answer is held back for longer than 20 seconds.
#[tokio::test(start_paused = true)]
async fn nobody_is_kept_waiting_for_long() {
    async fn slow(ask: Ask) -> Result<String, Stop> {
        if ask.round() < 2 {
            let span = [Duration::from_secs(5), Duration::from_secs(3600)];
            ask.later(span[ask.round() as usize])?;
        }
        Ok("done".to_owned())
    }
    let server = Server::new("slow", "1.0").tool("slow", slow);
    let began = tokio::time::Instant::now();
    let played = Script::new().call_tool(&server, "slow", ()).await;
    assert_eq!(played.text(), "done");
    assert_eq!(played.laters(), 2);
    let took = began.elapsed().as_secs();
    assert_eq!(took, 25, "5 seconds, and 20 instead of an hour");
}
