//! The example as a client runs it.

use std::process::Command;

use antiphon::{Stdio, client::GetPrompt, testing::Script};
use serde_json::json;

#[tokio::test]
async fn a_prompt_asks_over_stdio() {
    let inn = Stdio::spawn(Command::new(env!("CARGO_BIN_EXE_resolvers")));
    let played = Script::new()
        .accept("place", json!({ "place": "garden" }))
        .play(inn, GetPrompt::new("invitation", json!({ "guests": "4" })))
        .await;
    assert!(played.text().ends_with("who meet at the inn (Garden)."));
}
