//! What a client sees of the example.

use std::process::Command;

use antiphon::{Client, Stdio, client::Era, types::Version};
use antiphon_tests::{call, request, wire::Connection};
use serde_json::{Value, json};

fn open() -> Connection {
    Connection::stdio(env!("CARGO_BIN_EXE_structured"), &[])
}

fn place(name: &str, latitude: f64, longitude: f64) -> Value {
    json!({ "name": name, "latitude": latitude, "longitude": longitude })
}

#[tokio::test]
async fn the_result_has_the_structure_that_was_promised() {
    let mut walks = open();
    let tools = walks.ask(&request(1, "tools/list", json!({}))).await;
    let promised = &tools.result()["tools"][0]["outputSchema"];
    assert_eq!(promised["required"], json!(["legs", "hours"]));

    let stops = [place("Pier", 50.0, 8.0), place("Mill", 50.1, 8.0)];
    let walk = walks
        .ask(&call(2, "plan", json!({ "stops": stops, "speed": 4 })))
        .await;
    let structured = &walk.result()["structuredContent"];
    assert_eq!(structured["legs"][0]["to"], "Mill");
    let hours = structured["hours"].as_f64().expect("a number");
    assert!((2.7..2.9).contains(&hours), "{hours}");
    // The same, for clients that read only text.
    let text: Value = serde_json::from_str(walk.text()).expect("JSON");
    assert_eq!(text, *structured);
}

#[tokio::test]
async fn what_does_not_fit_is_named() {
    let stops = [place("Pier", 50.0, 8.0), place("", 95.0, 8.0)];
    let arguments = json!({ "stops": stops, "speed": 40 });
    let refused = open().ask(&call(1, "plan", arguments)).await;
    assert_eq!(refused.result()["isError"], true);
    for path in ["stops[1].name", "stops[1].latitude", "speed"] {
        assert!(
            refused.text().contains(path),
            "{path} in {}",
            refused.text()
        );
    }
    assert!(!refused.text().contains("stops[0]"), "{}", refused.text());
}

#[tokio::test]
async fn a_failure_is_told_to_the_model() {
    let stops = [place("Pier", 50.0, 8.0), place("Far", 52.0, 8.0)];
    let failed = open()
        .ask(&call(1, "plan", json!({ "stops": stops })))
        .await;
    assert_eq!(failed.result()["isError"], true);
    assert!(failed.text().contains("100 km"), "{}", failed.text());
}

/// Before 2025-06-18 there is only text, which says the same.
#[tokio::test]
async fn an_older_client_gets_what_its_revision_has() {
    let stops = [place("Pier", 50.0, 8.0), place("Mill", 50.1, 8.0)];
    for version in Version::LEGACY {
        let client = Client::new("older", "1.0").era(Era::Pinned(*version));
        let walks = Stdio::spawn(Command::new(env!("CARGO_BIN_EXE_structured")));
        let walks = client.connect(walks).await.expect("connected");
        let tools = walks.tools().all().await.expect("tools");
        let plan = json!({ "stops": stops, "speed": 4 });
        let walk = walks.call_tool("plan", plan).await.expect("a result");
        let text: Value = serde_json::from_str(walk.first_text().expect("a text")).expect("JSON");
        assert_eq!(text["legs"][0]["to"], "Mill");
        let structured = *version >= Version::V2025_06_18;
        assert_eq!(walk.structured_content, structured.then_some(text));
        assert_eq!(tools[0].output_schema.is_some(), structured, "{version}");
    }
}
