use std::io;

use antiphon::{Server, State, stdio};

#[derive(Clone)]
struct Shop;

async fn stock(State(_): State<Shop>) -> String {
    "none".to_owned()
}

async fn run() -> io::Result<()> {
    let server = Server::new("shop", "1.0").tool("stock", stock);
    stdio::serve(server).await
}

fn main() {
    _ = run();
}
