//! The example as its user sees it.

#[path = "../src/travel.rs"]
mod travel;

use std::{
    io::Write,
    process::{Command, Stdio},
};

use antiphon::{
    Client,
    client::Era,
    memory,
    types::{Root, Version},
};
use serde_json::json;

fn play(input: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_callbacks"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(input.as_bytes()).expect("written");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn a_form_is_filled_in() {
    let text = play("3\n");
    assert!(
        text.contains("this process asks for `book`: How long in Oslo?"),
        "{text}"
    );
    assert!(
        text.contains("3 nights in Oslo; the ticket is in file:///"),
        "{text}"
    );
}

#[test]
fn defaults_stand_and_a_wrong_answer_comes_back() {
    assert!(play("\n").contains("2 nights in Oslo"));
    let text = play("99\n4\n");
    assert!(
        text.contains("not yet: nights: must be at most 14"),
        "{text}"
    );
    assert!(text.contains("4 nights in Oslo"), "{text}");
}

#[test]
fn declining_books_nothing() {
    assert!(play("no\n").contains("Nothing was booked."));
}

#[test]
fn silence_is_not_consent() {
    assert!(play("").contains("Nothing was booked."));
}

#[test]
fn what_was_mistyped_is_told() {
    for (words, told) in [
        (
            &["localhost:3000", "greet"][..],
            "it must begin with http://",
        ),
        (&["http://localhost:1/mcp"], "usage: callbacks"),
        (
            &["http://localhost:1/mcp", "greet", "x"],
            "ARGUMENTS must be a JSON object",
        ),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_callbacks"))
            .args(words)
            .output()
            .expect("it runs");
        let text = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(!output.status.success());
        assert!(
            text.starts_with("callbacks: ") && text.contains(told),
            "{text}"
        );
    }
}

/// What the user of a client of an older revision gets: the same, or why not.
#[tokio::test]
async fn the_same_callbacks_serve_in_older_sessions() {
    for version in Version::LEGACY {
        let client = Client::new("callbacks", "1.0").era(Era::Pinned(*version));
        // Before 2025-11-25 only what is yes or no has a default.
        let default = (*version >= Version::V2025_11_25).then(|| json!(2));
        let client = client
            .on_roots(|roots| async move { roots.list([Root::new("file:///home")]) })
            .on_form(move |form| {
                let expected = form.defaults().get("nights") == default.as_ref();
                async move {
                    // What does not fit comes back.
                    match form.errors() {
                        [] if expected => form.accept(json!({ "nights": 99 })),
                        [_] if expected => form.accept(json!({ "nights": 3 })),
                        _ => form.cancel(),
                    }
                }
            });
        let server = client.connect(memory(travel::server())).await;
        let server = server.expect("connected");
        let booked = server.call_tool("book", json!({ "city": "Oslo" })).await;
        let booked = booked.expect("a result");
        let text = booked.first_text().expect("a text");
        let said = match *version >= Version::V2025_06_18 {
            true => "3 nights in Oslo; the ticket is in file:///home.",
            false => "cannot be asked for a form to be filled in",
        };
        assert!(text.contains(said), "{version}: {text}");
    }
}
