//! Whatever arrives, on whatever transport: the server does not panic, hang or die, answers
//! only with JSON-RPC messages, and serves the next request as if nothing had happened.
//!
//! `PROPTEST_CASES` asks for more cases than the few that fit an ordinary test run.

use std::{cell::RefCell, fmt, future::Future, time::Duration};

use antiphon_tests::{
    call,
    http::{Server, events, post},
    request, request_as,
    wire::{Connection, Wire},
    with_meta,
};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, header::HeaderValue};
use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
    test_runner::{RngSeed, TestRunner},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    runtime::Builder,
    time::timeout,
};

/// Nothing here takes a second; what takes this long never ends.
const PATIENCE: Duration = Duration::from_secs(30);

const BINARY: &str = env!("CARGO_BIN_EXE_antiphon-tests-stdio");

// ---- JSON as text: what no value can hold can still be sent ----

/// A JSON value whose strings and numbers are spelt freely and whose names may repeat.
#[derive(Debug, Clone)]
enum Node {
    /// Goes out as it is.
    Text(String),
    Array(Vec<Self>),
    /// Names are JSON text, quotes included.
    Object(Vec<(String, Self)>),
}

impl From<&Value> for Node {
    fn from(value: &Value) -> Self {
        match value {
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(members) => Self::Object(
                members
                    .iter()
                    .map(|(name, value)| (json!(name).to_string(), value.into()))
                    .collect(),
            ),
            scalar => Self::Text(scalar.to_string()),
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, at| f.write_str(if at == 0 { "" } else { "," });
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Array(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    list(f, at)?;
                    item.fmt(f)?;
                }
                f.write_str("]")
            }
            Self::Object(members) => {
                f.write_str("{")?;
                for (at, (name, value)) in members.iter().enumerate() {
                    list(f, at)?;
                    write!(f, "{name}:{value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

impl Node {
    /// How many members and items there are, at any depth.
    fn children(&self) -> usize {
        match self {
            Self::Text(_) => 0,
            Self::Array(items) => items.iter().map(|item| 1 + item.children()).sum(),
            Self::Object(members) => members.iter().map(|(_, value)| 1 + value.children()).sum(),
        }
    }

    /// Changes the child number `at`, counted from the root in the order of the text.
    fn change(&mut self, mut at: usize, change: &Change) {
        match self {
            Self::Text(_) => {}
            Self::Array(items) => {
                for place in 0..items.len() {
                    if at == 0 {
                        return change.item(items, place);
                    }
                    let inside = items[place].children();
                    if at <= inside {
                        return items[place].change(at - 1, change);
                    }
                    at -= 1 + inside;
                }
            }
            Self::Object(members) => {
                for place in 0..members.len() {
                    if at == 0 {
                        return change.member(members, place);
                    }
                    let inside = members[place].1.children();
                    if at <= inside {
                        return members[place].1.change(at - 1, change);
                    }
                    at -= 1 + inside;
                }
            }
        }
    }

    /// Puts an id where [`ID`] keeps its place.
    fn put_id(&mut self, id: &str) {
        match self {
            Self::Text(text) if *text == ID.to_string() => id.clone_into(text),
            Self::Text(_) => {}
            Self::Array(items) => items.iter_mut().for_each(|item| item.put_id(id)),
            Self::Object(members) => members.iter_mut().for_each(|(_, value)| value.put_id(id)),
        }
    }

    fn nested(self, levels: usize, object: bool) -> Self {
        (0..levels).fold(self, |inner, _| match object {
            true => Self::Object(vec![(r#""n""#.to_owned(), inner)]),
            false => Self::Array(vec![inner]),
        })
    }
}

/// One way to spoil a message.
#[derive(Debug, Clone)]
enum Change {
    Remove,
    Repeat,
    Retype(Node),
    Nest(usize, bool),
    Rename(String),
}

impl Change {
    fn item(&self, items: &mut Vec<Node>, at: usize) {
        match self {
            Self::Remove => drop(items.remove(at)),
            Self::Repeat => items.insert(at, items[at].clone()),
            _ => self.value(&mut items[at]),
        }
    }

    fn member(&self, members: &mut Vec<(String, Node)>, at: usize) {
        match self {
            Self::Remove => drop(members.remove(at)),
            Self::Repeat => members.push(members[at].clone()),
            Self::Rename(name) => members[at].0.clone_from(name),
            _ => self.value(&mut members[at].1),
        }
    }

    fn value(&self, node: &mut Node) {
        match self {
            Self::Retype(other) => *node = other.clone(),
            Self::Nest(levels, object) => *node = node.clone().nested(*levels, *object),
            Self::Remove | Self::Repeat | Self::Rename(_) => {}
        }
    }
}

/// Strings as JSON text, many of them of the kind that somebody reads differently.
fn string() -> impl Strategy<Value = String> {
    let odd = select(vec![
        r#""""#,
        r#""\ud800""#,
        r#""\udc00\ud800""#,
        r#""\ud83d\udea2""#,
        r#""\u0000""#,
        r#""\u0065cho""#,
        r#""\/\b\f\n\r\t\"\\""#,
        "\"\u{2028}\u{feff}\"",
        r#""=?base64?/w==?=""#,
        r#""2026-07-28""#,
        r#""\x""#,
        r#""\u12""#,
        "\"raw\ttab\"",
        "\"raw\0nul\"",
        r#"""#,
    ]);
    prop_oneof![
        3 => odd.prop_map(str::to_owned),
        3 => ".{0,12}".prop_map(|text| json!(text).to_string()),
        1 => (1usize..20_000).prop_map(|length| json!("é".repeat(length)).to_string()),
    ]
}

fn number() -> impl Strategy<Value = String> {
    let odd = select(vec![
        "-0",
        "0.0",
        "1.0",
        "1e3",
        "1e400",
        "-1e-400",
        "9007199254740993",
        "18446744073709551616",
        "-9223372036854775809",
        "01",
        "+1",
        "1.",
        "NaN",
        "-",
    ]);
    prop_oneof![
        2 => odd.prop_map(str::to_owned),
        2 => any::<i64>().prop_map(|number| number.to_string()),
        1 => any::<f64>().prop_map(|number| json!(number).to_string()),
        // More, and the test itself could not read the id of an answer.
        1 => (1usize..300).prop_map(|digits| "9".repeat(digits)),
    ]
}

/// Any JSON, and nearly JSON.
fn any_json() -> impl Strategy<Value = Node> {
    let name = prop_oneof![
        string(),
        select(vec![
            r#""jsonrpc""#,
            r#""id""#,
            r#""method""#,
            r#""params""#,
            r#""_meta""#,
            r#""result""#,
            r#""error""#,
            r#""name""#,
            r#""arguments""#,
        ])
        .prop_map(str::to_owned),
    ];
    let leaf = prop_oneof![
        string().prop_map(Node::Text),
        number().prop_map(Node::Text),
        select(vec!["null", "true", "false"]).prop_map(|text| Node::Text(text.to_owned())),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Node::Array),
            vec((name.clone(), inner), 0..4).prop_map(Node::Object),
        ]
    })
}

/// Stands for the id in a good message.
const ID: u32 = 7_654_321;

/// A good message of every kind.
fn good() -> Vec<Value> {
    let id = ID;
    let progress = with_meta(call(id, "progress", json!({})), "progressToken", id);
    let log = with_meta(
        call(id, "log", json!({})),
        "io.modelcontextprotocol/logLevel",
        "debug",
    );
    let retry = json!({
        "name": "who", "arguments": {}, "requestState": "s",
        "inputResponses": {"a": {"action": "accept", "content": {"b": 1}}, "c": {"action": "decline"}},
    });
    let completion = json!({
        "ref": {"type": "ref/prompt", "name": "brief"},
        "argument": {"name": "vessel", "value": "v"},
        "context": {"arguments": {"a": "b"}},
    });
    let listen = json!({"notifications": {
        "toolsListChanged": true, "resourceSubscriptions": ["tide://1"] }});
    let berth = json!({"port": "Malmö", "berth": 42});
    vec![
        request(id, "server/discover", json!({})),
        request(id, "tools/list", json!({"cursor": "1"})),
        call(
            id,
            "echo",
            json!({"a": [1, {"b": null}], "c": "d", "e": 1.5}),
        ),
        call(id, "berth.reserve", berth),
        call(id, "fail", json!({})),
        call(id, "ask_all", json!({})),
        progress,
        log,
        request(id, "tools/call", retry),
        request(id, "prompts/list", json!({})),
        request(
            id,
            "prompts/get",
            json!({"name": "brief", "arguments": {"vessel": "v"}}),
        ),
        request(id, "resources/list", json!({"cursor": "2"})),
        request(id, "resources/templates/list", json!({})),
        request(id, "resources/read", json!({"uri": "tide://1"})),
        request(id, "completion/complete", completion),
        request(id, "subscriptions/listen", listen),
        request_as(&json!({}), id, "tools/call", json!({"name": "ask"})),
        json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "old", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
            "requestId": id, "reason": "no longer wanted"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {
            "progressToken": id, "progress": 1}}),
        json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}}),
        json!({"jsonrpc": "2.0", "id": id, "error": {"code": -1, "message": "m"}}),
    ]
}

/// A case: the bytes to send, and the good message they were made from, if any.
#[derive(Debug, Clone)]
struct Case {
    bytes: Shown,
    origin: Value,
}

/// Bytes that a failing test shows as text.
#[derive(Clone)]
struct Shown(Vec<u8>);

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        2 => Just(Change::Remove),
        2 => Just(Change::Repeat),
        5 => any_json().prop_map(Change::Retype),
        1 => (1usize..300, any::<bool>()).prop_map(|(levels, object)| Change::Nest(levels, object)),
        1 => string().prop_map(Change::Rename),
    ]
}

/// Few ids, so that cancellations and repetitions meet their requests; some very odd ones.
fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (0u32..4).prop_map(|id| id.to_string()),
        1 => string(),
        1 => number(),
    ]
}

/// A good message with a few things changed.
fn nearly_valid() -> impl Strategy<Value = (Value, Node)> {
    let changes = vec((any::<Index>(), change()), 0..4);
    (any::<Index>(), id(), changes).prop_map(|(kind, id, changes)| {
        let origin = kind.get(&good()).clone();
        let mut node = Node::from(&origin);
        node.put_id(&id);
        for (at, change) in changes {
            if node.children() > 0 {
                node.change(at.index(node.children()), &change);
            }
        }
        (origin, node)
    })
}

fn case() -> impl Strategy<Value = Case> {
    let plain = |node: Node| (Value::Null, node.to_string().into_bytes());
    let bytes = prop_oneof![
        2 => vec(any::<u8>(), 0..200).prop_map(|bytes| (Value::Null, bytes)),
        2 => any_json().prop_map(plain),
        10 => nearly_valid().prop_map(|(origin, node)| (origin, node.to_string().into_bytes())),
        1 => vec(nearly_valid(), 0..4).prop_map(move |parts| {
            plain(Node::Array(parts.into_iter().map(|(_, node)| node).collect()))
        }),
        // Well formed once, until a byte was lost or changed.
        2 => (nearly_valid(), any::<Index>(), vec(any::<u8>(), 0..3), 0usize..3).prop_map(
            |((origin, node), at, new, lost)| {
                let mut bytes = node.to_string().into_bytes();
                let start = at.index(bytes.len());
                let end = (start + lost).min(bytes.len());
                bytes.splice(start..end, new);
                (origin, bytes)
            }
        ),
        1 => (nearly_valid(), any::<Index>()).prop_map(|((origin, node), at)| {
            let mut bytes = node.to_string().into_bytes();
            bytes.truncate(at.index(bytes.len()));
            (origin, bytes)
        }),
    ];
    bytes.prop_map(|(origin, bytes)| Case {
        bytes: Shown(bytes),
        origin,
    })
}

// ---- what must hold ----

/// One of the messages a server may send; nothing here makes a sound server fail inside.
fn assert_message(message: &Value) {
    let members = message
        .as_object()
        .unwrap_or_else(|| panic!("no object: {message}"));
    assert_eq!(message["jsonrpc"], "2.0", "{message}");
    let id = members.get("id");
    if members.contains_key("method") {
        assert!(message["method"].is_string() && id.is_none(), "{message}");
        return;
    }
    assert!(
        id.is_none_or(|id| id.is_string() || id.is_number()),
        "{message}"
    );
    match (members.get("result"), members.get("error")) {
        (Some(result), None) => assert!(result.is_object() && id.is_some(), "{message}"),
        (None, Some(error)) => {
            assert!(error["message"].is_string(), "{message}");
            let code = error["code"].as_i64();
            let known = [-32700, -32600, -32601, -32602, -32020, -32021, -32022];
            assert!(code.is_some_and(|code| known.contains(&code)), "{message}");
        }
        _ => panic!("neither result nor error, or both: {message}"),
    }
}

/// Runs a property against one connection, kept from case to case. A failed case loses it, so
/// that shrinking starts afresh.
fn check<S: Strategy, C, F: Future<Output = C>, G: Future<Output = C>>(
    cases: u32,
    strategy: &S,
    open: impl Fn() -> F,
    property: impl Fn(C, S::Value) -> G,
) {
    // The same cases every time, so that a run says something of the change it tests; whoever
    // asks for more goes exploring.
    let asked = std::env::var("PROPTEST_CASES").ok();
    let (cases, rng_seed) = match asked.and_then(|cases| cases.parse().ok()) {
        Some(more) => (more, RngSeed::Random),
        None => (cases, RngSeed::Fixed(2026)),
    };
    let config = ProptestConfig {
        cases,
        rng_seed,
        max_shrink_iters: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let kept = RefCell::new(None);
    let outcome = TestRunner::new(config).run(strategy, |case| {
        let connection = kept.take();
        let connection = runtime.block_on(async {
            let connection = match connection {
                Some(connection) => connection,
                None => open().await,
            };
            property(connection, case).await
        });
        kept.replace(Some(connection));
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

/// Reads whatever comes until the answer to a known good call, which must be the right one.
async fn still_answers(connection: &mut Connection) {
    let text = "\u{1F6A2} still here";
    let probe = call("the probe", "echo", json!({ "text": text }));
    match connection {
        Connection::Http(server) => {
            let answer = timeout(PATIENCE, server.post(&probe))
                .await
                .expect("a hang");
            assert_eq!(answer.status, 200, "{}", answer.text);
            return assert_echo(answer.last(), text);
        }
        Connection::Memory(_) | Connection::Stdio(_) => connection.send(&probe).await,
    }
    loop {
        let message = connection.receive().await.expect("an open connection");
        if message["id"] == "the probe" {
            return assert_echo(&message, text);
        }
        assert_message(&message);
    }
}

fn assert_echo(message: &Value, text: &str) {
    assert_message(message);
    let echo = message["result"]["content"][0]["text"].as_str();
    assert_eq!(
        echo,
        Some(&*json!({ "text": text }).to_string()),
        "{message}"
    );
}

#[test]
fn in_memory_the_server_survives_anything() {
    check(
        500,
        &vec(case(), 1..4),
        || Wire::Memory.open(BINARY),
        |mut connection, cases| async {
            let Connection::Memory(peer) = &connection else {
                unreachable!("opened as memory")
            };
            for case in cases {
                assert!(peer.send(case.bytes.0).await, "the server is gone");
            }
            still_answers(&mut connection).await;
            connection
        },
    );
}

#[test]
fn on_stdio_the_server_survives_anything() {
    check(
        500,
        &vec(case(), 1..4),
        || Wire::Stdio.open(BINARY),
        |mut connection, cases| async {
            let Connection::Stdio(process) = &mut connection else {
                unreachable!("opened as stdio")
            };
            for case in cases {
                process.write(&case.bytes.0).await;
                process.write(b"\n").await;
            }
            still_answers(&mut connection).await;
            connection
        },
    );
}

#[test]
fn on_http_the_server_survives_any_body() {
    check(
        500,
        &case(),
        || Wire::Http.open(BINARY),
        |mut connection, case| async move {
            let Connection::Http(server) = &connection else {
                unreachable!("opened as HTTP")
            };
            let mut request = post(&case.origin);
            *request.body_mut() = Full::new(Bytes::from(case.bytes.0));
            assert_answer(server, request).await;
            still_answers(&mut connection).await;
            connection
        },
    );
}

/// Sends a request; the response must be a message, a stream of them, or an empty 202.
async fn assert_answer(server: &Server, request: Request<Full<Bytes>>) {
    let response = timeout(PATIENCE, server.open(request))
        .await
        .expect("a hang");
    let (head, mut body) = response.into_parts();
    let status = head.status.as_u16();
    let known = [200, 202, 204, 400, 403, 404, 405, 406, 408, 413, 415, 503];
    assert!(known.contains(&status), "{status}");
    let kind = head.headers.get("content-type").map(HeaderValue::as_bytes);
    let mut text = Vec::new();
    while let Some(frame) = timeout(PATIENCE, body.frame()).await.expect("a hang") {
        text.extend_from_slice(&frame.expect("a frame").into_data().expect("data"));
        // This one goes on until the client has enough.
        let acknowledged = text.windows(13).any(|part| part == b"/acknowledged");
        if acknowledged && text.ends_with(b"\n\n") {
            break;
        }
    }
    let text = String::from_utf8(text).expect("UTF-8");
    match (status, kind) {
        (202 | 204, None) => assert_eq!(text, ""),
        (200, Some(b"text/event-stream")) => events(&text).iter().for_each(assert_message),
        (_, Some(b"application/json")) => {
            let message = serde_json::from_str(&text).unwrap_or_else(|_| panic!("no JSON: {text}"));
            assert_message(&message);
        }
        other => panic!("{other:?}: {text}"),
    }
}

/// Bytes that may stand in a header, most of them plain.
fn header_value() -> impl Strategy<Value = Option<HeaderValue>> {
    let known = select(vec![
        "2026-07-28",
        "2025-11-25",
        "tools/call",
        "echo",
        "=?base64?ZWNobw==?=",
        "=?base64?ZWNobw?=",
        "=?base64?/w==?=",
        "application/json",
        "application/json; charset=utf-16",
        "text/event-stream",
        "*/*;q=0",
        "application/json;q=0.000, text/*;q=1",
        ",,;;q=0,",
        "localhost:1",
        "http://localhost",
        "null",
        "[::1",
        "a@localhost",
        "",
    ]);
    prop_oneof![
        3 => known.prop_map(|text| text.as_bytes().to_vec()),
        2 => "[ -~]{0,40}".prop_map(String::into_bytes),
        2 => vec(any::<u8>(), 0..40),
        1 => (1usize..40_000).prop_map(|length| vec![b'x'; length]),
    ]
    .prop_map(|bytes| HeaderValue::from_bytes(&bytes).ok())
}

#[test]
fn on_http_the_server_survives_any_headers() {
    let name = select(vec![
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "mcp-param-port",
        "mcp-param-berth",
        "mcp-session-id",
        "accept",
        "content-type",
        "host",
        "origin",
        "authorization",
        "last-event-id",
        "access-control-request-headers",
    ]);
    let verb = prop_oneof![6 => Just("POST"), 1 => select(vec!["GET", "OPTIONS", "DELETE", "PUT"])];
    let path =
        prop_oneof![8 => Just("/mcp"), 1 => select(vec!["/", "/mcp/", "/mcp?a=%zz", "/%00"])];
    let headers = vec((name, header_value(), any::<bool>()), 0..5);
    check(
        500,
        &(any::<Index>(), verb, path, headers),
        || Wire::Http.open(BINARY),
        |mut connection, (kind, verb, path, headers)| async move {
            let Connection::Http(server) = &connection else {
                unreachable!("opened as HTTP")
            };
            let mut request = post(kind.get(&good()));
            *request.method_mut() = verb.parse().expect("a verb");
            *request.uri_mut() = path.parse().expect("a path");
            for (name, value, append) in headers {
                match value {
                    Some(value) if append => _ = request.headers_mut().append(name, value),
                    Some(value) => _ = request.headers_mut().insert(name, value),
                    None => _ = request.headers_mut().remove(name),
                }
            }
            assert_answer(server, request).await;
            still_answers(&mut connection).await;
            connection
        },
    );
}

/// What is hardly HTTP at all: a good request with bytes changed, added and lost, or just bytes.
fn below_http() -> impl Strategy<Value = Shown> {
    let good = || {
        let body = call(1, "echo", json!({})).to_string();
        format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: echo\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    };
    let odd = select(vec![
        "\r\n",
        "\r\n\r\n",
        "\0",
        "transfer-encoding: chunked\r\n",
        "transfer-encoding: chunked, chunked\r\n",
        "content-length: 5\r\n",
        "content-length: -1\r\n",
        "content-length: 18446744073709551616\r\n",
        "expect: 100-continue\r\n",
        "connection: upgrade\r\nupgrade: h2c\r\n",
        "host: evil.example.com\r\n",
        " folded\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "5\r\nhello\r\n0\r\n\r\n",
        "ffffffffffffffff1\r\n",
    ]);
    let new = prop_oneof![
        odd.prop_map(|text| text.as_bytes().to_vec()),
        vec(any::<u8>(), 0..8),
        (1usize..100_000).prop_map(|length| vec![b'a'; length]),
    ];
    // Inserted anywhere, but often where a header line begins.
    let spot = (any::<bool>(), any::<Index>(), 0usize..20, new);
    let spoilt = vec(spot, 1..3).prop_map(move |spots| {
        let mut bytes = good();
        for (line, at, lost, new) in spots {
            let ends = line_starts(&bytes);
            let start = match line && !ends.is_empty() {
                true => *at.get(&ends),
                false => at.index(bytes.len()),
            };
            let end = (start + if line { 0 } else { lost }).min(bytes.len());
            bytes.splice(start..end, new);
        }
        bytes
    });
    prop_oneof![1 => vec(any::<u8>(), 0..300), 4 => spoilt].prop_map(Shown)
}

/// Where lines begin.
fn line_starts(bytes: &[u8]) -> Vec<usize> {
    let ends = bytes.windows(2).enumerate();
    ends.filter(|(_, pair)| pair == b"\r\n")
        .map(|(at, _)| at + 2)
        .collect()
}

#[test]
fn on_a_socket_the_server_survives_any_bytes() {
    check(
        300,
        &below_http(),
        || Wire::Http.open(BINARY),
        |mut connection, bytes| async move {
            let Connection::Http(server) = &connection else {
                unreachable!("opened as HTTP")
            };
            let mut stream = TcpStream::connect(server.address)
                .await
                .expect("a connection");
            // The server may close before it has read it all.
            let sent = stream.write_all(&bytes.0).await.is_ok();
            _ = stream.shutdown().await;
            let mut text = Vec::new();
            let read = timeout(PATIENCE, stream.read_to_end(&mut text)).await;
            let whole = read.expect("a hang").is_ok() && sent;
            if whole && !text.is_empty() {
                assert!(text.starts_with(b"HTTP/1."), "{}", text.escape_ascii());
            }
            still_answers(&mut connection).await;
            connection
        },
    );
}

/// As large as the limit allows, in shapes that invite more than linear work.
fn large() -> Vec<String> {
    let members = |count: usize, member: &dyn Fn(usize) -> String| -> String {
        let members: Vec<_> = (0..count).map(member).collect();
        members.join(",")
    };
    let with_params = |params: &str| {
        let message = request("large", "tools/call", json!({"name": "who"})).to_string();
        message.replacen(r#""name":"who""#, &format!(r#""name":"who",{params}"#), 1)
    };
    let with_meta = |meta: &str| {
        let message = call("large", "who", json!({})).to_string();
        message.replacen(r#""_meta":{"#, &format!(r#""_meta":{{{meta},"#), 1)
    };
    let entries = members(250_000, &|i| format!(r#""{i:07}":0"#));
    let text = "\\n".repeat(1_900_000);
    let items = "0,".repeat(1_900_000);
    vec![
        with_params(&format!(r#""inputResponses":{{{entries}}}"#)),
        with_params(&format!(r#""arguments":{{{entries}}}"#)),
        with_params(&format!(r#""arguments":{{"a":[{items}0]}}"#)),
        with_params(&members(200_000, &|_| r#""arguments":{}"#.to_owned())),
        with_params(&entries),
        with_meta(&entries),
        with_meta(&members(200_000, &|_| r#""progressToken":1"#.to_owned())),
        call("large", "x", json!({}))
            .to_string()
            .replacen(r#""x""#, &format!("\"{text}\""), 1),
        call("large", "who", json!({})).to_string().replacen(
            r#""large""#,
            &format!("\"{text}\""),
            1,
        ),
        "[".repeat(4_000_000),
        "\"".repeat(4_000_000),
        format!("\"{}", "\\".repeat(4_000_000)),
        format!("{}{}", "{\"a\":".repeat(60), "{},".repeat(1_000_000)),
        " ".repeat(4_000_000),
        "x".repeat(5_000_000),
    ]
}

/// In a process of its own, so that a hang there is seen here.
#[tokio::test]
async fn large_messages_cost_no_more_than_their_size() {
    let mut connection = Wire::Stdio.open(BINARY).await;
    for message in large() {
        let Connection::Stdio(process) = &mut connection else {
            unreachable!("opened as stdio")
        };
        let line = format!("{message}\n");
        let written = timeout(PATIENCE, process.write(line.as_bytes())).await;
        written.expect("a hang");
        still_answers(&mut connection).await;
    }
}

/// SUB-S-06: an id no 64 bits hold comes back digit for digit or not at all.
#[tokio::test]
async fn a_subscription_is_never_tied_to_another_id() {
    let listen = json!({"notifications": {"toolsListChanged": true}});
    for id in [
        "18446744073709551615",
        "18446744073709551617",
        "-9223372036854775809",
        "-0",
    ] {
        let mut connection = Wire::Memory.open(BINARY).await;
        let Connection::Memory(peer) = &mut connection else {
            unreachable!("opened as memory")
        };
        let message = request(ID, "subscriptions/listen", listen.clone()).to_string();
        assert!(peer.send(message.replace(&ID.to_string(), id)).await);
        let first = peer.receive().await.expect("an answer");
        let first = String::from_utf8(first.to_vec()).expect("UTF-8");
        let tied = format!(r#""io.modelcontextprotocol/subscriptionId":{id}}}"#);
        assert!(
            first.contains(&tied) || first.contains(r#""error":{"code":-32600"#),
            "{first}"
        );
    }
}
