//! What happens to a call, a scene for each row of the table.

use antiphon_tests::{
    asking::{retry, state_of},
    call,
};
use serde_json::{Value, json};

use super::shop::{Column, Running};

/// What was seen when a request was sent again.
#[derive(Debug)]
pub(crate) struct Seen {
    /// How often the effect had happened before.
    pub(crate) before: usize,
    /// How often it had happened in the end.
    pub(crate) effects: usize,
    /// What the client was told.
    pub(crate) told: Told,
}

#[derive(Debug)]
pub(crate) enum Told {
    /// The call went on to its end.
    Done(String),
    /// So it did, and the handler did not run for the request that was sent again.
    Repeated(String),
    /// The one error of states that are refused; the reason is in the log.
    Refused(String),
    /// The tool failed.
    Failed(String),
}

fn said(key: &str, name: &str) -> Value {
    json!({ key: { "action": "accept", "content": { "name": name } } })
}

/// A request that says who pays.
async fn named(shop: &Running, tool: &str) -> impl Fn(&str) -> Value + use<> {
    let first = call(1, tool, json!({}));
    let asked = shop.ask(&first).await;
    let state = state_of(&asked["result"]);
    move |name| retry(&first, &state, said("name", name))
}

/// Goes on from the last question to the end.
async fn to_the_end(shop: &Running, tool: &str, asked: &Value) -> String {
    let state = state_of(&asked["result"]);
    let last = retry(&call(1, tool, json!({})), &state, said("note", "tea"));
    let done = shop.ask(&last).await;
    text(&done)
}

fn text(answer: &Value) -> String {
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Why the last state was refused.
fn reason(shop: &Running) -> String {
    let log = shop.log();
    let (_, rest) = log.rsplit_once("reason=\"").expect("a refusal");
    rest.split_once('"').expect("a reason").0.to_owned()
}

/// Sends a request again, and goes on as far as that goes.
async fn again(shop: &Running, tool: &str, message: &Value) -> Seen {
    let (before, runs) = (shop.effects(), shop.runs());
    let answer = shop.ask(message).await;
    let ran = shop.runs() > runs;
    seen(shop, tool, before, ran, &answer).await
}

async fn seen(shop: &Running, tool: &str, before: usize, ran: bool, answer: &Value) -> Seen {
    let told = if answer["error"]["code"] == -32602 {
        Told::Refused(reason(shop))
    } else if answer["result"]["isError"] == true {
        Told::Failed(text(answer))
    } else {
        let text = to_the_end(shop, tool, answer).await;
        match ran {
            true => Told::Done(text),
            false => Told::Repeated(text),
        }
    };
    Seen {
        before,
        effects: shop.effects(),
        told,
    }
}

pub(crate) async fn first_request_again(column: Column) -> Seen {
    let shop = Running::start(column, "").await;
    let first = call(1, "hasty", json!({}));
    assert_eq!(text(&shop.ask(&first).await), "number 1");
    let before = shop.effects();
    let told = Told::Done(text(&shop.ask(&first).await));
    Seen {
        before,
        effects: shop.effects(),
        told,
    }
}

pub(crate) async fn first_request_again_with_an_anchor(column: Column) -> Seen {
    let shop = Running::start(column, "").await;
    let first = call(1, "anchored", json!({}));
    shop.ask(&first).await;
    let before = shop.effects();
    let anchored = shop.ask(&first).await;
    let mut back = first;
    back["params"]["requestState"] = state_of(&anchored["result"]).into();
    let told = Told::Done(text(&shop.ask(&back).await));
    Seen {
        before,
        effects: shop.effects(),
        told,
    }
}

pub(crate) async fn later_request_again(column: Column) -> Seen {
    let shop = Running::start(column, "").await;
    let ada = named(&shop, "charge").await("Ada");
    shop.ask(&ada).await;
    again(&shop, "charge", &ada).await
}

pub(crate) async fn two_at_once(column: Column) -> Seen {
    let mut shop = Running::start(column, "during").await;
    let ada = named(&shop, "charge").await("Ada");
    let runs = shop.runs();
    let one = shop.send(&ada);
    shop.reaches("during").await;
    let before = shop.effects();
    let two = shop.send(&ada);
    match column {
        Column::Neither => shop.reaches("during").await,
        // Long enough for it to come in.
        _ => tokio::time::sleep(std::time::Duration::from_millis(100)).await,
    }
    shop.go();
    let (one, two) = (one.await.expect("an answer"), two.await.expect("an answer"));
    state_of(&one["result"]);
    let ran = shop.runs() > runs + 1;
    assert!(ran || one["result"] == two["result"], "{one} {two}");
    seen(&shop, "charge", before, ran, &two).await
}

/// What a call was asked before it went on, sent again when it has come to its end.
async fn older_state(column: Column, name: &str) -> Seen {
    let shop = Running::start(column, "").await;
    let named = named(&shop, "charge").await;
    let asked = shop.ask(&named("Ada")).await;
    let done = to_the_end(&shop, "charge", &asked).await;
    assert_eq!(done, "Ada pays number 1 for tea");
    again(&shop, "charge", &named(name)).await
}

pub(crate) async fn older_state_same_answers(column: Column) -> Seen {
    older_state(column, "Ada").await
}

pub(crate) async fn older_state_other_answers(column: Column) -> Seen {
    older_state(column, "Eve").await
}

/// The process is killed at this point, and the request sent again to the one that comes after.
async fn crash(column: Column, tool: &str, point: &str) -> Seen {
    let mut shop = Running::start(column, point).await;
    let ada = named(&shop, tool).await("Ada");
    let lost = shop.send(&ada);
    shop.reaches(point).await;
    let shop = shop.crash().await;
    lost.abort();
    let effects = if point == "before" { 0 } else { 1 };
    assert_eq!(shop.effects(), effects, "before it is sent again");
    again(&shop, tool, &ada).await
}

pub(crate) async fn crash_before(column: Column) -> Seen {
    crash(column, "charge", "before").await
}

pub(crate) async fn crash_during(column: Column) -> Seen {
    crash(column, "charge", "during").await
}

pub(crate) async fn crash_during_what_may_be_done_again(column: Column) -> Seen {
    crash(column, "remind", "during").await
}

pub(crate) async fn crash_after(column: Column) -> Seen {
    crash(column, "charge", "after").await
}
