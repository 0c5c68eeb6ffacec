//! A resolver takes what a handler can take.

use antiphon::{Resolved, Server, resolver};

#[derive(Clone)]
struct Stock;

#[resolver]
async fn stock(title: String) -> Stock {
    drop(title);
    Stock
}

async fn order(_: Resolved<Stock>) {}

fn main() {
    let _: Server = Server::new("shop", "1.0").tool("order", order);
}
