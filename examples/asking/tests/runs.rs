//! The example as a client runs it.

use std::process::Command;

use antiphon::{
    Client, Stdio,
    client::{CallTool, Era},
    testing::Script,
    types::Version,
};
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

/// A client of an older revision is asked while its call waits; one of a revision without forms is
/// told why it is not.
#[tokio::test]
async fn it_asks_clients_of_older_revisions() {
    for version in Version::LEGACY {
        let client = Client::new("older", "1.0")
            .era(Era::Pinned(*version))
            .on_form(|form| async move {
                match form.requested_schema.property("confirm") {
                    None => form.accept(json!({ "edition": "hard", "copies": 1 })),
                    Some(_) if form.message.contains("for 30?") => {
                        form.accept(json!({ "confirm": true }))
                    }
                    Some(_) => form.decline(),
                }
            });
        let shop = Stdio::spawn(Command::new(env!("CARGO_BIN_EXE_asking")));
        let shop = client.connect(shop).await.expect("connected");
        let emma = json!({ "title": "Emma" });
        let result = shop.call_tool("order", emma).await.expect("a result");
        let text = result.first_text().expect("a text");
        match *version >= Version::V2025_06_18 {
            true => assert_eq!(text, "Ordered 1 of Emma (Hard), order 1."),
            false => assert!(text.contains("cannot be asked for a form"), "{text}"),
        }
    }
}
