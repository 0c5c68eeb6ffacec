//! The example as a client runs it.

use std::{process::Command, sync::Arc};

use antiphon::{
    Client, Stdio,
    client::{Era, GetPrompt},
    testing::Script,
    types::Version,
};
use serde_json::json;
use tokio::sync::Barrier;

#[tokio::test]
async fn a_prompt_asks_over_stdio() {
    let inn = Stdio::spawn(Command::new(env!("CARGO_BIN_EXE_resolvers")));
    let played = Script::new()
        .accept("place", json!({ "place": "garden" }))
        .play(inn, GetPrompt::new("invitation", json!({ "guests": "4" })))
        .await;
    assert!(played.text().ends_with("who meet at the inn (Garden)."));
}

/// Clients of older revisions are asked the same, in one round.
#[tokio::test]
async fn older_clients_are_asked_while_their_call_waits() {
    for version in [Version::V2025_11_25, Version::V2025_06_18] {
        // Who answers waits until both are asked.
        let together = Arc::new(Barrier::new(2));
        let client = Client::new("older", "1.0").era(Era::Pinned(version));
        let client = client.on_form(move |form| {
            let together = together.clone();
            async move {
                together.wait().await;
                match form.requested_schema.property("place") {
                    Some(_) => form.accept(json!({ "place": "inside" })),
                    None => form.accept(json!({ "deposit": true })),
                }
            }
        });
        let inn = Stdio::spawn(Command::new(env!("CARGO_BIN_EXE_resolvers")));
        let inn = client.connect(inn).await.expect("connected");
        let table = inn.call_tool("reserve", json!({ "guests": 9 })).await;
        let table = table.expect("a result");
        assert_eq!(table.first_text(), Some("A table for 9, Inside, paid for."));
    }
    let client = Client::new("older", "1.0").era(Era::Legacy);
    let client = client.on_form(|form| async move { form.decline() });
    let inn = Stdio::spawn(Command::new(env!("CARGO_BIN_EXE_resolvers")));
    let inn = client.connect(inn).await.expect("connected");
    let table = inn.call_tool("reserve", json!({ "guests": 40 })).await;
    let table = table.expect("a result");
    assert_eq!(table.first_text(), Some("No table was reserved."));
    // A prompt has no result that could say so.
    let invitation = inn.get_prompt("invitation", json!({ "guests": "4" })).await;
    let error = invitation.expect_err("declined").to_string();
    assert!(error.contains("declined to answer `place"), "{error}");
}
