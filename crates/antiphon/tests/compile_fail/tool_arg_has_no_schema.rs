use antiphon::tool;
use serde::Deserialize;

#[derive(Deserialize)]
struct Amount(i64);

#[tool]
async fn add(#[arg] a: Amount, #[arg] b: i64) -> String {
    (a.0 + b).to_string()
}

fn main() {}
