use antiphon::Server;

fn now() -> String {
    "noon".to_owned()
}

fn main() {
    let _: Server = Server::new("clock", "1.0")
        .tool("now", now)
        .tool("later", || "midnight");
}
