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
    render, say,
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
`antiphon call`. A server that ends the subscription, or tells nothing of what was asked for: 4.";

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
        let mut changes = match session.connection.listen(filter.clone()).await {
            Ok(changes) => changes,
            Err(error) => return Err(session.failure(error).await),
        };
        let (told, untold) = told(&filter, changes.acknowledged());
        let what = printable::excerpt(&untold.join(", "), 400);
        let untold = (!untold.is_empty()).then(|| format!("the server tells no changes of {what}"));
        if let (true, Some(untold)) = (told.is_empty(), &untold) {
            return Err(Failure::new(Exit::Protocol, untold));
        }
        let acknowledged = serde_json::to_string(changes.acknowledged())?;
        tell!("antiphon: listening for {}", printable::line(&acknowledged));
        if let Some(untold) = untold {
            tell!("antiphon: {untold}");
        }
        let mut left = self.count;
        // Whoever reads only the first ones has heard enough.
        while left != Some(0) && !say::is_over() {
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

/// Of what was asked for, what the server will tell of, and what not.
fn told<'a>(
    asked: &'a SubscriptionFilter,
    acknowledged: &SubscriptionFilter,
) -> (Vec<&'a str>, Vec<&'a str>) {
    let told = parts(acknowledged);
    parts(asked)
        .into_iter()
        .partition(|part| told.contains(part))
}

/// The lists by name, and the resources.
fn parts(filter: &SubscriptionFilter) -> Vec<&str> {
    let lists = [
        (filter.tools_list_changed, "tools"),
        (filter.prompts_list_changed, "prompts"),
        (filter.resources_list_changed, "resources"),
    ];
    let lists = lists
        .into_iter()
        .filter(|(wanted, _)| *wanted == Some(true));
    let uris = filter.resource_subscriptions.iter().flatten();
    lists
        .map(|(_, name)| name)
        .chain(uris.map(String::as_str))
        .collect()
}
