//! What a client sees of the example.

use std::process::Command;

use antiphon::{Client, Stdio, client::Era, types::Version};
use antiphon_tests::{
    request,
    wire::{Connection, Exchange},
};
use serde_json::json;

fn open() -> Connection {
    Connection::stdio(env!("CARGO_BIN_EXE_templates"), &[])
}

async fn read(garden: &mut Connection, uri: &str) -> Exchange {
    garden
        .ask(&request(1, "resources/read", json!({ "uri": uri })))
        .await
}

#[tokio::test]
async fn every_resource_that_is_listed_can_be_read() {
    let mut garden = open();
    let list = garden.ask(&request(1, "resources/list", json!({}))).await;
    let list = list.result()["resources"]
        .as_array()
        .expect("resources")
        .clone();
    let names: Vec<_> = list
        .iter()
        .map(|one| one["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["bean", "basil", "chive"]);
    let mut weeks = Vec::new();
    for resource in &list {
        let plant = read(&mut garden, resource["uri"].as_str().expect("a URI")).await;
        let contents = &plant.result()["contents"][0];
        assert_eq!(contents["uri"], resource["uri"]);
        assert_eq!(contents["mimeType"], "application/json");
        weeks.push(contents["text"].as_str().expect("JSON").to_owned());
    }
    let weeks_to_harvest = |weeks| format!(r#"{{"weeks_to_harvest":{weeks}}}"#);
    assert_eq!(weeks, [9, 3, 5].map(weeks_to_harvest));
}

#[tokio::test]
async fn the_templates_are_listed() {
    let list = open()
        .ask(&request(1, "resources/templates/list", json!({})))
        .await;
    let templates = list.result()["resourceTemplates"]
        .as_array()
        .expect("templates");
    let uris: Vec<_> = templates
        .iter()
        .map(|one| one["uriTemplate"].as_str())
        .collect();
    assert_eq!(
        uris,
        [
            Some("garden://beds/{bed}/plants/{plant}"),
            Some("garden://calendar/{month}{?brief}")
        ]
    );
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let mut garden = open();
    for uri in [
        "garden://beds/9/plants/basil",
        "garden://beds/2/plants/rose",
        "garden://shed",
    ] {
        let missing = read(&mut garden, uri).await;
        assert_eq!(missing.code(), -32602, "{uri}");
        assert_eq!(missing.response["error"]["data"]["uri"], uri);
    }
}

#[tokio::test]
async fn a_variable_of_the_wrong_type_is_named() {
    let mut garden = open();
    for (uri, name) in [
        ("garden://beds/two/plants/basil", "bed"),
        ("garden://beds/300/plants/basil", "bed"),
        ("garden://beds/-1/plants/basil", "bed"),
        ("garden://calendar/august", "month"),
        ("garden://calendar/may?brief=perhaps", "brief"),
    ] {
        let refused = read(&mut garden, uri).await;
        assert_eq!(refused.code(), -32602, "{uri}");
        let message = refused.response["error"]["message"].as_str();
        assert!(
            message.expect("a message").contains(name),
            "{uri}: {message:?}"
        );
    }
}

#[tokio::test]
async fn a_query_is_a_variable() {
    let mut garden = open();
    for (uri, text) in [
        ("garden://calendar/may", "Sow beans, water basil."),
        ("garden://calendar/may?brief=true", "Water."),
        (
            "garden://calendar/june?brief=false",
            "Pick strawberries, water everything.",
        ),
    ] {
        let calendar = read(&mut garden, uri).await;
        assert_eq!(calendar.result()["contents"][0]["text"], text, "{uri}");
    }
}

#[tokio::test]
async fn variables_are_completed() {
    let mut garden = open();
    for (uri, variable, typed, values) in [
        (
            "garden://beds/{bed}/plants/{plant}",
            "bed",
            "",
            json!(["1", "2"]),
        ),
        (
            "garden://calendar/{month}{?brief}",
            "month",
            "j",
            json!(["june"]),
        ),
    ] {
        let params = json!({
            "ref": { "type": "ref/resource", "uri": uri },
            "argument": { "name": variable, "value": typed },
        });
        let answer = garden.ask(&request(1, "completion/complete", params)).await;
        assert_eq!(
            answer.result()["completion"]["values"],
            values,
            "{variable}"
        );
    }
}

/// What is not there has another code in older revisions.
#[tokio::test]
async fn an_older_client_reads_the_same() {
    for version in Version::LEGACY {
        let client = Client::new("older", "1.0").era(Era::Pinned(*version));
        let garden = Stdio::spawn(Command::new(env!("CARGO_BIN_EXE_templates")));
        let garden = client.connect(garden).await.expect("connected");
        let templates = garden.resource_templates().all().await.expect("templates");
        assert_eq!(templates.len(), 2);
        let basil = garden.read_resource("garden://beds/2/plants/basil").await;
        let basil = serde_json::to_value(&basil.expect("contents").contents).expect("JSON");
        assert_eq!(basil[0]["text"], r#"{"weeks_to_harvest":3}"#);
        let missing = garden.read_resource("garden://beds/9/plants/basil").await;
        let missing = missing.expect_err("no such bed");
        assert_eq!(missing.code(), Some(-32002), "{version}");
        assert!(missing.is_not_found());
        let refused = garden.read_resource("garden://beds/two/plants/basil").await;
        let refused = refused.expect_err("no number");
        assert_eq!(refused.code(), Some(-32602), "{version}");
    }
}
