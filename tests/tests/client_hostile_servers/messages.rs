//! What a server says, and when it stops: one table for responses, events and lines.

use super::*;

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
        row(
            "requests",
            [
                Say(elicitation),
                Say(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#.into()),
                Say(fine()),
            ],
            End::Done,
        ),
        row(
            "progress of another",
            [
                Say(progress("99999")),
                Say(progress("\"$ID\"")),
                Say(fine()),
            ],
            End::Done,
        ),
        row(
            "two answers",
            [Say(fine()), Say(fine()), Say(result_of("7"))],
            End::Done,
        ),
        row(
            "an answer, and later another",
            [Say(fine()), Wait(200), Say(result_of("{}"))],
            End::Done,
        ),
        row("progress without end", [Chatter(progress("$ID"))], LATE).busy(),
        row(
            "news without end",
            [Chatter(notification(
                "message",
                r#""level":"error","data":1"#,
            ))],
            LATE,
        )
        .busy(),
        row(
            "requests without end",
            [Chatter(
                r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.into(),
            )],
            LATE,
        )
        .busy(),
        row(
            "a cancelled call",
            [Say(notification("cancelled", r#""requestId":$ID"#)), Hold],
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
                [Say(refused(-32022).replace(
                    "}}",
                    r#","data":{"supported":["2026-07-28"]}}}"#,
                ))],
                End::Protocol(-32022),
            )
        },
        row("silence", [Hold], LATE),
        row(
            "silence after some progress",
            [Say(progress("$ID")), Hold],
            LATE,
        ),
        row(
            "an end instead of an answer",
            [Say(progress("$ID")), Die],
            End::Transport,
        )
        .busy(),
        row(
            "an end in the middle",
            [
                Say(progress("$ID")),
                Write(r#"{"jsonrpc":"2.0","#.into()),
                Die,
            ],
            End::Transport,
        )
        .busy(),
        row("a drip", [Say(progress("$ID")), Drip(50, fine())], LATE).busy(),
    ]);
    rows
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
            Rogue::new()
                .on("server/discover", row.acts.clone())
                .on("initialize", [Say(refused(-7))]),
            framing,
        )
        .await;
        let connected = met.connect().await;
        // An error of whatever kind is how servers of an older era answer; but it is none.
        let expected = match expected {
            End::Protocol(_) => End::Protocol(-7),
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
        (r#"["2025-06-18"]"#, End::Protocol(-7), 1),
        (r#"[7,null]"#, End::Version, 1),
        (r#"{"2026-07-28":1}"#, End::Version, 1),
    ] {
        let rogue = Rogue::new()
            .on("server/discover", [refusal(supported)])
            .on("initialize", [Say(refused(-7))]);
        let met = Met::new(rogue, Framing::Json).await;
        let connected = met.connect().await;
        assert_eq!(End::of(&connected), end, "{supported}: {connected:?}");
        assert_eq!(met.requests("server/discover"), requests, "{supported}");
    }
    for (versions, end) in [
        (r#"["2030-01-01"]"#, End::Version),
        (r#"[]"#, End::Version),
        (r#"["2025-06-18"]"#, End::Protocol(-7)),
        (r#""2026-07-28""#, End::Decode),
        (r#"[7]"#, End::Decode),
        ("null", End::Decode),
    ] {
        let result = format!(
            r#"{{"resultType":"complete","supportedVersions":{versions},"capabilities":{{}}}}"#
        );
        let rogue = Rogue::new()
            .on("server/discover", [Say(result_of(&result))])
            .on("initialize", [Say(refused(-7))]);
        let met = Met::new(rogue, Framing::Json).await;
        let connected = met.connect().await;
        assert_eq!(End::of(&connected), end, "{versions}: {connected:?}");
    }
}

/// A server whose refusals cannot be helped is not asked for ever.
#[tokio::test]
async fn headers_are_corrected_once() {
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
            .on("tools/call", [Say(refused(-32020))])
            .on("tools/list", [list]);
        let met = Met::new(rogue, Framing::Json).await;
        let connection = met.connect().await.expect("a connection");
        let outcome = connection.call_tool("rogue", json!({ "a": 1 })).await;
        assert_eq!(End::of(&outcome), End::Protocol(-32020), "{outcome:?}");
        assert_eq!(met.requests("tools/call"), calls);
    }
    // However long the list, the call has no more time than it has, and its error is what began it.
    let endless = [Wait(50), tools("", r#","nextCursor":"$N""#)];
    let rogue = Rogue::new()
        .on("tools/call", [Say(refused(-32020))])
        .on("tools/list", endless);
    let met = Met::new(rogue, Framing::Json).await;
    let connection = met.connect().await.expect("a connection");
    let started = Instant::now();
    let call = CallTool::new("rogue", json!({ "a": 1 })).work_timeout(WORK);
    let outcome = timeout(BUDGET, connection.call(call)).await;
    assert_eq!(End::of(&outcome.expect("in time")), End::Protocol(-32020));
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
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
