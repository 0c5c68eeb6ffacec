//! What is no form.

use antiphon::Form;

#[derive(Form)]
enum Size {
    Small,
}

#[derive(Form)]
struct Pair(String, u8);

#[derive(Form)]
struct Nothing;

#[derive(Form)]
struct Empty {}

#[derive(Form)]
struct Generic<T> {
    value: T,
}

fn main() {}
