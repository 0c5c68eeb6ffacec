use antiphon::tool;

#[tool]
async fn add(#[arg] a: i64, #[arg] b: i64) -> i64 {
    a + b
}

fn main() {}
