//! A list of texts with nothing to choose from.

use antiphon::Form;

#[derive(Form)]
struct Order {
    tags: Vec<String>,
}

fn main() {}
