//! Attributes on fields of another kind.

use antiphon::{Choice, Form};

#[derive(Choice)]
enum Size {
    Small,
    Large,
}

#[derive(Form)]
struct Order {
    #[form(min = 1)]
    agreed: bool,
    #[form(max_length = 5)]
    count: u8,
    #[form(format = "email")]
    size: Size,
    #[form(min_items = 1)]
    name: String,
    #[form(options("a", "b"))]
    sizes: Vec<Size>,
}

fn main() {}
