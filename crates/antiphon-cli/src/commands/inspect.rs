//! `antiphon inspect`: what a server is and offers.

use antiphon::client::{Connection, Error};
use clap::Args;
use serde_json::{Value, json};

use super::At;
use crate::{
    answering::Desk,
    calling::unless_interrupted,
    completing::{self, Offered},
    connect::Session,
    failure::Failure,
    nearest,
    options::{Asking, Connecting},
    printable,
    progress::Progress,
    render::{
        self, Style,
        inspect::{Era, Inspected},
        item::Item,
    },
    target::{self, Configured, Environment, Known, Place},
};

/// Show what a server speaks and offers, or one thing that it offers, or the servers that are known.
///
/// Of a server that is its revision and how it was found out, its capabilities, tools with their
/// arguments, prompts, resources and templates. With NAME, a tool, a prompt, the URI of a resource, or
/// a template, that is shown in full. Without anything, the servers that files name are listed.
#[derive(Args)]
#[command(
    override_usage = "antiphon inspect [OPTIONS] [URL|NAME] [TOOL|PROMPT|URI|TEMPLATE]\n       \
                      antiphon inspect [OPTIONS] [TOOL|PROMPT|URI|TEMPLATE] -- <COMMAND> [ARGS]...",
    after_help = EXAMPLES
)]
pub(crate) struct Inspect {
    #[command(flatten)]
    at: At,
    /// Print JSON: server, era, protocolVersion, negotiation, serverInfo, instructions,
    /// capabilities, tools, prompts, resources, resourceTemplates. Of one thing, as the server sent
    /// it. Of the known servers, a list of name, file, and url, command or error.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connecting: Connecting,
}

const EXAMPLES: &str = "\
Examples:
  antiphon inspect
  antiphon inspect https://shop.example.com/mcp
  antiphon inspect shop order
  antiphon inspect shop --json | jq '.tools[].name'
  antiphon inspect --trace -- npx -y @modelcontextprotocol/server-everything
  antiphon inspect shop --protocol 2025-06-18

Exit codes are those of `antiphon call`.";

impl Inspect {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        if self.at.is_empty() {
            return self.servers();
        }
        let mut words = self.at.words(&self.connecting)?;
        let name = (!words.rest.is_empty()).then(|| words.rest.remove(0));
        words.end()?;
        let progress = Progress::stderr();
        // Some servers list only what their client can answer, so the client is that of a call.
        let asking = Asking {
            no_input: true,
            max_rounds: 10,
            ..Asking::default()
        };
        let desk = Desk::new(&asking, progress.clone())?;
        unless_interrupted(async {
            let place = words.place;
            let session =
                Session::open(place.clone(), &self.connecting, Some(&desk), &progress).await?;
            let inspected = match inspected(&session.connection).await {
                Ok(inspected) => Ok(inspected),
                Err(error) => Err(session.failure(error).await),
            };
            session.close().await;
            let inspected = inspected?;
            remember(&place, &inspected);
            let style = Style::of_stdout();
            match (name, self.json) {
                (Some(name), _) => return self.one(&inspected, &name, &style),
                (None, true) => say!("{}", render::json(&inspected, &style)?),
                (None, false) => say!("{}", render::inspect::inspect(&inspected, &style)),
            }
            Ok(())
        })
        .await
    }

    /// What a server offers by this name.
    fn one(&self, server: &Inspected, name: &str, style: &Style) -> Result<(), Failure> {
        let all = Item::all(server);
        let called: Vec<_> = all.iter().filter(|item| item.is_called(name)).collect();
        let Some(first) = called.first() else {
            let names: Vec<_> = all.iter().flat_map(Item::names).collect();
            return Err(Failure::usage(format!(
                "{} has no tool, prompt, resource or template {}. {}",
                printable::line(&server.server),
                printable::excerpt(name, 60),
                nearest::meant(name, &names)
            )));
        };
        if !self.json {
            let shown: Vec<_> = called.iter().map(|item| item.shown(style)).collect();
            say!("{}", shown.join("\n\n"));
            return Ok(());
        }
        say!("{}", render::json(first, style)?);
        for other in &called[1..] {
            let (first, other) = (first.kind(), other.kind());
            tell!("antiphon: this is the {first}; there is a {other} of that name, too");
        }
        Ok(())
    }

    /// The servers that files name.
    fn servers(&self) -> Result<(), Failure> {
        let environment = Environment::of_process();
        let config = self.connecting.config.as_deref();
        let known = target::known(config, &environment)?;
        let style = Style::of_stdout();
        if self.json {
            let known: Vec<_> = known.iter().map(summary).collect();
            say!("{}", render::json(&known, &style)?);
        } else if !known.is_empty() {
            let rows = known.iter().map(|known| {
                let place = match &known.server {
                    Ok(server) => server.shown(),
                    Err(why) => format!("cannot be used: {why}"),
                };
                let file = environment.shown(&known.from);
                (printable::line(&known.name), place, file)
            });
            say!("{}", render::inspect::servers(rows, &style));
        }
        match (known.is_empty(), config) {
            (false, _) => tell!("\nantiphon inspect NAME shows one of them."),
            (true, Some(_)) => tell!("antiphon: this file names no servers"),
            (true, None) => tell!(
                "antiphon: no servers are known; looked for {}",
                target::looked_for(&environment)
            ),
        }
        Ok(())
    }
}

/// A known server as JSON has it.
fn summary(known: &Known) -> Value {
    let mut summary = json!({ "name": known.name, "file": known.from.to_string_lossy() });
    let (field, value) = match &known.server {
        Ok(server @ Configured::Http { .. }) => ("url", server.shown()),
        Ok(server @ Configured::Stdio { .. }) => ("command", server.shown()),
        Err(why) => ("error", why.clone()),
    };
    summary[field] = value.into();
    summary
}

/// Keeps the lists for whoever completes a command line.
fn remember(place: &Place, inspected: &Inspected) {
    if let Some(tools) = &inspected.tools {
        completing::remember(place, Offered::Tools(tools));
    }
    if let Some(prompts) = &inspected.prompts {
        completing::remember(place, Offered::Prompts(prompts));
    }
    if let Some(resources) = &inspected.resources {
        let templates = inspected.resource_templates.as_deref().unwrap_or_default();
        completing::remember(place, Offered::Resources(resources, templates));
    }
}

async fn inspected(server: &Connection) -> Result<Inspected, Error> {
    let offers = server.server_capabilities();
    let (mut tools, mut prompts, mut resources, mut templates) = (None, None, None, None);
    if offers.tools.is_some() {
        tools = Some(server.tools().all().await?);
    }
    if offers.prompts.is_some() {
        prompts = Some(server.prompts().all().await?);
    }
    if offers.resources.is_some() {
        resources = Some(server.resources().all().await?);
        templates = Some(server.resource_templates().all().await?);
    }
    let version = server.protocol_version();
    Ok(Inspected {
        server: server.server().to_string(),
        era: Era::of(version),
        protocol_version: version,
        negotiation: server.negotiation(),
        server_info: server.server_info().cloned(),
        instructions: server.instructions().map(str::to_owned),
        capabilities: offers.clone(),
        tools,
        prompts,
        resources,
        resource_templates: templates,
    })
}
