//! Who is calling: a server that wants tokens, those who issue them, and what each caller may do. Over
//! real sockets, with real keys.

mod canaries;
mod files;
mod introspecting;
mod issuer;
mod metadata;
mod mid_flow;
mod step_up;
mod tokens;

use std::net::SocketAddr;

use antiphon::http::{HttpService, serve};
use antiphon_tests::http::{Answer, post, send};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{Method, Request};
use serde_json::Value;
use tokio::task::JoinHandle;

/// A server on a port of its own, which it knew before it began.
struct Running {
    address: SocketAddr,
    task: JoinHandle<std::io::Result<()>>,
}

impl Running {
    /// Starts what is built for the URL that it will have.
    async fn start(build: impl FnOnce(String) -> HttpService) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port");
        let address = listener.local_addr().expect("an address");
        let service = build(format!("http://{address}/mcp"));
        let serving = serve(listener, service);
        let task = tokio::spawn(async move { serving.await });
        Self { address, task }
    }

    fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    fn metadata_url(&self) -> String {
        let address = self.address;
        format!("http://{address}/.well-known/oauth-protected-resource/mcp")
    }

    /// Posts a message with a token.
    async fn post(&self, token: &str, message: &Value) -> Answer {
        let mut request = post(message);
        if !token.is_empty() {
            let token = format!("Bearer {token}").parse().expect("a header");
            request.headers_mut().insert("authorization", token);
        }
        send(self.address, request).await
    }

    async fn ask(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
        ask(self.address, method, path, headers).await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sends a request without a body.
async fn ask(address: SocketAddr, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(Bytes::new())).expect("a request");
    send(address, request).await
}
