//! Handlers that go another way when they run a second time upon the same answers, and words that
//! differ from call to call.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, atomic::Ordering},
};

use antiphon::{
    Ask, Server, State, Stop,
    testing::{Rehearsal, Script},
};
use serde_json::json;

use super::{Confirm, Counter, Name, says, server, told};

/// How often each round of each call was run, as a database would know it.
#[derive(Clone, Default)]
struct Runs(Arc<Mutex<BTreeMap<(String, u32), u32>>>);

impl Runs {
    /// The how manieth run of this round it is.
    fn attempt(&self, ask: &Ask) -> u32 {
        let round = (ask.idempotency_key("flow"), ask.round());
        let mut runs = self.0.lock().expect("nobody panics");
        let times = runs.entry(round).or_default();
        *times += 1;
        *times
    }
}

async fn found(tool: impl Fn(Server<Runs>) -> Server<Runs> + Send + Sync + 'static) -> String {
    let runs = Runs::default();
    told(async move {
        Script::new()
            .accept("name", json!({ "name": "Ada" }))
            .accept("confirm", json!({ "confirm": true }))
            .rehearse(move |sealing| {
                let server = tool(Server::new("bad", "1.0"));
                server.sealing(sealing).with_state(runs.clone())
            })
            .call_tool("bad", ())
            .await
    })
    .await
}

const LEG: &str = "found by a rehearsal (RunAgain) in leg 2, run once more, on an instance that knew \
                   nothing of it";

#[tokio::test]
async fn other_words_when_it_runs_again() {
    async fn bad(State(runs): State<Runs>, ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form("name", "Name?")?;
        // What is asked after that may be made of it, and another call may have other words.
        let number: u32 = ask.once("work", async || Ok(1)).await?;
        let attempt = number * runs.attempt(&ask);
        let Confirm { .. } = ask.form("confirm", format!("Attempt {attempt}. Sure?"))?;
        Ok(name)
    }
    says(
        &found(|it| it.tool("bad", bad)).await,
        &[
            "the question `confirm` is another one when the handler runs again, so no answer to it \
             counts:\n  before: a form, \"Attempt 1. Sure?\"\n  now: a form, \"Attempt 2. Sure?\"",
            LEG,
        ],
    );
}

#[tokio::test]
async fn another_question_when_it_runs_again() {
    async fn bad(State(runs): State<Runs>, ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form("name", "Name?")?;
        if runs.attempt(&ask) > 1 {
            let Confirm { .. } = ask.form("retry", "Try again?")?;
        }
        let Confirm { .. } = ask.form("confirm", "Sure?")?;
        Ok(name)
    }
    says(
        &found(|it| it.tool("bad", bad)).await,
        &[
            "the handler asks for `retry` (a form), where it had asked for `confirm` (a form)",
            LEG,
        ],
    );
}

#[tokio::test]
async fn an_end_when_it_runs_again() {
    async fn bad(State(runs): State<Runs>, ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form("name", "Name?")?;
        match runs.attempt(&ask) {
            1 => ask.form("confirm", "Sure?").map(|Confirm { .. }| name),
            2 => Err(Stop::fail("this is being done already")),
            _ => Ok(name),
        }
    }
    says(
        &found(|it| it.tool("bad", bad)).await,
        &[
            "the call failed with the tool error \"this is being done already\", where it had asked \
             for `confirm` (a form)",
            LEG,
        ],
    );
}

/// Tells what is left, of which every call takes one.
async fn take(State(taken): State<Counter>, ask: Ask) -> Result<&'static str, Stop> {
    let left = 100 - taken.get();
    let Confirm { .. } = ask.form("confirm", format!("Take one of {left}?"))?;
    taken.up();
    Ok("Taken")
}

fn taking(people: &Script) -> Rehearsal {
    let people = people.clone().accept("confirm", json!({ "confirm": true }));
    let taken = Counter::default();
    let counted = taken.clone();
    let rehearsal = people.rehearse(move |sealing| {
        let server = server().tool("take", take).sealing(sealing);
        server.with_state(taken.clone())
    });
    rehearsal.effects(move || counted.0.load(Ordering::SeqCst))
}

/// What other calls change may change within one, too.
#[tokio::test]
async fn words_from_what_other_calls_change() {
    let told = told(async { taking(&Script::new()).call_tool("take", ()).await });
    says(
        &told.await,
        &[
            "the question `confirm` is another one",
            "\"Take one of 100?\"",
            "\"Take one of 99?\"",
            "in leg 1",
        ],
    );
    // Unless that is how it is meant.
    let meant = taking(&Script::new().reworded("confirm"));
    assert_eq!(meant.call_tool("take", ()).await.text(), "Taken");
}
