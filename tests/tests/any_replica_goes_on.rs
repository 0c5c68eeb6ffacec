//! A call that asks, each round of it on another server with the same keys.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use antiphon::{
    Ask, Form, Server, State, Stop,
    link::Handle,
    sealing::{Key, Sealing},
    store::MemoryStore,
};
use antiphon_tests::{
    asking::{retry, state_of},
    call,
    wire::Connection,
};
use serde_json::{Value, json};

#[derive(Form)]
struct Name {
    name: String,
}

type Effects = Arc<AtomicU32>;

async fn wizard(State(effects): State<Effects>, ask: Ask) -> Result<String, Stop> {
    let (first, last) = (
        ask.form::<Name>("first", "First?"),
        ask.form::<Name>("last", "Last?"),
    );
    let (first, last) = (first?.name, last?.name);
    let number: u32 = ask
        .once(
            "effect",
            async || Ok(effects.fetch_add(1, Ordering::SeqCst)),
        )
        .await?;
    let Name { name: nick } = ask.form("nick", format!("{first} {last}, number {number}?"))?;
    let Name { name: sure } = ask.form("sure", "Sure?")?;
    let (key, handle): (String, Handle) = (ask.idempotency_key("k"), ask.handle("h"));
    Ok(format!(
        "{first} {last} {nick} {sure} {number} {key} {handle}"
    ))
}

async fn identity(ask: Ask) -> Result<String, Stop> {
    let _: Name = ask.form(
        "name",
        format!("{} {}", ask.idempotency_key("k"), ask.handle("h")),
    )?;
    Ok(format!("{} {}", ask.idempotency_key("k"), ask.handle("h")))
}

fn key(byte: u8) -> Key {
    Key::new(&[byte; 32]).expect("long enough")
}

/// A server of its own, which shares nothing but the keys, the guard and the effects.
fn replica(keys: &[u8], store: &Arc<MemoryStore>, effects: &Effects) -> Connection {
    let keys: Vec<_> = keys.iter().copied().map(key).collect();
    let sealing = Sealing::keys(keys)
        .audience("wizard")
        .single_use(store.clone());
    let server = Server::new("wizard", "1.0")
        .tool("wizard", wizard)
        .tool("identity", identity)
        .sealing(sealing)
        .with_state(effects.clone());
    Connection::memory(server)
}

fn said(name: &str) -> Value {
    json!({ "action": "accept", "content": { "name": name } })
}

#[tokio::test]
async fn every_round_may_be_served_by_another_with_the_same_keys() {
    let (store, effects) = (Arc::<MemoryStore>::default(), Effects::default());
    let first = call(1, "wizard", json!({}));
    let mut state = {
        let asked = replica(&[1], &store, &effects).ask(&first).await;
        state_of(asked.result())
    };
    for (keys, answers) in [
        // One answer is missing, then both are there; keys are rotated meanwhile.
        (&[1, 2][..], json!({ "first": said("Ada") })),
        (&[2, 1], json!({ "last": said("Lovelace") })),
        (&[2, 1], json!({ "nick": said("A"), "last": said("Byron") })),
    ] {
        let asked = replica(keys, &store, &effects)
            .ask(&retry(&first, &state, answers))
            .await;
        state = state_of(asked.result());
    }
    let last = retry(&first, &state, json!({ "sure": said("yes") }));
    let done = replica(&[2], &store, &effects).ask(&last).await;
    let text = done.text().to_owned();
    assert!(text.starts_with("Ada Lovelace A yes 0 "), "{text}");
    assert_eq!(effects.load(Ordering::SeqCst), 1);
    // The same again is told again, by any of them.
    let again = replica(&[2], &store, &effects).ask(&last).await;
    assert_eq!(again.text(), text);
    assert_eq!(effects.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn handles_and_keys_of_a_call_are_the_same_everywhere() {
    let (store, effects) = (Arc::<MemoryStore>::default(), Effects::default());
    let first = call(1, "identity", json!({}));
    let asked = replica(&[1], &store, &effects).ask(&first).await;
    let message = asked.result()["inputRequests"]["name"]["params"]["message"].clone();
    let state = state_of(asked.result());
    let retried = retry(&first, &state, json!({ "name": said("x") }));
    let done = replica(&[2, 1], &store, &effects).ask(&retried).await;
    assert_eq!(message, done.text());
}
