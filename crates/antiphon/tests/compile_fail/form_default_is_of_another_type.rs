//! Defaults of another type than the field.

use antiphon::{Choice, Form};

#[derive(Choice)]
enum Size {
    Small,
    Large,
}

#[derive(Form)]
struct Order {
    #[form(default = "yes")]
    agreed: bool,
    #[form(default = "small")]
    size: Size,
}

fn main() {}
