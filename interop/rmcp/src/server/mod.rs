//! The server. Nothing of the contract is left out.
//!
//! Two things are done by hand, since rmcp's macros cannot do them: the prompt `letter` (a prompt of the macros may ask, but
//! never sees the answer), and everything about resources (there are no macros for them). And one is made up for: rmcp
//! acknowledges a subscription before its handler begins, so a change in between would be lost (`defects/rmcp-listen-late.rs`).

mod ask;
mod asking;
mod plain;
mod resources;

use std::{
    collections::VecDeque,
    error::Error,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
};

use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    handler::server::{
        prompt::PromptContext,
        router::{prompt::PromptRouter, tool::ToolRouter},
    },
    model::*,
    service::{RequestContext, SubscriptionContext},
    tool_handler,
    transport::streamable_http_server::{
        StreamableHttpService, session::local::LocalSessionManager,
    },
};
use tokio::net::TcpListener;

use ask::Ask;
use resources::{Listener, Listeners};

use crate::NOTE;

/// What one connection sees: over HTTP, a session or a request.
struct Ensemble {
    tools: ToolRouter<Self>,
    prompts: PromptRouter<Self>,
    shared: Arc<Shared>,
    /// What an older client wants to have logged.
    level: Mutex<LoggingLevel>,
    /// How often the note was touched when each subscription was accepted that is not listened to yet.
    accepted: Mutex<VecDeque<u32>>,
    /// Which listener an older client is.
    subscription: Mutex<Option<u64>>,
}

/// What all connections share.
struct Shared {
    codec: RequestStateCodec,
    /// Whether a sleep was cancelled.
    woken: AtomicBool,
    /// How often the note was touched.
    touched: AtomicU32,
    listeners: Mutex<Listeners>,
}

impl Shared {
    fn new() -> Self {
        let mut key = [0_u8; 32];
        rand::fill(&mut key);
        Self {
            codec: RequestStateCodec::try_new(key).expect("the key is long enough"),
            woken: AtomicBool::default(),
            touched: AtomicU32::default(),
            listeners: Mutex::default(),
        }
    }
}

impl Ensemble {
    fn new(shared: Arc<Shared>) -> Self {
        Self {
            tools: Self::plain_tools() + Self::asking_tools(),
            prompts: Self::plain_prompts(),
            shared,
            level: Mutex::new(LoggingLevel::Info),
            accepted: Mutex::default(),
            subscription: Mutex::default(),
        }
    }
}

#[tool_handler(router = self.tools)]
impl ServerHandler for Ensemble {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_logging()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("ensemble", "1.0"))
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        *self.level.lock().expect("nobody panics") = request.level;
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut prompts = self.prompts.list_all();
        prompts.push(Prompt::new("letter", Some("Asks to whom it goes"), None));
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name == "letter" {
            return self.letter(Ask::prompt(self, request, context)?).await;
        }
        let context = PromptContext::new(self, request.name, request.arguments, context);
        self.prompts.get_prompt(context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let argument = request.argument;
        let values = match (request.r#ref.as_prompt_name(), argument.name.as_str()) {
            (Some("greet"), "style") => plain::styles(&argument.value),
            _ => Vec::new(),
        };
        let completion = CompletionInfo::with_all_values(values);
        Ok(CompleteResult::new(
            completion.expect("there are few values"),
        ))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        resources::page(request.and_then(|request| request.cursor))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let report = ResourceTemplate::new("report://{id}", "report");
        Ok(ListResourceTemplatesResult::with_all_items(vec![report]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri.starts_with("report://") {
            let uri = request.uri.clone();
            return self
                .report(Ask::resource(self, request, context)?, &uri)
                .await;
        }
        self.read(&request.uri)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if request.uri != NOTE {
            return Err(resources::unknown(&request.uri));
        }
        let listener = self.listeners().add(Listener::Legacy(context.peer));
        self.replace_subscription(Some(listener));
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if request.uri == NOTE {
            self.replace_subscription(None);
        }
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = self.accepted.lock().expect("nobody panics");
        accepted.push_back(self.shared.touched.load(SeqCst));
        Some(requested.intersection(&resources::watched()))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let listener = self
            .listeners()
            .add(Listener::Modern(context.sink().clone()));
        if self.missed_a_change() {
            // It fails if the note is not listened to.
            _ = context.sink().notify_resource_updated(NOTE).await;
        }
        context.cancelled().await;
        self.listeners().remove(listener);
        Ok(())
    }
}

pub(crate) async fn run(words: &[String]) -> Result<(), Box<dyn Error>> {
    let shared = Arc::new(Shared::new());
    match words {
        [transport] if transport == "--stdio" => {
            let running = Ensemble::new(shared).serve(rmcp::transport::stdio());
            running.await?.waiting().await?;
            Ok(())
        }
        [transport, port] if transport == "--http" => http(port.parse()?, shared).await,
        _ => Err("usage: peer server --stdio | --http PORT".into()),
    }
}

async fn http(port: u16, shared: Arc<Shared>) -> Result<(), Box<dyn Error>> {
    let service = TowerToHyperService::new(StreamableHttpService::new(
        move || Ok(Ensemble::new(shared.clone())),
        Arc::new(LocalSessionManager::default()),
        Default::default(),
    ));
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("ready");
    loop {
        let (stream, _) = listener.accept().await?;
        let connection =
            http1::Builder::new().serve_connection(TokioIo::new(stream), service.clone());
        tokio::spawn(connection);
    }
}
