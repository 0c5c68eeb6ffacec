//! `antiphon read`: read a resource.

use clap::Args;

use super::{At, Calling};
use crate::{
    calling::Wanted,
    connect::{Session, Words},
    failure::Failure,
};

/// Read a resource, and answer what it asks.
#[derive(Args)]
#[command(
    override_usage = "antiphon read [OPTIONS] <URL|NAME> <URI>\n       \
                      antiphon read [OPTIONS] <URI> -- <COMMAND> [ARGS]...",
    after_help = EXAMPLES
)]
pub(crate) struct Read {
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    calling: Calling,
}

const EXAMPLES: &str = "\
Examples:
  antiphon read https://shop.example.com/mcp shop://about
  antiphon read shop shop://cover/dune.png --out covers
  antiphon read shop://about --json -- ./my-server

Exit codes are those of `antiphon call`.";

impl Read {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let wanted = async move |_: &Session, words: &Words, uri: String| {
            words.end()?;
            Ok(Wanted::Resource(uri))
        };
        self.calling.call(self.at, "resource", wanted).await
    }
}
