//! Bounds that leave nothing, and defaults beyond them.

use antiphon::{Choice, Form};

const MOST: u8 = 9;

#[derive(Choice)]
enum Extra {
    Meal,
    Wifi,
}

#[derive(Form)]
struct Order {
    #[form(min = 10, max = 5)]
    count: i64,
    #[form(min = 1.5, max = 1.0)]
    weight: f64,
    #[form(min_length = 3, max_length = 2)]
    name: String,
    #[form(max = MOST, default = 10)]
    age: u8,
    #[form(max_length = 2, default = "äöü")]
    code: String,
    #[form(format = "date", default = "2026-02-30")]
    day: String,
    #[form(min_items = 2, default = [Extra::Meal])]
    extras: Vec<Extra>,
    #[form(min_items = 3)]
    all: Option<Vec<Extra>>,
    #[form(options("a"), min_items = 2)]
    texts: Vec<String>,
}

fn main() {}
