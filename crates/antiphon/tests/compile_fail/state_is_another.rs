use antiphon::{Server, State};

#[derive(Clone)]
struct Shop;

#[derive(Clone)]
struct Library;

async fn stock(State(_): State<Shop>) -> String {
    "none".to_owned()
}

fn main() {
    let _: Server = Server::new("shop", "1.0")
        .tool("stock", stock)
        .with_state(Library);
}
