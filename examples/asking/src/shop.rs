//! A book shop that asks before it orders.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use antiphon::{
    Answer, Args, Ask, Choice, Form, Server, State, Stop,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;

/// Order a book.
#[derive(Deserialize, JsonSchema)]
struct Order {
    title: String,
}

#[derive(Form)]
struct Edition {
    edition: Cover,
    /// How many of them.
    #[form(min = 1, max = 12)]
    copies: u8,
}

#[derive(Debug, Choice)]
enum Cover {
    #[form(title = "Hard cover")]
    Hard,
    Paperback,
}

#[derive(Form)]
struct Confirm {
    confirm: bool,
}

/// How many orders there were.
type Orders = Arc<AtomicU32>;

async fn order(
    Args(Order { title }): Args<Order>,
    State(orders): State<Orders>,
    ask: Ask,
) -> Result<String, Stop> {
    // The handler runs again in each round; what was answered is there at once.
    let Edition { edition, copies } = ask.form("edition", format!("Which edition of {title}?"))?;
    let price = match edition {
        Cover::Hard => 30 * u32::from(copies),
        Cover::Paperback => 10 * u32::from(copies),
    };
    // Once in this call, however often the handler runs.
    let number: u32 = ask
        .once("reserve", async || {
            Ok(orders.fetch_add(1, Ordering::Relaxed) + 1)
        })
        .await?;
    let question = format!("Order {copies} of {title} for {price}? They are reserved as {number}.");
    Ok(match ask.form("confirm", question)? {
        Answer::Accept(Confirm { confirm: true }) => {
            format!("Ordered {copies} of {title} ({edition:?}), order {number}.")
        }
        _ => "Nothing ordered.".to_owned(),
    })
}

/// The shop.
pub(crate) fn server() -> Server {
    Server::new("book-shop", "1.0")
        .tool("order", order)
        .with_state(Orders::default())
}

#[cfg(test)]
mod tests {
    use antiphon::testing::Script;
    use serde_json::json;

    use super::server;

    #[tokio::test]
    async fn it_orders_what_was_chosen_and_confirmed() {
        let played = Script::new()
            .accept("edition", json!({ "edition": "paperback", "copies": 2 }))
            .accept("confirm", json!({ "confirm": true }))
            .call_tool(&server(), "order", json!({ "title": "Emma" }))
            .await;
        assert_eq!(played.text(), "Ordered 2 of Emma (Paperback), order 1.");
        played.assert_rounds([["edition"], ["confirm"]]);
        assert!(played.message("confirm").contains("for 20?"));
    }

    #[tokio::test]
    async fn who_declines_orders_nothing() {
        let choice = json!({ "edition": "hard", "copies": 1 });
        let played = Script::new()
            .accept("edition", &choice)
            .decline("confirm")
            .call_tool(&server(), "order", json!({ "title": "Emma" }))
            .await;
        assert_eq!(played.text(), "Nothing ordered.");
    }

    #[tokio::test]
    async fn too_many_are_asked_for_again() {
        let content = json!({ "edition": "hard", "copies": 13 });
        let played = Script::new()
            .answer("edition", json!({ "action": "accept", "content": content }))
            .accept("edition", json!({ "edition": "hard", "copies": 12 }))
            .accept("confirm", json!({ "confirm": false }))
            .call_tool(&server(), "order", json!({ "title": "Emma" }))
            .await;
        assert_eq!(played.text(), "Nothing ordered.");
        assert!(
            played
                .message("edition")
                .contains("`copies`: must be at most 12")
        );
    }
}
