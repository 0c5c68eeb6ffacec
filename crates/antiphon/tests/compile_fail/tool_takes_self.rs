use antiphon::tool;

struct Calculator;

impl Calculator {
    #[tool]
    async fn add(&self, #[arg] a: i64, #[arg] b: i64) -> String {
        (a + b).to_string()
    }
}

fn main() {}
