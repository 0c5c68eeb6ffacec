use antiphon::tool;

#[tool(readonly)]
async fn now() -> String {
    "noon".to_owned()
}

fn main() {}
