use antiphon::{Call, Server};

#[rustfmt::skip]
async fn many(
    _: Call, _: Call, _: Call, _: Call, _: Call, _: Call, _: Call,
    _: Call, _: Call, _: Call, _: Call, _: Call, _: Call,
) -> String {
    "too many".to_owned()
}

fn main() {
    let _: Server = Server::new("much", "1.0").tool("many", many);
}
