//! [`Older`]: a client of 2025-11-25 over HTTP, with a session that it keeps, and others that it
//! leaves behind.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::sleep};

use crate::{
    lane::Guest,
    message::{
        Done, FOR_EVER_MS, Failure, NOTE, answer, expect, expect_error, expect_text, initialize,
        notification, older, says, tool,
    },
    modern::ending,
    random::Random,
    wire::{Events, Reply, Wire},
};

/// How many questions wait for their time to run out.
const UNANSWERED: usize = 20;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Flow {
    Echo,
    List,
    Read,
    /// The user agrees.
    Confirm,
    /// The user does not.
    Refuse,
    /// The client leaves while it is asked.
    HangUp,
    /// The client stays, and never answers.
    NeverAnswer,
    /// The session is ended while a question is pending.
    EndAsked,
    /// A call that is cancelled.
    Cancel,
    /// The client leaves while the call works, and its session.
    Leave,
    /// A call that tells how far it is.
    Count,
    /// The client loses its connection in the middle of that, and comes back.
    Resume,
    /// A stream of the server's own, which the client drops.
    Listen,
    /// A session that is opened and ended.
    Visit,
    /// A session that is opened and forgotten.
    Forsake,
    /// The session that was kept is ended, and another is.
    Renew,
    Malformed,
}

/// How often each is run.
const FLOWS: &[(Flow, usize)] = &[
    (Flow::Echo, 40),
    (Flow::List, 3),
    (Flow::Read, 3),
    (Flow::Confirm, 16),
    (Flow::Refuse, 3),
    (Flow::HangUp, 4),
    (Flow::NeverAnswer, 2),
    (Flow::EndAsked, 2),
    (Flow::Cancel, 4),
    (Flow::Leave, 2),
    (Flow::Count, 3),
    (Flow::Resume, 4),
    (Flow::Listen, 4),
    (Flow::Visit, 4),
    (Flow::Forsake, 2),
    (Flow::Renew, 1),
    (Flow::Malformed, 3),
];

/// A client with a session, a connection for calls and one for answers.
pub(crate) struct Older {
    port: u16,
    calls: Wire,
    answers: Wire,
    session: String,
    id: u64,
    random: Random,
    /// Calls that wait for an answer that never comes.
    unanswered: JoinSet<Done>,
}

impl Guest for Older {
    type Flow = Flow;

    fn flows(&self) -> &'static [(Flow, usize)] {
        FLOWS
    }

    async fn run(&mut self, flow: Flow) -> Done {
        self.id += 1;
        match flow {
            Flow::Echo => self.echo().await,
            Flow::List => self.list().await,
            Flow::Read => self.read().await,
            Flow::Confirm => self.confirm(true).await,
            Flow::Refuse => self.confirm(false).await,
            Flow::HangUp => self.hang_up().await,
            Flow::NeverAnswer => self.never_answer().await,
            Flow::EndAsked => self.end_asked().await,
            Flow::Cancel => self.cancel().await,
            Flow::Leave => self.leave().await,
            Flow::Count => self.count().await,
            Flow::Resume => self.resume().await,
            Flow::Listen => self.listen().await,
            Flow::Visit => self.visit().await,
            Flow::Forsake => open(self.port, &mut self.calls).await.map(drop),
            Flow::Renew => self.renew().await,
            Flow::Malformed => self.malformed().await,
        }
    }
}

impl Older {
    pub(crate) async fn new(port: u16, number: u64) -> Result<Self, Failure> {
        let mut calls = Wire::open_soon(port).await?;
        Ok(Self {
            session: open(port, &mut calls).await?,
            port,
            calls,
            answers: Wire::open(port).await?,
            id: number << 32,
            random: Random(number),
            unanswered: JoinSet::new(),
        })
    }

    async fn echo(&mut self) -> Done {
        let text = format!("{} {}", self.id, "x".repeat(self.random.below(4000)));
        let answer = self.call("echo", &json!({"text": text})).await?;
        expect_text(&answer, &text)
    }

    async fn list(&mut self) -> Done {
        let answer = self.ask("tools/list", json!({})).await?;
        let tools = answer["result"]["tools"].as_array().map_or(0, Vec::len);
        expect(tools == 6, "6 tools", &answer)
    }

    async fn read(&mut self) -> Done {
        let answer = self.ask("resources/read", json!({"uri": NOTE})).await?;
        let text = &answer["result"]["contents"][0]["text"];
        expect(text == "Nothing to do.", "the note", &answer)
    }

    async fn confirm(&mut self, ok: bool) -> Done {
        let action = format!("deploy {}", self.id);
        let request = self.post(&self.confirming(&action))?;
        let (mut events, question) = asked(&mut self.calls, request, &action).await?;
        let said = self.post(&answer(&question, &says(ok)))?;
        self.answers.send(said).await?.json(202).await?;
        expect_text(&events.message().await?.data, &ending(&action, ok))?;
        let more = events.last().await?;
        expect(more.is_null(), "the end of the stream", &more)
    }

    async fn hang_up(&mut self) -> Done {
        let action = format!("deploy {}", self.id);
        let mut wire = Wire::open(self.port).await?;
        let request = self.post(&self.confirming(&action))?;
        asked(&mut wire, request, &action).await.map(drop)
    }

    async fn never_answer(&mut self) -> Done {
        while let Some(ended) = self.unanswered.try_join_next() {
            ended??;
        }
        if self.unanswered.len() == UNANSWERED {
            return Ok(());
        }
        let action = format!("deploy {}", self.id);
        let port = self.port;
        let mut wire = Wire::open(port).await?;
        let session = open(port, &mut wire).await?;
        let request = post(port, Some(&session), &self.confirming(&action))?;
        self.unanswered.spawn(async move {
            let (events, _) = asked(&mut wire, request, &action).await?;
            let last = events.last().await?;
            // The question is withdrawn before the call fails.
            expect(last["result"]["isError"] == true, "a failed call", &last)?;
            let ended = end(port, &session)?;
            wire.send(ended).await?.json(204).await.map(drop)
        });
        Ok(())
    }

    async fn end_asked(&mut self) -> Done {
        let action = format!("deploy {}", self.id);
        let mut wire = Wire::open(self.port).await?;
        let session = open(self.port, &mut wire).await?;
        let request = post(self.port, Some(&session), &self.confirming(&action))?;
        let (events, _) = asked(&mut wire, request, &action).await?;
        let ended = end(self.port, &session)?;
        self.calls.send(ended).await?.json(204).await?;
        expect_error(&events.last().await?, -32603)
    }

    async fn cancel(&mut self) -> Done {
        let mut wire = Wire::open(self.port).await?;
        let params = tool("count", &json!({"to": 1_000_000, "ms": 1}));
        let request = self.post(&older(self.id, "tools/call", params))?;
        let mut events = wire.send(request).await?.events().await?;
        events.message().await?;
        let cancelled = json!({"requestId": self.id});
        let cancelled = self.post(&notification("notifications/cancelled", &cancelled))?;
        self.answers.send(cancelled).await?.json(202).await?;
        let last = events.last().await?;
        expect(last["id"].is_null(), "no answer", &last)
    }

    async fn leave(&mut self) -> Done {
        let mut wire = Wire::open(self.port).await?;
        let session = open(self.port, &mut wire).await?;
        let params = tool("slow", &json!({"ms": FOR_EVER_MS}));
        let call = older(self.id, "tools/call", params);
        let request = post(self.port, Some(&session), &call)?;
        tokio::select! {
            // On a busy machine the call may have been silent for so long that it is a stream.
            reply = wire.send(request) => reply?.events().await.map(drop),
            () = sleep(Duration::from_millis(5)) => Ok(()),
        }
    }

    async fn count(&mut self) -> Done {
        let arguments = json!({"to": 5, "ms": 1});
        let mut events = self.begin("count", &arguments).await?.events().await?;
        for step in 1..=5 {
            let event = events.message().await?.data;
            let at = &event["params"]["progress"];
            expect(at == step, format_args!("progress {step}"), &event)?;
        }
        expect_text(&events.last().await?, "counted 5")
    }

    async fn resume(&mut self) -> Done {
        let mut wire = Wire::open(self.port).await?;
        let params = tool("count", &json!({"to": 20, "ms": 1}));
        let request = self.post(&older(self.id, "tools/call", params))?;
        let mut events = wire.send(request).await?.events().await?;
        let last = events.message().await?.id;
        let last = last.ok_or("an event without an id")?;
        drop((wire, events));
        let mut wire = Wire::open(self.port).await?;
        let request = get(self.port, &self.session, Some(&last))?;
        let events = wire.send(request).await?.events().await?;
        expect_text(&events.last().await?, "counted 20")
    }

    async fn listen(&mut self) -> Done {
        let mut wire = Wire::open(self.port).await?;
        let request = get(self.port, &self.session, None)?;
        let events = wire.send(request).await?.events().await?;
        sleep(Duration::from_millis(1)).await;
        drop(events);
        Ok(())
    }

    async fn visit(&mut self) -> Done {
        let session = open(self.port, &mut self.calls).await?;
        let call = older(
            self.id,
            "tools/call",
            tool("echo", &json!({"text": "hello"})),
        );
        let request = post(self.port, Some(&session), &call)?;
        let answer = self.calls.send(request.clone()).await?.json(200).await?;
        expect_text(&answer, "hello")?;
        let ended = end(self.port, &session)?;
        self.calls.send(ended).await?.json(204).await?;
        self.calls.send(request).await?.json(404).await.map(drop)
    }

    async fn renew(&mut self) -> Done {
        let ended = end(self.port, &self.session)?;
        self.calls.send(ended).await?.json(204).await?;
        self.session = open(self.port, &mut self.calls).await?;
        Ok(())
    }

    async fn malformed(&mut self) -> Done {
        let request = self.post(&json!({}))?;
        let (head, _) = request.into_parts();
        let body = Full::new(Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"#));
        let answer = self.calls.send(Request::from_parts(head, body)).await?;
        expect_error(&answer.json(400).await?, -32700)
    }

    fn confirming(&self, action: &str) -> Value {
        let params = tool("confirm", &json!({"action": action}));
        older(self.id, "tools/call", params)
    }

    async fn call(&mut self, name: &str, arguments: &Value) -> Result<Value, Failure> {
        self.begin(name, arguments).await?.json(200).await
    }

    async fn begin(&mut self, name: &str, arguments: &Value) -> Result<Reply, Failure> {
        let call = older(self.id, "tools/call", tool(name, arguments));
        let request = self.post(&call)?;
        self.calls.send(request).await
    }

    async fn ask(&mut self, method: &str, params: Value) -> Result<Value, Failure> {
        let request = self.post(&older(self.id, method, params))?;
        self.calls.send(request).await?.json(200).await
    }

    fn post(&self, message: &Value) -> Result<Request<Full<Bytes>>, Failure> {
        post(self.port, Some(&self.session), message)
    }
}

/// Opens a session; its id.
async fn open(port: u16, wire: &mut Wire) -> Result<String, Failure> {
    let reply = wire.send(post(port, None, &initialize())?).await?;
    let session = reply.header("mcp-session-id").map(ToOwned::to_owned);
    let answer = reply.json(200).await?;
    let version = &answer["result"]["protocolVersion"];
    expect(version == "2025-11-25", "revision 2025-11-25", &answer)?;
    let session = session.ok_or("a session without an id")?;
    let ready = notification("notifications/initialized", &json!({}));
    let request = post(port, Some(&session), &ready)?;
    wire.send(request).await?.json(202).await?;
    Ok(session)
}

/// Makes a call that asks; its stream, and the question.
async fn asked(
    wire: &mut Wire,
    request: Request<Full<Bytes>>,
    action: &str,
) -> Result<(Events, Value), Failure> {
    let mut events = wire.send(request).await?.events().await?;
    let question = events.message().await?.data;
    let right = question["method"] == "elicitation/create"
        && question["params"]["message"] == format!("Run {action}?");
    expect(right, "a question", &question)?;
    Ok((events, question))
}

fn post(
    port: u16,
    session: Option<&str>,
    message: &Value,
) -> Result<Request<Full<Bytes>>, Failure> {
    let mut request = Request::post("/mcp")
        .header("host", format!("127.0.0.1:{port}"))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    if let Some(session) = session {
        request = request
            .header("mcp-protocol-version", "2025-11-25")
            .header("mcp-session-id", session);
    }
    Ok(request.body(Full::new(message.to_string().into()))?)
}

fn get(port: u16, session: &str, last: Option<&str>) -> Result<Request<Full<Bytes>>, Failure> {
    let mut request = Request::get("/mcp")
        .header("host", format!("127.0.0.1:{port}"))
        .header("accept", "text/event-stream")
        .header("mcp-protocol-version", "2025-11-25")
        .header("mcp-session-id", session);
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    Ok(request.body(Full::default())?)
}

fn end(port: u16, session: &str) -> Result<Request<Full<Bytes>>, Failure> {
    let request = Request::delete("/mcp")
        .header("host", format!("127.0.0.1:{port}"))
        .header("mcp-protocol-version", "2025-11-25")
        .header("mcp-session-id", session);
    Ok(request.body(Full::default())?)
}
