//! Results, errors and notifications as each revision knows them.

use antiphon::{
    Json, Progress, Server,
    schemars::{self, JsonSchema},
};
use antiphon_tests::older::{Older, REVISIONS, never};
use antiphon_tests::{behaviours, wire::Wire};
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Serialize, JsonSchema)]
struct Count {
    books: u32,
}

fn desk() -> Server {
    Server::new("desk", "1.0")
        .tool("count", async || Json(Count { books: 7 }))
        .tool("list", async || Json(vec![1, 2, 3]))
        .tool("work", async |progress: Progress| {
            progress.report_with(1, Some(2), "half");
            "done"
        })
        .resource("desk://one", async || "text")
}

behaviours! {
    /// LEG-S-06, SHIM-S-10, LFEAT-S-10
    async fn results_hold_what_the_revision_knows(way: Wire) {
        for version in REVISIONS {
            let mut older = Older::open(way, desk(), version).await;
            let has_structured = version >= "2025-06-18";
            let list = older.ask("tools/list", json!({})).await;
            let tools = list["result"]["tools"].as_array().expect("a list");
            for member in ["resultType", "ttlMs", "cacheScope"] {
                assert!(list["result"].get(member).is_none(), "{member}");
            }
            let tool = |name: &str| {
                tools
                    .iter()
                    .find(|tool| tool["name"] == name)
                    .expect("there")
            };
            assert_eq!(
                tool("count").get("outputSchema").is_some(),
                has_structured,
                "{version}"
            );
            // Only objects are structured before 2026-07-28.
            assert!(tool("list").get("outputSchema").is_none(), "{version}");
            let (_, response) = older.call("count", json!({}), never).await;
            assert_eq!(
                response["result"].get("structuredContent").is_some(),
                has_structured
            );
            assert_eq!(response["result"]["content"][0]["text"], r#"{"books":7}"#);
            let (_, response) = older.call("list", json!({}), never).await;
            assert!(response["result"].get("structuredContent").is_none());
            assert_eq!(response["result"]["content"][0]["text"], "[1,2,3]");
            let read = older
                .ask("resources/read", json!({"uri": "desk://one"}))
                .await;
            assert_eq!(read["result"]["contents"][0]["text"], "text");
            assert!(read["result"].get("ttlMs").is_none());
        }
    }

    /// LFEAT-S-04, SHIM-S-11
    async fn errors_have_the_codes_of_their_time(way: Wire) {
        for version in REVISIONS {
            let mut older = Older::open(way, desk(), version).await;
            let code = |response: Value| response["error"]["code"].clone();
            let nowhere = older
                .ask("resources/read", json!({"uri": "desk://nowhere"}))
                .await;
            assert_eq!(code(nowhere), -32002);
            assert_eq!(
                code(older.ask("tools/call", json!({"name": "none"})).await),
                -32602
            );
            assert_eq!(code(older.ask("tools/call", json!({})).await), -32602);
            assert_eq!(code(older.ask("no/such", json!({})).await), -32601);
            assert_eq!(code(older.ask("prompts/list", json!({})).await), -32601);
            assert_eq!(
                code(
                    older
                        .ask("logging/setLevel", json!({"level": "info"}))
                        .await
                ),
                -32601
            );
            assert_eq!(code(older.ask("tasks/list", json!({})).await), -32601);
        }
    }

    async fn progress_is_told_as_the_revision_knows_it(way: Wire) {
        for version in REVISIONS {
            let mut older = Older::open(way, desk(), version).await;
            let params = json!({"name": "work", "_meta": {"progressToken": "t"}});
            let id = older.begin("tools/call", params).await;
            let (said, _) = older.finish(id, never).await;
            let [told] = &said[..] else {
                panic!("{said:?}")
            };
            assert_eq!(told["params"]["progressToken"], "t");
            assert_eq!(told["params"]["total"], 2);
            assert_eq!(
                told["params"].get("message").is_some(),
                version >= "2025-03-26"
            );
        }
    }
}
