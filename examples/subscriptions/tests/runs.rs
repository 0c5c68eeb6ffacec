//! What a client that listens sees of the example.

use std::process::Command;

use antiphon::{
    Client, Stdio,
    client::{Change, Era},
    types::{SubscriptionFilter, Version},
};
use antiphon_tests::{call, request, wire::Connection};
use serde_json::{Value, json};

const TEMPERATURE: &str = "room://temperature";

fn listen(uris: &[&str]) -> Value {
    let filter = json!({ "resourceSubscriptions": uris });
    request(
        "l",
        "subscriptions/listen",
        json!({ "notifications": filter }),
    )
}

async fn temperature(room: &mut Connection) -> String {
    let read = request("r", "resources/read", json!({ "uri": TEMPERATURE }));
    let read = room.ask(&read).await;
    let text = &read.result()["contents"][0]["text"];
    text.as_str().expect("a text").to_owned()
}

#[tokio::test]
async fn a_change_is_announced_and_can_be_read() {
    let mut room = Connection::stdio(env!("CARGO_BIN_EXE_subscriptions"), &[]);
    room.send(&listen(&[TEMPERATURE, "room://colour"])).await;
    let acknowledged = room.receive().await.expect("an acknowledgment");
    // Nobody can watch what is not there.
    let honoured = &acknowledged["params"]["notifications"];
    assert_eq!(honoured["resourceSubscriptions"], json!([TEMPERATURE]));

    assert_eq!(temperature(&mut room).await, "20 °C");
    let set = room.ask(&call(1, "set", json!({ "celsius": 21 }))).await;
    assert_eq!(set.text(), "It will be 21 °C soon.");
    let told = match set.notifications.into_iter().next() {
        Some(early) => early,
        None => room.receive().await.expect("a notification"),
    };
    assert_eq!(told["method"], "notifications/resources/updated");
    assert_eq!(told["params"]["uri"], TEMPERATURE);
    assert_eq!(temperature(&mut room).await, "21 °C");
}

/// With `resources/subscribe`, which is what older revisions have.
#[tokio::test]
async fn an_older_client_subscribes_to_it() {
    for version in Version::LEGACY {
        let client = Client::new("older", "1.0").era(Era::Pinned(*version));
        let room = Stdio::spawn(Command::new(env!("CARGO_BIN_EXE_subscriptions")));
        let room = client.connect(room).await.expect("connected");
        let filter = SubscriptionFilter {
            resource_subscriptions: Some(vec![TEMPERATURE.to_owned()]),
            ..SubscriptionFilter::default()
        };
        let mut changes = room.listen(filter).await.expect("a subscription");
        let set = room.call_tool("set", json!({ "celsius": 21 })).await;
        let set = set.expect("a result");
        assert_eq!(set.first_text(), Some("It will be 21 °C soon."));
        let change = changes.next().await.expect("a change").expect("not lost");
        assert_eq!(change, Change::Resource(TEMPERATURE.to_owned()));
        let read = room.read_resource(TEMPERATURE).await.expect("contents");
        let read = serde_json::to_value(&read.contents).expect("JSON");
        assert_eq!(read[0]["text"], "21 °C", "{version}");
    }
}
