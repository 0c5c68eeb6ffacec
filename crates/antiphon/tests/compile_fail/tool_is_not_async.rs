use antiphon::tool;

#[tool]
fn add(#[arg] a: i64, #[arg] b: i64) -> String {
    (a + b).to_string()
}

fn main() {}
