//! Servers that misbehave. Whatever they send, and whenever they stop, a call ends in an error that
//! says what is wrong, in time, in bounds, and without a request that is not due.

use std::{
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use antiphon::{
    Client,
    client::{
        CallTool, Change, Clock, Connection, Error, ErrorKind, Event, Http, Negotiated, Stdio,
        Subscription,
    },
    types::{Root, SubscriptionFilter, Version},
};
use antiphon_tests::{
    rogue::{Act, Framing, Rogue, Running, result_of},
    script::{asking, respond, script},
    socket::Socket,
    way::Sent,
};
use serde_json::{Value, json};
use tokio::{
    task::{JoinError, JoinSet},
    time::timeout,
};

use Act::{Chatter, Die, Drip, Flood, Hold, Say, Wait, Write};

/// What a server has for one request.
const WORK: Duration = Duration::from_millis(600);

/// When a clock of that must have rung, even on a busy machine.
const SOON: Duration = Duration::from_secs(5);

/// Far longer than anything here takes: what takes longer has found a hang.
const BUDGET: Duration = Duration::from_secs(30);

/// The longest message that is read.
const LIMIT: usize = 8 << 20;

/// The rounds that are answered.
const ROUNDS: u32 = 2;

/// A client that agrees to everything, and what it is told.
fn client() -> (Client, Events) {
    let events = Events::default();
    let log = events.clone();
    let client = Client::new("tests", "1.0")
        .work_timeout(BUDGET)
        .poll_timeout(WORK)
        .human_timeout(BUDGET)
        .max_rounds(ROUNDS)
        .on_form(|form| async move { form.accept(json!({ "ok": true })) })
        .on_roots(|roots| async move { roots.list([Root::new("file:///srv")]) })
        .on_event(move |event| log.note(event));
    (client, events)
}

/// What belongs to no call, in short.
#[derive(Clone, Default)]
struct Events(Arc<Mutex<Vec<String>>>);

impl Events {
    fn note(&self, event: &Event) {
        let mut events = self.0.lock().expect("unpoisoned");
        // A flood is not to be kept.
        if events.len() < 100 {
            events.push(match event {
                Event::Message(message) => String::from_utf8_lossy(message).into_owned(),
                Event::Noise(text) => format!("noise: {text}"),
                other => format!("{other:?}"),
            });
        }
    }

    fn any(&self, part: &str) -> bool {
        let events = self.0.lock().expect("unpoisoned");
        events.iter().any(|event| event.contains(part))
    }
}

/// How something ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    Done,
    Decode,
    Transport,
    TimedOut(Clock),
    Rounds,
    Unsupported,
    Protocol(i64),
    Status(u16),
    Version,
    Other(String),
}

const LATE: End = End::TimedOut(Clock::Work);

impl End {
    fn of<T>(outcome: &Result<T, Error>) -> Self {
        let Err(error) = outcome else {
            return Self::Done;
        };
        // Whoever reads it sees what happened, and nothing that the server wants them to see.
        let text = error.to_string();
        assert!(text.len() < 4_000, "{} bytes: {text:.300}", text.len());
        assert!(!text.contains('\u{1b}'), "{text:?}");
        match error.kind() {
            ErrorKind::Decode => Self::Decode,
            ErrorKind::Transport => Self::Transport,
            ErrorKind::TimedOut { clock, .. } => Self::TimedOut(*clock),
            ErrorKind::RoundsExceeded(_) => Self::Rounds,
            ErrorKind::Unsupported { .. } => Self::Unsupported,
            ErrorKind::Protocol(object) => Self::Protocol(object.code),
            ErrorKind::Status(status) => Self::Status(*status),
            ErrorKind::Version { .. } => Self::Version,
            other => Self::Other(format!("{other:?}")),
        }
    }
}

/// A server, on the way that it is reached.
struct Met {
    client: Client,
    events: Events,
    sent: Sent,
    rogue: Rogue,
    limit: usize,
    running: Option<Running>,
}

impl Met {
    async fn new(rogue: Rogue, framing: Framing) -> Self {
        let (client, events) = client();
        let running = match framing {
            Framing::Lines => None,
            Framing::Json | Framing::Events => Some(Running::start(rogue.clone(), framing).await),
        };
        Self {
            client,
            events,
            sent: Sent::default(),
            rogue,
            limit: LIMIT,
            running,
        }
    }

    async fn connect(&self) -> Result<Connection, Error> {
        match &self.running {
            Some(running) => {
                self.client
                    .connect(self.sent.watch(self.http(running)))
                    .await
            }
            None => {
                self.client
                    .connect(self.sent.watch(child(&self.rogue)))
                    .await
            }
        }
    }

    async fn connect_as(&self, known: Negotiated) -> Result<Connection, Error> {
        match &self.running {
            Some(running) => self.client.connect_as(self.http(running), known).await,
            None => self.client.connect_as(child(&self.rogue), known).await,
        }
    }

    fn http(&self, running: &Running) -> Http {
        Http::new(&running.url).max_message_bytes(self.limit)
    }

    /// How many requests of a method were sent, and, if that can be seen, arrived.
    fn requests(&self, method: &str) -> usize {
        let count = |methods: Vec<String>| methods.iter().filter(|other| *other == method).count();
        let sent = count(self.sent.take());
        if let Some(running) = &self.running {
            assert_eq!(
                count(running.requests()),
                sent,
                "sent, but not as often as it arrived"
            );
        }
        sent
    }
}

/// The rogue in a process of its own.
fn child(rogue: &Rogue) -> Stdio {
    let mut command = Command::new(env!("CARGO_BIN_EXE_antiphon-tests-rogue"));
    command.arg(serde_json::to_string(rogue).expect("JSON"));
    spawn(command)
}

/// A shell that plays the server.
fn shell(script: &str) -> Stdio {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    spawn(command)
}

fn spawn(command: Command) -> Stdio {
    Stdio::spawn(command)
        .max_message_bytes(LIMIT)
        .grace(Duration::from_millis(200))
}

/// Closes a connection, which must not take for ever either.
async fn close(connection: Connection) {
    timeout(BUDGET, connection.close())
        .await
        .expect("it closes");
}

/// As many calls as there is time for.
const ANY: usize = usize::MAX;

/// One way to misbehave, and how a call of a tool ends then.
#[derive(Clone)]
struct Row {
    name: &'static str,
    acts: Vec<Act>,
    http: End,
    lines: End,
    calls: usize,
    /// Nothing else can be asked afterwards.
    busy: bool,
    /// It asks, which the other methods may not.
    asks: bool,
}

fn row(name: &'static str, acts: impl Into<Vec<Act>>, end: End) -> Row {
    Row {
        name,
        acts: acts.into(),
        http: end.clone(),
        lines: end,
        calls: 1,
        busy: false,
        asks: false,
    }
}

/// A message that is an answer, though a bad one.
fn bad(name: &'static str, message: &str) -> Row {
    row(name, [Say(message.to_owned())], End::Decode)
}

/// A message that is nobody's: a response of its own must be one, a line may be anything.
fn stray(name: &'static str, message: &str) -> Row {
    Row {
        lines: LATE,
        ..bad(name, message)
    }
}

/// A result.
fn result(name: &'static str, result: &str) -> Row {
    bad(name, &result_of(result))
}

/// Questions.
fn asks(name: &'static str, questions: &str, end: End) -> Row {
    let result = format!(r#"{{"resultType":"input_required",{questions}}}"#);
    Row {
        asks: true,
        calls: if end == End::Rounds {
            ROUNDS as usize + 1
        } else {
            1
        },
        ..row(name, [Say(result_of(&result))], end)
    }
}

impl Row {
    /// It goes on for ever, and hears nothing else.
    fn busy(self) -> Self {
        Self { busy: true, ..self }
    }

    /// The ways on which it can be done at all.
    fn framings(&self) -> Vec<Framing> {
        match &*self.acts {
            [Say(_)] => vec![Framing::Json, Framing::Events, Framing::Lines],
            _ => vec![Framing::Events, Framing::Lines],
        }
    }

    fn end(&self, framing: Framing) -> &End {
        match framing {
            Framing::Lines => &self.lines,
            Framing::Json | Framing::Events => &self.http,
        }
    }
}

const FORM: &str = r#"{"method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":SCHEMA}}"#;
const YES_OR_NO: &str = r#"{"type":"object","properties":{"ok":{"type":"boolean"}}}"#;

fn form(schema: &str) -> String {
    FORM.replace("SCHEMA", schema)
}

fn one_form(schema: &str) -> String {
    format!(r#""inputRequests":{{"a":{}}}"#, form(schema))
}

fn fine() -> String {
    result_of(r#"{"resultType":"complete","content":[{"type":"text","text":"fine"}]}"#)
}

fn progress(token: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#
    )
}

fn rows() -> Vec<Row> {
    let yes = form(YES_OR_NO);
    let mut rows = vec![
        result(
            "an unknown kind of result",
            r#"{"resultType":"surprise","content":[]}"#,
        ),
        result(
            "a long unknown kind of result",
            r#"{"resultType":"${long}"}"#,
        ),
        result(
            "a kind that is a number",
            r#"{"resultType":7,"content":[]}"#,
        ),
        result("a kind that is nothing", r#"{"resultType":null}"#),
        result(
            "two kinds",
            r#"{"resultType":"complete","resultType":"complete","content":[]}"#,
        ),
        result("no content", r#"{"resultType":"complete"}"#),
        result(
            "content of a wrong type",
            r#"{"resultType":"complete","content":7}"#,
        ),
        result(
            "a block of a wrong type",
            r#"{"resultType":"complete","content":[{"type":7}]}"#,
        ),
        result("a result that is nothing", "null"),
        result("a result that is a text", r#""done""#),
        result("a result that is a list", r#"["complete",[]]"#),
        result("a deep result", "${deep}${peed}"),
        result(
            "a deep member",
            r#"{"resultType":"complete","content":[],"x":${deep}${peed}}"#,
        ),
        result(
            "a result that is no text",
            r#"{"resultType":"complete","content":[{"type":"text","text":"$FF"}]}"#,
        ),
        bad(
            "a result and an error",
            r#"{"jsonrpc":"2.0","id":$ID,"result":{},"error":{"code":1,"message":""}}"#,
        ),
        bad(
            "neither a result nor an error",
            r#"{"jsonrpc":"2.0","id":$ID}"#,
        ),
        bad(
            "an error that is a text",
            r#"{"jsonrpc":"2.0","id":$ID,"error":"no"}"#,
        ),
        bad(
            "an error whose code is a text",
            r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":"1","message":""}}"#,
        ),
        bad(
            "an error without a message",
            r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":1}}"#,
        ),
        bad(
            "an error that is a list",
            r#"{"jsonrpc":"2.0","id":$ID,"error":[1,"no"]}"#,
        ),
        bad(
            "another JSON-RPC",
            r#"{"jsonrpc":"1.0","id":$ID,"result":{}}"#,
        ),
        bad("no JSON-RPC", r#"{"id":$ID,"result":{}}"#),
        row(
            "a long error",
            [Say(
                r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-7,"message":"${long}"}}"#.into(),
            )],
            End::Protocol(-7),
        ),
        stray(
            "the answer to another request",
            r#"{"jsonrpc":"2.0","id":99999,"result":{}}"#,
        ),
        stray(
            "an id that is a text",
            r#"{"jsonrpc":"2.0","id":"$ID","result":{}}"#,
        ),
        stray(
            "an id that is a fraction",
            r#"{"jsonrpc":"2.0","id":$ID.5,"result":{}}"#,
        ),
        stray(
            "an id that is nothing",
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
        ),
        stray(
            "two ids",
            r#"{"jsonrpc":"2.0","id":$ID,"id":$ID,"result":{}}"#,
        ),
        stray("a batch", r#"[{"jsonrpc":"2.0","id":$ID,"result":{}}]"#),
        stray("an empty object", "{}"),
        stray("a number", "42"),
        stray("no JSON", "Listening on port 42"),
        stray("half a message", r#"{"jsonrpc":"2.0","id":$ID,"result":{"#),
        stray("nothing but brackets", "${deep}"),
        stray("no text", "$FF$FF"),
        asks("questions that are none", r#""x":1"#, End::Decode),
        asks("questions in a list", r#""inputRequests":[]"#, End::Decode),
        asks("no question", r#""inputRequests":{}"#, End::Decode),
        asks(
            "a question that is a number",
            r#""inputRequests":{"a":7}"#,
            End::Decode,
        ),
        asks(
            "a question without a method",
            r#""inputRequests":{"a":{}}"#,
            End::Decode,
        ),
        asks(
            "a state that is a number",
            r#""requestState":7"#,
            End::Decode,
        ),
        asks(
            "one key for two questions",
            &format!(r#""inputRequests":{{"a":{yes},"a":{yes}}}"#),
            End::Decode,
        ),
        asks(
            "one key in two spellings",
            &format!(r#""inputRequests":{{"a":{yes},"\u0061":{yes}}}"#),
            End::Decode,
        ),
        asks(
            "two times questions",
            r#""inputRequests":{"a":{"method":"roots/list"}},"inputRequests":{}"#,
            End::Decode,
        ),
        asks(
            "an unknown kind of question",
            r#""inputRequests":{"a":{"method":"x/y","params":{}}}"#,
            End::Unsupported,
        ),
        asks(
            "a kind that nobody declared",
            r#""inputRequests":{"a":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}}"#,
            End::Unsupported,
        ),
        asks(
            "a long key",
            r#""inputRequests":{"${long}":{"method":"x/y"}}"#,
            End::Unsupported,
        ),
        asks(
            "a long kind",
            r#""inputRequests":{"a":{"method":"${long}"}}"#,
            End::Unsupported,
        ),
        asks(
            "a form without a schema",
            r#""inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"form","message":"?"}}}"#,
            End::Decode,
        ),
        asks(
            "a form that is a list",
            &one_form(r#"{"type":"array"}"#),
            End::Decode,
        ),
        asks("a form that is a text", &one_form(r#""ok""#), End::Decode),
        asks(
            "a form with nested fields",
            &one_form(r#"{"type":"object","properties":{"a":{"type":"object","properties":{}}}}"#),
            End::Rounds,
        ),
        asks(
            "a form with a field that is a number",
            &one_form(r#"{"type":"object","properties":{"a":7}}"#),
            End::Decode,
        ),
        asks(
            "an unknown mode",
            r#""inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"x","message":"?"}}}"#,
            End::Decode,
        ),
        asks(
            "an empty key",
            &format!(r#""inputRequests":{{"":{yes}}}"#),
            End::Rounds,
        ),
        asks("endless questions", &one_form(YES_OR_NO), End::Rounds),
        Row {
            calls: ANY,
            ..asks(
                "an endless state",
                r#""requestState":"s$N""#,
                End::TimedOut(Clock::Poll),
            )
        },
        asks(
            "10,000 questions",
            r#""inputRequests":{${questions}}"#,
            End::Decode,
        ),
        asks(
            "a large state",
            &format!(r#"{},"requestState":"${{state}}""#, one_form(YES_OR_NO)),
            End::Rounds,
        ),
    ];
    let elicitation = format!(r#"{{"jsonrpc":"2.0","id":$ID,{}"#, &yes[1..]);
    rows.extend([
        row("requests", [
            Say(elicitation),
            Say(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#.into()),
            Say(fine()),
        ], End::Done),
        row("progress of another", [Say(progress("99999")), Say(progress("\"$ID\"")), Say(fine())], End::Done),
        row("two answers", [Say(fine()), Say(fine()), Say(result_of("7"))], End::Done),
        row("an answer, and later another", [Say(fine()), Wait(200), Say(result_of("{}"))], End::Done),
        row("progress without end", [Chatter(progress("$ID"))], LATE).busy(),
        row("news without end", [Chatter(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":1}}"#.into())], LATE).busy(),
        row("requests without end", [Chatter(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.into())], LATE).busy(),
        row(
            "a cancelled call",
            [
                Say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":$ID}}"#.into()),
                Hold,
            ],
            LATE,
        ),
        row(
            "progress that is no number",
            [Say(progress("$ID").replace(":1}", ":1e999}")), Say(fine())],
            End::Done,
        ),
        Row {
            calls: 2,
            ..row(
                "a version that it speaks",
                [Say(r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}"#.into())],
                End::Protocol(-32022),
            )
        },
        row("silence", [Hold], LATE),
        row("silence after some progress", [Say(progress("$ID")), Hold], LATE),
        row("an end instead of an answer", [Say(progress("$ID")), Die], End::Transport).busy(),
        row("an end in the middle", [Say(progress("$ID")), Write(r#"{"jsonrpc":"2.0","#.into()), Die], End::Transport).busy(),
        row("a drip", [Say(progress("$ID")), Drip(50, fine())], LATE).busy(),
    ]);
    rows
}

/// Runs many at a time, each of which has the budget.
async fn each<T: Send + 'static, F: Future<Output = ()> + Send + 'static>(
    all: impl IntoIterator<Item = T>,
    run: impl Fn(T) -> F,
) {
    let mut running = JoinSet::new();
    let mut failed = 0;
    let mut count = |done: Option<Result<(), JoinError>>| {
        // What went wrong is told already.
        failed += usize::from(!matches!(done, Some(Ok(()))));
    };
    for one in all {
        if running.len() == 6 {
            count(running.join_next().await);
        }
        running.spawn(run(one));
    }
    while let Some(done) = running.join_next().await {
        count(Some(done));
    }
    assert_eq!(failed, 0, "see above");
}

/// Each row with each way to send it.
fn cases(rows: Vec<Row>) -> Vec<(Row, Framing)> {
    let each = |row: Row| {
        let framings = row.framings().into_iter();
        framings.map(move |framing| (row.clone(), framing))
    };
    rows.into_iter().flat_map(each).collect()
}

/// A call ends as the table says, after as many requests as are due, and costs nothing else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_ends_whatever_the_server_does() {
    each(cases(rows()), async |(row, framing)| {
        let what = format!("{}, {framing:?}", row.name);
        let met = Met::new(Rogue::new().on("tools/call", row.acts.clone()), framing).await;
        let connection = met.connect().await.expect("a connection");
        let started = Instant::now();
        let (name, progress) = (row.name, Arc::new(AtomicUsize::new(0)));
        let count = progress.clone();
        let mut call = CallTool::new("rogue", json!({ "a": 1 })).on_progress(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        });
        // Elsewhere a busy machine is no reason to fail.
        if *row.end(framing) == LATE {
            call = call.work_timeout(WORK);
        }
        let outcome = connection.call(call).await;
        let elapsed = started.elapsed();
        assert!(elapsed < BUDGET, "{what}: {elapsed:?}");
        let end = End::of(&outcome);
        let flooded = framing == Framing::Lines && row.name == "progress without end";
        assert!(
            end == *row.end(framing) || (flooded && end == End::Transport),
            "{what}: {outcome:?}",
        );
        assert!(end != LATE || elapsed < SOON, "{what}: {elapsed:?}");
        let calls = met.requests("tools/call");
        assert!(
            row.calls == ANY || calls == row.calls,
            "{what}: {calls} calls"
        );
        if !row.busy {
            let fine = connection.call_tool("fine", ()).await;
            assert_eq!(End::of(&fine), End::Done, "{what}, afterwards: {fine:?}");
        }
        match name {
            "requests" => {
                assert!(met.events.any("elicitation/create") && met.events.any("ping"));
            }
            "progress of another" => assert_eq!(progress.load(Ordering::SeqCst), 0, "{what}"),
            "silence after some progress" => {
                assert_eq!(progress.load(Ordering::SeqCst), 1, "{what}");
            }
            _ => {}
        }
        close(connection).await;
    })
    .await;
}

/// What may not ask is held to that, and to everything else: discovery, and lists.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_not_ask_does_not() {
    let only_answers = |(row, framing): &(Row, Framing)| {
        let once = row.calls == 1 || row.asks;
        once && matches!(&*row.acts, [Say(_)]) && *row.end(*framing) != LATE
    };
    let rows = cases(rows()).into_iter().filter(only_answers);
    each(rows, async |(row, framing)| {
        let what = format!("{}, {framing:?}", row.name);
        let expected = match row.end(framing) {
            _ if row.asks => End::Decode,
            end => end.clone(),
        };
        let met = Met::new(Rogue::new().on("tools/list", row.acts.clone()), framing).await;
        let connection = met.connect().await.expect("a connection");
        let listed = connection.tools().all().await;
        assert_eq!(End::of(&listed), expected, "{what}: {listed:?}");
        assert_eq!(met.requests("tools/list"), 1, "{what}");
        close(connection).await;

        let met = Met::new(
            Rogue::new().on("server/discover", row.acts.clone()),
            framing,
        )
        .await;
        let connected = met.connect().await;
        // An error of whatever kind is how servers of an older era answer.
        let expected = match expected {
            End::Protocol(_) => End::Version,
            end => end,
        };
        assert_eq!(End::of(&connected), expected, "{what}: {connected:?}");
        assert_eq!(met.requests("server/discover"), 1, "{what}");
    })
    .await;
}

/// A server that asks in another version than it speaks is asked once more, and no more than that.
#[tokio::test]
async fn a_version_is_tried_once() {
    let refusal = |supported: &str| {
        Say(format!(
            r#"{{"jsonrpc":"2.0","id":$ID,"error":{{"code":-32022,"message":"no","data":{{"supported":{supported}}}}}}}"#
        ))
    };
    for (supported, end, requests) in [
        (r#"["2026-07-28"]"#, End::Protocol(-32022), 2),
        (r#"["2030-01-01","\u001b[31m"]"#, End::Version, 1),
        (r#"["2025-06-18"]"#, End::Version, 1),
        (r#"[7,null]"#, End::Version, 1),
        (r#"{"2026-07-28":1}"#, End::Version, 1),
    ] {
        let rogue = Rogue::new().on("server/discover", [refusal(supported)]);
        let met = Met::new(rogue, Framing::Json).await;
        let connected = met.connect().await;
        assert_eq!(End::of(&connected), end, "{supported}: {connected:?}");
        assert_eq!(met.requests("server/discover"), requests, "{supported}");
    }
    for (versions, end) in [
        (r#"["2030-01-01"]"#, End::Version),
        (r#"[]"#, End::Version),
        (r#"["2025-06-18"]"#, End::Version),
        (r#""2026-07-28""#, End::Decode),
        (r#"[7]"#, End::Decode),
        ("null", End::Decode),
    ] {
        let result = format!(
            r#"{{"resultType":"complete","supportedVersions":{versions},"capabilities":{{}}}}"#
        );
        let rogue = Rogue::new().on("server/discover", [Say(result_of(&result))]);
        let met = Met::new(rogue, Framing::Json).await;
        let connected = met.connect().await;
        assert_eq!(End::of(&connected), end, "{versions}: {connected:?}");
    }
}

/// A server whose refusals cannot be helped is not asked for ever.
#[tokio::test]
async fn headers_are_corrected_once() {
    let mismatch = r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32020,"message":"no"}}"#;
    let tools = |schema: &str, more: &str| {
        Say(result_of(&format!(
            r#"{{"resultType":"complete","tools":[{{"name":"rogue","inputSchema":{{"type":"object","properties":{{"a":{{"type":"integer"{schema}}}}}}}}}]{more}}}"#
        )))
    };
    let header = r#","x-mcp-header":"A""#;
    for (list, calls) in [
        (tools("", ""), 1),
        (tools(header, ""), 2),
        (tools(header, r#","nextCursor":"again""#), 2),
        (tools(r#","x-mcp-header":"\u001b""#, ""), 1),
    ] {
        let rogue = Rogue::new()
            .on("tools/call", [Say(mismatch.into())])
            .on("tools/list", [list]);
        let met = Met::new(rogue, Framing::Json).await;
        let connection = met.connect().await.expect("a connection");
        let outcome = connection.call_tool("rogue", json!({ "a": 1 })).await;
        assert_eq!(End::of(&outcome), End::Protocol(-32020), "{outcome:?}");
        assert_eq!(met.requests("tools/call"), calls);
    }
    // However long the list, the call has no more time than it has.
    let endless = [Wait(50), tools("", r#","nextCursor":"$N""#)];
    let rogue = Rogue::new()
        .on("tools/call", [Say(mismatch.into())])
        .on("tools/list", endless);
    let met = Met::new(rogue, Framing::Json).await;
    let connection = met.connect().await.expect("a connection");
    let started = Instant::now();
    let call = CallTool::new("rogue", json!({ "a": 1 })).work_timeout(WORK);
    let outcome = timeout(BUDGET, connection.call(call)).await;
    assert_eq!(End::of(&outcome.expect("in time")), LATE);
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
}

const EVENTS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
const CHUNKED: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// A response with this head and body, and nothing after it.
fn response(head: &str, body: &str) -> Vec<Act> {
    let length = body.len();
    vec![Write(format!(
        "HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    ))]
}

/// The same, of the type of a message.
fn json_response(status: &str, body: &str) -> Vec<Act> {
    response(&format!("{status}\r\ncontent-type: application/json"), body)
}

fn then(text: impl Into<String>, act: Act) -> Vec<Act> {
    vec![Write(text.into()), act]
}

fn http_rows() -> Vec<(&'static str, Vec<Act>, End)> {
    let page = "<html><body>\u{1b}[31mNot here</body></html>";
    let ok = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#;
    let event = format!("data: {}\n\n", progress("$ID"));
    let html = "content-type: text/html";
    vec![
        // Silence at each point.
        ("no head", vec![Hold], LATE),
        (
            "half a head",
            then("HTTP/1.1 200 OK\r\ncontent-ty", Hold),
            LATE,
        ),
        (
            "a head and no body",
            then(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n",
                Hold,
            ),
            LATE,
        ),
        (
            "half a body",
            then(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
                Hold,
            ),
            LATE,
        ),
        ("a head and no event", then(EVENTS, Hold), LATE),
        (
            "events that stop",
            then(format!("{EVENTS}{event}{event}"), Hold),
            LATE,
        ),
        (
            "half an event",
            then(format!("{EVENTS}data: {{\"jsonrpc\""), Hold),
            LATE,
        ),
        (
            "half a refusal",
            then("HTTP/1.1 500 No\r\ncontent-length: 9\r\n\r\nno", Hold),
            LATE,
        ),
        (
            "half a challenge",
            then("HTTP/1.1 401 No\r\ncontent-length: 9\r\n\r\nno", Hold),
            LATE,
        ),
        // Ends at each point.
        ("nothing, and the end", vec![Die], End::Transport),
        (
            "half a head, and the end",
            then("HTTP/1.1 200 OK\r\ncontent-ty", Die),
            End::Transport,
        ),
        (
            "a head, and the end",
            then(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n",
                Die,
            ),
            End::Transport,
        ),
        (
            "half a body, and the end",
            then(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
                Die,
            ),
            End::Transport,
        ),
        (
            "an open body that is empty",
            then(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n",
                Die,
            ),
            End::Decode,
        ),
        ("a stream, and the end", then(EVENTS, Die), End::Transport),
        (
            "some events, and the end",
            then(format!("{EVENTS}{event}{event}"), Die),
            End::Transport,
        ),
        (
            "half an event, and the end",
            then(format!("{EVENTS}data: {ok}"), Die),
            End::Transport,
        ),
        (
            "half a chunk, and the end",
            then(format!("{CHUNKED}ff\r\ndata: "), Die),
            End::Transport,
        ),
        (
            "chunks without an end",
            then(format!("{CHUNKED}6\r\ndata: \r\n"), Die),
            End::Transport,
        ),
        (
            "no chunk",
            then(format!("{CHUNKED}zz\r\n"), Die),
            End::Transport,
        ),
        (
            "a chunk longer than any",
            then(format!("{CHUNKED}ffffffffffffffffff\r\n"), Die),
            End::Transport,
        ),
        (
            "a body longer than any",
            then(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 18446744073709551615\r\n\r\n",
                Die,
            ),
            End::Transport,
        ),
        // Drips.
        (
            "a head that drips",
            vec![Drip(50, "HTTP/1.1 200 OK\r\nx: y".into())],
            LATE,
        ),
        (
            "a body that drips",
            then(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99999\r\n\r\n",
                Drip(50, " ".into()),
            ),
            LATE,
        ),
        (
            "events that drip",
            then(EVENTS, Drip(50, "data: {}\n".into())),
            LATE,
        ),
        (
            "comments that drip",
            then(EVENTS, Drip(50, ": still here\n\n".into())),
            LATE,
        ),
        (
            "a refusal that drips",
            then("HTTP/1.1 500 No\r\n\r\n", Drip(50, "no".into())),
            LATE,
        ),
        (
            "a challenge that drips",
            then("HTTP/1.1 401 No\r\n\r\n", Drip(50, "no".into())),
            LATE,
        ),
        (
            "a page that drips",
            then(
                format!("HTTP/1.1 200 OK\r\n{html}\r\n\r\n"),
                Drip(50, "<p>".into()),
            ),
            LATE,
        ),
        // Floods.
        (
            "comments without end",
            then(EVENTS, Flood(": still here\n\n".repeat(1000))),
            LATE,
        ),
        (
            "events of another type",
            then(EVENTS, Flood("event: x\ndata: {}\n\n".repeat(1000))),
            LATE,
        ),
        (
            "an event without end",
            then(format!("{EVENTS}data: "), Flood("x".repeat(1 << 16))),
            End::Decode,
        ),
        (
            "a field without end",
            then(EVENTS, Flood("x".repeat(1 << 16))),
            LATE,
        ),
        (
            "a type without end",
            then(format!("{EVENTS}event: "), Flood("x".repeat(1 << 16))),
            End::Decode,
        ),
        (
            "data lines without end",
            then(EVENTS, Flood("data\n".repeat(1 << 14))),
            End::Decode,
        ),
        (
            "a body without end",
            then(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n",
                Flood(" ".repeat(1 << 16)),
            ),
            End::Decode,
        ),
        (
            "a head without end",
            then("HTTP/1.1 200 OK\r\n", Flood("x-x: y\r\n".repeat(1000))),
            End::Transport,
        ),
        (
            "a header without end",
            then("HTTP/1.1 200 OK\r\nx-x: ", Flood("x".repeat(1 << 16))),
            End::Transport,
        ),
        (
            "a refusal without end",
            then("HTTP/1.1 500 No\r\n\r\n", Flood("no ".repeat(1 << 14))),
            End::Status(500),
        ),
        (
            "trailers without end",
            then(format!("{CHUNKED}0\r\n"), Flood("x-x: y\r\n".repeat(1000))),
            End::Transport,
        ),
        // Lies about what it is.
        (
            "events that are JSON",
            vec![Write(format!("{EVENTS}{ok}")), Die],
            End::Transport,
        ),
        (
            "JSON that is events",
            json_response("200 OK", &format!("data: {ok}\n\n")),
            End::Decode,
        ),
        (
            "JSON that is a page",
            json_response("200 OK", page),
            End::Decode,
        ),
        (
            "a page",
            response(&format!("200 OK\r\n{html}"), page),
            End::Decode,
        ),
        ("no type", response("200 OK", ok), End::Decode),
        (
            "an odd type",
            response("200 OK\r\ncontent-type: \u{7f}", ok),
            End::Transport,
        ),
        (
            "something packed",
            response(
                "200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip",
                ok,
            ),
            End::Decode,
        ),
        ("nothing at all", json_response("200 OK", ""), End::Decode),
        ("accepted", response("202 Accepted", ""), End::Decode),
        (
            "no content",
            then("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n", Die),
            End::Decode,
        ),
        // Refusals.
        (
            "not found",
            response(&format!("404 Not Found\r\n{html}"), page),
            End::Status(404),
        ),
        (
            "broken",
            response(&format!("500 Oh No\r\n{html}"), page),
            End::Status(500),
        ),
        (
            "busy",
            response("503 Busy\r\nretry-after: 0", ""),
            End::Status(503),
        ),
        (
            "a refusal that is a result",
            json_response("500 Oh No", ok),
            End::Status(500),
        ),
        (
            "a refusal that is an error",
            json_response(
                "400 Bad Request",
                r#"{"jsonrpc":"2.0","error":{"code":-9,"message":"\u001b[31m"}}"#,
            ),
            End::Protocol(-9),
        ),
        (
            "a refusal of another",
            json_response(
                "400 Bad Request",
                r#"{"jsonrpc":"2.0","id":99999,"error":{"code":-9,"message":"no"}}"#,
            ),
            End::Decode,
        ),
        (
            "a status of its own",
            response("999 Odd", ""),
            End::Status(999),
        ),
        (
            "an interim response and no other",
            then("HTTP/1.1 100 Continue\r\n\r\n", Hold),
            LATE,
        ),
        (
            "interim responses without end",
            vec![Flood("HTTP/1.1 100 Continue\r\n\r\n".into())],
            LATE,
        ),
        (
            "another protocol",
            then(
                "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
                Hold,
            ),
            End::Status(101),
        ),
        (
            "no HTTP",
            then("220 mail.example.com ESMTP\r\n", Hold),
            End::Transport,
        ),
        (
            "an older HTTP",
            then(format!("HTTP/0.9 200 OK\r\n\r\n{ok}"), Hold),
            End::Transport,
        ),
        (
            "two lengths",
            then(
                format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\n{ok}"
                ),
                Hold,
            ),
            End::Transport,
        ),
        // Redirects.
        (
            "a loop",
            response("307 Over There\r\nlocation: /mcp", ""),
            End::Status(307),
        ),
        (
            "an endless way",
            response("308 Over There\r\nlocation: ../x/$N", ""),
            End::Status(308),
        ),
        (
            "a way elsewhere",
            response("307 Over There\r\nlocation: http://127.0.0.1:9/", ""),
            End::Status(307),
        ),
        (
            "a way to another method",
            response("303 Over There\r\nlocation: /mcp", ""),
            End::Status(303),
        ),
        (
            "a way to the same place",
            response("307 Over There\r\nlocation: \t", ""),
            End::Status(307),
        ),
        (
            "a way without a location",
            response("307 Over There", ""),
            End::Status(307),
        ),
    ]
}

/// What goes wrong below the messages ends a call just as well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_ends_whatever_comes_over_http() {
    each(http_rows(), async |(name, acts, expected)| {
        let mut met = Met::new(Rogue::new().on("tools/call", acts), Framing::Json).await;
        met.limit = 1 << 20;
        let connection = met.connect().await.expect("a connection");
        let mut call = CallTool::new("rogue", ());
        if expected == LATE {
            call = call.work_timeout(WORK);
        }
        let started = Instant::now();
        let outcome = connection.call(call).await;
        let (end, elapsed) = (End::of(&outcome), started.elapsed());
        assert_eq!(end, expected, "{name}: {outcome:?}");
        assert!(
            elapsed < BUDGET && (end != LATE || elapsed < SOON),
            "{name}: {elapsed:?}"
        );
        let running = met.running.as_ref().expect("over HTTP");
        // What is too long is not read on; the rest waits in sockets.
        if end != LATE {
            assert!(
                running.written() < 16 << 20,
                "{name}: {}",
                running.written()
            );
        }
        let requests = running.requests().len();
        match name {
            "a loop" | "an endless way" | "a way to the same place" => {
                assert_eq!(requests, 1 + 6, "{name}")
            }
            _ => assert_eq!(requests, 1 + 1, "{name}"),
        }
        let fine = connection.call_tool("fine", ()).await;
        assert_eq!(End::of(&fine), End::Done, "{name}, afterwards: {fine:?}");
    })
    .await;
}

/// One thread is enough: whoever floods it does not keep the clock from ringing.
#[tokio::test]
async fn a_flood_does_not_starve_the_clocks() {
    let floods = || {
        let rows = rows().into_iter();
        rows.filter(|row| matches!(&*row.acts, [Chatter(_)]))
    };
    let late = |row: &Row, outcome: &Result<_, Error>, started: Instant| {
        let end = End::of(outcome);
        let flooded = row.name == "progress without end" && end == End::Transport;
        assert!(end == LATE || flooded, "{}: {outcome:?}", row.name);
        assert!(
            started.elapsed() < SOON,
            "{}: {:?}",
            row.name,
            started.elapsed()
        );
    };
    for row in floods() {
        let rogue = Rogue::new().on("tools/call", row.acts.clone());
        let met = Met::new(rogue, Framing::Lines).await;
        let connection = met.connect().await.expect("a connection");
        let started = Instant::now();
        let call = CallTool::new("rogue", ())
            .work_timeout(WORK)
            .on_progress(|_| {});
        late(&row, &connection.call(call).await, started);
        close(connection).await;
    }
    for row in floods() {
        // The server has a thread of its own.
        let rogue = Rogue::new().on("tools/call", row.acts.clone());
        let (url, started) = tokio::sync::oneshot::channel();
        let (over, ends) = tokio::sync::oneshot::channel::<()>();
        let server = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.expect("a runtime").block_on(async {
                let running = Running::start(rogue, Framing::Events).await;
                url.send(running.url.clone()).expect("somebody waits");
                _ = ends.await;
            });
        });
        let url = started.await.expect("a URL");
        let client = client().0.progress_extends_work(WORK * 2);
        let connection = client.connect(Http::new(url)).await.expect("a connection");
        let started = Instant::now();
        let call = CallTool::new("rogue", ())
            .work_timeout(WORK)
            .on_progress(|_| {});
        late(&row, &connection.call(call).await, started);
        over.send(()).expect("the server runs");
        server.join().expect("no panic");
    }
}

/// Nobody accepts, nobody listens: that is told as well.
#[tokio::test]
async fn a_server_that_does_not_let_anybody_in_is_given_up() {
    let socket = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let url = format!("http://{}/", socket.local_addr().expect("an address"));
    let client = Client::new("tests", "1.0").work_timeout(WORK);
    let started = Instant::now();
    // The system lets in whoever waits for the server to.
    assert_eq!(End::of(&client.connect(Http::new(&url)).await), LATE);
    drop(socket);
    assert_eq!(
        End::of(&client.connect(Http::new(&url)).await),
        End::Transport
    );
    assert!(started.elapsed() < SOON);
}

/// A list comes to an end, by the server or by the client.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_come_to_an_end() {
    let page = |more: &str| {
        Say(result_of(&format!(
            r#"{{"resultType":"complete","resources":[{{"uri":"a://$N","name":"a"}}]{more}}}"#
        )))
    };
    for (name, acts, end, requests) in [
        (
            "the same cursor",
            vec![page(r#","nextCursor":"a""#)],
            End::Decode,
            2,
        ),
        (
            "an empty cursor",
            vec![page(r#","nextCursor":"""#)],
            End::Decode,
            2,
        ),
        (
            "a cursor that is a number",
            vec![page(r#","nextCursor":7"#)],
            End::Decode,
            1,
        ),
        (
            "no list",
            vec![Say(result_of(r#"{"resultType":"complete"}"#))],
            End::Decode,
            1,
        ),
        (
            "a list of numbers",
            vec![Say(result_of(
                r#"{"resultType":"complete","resources":[7]}"#,
            ))],
            End::Decode,
            1,
        ),
        (
            "an error at last",
            vec![Say(
                r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"no"}}"#.into(),
            )],
            End::Protocol(-32602),
            1,
        ),
    ] {
        for framing in [Framing::Json, Framing::Events, Framing::Lines] {
            let met = Met::new(Rogue::new().on("resources/list", acts.clone()), framing).await;
            let connection = met.connect().await.expect("a connection");
            let all = connection.resources().all().await;
            assert_eq!(End::of(&all), end, "{name}: {all:?}");
            assert_eq!(met.requests("resources/list"), requests, "{name}");
            close(connection).await;
        }
    }
    // One item per page, for ever: whoever wants only some gets them.
    let acts = [page(r#","nextCursor":"$N""#)];
    let met = Met::new(Rogue::new().on("resources/list", acts), Framing::Json).await;
    let connection = met.connect().await.expect("a connection");
    let mut listing = connection.resources();
    for at in 1..=50 {
        let next = listing.next().await.expect("another").expect("a resource");
        assert_eq!(next.uri, format!("a://{at}"));
    }
    drop(listing);
    assert_eq!(met.requests("resources/list"), 50);
}

/// PAGE-C-06: whoever wants all is told that there is no end, before the memory has one.
#[tokio::test]
async fn a_list_without_end_is_given_up() {
    let count = AtomicUsize::new(0);
    let (peer, seen) = script(move |request| {
        let at = count.fetch_add(1, Ordering::SeqCst);
        vec![respond(
            request,
            &json!({ "resultType": "complete", "tools": [], "nextCursor": at.to_string() }),
        )]
    });
    let connection = client().0.connect(peer).await.expect("a connection");
    let all = timeout(BUDGET, connection.tools().all())
        .await
        .expect("in time");
    assert_eq!(End::of(&all), End::Decode);
    assert_eq!(seen.texts().len(), 10_000);

    // Few pages, but large ones.
    let page = "x".repeat(1 << 20);
    let count = AtomicUsize::new(0);
    let (peer, seen) = script(move |request| {
        let at = count.fetch_add(1, Ordering::SeqCst);
        let tool = json!({ "name": at.to_string(), "description": page, "inputSchema": { "type": "object" } });
        vec![respond(
            request,
            &json!({ "resultType": "complete", "tools": [tool], "nextCursor": at.to_string() }),
        )]
    });
    let connection = client().0.connect(peer).await.expect("a connection");
    let all = timeout(BUDGET, connection.tools().all())
        .await
        .expect("in time");
    assert_eq!(End::of(&all), End::Decode);
    assert!(seen.texts().len() < 100, "{}", seen.texts().len());
}

/// A message of a subscription.
fn news(method: &str, params: &str) -> Act {
    Say(format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{{{params}"_meta":{{"io.modelcontextprotocol/subscriptionId":$ID}}}}}}"#
    ))
}

fn acknowledged() -> Act {
    news(
        "subscriptions/acknowledged",
        r#""notifications":{"toolsListChanged":true},"#,
    )
}

fn wanted() -> SubscriptionFilter {
    SubscriptionFilter {
        tools_list_changed: Some(true),
        prompts_list_changed: Some(true),
        resources_list_changed: Some(true),
        resource_subscriptions: Some(vec!["a://b".into()]),
    }
}

/// What a subscription tells until it ends, and how it ends; `Done` if the server ends it.
async fn told(subscription: &mut Subscription) -> (Vec<Change>, End) {
    let mut changes = Vec::new();
    loop {
        match timeout(SOON, subscription.next()).await {
            Err(_) => return (changes, LATE),
            Ok(None) => return (changes, End::Done),
            Ok(Some(Ok(change))) => changes.push(change),
            Ok(Some(error)) => {
                assert!(subscription.next().await.is_none(), "an error is the last");
                return (changes, End::of(&error));
            }
        }
    }
}

/// SUB-S-02: a subscription is open when it is acknowledged, and not before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subscription_must_be_acknowledged() {
    let tools = || news("tools/list_changed", "");
    let mut cases = Vec::new();
    for (name, acts, http, lines) in [
        ("silence", vec![Hold], LATE, LATE),
        ("news, and silence", vec![tools(), tools(), Hold], LATE, LATE),
        ("a result", vec![Say(result_of(r#"{"resultType":"complete"}"#))], End::Decode, End::Decode),
        ("an error", vec![Say(r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-5,"message":"no"}}"#.into())], End::Protocol(-5), End::Protocol(-5)),
        ("an end", vec![tools(), Die], End::Transport, End::Transport),
        ("a wrong acknowledgment", vec![news("subscriptions/acknowledged", r#""notifications":7,"#), Hold], End::Decode, End::Decode),
        ("an empty acknowledgment", vec![news("subscriptions/acknowledged", ""), Hold], End::Decode, End::Decode),
        ("the acknowledgment of another", vec![Say(r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":99999}}}"#.into()), Hold], End::Done, LATE),
        ("an unnamed acknowledgment", vec![Say(r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{}}}"#.into()), Hold], End::Done, LATE),
        ("no message", vec![Say("{}".into()), Hold], End::Decode, LATE),
        ("news without end", vec![Chatter(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.into())], LATE, LATE),
        ("an answer to another", vec![Say(r#"{"jsonrpc":"2.0","id":99999,"result":{}}"#.into()), Hold], End::Decode, LATE),
        ("news, and an acknowledgment", vec![tools(), acknowledged(), Hold], End::Done, End::Done),
    ] {
        cases.push((name, acts.clone(), http, Framing::Events));
        cases.push((name, acts, lines, Framing::Lines));
    }
    each(cases, async |(name, acts, end, framing)| {
        let mut met = Met::new(Rogue::new().on("subscriptions/listen", acts), framing).await;
        let connection = met.connect().await.expect("a connection");
        if end == LATE {
            // There is no clock for one subscription alone.
            let known = connection.negotiated().clone();
            close(connection).await;
            met.client = met.client.work_timeout(WORK);
            let connection = met.connect_as(known).await.expect("a connection");
            let started = Instant::now();
            let opened = connection.listen(wanted()).await;
            assert_eq!(End::of(&opened), end, "{name}, {framing:?}: {opened:?}");
            assert!(started.elapsed() < SOON, "{name}, {framing:?}");
            drop(opened);
            return close(connection).await;
        }
        let opened = connection.listen(wanted()).await;
        assert_eq!(End::of(&opened), end, "{name}, {framing:?}: {opened:?}");
        drop(opened);
        close(connection).await;
    })
    .await;
}

/// SUB-C-05, AMB-01: however it ends, what was told before counts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subscription_ends_one_way_or_the_other() {
    let tools = || news("tools/list_changed", "");
    let other = || {
        Say(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":99999}}}"#.into())
    };
    let all = [
        tools(),
        news("prompts/list_changed", ""),
        news("resources/list_changed", ""),
        news("resources/updated", r#""uri":"a://b/\u001b","#),
        news("message", r#""level":"error","data":1,"#),
        news("x/y", ""),
        Say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.into()),
        Say(result_of(r#"{"resultType":"complete"}"#)),
    ];
    let everything = vec![
        Change::Tools,
        Change::Prompts,
        Change::Resources,
        Change::Resource("a://b/\u{1b}".into()),
    ];
    let one = || vec![Change::Tools];
    let cancelled = |id: &str| {
        Say(format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        ))
    };
    let mut cases = Vec::new();
    for (name, acts, changes, http, lines) in [
        (
            "everything, and a result",
            all.to_vec(),
            everything,
            End::Done,
            End::Done,
        ),
        (
            "cancelled",
            vec![tools(), cancelled("$ID"), tools()],
            one(),
            End::Done,
            End::Done,
        ),
        (
            "another is cancelled",
            vec![cancelled("99999"), cancelled("\"$ID\""), tools(), Die],
            one(),
            End::Transport,
            End::Transport,
        ),
        (
            "the end",
            vec![tools(), Die],
            one(),
            End::Transport,
            End::Transport,
        ),
        (
            "the end at once",
            vec![Die],
            vec![],
            End::Transport,
            End::Transport,
        ),
        (
            "half a message",
            vec![tools(), Write("data: {".into()), Die],
            one(),
            End::Transport,
            End::Transport,
        ),
        (
            "an error",
            vec![
                tools(),
                Say(r#"{"jsonrpc":"2.0","id":$ID,"error":{"code":-5,"message":"no"}}"#.into()),
            ],
            one(),
            End::Protocol(-5),
            End::Protocol(-5),
        ),
        (
            "a wrong change",
            vec![tools(), news("resources/updated", r#""uri":7,"#), Hold],
            one(),
            End::Decode,
            End::Decode,
        ),
        (
            "the change of another",
            vec![other(), tools(), Die],
            one(),
            End::Transport,
            End::Transport,
        ),
        (
            "the answer to another",
            vec![
                tools(),
                Say(r#"{"jsonrpc":"2.0","id":99999,"result":{}}"#.into()),
                tools(),
                Die,
            ],
            one(),
            End::Decode,
            End::Transport,
        ),
        (
            "a wrong answer",
            vec![tools(), Say(r#"{"jsonrpc":"2.0","id":$ID}"#.into()), Hold],
            one(),
            End::Decode,
            End::Decode,
        ),
    ] {
        let acts = [vec![acknowledged()], acts].concat();
        cases.push((name, acts.clone(), changes.clone(), http, Framing::Events));
        cases.push((name, acts, changes, lines, Framing::Lines));
    }
    each(cases, async |(name, acts, changes, end, framing)| {
        let met = Met::new(Rogue::new().on("subscriptions/listen", acts), framing).await;
        let connection = met.connect().await.expect("a connection");
        let mut subscription = connection.listen(wanted()).await.expect("acknowledged");
        let acknowledged = subscription.acknowledged();
        assert_eq!(
            (
                acknowledged.tools_list_changed,
                acknowledged.prompts_list_changed
            ),
            (Some(true), None)
        );
        let (seen, ended) = told(&mut subscription).await;
        assert_eq!(ended, end, "{name}, {framing:?}");
        let expected = match (name, framing) {
            // On a shared channel the tag says whose it is, elsewhere the stream.
            ("the change of another", Framing::Events)
            | ("the answer to another", Framing::Lines) => vec![Change::Tools, Change::Tools],
            _ => changes,
        };
        assert_eq!(seen, expected, "{name}, {framing:?}");
        close(connection).await;
    })
    .await;
}

/// News that nobody reads cost the server, or the subscription, but not the memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn news_that_nobody_reads_do_not_pile_up() {
    let flood = Chatter(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":$ID}}}"#.into());
    for framing in [Framing::Events, Framing::Lines] {
        let rogue = Rogue::new().on("subscriptions/listen", [acknowledged(), flood.clone()]);
        let met = Met::new(rogue, framing).await;
        let connection = met.connect().await.expect("a connection");
        let mut subscription = connection.listen(wanted()).await.expect("acknowledged");
        tokio::time::sleep(Duration::from_millis(500)).await;
        let mut count = 0;
        let lost = loop {
            match timeout(SOON, subscription.next())
                .await
                .expect("in time")
                .expect("lost first")
            {
                Ok(_) => count += 1,
                Err(error) => break Some(error),
            }
            if count == 20_000 {
                break None;
            }
        };
        match (framing, lost) {
            (Framing::Lines, Some(lost)) => {
                assert!(count <= 1_024, "{count}");
                assert!(
                    lost.to_string().contains("faster than they were taken"),
                    "{lost}"
                );
            }
            // The server has to wait.
            (_, None) => {
                let running = met.running.as_ref().expect("over HTTP");
                assert!(running.written() < 32 << 20, "{}", running.written());
            }
            (_, Some(lost)) => panic!("{lost}"),
        }
        drop(subscription);
        close(connection).await;
    }
}

/// What a shell says to be discovered, as the first request of a client.
const DISCOVERED: &str = r#"read -r request; printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}'"#;
const FINE: &str = r#"read -r request; printf '%s\n' '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"fine"}]}}'"#;

/// A process has ways of its own to misbehave.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_ends_whatever_a_process_does() {
    let cases = [
        // Before discovery.
        (
            "it exits at once",
            "exit 7".to_owned(),
            None,
            End::Transport,
            "status 7",
        ),
        (
            "it exits with words",
            "echo 'no such port' >&2; exit 1".to_owned(),
            None,
            End::Transport,
            "no such port",
        ),
        (
            "it exits once it is asked",
            "read -r request; exit 0".to_owned(),
            None,
            End::Transport,
            "status 0",
        ),
        (
            "it dies",
            "kill -9 $$".to_owned(),
            None,
            End::Transport,
            "signal",
        ),
        (
            "it says nothing",
            "sleep 60".to_owned(),
            None,
            LATE,
            "work clock",
        ),
        (
            "it closes its output",
            "exec >&-; sleep 60".to_owned(),
            None,
            End::Transport,
            "closed",
        ),
        (
            "it closes its input",
            "read -r request; exec <&-; sleep 60".to_owned(),
            None,
            LATE,
            "work clock",
        ),
        (
            "it closes everything",
            "exec >&- <&- 2>&-; sleep 60".to_owned(),
            None,
            End::Transport,
            "",
        ),
        (
            "it leaves its output to another",
            "sleep 60 & exit 3".to_owned(),
            None,
            End::Transport,
            "status 3",
        ),
        (
            "it only makes noise",
            "yes noise".to_owned(),
            None,
            LATE,
            "work clock",
        ),
        // During a call.
        (
            "it exits during a call",
            format!("{DISCOVERED}; read -r request; exit 4"),
            Some(()),
            End::Transport,
            "status 4",
        ),
        (
            "it dies in the middle of a line",
            format!("{DISCOVERED}; read -r request; printf '{{\"jsonrpc\"'; exit 5"),
            Some(()),
            End::Transport,
            "status 5",
        ),
        (
            "it closes its output during a call",
            format!("{DISCOVERED}; read -r request; exec >&-; sleep 60"),
            Some(()),
            End::Transport,
            "closed",
        ),
        (
            "it closes its input during a call",
            format!("{DISCOVERED}; exec <&-; sleep 60"),
            Some(()),
            End::Transport,
            "writing to the server failed",
        ),
        (
            "it reads no more",
            format!("{DISCOVERED}; sleep 60"),
            Some(()),
            LATE,
            "work clock",
        ),
        (
            "it makes noise and answers",
            format!(
                "echo Welcome; {DISCOVERED}; printf '\\377\\n\\n  \\n\\033[31mred\\n'; {FINE}; sleep 60"
            ),
            Some(()),
            End::Done,
            "",
        ),
        (
            "it floods its errors and answers",
            format!("yes error >&2 & {DISCOVERED}; {FINE}; sleep 60"),
            Some(()),
            End::Done,
            "",
        ),
        (
            "it will not go",
            format!("trap '' TERM INT HUP; {DISCOVERED}; {FINE}; while :; do sleep 1; done"),
            Some(()),
            End::Done,
            "",
        ),
        (
            "it answers and exits",
            format!("{DISCOVERED}; {FINE}; exit 0"),
            Some(()),
            End::Done,
            "",
        ),
        (
            "it answers without an end of line",
            format!("{DISCOVERED}; {}; exit 0", FINE.replace(r"%s\n", "%s")),
            Some(()),
            End::Done,
            "",
        ),
    ];
    each(cases, async |(name, script, call, expected, says)| {
        let (client, events) = client();
        let client = match call {
            None if expected == LATE => client.work_timeout(WORK),
            _ => client,
        };
        let started = Instant::now();
        let connected = timeout(BUDGET, client.connect(shell(&script)))
            .await
            .expect("in time");
        let text = if call.is_none() {
            assert_eq!(End::of(&connected), expected, "{name}: {connected:?}");
            connected.err().map(|error| error.to_string())
        } else {
            let connection = connected.unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut call = CallTool::new("rogue", json!({ "large": "x".repeat(1 << 20) }));
            if expected == LATE {
                call = call.work_timeout(WORK);
            }
            let outcome = connection.call(call).await;
            assert_eq!(End::of(&outcome), expected, "{name}: {outcome:?}");
            // A server that is gone stays gone.
            if expected == End::Transport {
                let again = connection.call_tool("fine", ()).await;
                assert_eq!(End::of(&again), End::Transport, "{name}: {again:?}");
            }
            close(connection).await;
            outcome.err().map(|error| error.to_string())
        };
        let text = text.unwrap_or_default();
        assert!(text.contains(says), "{name}: {text}");
        assert!(
            started.elapsed() < SOON * 2,
            "{name}: {:?}",
            started.elapsed()
        );
        if name == "it makes noise and answers" {
            assert!(events.any("noise: Welcome") && events.any(r"noise: \u{1b}[31mred"));
        }
    })
    .await;
}

/// However many wait for a server that reads nothing, each has its own clock.
#[cfg(unix)]
#[tokio::test]
async fn calls_do_not_wait_for_each_other() {
    let (client, _) = client();
    let connected = client.connect(shell(&format!("{DISCOVERED}; sleep 60")));
    let connection = connected.await.expect("a connection");
    let started = Instant::now();
    let mut calls = JoinSet::new();
    for _ in 0..200 {
        let connection = connection.clone();
        calls.spawn(async move {
            let arguments = json!({ "large": "x".repeat(1 << 16) });
            let call = CallTool::new("rogue", arguments).work_timeout(WORK);
            End::of(&connection.call(call).await)
        });
    }
    while let Some(end) = calls.join_next().await {
        assert_eq!(end.expect("no panic"), LATE);
    }
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    close(connection).await;
    assert!(started.elapsed() < SOON * 2, "{:?}", started.elapsed());
}

/// A line without end is not kept, and what comes after it is heard.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_without_end_is_not_kept() {
    let line = format!("head -c {} /dev/zero | tr '\\0' x; echo", 512 << 20);
    let before = peak();
    let (client, events) = client();
    let connected = client.connect(shell(&format!(
        "{line}; {DISCOVERED}; {line}; {FINE}; sleep 60"
    )));
    let connection = timeout(BUDGET, connected)
        .await
        .expect("in time")
        .expect("a connection");
    let fine = connection.call_tool("rogue", ()).await;
    assert_eq!(End::of(&fine), End::Done, "{fine:?}");
    assert!(events.any("noise: a line of more than 8388608 bytes"));
    close(connection).await;
    let grown = peak() - before;
    assert!(grown < 400 << 20, "{} MiB", grown >> 20);
}

/// The most memory that this process ever had.
#[cfg(target_os = "linux")]
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("readable");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.expect("a size")
        .trim()
        .parse::<u64>()
        .expect("a number")
        << 10
}

/// Schemas that are made to keep a validator busy: name, schema, and a value that it is about.
fn schemas() -> Vec<(&'static str, Value, Value)> {
    let doubled = |last: Value| {
        let mut defs: serde_json::Map<_, _> = (0..60)
            .map(|at| {
                let next = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
                (format!("d{at}"), json!({ "allOf": [next, next] }))
            })
            .collect();
        defs.insert("d60".into(), last);
        json!({ "type": "object", "$defs": defs, "properties": { "a": { "$ref": "#/$defs/d0" } } })
    };
    let field = |schema: Value| json!({ "type": "object", "properties": { "a": schema } });
    let loops = json!({ "$ref": "#/$defs/a" });
    let chain: serde_json::Map<_, _> = (0..20_000)
        .map(|at| {
            (
                format!("d{at}"),
                json!({ "$ref": format!("#/$defs/d{}", at + 1) }),
            )
        })
        .collect();
    vec![
        ("doubled", doubled(json!({})), json!({ "a": 1 })),
        (
            "doubled, and wrong",
            doubled(json!(false)),
            json!({ "a": 1 }),
        ),
        (
            "a loop",
            json!({ "type": "object", "$defs": { "a": loops }, "properties": { "a": loops } }),
            json!({ "a": 1 }),
        ),
        (
            "its own root",
            field(json!({ "$ref": "#" })),
            json!({ "a": { "a": { "a": 1 } } }),
        ),
        (
            "a pattern that goes back",
            field(json!({ "type": "string", "pattern": "^(a|aa)+$" })),
            json!({ "a": format!("{}b", "a".repeat(5_000)) }),
        ),
        (
            "a pattern that looks back",
            field(json!({ "type": "string", "pattern": r"^(?=(a+)+$)(\w+\s?)*$" })),
            json!({ "a": format!("{}!", "a ".repeat(5_000)) }),
        ),
        (
            "a pattern for many",
            field(json!({ "items": { "pattern": "^(?=x)(a+)+$" } })),
            json!({ "a": vec!["a".repeat(30) + "b"; 1_000] }),
        ),
        (
            "a large pattern",
            field(json!({ "type": "string", "pattern": "((a{1,500}){1,500}){1,500}" })),
            json!({ "a": "aaa" }),
        ),
        (
            "no pattern",
            field(json!({ "type": "string", "pattern": "(" })),
            json!({ "a": "aaa" }),
        ),
        (
            "no type",
            field(json!({ "type": 7 })),
            json!({ "a": "aaa" }),
        ),
        (
            "a long way",
            json!({ "type": "object", "$defs": chain, "properties": { "a": { "$ref": "#/$defs/d0" } } }),
            json!({ "a": 1 }),
        ),
        (
            "somewhere else",
            field(json!({ "$ref": "http://127.0.0.1:9/schema" })),
            json!({ "a": "aaa" }),
        ),
        (
            "all different",
            field(json!({ "uniqueItems": true })),
            json!({ "a": (0..20_000).map(|at| json!({ "n": at })).collect::<Vec<_>>() }),
        ),
    ]
}

/// A schema is a program of the server's: it does not run for long, be it for what a tool gives or
/// for what the user fills in.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn schemas_do_not_keep_anybody_busy() {
    each(schemas(), async |(name, schema, value)| {
        let (promised, given) = (schema.clone(), value.clone());
        let (peer, _) = script(move |request| {
            let result = match (request["method"].as_str(), &request["params"]["name"]) {
                (Some("tools/list"), _) => json!({ "resultType": "complete", "tools": [{
                    "name": "promises", "inputSchema": { "type": "object" },
                    "outputSchema": promised,
                }] }),
                (_, tool) if tool == "promises" => {
                    json!({ "resultType": "complete", "content": [], "structuredContent": given })
                }
                _ => asking(
                    [(
                        "a",
                        json!({ "method": "elicitation/create", "params": {
                    "mode": "form", "message": "?", "requestedSchema": promised,
                } }),
                    )],
                    None,
                ),
            };
            vec![respond(request, &result)]
        });
        let filled_in = value.clone();
        let client = client().0.on_form(move |form| {
            let reply = form.accept(&filled_in);
            async { reply }
        });
        let connection = client.connect(peer).await.expect("a connection");
        connection.tools().all().await.expect("tools");
        let started = Instant::now();
        let outcome = connection.call_tool("promises", ()).await;
        let end = End::of(&outcome);
        assert!(
            [End::Done, End::Decode].contains(&end),
            "{name}: {outcome:?}"
        );
        let outcome = connection.call_tool("asks", ()).await;
        let refused = matches!(
            outcome.as_ref().map_err(Error::kind),
            Err(ErrorKind::InvalidAnswer { .. } | ErrorKind::RoundsExceeded(_) | ErrorKind::Decode)
        );
        assert!(refused, "{name}: {outcome:?}");
        assert!(
            started.elapsed() < SOON * 2,
            "{name}: {:?}",
            started.elapsed()
        );
    })
    .await;
}

/// A tool with more mirrored arguments than any request could have headers is hidden.
#[tokio::test]
async fn definitions_do_not_keep_anybody_busy() {
    let properties: serde_json::Map<_, _> = (0..50_000)
        .map(|at| {
            (
                format!("a{at}"),
                json!({ "type": "string", "x-mcp-header": format!("A{at}") }),
            )
        })
        .collect();
    let tools = json!({ "resultType": "complete", "tools": [
        { "name": "rogue", "inputSchema": { "type": "object", "properties": properties } },
        { "name": "fine", "inputSchema": { "type": "object" } },
    ] });
    let socket = Socket::bind().await;
    let (client, events) = client();
    let http = Http::new(socket.origin());
    let known = Negotiated::new(Version::LATEST);
    let connection = client.connect_as(http, known).await.expect("a connection");
    let message = json!({ "jsonrpc": "2.0", "id": 1, "result": tools }).to_string();
    let response = antiphon_tests::socket::json(&message);
    let started = Instant::now();
    let (tools, _) = tokio::join!(connection.tools().all(), socket.answer(&response));
    let names: Vec<_> = tools
        .expect("tools")
        .into_iter()
        .map(|tool| tool.name)
        .collect();
    assert_eq!(names, ["fine"]);
    assert!(events.any("more than 100 parameters"));
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
}
