//! A small HTTP client, enough for the demo: one connection, one call at a time.

use std::{error::Error, net::SocketAddr};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};

pub(crate) struct Driver {
    sender: http1::SendRequest<Full<Bytes>>,
    host: String,
    next_id: u64,
}

/// What was sent and what came back.
pub(crate) struct Exchange {
    pub(crate) request: Value,
    pub(crate) status: u16,
    pub(crate) response: Value,
}

impl Exchange {
    pub(crate) fn result(&self) -> Result<&Value, Box<dyn Error>> {
        let result = self.response.get("result");
        result.ok_or_else(|| format!("the server answered {}", self.response).into())
    }

    pub(crate) fn error_code(&self) -> Option<i64> {
        self.response["error"]["code"].as_i64()
    }
}

const VERSION: &str = "2026-07-28";

impl Driver {
    pub(crate) async fn connect(address: SocketAddr) -> Result<Self, Box<dyn Error>> {
        let stream = tokio::net::TcpStream::connect(address).await?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self {
            sender,
            host: address.to_string(),
            next_id: 1,
        })
    }

    /// Calls a tool; a retry brings its answers and the state.
    pub(crate) async fn call(
        &mut self,
        tool: &str,
        arguments: &Value,
        retry: Option<(&Value, &str)>,
    ) -> Result<Exchange, Box<dyn Error>> {
        let mut params = json!({
            "name": tool,
            "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": VERSION,
                "io.modelcontextprotocol/clientInfo": {
                    "name": "antiphon-demo", "version": env!("CARGO_PKG_VERSION")
                },
                "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } }
            }
        });
        if let Some((answers, state)) = retry {
            params["inputResponses"] = answers.clone();
            params["requestState"] = json!(state);
        }
        let request = json!({
            "jsonrpc": "2.0", "id": self.next_id, "method": "tools/call", "params": params
        });
        self.next_id += 1;
        let post = Request::post("/mcp")
            .header("host", &self.host)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", VERSION)
            .header("mcp-method", "tools/call")
            .header("mcp-name", tool)
            .body(Full::new(Bytes::from(request.to_string())))?;
        let response = self.sender.send_request(post).await?;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await?.to_bytes();
        Ok(Exchange {
            request,
            status,
            response: serde_json::from_slice(&body)?,
        })
    }
}
