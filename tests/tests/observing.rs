//! What an operator can see of requests: spans, and reports to an observer.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use antiphon::{
    http, memory,
    raw::{
        About, Answered, Answering, Call, CallTool, Endpoint, Error, Observed, Reply, Service,
        Transport,
    },
    stdio,
    types::{
        BooleanSchema, CallToolResult, ElicitRequestParams, FormSchema, Implementation,
        InputRequired, ServerCapabilities, Version,
    },
};
use antiphon_tests::{
    call, harbour, http::Server, http::post, log::Log, request, until, with_meta,
};
use serde_json::{Value, json, value::RawValue};

/// The ends of requests, with all that their spans know.
fn closed(log: &Log) -> Vec<String> {
    let text = log.text();
    let ends = text.lines().filter(|line| line.contains("antiphon: close"));
    ends.map(str::to_owned).collect()
}

async fn ask(peer: &mut memory::Peer, message: &Value) -> Value {
    assert!(peer.send(message.to_string()).await);
    let answer = peer.receive().await.expect("an answer");
    serde_json::from_slice(&answer).expect("JSON")
}

#[tokio::test]
async fn a_span_tells_what_was_asked_and_how_it_ended() {
    let (log, _guard) = Log::of_everything();
    let mut peer = memory::connect(harbour::endpoint());
    let old = with_meta(
        request(8, "tools/list", json!({})),
        "io.modelcontextprotocol/protocolVersion",
        "1999-01-01",
    );
    let cases = [
        (
            call(1, "echo", json!({})),
            r#"mcp.method.name="tools/call" mcp.request.id="1" gen_ai.tool.name="echo""#,
            r#"outcome="complete""#,
        ),
        (
            call("two", "ask", json!({})),
            r#"mcp.request.id="two" gen_ai.tool.name="ask""#,
            r#"outcome="input_required""#,
        ),
        (
            call(3, "fail", json!({})),
            r#"gen_ai.tool.name="fail""#,
            r#"outcome="tool_error""#,
        ),
        (
            call(4, "nothing", json!({})),
            r#"gen_ai.tool.name="nothing""#,
            r#"outcome="error" error.code=-32602"#,
        ),
        (
            request(5, "prompts/get", json!({"name": "brief"})),
            r#"gen_ai.prompt.name="brief""#,
            r#"outcome="input_required""#,
        ),
        (
            request(6, "resources/read", json!({"uri": "tide://7"})),
            r#"mcp.resource.uri="tide://7""#,
            r#"outcome="complete""#,
        ),
        (
            request(7, "no/such", json!({})),
            r#"mcp.method.name="no/such""#,
            r#"outcome="error" error.code=-32601"#,
        ),
        (
            old,
            r#"mcp.request.id="8""#,
            r#"outcome="error" error.code=-32022"#,
        ),
    ];
    for (index, (message, asked, ended)) in cases.into_iter().enumerate() {
        ask(&mut peer, &message).await;
        let closed = closed(&log);
        assert_eq!(closed.len(), index + 1, "{}", log.text());
        let last = &closed[index];
        assert!(last.contains(" INFO mcp.request{"), "{last}");
        assert!(last.contains(asked), "{asked} in {last}");
        assert!(last.contains(ended), "{ended} in {last}");
        let speaks = last.contains(r#"mcp.protocol.version="2026-07-28""#);
        assert_eq!(speaks, index < 6, "{last}");
    }
}

#[tokio::test]
async fn what_a_handler_logs_is_in_its_span() {
    let (log, _guard) = Log::of_everything();
    let mut peer = memory::connect(harbour::endpoint());
    ask(&mut peer, &call(1, "panic", json!({}))).await;
    let text = log.text();
    let panic = text.lines().find(|line| line.contains("crane fell over"));
    let panic = panic.expect("logged");
    assert!(panic.contains(r#"gen_ai.tool.name="panic""#), "{panic}");
}

#[tokio::test]
async fn a_span_ends_when_its_request_is_cancelled() {
    let (log, _guard) = Log::of_everything();
    let endpoint = harbour::endpoint();
    let peer = memory::connect(endpoint.clone());
    let slow = call(1, "slow", json!({"ms": 600_000})).to_string();
    assert!(peer.send(slow).await);
    until(|| endpoint.calls() == 1).await;
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert!(peer.send(cancel.to_string()).await);
    until(|| !closed(&log).is_empty()).await;
    assert!(closed(&log)[0].contains(r#"outcome="abandoned""#));
}

/// elsewhere.md: logs that dump bodies. Not at any level, on any transport, in any outcome.
#[tokio::test]
async fn nothing_secret_is_in_any_span_or_event() {
    const SECRET: &str = "hunter2";
    let (log, _guard) = Log::of_everything();
    let mut messages = Vec::new();
    for (id, tool) in [
        "echo",
        "fail",
        "panic",
        "ask",
        "later",
        "ask_twice",
        "who",
        "nothing",
        "reserved_code",
    ]
    .into_iter()
    .enumerate()
    {
        let mut message = call(id, tool, json!({"password": SECRET}));
        message["params"]["requestState"] = SECRET.into();
        message["params"]["inputResponses"] =
            json!({"confirm": {"action": "accept", "content": {"password": SECRET}}});
        messages.push(with_meta(message, "com.example/token", SECRET));
    }
    messages.push(call(20, "echo", json!(SECRET)));
    messages.push(call(21, "slow", json!({"ms": 10, "password": SECRET})));
    let arguments = json!({"name": "brief", "arguments": {"vessel": SECRET}});
    messages.push(request(22, "prompts/get", arguments));
    let completion = json!({"ref": {"type": "ref/prompt", "name": "brief"},
        "argument": {"name": "vessel", "value": SECRET}});
    messages.push(request(23, "completion/complete", completion));
    let mut peer = memory::connect(harbour::endpoint());
    let server = Server::start(http::service(harbour::endpoint())).await;
    for message in &messages {
        ask(&mut peer, message).await;
        let mut request = post(message);
        for name in ["authorization", "cookie", "x-secret"] {
            let value = SECRET.parse().expect("a header");
            request.headers_mut().insert(name, value);
        }
        server.send(request).await;
    }
    assert!(peer.send(format!("{{\"password\": \"{SECRET}\"")).await);
    peer.receive().await.expect("an answer");
    let text = log.text();
    assert_eq!(closed(&log).len(), 2 * messages.len(), "{text}");
    assert!(!text.contains(SECRET), "{text}");
}

#[tokio::test]
async fn long_names_are_cut() {
    let (log, _guard) = Log::of_everything();
    let (endpoint, seen) = watched();
    let mut peer = memory::connect(endpoint);
    let long = "long".repeat(1000);
    ask(&mut peer, &call(long.as_str(), &long, json!({}))).await;
    ask(&mut peer, &request(1, &long, json!({}))).await;
    for line in closed(&log) {
        assert!(line.len() < 1000, "{line}");
        assert!(line.contains("longlong…"), "{line}");
    }
    let seen = seen.all();
    assert_eq!(
        seen[0].target.as_ref().map(|text| text.chars().count()),
        Some(101)
    );
    assert_eq!(seen[1].method.chars().count(), 101);
}

/// What an observer was told.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    method: String,
    target: Option<String>,
    version: Option<Version>,
    outcome: Observed,
    duration: Duration,
    transport: Transport,
}

#[derive(Clone, Default)]
struct Record(Arc<Mutex<Vec<Seen>>>);

impl Record {
    fn note(&self, answered: &Answered<'_>) {
        self.0.lock().expect("not poisoned").push(Seen {
            method: answered.method.to_owned(),
            target: answered.target.map(str::to_owned),
            version: answered.version,
            outcome: answered.outcome,
            duration: answered.duration,
            transport: answered.transport,
        });
    }

    fn all(&self) -> Vec<Seen> {
        self.0.lock().expect("not poisoned").clone()
    }

    fn outcomes(&self) -> Vec<Observed> {
        self.all().iter().map(|seen| seen.outcome).collect()
    }
}

/// A lookout whose calls end in every way.
struct Lookout(Record);

fn watched() -> (Endpoint, Record) {
    let record = Record::default();
    (Endpoint::new(Lookout(record.clone())), record)
}

impl Service for Lookout {
    fn about(&self) -> About {
        let record = self.0.clone();
        About::new(Implementation::new("lookout", "1"))
            .capabilities(ServerCapabilities::default().tools(false))
            .observer(move |answered: &Answered<'_>| {
                record.note(answered);
                assert!(answered.target != Some("break_observer"), "it breaks");
            })
    }

    fn call_tool<'a>(
        &'a self,
        call: &'a Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        Box::pin(async move {
            let passed_on = |text: &str| {
                let raw = RawValue::from_string(text.to_owned()).expect("JSON");
                Reply::from_raw(&raw)
            };
            match tool.name {
                "fine" | "break_observer" => Ok(CallToolResult::text("fine").into()),
                "ask" => {
                    let form = FormSchema::new().required("ok", BooleanSchema::new());
                    let question = ElicitRequestParams::form("Sure?", form);
                    Ok(InputRequired::ask("sure", question).into())
                }
                "fail" => Ok(CallToolResult::error("no").into()),
                "fail_rendered" => Ok(Reply::Rendered(CallToolResult::error("no").into())),
                "fail_passed_on" => passed_on(r#"{"content":[],"isError":true}"#),
                "fine_passed_on" => passed_on(r#"{"content":[],"isError":false}"#),
                "refuse" => Err(Error::invalid_params("no")),
                // Not ours to use: another goes out, and that is what counts.
                "reserved" => Err(Error::new(-32050, "no")),
                "panic" => panic!("overboard"),
                "slow" => {
                    call.progress().report(1);
                    tokio::time::sleep(Duration::from_secs(600)).await;
                    Ok(CallToolResult::text("late").into())
                }
                _ => {
                    tokio::time::sleep(Duration::from_millis(30)).await;
                    Ok(CallToolResult::text("soon").into())
                }
            }
        })
    }
}

#[tokio::test]
async fn an_observer_hears_how_each_request_ended() {
    let (endpoint, record) = watched();
    let mut peer = memory::connect(endpoint);
    let tools = [
        ("fine", Observed::Complete),
        ("ask", Observed::InputRequired),
        ("fail", Observed::ToolError),
        ("fail_rendered", Observed::ToolError),
        ("fail_passed_on", Observed::ToolError),
        ("fine_passed_on", Observed::Complete),
        ("refuse", Observed::Error(-32602)),
        ("reserved", Observed::Error(-32603)),
        ("panic", Observed::Error(-32603)),
        ("break_observer", Observed::Complete),
        ("soon", Observed::Complete),
    ];
    for (index, (tool, outcome)) in tools.into_iter().enumerate() {
        let began = std::time::Instant::now();
        let answer = ask(&mut peer, &call(index, tool, json!({}))).await;
        let elapsed = began.elapsed();
        let seen = record.all().pop().expect("told");
        assert_eq!(record.all().len(), index + 1, "{tool}");
        assert_eq!(seen.method, "tools/call");
        assert_eq!(seen.target.as_deref(), Some(tool));
        assert_eq!(seen.version, Some(Version::V2026_07_28));
        assert_eq!((seen.outcome, seen.transport), (outcome, Transport::Memory));
        assert!(seen.duration <= elapsed, "{:?}", seen.duration);
        assert!(tool != "soon" || seen.duration >= Duration::from_millis(30));
        if let Observed::Error(code) = outcome {
            assert_eq!(answer["error"]["code"], code);
        }
    }
    // Without a capability for them, and before their version is known.
    ask(&mut peer, &request(1, "prompts/list", json!({}))).await;
    ask(
        &mut peer,
        &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
    )
    .await;
    let seen = record.all().split_off(tools.len());
    assert_eq!(seen[0].outcome, Observed::Error(-32601));
    assert_eq!(
        (&*seen[1].method, seen[1].version, seen[1].outcome),
        ("tools/list", None, Observed::Error(-32602))
    );
}

/// Only requests count: neither notifications nor what cannot be read.
#[tokio::test]
async fn an_observer_hears_of_requests_only() {
    let (endpoint, record) = watched();
    let mut peer = memory::connect(endpoint);
    let note = json!({"jsonrpc": "2.0", "method": "notifications/x", "params": {}});
    assert!(peer.send(note.to_string()).await);
    assert!(peer.send("{").await);
    peer.receive().await.expect("an error");
    ask(&mut peer, &call(1, "fine", json!({}))).await;
    assert_eq!(record.outcomes(), [Observed::Complete]);
}

#[tokio::test]
async fn an_observer_hears_of_abandoned_requests() {
    let (endpoint, record) = watched();
    // Cancelled.
    let peer = memory::connect(endpoint.clone());
    assert!(peer.send(call(1, "slow", json!({})).to_string()).await);
    until(|| endpoint.calls() == 1).await;
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert!(peer.send(cancel.to_string()).await);
    until(|| record.outcomes() == [Observed::Abandoned]).await;
    // Left, while the answer is due as JSON and as a stream.
    let server = Server::start(http::service(endpoint.clone())).await;
    let slow = call(1, "slow", json!({}));
    for message in [slow.clone(), with_meta(slow, "progressToken", 1)] {
        let before = record.all().len();
        let open = tokio::time::timeout(Duration::from_millis(300), server.open(post(&message)));
        let open = open.await;
        drop(open);
        until(|| record.all().len() == before + 1).await;
    }
    assert_eq!(record.outcomes(), [Observed::Abandoned; 3]);
    assert_eq!(record.all()[2].transport, Transport::Http);
}

#[tokio::test]
async fn an_observer_hears_how_a_request_came() {
    let (endpoint, record) = watched();
    let message = call(1, "fine", json!({}));
    endpoint.start().await.expect("started");
    let line = format!("{message}\n");
    stdio::serve_on(endpoint.clone(), line.as_bytes(), &mut Vec::new())
        .await
        .expect("served");
    let server = Server::start(http::service(endpoint)).await;
    server.post(&message).await;
    let came: Vec<_> = record.all().iter().map(|seen| seen.transport).collect();
    assert_eq!(came, [Transport::Stdio, Transport::Http]);
}
