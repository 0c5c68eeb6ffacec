//! The server under test: every fixture of the official conformance suite, of all revisions.
//!
//! `antiphon-conformance-server PORT` serves `http://127.0.0.1:PORT/mcp`.

mod fixtures;
mod older;
mod prompts;
mod resources;
mod rounds;
mod tools;

use antiphon::Server;

fn server() -> Server {
    let server = Server::new("antiphon-conformance", env!("CARGO_PKG_VERSION"))
        .instructions("Fixtures of the conformance suite.");
    let server = tools::add(server);
    let server = rounds::add(server);
    let server = older::add(server);
    let server = prompts::add(server);
    resources::add(server)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port: u16 = std::env::args()
        .nth(1)
        .and_then(|port| port.parse().ok())
        .ok_or("usage: antiphon-conformance-server PORT")?;
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    eprintln!("http://127.0.0.1:{port}/mcp");
    antiphon::http::serve(listener, antiphon::http::service(server())).await?;
    Ok(())
}
