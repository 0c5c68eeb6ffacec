//! Nothing resolves this.

use antiphon::{Resolved, Server};

#[derive(Clone)]
struct Stock;

async fn order(_: Resolved<Stock>) {}

fn main() {
    let _: Server = Server::new("shop", "1.0").tool("order", order);
}
