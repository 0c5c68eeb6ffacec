//! The contract's tools on rmcp, arranged in rmcp's favour: one tool table for all requests, and
//! plain JSON answers, which cost it less than its default of an event stream per request. Clients
//! of 2025-11-25 have sessions, and are asked on the stream of their call.

use std::{fmt::Display, io, process::ExitCode, sync::Arc, time::Duration};

use contract::{Flags, Nested, Transport};
use hyper_util::service::TowerToHyperService;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    handler::server::{
        router::tool::{ToolRoute, ToolRouter},
        tool::{InputResponses, RequestState},
        wrapper::Parameters,
    },
    model::{
        CallToolResponse, CallToolResult, ContentBlock, ElicitRequest, ElicitRequestParams,
        ElicitationSchema, InputRequest, InputRequests, InputRequiredResult, JsonObject,
        ProtocolVersion, RequestStateCodec, SealOptions, ServerCapabilities, ServerConfig, Tool,
    },
    schemars::{self, JsonSchema},
    service::RequestContext,
    tool, tool_handler, tool_router,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Slow {
    ms: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Confirm {
    action: String,
}

/// What `confirm` keeps with the client between its two legs.
#[derive(Deserialize, Serialize)]
struct State {
    step: String,
    action: String,
    pad: String,
}

/// How long it may be used.
const LIFE: Duration = Duration::from_secs(600);

#[derive(Clone)]
struct Peer {
    router: Arc<ToolRouter<Self>>,
    codec: Arc<RequestStateCodec>,
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
            router.add_route(ToolRoute::new_dyn(tool, |_| {
                Box::pin(async { Ok(text("filler")) })
            }));
        }
        let mut key = [0_u8; 32];
        rand::fill(&mut key);
        let codec = RequestStateCodec::try_new(key).expect("the key is long enough");
        Self {
            router: Arc::new(router),
            codec: Arc::new(codec),
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

    #[tool(description = "Counts what is ordered.")]
    async fn nested(&self, Parameters(orders): Parameters<Nested>) -> String {
        orders.summary()
    }

    #[tool(description = "Asks before it acts.")]
    async fn confirm(
        &self,
        Parameters(Confirm { action }): Parameters<Confirm>,
        RequestState(sealed): RequestState,
        InputResponses(answers): InputResponses,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let version = context.protocol_version();
        if version.is_some_and(|version| version < ProtocolVersion::V_2026_07_28) {
            let answer = context.peer.create_elicitation(form(&action)).await;
            let answer = answer.map_err(internal)?;
            let answer = serde_json::to_value(answer).map_err(internal)?;
            return Ok(outcome(agreed(&answer), &action));
        }
        let bound = format!("tools/call\0confirm\0{action}");
        let Some(sealed) = sealed else {
            return self.ask(action, &bound);
        };
        let state: State = self
            .codec
            .open_json_with(&sealed, bound.as_bytes())
            .map_err(|_| ErrorData::invalid_params("the request state is not valid", None))?;
        let Some(answer) = answers.as_ref().and_then(|all| all.get("confirm")) else {
            return self.ask(action, &bound);
        };
        let agreed = agreed(answer) && state.step == "confirm";
        Ok(outcome(agreed, &state.action))
    }

    fn ask(&self, action: String, bound: &str) -> Result<CallToolResponse, ErrorData> {
        let form = form(&action);
        let state = State {
            step: "confirm".to_owned(),
            action,
            pad: "x".repeat(140),
        };
        let options = SealOptions::new()
            .associated_data(bound.as_bytes())
            .ttl(LIFE);
        let sealed = self
            .codec
            .seal_json_with(&state, &options)
            .map_err(internal)?;
        let mut questions = InputRequests::new();
        let question = InputRequest::Elicitation(ElicitRequest::new(form));
        questions.insert("confirm".to_owned(), question);
        Ok(InputRequiredResult::new(Some(questions), Some(sealed)).into())
    }
}

fn form(action: &str) -> ElicitRequestParams {
    let schema = ElicitationSchema::builder().required_bool("ok").build();
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("Run {action}?"),
        requested_schema: schema.expect("the schema is well formed"),
    }
}

fn agreed(answer: &Value) -> bool {
    answer["action"] == "accept" && answer["content"]["ok"] == true
}

fn outcome(agreed: bool, action: &str) -> CallToolResponse {
    match agreed {
        true => text(format!("done: {action}")),
        false => text("refused"),
    }
}

fn internal(error: impl Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn text(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
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
