//! How does one mount an MCP endpoint in an axum application, behind a bearer token?
//! `axum-mount PORT`, then POST to `/mcp` with `Authorization: Bearer secret`.

use antiphon::{
    auth::{Principal, StaticTokens},
    http,
    raw::{About, Answering, Call, CallTool, Endpoint, Error, Reply, Service},
    types::{CallToolResult, Implementation, ServerCapabilities},
};
use axum::{Router, routing::get};

/// Tells its callers who they are.
struct Doorman;

impl Service for Doorman {
    fn about(&self) -> About {
        About::new(Implementation::new("doorman", "1.0"))
            .capabilities(ServerCapabilities::default().tools(false))
    }

    fn call_tool<'a>(
        &'a self,
        call: &'a Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        Box::pin(async move {
            if tool.name != "whoami" {
                return Err(Error::invalid_params(format!(
                    "Unknown tool: {}",
                    tool.name
                )));
            }
            let subject = call
                .principal()
                .and_then(|principal| principal.subject.as_deref());
            Ok(CallToolResult::text(subject.unwrap_or("nobody")).into())
        })
    }
}

/// The application: its own routes, and ours among them.
fn app() -> Router {
    let tokens = StaticTokens::new().token("secret", Principal::subject("ada"));
    let mcp = http::service(Endpoint::new(Doorman)).verifier(tokens);
    Router::new()
        .route("/health", get(|| async { "fine" }))
        .route_service("/mcp", mcp)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port: u16 = std::env::args()
        .nth(1)
        .ok_or("usage: axum-mount PORT")?
        .parse()?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    axum::serve(listener, app()).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    /// The example runs, and the token decides.
    #[tokio::test]
    async fn it_knows_its_callers() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move { axum::serve(listener, super::app()).await });
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        let ask = move |authorization: &'static str| {
            tokio::task::spawn_blocking(move || {
                let mut stream = std::net::TcpStream::connect(address).expect("connected");
                let length = body.len();
                write!(
                    stream,
                    "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: whoami\r\nauthorization: {authorization}\r\ncontent-length: {length}\r\n\r\n{body}"
                )
                .expect("written");
                let mut answer = String::new();
                stream.read_to_string(&mut answer).expect("answered");
                answer
            })
        };
        let good = ask("Bearer secret").await.expect("no panic");
        assert!(good.contains(r#""text":"ada""#), "{good}");
        let bad = ask("Bearer guess").await.expect("no panic");
        assert!(bad.starts_with("HTTP/1.1 401"), "{bad}");
    }
}
