//! Streams that are open for long, and the tokens they were opened with.

use antiphon::{Http, client::Change, types::SubscriptionFilter};

use crate::{ERAS, client, desk, says, usual};

/// AUTH-C-45: a stream is opened with a token like any request, and lives on when that is renewed.
#[tokio::test]
async fn streams_carry_tokens() {
    for era in ERAS {
        let (authority, guarded) = usual().await;
        let http = Http::new(guarded.url()).oauth(desk());
        let connection = client().era(era).connect(http).await.expect("let in");
        let filter = SubscriptionFilter::new().tools();
        let mut changes = connection.listen(filter.clone()).await.expect("listening");
        authority.expire();
        says(&connection, "whoami").await.expect("text");
        guarded.server.notify_tools_changed();
        let change = changes.next().await.expect("a change").expect("no error");
        assert_eq!(change, Change::Tools, "{era:?}");
        drop(changes);
        // One that is opened with a token that is worth nothing any more is opened with another.
        authority.expire();
        let mut changes = connection.listen(filter).await.expect("listening");
        guarded.server.notify_tools_changed();
        let change = changes.next().await.expect("a change").expect("no error");
        assert_eq!(change, Change::Tools, "{era:?}");
        says(&connection, "whoami").await.expect("text");
        for asked in guarded.asked() {
            if asked.status == 200 && asked.path == "/mcp" {
                assert!(asked.token().is_some(), "{asked:?}");
            }
        }
        assert_eq!(authority.visits(), 1);
        connection.close().await;
    }
}
