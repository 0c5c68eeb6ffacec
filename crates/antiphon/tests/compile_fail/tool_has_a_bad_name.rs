use antiphon::tool;

#[tool(name = "add two")]
async fn add(#[arg] a: i64, #[arg] b: i64) -> String {
    (a + b).to_string()
}

fn main() {}
