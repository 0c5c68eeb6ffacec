//! What becomes of a state that is brought twice, to one replica and to the other.

use std::error::Error;

use antiphon::{
    client::{Answer, CallTool, Connection, Outcome, Paused},
    types::CallToolResult,
};
use antiphon_interop::same;
use serde_json::{Value, json};

use crate::{
    bench::{Bench, Guard, NAMES, Place, Setup},
    report::Report,
};

/// The code of every state that is refused.
const REFUSED: &str = "-32602";

pub(crate) async fn checks(place: &Place, report: &mut Report) -> Result<(), Box<dyn Error>> {
    for (guard, what) in [
        (
            Guard::None,
            "no guard: a state is good at both replicas, again and again",
        ),
        (
            Guard::Memory,
            "a guard in memory: a state is good once at each replica",
        ),
        (
            Guard::File,
            "a shared file: a state is good once, and the other replica repeats what came of it",
        ),
    ] {
        let bench = Bench::start(place, Setup::with(guard).staged()).await?;
        report.check(what, brought_again(&bench, guard).await);
        drop(bench);
    }
    let mut bench = Bench::start(place, Setup::with(Guard::File).staged()).await?;
    report.check(
        "a shared file: what came of a state is known after its replica was killed",
        outlives(&mut bench).await,
    );
    Ok(())
}

/// A call that waits to be answered; whoever agrees leaves a stamp.
async fn asked(client: &Connection) -> Result<Value, Box<dyn Error>> {
    match client.start(CallTool::new("stamp", ())).await? {
        Outcome::Paused(paused) => Ok(serde_json::to_value(&paused)?),
        other => Err(format!("it does not ask: {other:?}").into()),
    }
}

/// The stored call, answered.
fn agreed(stored: &Value, ok: bool) -> Result<Paused, Box<dyn Error>> {
    let paused: Paused = serde_json::from_value(stored.clone())?;
    Ok(paused.answer("sure", Answer::accept(json!({ "ok": ok }))))
}

/// What came of it, or the code of the error.
async fn resumed(client: &Connection, paused: Paused) -> Result<String, Box<dyn Error>> {
    match client.resume::<CallToolResult>(paused).await {
        Ok(Outcome::Done(result)) => Ok(result.first_text().unwrap_or_default().to_owned()),
        Ok(other) => Err(format!("it is not done: {other:?}").into()),
        Err(error) => match error.code() {
            Some(code) => Ok(code.to_string()),
            None => Err(error.into()),
        },
    }
}

/// The one that asked, and the other, which is the next in turn.
async fn in_turn(bench: &Bench) -> Result<[usize; 2], Box<dyn Error>> {
    let asker = bench.who("stamp", 0).await?;
    Ok([asker, 1 - asker])
}

async fn brought_again(bench: &Bench, guard: Guard) -> Result<(), Box<dyn Error>> {
    let client = bench.client("modern").await?;
    let stored = asked(&client).await?;
    let [asker, other] = in_turn(bench).await?;
    let mut came = Vec::new();
    for ok in [true, true, true, false, false] {
        came.push(resumed(&client, agreed(&stored, ok)?).await?);
    }
    let stamp = |number: u32, by: usize| format!("stamp {number} by {}", NAMES[by]);
    let stamps = match guard {
        Guard::None => [stamp(1, other), stamp(2, asker), stamp(3, other)],
        Guard::Memory => [stamp(1, other), stamp(2, asker), stamp(1, other)],
        Guard::File => [stamp(1, other), stamp(1, other), stamp(1, other)],
    };
    same(&came[..3], &stamps[..])?;
    let no = match guard {
        Guard::None => "refused",
        Guard::Memory | Guard::File => REFUSED,
    };
    same(&came[3..], &[no, no][..])?;
    // It was really brought to both.
    for (round, wanted) in [asker, other].into_iter().cycle().take(6).enumerate() {
        same(&bench.who("stamp", round).await?, &wanted)?;
    }
    Ok(())
}

async fn outlives(bench: &mut Bench) -> Result<(), Box<dyn Error>> {
    let client = bench.client("modern").await?;
    let stored = asked(&client).await?;
    let [_, other] = in_turn(bench).await?;
    let stamped = format!("stamp 1 by {}", NAMES[other]);
    same(&resumed(&client, agreed(&stored, true)?).await?, &stamped)?;
    bench.kill(other);
    for _ in 0..2 {
        same(&resumed(&client, agreed(&stored, true)?).await?, &stamped)?;
    }
    let changed = resumed(&client, agreed(&stored, false)?).await?;
    same(changed.as_str(), REFUSED)
}
