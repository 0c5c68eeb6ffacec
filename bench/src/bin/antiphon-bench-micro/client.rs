//! A client: a request written, an answer read, and both around a server that answers at once.

use std::{future::Future, hint::black_box};

use antiphon::{
    Client,
    client::{
        Connect, Connection, Error, Events, Identity, Incoming, Outgoing, Pending, Transport,
    },
    types::{Outcome, decode_result, method::CallTool},
};
use antiphon_core::{reply::Reply, write};
use serde::Serialize;
use serde_json::{json, value::to_raw_value};
use tokio::runtime::Runtime;

use crate::{dispatch::holds, messages, meter::Meter};

#[derive(Serialize)]
struct Echo<'a> {
    text: &'a str,
}

#[derive(Serialize)]
struct Confirm<'a> {
    action: &'a str,
}

/// A result that is there.
fn complete(text: &str) -> String {
    format!(
        r#"{{"resultType":"complete","content":[{{"type":"text","text":"{text}"}}],"_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"bench","version":"1.0.0"}}}}}}"#
    )
}

/// A result that asks, as a server of ours would.
fn asked() -> String {
    let (action, state) = (messages::ACTION, "s".repeat(400));
    let schema = r#"{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}"#;
    format!(
        r#"{{"resultType":"input_required","inputRequests":{{"confirm":{{"method":"elicitation/create","params":{{"mode":"form","message":"Run {action}?","requestedSchema":{schema}}}}}}},"requestState":"{state}","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"bench","version":"1.0.0"}}}}}}"#
    )
}

fn response(id: i64, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// A call: its arguments, then the request around them.
pub(crate) fn encode(meter: &mut Meter) {
    #[derive(Serialize)]
    struct Params<'a> {
        name: &'a str,
        arguments: &'a serde_json::value::RawValue,
    }
    meter.repeat(|meter| {
        let body = meter.count(|| {
            let text = black_box(messages::TEXT);
            let arguments = to_raw_value(&Echo { text }).expect("JSON");
            let params = Params {
                name: "echo",
                arguments: &arguments,
            };
            let mut body = Vec::with_capacity(messages::META.len() + 256);
            let id = black_box(10_000_001);
            write::request(&mut body, id, "tools/call", &params, messages::META, None)
                .map(|()| body)
        });
        assert!(holds(&body.expect("JSON"), messages::TEXT));
    });
}

/// An answer: whose it is, then the result.
pub(crate) fn decode(meter: &mut Meter) {
    let answer = response(7, &complete(messages::TEXT));
    meter.repeat(|meter| {
        let outcome = meter.count(|| read(&answer));
        let Outcome::Complete(result) = outcome else {
            panic!("a result")
        };
        assert_eq!(result.first_text(), Some(messages::TEXT));
    });
}

/// An answer that asks.
pub(crate) fn decode_asked(meter: &mut Meter) {
    let answer = response(7, &asked());
    meter.repeat(|meter| {
        let outcome = meter.count(|| read(&answer));
        let Outcome::InputRequired(asked) = outcome else {
            panic!("a question")
        };
        assert_eq!(asked.requests().len(), 1);
        assert_eq!(asked.state().map(str::len), Some(400));
    });
}

fn read(answer: &str) -> Outcome<antiphon::types::CallToolResult> {
    match Reply::parse(black_box(answer.as_bytes())) {
        Ok(Reply::Result { id, result }) if id.as_i64() == Some(7) => {
            decode_result::<CallTool>(result).expect("a result")
        }
        other => panic!("{other:?}"),
    }
}

/// A server that is nothing but its answers.
struct Scripted {
    identity: Identity,
    echoed: String,
    asked: String,
    done: String,
}

impl Scripted {
    fn new() -> Self {
        Self {
            identity: Identity::Other("a script".to_owned()),
            echoed: complete(messages::TEXT),
            asked: asked(),
            done: complete(&format!("done: {}", messages::ACTION)),
        }
    }
}

impl Connect for Scripted {
    type Transport = Self;

    async fn connect(self, _: Events) -> Result<Self, Error> {
        Ok(self)
    }
}

impl Transport for Scripted {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn send<'a>(&'a self, request: Outgoing<'a>) -> Pending<'a, Result<Incoming, Error>> {
        Box::pin(async move {
            let result = match (request.method, request.name) {
                ("server/discover", _) => {
                    r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#
                }
                (_, Some("echo")) => &self.echoed,
                _ if holds(&request.body, r#""inputResponses":{"confirm""#) => &self.done,
                _ => &self.asked,
            };
            Ok(Incoming::Whole(response(request.id, result).into()))
        })
    }
}

fn connected() -> (Runtime, Connection) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let client = Client::new("bench", "1.0.0")
        .on_form(|form| async move { form.accept(json!({ "ok": true })) });
    let connection = runtime.block_on(client.connect(Scripted::new()));
    (runtime, connection.expect("connected"))
}

/// A short call, from the arguments to the result.
pub(crate) fn echo(meter: &mut Meter) {
    let (runtime, connection) = connected();
    let text = messages::TEXT;
    called(meter, &runtime, text, || {
        connection.call_tool(
            "echo",
            Echo {
                text: black_box(text),
            },
        )
    });
}

/// A call that is asked something, answers, and calls again.
pub(crate) fn confirm(meter: &mut Meter) {
    let (runtime, connection) = connected();
    let action = messages::ACTION;
    called(meter, &runtime, &format!("done: {action}"), || {
        connection.call_tool(
            "confirm",
            Confirm {
                action: black_box(action),
            },
        )
    });
}

fn called<F: Future<Output = Result<antiphon::types::CallToolResult, Error>>>(
    meter: &mut Meter,
    runtime: &Runtime,
    expected: &str,
    call: impl Fn() -> F,
) {
    meter.repeat(|meter| {
        let result = meter.count(|| runtime.block_on(call()));
        assert_eq!(result.expect("a result").first_text(), Some(expected));
    });
}
