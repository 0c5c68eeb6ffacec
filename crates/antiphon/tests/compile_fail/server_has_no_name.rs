use antiphon::Server;

fn main() {
    let _: Server = Server::new();
}
