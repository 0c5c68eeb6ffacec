//! A bound that the type of the field does not have.

use antiphon::Form;

#[derive(Form)]
struct Order {
    #[form(max = 300)]
    small: u8,
}

fn main() {}
