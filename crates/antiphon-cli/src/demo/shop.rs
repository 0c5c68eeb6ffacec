//! The story's server: a tool that asks before it acts.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use antiphon::{Answer, Ask, Form, Server, State, Stop, tool};

/// What the user is asked.
#[derive(Form)]
struct Confirm {
    approve: bool,
}

/// How many orders there were.
type Orders = Arc<AtomicU32>;

/// Order books.
#[tool]
async fn order(
    #[arg] title: String,
    #[arg] copies: u32,
    State(orders): State<Orders>,
    ask: Ask,
) -> Result<String, Stop> {
    let books = format!("{copies} copies of {title}");
    Ok(match ask.form("confirm", format!("Order {books}?"))? {
        Answer::Accept(Confirm { approve: true }) => {
            let number = orders.fetch_add(1, Ordering::Relaxed) + 1;
            format!("Ordered {books}, as order number {number}.")
        }
        _ => "Nothing was ordered.".to_owned(),
    })
}

/// The shop.
pub(super) fn server() -> Server {
    Server::new("book-shop", "1.0")
        .add(order())
        .with_state(Orders::default())
}
