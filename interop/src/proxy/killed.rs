//! Replicas that are killed between the rounds of a call.

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use antiphon::{
    Client, Http,
    client::{
        Answer, CallTool, Connection, Era, Finished, GetPrompt, Outcome, Paused, ReadResource,
    },
    types::{
        CallToolResult, CreateMessageResult, GetPromptResult, ListRootsResult, ReadResourceResult,
        Root, Version,
    },
};
use antiphon_interop::{process::Outcome as Came, same};
use serde_json::{Value, json};
use tokio::{
    sync::Mutex,
    time::{sleep, timeout},
};

use crate::{
    bench::{Bench, Guard, Place, Setup, soon},
    report::{Report, outcome},
};

const PATIENCE: Duration = Duration::from_secs(30);

/// Tools that ask: what is called, with what, and what comes of it.
const TOOLS: [(&str, &str, &str); 7] = [
    ("confirm", r#"{"action":"deploy"}"#, "done: deploy"),
    ("sign_in", "{}", "signed in"),
    (
        "sum_up",
        r#"{"text":"a long story"}"#,
        "ensemble-1 says: short",
    ),
    ("where", "{}", "file:///srv/one"),
    ("trip", "{}", "Ada on 2026-07-28"),
    ("wait", "{}", "ready"),
    ("quiz", "{}", "a / b / c"),
];

pub(crate) async fn checks(place: &Place, report: &mut Report) -> Result<(), Box<dyn Error>> {
    for (guard, words) in [(Guard::None, "no guard"), (Guard::File, "a shared file")] {
        let mut bench = Bench::start(place, Setup::with(guard)).await?;
        let checks = every_kind(&mut bench).await?;
        report.group(
            format!("{words}: whoever asked is killed before it is answered, in every round"),
            checks,
        );
    }
    let setup = Setup::with(Guard::File);
    report.check(
        "modern: a callback sees the replica killed that asks it, three times in one call",
        within_callbacks(Bench::start(place, setup).await?).await,
    );
    report.check(
        "legacy: a session begins anew when its replica was killed",
        begins_anew(Bench::start(place, setup).await?).await,
    );
    report.check(
        "legacy: a call that waits ends with an error when its replica is killed, and the next one works",
        ends_with_its_replica(Bench::start(place, setup).await?).await,
    );
    Ok(())
}

async fn every_kind(bench: &mut Bench) -> Result<Vec<(String, Came)>, Box<dyn Error>> {
    let client = bench.client("modern").await?;
    let mut checks = Vec::new();
    for (tool, arguments, wanted) in TOOLS {
        let done = tool_goes_on(bench, &client, tool, arguments, wanted).await;
        checks.push((tool.to_owned(), outcome(done)));
        bench.revive()?;
    }
    let done = prompt_goes_on(bench, &client).await;
    checks.push(("letter".to_owned(), outcome(done)));
    bench.revive()?;
    let done = template_goes_on(bench, &client).await;
    checks.push(("report".to_owned(), outcome(done)));
    Ok(checks)
}

async fn tool_goes_on(
    bench: &mut Bench,
    client: &Connection,
    tool: &str,
    arguments: &str,
    wanted: &str,
) -> Result<(), Box<dyn Error>> {
    let arguments: Value = serde_json::from_str(arguments)?;
    let begun = client.start(CallTool::new(tool, arguments)).await?;
    let result = goes_on::<CallToolResult>(bench, client, tool, begun).await?;
    let text = result.first_text().and_then(|text| text.lines().next());
    same(&text, &Some(wanted))
}

async fn prompt_goes_on(bench: &mut Bench, client: &Connection) -> Result<(), Box<dyn Error>> {
    let begun = client.start(GetPrompt::new("letter", ())).await?;
    let letter = goes_on::<GetPromptResult>(bench, client, "letter", begun).await?;
    let message = letter.messages.first().ok_or("the letter is empty")?;
    same(&message.content.as_text(), &Some("Dear Ada"))
}

async fn template_goes_on(bench: &mut Bench, client: &Connection) -> Result<(), Box<dyn Error>> {
    let begun = client.start(ReadResource::new("report://7")).await?;
    let report = goes_on::<ReadResourceResult>(bench, client, "report://7", begun).await?;
    same(&report.first_text(), &Some("report 7 for Ada"))
}

/// A call to its end. In each round whoever asked is killed, is the next in turn nevertheless, and comes
/// back when the other has gone on with the call.
async fn goes_on<R: Finished>(
    bench: &mut Bench,
    client: &Connection,
    name: &str,
    mut outcome: Outcome<R>,
) -> Result<R, Box<dyn Error>> {
    let mut round = 0;
    loop {
        let paused = match outcome {
            Outcome::Done(result) if round > 0 => return Ok(result),
            Outcome::Done(_) => return Err("nothing was asked".into()),
            Outcome::Paused(paused) => answered(paused)?,
            Outcome::Later(paused) => paused,
            _ => return Err("it came to something else".into()),
        };
        let asker = bench.who(name, round).await?;
        turn_of(bench, client, asker).await?;
        bench.kill(asker);
        outcome = client.resume(paused).await?;
        round += 1;
        same(&bench.tried(name, round).await?[..], &[asker, 1 - asker])?;
        bench.revive()?;
    }
}

/// Has this replica be the next in turn.
async fn turn_of(bench: &Bench, client: &Connection, number: usize) -> Result<(), Box<dyn Error>> {
    let before = bench.rounds("echo")?;
    for round in before..before + 4 {
        client.call_tool("echo", json!({ "text": "next" })).await?;
        if bench.who("echo", round).await? != number {
            return Ok(());
        }
    }
    Err("nginx passes nothing to the other".into())
}

fn answered(mut paused: Paused) -> Result<Paused, Box<dyn Error>> {
    let keys: Vec<_> = paused.unanswered().map(|(key, _)| key.to_owned()).collect();
    for key in keys {
        paused = paused.answer(&key, answer(&key)?);
    }
    Ok(paused)
}

fn answer(key: &str) -> Result<Answer, Box<dyn Error>> {
    Ok(match key {
        "sign_in" => Answer::accept(()),
        "sum_up" => CreateMessageResult::text("short", "ensemble-1").into(),
        "where" => ListRootsResult::new(vec![Root::new("file:///srv/one")]).into(),
        _ => Answer::accept(content(key).ok_or(format!("nobody knows an answer to {key}"))?),
    })
}

/// What is filled into a form.
fn content(key: &str) -> Option<Value> {
    Some(match key {
        "confirm" => json!({ "ok": true }),
        "who" | "to" | "reader" => json!({ "name": "Ada" }),
        "when" => json!({ "date": "2026-07-28" }),
        "q1" => json!({ "answer": "a" }),
        "q2" => json!({ "answer": "b" }),
        "q3" => json!({ "answer": "c" }),
        _ => return None,
    })
}

/// The client drives the rounds by itself; between a question and its answer one replica goes, and the one
/// that went before comes back.
async fn within_callbacks(bench: Bench) -> Result<(), Box<dyn Error>> {
    let url = bench.nginx.url.clone();
    let (bench, round) = (Arc::new(Mutex::new(bench)), Arc::new(AtomicUsize::new(0)));
    let client = Client::new("antiphon-interop", "1.0")
        .era(Era::Pinned(Version::V2026_07_28))
        .on_form(move |form| {
            let (bench, round) = (bench.clone(), round.fetch_add(1, SeqCst));
            async move {
                let mut bench = bench.lock().await;
                let swapped = async {
                    let asker = bench.who("quiz", round).await.map_err(|e| e.to_string())?;
                    bench.revive().map_err(|e| e.to_string())?;
                    bench.kill(asker);
                    content(form.key()).ok_or("another question".to_owned())
                };
                match swapped.await {
                    Ok(content) => form.accept(content),
                    Err(why) => form.refuse(why),
                }
            }
        })
        .connect(Http::new(url))
        .await?;
    let result = timeout(PATIENCE, client.call_tool("quiz", ())).await??;
    same(&result.first_text(), &Some("a / b / c"))
}

async fn begins_anew(mut bench: Bench) -> Result<(), Box<dyn Error>> {
    let client = bench.client("legacy").await?;
    let hello = json!({ "text": "hello" });
    client.call_tool("echo", hello.clone()).await?;
    let number = bench.first_host().await?;
    bench.kill(number);
    let result = timeout(PATIENCE, client.call_tool("echo", hello)).await??;
    same(&result.first_text(), &Some("hello"))?;
    let at_both = || {
        let sessions = bench.sessions()?.into_iter();
        let mut by: Vec<_> = sessions.map(|(_, number)| number).collect();
        by.dedup();
        same(&by[..], &[number, 1 - number])
    };
    soon(at_both).await
}

/// An older client's call is with one replica; what it would have asked is gone with it.
async fn ends_with_its_replica(bench: Bench) -> Result<(), Box<dyn Error>> {
    let url = bench.nginx.url.clone();
    let bench = Arc::new(Mutex::new(bench));
    let kills = bench.clone();
    let client = Client::new("antiphon-interop", "1.0")
        .era(Era::Legacy)
        .on_form(move |form| {
            let bench = kills.clone();
            async move {
                let mut bench = bench.lock().await;
                match bench.first_host().await.map_err(|why| why.to_string()) {
                    Ok(number) => bench.kill(number),
                    Err(why) => return form.refuse(why),
                }
                // The stream ends, and with it the call.
                sleep(Duration::from_millis(100)).await;
                form.accept(content("confirm"))
            }
        })
        .connect(Http::new(url))
        .await?;
    client.call_tool("echo", json!({ "text": "hello" })).await?;
    let deploy = json!({ "action": "deploy" });
    let ended = timeout(PATIENCE, client.call_tool("confirm", deploy)).await?;
    if let Ok(result) = ended {
        return Err(format!("it says {result:?}").into());
    }
    let echo = client.call_tool("echo", json!({ "text": "hello" }));
    let result = timeout(PATIENCE, echo).await??;
    same(&result.first_text(), &Some("hello"))
}
