//! [`Modern`]: a client of 2026-07-28 over HTTP.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    lane::Guest,
    message::{
        Done, FOR_EVER_MS, Failure, NOTE, expect, expect_error, expect_refused_state, expect_text,
        modern, says, tool,
    },
    random::Random,
    wire::{Reply, Wire, stammer},
};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Flow {
    Echo,
    List,
    Prompt,
    Read,
    /// The user agrees.
    Confirm,
    /// The user does not.
    Refuse,
    /// The question is never answered.
    Abandon,
    /// The state comes back once more, with the same answer and with another.
    Replay,
    /// The state is changed, or comes with another call.
    Forge,
    /// The state comes back when it is not good any more.
    Expire,
    /// The client leaves while the call works.
    Leave,
    /// The client leaves while what the user agreed to is done.
    LeaveActing,
    /// A request that ends in its middle.
    Half,
    /// A call that tells how far it is.
    Count,
    /// The client leaves in the middle of that.
    LeaveCounting,
    /// A subscription, which the client drops.
    Listen,
    Malformed,
}

/// How often each is run.
const FLOWS: &[(Flow, usize)] = &[
    (Flow::Echo, 40),
    (Flow::List, 3),
    (Flow::Prompt, 3),
    (Flow::Read, 3),
    (Flow::Confirm, 15),
    (Flow::Refuse, 2),
    (Flow::Abandon, 6),
    (Flow::Replay, 3),
    (Flow::Forge, 2),
    (Flow::Expire, 3),
    (Flow::Leave, 4),
    (Flow::LeaveActing, 2),
    (Flow::Half, 4),
    (Flow::Count, 3),
    (Flow::LeaveCounting, 3),
    (Flow::Listen, 3),
    (Flow::Malformed, 3),
];

/// A client with one connection that it keeps, and others that it drops.
pub(crate) struct Modern {
    port: u16,
    wire: Wire,
    id: u64,
    ttl: Duration,
    random: Random,
    /// States that were never used: since when, and of which action.
    abandoned: VecDeque<(Instant, String, String)>,
}

impl Guest for Modern {
    type Flow = Flow;

    fn flows(&self) -> &'static [(Flow, usize)] {
        FLOWS
    }

    async fn run(&mut self, flow: Flow) -> Done {
        self.id += 1;
        match flow {
            Flow::Echo => self.echo().await,
            Flow::List => self.list().await,
            Flow::Prompt => self.prompt().await,
            Flow::Read => self.read().await,
            Flow::Confirm => self.confirm(true).await,
            Flow::Refuse => self.confirm(false).await,
            Flow::Abandon => self.abandon().await,
            Flow::Replay => self.replay().await,
            Flow::Forge => self.forge().await,
            Flow::Expire => self.expire().await,
            Flow::Leave => self.leave().await,
            Flow::LeaveActing => self.leave_acting().await,
            Flow::Half => self.half().await,
            Flow::Count => self.count().await,
            Flow::LeaveCounting => self.leave_counting().await,
            Flow::Listen => self.listen().await,
            Flow::Malformed => self.malformed().await,
        }
    }
}

impl Modern {
    pub(crate) async fn new(port: u16, number: u64, ttl: Duration) -> Result<Self, Failure> {
        Ok(Self {
            port,
            wire: Wire::open_soon(port).await?,
            id: number << 32,
            ttl,
            random: Random(number),
            abandoned: VecDeque::new(),
        })
    }

    async fn echo(&mut self) -> Done {
        let text = format!("{} {}", self.id, "x".repeat(self.random.below(4000)));
        let answer = self.call("echo", &json!({"text": text})).await?;
        expect_text(&answer, &text)
    }

    async fn list(&mut self) -> Done {
        let answer = self.ask("tools/list", None, json!({})).await?;
        let tools = answer["result"]["tools"].as_array().map_or(0, Vec::len);
        expect(tools == 6, "6 tools", &answer)
    }

    async fn prompt(&mut self) -> Done {
        let params = json!({"name": "brief", "arguments": {"topic": "rain"}});
        let answer = self.ask("prompts/get", Some("brief"), params).await?;
        let text = &answer["result"]["messages"][0]["content"]["text"];
        expect(text == "Write about rain.", "the prompt", &answer)
    }

    async fn read(&mut self) -> Done {
        let params = json!({"uri": NOTE});
        let answer = self.ask("resources/read", Some(NOTE), params).await?;
        let text = &answer["result"]["contents"][0]["text"];
        expect(text == "Nothing to do.", "the note", &answer)
    }

    async fn confirm(&mut self, ok: bool) -> Done {
        let (action, state) = self.first_leg(0).await?;
        let answer = self.second_leg(&action, &state, ok).await?;
        expect_text(&answer, &ending(&action, ok))
    }

    async fn abandon(&mut self) -> Done {
        let (action, state) = self.first_leg(0).await?;
        self.abandoned.push_back((Instant::now(), action, state));
        // The run may be long.
        self.abandoned.truncate(1000);
        Ok(())
    }

    async fn replay(&mut self) -> Done {
        let (action, state) = self.first_leg(0).await?;
        for _ in 0..2 {
            let answer = self.second_leg(&action, &state, true).await?;
            expect_text(&answer, &ending(&action, true))?;
        }
        let other = self.second_leg(&action, &state, false).await?;
        expect_refused_state(&other)
    }

    async fn forge(&mut self) -> Done {
        let (action, state) = self.first_leg(0).await?;
        let at = self.random.below(state.len());
        let mut forged = state.clone().into_bytes();
        forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
        let forged = String::from_utf8(forged)?;
        expect_refused_state(&self.second_leg(&action, &forged, true).await?)?;
        let other = format!("{action}, all of it");
        expect_refused_state(&self.second_leg(&other, &state, true).await?)
    }

    async fn expire(&mut self) -> Done {
        let good_for = self.ttl + Duration::from_secs(1);
        let expired = self.abandoned.front();
        if expired.is_none_or(|(since, ..)| since.elapsed() < good_for) {
            return self.abandon().await;
        }
        let Some((_, action, state)) = self.abandoned.pop_front() else {
            return Ok(());
        };
        expect_refused_state(&self.second_leg(&action, &state, true).await?)
    }

    /// The client leaves before there is an answer.
    async fn leave(&mut self) -> Done {
        let params = tool("slow", &json!({"ms": FOR_EVER_MS}));
        match self.answered_at_once("slow", params).await? {
            None => Ok(()),
            Some(answer) => Err(format!("expected no answer, got {answer}").into()),
        }
    }

    async fn leave_acting(&mut self) -> Done {
        let (action, state) = self.first_leg(100).await?;
        let params = retry(&action, 100, &state, true);
        match self.answered_at_once("confirm", params).await? {
            None => Ok(()),
            // On a busy machine it may be done before anybody leaves.
            Some(answer) => expect_text(&answer, &ending(&action, true)),
        }
    }

    /// Calls a tool on a connection of its own, and drops that very soon.
    async fn answered_at_once(
        &mut self,
        name: &str,
        params: Value,
    ) -> Result<Option<Value>, Failure> {
        let mut wire = Wire::open(self.port).await?;
        let request = self.request("tools/call", Some(name), params)?;
        let patience = Duration::from_millis(self.random.below(10) as u64);
        tokio::select! {
            answer = wire.send(request) => Ok(Some(answer?.json(200).await?)),
            () = sleep(patience) => Ok(None),
        }
    }

    async fn half(&mut self) -> Done {
        let params = tool("echo", &json!({"text": "x".repeat(1000)}));
        let body = modern(self.id, "tools/call", params).to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: echo\r\nContent-Length: {}\r\n\r\n{body}",
            self.port,
            body.len(),
        );
        let length = self.random.below(request.len());
        stammer(self.port, &request.as_bytes()[..length]).await
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

    async fn leave_counting(&mut self) -> Done {
        let mut wire = Wire::open(self.port).await?;
        let params = tool("count", &json!({"to": 1_000_000, "ms": 1}));
        let request = self.request("tools/call", Some("count"), params)?;
        let mut events = wire.send(request).await?.events().await?;
        for _ in 0..self.random.below(4) {
            let event = events.message().await?.data;
            let method = &event["method"];
            expect(method == "notifications/progress", "progress", &event)?;
        }
        Ok(())
    }

    async fn listen(&mut self) -> Done {
        let mut wire = Wire::open(self.port).await?;
        let params = json!({"notifications": {"resourceSubscriptions": [NOTE]}});
        let request = self.request("subscriptions/listen", None, params)?;
        let mut events = wire.send(request).await?.events().await?;
        let first = events.message().await?.data;
        let method = &first["method"];
        let acknowledged = method == "notifications/subscriptions/acknowledged";
        expect(acknowledged, "an acknowledged subscription", &first)?;
        if self.random.below(2) == 0 {
            return Ok(());
        }
        self.id += 1;
        expect_text(&self.call("touch", &json!({})).await?, "touched")?;
        let update = events.message().await?.data;
        let updated = update["method"] == "notifications/resources/updated"
            && update["params"]["uri"] == NOTE;
        expect(updated, "an update", &update)
    }

    async fn malformed(&mut self) -> Done {
        let request = self.request("tools/call", Some("echo"), json!({}))?;
        let (head, _) = request.into_parts();
        let body = Full::new(Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"#));
        let answer = self.wire.send(Request::from_parts(head, body)).await?;
        expect_error(&answer.json(400).await?, -32700)
    }

    /// Asks for an action; the action, and the state that came with the question.
    async fn first_leg(&mut self, ms: u64) -> Result<(String, String), Failure> {
        let action = format!("deploy {}", self.id);
        let arguments = json!({"action": action, "ms": ms});
        let answer = self.call("confirm", &arguments).await?;
        let result = &answer["result"];
        let message = &result["inputRequests"]["confirm"]["params"]["message"];
        let asked = *message == format!("Run {action}?");
        expect(asked, "a question", &answer)?;
        let state = result["requestState"].as_str();
        let state = state.ok_or_else(|| format!("no state in {answer}"))?;
        Ok((action, state.to_owned()))
    }

    async fn second_leg(&mut self, action: &str, state: &str, ok: bool) -> Result<Value, Failure> {
        self.id += 1;
        let params = retry(action, 0, state, ok);
        self.ask("tools/call", Some("confirm"), params).await
    }

    async fn call(&mut self, name: &str, arguments: &Value) -> Result<Value, Failure> {
        self.begin(name, arguments).await?.json(200).await
    }

    async fn begin(&mut self, name: &str, arguments: &Value) -> Result<Reply, Failure> {
        let request = self.request("tools/call", Some(name), tool(name, arguments))?;
        self.wire.send(request).await
    }

    async fn ask(
        &mut self,
        method: &str,
        name: Option<&str>,
        params: Value,
    ) -> Result<Value, Failure> {
        let request = self.request(method, name, params)?;
        self.wire.send(request).await?.json(200).await
    }

    fn request(
        &self,
        method: &str,
        name: Option<&str>,
        params: Value,
    ) -> Result<Request<Full<Bytes>>, Failure> {
        request(self.port, self.id, method, name, params)
    }
}

/// A whole request of 2026-07-28.
pub(crate) fn request(
    port: u16,
    id: u64,
    method: &str,
    name: Option<&str>,
    params: Value,
) -> Result<Request<Full<Bytes>>, Failure> {
    let mut request = Request::post("/mcp")
        .header("host", format!("127.0.0.1:{port}"))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method);
    if let Some(name) = name {
        request = request.header("mcp-name", name);
    }
    let body = modern(id, method, params).to_string();
    Ok(request.body(Full::new(body.into()))?)
}

/// The parameters of the second leg of a `confirm`.
pub(crate) fn retry(action: &str, ms: u64, state: &str, ok: bool) -> Value {
    let mut params = tool("confirm", &json!({"action": action, "ms": ms}));
    params["inputResponses"] = json!({"confirm": says(ok)});
    params["requestState"] = state.into();
    params
}

/// What `confirm` says in the end.
pub(crate) fn ending(action: &str, ok: bool) -> String {
    match ok {
        true => format!("done: {action}"),
        false => "refused".to_owned(),
    }
}
