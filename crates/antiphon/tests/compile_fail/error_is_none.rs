//! An error must convert into `Stop`: all that implement `std::error::Error` do.

use antiphon::Server;

struct Broken;

async fn temperature() -> Result<String, Broken> {
    Err(Broken)
}

fn main() {
    let _: Server = Server::new("weather", "1.0").tool("temperature", temperature);
}
