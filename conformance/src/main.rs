//! The server under test: every fixture of the official conformance suite at 2026-07-28, written
//! by hand on the raw tier.
//!
//! `antiphon-conformance-server PORT` serves `http://127.0.0.1:PORT/mcp`.

mod fixtures;
mod prompts;
mod resources;
mod rounds;
mod state;
mod tools;

use std::sync::Arc;

use antiphon::raw::{
    About, Answering, Call, CallTool, Changes, Complete, Endpoint, GetPrompt, HeaderParams, List,
    Pages, ReadResource, Rendered, Reply, Service,
};
use antiphon::types::{
    CallToolResult, CompleteResult, GetPromptResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, ReadResourceResult,
    ServerCapabilities,
};

struct Fixtures {
    tools: Pages<ListToolsResult>,
    prompts: Pages<ListPromptsResult>,
    resources: Pages<ListResourcesResult>,
    templates: Pages<ListResourceTemplatesResult>,
    region: Arc<HeaderParams>,
    seal: state::Seal,
    changes: Changes,
}

impl Service for Fixtures {
    fn about(&self) -> About {
        let capabilities = ServerCapabilities::default()
            .tools(true)
            .prompts(true)
            .resources(true, true)
            .completions()
            .logging();
        About::new(Implementation::new(
            "antiphon-conformance",
            env!("CARGO_PKG_VERSION"),
        ))
        .capabilities(capabilities)
        .instructions("Fixtures of the conformance suite.")
        .changes(self.changes.clone())
    }

    fn list_tools<'a>(
        &'a self,
        _: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListToolsResult>> {
        Box::pin(async move { self.tools.page(list.cursor) })
    }

    fn call_tool<'a>(
        &'a self,
        call: &'a Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        Box::pin(async move {
            match rounds::tool(call, &tool, &self.seal) {
                Some(reply) => reply,
                None => tools::call(call, &tool, &self.changes)
                    .await
                    .map(Into::into),
            }
        })
    }

    fn header_params(&self, _: &Call<'_>, tool: &str) -> Option<Arc<HeaderParams>> {
        (tool == fixtures::HEADER_TOOL).then(|| self.region.clone())
    }

    fn list_prompts<'a>(
        &'a self,
        _: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListPromptsResult>> {
        Box::pin(async move { self.prompts.page(list.cursor) })
    }

    fn get_prompt<'a>(
        &'a self,
        _: &'a Call<'a>,
        prompt: GetPrompt<'a>,
    ) -> Answering<'a, Reply<GetPromptResult>> {
        Box::pin(async move { prompts::get(&prompt) })
    }

    fn list_resources<'a>(
        &'a self,
        _: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListResourcesResult>> {
        Box::pin(async move { self.resources.page(list.cursor) })
    }

    fn list_resource_templates<'a>(
        &'a self,
        _: &'a Call<'a>,
        list: List<'a>,
    ) -> Answering<'a, Rendered<ListResourceTemplatesResult>> {
        Box::pin(async move { self.templates.page(list.cursor) })
    }

    fn read_resource<'a>(
        &'a self,
        _: &'a Call<'a>,
        resource: ReadResource<'a>,
    ) -> Answering<'a, Reply<ReadResourceResult>> {
        Box::pin(async move { resources::read(resource.uri).map(Into::into) })
    }

    fn complete<'a>(
        &'a self,
        _: &'a Call<'a>,
        completion: Complete,
    ) -> Answering<'a, CompleteResult> {
        Box::pin(async move { Ok(prompts::complete(&completion)) })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port: u16 = std::env::args()
        .nth(1)
        .and_then(|port| port.parse().ok())
        .ok_or("usage: antiphon-conformance-server PORT")?;
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
    let region = Arc::new(HeaderParams::of(&fixtures::header_schema())?);
    let endpoint = Endpoint::new(Fixtures {
        tools: Pages::one(ListToolsResult::new(tools::all())),
        prompts: Pages::one(ListPromptsResult::new(prompts::all())),
        resources: Pages::one(ListResourcesResult::new(resources::all())),
        templates: Pages::one(ListResourceTemplatesResult::new(resources::templates())),
        region,
        seal: state::Seal::new()?,
        changes: Changes::new(),
    });
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    eprintln!("http://127.0.0.1:{port}/mcp");
    antiphon::http::serve(listener, antiphon::http::service(endpoint)).await?;
    Ok(())
}
