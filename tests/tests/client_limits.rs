//! What no server can do to a client: hold it up, wear it out, or make it forget its clocks.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use antiphon::{
    Client,
    client::{CallTool, Clock, ErrorKind, Incoming, Pending, ReadResource},
};
use antiphon_tests::{
    direct::{Acts, Direct, flood, whole},
    script::{answers, asking, form, link, respond, roots, script, text},
};
use serde_json::{Value, json};
use tokio::time::timeout;

/// Far longer than any clock here.
const PATIENCE: Duration = Duration::from_secs(10);
const SHORT: Duration = Duration::from_millis(200);

fn client() -> Client {
    Client::new("tests", "1.0").work_timeout(SHORT)
}

fn timed_out(error: &antiphon::client::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::TimedOut {
            clock: Clock::Work,
            ..
        }
    )
}

/// CANC-C-06: finding out who is calling is a part of the request.
#[tokio::test]
async fn a_token_that_never_comes_runs_into_the_work_clock() {
    struct NoToken;
    impl Acts for NoToken {
        fn answer(&self, request: &Value) -> Incoming {
            whole(request, &json!({ "contents": [] }))
        }
        fn caller(&self) -> Pending<'_, Option<u64>> {
            Box::pin(std::future::pending())
        }
    }
    let connection = client().connect(Direct(Arc::new(NoToken))).await;
    let connection = connection.expect("connected");
    let read = timeout(PATIENCE, connection.read_resource("x://y")).await;
    assert!(timed_out(&read.expect("no hang").expect_err("no token")));
    let list = timeout(PATIENCE, connection.tools().all()).await;
    assert!(timed_out(&list.expect("no hang").expect_err("no token")));
}

/// CANC-C-09
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_notifications_does_not_stop_the_work_clock() {
    struct Talkative;
    impl Acts for Talkative {
        fn answer(&self, _: &Value) -> Incoming {
            let params = json!({ "level": "info", "data": "still here" });
            flood(&json!({
                "jsonrpc": "2.0", "method": "notifications/message", "params": params
            }))
        }
    }
    let (done, called) = tokio::sync::oneshot::channel();
    // A task of its own, which can be left behind.
    tokio::spawn(async move {
        let connection = client().connect(Direct(Arc::new(Talkative))).await;
        let connection = connection.expect("connected");
        _ = done.send(connection.call_tool("t", ()).await);
    });
    let called = timeout(PATIENCE, called).await.expect("no hang");
    let error = called.expect("called").expect_err("no answer");
    assert!(timed_out(&error), "{error:?}");
}

/// HDR-C-17: looking for the right headers is a part of the call, too.
#[tokio::test]
async fn endless_tools_do_not_hold_up_a_call() {
    struct Endless(AtomicU32);
    impl Acts for Endless {
        fn answer(&self, request: &Value) -> Incoming {
            if request["method"] == "tools/call" {
                return whole(request, &json!({ "code": -32020, "message": "headers" }));
            }
            std::thread::sleep(Duration::from_millis(5));
            let page = self.0.fetch_add(1, Ordering::SeqCst);
            whole(
                request,
                &json!({
                    "tools": [], "nextCursor": page.to_string(),
                    "ttlMs": 0, "cacheScope": "public", "resultType": "complete",
                }),
            )
        }
        fn mirrors(&self) -> bool {
            true
        }
    }
    let connection = Client::new("tests", "1.0");
    let connection = connection
        .connect(Direct(Arc::new(Endless(0.into()))))
        .await;
    let connection = connection.expect("connected");
    let start = Instant::now();
    let call = CallTool::new("t", ()).work_timeout(SHORT);
    let error = connection.call(call).await.expect_err("no result");
    assert!(start.elapsed() < SHORT * 10, "{:?}", start.elapsed());
    // What was wrong with the call, not with the list.
    assert_eq!(error.code(), Some(-32020), "{error:?}");
}

/// More questions than anybody answers.
#[tokio::test]
async fn nobody_is_asked_thousands_of_questions() {
    let asked = Arc::new(AtomicU32::new(0));
    let count = asked.clone();
    let (peer, seen) = script(|request| {
        let questions = (0..20_000).map(|at| (at.to_string(), roots()));
        let questions: serde_json::Map<_, _> = questions.collect();
        let result = json!({ "resultType": "input_required", "inputRequests": questions });
        vec![respond(request, &result)]
    });
    let client = Client::new("tests", "1.0").on_roots(move |roots| {
        count.fetch_add(1, Ordering::SeqCst);
        async move { roots.list([]) }
    });
    let connection = client.connect(peer).await.expect("connected");
    let error = connection.call_tool("t", ()).await.expect_err("too many");
    assert!(matches!(error.kind(), ErrorKind::Decode), "{error:?}");
    assert!(error.to_string().contains("20000"), "{error}");
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    assert_eq!(seen.messages().len(), 1);
}

/// CANC-C-09: progress or not.
#[tokio::test]
async fn no_request_takes_longer_than_progress_allows() {
    let (peer, _) = script(|_| Vec::new());
    let client = Client::new("tests", "1.0").progress_extends_work(SHORT);
    let connection = client.connect(peer).await.expect("connected");
    let called = timeout(PATIENCE, connection.call_tool("t", ())).await;
    assert!(timed_out(&called.expect("no hang").expect_err("silence")));
}

/// As long as one likes, and no panic.
#[tokio::test]
async fn clocks_may_be_endless() {
    let (peer, _) = answers([
        asking([("k", form("?"))], Some("s")),
        asking([], Some("s")),
        text("done"),
    ]);
    let client = Client::new("tests", "1.0")
        .on_form(|form| async move {
            assert!(form.remaining() > PATIENCE);
            form.accept(json!({ "ok": true }))
        })
        .work_timeout(Duration::MAX)
        .human_timeout(Duration::MAX)
        .poll_timeout(Duration::MAX)
        .progress_extends_work(Duration::MAX);
    let connection = client.connect(peer).await.expect("connected");
    connection.call_tool("t", ()).await.expect("done");
    let listen = connection.listen(Default::default());
    assert!(timeout(SHORT, listen).await.is_err());
}

/// ELIC-C-14: nothing in a link may deceive a terminal, or whatever opens it.
#[tokio::test]
async fn links_hold_no_hidden_characters() {
    for url in [
        "https://good.example/#\n\u{1b}[2J",
        "https://good.example/#\u{202e}gpj.exe",
        "https://good.example/# & calc.exe",
        "https://good.example/\u{202e}",
        "https://good.example@evil.example/",
        "https://good.example:443@evil.example/",
    ] {
        let (peer, seen) = answers([asking([("k", link(url))], None), text("done")]);
        let client = Client::new("tests", "1.0").on_url(|link| async move { link.accept() });
        let connection = client.connect(peer).await.expect("connected");
        let error = connection.call_tool("t", ()).await.expect_err(url);
        assert!(
            matches!(error.kind(), ErrorKind::Unsupported { .. }),
            "{error:?}"
        );
        assert_eq!(seen.messages().len(), 1);
    }
}

/// What a server says is shown so that it deceives no terminal and fills no log.
#[tokio::test]
async fn errors_are_fit_to_be_shown() {
    let evil = format!("\u{1b}[2J\u{202e}{}", "x".repeat(1_000_000));
    let key = [(evil.as_str(), roots())];
    let (peer, _) = answers([
        json!({ "code": -32000, "message": evil }),
        asking(key, None),
        json!({ "resultType": evil }),
    ]);
    let connection = client().connect(peer).await.expect("connected");
    for _ in 0..3 {
        let error = connection.call_tool("t", ()).await.expect_err("an error");
        let text = error.to_string();
        assert!(text.len() < 5_000, "{} bytes", text.len());
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
    }
}

/// Whatever a request says, its answer is for that alone.
#[tokio::test]
async fn a_private_answer_is_kept_for_the_caller_it_was_given_to() {
    #[derive(Default)]
    struct Changing(Mutex<(u64, u32)>);
    impl Acts for Changing {
        fn answer(&self, request: &Value) -> Incoming {
            let mut state = self.0.lock().expect("unpoisoned");
            state.1 += 1;
            // The token was refused, and the request sent with another one.
            state.0 = 2;
            whole(
                request,
                &json!({
                    "resultType": "complete", "ttlMs": 60_000, "cacheScope": "private",
                    "contents": [{ "uri": "x://y", "text": format!("of caller {}", state.0) }],
                }),
            )
        }
        fn caller(&self) -> Pending<'_, Option<u64>> {
            let caller = self.0.lock().expect("unpoisoned").0;
            Box::pin(async move { Some(caller) })
        }
    }
    let acts = Arc::new(Changing::default());
    acts.0.lock().expect("unpoisoned").0 = 1;
    let connection = client().connect(Direct(acts.clone())).await;
    let connection = connection.expect("connected");
    connection.read_resource("x://y").await.expect("read");
    acts.0.lock().expect("unpoisoned").0 = 1;
    connection.read_resource("x://y").await.expect("read");
    let requests = acts.0.lock().expect("unpoisoned").1;
    assert_eq!(requests, 2, "what caller 2 was given was shown to caller 1");
}

/// Something wrong is not kept, whatever it says about that.
#[tokio::test]
async fn what_cannot_be_read_is_not_kept() {
    let wrong = json!({ "resultType": "complete", "ttlMs": 60_000, "cacheScope": "public" });
    let mut right = wrong.clone();
    right["contents"] = json!([]);
    let mut list = wrong.clone();
    list["prompts"] = json!([]);
    let (peer, _) = answers([wrong.clone(), right, wrong, list]);
    let connection = client().connect(peer).await.expect("connected");
    connection.read_resource("x://y").await.expect_err("wrong");
    connection.read_resource("x://y").await.expect("fetched");
    connection.prompts().all().await.expect_err("wrong");
    connection.prompts().all().await.expect("fetched");
}

/// META-C-01, META-B-11: the metadata of the caller joins that of the protocol.
#[tokio::test]
async fn a_completion_has_its_metadata_once() {
    use antiphon::types::{CompleteArgument, CompleteRequestParams, Reference};
    let result = json!({ "resultType": "complete", "completion": { "values": [] } });
    let (peer, seen) = answers([result]);
    let connection = client().connect(peer).await.expect("connected");
    let reference = Reference::prompt("p");
    let mut params = CompleteRequestParams::new(reference, CompleteArgument::new("a", "b"));
    params.meta = Some(
        [("traceparent".to_owned(), json!("00-1-2-00"))]
            .into_iter()
            .collect(),
    );
    connection.complete(params).await.expect("a completion");
    let text = &seen.texts()[0];
    assert_eq!(text.matches(r#""_meta""#).count(), 1, "{text}");
    let meta = &seen.messages()[0]["params"]["_meta"];
    assert_eq!(meta["traceparent"], "00-1-2-00");
    assert_eq!(
        meta["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );
}

/// elsewhere.md: what users answer, and what servers keep, is in no log.
#[tokio::test]
async fn debug_shows_neither_answers_nor_states() {
    let shown = Arc::new(Mutex::new(String::new()));
    let log = shown.clone();
    let asked = asking([("k", form("?"))], Some("secret state"));
    let (peer, _) = answers([asked.clone(), asked]);
    let client = Client::new("tests", "1.0")
        .max_rounds(1)
        .on_form(move |form| {
            let reply = form.accept(json!({ "ok": true, "pin": "secret pin" }));
            log.lock()
                .expect("unpoisoned")
                .push_str(&format!("{reply:?}"));
            async move { reply }
        });
    let connection = client.connect(peer).await.expect("connected");
    let error = connection.call_tool("t", ()).await.expect_err("too many");
    assert!(matches!(error.kind(), ErrorKind::RoundsExceeded(_)));
    let shown = format!("{}{error:?}", shown.lock().expect("unpoisoned"));
    assert!(
        shown.contains("Reply") && !shown.contains("secret"),
        "{shown}"
    );
}

/// A cached read must not outlive a request that says more than its URI.
#[tokio::test]
async fn a_read_with_metadata_of_its_own_is_not_served_from_the_cache() {
    let contents = |text: &str| {
        json!({
            "resultType": "complete", "ttlMs": 60_000, "cacheScope": "public",
            "contents": [{ "uri": "x://y", "text": text }],
        })
    };
    let (peer, seen) = answers([contents("a"), contents("b"), contents("c")]);
    let connection = client().connect(peer).await.expect("connected");
    connection.read_resource("x://y").await.expect("read");
    let tenant = ReadResource::new("x://y").meta("com.example/tenant", "b");
    connection.call(tenant).await.expect("read");
    assert_eq!(seen.messages().len(), 2);
    // And it is not what others are given.
    connection.read_resource("x://y").await.expect("read");
    assert_eq!(seen.messages().len(), 2);
}

/// A host finds its own error again, the one that its callback gave.
#[tokio::test]
async fn the_cause_of_a_refusal_can_be_found() {
    #[derive(Debug, PartialEq)]
    struct Locked(u32);
    impl std::fmt::Display for Locked {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "locked for {} s", self.0)
        }
    }
    impl std::error::Error for Locked {}
    let (peer, _) = answers([asking([("k", form("?"))], None)]);
    let client = Client::new("tests", "1.0")
        .on_form(|_| async move { Err::<antiphon::client::Reply, _>(Locked(9)) });
    let connection = client.connect(peer).await.expect("connected");
    let error = connection.call_tool("t", ()).await.expect_err("refused");
    let cause = error.cause().and_then(|cause| cause.downcast_ref());
    assert_eq!(cause, Some(&Locked(9)));
    // It is told once, however an error is printed.
    assert_eq!(error.to_string().matches("locked").count(), 1);
    assert!(std::error::Error::source(&error).is_none());
}

/// A schema of two kilobytes that takes years, in every place where a schema may refer to itself.
fn bombs() -> impl Iterator<Item = Value> {
    let both = |at: u32| {
        let next = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
        json!([next, next])
    };
    let forms: [fn(Value) -> Value; 4] = [
        |both| json!({ "allOf": both }),
        |both| json!({ "not": { "not": { "allOf": both } } }),
        |both| json!({ "if": { "allOf": both } }),
        |both| json!({ "not": { "anyOf": [{ "not": both[0] }, { "not": both[1] }] } }),
    ];
    forms.into_iter().map(move |form| {
        let mut defs: serde_json::Map<_, _> = (0..60)
            .map(|at| (format!("d{at}"), form(both(at))))
            .collect();
        defs.insert("d60".into(), json!({ "type": "object" }));
        json!({ "type": "object", "$defs": defs, "$ref": "#/$defs/d0", "properties": {} })
    })
}

/// TOOL-C-10, CANC-C-06: no clock can interrupt a thread that computes, so it must not.
#[tokio::test]
async fn no_schema_holds_up_a_client() {
    for schema in bombs() {
        let tool = json!({
            "name": "t", "inputSchema": { "type": "object" }, "outputSchema": schema,
        });
        let list = json!({
            "resultType": "complete", "tools": [tool], "ttlMs": 0, "cacheScope": "public",
        });
        let result = json!({
            "resultType": "complete", "content": [], "structuredContent": { "a": 1 },
        });
        let mut question = form("?");
        question["params"]["requestedSchema"] = schema;
        let asked = asking([("k", question)], None);
        let (done, ended) = std::sync::mpsc::channel();
        // A thread of its own, which can be left behind.
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.expect("a runtime").block_on(async {
                let (peer, _) = answers([list, result, asked]);
                let client = Client::new("tests", "1.0")
                    .on_form(|form| async move { form.accept(json!({ "a": 1 })) });
                let connection = client.connect(peer).await.expect("connected");
                connection.tools().all().await.expect("tools");
                connection.call_tool("t", ()).await.expect("taken as it is");
                _ = done.send(
                    connection
                        .call_tool("u", ())
                        .await
                        .expect_err("not checked"),
                );
            });
        });
        let ended = tokio::task::spawn_blocking(move || ended.recv_timeout(PATIENCE)).await;
        let error = ended.expect("no panic").expect("no hang");
        assert!(
            matches!(
                error.kind(),
                ErrorKind::InvalidAnswer { .. } | ErrorKind::Decode
            ),
            "{error:?}"
        );
    }
}
