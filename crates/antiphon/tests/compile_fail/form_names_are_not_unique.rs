//! Names and titles that are there twice.

use antiphon::{Choice, Form};

#[derive(Form)]
struct Order {
    count: u8,
    #[form(rename = "count")]
    number: u8,
}

#[derive(Choice)]
enum Size {
    ExtraLarge,
    #[form(rename = "extra_large")]
    Huge,
}

#[derive(Choice)]
enum Titled {
    #[form(title = "Large one")]
    Large,
    LargeOne,
}

fn main() {}
