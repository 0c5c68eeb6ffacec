//! The least a client does: one connection of hyper's, kept open, and serde for the bodies. It
//! knows the two tools it calls and the one question it is asked, and handles no failure but by
//! ending.

#[path = "../../../src/cpu.rs"]
mod cpu;
#[path = "../../../src/job.rs"]
mod job;

use std::{borrow::Cow, collections::BTreeMap};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, client::conn::http1::SendRequest};
use hyper_util::rt::TokioIo;
use job::{Caller, Failure};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::net::TcpStream;

const META: &str = concat!(
    r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}"#,
);

#[derive(Serialize)]
struct Call<'a, A> {
    jsonrpc: &'static str,
    id: u64,
    method: &'static str,
    params: Params<'a, A>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a, A> {
    name: &'static str,
    arguments: &'a A,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_responses: Option<BTreeMap<Cow<'a, str>, Answer>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_state: Option<Cow<'a, str>>,
    #[serde(rename = "_meta")]
    meta: &'a RawValue,
}

#[derive(Serialize)]
struct Answer {
    action: &'static str,
    content: Content,
}

#[derive(Serialize)]
struct Content {
    ok: bool,
}

#[derive(Serialize)]
struct Echo<'a> {
    text: &'a str,
}

#[derive(Serialize)]
struct Confirm<'a> {
    action: &'a str,
}

#[derive(Deserialize)]
struct Message<'a> {
    id: u64,
    #[serde(borrow)]
    result: Reply<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reply<'a> {
    #[serde(borrow)]
    result_type: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Vec<Block<'a>>,
    #[serde(borrow, default)]
    input_requests: BTreeMap<Cow<'a, str>, Asked<'a>>,
    #[serde(borrow, default)]
    request_state: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Asked<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
}

struct Plain {
    send: SendRequest<Full<Bytes>>,
    host: String,
    meta: Box<RawValue>,
    last: u64,
}

impl Plain {
    /// One request and its answer.
    async fn post<A: Serialize>(
        &mut self,
        name: &'static str,
        arguments: &A,
        answers: Option<BTreeMap<Cow<'_, str>, Answer>>,
        state: Option<Cow<'_, str>>,
    ) -> Result<Bytes, Failure> {
        self.last += 1;
        let call = Call {
            jsonrpc: "2.0",
            id: self.last,
            method: "tools/call",
            params: Params {
                name,
                arguments,
                input_responses: answers,
                request_state: state,
                meta: &self.meta,
            },
        };
        let request = Request::post("/mcp")
            .header("host", &self.host)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .header("mcp-protocol-version", contract::VERSION)
            .header("mcp-method", "tools/call")
            .header("mcp-name", name)
            .body(Full::from(serde_json::to_vec(&call)?))?;
        let response = self.send.send_request(request).await?;
        Ok(response.into_body().collect().await?.to_bytes())
    }

    fn reply<'a>(&self, body: &'a [u8], kind: &str) -> Result<Reply<'a>, Failure> {
        let message: Message<'_> = serde_json::from_slice(body)?;
        match message.id == self.last && message.result.result_type == kind {
            true => Ok(message.result),
            false => Err("not the answer to the request".into()),
        }
    }

    fn text(&self, body: &[u8]) -> Result<String, Failure> {
        let reply = self.reply(body, "complete")?;
        let first = reply.content.into_iter().next().ok_or("no content")?;
        Ok(first.text.into_owned())
    }
}

impl Caller for Plain {
    async fn connect(url: &str) -> Result<Self, Failure> {
        let host = url
            .strip_prefix("http://")
            .and_then(|url| url.split('/').next());
        let host = host.ok_or("not an http URL")?.to_owned();
        let stream = TcpStream::connect(&host).await?;
        stream.set_nodelay(true)?;
        let (send, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        // It ends with the runtime.
        tokio::spawn(connection);
        Ok(Self {
            send,
            host,
            meta: RawValue::from_string(META.to_owned())?,
            last: 0,
        })
    }

    async fn echo(&mut self, text: &str) -> Result<String, Failure> {
        let body = self.post("echo", &Echo { text }, None, None).await?;
        self.text(&body)
    }

    async fn confirm(&mut self, action: &str) -> Result<String, Failure> {
        let arguments = Confirm { action };
        let body = self.post("confirm", &arguments, None, None).await?;
        let asked = self.reply(&body, "input_required")?;
        let mut answers = BTreeMap::new();
        for (key, question) in asked.input_requests {
            if question.method != "elicitation/create" {
                return Err(format!("{} cannot be answered", question.method).into());
            }
            let answer = Answer {
                action: "accept",
                content: Content { ok: true },
            };
            answers.insert(key, answer);
        }
        let body = self
            .post("confirm", &arguments, Some(answers), asked.request_state)
            .await?;
        self.text(&body)
    }
}

fn main() -> Result<(), Failure> {
    job::run::<Plain>()
}
