//! What is needed before: resolvers that build on each other, and ask only what they must.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use antiphon::{Answer, Ask, Form, Resolved, State, Stop, resolver, tool};

/// How many copies are there.
#[derive(Clone, Copy)]
struct Stock(u32);

#[resolver]
async fn stock(#[arg] title: String) -> Stock {
    Stock(match title.as_str() {
        "Dune" => 7,
        "Emma" => 1,
        _ => 0,
    })
}

/// How long it takes, which depends on what is there.
#[derive(Clone, Copy)]
struct Delivery {
    days: u32,
}

#[resolver]
async fn delivery(#[arg] copies: u32, Resolved(stock): Resolved<Stock>) -> Delivery {
    let days = if stock.0 >= copies { 2 } else { 21 };
    Delivery { days }
}

/// Whether to wait for it, which is asked only if somebody has to.
#[derive(Form, Clone)]
struct Backorder {
    /// Whether to order what is not in stock.
    backorder: bool,
}

#[resolver]
async fn backorder(
    #[arg] title: String,
    #[arg] copies: u32,
    Resolved(stock): Resolved<Stock>,
    Resolved(Delivery { days }): Resolved<Delivery>,
    ask: Ask,
) -> Result<Backorder, Stop> {
    if stock.0 >= copies {
        return Ok(Backorder { backorder: true });
    }
    let text = format!("'{title}' is out of stock and takes {days} days. Order it anyway?");
    ask.form("backorder", text)
}

/// How many orders were placed.
#[derive(Clone, Default)]
pub(super) struct Orders(Arc<AtomicU32>);

impl Orders {
    fn place(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Order copies of a book.
#[tool]
pub(super) async fn order_book(
    #[arg] title: String,
    #[arg] copies: u32,
    Resolved(delivery): Resolved<Delivery>,
    Resolved(backorder): Resolved<Answer<Backorder>>,
    State(orders): State<Orders>,
) -> String {
    match backorder {
        Answer::Accept(Backorder { backorder: true }) => {
            let (number, days) = (orders.place(), delivery.days);
            format!("Ordered {copies} of '{title}', there in {days} days, as order {number}.")
        }
        _ => "No order placed.".to_owned(),
    }
}
