//! The demo's server: a tool that asks before it acts.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use antiphon::{
    Args, Call, Server, State, Stop,
    schemars::{self, JsonSchema},
    types::{BooleanSchema, ElicitRequestParams, FormSchema, InputRequired},
};
use serde::Deserialize;

/// Order books.
#[derive(Deserialize, JsonSchema)]
struct Order {
    title: String,
    copies: u32,
}

/// What the user is asked.
#[derive(Deserialize)]
struct Confirm {
    approve: bool,
}

/// How many orders there were.
type Orders = Arc<AtomicU32>;

async fn order(
    Args(Order { title, copies }): Args<Order>,
    State(orders): State<Orders>,
    call: Call,
) -> Result<String, Stop> {
    let books = format!("{copies} copies of {title}");
    let answers = call.responses();
    if answers.is_empty() {
        let form = FormSchema::new().required("approve", BooleanSchema::new());
        let question = ElicitRequestParams::form(format!("Order {books}?"), form);
        return Err(Stop::ask(InputRequired::ask("confirm", question)));
    }
    Ok(match answers.accepted("confirm") {
        Some(Confirm { approve: true }) => {
            let number = orders.fetch_add(1, Ordering::Relaxed) + 1;
            format!("Ordered {books}, as order number {number}.")
        }
        _ => "Nothing was ordered.".to_owned(),
    })
}

/// The shop.
pub(crate) fn server() -> Server {
    Server::new("book-shop", "1.0")
        .tool("order", order)
        .with_state(Orders::default())
}
