//! Patterns that are none, and what goes with them.

use antiphon::Form;

#[derive(Form)]
struct Order {
    #[form(pattern = "[A-Z")]
    code: String,
    #[form(pattern = "^[A-Z]+$", default = "abc")]
    other: String,
    #[form(rule = "letters")]
    third: String,
    #[form(format = "ipv4")]
    address: String,
}

fn main() {}
