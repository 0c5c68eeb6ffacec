//! Two processes, and a file between them.

use std::{
    path::Path,
    process::{Command, Output},
};

use antiphon::{
    Client, Kind, Stdio,
    client::{CallTool, Connection, Era, ErrorKind},
    types::Version,
};
use serde_json::json;

fn run(key: Option<char>, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_paused"));
    command.args(words).env_remove("SHOP_KEYS");
    if let Some(digit) = key {
        let key = digit.to_string().repeat(64);
        command.env("SHOP_KEYS", format!("hex:{key}"));
    }
    command.output().expect("it runs")
}

fn paused(words: &[&str]) -> String {
    let output = run(Some('a'), words);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let errors = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{text}{errors}");
    text
}

#[test]
fn one_process_asks_and_another_answers() {
    for (word, outcome) in [("yes", "Ordered Dune."), ("no", "Nothing was ordered.")] {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{word}.json"));
        let path = file.to_str().expect("UTF-8");
        let text = paused(&["start", path]);
        assert!(text.contains("paused serve asks `confirm`"), "{text}");
        assert!(text.contains("Order Dune?"), "{text}");
        assert!(file.exists());
        assert_eq!(paused(&["answer", path, word]).trim(), outcome);
        assert!(!file.exists());
    }
}

#[test]
fn nothing_goes_on_under_another_key() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lost.json");
    let path = file.to_str().expect("UTF-8");
    paused(&["start", path]);
    let output = run(Some('b'), &["answer", path, "yes"]);
    let errors = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(!output.status.success());
    assert!(
        errors.contains("Invalid or expired requestState"),
        "{errors}"
    );
    assert_eq!(paused(&["answer", path, "yes"]).trim(), "Ordered Dune.");

    let output = run(None, &["start", path]);
    let errors = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(
        errors.contains("the variable SHOP_KEYS: not set"),
        "{errors}"
    );
}

/// Connects to the server of the example.
async fn connect(client: &Client) -> Connection {
    let mut serve = Command::new(env!("CARGO_BIN_EXE_paused"));
    let key = format!("hex:{}", "a".repeat(64));
    serve.arg("serve").env("SHOP_KEYS", key);
    let connection = client.connect(Stdio::spawn(serve)).await;
    connection.expect("connected")
}

/// An older revision has no calls that could be stored: whoever wants to is told so, and what to do
/// instead, which works.
#[tokio::test]
async fn an_older_session_pauses_nothing() {
    for version in [Version::V2025_11_25, Version::V2025_06_18] {
        let client = Client::new("older", "1.0").era(Era::Pinned(version));
        let by_hand = connect(&client.clone().by_hand([Kind::Form])).await;
        let dune = || CallTool::new("order", json!({ "title": "Dune" }));
        let error = by_hand.start(dune()).await.expect_err("not pausable");
        assert!(
            matches!(error.kind(), ErrorKind::NotPausable { .. }),
            "{error}"
        );
        let told = error.to_string();
        let why = format!("a call in revision {version} cannot be paused");
        assert!(told.contains(&why), "{told}");
        assert!(told.contains("`Client::on_form`"), "{told}");

        let yes = client.on_form(|form| async move { form.accept(json!({ "approve": true })) });
        let result = connect(&yes).await.call(dune()).await.expect("a result");
        assert_eq!(result.first_text(), Some("Ordered Dune."));
    }
}
