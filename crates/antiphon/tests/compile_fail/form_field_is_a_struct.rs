//! A nested struct.

use antiphon::Form;

struct Address {
    city: String,
}

#[derive(Form)]
struct Person {
    name: String,
    address: Address,
}

#[derive(Form)]
struct People {
    addresses: Option<Vec<Address>>,
}

fn main() {}
