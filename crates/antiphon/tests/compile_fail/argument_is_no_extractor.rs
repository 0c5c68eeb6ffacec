//! The arguments a client sends come as `Args`, not one by one.

use antiphon::Server;

async fn add(a: i64, b: i64) -> String {
    (a + b).to_string()
}

fn main() {
    let _: Server = Server::new("calculator", "1.0").tool("add", add);
}
