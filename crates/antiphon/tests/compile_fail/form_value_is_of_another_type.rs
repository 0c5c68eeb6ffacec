//! Defaults and bounds of another type than the field.

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
    #[form(min = -1)]
    natural: u32,
    #[form(min = 0)]
    weight: f64,
}

fn main() {}
