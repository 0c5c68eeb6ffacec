//! A server with state, mounted in an axum application beside an ordinary route that shares it.
//!
//! `cargo run -p example-axum-state -- 3000`: tools at `/mcp`, with `Authorization: Bearer secret`;
//! the number of notes at `/notes`.

use std::sync::{Arc, Mutex, PoisonError};

use antiphon::{
    Args, Server, State,
    auth::{Principal, StaticTokens},
    http,
    schemars::{self, JsonSchema},
};
use axum::{Router, extract, routing::get};
use serde::Deserialize;

/// What the route and the tools share. Each call gets a clone.
#[derive(Clone, Default)]
struct Board(Arc<Mutex<Vec<String>>>);

/// Pin a note to the board.
#[derive(Deserialize, JsonSchema)]
struct Pin {
    text: String,
}

/// A tool: it takes the arguments, the state, and who the token says is calling.
async fn pin(Args(pin): Args<Pin>, State(board): State<Board>, who: Principal) -> String {
    let name = who.subject.as_deref().unwrap_or("somebody");
    let mut notes = board.0.lock().unwrap_or_else(PoisonError::into_inner);
    notes.push(format!("{name}: {}", pin.text));
    notes.join("\n")
}

/// A route as in any axum application.
async fn count(extract::State(board): extract::State<Board>) -> String {
    let notes = board.0.lock().unwrap_or_else(PoisonError::into_inner);
    notes.len().to_string()
}

/// The application: its own routes, and ours among them.
fn app() -> Router {
    let board = Board::default();
    let server = Server::new("board", "1.0")
        .tool("pin", pin)
        .with_state(board.clone());
    let tokens = StaticTokens::new().token("secret", Principal::subject("ada"));
    Router::new()
        .route("/notes", get(count))
        .with_state(board)
        .route_service("/mcp", http::service(server).verifier(tokens))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args().nth(1).ok_or("usage: axum-state PORT")?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
    axum::serve(listener, app()).await?;
    Ok(())
}

#[cfg(test)]
mod tests;
