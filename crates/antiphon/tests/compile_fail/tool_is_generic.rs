use antiphon::tool;

#[tool]
async fn show<T: ToString>(#[arg] value: T) -> String {
    value.to_string()
}

fn main() {}
