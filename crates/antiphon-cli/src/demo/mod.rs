//! `antiphon demo`: one call that needs an answer, message by message.

mod driver;
mod shop;

use std::{
    error::Error,
    io::{IsTerminal, Write},
};

use antiphon::{http, raw::Endpoint};
use serde_json::{Value, json};

use driver::{Driver, Exchange};

/// Plays the demo; an error if anything did not go as it must.
pub(crate) async fn run() -> Result<(), Box<dyn Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let endpoint = Endpoint::new(shop::Shop::default());
    tokio::spawn(async move { http::serve(listener, http::service(endpoint)).await });
    let mut driver = Driver::connect(address).await?;

    say("A book shop is open at", &format!("http://{address}/mcp"));
    let arguments = json!({ "title": "Dune", "copies": 2 });

    step(1, "The client calls the tool `order`.");
    let asked = driver.call("order", &arguments, None).await?;
    show(&asked);
    let state = asked.result()?["requestState"]
        .as_str()
        .ok_or("no requestState")?
        .to_owned();
    let question = &asked.result()?["inputRequests"]["confirm"]["params"]["message"];
    let question = question.as_str().ok_or("no question")?.to_owned();

    step(
        2,
        "The shop did not order: it asks first. The user decides.",
    );
    let approve = decide(&question)?;
    let answer = json!({ "confirm": { "action": "accept", "content": { "approve": approve } } });

    step(3, "Somebody forges the state. The shop is not impressed.");
    let forged = driver
        .call("order", &arguments, Some((&answer, &flip(&state))))
        .await?;
    show(&forged);
    expect(
        forged.error_code() == Some(-32602),
        "a forged state must be refused",
    )?;

    step(
        4,
        "The client calls again with the answer and the state it was given.",
    );
    let done = driver
        .call("order", &arguments, Some((&answer, &state)))
        .await?;
    show(&done);
    let text = done.result()?["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    expect(
        text.starts_with(if approve { "Ordered" } else { "Nothing" }),
        "the answer must count",
    )?;

    step(5, "The same answer again: it was good for one order.");
    let again = driver
        .call("order", &arguments, Some((&answer, &state)))
        .await?;
    show(&again);
    expect(
        again.error_code() == Some(-32602),
        "an answer must not count twice",
    )?;

    println!("\nThat is a multi-round-trip request: the tool returned its question instead of");
    println!("calling back, and the answer came with the next call.");
    Ok(())
}

/// The user's decision; where there is no user, the built-in one.
fn decide(question: &str) -> Result<bool, Box<dyn Error>> {
    if !std::io::stdin().is_terminal() {
        println!("    {question} -> yes (no terminal: the demo answers for you)");
        return Ok(true);
    }
    print!("    {question} [y/N] ");
    std::io::stdout().flush()?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// The state with its first character changed.
fn flip(state: &str) -> String {
    let first = if state.starts_with('0') { '1' } else { '0' };
    std::iter::once(first)
        .chain(state.chars().skip(1))
        .collect()
}

fn expect(held: bool, rule: &str) -> Result<(), Box<dyn Error>> {
    match held {
        true => Ok(()),
        false => Err(format!("this went wrong: {rule}").into()),
    }
}

fn say(what: &str, value: &str) {
    println!("{what} {value}");
}

fn step(number: u8, text: &str) {
    println!("\n{number}. {text}");
}

/// Prints both messages, without the metadata every request carries.
fn show(exchange: &Exchange) {
    let brief = |message: &Value| {
        let mut message = message.clone();
        for part in ["params", "result"] {
            if let Some(members) = message.get_mut(part).and_then(Value::as_object_mut) {
                members.shift_remove("_meta");
            }
        }
        message
    };
    println!("    -> {}", brief(&exchange.request));
    println!("    <- {} {}", exchange.status, brief(&exchange.response));
}
