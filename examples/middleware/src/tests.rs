//! What clients see through the layers.

use antiphon_tests::{
    call,
    http::{Server, post},
};
use serde_json::{Value, json};

async fn start() -> Server {
    Server::start(antiphon::http::service(super::server())).await
}

/// The tool's text, and whether it says that it failed.
fn told(answer: &Value) -> (&str, bool) {
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().expect("a text");
    (text, result["isError"] == true)
}

async fn call_plainly(casino: &Server, tool: &str) -> Value {
    let answer = casino.post(&call(1, tool, json!({}))).await;
    answer.last().clone()
}

#[tokio::test]
async fn only_one_tool_needs_a_sign_in() {
    let casino = start().await;
    let stranger = call_plainly(&casino, "account").await;
    let (text, failed) = told(&stranger);
    assert!(failed && text.starts_with("Sign in first"), "{text}");
    assert_eq!(told(&call_plainly(&casino, "roll").await), ("4", false));

    let mut request = post(&call(1, "account", json!({})));
    let key = "ada-key".parse().expect("a header");
    request.headers_mut().insert("x-key", key);
    let known = casino.send(request).await;
    assert_eq!(told(known.last()), ("Ada has 12 coins.", false));
}

#[tokio::test]
async fn the_third_roll_is_one_too_many() {
    let casino = start().await;
    let mut rolls = Vec::new();
    for _ in 0..3 {
        rolls.push(call_plainly(&casino, "roll").await);
    }
    let [Ok("4"), Ok("4"), Err(refusal)] = [0, 1, 2].map(|at| match told(&rolls[at]) {
        (text, false) => Ok(text),
        (text, true) => Err(text),
    }) else {
        panic!("{rolls:?}");
    };
    assert!(refusal.starts_with("Too many calls"), "{refusal}");
}

#[tokio::test]
async fn what_takes_too_long_is_given_up() {
    let casino = start().await;
    let late = call_plainly(&casino, "ponder").await;
    assert_eq!(told(&late), ("This took longer than 100ms.", true));
}

#[tokio::test]
async fn every_ending_is_counted() {
    let casino = start().await;
    for tool in ["roll", "roll", "roll", "account", "ponder"] {
        call_plainly(&casino, tool).await;
    }
    let counts = call_plainly(&casino, "metrics").await;
    assert_eq!(
        counts["result"]["structuredContent"],
        json!({ "account Failed": 1, "ponder Failed": 1, "roll Complete": 2, "roll Failed": 1 })
    );
}
