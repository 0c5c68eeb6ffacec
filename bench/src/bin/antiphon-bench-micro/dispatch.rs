//! One request through a whole server, as hyper would hand it over: [`Served`] is the server's HTTP
//! service without a connection.

use std::{
    pin::pin,
    task::{Context, Poll, Waker},
};

use antiphon::{
    Answer, Args, Ask, Form, Server, Stop,
    client::Bytes,
    http::{self as transport, HttpService},
    schemars::{self, JsonSchema},
};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use serde::Deserialize;
use tokio::runtime::Runtime;
use tower_service::Service;

use crate::{messages, meter::Meter};

/// A server that is running.
pub(crate) struct Served {
    service: HttpService,
    runtime: Runtime,
}

impl Served {
    pub(crate) fn new(server: Server) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let service = transport::service(server);
        let started = runtime.block_on(service.endpoint().start());
        started.expect("started");
        Self { service, runtime }
    }

    /// Sends a call of this tool and takes the answer; only what the server does counts.
    pub(crate) fn answer(&mut self, meter: &mut Meter, tool: &str, body: &Bytes) -> Bytes {
        let request = request(tool, body.clone());
        let _entered = self.runtime.enter();
        let response = meter.count(|| {
            let response = pin!(self.service.call(request));
            // None of these has anything to wait for.
            let Poll::Ready(Ok(response)) = response.poll(&mut Context::from_waker(Waker::noop()))
            else {
                panic!("the request waits");
            };
            response
        });
        whole(response)
    }
}

/// A POST as the contract has it.
fn request(tool: &str, body: Bytes) -> Request<Full<Bytes>> {
    Request::post("/mcp")
        .header("Host", "127.0.0.1:8080")
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", "tools/call")
        .header("Mcp-Name", tool)
        .header("Content-Length", body.len())
        .body(Full::new(body))
        .expect("a request")
}

fn whole(response: Response<transport::Body>) -> Bytes {
    assert_eq!(response.status(), 200);
    let body = pin!(response.into_body().collect());
    let Poll::Ready(Ok(body)) = body.poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("the answer waits");
    };
    body.to_bytes()
}

/// Returns its text.
#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

/// Runs an action once the user has agreed.
#[derive(Deserialize, JsonSchema)]
struct Confirm {
    action: String,
}

#[derive(Form)]
struct Agreed {
    ok: bool,
}

/// The server of the contract, but for what sleeps.
fn server() -> Server {
    Server::new("bench", "1.0.0")
        .tool("echo", async |Args(Echo { text }): Args<Echo>| text)
        .tool("confirm", run)
}

async fn run(Args(Confirm { action }): Args<Confirm>, ask: Ask) -> Result<String, Stop> {
    let _pad: String = ask.once("pad", async || Ok("x".repeat(48))).await?;
    Ok(match ask.form("confirm", format!("Run {action}?"))? {
        Answer::Accept(Agreed { ok: true }) => format!("done: {action}"),
        _ => "refused".to_owned(),
    })
}

/// A short call.
pub(crate) fn echo(meter: &mut Meter) {
    let mut served = Served::new(server());
    let body = Bytes::from(messages::call("echo", &messages::echo_arguments()));
    meter.repeat(|meter| {
        let answer = served.answer(meter, "echo", &body);
        assert!(holds(&answer, messages::TEXT));
    });
}

/// A call that asks, and again with the answer: both legs.
pub(crate) fn confirm(meter: &mut Meter) {
    let mut served = Served::new(server());
    let body = Bytes::from(messages::call("confirm", &messages::confirm_arguments()));
    meter.repeat(|meter| {
        let asked = served.answer(meter, "confirm", &body);
        let asked: serde_json::Value = serde_json::from_slice(&asked).expect("JSON");
        let state = asked["result"]["requestState"].as_str().expect("a state");
        let retry = Bytes::from(messages::retry(state));
        let answer = served.answer(meter, "confirm", &retry);
        assert!(holds(&answer, &format!("done: {}", messages::ACTION)));
    });
}

/// Whether an answer has this text in it.
pub(crate) fn holds(answer: &[u8], text: &str) -> bool {
    memchr::memmem::find(answer, text.as_bytes()).is_some()
}
