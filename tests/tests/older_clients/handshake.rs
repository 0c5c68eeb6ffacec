//! The handshake, and what may come before it and beside it.

use antiphon::{Call, Server};
use antiphon_tests::{behaviours, wire::Wire};
use antiphon_tests::{
    harbour,
    older::{Older, REVISIONS, everything},
    request,
};
use serde_json::json;

pub(crate) fn plain() -> Server {
    Server::new("desk", "1.0")
        .title("The desk")
        .description("Where things are asked")
        .instructions("Ask.")
        .tool("echo", async |call: Call| {
            format!("{:?} {}", call.era(), call.protocol_version())
        })
}

behaviours! {
    /// LEG-S-01, LEG-S-03, ERA-S-07
    async fn every_older_revision_is_settled_on(way: Wire) {
        for version in REVISIONS {
            let mut older = Older::open(way, plain(), version).await;
            assert_eq!(older.greeted["protocolVersion"], version);
            assert_eq!(older.greeted["serverInfo"]["name"], "desk");
            assert_eq!(older.greeted["instructions"], "Ask.");
            assert_eq!(
                older.greeted["capabilities"]["tools"],
                json!({"listChanged": true})
            );
            let info = older.greeted["serverInfo"].as_object().expect("an object");
            assert_eq!(
                info.contains_key("title"),
                version >= "2025-06-18",
                "{version}"
            );
            assert_eq!(
                info.contains_key("description"),
                version >= "2025-11-25",
                "{version}"
            );
            let (_, response) = older
                .call("echo", json!({}), antiphon_tests::older::never)
                .await;
            assert_eq!(
                response["result"]["content"][0]["text"],
                format!("Legacy {version}")
            );
            assert!(response["result"].get("resultType").is_none(), "{response}");
        }
    }

    /// LEG-S-03, LEG-S-04: one that is not known, or not for a handshake, is answered with the newest
    /// that is.
    async fn another_revision_is_proposed_instead(way: Wire) {
        for proposed in ["2026-07-28", "2031-01-01", "", "v1"] {
            let older = Older::open(way, plain(), proposed).await;
            assert_eq!(older.greeted["protocolVersion"], "2025-11-25", "{proposed}");
        }
    }

    /// LEG-C-02
    async fn a_handshake_says_who_is_there(way: Wire) {
        for params in [
            json!({}),
            json!({"protocolVersion": "2025-11-25", "capabilities": {}}),
            json!({"protocolVersion": 7, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}),
            json!({"protocolVersion": "2025-11-25", "clientInfo": {"name": "a", "version": "1"}}),
            json!({"protocolVersion": "2025-11-25", "capabilities": [], "clientInfo": {"name": "a", "version": "1"}}),
        ] {
            let mut older = Older::silent(way, plain()).await;
            let response = older.ask("initialize", params.clone()).await;
            assert_eq!(response["error"]["code"], -32602, "{params}: {response}");
            // Nothing is lost by it.
            let params = json!({"protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "a", "version": "1"}});
            let response = older.ask("initialize", params).await;
            assert_eq!(response["result"]["protocolVersion"], "2025-06-18");
        }
    }

    /// ERA-S-01, ERA-S-02, wire.md 10.2, step 2: modern requests come before, between and after, and
    /// know nothing of the session.
    async fn both_eras_share_a_channel(way: Wire) {
        let mut older = Older::silent(way, plain()).await;
        let modern = |id| request(id, "tools/call", json!({"name": "echo"}));
        let text = |answer: serde_json::Value| answer["result"]["content"][0]["text"].clone();
        older.say(&modern(100)).await;
        assert_eq!(text(older.hear().await), "Modern 2026-07-28");
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": everything(),
            "clientInfo": {"name": "a", "version": "1"}});
        older.ask("initialize", params).await;
        older.say(&modern(101)).await;
        let answer = older.hear().await;
        assert_eq!(answer["result"]["resultType"], "complete");
        assert_eq!(text(answer), "Modern 2026-07-28");
        let (_, response) = older
            .call("echo", json!({}), antiphon_tests::older::never)
            .await;
        assert_eq!(text(response), "Legacy 2025-11-25");
        // Modern methods in a session are none, and older ones outside are none either.
        let response = older.ask("server/discover", json!({})).await;
        assert_eq!(response["error"]["code"], -32601);
        older.say(&request(102, "ping", json!({}))).await;
        assert_eq!(older.hear().await["error"]["code"], -32601);
    }

    /// LEG-B-05, LEG-B-06
    async fn only_one_revision_has_batches(way: Wire) {
        for version in REVISIONS {
            let mut older = Older::open(way, plain(), version).await;
            let batch = json!([
                {"jsonrpc": "2.0", "id": "a", "method": "ping"},
                {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
                {"jsonrpc": "2.0", "id": "b", "method": "tools/list"},
                7,
            ]);
            older.say(&batch).await;
            if version != "2025-03-26" {
                assert_eq!(older.hear().await["error"]["code"], -32600);
                assert_eq!(older.hear_at_once().await, None);
                continue;
            }
            let mut heard = Vec::new();
            for _ in 0..3 {
                heard.push(older.hear().await);
            }
            assert_eq!(heard[0], json!({"jsonrpc": "2.0", "id": "a", "result": {}}));
            assert_eq!(heard[1]["id"], "b");
            assert!(heard[1]["result"]["tools"].is_array());
            assert_eq!(heard[2]["error"]["code"], -32600);
            // One within another is none.
            older.say(&json!([[{"jsonrpc": "2.0", "id": "c", "method": "ping"}]])).await;
            assert_eq!(older.hear().await["error"]["code"], -32600);
            older.say(&json!([])).await;
            assert_eq!(older.hear().await["error"]["code"], -32600);
        }
    }

    /// LFEAT-C-01, LFEAT-S-05
    async fn the_log_level_is_the_sessions(way: Wire) {
        let mut older = Older::open(way, harbour::endpoint(), "2025-11-25").await;
        for level in ["loud", "", "WARNING"] {
            let response = older.ask("logging/setLevel", json!({"level": level})).await;
            assert_eq!(response["error"]["code"], -32602, "{response}");
        }
        let response = older.ask("logging/setLevel", json!({})).await;
        assert_eq!(response["error"]["code"], -32602);
        let response = older
            .ask("logging/setLevel", json!({"level": "error"}))
            .await;
        assert_eq!(response["result"], json!({}));
    }

    /// LEG-S-07: an error that belongs to no request.
    async fn what_cannot_be_read_is_answered_as_the_revision_has_it(way: Wire) {
        for version in REVISIONS {
            let mut older = Older::open(way, plain(), version).await;
            for nothing in [
                json!(7),
                json!({"jsonrpc": "2.0"}),
                json!({"jsonrpc": "1.0", "id": {}}),
            ] {
                older.say(&nothing).await;
                let heard = older.hear().await;
                assert_eq!(heard["error"]["code"], -32600);
                let has_null = heard.as_object().expect("an object").contains_key("id");
                assert_eq!(has_null, version < "2025-11-25", "{version}: {heard}");
            }
        }
    }
}
