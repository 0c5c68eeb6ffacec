//! What a client knows of tools, and when it learns better.

use std::sync::{Arc, Mutex};

use antiphon::{Client, client::Incoming, types::SubscriptionFilter};
use antiphon_tests::{
    direct::{Acts, Direct, whole},
    script::{respond, script, text},
};
use serde_json::{Value, json};

/// A server whose tool has had another definition since it was first listed.
#[derive(Default)]
struct Moved {
    methods: Mutex<Vec<String>>,
}

impl Acts for Moved {
    fn answer(&self, request: &Value) -> Incoming {
        let method = request["method"].as_str().expect("a method").to_owned();
        let mut methods = self.methods.lock().expect("unpoisoned");
        let first = !methods.contains(&"tools/list".to_owned());
        methods.push(method.clone());
        if method == "tools/call" {
            return match request["headers"]["mcp-param-port"].as_str() {
                Some("oslo") => whole(request, &text("done")),
                _ => whole(request, &json!({ "code": -32020, "message": "headers" })),
            };
        }
        let mut port = json!({ "type": "string" });
        if !first {
            port["x-mcp-header"] = "Port".into();
        }
        let schema = json!({ "type": "object", "properties": { "port": port } });
        whole(
            request,
            &json!({
                "tools": [{ "name": "t", "inputSchema": schema }],
                "ttlMs": 60_000, "cacheScope": "public", "resultType": "complete",
            }),
        )
    }

    fn mirrors(&self) -> bool {
        true
    }
}

/// HDR-C-17: once learnt, and not forgotten for the sake of an older answer that was kept.
#[tokio::test]
async fn what_was_learnt_is_not_forgotten() {
    let acts = Arc::new(Moved::default());
    let client = Client::new("tests", "1.0");
    let connection = client.connect(Direct(acts.clone())).await;
    let connection = connection.expect("connected");
    for _ in 0..2 {
        connection.tools().all().await.expect("tools");
        let called = connection.call_tool("t", json!({ "port": "oslo" })).await;
        assert_eq!(called.expect("a result").first_text(), Some("done"));
    }
    let methods = acts.methods.lock().expect("unpoisoned");
    let calls = methods.iter().filter(|method| *method == "tools/call");
    assert_eq!(calls.count(), 3, "{methods:?}");
}

/// TOOL-C-05: a result is held to no promise that the server took back.
#[tokio::test]
async fn a_change_of_the_tools_ends_what_they_promised() {
    let (peer, _) = script(|request| {
        let result = match request["method"].as_str().expect("a method") {
            "tools/list" => json!({
                "tools": [{
                    "name": "t", "inputSchema": { "type": "object" },
                    "outputSchema": { "type": "object", "required": ["old"] },
                }],
                "ttlMs": 60_000, "cacheScope": "public", "resultType": "complete",
            }),
            "subscriptions/listen" => {
                let meta = json!({ "io.modelcontextprotocol/subscriptionId": request["id"] });
                let note = |method: &str, mut params: Value| {
                    params["_meta"] = meta.clone();
                    json!({ "jsonrpc": "2.0", "method": method, "params": params })
                };
                let wanted = json!({ "notifications": request["params"]["notifications"] });
                return vec![
                    note("notifications/subscriptions/acknowledged", wanted),
                    note("notifications/tools/list_changed", json!({})),
                ];
            }
            _ => json!({
                "resultType": "complete", "content": [], "structuredContent": { "new": 1 },
            }),
        };
        vec![respond(request, &result)]
    });
    let connection = Client::new("tests", "1.0").connect(peer).await;
    let connection = connection.expect("connected");
    connection.tools().all().await.expect("tools");
    connection.call_tool("t", ()).await.expect_err("not kept");
    let filter = SubscriptionFilter {
        tools_list_changed: Some(true),
        ..Default::default()
    };
    let mut changes = connection.listen(filter).await.expect("subscribed");
    changes.next().await.expect("a change").expect("no error");
    connection.call_tool("t", ()).await.expect("a result");
}
