//! The example as a client runs it.

use std::process::Command;

use antiphon::{Stdio, client::CallTool, testing::Script};
use serde_json::json;

#[tokio::test]
async fn it_asks_over_stdio() {
    let shop = Stdio::spawn(Command::new(env!("CARGO_BIN_EXE_asking")));
    let played = Script::new()
        .accept("edition", json!({ "edition": "hard", "copies": 1 }))
        .accept("confirm", json!({ "confirm": true }))
        .play(shop, CallTool::new("order", json!({ "title": "Emma" })))
        .await;
    assert_eq!(played.text(), "Ordered 1 of Emma (Hard), order 1.");
}
