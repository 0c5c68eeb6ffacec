//! The server of rmcp 3.8.0 acknowledges a subscription before the handler `listen` begins, which is the first to be given the way to tell
//! the client anything. So a client that makes a change right after the acknowledgment is often not told of it.
//!
//! Exits with 0 if the defect is there, with 1 if it is gone: no handler was late in a thousand subscriptions.

use std::{
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ServerCapabilities, ServerConfig,
        SubscriptionFilter,
    },
    service::{RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, duplex};

const TRIES: u32 = 1000;

/// Whether somebody listens; each call of a tool asks.
#[derive(Clone, Default)]
struct Server(Arc<AtomicBool>);

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools();
        ServerConfig::new(capabilities.enable_tool_list_changed().build())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.0.store(true, SeqCst);
        context.cancelled().await;
        Ok(())
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::structured(json!(self.0.load(SeqCst))).into())
    }
}

/// A client in plain JSON.
struct Client(Lines<BufReader<DuplexStream>>);

impl Client {
    async fn send(&mut self, id: u32, method: &str, mut params: Value) {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "plain", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let stream = self.0.get_mut().get_mut();
        let sent = stream.write_all(format!("{request}\n").as_bytes()).await;
        sent.expect("the server reads");
    }

    async fn receive(&mut self) -> Value {
        let line = self.0.next_line().await.expect("the server writes");
        serde_json::from_str(&line.expect("the server goes on")).expect("it is JSON")
    }
}

/// Whether a tool, called after the acknowledgment, found that somebody listens.
async fn is_listened_to() -> bool {
    let (here, there) = duplex(1 << 16);
    let serving = tokio::spawn(Server::default().serve(there));
    let mut client = Client(BufReader::new(here).lines());
    client
        .send(
            1,
            "subscriptions/listen",
            json!({ "notifications": { "toolsListChanged": true } }),
        )
        .await;
    let acknowledged = client.receive().await;
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    client
        .send(2, "tools/call", json!({ "name": "any", "arguments": {} }))
        .await;
    let answer = client.receive().await;
    // The server ends with its handle.
    drop(serving);
    answer["result"]["structuredContent"] == true
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut late = 0;
    for _ in 0..TRIES {
        if !is_listened_to().await {
            late += 1;
        }
    }
    println!(
        "of {TRIES} subscriptions that were acknowledged, {late} were not listened to when the next call came"
    );
    match late {
        0 => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    }
}
