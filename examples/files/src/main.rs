//! A file server for hosts: a model may list, read, search, write and delete files, strictly under
//! the directories it was given, and the user is asked before one is replaced or deleted. See `README.md` for what that promises.
//!
//! `cargo run -p example-files -- [--read-only] [--http PORT] ROOT...`, on stdio without a port.

mod delete;
mod excerpt;
mod resources;
mod roots;
mod search;
mod tools;
mod version;
mod write;

use std::{io, path::PathBuf, process::ExitCode, sync::Arc};

use antiphon::{
    Resource, Server, Stop, Tool,
    auth::{Principal, StaticTokens},
    http, stdio,
};
use clap::Parser;

use crate::roots::Roots;

/// What the environment has to hold for HTTP: the bearer token of the one client.
const TOKEN: &str = "ANTIPHON_FILES_TOKEN";

/// Serves directories over the Model Context Protocol.
#[derive(Parser)]
#[command(name = "antiphon-files")]
struct Options {
    /// The directories to serve.
    #[arg(required = true, value_name = "ROOT")]
    roots: Vec<PathBuf>,
    /// Leave out the tools that write and delete.
    #[arg(long)]
    read_only: bool,
    /// Serve on this port of 127.0.0.1 instead of stdio, for clients that send
    /// $ANTIPHON_FILES_TOKEN as their bearer token.
    #[arg(long, value_name = "PORT")]
    http: Option<u16>,
}

fn server(roots: Roots, read_only: bool) -> Server {
    let about = format!(
        "Files under: {}. Paths are absolute{}.",
        roots.names().join(", "),
        if roots.is_single() {
            " or relative to that directory"
        } else {
            ""
        },
    );
    let mut server = Server::new("antiphon-files", env!("CARGO_PKG_VERSION"))
        .title("Files")
        .instructions(about)
        .add(
            Tool::new("list", tools::list)
                .title("List a directory")
                .read_only()
                .open_world(false),
        )
        .add(
            Tool::new("read", tools::read)
                .title("Read a file")
                .read_only()
                .open_world(false),
        )
        .add(
            Tool::new("search", tools::search)
                .title("Search files")
                .read_only()
                .open_world(false),
        )
        .add(
            Resource::new("file:///{+path}", resources::read)
                .name("file")
                .description("A file under one of the served directories.")
                .list(resources::list),
        );
    if !read_only {
        server = server
            .add(
                Tool::new("write", tools::write)
                    .title("Write a file")
                    .destructive()
                    .idempotent()
                    .open_world(false),
            )
            .add(
                Tool::new("delete", tools::delete)
                    .title("Delete a file")
                    .destructive()
                    .open_world(false),
            );
    }
    server.with_state(Arc::new(roots))
}

/// Does blocking work away from the tasks that answer clients.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Stop> + Send + 'static,
) -> Result<T, Stop> {
    tokio::task::spawn_blocking(work).await?
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match serve(Options::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("antiphon-files: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(options: Options) -> io::Result<()> {
    let server = server(Roots::open(&options.roots)?, options.read_only);
    let Some(port) = options.http else {
        return stdio::serve(server).await;
    };
    let token = std::env::var(TOKEN).ok().filter(|token| !token.is_empty());
    let token = token.ok_or_else(|| io::Error::other(format!("HTTP needs a token in ${TOKEN}")))?;
    let tokens = StaticTokens::new().token(token, Principal::subject("client"));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    eprintln!("http://{}/mcp", listener.local_addr()?);
    http::serve(listener, http::service(server).verifier(tokens)).await
}
