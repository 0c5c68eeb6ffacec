//! What a client sees of the example.

use std::{fs, path::PathBuf, process::Command};

use antiphon::{
    Client, Stdio,
    client::{Change, Era},
    types::{SubscriptionFilter, Version},
};
use antiphon_tests::{call, request, wire::Connection};
use serde_json::{Map, Value, json};

const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tools.json");

fn open(tools: &str) -> Connection {
    Connection::stdio(env!("CARGO_BIN_EXE_dynamic"), &[tools])
}

/// A file of this test's own.
fn file(name: &str, tools: &Value) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, tools.to_string()).expect("written");
    path
}

fn tool(text: &str) -> Value {
    json!({ "description": "Says something.", "schema": { "type": "object" }, "text": text })
}

async fn list(dynamic: &mut Connection) -> Vec<String> {
    let mut names = Vec::new();
    let mut params = json!({});
    loop {
        let page = dynamic.ask(&request(1, "tools/list", params)).await;
        let tools = page.result()["tools"].as_array().expect("tools");
        names.extend(
            tools
                .iter()
                .map(|tool| tool["name"].as_str().expect("a name").to_owned()),
        );
        match page.result().get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return names,
        }
    }
}

#[tokio::test]
async fn the_file_says_what_the_tools_are() {
    let mut dynamic = open(SHIPPED);
    assert_eq!(list(&mut dynamic).await, ["greet", "motto", "reload"]);
    // A value in braces stays a value.
    let greeting = dynamic
        .ask(&call(1, "greet", json!({ "name": "{name}" })))
        .await;
    assert_eq!(greeting.text(), "Good day, {name}!");
    let nobody = dynamic.ask(&call(2, "greet", json!({}))).await;
    assert_eq!(nobody.result()["isError"], true);
    let wrong = dynamic.ask(&call(3, "greet", json!({ "name": 7 }))).await;
    assert!(wrong.text().contains("`name`"), "{}", wrong.text());
    let unknown = dynamic.ask(&call(4, "leave", json!({}))).await;
    assert_eq!(unknown.code(), -32602);
}

#[tokio::test]
async fn a_long_list_comes_in_pages() {
    let names = (0..120).map(|number| format!("tool-{number:03}"));
    let tools: Map<String, Value> = names.map(|name| (name, tool("Yes."))).collect();
    let mut dynamic = open(file("long.json", &tools.into()).to_str().expect("UTF-8"));
    let first = dynamic.ask(&request(1, "tools/list", json!({}))).await;
    assert_eq!(first.result()["tools"].as_array().expect("tools").len(), 50);
    assert_eq!(list(&mut dynamic).await.len(), 121);
}

#[tokio::test]
async fn a_new_file_is_announced() {
    let path = file("changing.json", &json!({ "ask": tool("Why?") }));
    let mut dynamic = open(path.to_str().expect("UTF-8"));
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    dynamic
        .send(&request("l", "subscriptions/listen", filter))
        .await;
    dynamic.receive().await.expect("an acknowledgment");

    file(
        "changing.json",
        &json!({ "ask": tool("Why?"), "tell": tool("So.") }),
    );
    let reload = dynamic.ask(&call(1, "reload", json!({}))).await;
    assert_eq!(reload.text(), "There are 3 tools now.");
    let told = match reload.notifications.into_iter().next() {
        Some(early) => early,
        None => dynamic.receive().await.expect("a notification"),
    };
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(list(&mut dynamic).await, ["ask", "reload", "tell"]);

    // A file that cannot be read changes nothing.
    fs::write(&path, "{").expect("written");
    let failed = dynamic.ask(&call(2, "reload", json!({}))).await;
    assert_eq!(failed.result()["isError"], true);
    assert_eq!(list(&mut dynamic).await, ["ask", "reload", "tell"]);
}

/// Clients of older revisions are told of a new file unasked.
#[tokio::test]
async fn an_older_client_sees_the_same_tools() {
    for version in Version::LEGACY {
        let one = json!({ "ask": tool("Why?") });
        let path = file(&format!("older-{version}.json"), &one);
        let mut command = Command::new(env!("CARGO_BIN_EXE_dynamic"));
        command.arg(&path);
        let client = Client::new("older", "1.0").era(Era::Pinned(*version));
        let dynamic = client.connect(Stdio::spawn(command)).await;
        let dynamic = dynamic.expect("connected");
        let lists = SubscriptionFilter {
            tools_list_changed: Some(true),
            ..SubscriptionFilter::default()
        };
        let mut changes = dynamic.listen(lists).await.expect("a subscription");
        let answer = dynamic.call_tool("ask", ()).await.expect("a result");
        assert_eq!(answer.first_text(), Some("Why?"));

        let two = json!({ "ask": tool("Why?"), "tell": tool("So.") });
        file(&format!("older-{version}.json"), &two);
        let reload = dynamic.call_tool("reload", ()).await.expect("a result");
        assert_eq!(reload.first_text(), Some("There are 3 tools now."));
        let change = changes.next().await.expect("a change").expect("not lost");
        assert_eq!(change, Change::Tools);
        let tools = dynamic.tools().all().await.expect("tools");
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["ask", "reload", "tell"], "{version}");
    }
}
