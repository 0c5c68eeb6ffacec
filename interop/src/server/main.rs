//! The server of the grid, as `interop/CONTRACT.md` has it.
//!
//! `antiphon-interop-server --stdio`, or `--http PORT`.

mod asking;
mod plain;

use std::error::Error;

use antiphon::{Server, http, stdio};
use tokio::net::TcpListener;

fn server() -> Server {
    let server = Server::new("ensemble", "1.0").page_size(10);
    asking::add(plain::add(server)).with_state(plain::Ensemble::default())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["--stdio"] => stdio::serve(server()).await?,
        ["--http", port] => {
            let listener = TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
            println!("ready");
            http::serve(listener, http::service(server())).await?;
        }
        _ => return Err("usage: antiphon-interop-server --stdio | --http PORT".into()),
    }
    Ok(())
}
