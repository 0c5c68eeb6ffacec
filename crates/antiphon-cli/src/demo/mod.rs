//! `antiphon demo`: a server whose tools ask, to play with, to point clients at, to read.

mod flows;
mod serve;
mod shop;
mod sign_in;
mod story;

use std::io::IsTerminal;

use antiphon::{CancellationToken, Client, Http};
use clap::Args;
use tracing_subscriber::filter::LevelFilter;

use crate::{
    calling::interrupted,
    failure::Failure,
    logs,
    terminal::{self, Screen, session},
};

/// A server whose tools ask before they act: try it, or point your client at it.
///
/// At a terminal you pick a tool, a prompt or a resource, answer what it asks, and see each leg
/// of the call. Elsewhere one call is played, message by message, with a forged state, a repeated
/// answer and a second one. With --http or --stdio the server is served to clients of yours.
///
/// Calls that wait for an answer end with the process, unless its keys are in ANTIPHON_DEMO_KEYS: then
/// any process with the same keys goes on with them.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Demo {
    /// Serve on http://127.0.0.1:PORT/mcp until Ctrl-C; port 0 takes any that is free.
    ///
    /// The address is the first line on standard output.
    #[arg(long, value_name = "PORT", conflicts_with = "stdio")]
    http: Option<u16>,
    /// Serve on standard input and output.
    #[arg(long)]
    stdio: bool,
    /// Take whoever is sent to the sign-in page as signed in at once; always so with --stdio.
    #[arg(long)]
    auto_sign_in: bool,
    /// Print the address as JSON: url.
    #[arg(long, requires = "http")]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  antiphon demo                      try the tools at this terminal
  antiphon demo | less               read one call, message by message
  antiphon demo --http 8080          serve on http://127.0.0.1:8080/mcp
  antiphon demo --http 0             serve on a free port, which is printed
  antiphon demo --http 0 --auto-sign-in
                                     for scripts: nobody has to visit the sign-in page
  antiphon demo --stdio              for hosts that start their servers themselves
  export ANTIPHON_DEMO_KEYS=$(antiphon keygen)
                                     calls that wait outlive the demo

Exit codes: 0 done, 1 it went wrong, 2 wrong usage or keys, 3 it cannot start (the port is taken).";

impl Demo {
    /// What is logged. What the story and a person have refused, they see anyway.
    fn level(&self) -> LevelFilter {
        match self.http.is_some() || self.stdio {
            true => LevelFilter::WARN,
            false => LevelFilter::ERROR,
        }
    }

    pub(crate) async fn run(self) -> Result<(), Failure> {
        logs::listen(self.level());
        match self.http {
            Some(port) => serve::http(port, self.auto_sign_in, self.json).await,
            None if self.stdio => serve::stdio().await,
            None if is_played() => play(self.auto_sign_in).await,
            None => story::run().await,
        }
    }
}

/// Whether a person is there, who sees the legs as well, which are results here.
fn is_played() -> bool {
    terminal::is_attended() && std::io::stdout().is_terminal()
}

/// Lets a person try the server.
async fn play(auto_sign_in: bool) -> Result<(), Failure> {
    let served = serve::Served::bind(0, auto_sign_in).await?;
    let url = served.url();
    say!("A server whose tools ask is at {url} as long as this runs.");
    tokio::spawn(served.run());
    let client = Client::new("antiphon-demo", env!("CARGO_PKG_VERSION"));
    let server = session::client(client).connect(Http::new(url)).await?;
    let runtime = tokio::runtime::Handle::current();
    let session = move || {
        let _prompting = terminal::begin(&CancellationToken::new());
        session::run(&runtime, &server, &mut Screen)
    };
    tokio::select! {
        ended = tokio::task::spawn_blocking(session) => Ok(ended??),
        () = interrupted() => Err(Failure::interrupted()),
    }
}
