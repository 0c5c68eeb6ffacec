//! The contract's tools on rmcp, arranged in rmcp's favour: one tool table for all requests, and
//! plain JSON answers, which cost it less than its default of an event stream per request.

use std::{io, process::ExitCode, sync::Arc, time::Duration};

use contract::{Flags, Transport};
use hyper_util::service::TowerToHyperService;
use rmcp::{
    ServerHandler, ServiceExt,
    handler::server::{
        router::tool::{ToolRoute, ToolRouter},
        wrapper::Parameters,
    },
    model::{CallToolResult, ContentBlock, JsonObject, ServerCapabilities, ServerConfig, Tool},
    schemars::{self, JsonSchema},
    tool, tool_handler, tool_router,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Slow {
    ms: u64,
}

#[derive(Clone)]
struct Peer {
    router: Arc<ToolRouter<Self>>,
}

#[tool_router]
impl Peer {
    fn new(fillers: usize) -> Self {
        let schema: JsonObject =
            serde_json::from_str(contract::FILLER_SCHEMA).expect("the schema is an object");
        let schema = Arc::new(schema);
        let mut router = Self::tool_router();
        for index in 0..fillers {
            let (name, description) = contract::filler(index);
            let tool = Tool::new(name, description, schema.clone());
            let answer = || CallToolResult::success(vec![ContentBlock::text("filler")]);
            router.add_route(ToolRoute::new_dyn(tool, move |_| {
                Box::pin(async move { Ok(answer().into()) })
            }));
        }
        Self {
            router: Arc::new(router),
        }
    }

    #[tool(description = "Repeats its text.")]
    async fn echo(&self, Parameters(Echo { text }): Parameters<Echo>) -> String {
        text
    }

    #[tool(description = "Answers after a while.")]
    async fn slow(&self, Parameters(Slow { ms }): Parameters<Slow>) -> String {
        tokio::time::sleep(Duration::from_millis(ms)).await;
        format!("slept {ms}")
    }
}

#[tool_handler(router = self.router)]
impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

async fn http(port: u16, peer: Peer) -> io::Result<()> {
    let service = StreamableHttpService::new(
        move || Ok(peer.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default().with_json_response(true),
    );
    contract::serve(port, TowerToHyperService::new(service)).await
}

async fn stdio(peer: Peer) -> io::Result<()> {
    let running = peer.serve(rmcp::transport::stdio()).await;
    running.map_err(io::Error::other)?.waiting().await?;
    Ok(())
}

fn main() -> ExitCode {
    let flags = Flags::from_env("rmcp-server");
    let peer = Peer::new(flags.tools);
    let ended = flags.block_on(async {
        match flags.transport {
            Transport::Http(port) => http(port, peer).await,
            Transport::Stdio => stdio(peer).await,
        }
    });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rmcp-server: {error}");
            ExitCode::FAILURE
        }
    }
}
