//! The smallest server: one tool, on stdio.
//!
//! Let a host start it, or run `cargo run -p example-hello` and type a request.

use antiphon::{
    Args, Server,
    schemars::{self, JsonSchema},
    stdio,
};
use serde::Deserialize;

/// Greet someone by name.
#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Who to greet.
    name: String,
}

async fn greet(Args(Greet { name }): Args<Greet>) -> String {
    format!("Hello, {name}!")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let server = Server::new("hello", "1.0").tool("greet", greet);
    stdio::serve(server).await
}
