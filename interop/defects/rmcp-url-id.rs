//! The client of rmcp 3.8.0 does not understand a question that is a URL as 2026-07-28 has it: it wants an `elicitationId`, which that
//! revision has no more, and takes the whole result for something else ("Unexpected response type").
//!
//! Exits with 0 if the defect is there, with 1 if it is gone.

use std::process::ExitCode;

use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient,
    model::{
        CallToolRequestParams, ElicitRequestParams, ElicitResult, ElicitationAction,
        ProtocolVersion,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split};

struct Agrees;

impl ClientHandler for Agrees {
    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept))
    }
}

/// A server in plain JSON: each call of a tool asks this, and ends once it is answered.
async fn serve(stream: DuplexStream, question: Value) -> std::io::Result<()> {
    let (reader, mut writer) = split(stream);
    let mut lines = BufReader::new(reader).lines();
    while let Some(line) = lines.next_line().await? {
        let message: Value = serde_json::from_str(&line)?;
        let result = match (
            message["method"].as_str(),
            &message["params"]["inputResponses"],
        ) {
            (Some("server/discover"), _) => json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
                "ttlMs": 0, "cacheScope": "private",
            }),
            (Some("tools/call"), Value::Null) => json!({
                "resultType": "input_required", "requestState": "state",
                "inputRequests": { "page": { "method": "elicitation/create", "params": question } },
            }),
            (Some("tools/call"), _) => json!({ "resultType": "complete", "content": [] }),
            _ => continue,
        };
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        writer.write_all(format!("{answer}\n").as_bytes()).await?;
    }
    Ok(())
}

/// What comes of a call that asks this.
async fn call(question: Value) -> Result<(), String> {
    let (here, there) = duplex(1 << 16);
    tokio::spawn(serve(there, question));
    let modern = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    let client = Agrees.serve_with_lifecycle(here, modern).await;
    let client = client.expect("the server can be discovered");
    let result = client.call_tool(CallToolRequestParams::new("any")).await;
    result.map(drop).map_err(|error| error.to_string())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut question =
        json!({ "mode": "url", "message": "Please sign in", "url": "https://example.com/" });
    let right = call(question.clone()).await;
    question["elicitationId"] = json!("1");
    let with_id = call(question).await;
    println!(
        "a URL as 2026-07-28 has it: {right:?}; with the elicitationId of 2025-11-25: {with_id:?}"
    );
    match (right, with_id) {
        (Err(_), Ok(())) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
