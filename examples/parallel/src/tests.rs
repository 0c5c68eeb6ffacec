//! The same calls from clients of older revisions.

use antiphon::{client::Era, types::Version};

use super::*;

/// All questions come on one channel, and each answer says which one it is for.
#[tokio::test]
async fn answers_do_not_mix_in_an_older_session() {
    for version in [Version::V2025_11_25, Version::V2025_06_18] {
        let server: Server = Server::new("harbour", "1.0").tool("christen", christen);
        let client = Client::new("older", "1.0").era(Era::Pinned(version));
        let client = client.on_form(|form| async move {
            let number = form.message.replace(|c: char| !c.is_ascii_digit(), "");
            let ship: u64 = number.parse()?;
            tokio::time::sleep(Duration::from_millis(50 - 5 * ship)).await;
            let name = json!({ "name": format!("Aurora {ship}") });
            Ok::<_, std::num::ParseIntError>(form.accept(name))
        });
        let connection = client.connect(memory(server)).await.expect("connected");
        let mut calls = JoinSet::new();
        for ship in 1..=8 {
            let connection = connection.clone();
            let call = async move {
                let ship_of = json!({ "ship": ship });
                (ship, connection.call_tool("christen", ship_of).await)
            };
            calls.spawn(call);
        }
        while let Some(called) = calls.join_next().await {
            let (ship, result) = called.expect("no panic");
            let text = format!("ship {ship} is Aurora {ship}");
            assert_eq!(result.expect("a result").first_text(), Some(&*text));
        }
    }
}

#[tokio::test]
async fn a_ship_that_cannot_be_asked_for_is_not_named() {
    let server: Server = Server::new("harbour", "1.0").tool("christen", christen);
    for version in [Version::V2025_03_26, Version::V2024_11_05] {
        let client = Client::new("older", "1.0").era(Era::Pinned(version));
        let client = client.on_form(|form| async move { form.accept(json!({ "name": "x" })) });
        let connection = client.connect(memory(server.clone())).await;
        let connection = connection.expect("connected");
        let result = connection.call_tool("christen", json!({ "ship": 1 })).await;
        let result = result.expect("a result");
        let text = result.first_text().expect("a text");
        assert!(
            result.failed() && text.contains("cannot be asked"),
            "{text}"
        );
    }
}
