//! Defaults that cannot be chosen, and a choice without options.

use antiphon::Form;

#[derive(Form)]
struct Order {
    #[form(options("eu", "us"), default = "mars")]
    region: String,
    #[form(options("eu", "us"), default = ["us", "moon"])]
    regions: Vec<String>,
    #[form(options())]
    none: String,
    #[form(options("a", "b", "a"))]
    twice: String,
    #[form(options("a"), min_length = 1)]
    long: String,
    #[form(options("eu", "us"), default = ["us", "us"])]
    same: Vec<String>,
}

fn main() {}
