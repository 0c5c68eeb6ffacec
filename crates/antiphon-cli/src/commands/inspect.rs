//! `antiphon inspect`: what a server is and offers.

use antiphon::client::{Connection, Error};
use clap::Args;

use super::At;
use crate::{
    answering::Desk,
    calling::unless_interrupted,
    completing::{self, Offered},
    connect::Session,
    failure::Failure,
    options::{Asking, Connecting},
    progress::Progress,
    render::{
        self, Style,
        inspect::{Era, Inspected},
    },
    target::Place,
};

/// Show what a server speaks and offers.
///
/// That is its revision and how it was found out, its capabilities, tools with their arguments,
/// prompts, resources and templates.
#[derive(Args)]
#[command(
    override_usage = "antiphon inspect [OPTIONS] <URL|NAME>\n       \
                      antiphon inspect [OPTIONS] -- <COMMAND> [ARGS]...",
    after_help = EXAMPLES
)]
pub(crate) struct Inspect {
    #[command(flatten)]
    at: At,
    /// Print JSON: server, era, protocolVersion, negotiation, serverInfo, instructions,
    /// capabilities, tools, prompts, resources, resourceTemplates.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connecting: Connecting,
}

const EXAMPLES: &str = "\
Examples:
  antiphon inspect https://shop.example.com/mcp
  antiphon inspect shop --json | jq '.tools[].name'
  antiphon inspect --trace -- npx -y @modelcontextprotocol/server-everything
  antiphon inspect shop --protocol 2025-06-18

Exit codes are those of `antiphon call`.";

impl Inspect {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let words = self.at.words(&self.connecting)?;
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
            match self.json {
                true => say!("{}", render::json(&inspected, &style)?),
                false => say!("{}", render::inspect::inspect(&inspected, &style)),
            }
            Ok(())
        })
        .await
    }
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
