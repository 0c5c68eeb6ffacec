use antiphon::{Args, Server};
use serde::Deserialize;

#[derive(Deserialize)]
struct Add {
    a: i64,
    b: i64,
}

async fn add(Args(Add { a, b }): Args<Add>) -> String {
    (a + b).to_string()
}

fn main() {
    let _: Server = Server::new("calculator", "1.0").tool("add", add);
}
