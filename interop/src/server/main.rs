//! The server of the grid, as `interop/CONTRACT.md` has it.
//!
//! `antiphon-interop-server --stdio`, or `--http PORT`. With options it is one replica of several, see
//! `replica.rs`.

mod asking;
mod plain;
mod replica;
mod turns;

use std::error::Error;

use antiphon::{Server, http, stdio};
use tokio::net::TcpListener;

use replica::Replica;

fn server(replica: &Replica) -> Result<Server, Box<dyn Error>> {
    let server = Server::new("ensemble", "1.0").page_size(10);
    let server = replica.add(asking::add(plain::add(server)));
    Ok(replica.seal(server)?.with_state(plain::Ensemble::default()))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (replica, rest) = Replica::given(std::env::args().skip(1))?;
    let rest: Vec<_> = rest.iter().map(String::as_str).collect();
    let server = server(&replica)?;
    match rest[..] {
        ["--stdio"] => stdio::serve(server).await?,
        ["--http", port] => {
            let listener = TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
            println!("ready");
            http::serve(listener, replica.serve(http::service(server))).await?;
        }
        _ => return Err("usage: antiphon-interop-server [OPTIONS] --stdio | --http PORT".into()),
    }
    Ok(())
}
