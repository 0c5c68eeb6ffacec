use antiphon::tool;

#[tool]
async fn add(#[arg] (a, b): (i64, i64)) -> String {
    (a + b).to_string()
}

fn main() {}
