//! Attributes that there are not, or that are said wrong.

use antiphon::{Choice, Form};

#[derive(Form)]
struct Order {
    #[form(minimum = 1)]
    count: u8,
    #[form(title = "A", title = "B")]
    name: String,
    #[form(min)]
    age: u8,
    #[form(not_a_secret = true)]
    map: String,
    #[form(title)]
    bare: String,
    #[form(rename = 5)]
    five: String,
}

#[derive(Form)]
#[form(title = "Order")]
struct Titled {
    count: u8,
}

#[derive(Choice)]
enum Size {
    #[form(default)]
    Small,
}

fn main() {}
