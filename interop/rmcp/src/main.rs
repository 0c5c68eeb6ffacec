//! The server and the client of the grid on rmcp, as `interop/CONTRACT.md` has them.
//!
//! `peer server --stdio | --http PORT`, or
//! `peer client --era modern|legacy --url URL CASE... | CASE... -- COMMAND ARGS...`.

// Logs, roots and sampling are deprecated there, and part of the grid.
#![allow(deprecated)]

mod client;
mod server;

use std::{error::Error, process::ExitCode};

const NOTE: &str = "note://today";
const SIGN_IN: &str = "https://example.com/sign-in";

// One thread: rmcp handles each message in a task of its own, and only so those of progress keep their order.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let ended: Result<(), Box<dyn Error>> = match words.split_first() {
        Some((role, words)) if role == "server" => server::run(words).await,
        Some((role, words)) if role == "client" => client::run(words).await,
        _ => Err("usage: peer server|client ...".into()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peer: {error}");
            ExitCode::FAILURE
        }
    }
}
