use antiphon::{Server, State};

#[derive(Clone)]
struct Shop;

#[derive(Clone)]
struct Library;

async fn stock(State(_): State<Shop>) -> String {
    "none".to_owned()
}

async fn shelves(State(_): State<Library>) -> String {
    "none".to_owned()
}

fn main() {
    let _: Server = Server::new("shop", "1.0").tool("stock", stock);
    let _: Server = Server::new("both", "1.0")
        .tool("stock", stock)
        .tool("shelves", shelves)
        .with_state(Shop);
}
