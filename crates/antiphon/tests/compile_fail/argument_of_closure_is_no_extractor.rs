use antiphon::Server;

fn main() {
    let _: Server = Server::new("calculator", "1.0")
        .tool("double", |a: i64| async move { (2 * a).to_string() });
}
