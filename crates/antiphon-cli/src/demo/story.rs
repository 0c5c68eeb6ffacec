//! One call that needs an answer, message by message; and who tries to cheat.

use antiphon::{
    Client, Http, Kind,
    client::{Answer, CallTool, Connection, Error as ClientError, Outcome, Paused, Traffic},
    http,
    types::{CallToolResult, ElicitRequestParams, InputRequest},
};
use serde_json::{Value, json};

use super::shop;
use crate::failure::Failure;

/// Plays the story; an error if anything did not go as it must.
pub(super) async fn run() -> Result<(), Failure> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let service = http::service(shop::server());
    tokio::spawn(async move { http::serve(listener, service).await });
    say!("A book shop is open at http://{address}/mcp");
    say!("(the metadata of requests and results is not shown)");
    let shop = Client::new("antiphon-demo", env!("CARGO_PKG_VERSION"))
        .by_hand([Kind::Form])
        .on_traffic(show)
        .connect(Http::new(format!("http://{address}/mcp")))
        .await?;

    step(1, "The client calls the tool `order`.");
    let order = CallTool::new("order", json!({ "title": "Dune", "copies": 2 }));
    let Outcome::Paused(paused) = shop.start(order).await? else {
        return Err("the shop did not ask".into());
    };

    step(
        2,
        "The shop did not order: it asks first. The user decides.",
    );
    let approve = true;
    say!(
        "    {} -> yes (no terminal: the demo answers for you)",
        question(&paused)?
    );
    let answered = paused.answer("confirm", Answer::accept(json!({ "approve": approve })));
    // A paused call is plain data: it could wait in a file, and go on in another process.
    let stored = serde_json::to_value(&answered)?;

    step(
        3,
        "Somebody changes one character of the sealed state. The shop is not impressed.",
    );
    let forged = resume(&shop, forge(stored.clone())?).await;
    expect(is_refused(&forged), "a forged state must be refused")?;

    step(
        4,
        "The client calls again with the answer and the state it was given.",
    );
    let first = text_of(resume(&shop, answered).await)?;
    expect(first.starts_with("Ordered"), "the answer must count")?;

    step(
        5,
        "The same once more, as if the result had been lost: it is told again, and nothing is done.",
    );
    let again = resume(&shop, serde_json::from_value(stored.clone())?).await;
    let again = text_of(again)?;
    expect(again == first, "nothing must be ordered twice")?;

    step(
        6,
        "Another answer to the same question: it was good for one.",
    );
    let other: Paused = serde_json::from_value(stored)?;
    let other = other.answer("confirm", Answer::accept(json!({ "approve": !approve })));
    let other = resume(&shop, other).await;
    expect(is_refused(&other), "a state must be good for one answer")?;

    say!("\nThat is a multi-round-trip request: the tool returned its question instead of");
    say!("calling back, and the answer came with the next call.");
    Ok(())
}

async fn resume(shop: &Connection, paused: Paused) -> Result<Outcome<CallToolResult>, ClientError> {
    shop.resume(paused).await
}

/// What the shop says in the end.
fn text_of(outcome: Result<Outcome<CallToolResult>, ClientError>) -> Result<String, Failure> {
    match outcome? {
        Outcome::Done(result) => Ok(result.first_text().unwrap_or_default().to_owned()),
        _ => Err("the shop asked again".into()),
    }
}

fn is_refused<T>(answer: &Result<T, ClientError>) -> bool {
    matches!(answer, Err(error) if error.code() == Some(-32602))
}

/// What the shop asks.
fn question(paused: &Paused) -> Result<&str, Failure> {
    match paused.questions().next() {
        Some((_, InputRequest::Elicit(ElicitRequestParams::Form(form)))) => Ok(&form.message),
        _ => Err("no form".into()),
    }
}

/// The same call, with a character in the middle of its state changed.
fn forge(mut stored: Value) -> Result<Paused, Failure> {
    let state = stored["rounds"]["state"].as_str().ok_or("no state")?;
    let middle = state.len() / 2;
    let changed = |(at, c)| match (at == middle, c) {
        (false, c) => c,
        (true, 'A') => 'B',
        (true, _) => 'A',
    };
    let forged: String = state.chars().enumerate().map(changed).collect();
    stored["rounds"]["state"] = forged.into();
    Ok(serde_json::from_value(stored)?)
}

fn expect(held: bool, rule: &str) -> Result<(), Failure> {
    match held {
        true => Ok(()),
        false => Err(format!("this went wrong: {rule}").into()),
    }
}

fn step(number: u8, text: &str) {
    say!("\n{number}. {text}");
}

/// Prints a message, without the metadata every request carries. Finding out what the server
/// speaks is not part of the play.
fn show(traffic: Traffic<'_>) {
    let (arrow, text) = match traffic {
        Traffic::Sent(text) => ("->", text),
        Traffic::Received(text) => ("<-", text),
    };
    let Ok(mut message) = serde_json::from_slice::<Value>(text) else {
        return;
    };
    let discovers = message["method"] == "server/discover"
        || message["result"].get("supportedVersions").is_some();
    if discovers {
        return;
    }
    for part in ["params", "result"] {
        if let Some(members) = message.get_mut(part).and_then(Value::as_object_mut) {
            members.shift_remove("_meta");
        }
    }
    say!("    {arrow} {message}");
}
