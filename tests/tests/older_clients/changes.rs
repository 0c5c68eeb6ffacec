//! What an older client hears of its own accord.

use antiphon::{Resource, Server, Tool};
use antiphon_tests::older::{Older, REVISIONS};
use antiphon_tests::{behaviours, wire::Wire};
use serde_json::json;

fn desk() -> Server {
    Server::new("desk", "1.0")
        .tool("one", async || "1")
        .add(Resource::new("desk://watched", async || "text").watched())
        .resource("desk://plain", async || "text")
}

behaviours! {
    /// LFEAT-S-03: lists that changed, unasked, without a subscription id.
    async fn lists_that_change_are_told(way: Wire) {
        for version in REVISIONS {
            let server = desk();
            let mut older = Older::open(way, server.clone(), version).await;
            older.ask("ping", json!({})).await;
            server.insert(Tool::new("two", async || "2")).expect("new");
            let heard = older.hear().await;
            assert_eq!(
                heard,
                json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {}})
            );
        }
    }

    /// LFEAT-S-01, LFEAT-S-02
    async fn resources_are_subscribed_to(way: Wire) {
        let server = desk();
        let mut older = Older::open(way, server.clone(), "2025-11-25").await;
        assert_eq!(
            older.greeted["capabilities"]["resources"]["subscribe"],
            true
        );
        let watched = json!({"uri": "desk://watched"});
        assert_eq!(
            older.ask("resources/subscribe", watched.clone()).await["result"],
            json!({})
        );
        server.notify_resource_updated("desk://watched");
        let heard = older.hear().await;
        assert_eq!(heard["method"], "notifications/resources/updated");
        assert_eq!(heard["params"], watched);
        assert_eq!(
            older.ask("resources/unsubscribe", watched.clone()).await["result"],
            json!({})
        );
        server.notify_resource_updated("desk://watched");
        assert_eq!(older.hear_at_once().await, None);
        for bad in ["desk://plain", "desk://nowhere", ""] {
            let response = older.ask("resources/subscribe", json!({"uri": bad})).await;
            assert_eq!(response["error"]["code"], -32602, "{bad}: {response}");
        }
        for params in [json!({}), json!({"uri": 7})] {
            let response = older.ask("resources/subscribe", params).await;
            assert_eq!(response["error"]["code"], -32602);
        }
    }

    async fn modern_clients_hear_nothing_unasked(way: Wire) {
        let server = desk();
        let mut modern = Older::silent(way, server.clone()).await;
        modern.say(&antiphon_tests::call(1, "one", json!({}))).await;
        modern.hear().await;
        server.insert(Tool::new("two", async || "2")).expect("new");
        assert_eq!(modern.hear_at_once().await, None);
    }
}
