//! The contract's job for clients, on rmcp.

#[path = "../../../src/cpu.rs"]
mod cpu;
#[path = "../../../src/job.rs"]
mod job;

use job::{Caller, Failure};
use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
        ElicitationAction, ElicitationCapability, Implementation, JsonObject, ProtocolVersion,
    },
    service::{ClientLifecycleMode, ClientServiceExt, RequestContext, RunningService},
    transport::StreamableHttpClientTransport,
};
use serde_json::json;

/// Agrees to everything.
struct User;

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::default());
        ClientConfig::new(capabilities, Implementation::new("bench", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "ok": true })))
    }
}

struct Peer(RunningService<RoleClient, User>);

impl Peer {
    async fn call(&self, tool: &'static str, key: &str, value: &str) -> Result<String, Failure> {
        let mut arguments = JsonObject::new();
        arguments.insert(key.to_owned(), value.into());
        let call = CallToolRequestParams::new(tool).with_arguments(arguments);
        let result = self.0.call_tool(call).await?;
        let first = result.content.first().and_then(|block| block.as_text());
        Ok(first.ok_or("the tool said nothing")?.text.clone())
    }
}

impl Caller for Peer {
    async fn connect(url: &str) -> Result<Self, Failure> {
        let modern = ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        };
        let transport = StreamableHttpClientTransport::from_uri(url);
        Ok(Self(User.serve_with_lifecycle(transport, modern).await?))
    }

    async fn echo(&mut self, text: &str) -> Result<String, Failure> {
        self.call("echo", "text", text).await
    }

    async fn confirm(&mut self, action: &str) -> Result<String, Failure> {
        self.call("confirm", "action", action).await
    }
}

fn main() -> Result<(), Failure> {
    job::run::<Peer>()
}
