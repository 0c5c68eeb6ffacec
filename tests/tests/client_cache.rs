//! What a client keeps of answers, and what it must not.

use antiphon::{
    Client,
    client::{Change, Connection, ReadResource},
    types::SubscriptionFilter,
};
use antiphon_tests::script::{Seen, asking, form, respond, script};
use serde_json::{Value, json};

fn client() -> Client {
    Client::new("tests", "1.0").on_form(|form| async move { form.accept(json!({ "ok": true })) })
}

fn contents(text: &str, ttl: i64) -> Value {
    json!({
        "resultType": "complete", "contents": [{ "uri": "x://y", "text": text }],
        "ttlMs": ttl, "cacheScope": "public",
    })
}

/// A server whose lists have two pages, and which counts the reads in its resources.
async fn connect(client: &Client) -> (Connection, Seen) {
    let reads = std::sync::atomic::AtomicU32::new(0);
    let (peer, seen) = script(move |request| {
        let params = &request["params"];
        let result = match request["method"].as_str().expect("a method") {
            "tools/list" => {
                let page = params["cursor"].as_str().map_or(1, |_| 2);
                let schema = json!({ "type": "object" });
                let mut result = json!({
                    "resultType": "complete", "ttlMs": 60_000, "cacheScope": "public",
                    "tools": [{ "name": format!("tool{page}"), "inputSchema": schema }],
                });
                if page == 1 {
                    // PAGE-C-03
                    result["nextCursor"] = "".into();
                }
                result
            }
            "resources/read" => {
                let read = reads.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                match (params["uri"].as_str(), params.get("inputResponses")) {
                    (Some("ask://x"), None) => {
                        let mut asked = asking([("k", form("?"))], Some("s"));
                        asked["ttlMs"] = 60_000.into();
                        asked["cacheScope"] = "public".into();
                        asked
                    }
                    (Some("short://x"), _) => contents(&read.to_string(), 0),
                    (Some("odd://x"), _) => contents(&read.to_string(), -5),
                    _ => contents(&read.to_string(), 60_000),
                }
            }
            "subscriptions/listen" => {
                let meta = json!({ "io.modelcontextprotocol/subscriptionId": request["id"] });
                let note = |method: &str, mut params: Value| {
                    params["_meta"] = meta.clone();
                    json!({ "jsonrpc": "2.0", "method": method, "params": params })
                };
                let wanted = &params["notifications"];
                return vec![
                    note(
                        "notifications/subscriptions/acknowledged",
                        json!({ "notifications": wanted }),
                    ),
                    note(
                        "notifications/resources/updated",
                        json!({ "uri": "long://x" }),
                    ),
                    note("notifications/tools/list_changed", json!({})),
                ];
            }
            other => panic!("{other}"),
        };
        vec![respond(request, &result)]
    });
    (client.connect(peer).await.expect("connected"), seen)
}

async fn read(connection: &Connection, uri: &str) -> String {
    let result = connection.read_resource(uri).await.expect("a resource");
    result.first_text().expect("a text").to_owned()
}

/// CACHE-C-01, CACHE-C-04, CACHE-C-05, CACHE-C-07
#[tokio::test]
async fn answers_are_used_again_while_they_are_fresh() {
    let (connection, seen) = connect(&client()).await;
    assert_eq!(
        read(&connection, "long://x").await,
        read(&connection, "long://x").await
    );
    assert_ne!(
        read(&connection, "long://x").await,
        read(&connection, "long://z").await
    );
    assert_ne!(
        read(&connection, "short://x").await,
        read(&connection, "short://x").await
    );
    assert_ne!(
        read(&connection, "odd://x").await,
        read(&connection, "odd://x").await
    );
    assert_eq!(seen.messages().len(), 6);
    connection.forget();
    read(&connection, "long://x").await;
    assert_eq!(seen.messages().len(), 7);
    let fresh = ReadResource::new("long://x").fresh();
    let fresh = connection.call(fresh).await.expect("a resource");
    assert_eq!(
        fresh.first_text(),
        Some(&*read(&connection, "long://x").await)
    );
    assert_eq!(seen.messages().len(), 8);
    let (connection, seen) = connect(&client().no_cache()).await;
    assert_ne!(
        read(&connection, "long://x").await,
        read(&connection, "long://x").await
    );
    assert_eq!(seen.messages().len(), 2);
}

/// MRTR-C-14, CACHE-C-02, CACHE-C-03, elsewhere.md: neither the questions nor what came of the
/// answers, whatever the server says about keeping it.
#[tokio::test]
async fn what_came_of_answers_is_not_kept() {
    let (connection, seen) = connect(&client()).await;
    let (first, second) = (
        read(&connection, "ask://x").await,
        read(&connection, "ask://x").await,
    );
    assert_ne!(first, second);
    assert_eq!(seen.messages().len(), 4);
}

/// CACHE-C-15, PAGE-C-03: each page by its cursor.
#[tokio::test]
async fn pages_are_kept_one_by_one() {
    let (connection, seen) = connect(&client()).await;
    for _ in 0..3 {
        let tools = connection.tools().all().await.expect("tools");
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["tool1", "tool2"]);
    }
    assert_eq!(seen.messages().len(), 2);
}

/// CACHE-C-14
#[tokio::test]
async fn a_change_makes_answers_stale() {
    let (connection, seen) = connect(&client()).await;
    let (x, z) = (
        read(&connection, "long://x").await,
        read(&connection, "long://z").await,
    );
    connection.tools().all().await.expect("tools");
    assert_eq!(seen.messages().len(), 4);
    let filter = SubscriptionFilter {
        tools_list_changed: Some(true),
        resource_subscriptions: Some(vec!["long://x".into()]),
        ..Default::default()
    };
    let mut changes = connection
        .listen(filter.clone())
        .await
        .expect("acknowledged");
    assert_eq!(*changes.acknowledged(), filter);
    let change = changes.next().await.expect("a change").expect("not lost");
    assert_eq!(change, Change::Resource("long://x".into()));
    assert_ne!(read(&connection, "long://x").await, x);
    assert_eq!(read(&connection, "long://z").await, z);
    let change = changes.next().await.expect("a change").expect("not lost");
    assert_eq!(change, Change::Tools);
    connection.tools().all().await.expect("tools");
    // The subscription, one read, two pages.
    assert_eq!(seen.messages().len(), 8);
}

/// What changed before a subscription was acknowledged, nobody told: what is kept may be stale.
#[tokio::test]
async fn a_subscription_starts_with_fresh_answers() {
    let (connection, seen) = connect(&client()).await;
    connection.tools().all().await.expect("tools");
    let (x, z) = (
        read(&connection, "long://x").await,
        read(&connection, "long://z").await,
    );
    let filter = SubscriptionFilter::new().tools().resource("long://x");
    let _changes = connection.listen(filter).await.expect("acknowledged");
    let before = seen.messages().len();
    connection.tools().all().await.expect("tools");
    assert_ne!(read(&connection, "long://x").await, x);
    assert_eq!(read(&connection, "long://z").await, z);
    assert_eq!(seen.messages().len(), before + 3);
}

/// A process that was started anew is another server, whatever the last one said may be kept.
#[tokio::test]
async fn a_server_that_was_started_anew_is_asked_anew() {
    let mortal = r#"
        answer() { printf '{"jsonrpc":"2.0","id":%s,"result":{%s}}\n' "$id" "$1"; }
        while read -r line; do
            id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
            case $line in
                *server/discover*) answer '"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"public"' ;;
                *tools/list*) answer '"tools":[{"name":"of-'$$'","inputSchema":{"type":"object"}},{"name":"fine","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}],"ttlMs":600000,"cacheScope":"public"' ;;
                *fine*) answer '"content":[]' ;;
                *) exit 1 ;;
            esac
        done"#;
    let mut command = std::process::Command::new("sh");
    command.args(["-c", mortal]);
    let way = antiphon::Stdio::spawn(command).restart(3);
    let connection = client().connect(way).await.expect("connected");
    let first = connection.tools().all().await.expect("tools");
    assert_eq!(connection.tools().all().await.expect("kept"), first);
    connection.call_tool("die", ()).await.expect_err("it dies");
    // The next request starts it anew; what was kept is of the one that died.
    connection.prompts().all().await.expect_err("it dies again");
    connection
        .call_tool("die", ())
        .await
        .expect_err("and again");
    // Nor is it held to what that one promised.
    connection.call_tool("fine", ()).await.expect("no promise");
    assert_ne!(connection.tools().all().await.expect("tools"), first);
    connection
        .call_tool("fine", ())
        .await
        .expect_err("a promise of its own");
    connection.close().await;
}
