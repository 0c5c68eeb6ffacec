//! A handler runs on any thread, so it holds nothing across an `.await` that must stay on one.

use std::rc::Rc;

use antiphon::Server;

async fn pause() {}

async fn count() -> String {
    let counter = Rc::new(1);
    pause().await;
    counter.to_string()
}

fn main() {
    let _: Server = Server::new("counter", "1.0").tool("count", count);
}
