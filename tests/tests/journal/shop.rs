//! A shop with a journal, and what a test sees of it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use antiphon::{
    Ask, Call, Form, Server, State, Stop,
    sealing::Sealing,
    types::{BooleanSchema, ElicitRequestParams, FormSchema, InputRequired},
};
use antiphon_tests::{
    asking::{asked, retry, state_of},
    call,
    clock::Clock,
    diary::Diary,
    wire::{Connection, Exchange},
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

#[derive(Form)]
pub(crate) struct Name {
    pub(crate) name: String,
}

/// What a test sees of its tools, and tells them.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) diary: Diary,
    pub(crate) clock: Clock,
    /// The work waits here, if the test says so.
    pub(crate) gate: Arc<Semaphore>,
    pub(crate) fails: Arc<AtomicBool>,
    pub(crate) harmless: Arc<AtomicBool>,
}

impl Default for App {
    fn default() -> Self {
        Self {
            diary: Diary::default(),
            clock: Clock::default(),
            gate: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            fails: Arc::default(),
            harmless: Arc::default(),
        }
    }
}

impl App {
    /// One whose work waits until it is let go.
    pub(crate) fn waiting() -> Self {
        Self::default().stuck()
    }

    /// Another process with the same journal, in which work waits.
    pub(crate) fn stuck(&self) -> Self {
        Self {
            gate: Arc::new(Semaphore::new(0)),
            ..self.clone()
        }
    }

    pub(crate) fn let_go(&self) {
        self.gate.add_permits(100);
    }

    /// An effect; which it is.
    pub(crate) async fn effect(&self) -> Result<usize, Stop> {
        self.diary.note("work");
        self.gate.acquire().await.expect("open").forget();
        if self.fails.load(Ordering::SeqCst) {
            return Err(Stop::fail("not today"));
        }
        Ok(self.effects())
    }

    pub(crate) fn effects(&self) -> usize {
        self.diary.count("work")
    }

    /// With the journal, and nobody who remembers states.
    pub(crate) fn journalled(&self) -> Sealing {
        let sealing = Sealing::default().replayable();
        self.clock.on(sealing.journal(self.diary.clone()))
    }

    pub(crate) fn server(&self, sealing: Sealing) -> Server {
        Server::new("shop", "1.0")
            .tool("charge", charge)
            .tool("twice", twice)
            .tool("together", together)
            .tool("both", both)
            .tool("by_hand", by_hand)
            .tool("impatient", impatient)
            .tool("panics", panics)
            .tool("late", late)
            .tool("delete", delete)
            .tool("delete_first", delete_first)
            .sealing(sealing)
            .with_state(self.clone())
    }

    pub(crate) fn connect(&self, sealing: Sealing) -> Connection {
        Connection::memory(self.server(sealing))
    }
}

async fn charge(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let Name { name } = ask.form("a", "Who?")?;
    let charge = ask.once("charge", async || app.effect().await);
    let number = match app.harmless.load(Ordering::SeqCst) {
        true => charge.rerun_if_unknown().await?,
        false => charge.await?,
    };
    app.diary.note("goes on");
    let Name { name: note } = ask.form("b", format!("A note on {number}?"))?;
    Ok(format!("{name}, {number}, {note}"))
}

pub(crate) fn said(name: &str) -> Value {
    json!({ "action": "accept", "content": { "name": name } })
}

/// A call of `tool`, which was asked `a`.
pub(crate) async fn asked_a(
    connection: &mut Connection,
    tool: &str,
) -> impl Fn(&str) -> Value + use<> {
    let state = asked(connection, tool).await;
    let first = call(1, tool, json!({}));
    move |name| retry(&first, &state, json!({ "a": said(name) }))
}

/// Goes on to the end.
pub(crate) async fn to_the_end(connection: &mut Connection, tool: &str, asked: &Value) -> String {
    let first = call(1, tool, json!({}));
    let last = retry(&first, &state_of(asked), json!({ "b": said("thanks") }));
    connection.ask(&last).await.text().to_owned()
}

/// The text of a tool that failed.
pub(crate) fn failure(answer: &Exchange) -> &str {
    assert_eq!(answer.result()["isError"], true, "{}", answer.response);
    answer.text()
}

pub(crate) const UNKNOWN: &str = "It is not known whether `charge` was done";
pub(crate) const CHANGED: &str =
    "`charge` was begun upon other answers. Nothing more was done: call again.";

/// Asks twice by hand, and carries the first answer along.
async fn by_hand(State(app): State<App>, call: Call, ask: Ask) -> Result<String, Stop> {
    let question = || {
        let form = FormSchema::new().required("ok", BooleanSchema::new());
        InputRequired::ask("confirm", ElicitRequestParams::form("Sure?", form))
    };
    let answers = call.responses();
    let Some(answer) = answers.elicit("confirm").given() else {
        return Err(Stop::ask(question()));
    };
    let answer = format!("{:?}", answer.action);
    let Some(first) = call.request_state::<String>()? else {
        return Err(Stop::ask(question().carrying(&answer)?));
    };
    let number = ask.once("charge", async || app.effect().await).await?;
    Ok(format!("{first} {answer} {number}"))
}

/// Leaves its work in the middle, and ends.
async fn impatient(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let _: Name = ask.form("a", "Who?")?;
    let work = ask.once("charge", async || app.effect().await);
    let done = tokio::time::timeout(Duration::from_millis(5), work).await;
    Ok(format!(
        "{:?}",
        done.map(|done| done.map_err(|stop| stop.to_string()))
    ))
}

async fn panics(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let _: Name = ask.form("a", "Who?")?;
    let work = async || {
        app.diary.note("work");
        match app.gate.available_permits() {
            0 => panic!("on purpose"),
            _ => Ok(0),
        }
    };
    Ok(ask.once("charge", work).await?.to_string())
}

/// Two steps in one round.
async fn twice(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let _: Name = ask.form("a", "Who?")?;
    let one = ask.once("one", async || app.effect().await).await?;
    // Swallowed: trouble is no answer to build upon.
    let two = ask.once("two", async || app.effect().await).await.ok();
    Ok(format!("{one} {two:?}"))
}

/// Takes longer than anything of its call is remembered.
async fn late(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let _: Name = ask.form("a", "Who?")?;
    app.clock.forward(3600 + 31);
    Ok(ask
        .once("charge", async || app.effect().await)
        .await?
        .to_string())
}

/// Does what was agreed to after the last question, and writes that down.
async fn delete(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let agreed = ask.confirm("delete", "Delete this?", "a.txt")?;
    app.effect().await?;
    let (path, _) = agreed.into_parts();
    let path = path.to_owned();
    ask.once("note", async || Ok(path)).await
}

/// Does it upon a yes, and asks something else.
async fn delete_first(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let agreed = ask.confirm("delete", "Delete this?", "a.txt")?;
    app.effect().await?;
    let Name { name } = ask.form("a", "Who?")?;
    Ok(format!("{name} deleted {}", *agreed))
}

/// Two who do one thing, of whom one says that it may be done again.
async fn together(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let _: Name = ask.form("a", "Who?")?;
    let one = ask.once("charge", async || app.effect().await);
    let two = ask.once("charge", async || app.effect().await);
    let (one, two) = tokio::join!(one, two.rerun_if_unknown());
    Ok(format!("{} {}", one?, two?))
}

/// The second comes while the first is at work, or afterwards if there is nothing left to do.
async fn both(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let _: Name = ask.form("a", "Who?")?;
    let slow = async || {
        tokio::time::sleep(Duration::from_millis(50)).await;
        app.effect().await
    };
    let second = async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        ask.once("token", slow).await
    };
    let (one, two) = tokio::join!(ask.once("token", slow), second);
    Ok(format!("{} {}", one?, two?))
}
