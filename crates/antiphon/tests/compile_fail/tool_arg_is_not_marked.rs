use antiphon::{Server, tool};

#[tool]
async fn add(a: i64, #[arg] b: i64) -> String {
    (a + b).to_string()
}

fn main() {
    let _: Server = Server::new("calculator", "1.0").add(add());
}
