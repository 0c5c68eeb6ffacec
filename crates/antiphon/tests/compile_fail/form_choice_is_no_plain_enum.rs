//! What is no choice.

use antiphon::Choice;

#[derive(Choice)]
enum Shape {
    Square,
    Circle(f64),
}

#[derive(Choice)]
struct Size {
    large: bool,
}

#[derive(Choice)]
enum Never {}

#[derive(Choice)]
enum Generic<T> {
    One,
    #[allow(dead_code)]
    Two(T),
}

fn main() {}
