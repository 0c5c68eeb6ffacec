//! What a client sees of the example.

use std::process::Command;

use antiphon::{
    Client, Stdio,
    client::Era,
    types::{CompleteArgument, CompleteRequestParams, Reference, Version},
};
use antiphon_tests::{request, wire::Connection};
use serde_json::{Value, json};

fn open() -> Connection {
    Connection::stdio(env!("CARGO_BIN_EXE_prompts"), &[])
}

fn get(arguments: Value) -> Value {
    let mut params = json!({ "name": "review" });
    params["arguments"] = arguments;
    request(1, "prompts/get", params)
}

async fn complete(library: &mut Connection, name: &str, typed: &str, known: Value) -> Value {
    let params = json!({
        "ref": { "type": "ref/prompt", "name": "review" },
        "argument": { "name": name, "value": typed },
        "context": { "arguments": known },
    });
    let answer = library
        .ask(&request(1, "completion/complete", params))
        .await;
    answer.result()["completion"]["values"].clone()
}

#[tokio::test]
async fn the_arguments_are_listed() {
    let list = open().ask(&request(1, "prompts/list", json!({}))).await;
    let review = &list.result()["prompts"][0];
    assert_eq!(review["description"], "Ask for a review of a book.");
    let arguments = review["arguments"].as_array().expect("arguments").iter();
    let arguments: Vec<_> = arguments
        .map(|argument| {
            (
                argument["name"].as_str().expect("a name"),
                argument["required"] == true,
            )
        })
        .collect();
    assert_eq!(
        arguments,
        [
            ("author", true),
            ("title", true),
            ("tone", true),
            ("language", false),
            ("words", false)
        ]
    );
}

#[tokio::test]
async fn strings_become_what_the_handler_takes() {
    let arguments = json!({ "author": "Austen", "title": "Emma", "tone": "harsh", "words": "50" });
    let review = open().ask(&get(arguments)).await;
    let messages = &review.result()["messages"];
    assert_eq!(messages[0]["role"], "assistant");
    assert_eq!(
        messages[1]["content"]["text"],
        "Emma by Austen, in at most 50 words of English. You regret every page."
    );
}

#[tokio::test]
async fn what_does_not_fit_is_named() {
    let good = json!({ "author": "Austen", "title": "Emma", "tone": "harsh" });
    let mut library = open();
    assert_eq!(library.ask(&get(good.clone())).await.code(), 0);
    for (name, value) in [
        ("words", json!("many")),
        ("words", json!("-5")),
        ("tone", json!("loud")),
        ("title", Value::Null),
    ] {
        let mut arguments = good.clone();
        match &value {
            Value::Null => drop(arguments.as_object_mut().expect("an object").remove(name)),
            value => arguments[name] = value.clone(),
        }
        let refused = library.ask(&get(arguments)).await;
        assert_eq!(refused.code(), -32602, "{name}: {value}");
        let message = refused.response["error"]["message"].as_str();
        let message = message.expect("a message");
        assert!(message.contains(name), "{name}: {message}");
    }
}

#[tokio::test]
async fn every_argument_is_completed_in_its_own_way() {
    let mut library = open();
    for (name, typed, known, values) in [
        // A handler, with the state; and one that looks at what is known.
        ("author", "", json!({}), json!(["Austen", "Shelley"])),
        ("author", "Sh", json!({}), json!(["Shelley"])),
        (
            "title",
            "",
            json!({ "author": "Austen" }),
            json!(["Emma", "Persuasion"]),
        ),
        ("title", "Fr", json!({}), json!(["Frankenstein"])),
        // A fixed set, in whatever case.
        ("language", "g", json!({}), json!(["German"])),
        // An enum.
        (
            "tone",
            "",
            json!({}),
            json!(["friendly", "harsh", "neutral"]),
        ),
        ("tone", "n", json!({}), json!(["neutral"])),
        // Nothing.
        ("words", "1", json!({}), json!([])),
    ] {
        let completed = complete(&mut library, name, typed, known).await;
        assert_eq!(completed, values, "{name} {typed}");
    }
}

/// Clients of older revisions get the same text, and the same completions.
#[tokio::test]
async fn an_older_client_gets_the_same_prompt() {
    for version in Version::LEGACY {
        let client = Client::new("older", "1.0").era(Era::Pinned(*version));
        let library = Stdio::spawn(Command::new(env!("CARGO_BIN_EXE_prompts")));
        let library = client.connect(library).await.expect("connected");
        let emma = json!({ "author": "Austen", "title": "Emma", "tone": "harsh", "words": "50" });
        let review = library.get_prompt("review", emma).await.expect("a prompt");
        let message = serde_json::to_value(&review.messages[1]).expect("JSON");
        assert_eq!(
            message["content"]["text"],
            "Emma by Austen, in at most 50 words of English. You regret every page."
        );
        let loud = json!({ "author": "Austen", "title": "Emma", "tone": "loud" });
        let error = library.get_prompt("review", loud).await;
        assert_eq!(error.expect_err("no such tone").code(), Some(-32602));
        let typed = CompleteArgument::new("language", "g");
        let params = CompleteRequestParams::new(Reference::prompt("review"), typed);
        let completed = library.complete(params).await.expect("a completion");
        assert_eq!(completed.completion.values, ["German"], "{version}");
    }
}
