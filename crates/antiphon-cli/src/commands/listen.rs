//! `antiphon listen`: what changes at a server.

use std::time::Duration;

use antiphon::{client::Change, types::SubscriptionFilter};
use clap::Args;
use serde_json::json;
use tokio::time::{Instant, sleep_until};

use super::At;
use crate::{
    calling::unless_interrupted,
    connect::Session,
    failure::{Exit, Failure},
    options::Connecting,
    printable,
    progress::Progress,
    render,
};

/// Listen for changes: a line for each, until Ctrl-C.
///
/// Without URIs, changes of the lists of tools, prompts and resources are told; with URIs, those of
/// the resources there, and of the lists that are asked for.
#[derive(Args)]
#[command(
    override_usage = "antiphon listen [OPTIONS] <URL|NAME> [URI]...\n       \
                      antiphon listen [OPTIONS] [URI]... -- <COMMAND> [ARGS]...",
    after_help = EXAMPLES
)]
pub(crate) struct Listen {
    #[command(flatten)]
    at: At,
    /// Changes of the list of tools.
    #[arg(long)]
    tools: bool,
    /// Changes of the list of prompts.
    #[arg(long)]
    prompts: bool,
    /// Changes of the list of resources.
    #[arg(long)]
    resources: bool,
    /// End after so many changes.
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// End after this time, such as 30s.
    #[arg(long = "for", value_name = "TIME", value_parser = humantime::parse_duration)]
    for_time: Option<Duration>,
    /// Print a JSON object for each change: change, and uri for that of a resource.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connecting: Connecting,
}

const EXAMPLES: &str = "\
Examples:
  antiphon listen https://shop.example.com/mcp
  antiphon listen shop shop://stock --count 1
  antiphon listen shop --tools --for 10m --json
  antiphon listen -- ./my-server

Exit codes: 0 the time or the count is over, 130 interrupted; the others are those of
`antiphon call`. A server that ends the subscription: 4.";

impl Listen {
    fn filter(&self, uris: &[String]) -> SubscriptionFilter {
        let mut filter = SubscriptionFilter::new();
        let all = uris.is_empty() && !(self.tools || self.prompts || self.resources);
        if self.tools || all {
            filter = filter.tools();
        }
        if self.prompts || all {
            filter = filter.prompts();
        }
        if self.resources || all {
            filter = filter.resources();
        }
        for uri in uris {
            filter = filter.resource(uri);
        }
        filter
    }

    pub(crate) async fn run(self) -> Result<(), Failure> {
        let words = self.at.words(&self.connecting)?;
        let filter = self.filter(&words.rest);
        let progress = Progress::stderr();
        // A time that is too far away never comes.
        let until = self.for_time;
        let until = until.and_then(|time| Instant::now().checked_add(time));
        unless_interrupted(async {
            let session = Session::open(words.place, &self.connecting, None, &progress).await?;
            let told = self.tell(&session, filter, until).await;
            session.close().await;
            told
        })
        .await
    }

    async fn tell(
        &self,
        session: &Session,
        filter: SubscriptionFilter,
        until: Option<Instant>,
    ) -> Result<(), Failure> {
        let mut changes = match session.connection.listen(filter).await {
            Ok(changes) => changes,
            Err(error) => return Err(session.failure(error).await),
        };
        let acknowledged = serde_json::to_string(changes.acknowledged())?;
        tell!("antiphon: listening for {}", printable::line(&acknowledged));
        let mut left = self.count;
        while left != Some(0) {
            let over = async {
                match until {
                    Some(until) => sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            let change = tokio::select! {
                biased;
                change = changes.next() => change,
                () = over => return Ok(()),
            };
            match change {
                Some(Ok(change)) => self.say(&change),
                Some(Err(error)) => return Err(session.failure(error).await),
                None => {
                    let text = "the server ended the subscription";
                    return Err(Failure::new(Exit::Protocol, text));
                }
            }
            left = left.map(|left| left - 1);
        }
        Ok(())
    }

    fn say(&self, change: &Change) {
        let (what, uri) = match change {
            Change::Tools => ("tools", None),
            Change::Prompts => ("prompts", None),
            Change::Resources => ("resources", None),
            Change::Resource(uri) => ("resource", Some(uri)),
            _ => ("something", None),
        };
        match (self.json, uri) {
            (true, None) => say!("{}", json!({ "change": what })),
            (true, Some(uri)) => {
                let change = json!({ "change": what, "uri": uri });
                say!("{}", render::json_line(&change));
            }
            (false, None) => say!("{what}"),
            (false, Some(uri)) => say!("{what} {}", printable::line(uri)),
        }
    }
}
