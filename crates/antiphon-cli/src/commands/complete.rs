//! `antiphon complete`: how an argument could go on.

use antiphon::types::CompleteRequestParams;
use clap::Args;

use super::At;
use crate::{
    calling::unless_interrupted,
    connect::Session,
    failure::Failure,
    options::Connecting,
    printable,
    progress::Progress,
    render::{self, Style},
};

/// Ask how an argument of a prompt or of a resource template could go on.
///
/// The first KEY=TYPED is the argument to complete; others are what is known already.
#[derive(Args)]
#[command(
    override_usage = "antiphon complete [OPTIONS] <URL|NAME> <PROMPT|TEMPLATE> <KEY=TYPED> [KEY=VALUE]...\n       \
                      antiphon complete [OPTIONS] <PROMPT|TEMPLATE> <KEY=TYPED> [KEY=VALUE]... -- <COMMAND> [ARGS]...",
    after_help = EXAMPLES
)]
pub(crate) struct Complete {
    #[command(flatten)]
    at: At,
    /// Print the result as JSON: values, total, hasMore.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connecting: Connecting,
}

const EXAMPLES: &str = "\
Examples:
  antiphon complete shop review title=Du
  antiphon complete shop 'shop://books/{genre}/{title}' title=Du genre=novel
  antiphon complete review title=Du --json -- ./my-server

What contains `{` or `://` is the URI of a template, anything else the name of a prompt.
Exit codes are those of `antiphon call`.";

impl Complete {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let mut words = self.at.words(&self.connecting)?;
        let of = words.take("prompt or template")?;
        let mut pairs = words.rest.iter().map(|word| {
            word.split_once('=').ok_or_else(|| {
                let word = printable::excerpt(word, 100);
                Failure::usage(format!("`{word}`: what is typed is written as KEY=TYPED"))
            })
        });
        let Some(first) = pairs.next() else {
            return Err(Failure::usage("which argument? Write it as KEY=TYPED"));
        };
        let (name, typed) = first?;
        let mut params = match of.contains('{') || of.contains("://") {
            true => CompleteRequestParams::template(&of, name, typed),
            false => CompleteRequestParams::prompt(&of, name, typed),
        };
        for known in pairs {
            let (name, value) = known?;
            params = params.known(name, value);
        }
        let progress = Progress::stderr();
        let place = words.place;
        unless_interrupted(async {
            let session = Session::open(place, &self.connecting, None, &progress).await?;
            let completed = match session.connection.complete(params).await {
                Ok(result) => Ok(result.completion),
                Err(error) => Err(session.failure(error).await),
            };
            session.close().await;
            let completion = completed?;
            match self.json {
                true => say!("{}", render::json(&completion, &Style::of_stdout())?),
                false => {
                    for value in &completion.values {
                        say!("{}", printable::line(value));
                    }
                    if completion.has_more == Some(true) {
                        tell!("antiphon: there are more");
                    }
                }
            }
            Ok(())
        })
        .await
    }
}
