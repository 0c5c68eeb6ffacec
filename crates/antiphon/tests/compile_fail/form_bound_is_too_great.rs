//! Bounds that the type of the field does not have.

use antiphon::Form;

#[derive(Form)]
struct Order {
    #[form(max = 300)]
    small: u8,
    #[form(min = -1)]
    natural: u32,
    #[form(min = 0)]
    weight: f64,
}

fn main() {}
