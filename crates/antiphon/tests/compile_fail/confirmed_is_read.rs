//! Consent that comes from a text, or from the client's arguments.

use antiphon::{Confirmed, Server};
use serde::Deserialize;

#[derive(Deserialize)]
struct Delete {
    path: String,
}

fn from_json(text: &str) -> Confirmed<Delete> {
    serde_json::from_str(text).unwrap()
}

async fn from_the_call(what: Confirmed<Delete>) -> String {
    what.path.clone()
}

fn main() {
    let _: Server = Server::new("files", "1.0").tool("delete", from_the_call);
}
