//! What holds for a client on every transport: each behaviour runs in memory, against a real child
//! process, and over a real socket; and most of them in every revision.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use antiphon::{
    CancellationToken, Client, Kind,
    client::{
        Answer, CallTool, Change, Clock, Connection, ErrorKind, Event, Http, Outcome, Subscription,
    },
    raw::{
        About, Answering, Call, CallTool as ToolCall, Endpoint, Error, HeaderParams, List,
        Rendered, Reply, Service,
    },
    types::{
        CallToolResult, CompleteArgument, CompleteRequestParams, ElicitAction, Implementation,
        ListToolsResult, LoggingLevel, Reference, ResourceContents, Root, ServerCapabilities,
        SubscriptionFilter, Tool, Version,
    },
};
use antiphon_tests::{behaviours, http::Server, in_older_revisions, way::Way, wire::Wire};
use serde_json::{Value, json};
use tokio::time::timeout;

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// Names that no header can hold as they are.
const ODD_NAMES: [&str; 6] = [
    "écho echo \u{1F6A2}",
    " echo ",
    "\techo",
    "echo\n\r\0",
    "=?base64?echo?=",
    "\u{2028}echo\u{202e}",
];

/// A client that agrees to everything.
fn agreeable() -> Client {
    Client::new("tests", "1.0")
        .on_form(|form| async move { form.accept(json!({ "ok": true })) })
        .on_url(|link| async move { link.accept() })
        .on_sample_with_tools(|sample| async move { sample.text("Hello", "parrot") })
        .on_roots(|roots| async move { roots.list([Root::new("file:///srv")]) })
}

fn text(result: &CallToolResult) -> &str {
    result.first_text().expect("a text")
}

/// The state and the answers that the harbour was brought.
fn brought(result: &CallToolResult) -> (String, Value) {
    let at = text(result).find('{').expect("answers");
    let (state, answers) = text(result).split_at(at);
    let answers = serde_json::from_str(answers).expect("JSON");
    (state.trim_end().to_owned(), answers)
}

fn contents(result: &[ResourceContents]) -> String {
    let value = serde_json::to_value(result).expect("JSON");
    value[0]["text"].as_str().expect("a text").to_owned()
}

/// Announces a change; how many were listening.
async fn announce(connection: &Connection, what: &str) -> String {
    let result = connection
        .call_tool("announce", json!({ "what": what }))
        .await;
    text(&result.expect("announced")).to_owned()
}

/// Waits until the harbour has seen so many calls dropped.
async fn until_dropped(connection: &Connection, count: usize) {
    let expected = format!("slept 0, {count} dropped");
    let seen = async {
        while text(&connection.call_tool("slow", ()).await.expect("slept")) != expected {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, seen).await.expect("the server is told");
}

async fn next(subscription: &mut Subscription) -> Option<Change> {
    let next = timeout(PATIENCE, subscription.next()).await;
    next.expect("in time").transpose().expect("not lost")
}

fn everything() -> SubscriptionFilter {
    SubscriptionFilter {
        tools_list_changed: Some(true),
        prompts_list_changed: Some(true),
        resources_list_changed: Some(true),
        resource_subscriptions: Some(vec!["tide://kept".into()]),
    }
}

/// What opens a connection.
fn hello(way: &Way) -> &'static str {
    match way.is_older() {
        true => "initialize",
        false => "server/discover",
    }
}

fn has_forms(way: &Way) -> bool {
    way.version >= Version::V2025_06_18
}

/// What a revision without forms has a tool say that asks for one.
const NO_FORM: &str = "cannot be asked for a form to be filled in";

/// Somewhere to put what callbacks are told.
type Notes<T> = Arc<Mutex<Vec<T>>>;

fn notes<T>() -> (Notes<T>, Notes<T>) {
    let notes = Notes::<T>::default();
    (notes.clone(), notes)
}

fn read<T: Clone>(notes: &Notes<T>) -> Vec<T> {
    notes.lock().expect("unpoisoned").clone()
}

behaviours! {
    /// DISC-C-01, META-C-01 to META-C-03
    async fn discovery_tells_who_the_server_is(way: Way) {
        let connection = way.plain().await;
        assert_eq!(connection.protocol_version(), way.version);
        let info = connection.server_info().expect("it says");
        assert_eq!((&*info.name, &*info.version), ("harbour", "2.0"));
        assert_eq!(connection.instructions(), Some("Reserve berths."));
        let capabilities = serde_json::to_value(connection.server_capabilities()).expect("JSON");
        assert_eq!(capabilities["tools"], json!({ "listChanged": true }));
        assert_eq!(capabilities["resources"], json!({ "listChanged": true, "subscribe": true }));
        assert!(capabilities["logging"].is_object());
        // LFEAT-S-04: once it went without saying.
        let says_so = way.version > Version::V2024_11_05;
        assert_eq!(capabilities["completions"].is_object(), says_so);
        assert_eq!(way.sent(), [hello(&way)]);

        let who = connection.call_tool("who", ()).await.expect("a result");
        let who: Value = serde_json::from_str(text(&who)).expect("JSON");
        assert_eq!(who["client"], "tests");
        let nobody = way.connect(&Client::new("tests", "1.0").anonymous()).await;
        let who = nobody.call_tool("who", ()).await.expect("a result");
        let who: Value = serde_json::from_str(text(&who)).expect("JSON");
        // An older revision has to be told something.
        assert_ne!(who["client"], "tests");
        assert_eq!(who["client"].is_null(), !way.is_older());
    }

    /// What is known of a server saves the round trip.
    async fn a_known_server_is_not_asked_again(way: Way) {
        let client = Client::new("tests", "1.0");
        let known = way.connect(&client).await.negotiated().clone();
        let known = serde_json::to_string(&known).expect("JSON");
        assert_eq!(way.sent(), [hello(&way)]);
        let known = serde_json::from_str(&known).expect("as it was stored");
        let connection = way.connect_as(&client, known).await;
        // A session has to be opened in any case.
        match way.is_older() {
            true => assert_eq!(way.sent(), ["initialize"]),
            false => assert_eq!(way.sent(), [""; 0]),
        }
        assert_eq!(connection.server_info().expect("known").name, "harbour");
        let result = connection.call_tool("echo", json!({ "a": 1 })).await.expect("a result");
        assert_eq!(text(&result), r#"{"a":1}"#);
        assert_eq!(way.sent(), ["tools/call"]);
    }

    /// TOOL-C-01, HDR-C-05: names and values survive, whatever is in them.
    async fn odd_names_and_arguments_survive(way: Way) {
        let connection = way.plain().await;
        let arguments = json!({
            "Å\u{1F6A2}": "\u{0}\u{2028}\"\\\u{7f}", "": null, "n": 9007199254740993_i64,
            "deep": [[[{ "a": [1.5e300, -0.0] }]]], "a\nb": "c\r\nd",
        });
        for name in ODD_NAMES.into_iter().chain(["echo"]) {
            let result = connection.call_tool(name, &arguments).await.expect(name);
            let echoed: Value = serde_json::from_str(text(&result)).expect("JSON");
            assert_eq!(echoed, arguments, "{name:?}");
        }
        let nothing = connection.call_tool("echo", ()).await.expect("a result");
        assert_eq!(text(&nothing), "{}");
        let prompt = connection.get_prompt("brief", json!({ "vessel": "Ö\u{2028}" })).await;
        let message = serde_json::to_value(&prompt.expect("a prompt").messages[0]).expect("JSON");
        assert_eq!(message["content"]["text"], "Brief me on Ö\u{2028}.");
        let uri = "tide://Malmö/\u{1F6A2} \n?a=b#c";
        let read = connection.read_resource(uri).await.expect("contents");
        assert_eq!(read.contents[0].uri(), uri);
    }

    /// TOOL-C-03, TOOL-C-04: what a tool could not do is a result, what is not there is an error.
    async fn a_failure_is_a_result_and_an_unknown_name_an_error(way: Way) {
        let connection = way.plain().await;
        let failed = connection.call_tool("fail", ()).await.expect("a result");
        assert!(failed.failed());
        assert_eq!(text(&failed), "No berth is free");

        let error = connection.call_tool("nothing", ()).await.expect_err("no such tool");
        assert_eq!(error.code(), Some(-32602));
        assert!(!error.is_not_found());
        assert!(error.to_string().starts_with("tools/call nothing: "), "{error}");
        assert!(error.to_string().contains("Unknown tool: nothing"), "{error}");
        let error = connection.get_prompt("nothing", ()).await.expect_err("no such prompt");
        assert_eq!((error.code(), error.is_not_found()), (Some(-32602), false));
        let error = connection.read_resource("ship://none").await.expect_err("no such resource");
        let code = if way.is_older() { -32002 } else { -32602 };
        assert_eq!((error.code(), error.is_not_found()), (Some(code), true));
        let error = connection.call_tool("panic", ()).await.expect_err("a panic");
        assert_eq!(error.code(), Some(-32603));
        assert!(matches!(error.kind(), ErrorKind::Protocol(_)));
        assert_eq!(text(&connection.call_tool("echo", ()).await.expect("alive")), "{}");
    }

    /// TOOL-C-05: a promise is held against whoever made it, once it is known.
    async fn structured_content_keeps_its_promise(way: Way) {
        #[derive(serde::Deserialize)]
        struct Depth { depth: f64 }
        let connection = way.plain().await;
        let result = connection.call_tool("depth", ()).await.expect("a result");
        if way.version < Version::V2025_06_18 {
            // There is only text, and no promise.
            assert_eq!((text(&result), &result.structured_content), ("deep", &None));
            let tools = connection.tools().all().await.expect("tools");
            assert!(tools.iter().all(|tool| tool.output_schema.is_none()));
            connection.call_tool("depth.broken", ()).await.expect("nothing was promised");
            return;
        }
        assert_eq!(result.structured_as::<Depth>().expect("a depth").depth, 11.5);
        connection.call_tool("depth.broken", ()).await.expect("nothing is known of it");
        connection.tools().all().await.expect("tools");
        connection.call_tool("depth", ()).await.expect("it keeps its promise");
        let error = connection.call_tool("depth.broken", ()).await.expect_err("a broken promise");
        assert!(error.to_string().contains("depth"), "{error}");
        // The tool ran: what it gave is not lost.
        let ErrorKind::SchemaMismatch(result) = error.into_kind() else { panic!("another kind") };
        assert!(result.structured_content.is_some());
    }

    /// PAGE-C-01 to PAGE-C-03: a page is fetched when it is needed, and not before.
    async fn lists_come_page_by_page(way: Way) {
        let connection = way.plain().await;
        way.sent();
        let mut listing = connection.resources();
        assert_eq!(way.sent(), [""; 0]);
        for (at, pages) in [(0, 1), (1, 0), (2, 1), (3, 0), (4, 1)] {
            let resource = listing.next().await.expect("another").expect("a resource");
            assert_eq!(resource.uri, format!("tide://{at}"));
            assert_eq!(way.sent().len(), pages, "{at}");
        }
        assert!(listing.next().await.is_none() && listing.next().await.is_none());
        assert_eq!(way.sent(), [""; 0]);

        let all = connection.resources().all().await.expect("resources");
        assert_eq!(all.len(), 5);
        assert_eq!(way.sent(), ["resources/list"; 3]);
        let prompts = connection.prompts().all().await.expect("prompts");
        assert_eq!(prompts[0].name, "brief");
        let templates = connection.resource_templates().all().await.expect("templates");
        assert_eq!(templates[0].uri_template, "tide://{port}");
        let tools = connection.tools().all().await.expect("tools");
        assert!(tools.iter().any(|tool| tool.name == "berth.reserve"));
    }

    /// CACHE-C-01 to CACHE-C-07, CACHE-C-14: what may be kept is kept until there is news.
    async fn what_may_be_kept_is_kept_until_there_is_news(way: Way) {
        let connection = way.plain().await;
        let template = async || {
            let all = connection.resource_templates().all().await.expect("templates");
            all[0].name.clone()
        };
        let kept = async || {
            let read = connection.read_resource("tide://kept").await.expect("contents");
            contents(&read.contents)
        };
        way.sent();
        for _ in 0..3 {
            assert_eq!((template().await, kept().await), ("fetch 1".into(), "fetch 2".into()));
        }
        assert_eq!(way.sent(), ["resources/templates/list", "resources/read"]);

        let mut subscription = connection.listen(everything()).await.expect("a subscription");
        // What changed before it began, nobody told.
        announce(&connection, "tools").await;
        assert_eq!(next(&mut subscription).await, Some(Change::Tools));
        assert_eq!((template().await, kept().await), ("fetch 3".into(), "fetch 4".into()));
        announce(&connection, "resources").await;
        assert_eq!(next(&mut subscription).await, Some(Change::Resources));
        assert_eq!((template().await, kept().await), ("fetch 5".into(), "fetch 4".into()));
        announce(&connection, "tide://kept").await;
        assert_eq!(next(&mut subscription).await, Some(Change::Resource("tide://kept".into())));
        assert_eq!((template().await, kept().await), ("fetch 5".into(), "fetch 6".into()));
        connection.forget();
        assert_eq!((template().await, kept().await), ("fetch 7".into(), "fetch 8".into()));

        let forgetful = way.connect(&Client::new("tests", "1.0").no_cache()).await;
        way.sent();
        for _ in 0..2 {
            forgetful.read_resource("tide://kept").await.expect("contents");
        }
        assert_eq!(way.sent(), ["resources/read"; 2]);
    }

    /// COMP-C-01
    async fn arguments_are_completed(way: Way) {
        let connection = way.plain().await;
        for reference in [Reference::prompt("brief"), Reference::resource("tide://{port}")] {
            let argument = CompleteArgument::new("vessel", "Ö\u{2028}");
            let params = CompleteRequestParams::new(reference, argument);
            let result = connection.complete(params).await.expect("a completion");
            assert_eq!(result.completion.values, ["Ö\u{2028}"]);
        }
    }

    /// PROG-C-01 to PROG-C-03: progress goes to the call that asked, or to the client for all.
    async fn progress_is_told_per_call_and_per_client(way: Way) {
        let (all, told) = notes();
        let client = Client::new("tests", "1.0").on_progress(move |call, progress| {
            let told = (call.name().to_owned(), progress.progress.to_string());
            all.lock().expect("unpoisoned").push(told);
        });
        let connection = way.connect(&client).await;
        let (own, own_told) = notes();
        let request = CallTool::new("progress", ()).on_progress(move |progress| {
            let total = progress.total.as_ref().map(ToString::to_string);
            own.lock().expect("unpoisoned").push((progress.progress.to_string(), total));
        });
        let other = connection.call_tool("chatty", json!({ "count": 3 }));
        let (result, other) = tokio::join!(connection.call(request), other);
        assert_eq!(text(&result.expect("a result")), "progressed");
        assert_eq!(text(&other.expect("a result")), "said 3");
        let of = |done: &str| (done.to_owned(), Some("3".to_owned()));
        assert_eq!(read(&own_told), [of("1"), of("2"), of("3")]);
        for (tool, seen) in [("progress", ["1", "2", "3"]), ("chatty", ["1", "2", "3"])] {
            let told = read(&told).into_iter().filter(|(name, _)| name == tool);
            assert_eq!(told.map(|(_, done)| done).collect::<Vec<_>>(), seen, "{tool}");
        }

        // Nobody asked: nothing is sent.
        let silent = way.plain().await;
        assert_eq!(text(&silent.call_tool("progress", ()).await.expect("a result")), "progressed");
    }

    /// LOG-C-01, LOG-C-02
    async fn logs_come_at_the_level_asked_for(way: Way) {
        let (log, logged) = notes();
        let client = Client::new("tests", "1.0").on_log(LoggingLevel::Warning, move |message| {
            let logger = message.logger.clone().expect("a logger");
            log.lock().expect("unpoisoned").push(format!("{logger} {}", message.level));
        });
        let connection = way.connect(&client).await;
        connection.call_tool("log", ()).await.expect("a result");
        assert_eq!(read(&logged), ["quay error"]);
        // In a session there is one level for all requests.
        let mut request = CallTool::new("log", ());
        match way.is_older() {
            true => connection.set_log_level(LoggingLevel::Debug).await.expect("it is set"),
            false => request = request.log_level(LoggingLevel::Debug),
        }
        connection.call(request).await.expect("a result");
        assert_eq!(read(&logged)[1..], ["quay debug", "quay info", "quay error"]);
    }

    /// CANC-C-01 to CANC-C-04, CANC-C-06: however a call is given up, the server is told.
    async fn a_call_that_is_given_up_is_cancelled_at_the_server(way: Way) {
        let connection = way.plain().await;
        let slow = || CallTool::new("slow", json!({ "ms": 60_000 }));

        let call = timeout(Duration::from_millis(100), connection.call(slow())).await;
        call.expect_err("dropped");
        until_dropped(&connection, 1).await;

        let token = CancellationToken::new();
        let cancel = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            token.cancel();
        };
        let call = connection.call(slow().cancel_with(token.clone()));
        let error = tokio::join!(call, cancel).0.expect_err("cancelled");
        assert!(matches!(error.kind(), ErrorKind::Cancelled), "{error:?}");
        until_dropped(&connection, 2).await;

        let started = Instant::now();
        let call = connection.call(slow().work_timeout(Duration::from_millis(100))).await;
        let error = call.expect_err("too slow");
        let ErrorKind::TimedOut { clock: Clock::Work, after } = error.kind() else {
            panic!("{error:?}")
        };
        assert_eq!(*after, Duration::from_millis(100));
        assert!((100..5_000).contains(&started.elapsed().as_millis()));
        until_dropped(&connection, 3).await;

        // Before it is sent, there is nothing to tell.
        way.sent();
        let token = CancellationToken::new();
        token.cancel();
        let error = connection.call(slow().cancel_with(token)).await.expect_err("cancelled");
        assert!(matches!(error.kind(), ErrorKind::Cancelled), "{error:?}");
        assert_eq!(way.sent(), [""; 0]);
    }

    /// BASE-C-02: answers find their calls in whatever order they come.
    async fn parallel_calls_do_not_mix(way: Way) {
        let connection = way.plain().await;
        let started = Instant::now();
        let mut calls = tokio::task::JoinSet::new();
        for at in 0..40_u64 {
            let connection = connection.clone();
            calls.spawn(async move {
                let slow = json!({ "ms": (40 - at) * 5 });
                let (echo, slow) = tokio::join!(
                    connection.call_tool("echo", json!({ "at": at })),
                    connection.call_tool("slow", slow),
                );
                assert_eq!(text(&echo.expect("a result")), format!(r#"{{"at":{at}}}"#));
                let slept = format!("slept {}, ", (40 - at) * 5);
                assert!(text(&slow.expect("a result")).starts_with(&slept));
            });
        }
        while let Some(call) = calls.join_next().await {
            call.expect("no panic");
        }
        // One after the other they take 4.1 seconds.
        assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    }

    /// MRTR-C-01 to MRTR-C-06, MRTR-C-18, SHIM-C-01: four kinds of questions in one round, or as
    /// many of them as the revision has.
    async fn all_kinds_of_questions_are_answered_in_one_round(way: Way) {
        let connection = way.connect(&agreeable()).await;
        // Asked while the call waits, the client need not call again.
        let legs = if way.is_older() { 1 } else { 2 };
        let asks = async |tool: &str| connection.call_tool(tool, ()).await.expect("a result");
        let cannot = |result: &CallToolResult, what: &str| {
            assert!(result.failed() && text(result).contains(what), "{result:?}");
        };
        way.sent();
        let (all, with_tools) = (asks("ask_all").await, asks("ask_tools").await);
        if way.version >= Version::V2025_11_25 {
            let (state, answers) = brought(&all);
            assert_eq!(state, "no state");
            assert_eq!(answers["form"], json!({ "action": "accept", "content": { "ok": true } }));
            assert_eq!(answers["url"], json!({ "action": "accept" }));
            assert_eq!(answers["model"]["content"], json!({ "type": "text", "text": "Hello" }));
            assert_eq!(answers["roots"]["roots"][0]["uri"], "file:///srv");
            assert_eq!(answers.as_object().expect("an object").len(), 4);
            let (_, answers) = brought(&with_tools);
            assert_eq!(answers["model"]["model"], "parrot");
        } else {
            // Not even what could be asked is.
            cannot(&all, if has_forms(&way) { "a link to be opened" } else { NO_FORM });
            cannot(&with_tools, "a completion of its model with tools");
        }
        assert_eq!(way.sent(), vec!["tools/call"; 2 * legs]);

        let confirmed = asks("ask").await;
        let prompt = connection.get_prompt("brief", ()).await;
        let read = connection.read_resource("tide://asks").await;
        if has_forms(&way) {
            let (state, answers) = brought(&confirmed);
            assert_eq!((&*state, &answers["confirm"]["action"]), ("open-state", &json!("accept")));
            let prompt = serde_json::to_value(prompt.expect("a prompt")).expect("JSON");
            let message = prompt["messages"][0]["content"]["text"].as_str().expect("a text");
            assert!(message.contains(r#""accept""#), "{message}");
            assert!(contents(&read.expect("contents").contents).contains(r#""accept""#));
        } else {
            cannot(&confirmed, NO_FORM);
            for error in [prompt.expect_err("no prompt"), read.expect_err("no contents")] {
                assert_eq!(error.code(), Some(-32603));
                assert!(error.to_string().contains(NO_FORM), "{error}");
            }
        }
        let sent = ["tools/call", "prompts/get", "resources/read"];
        let sent: Vec<_> = sent.into_iter().flat_map(|method| vec![method; legs]).collect();
        assert_eq!(way.sent(), sent);
    }

    /// MRTR-C-13: what the user does not want is an answer, too.
    async fn declining_is_an_answer(way: Way) {
        let older = way.is_older();
        let client = Client::new("tests", "1.0").on_form(move |form| async move {
            assert_eq!((form.round(), &*form.message), (1, "Sure?"));
            // What an older server knows it by is nobody's business.
            assert!(form.key() == "confirm" || older);
            form.decline()
        });
        let connection = way.connect(&client).await;
        if !has_forms(&way) {
            let result = connection.call_tool("ask", ()).await.expect("a result");
            assert!(result.failed() && text(&result).contains(NO_FORM), "{result:?}");
            return;
        }
        let (_, answers) = brought(&connection.call_tool("ask", ()).await.expect("done"));
        assert_eq!(answers, json!({ "confirm": { "action": "decline" } }));
    }

    /// MRTR-S-20 to MRTR-S-23: a server does not ask whom it knows to have no answer.
    async fn nothing_is_asked_that_was_not_declared(way: Way) {
        let nobody = way.plain().await;
        for (tool, missing) in [
            ("ask", json!({ "elicitation": { "form": {} } })),
            ("ask_tools", json!({ "sampling": { "tools": {} } })),
        ] {
            way.sent();
            if way.is_older() {
                // SHIM-S-03: where a model can see it.
                let result = nobody.call_tool(tool, ()).await.expect("a result");
                assert!(result.failed() && text(&result).contains("did not declare"));
                assert_eq!(way.sent(), ["tools/call"]);
                continue;
            }
            let error = nobody.call_tool(tool, ()).await.expect_err("nothing is declared");
            assert_eq!(error.code(), Some(-32021));
            let ErrorKind::Protocol(object) = error.kind() else { panic!("{error:?}") };
            assert_eq!(object.data, Some(json!({ "requiredCapabilities": missing })));
            assert_eq!(way.sent(), ["tools/call"]);
        }
        let forms = Client::new("tests", "1.0").on_form(|form| async move { form.cancel() });
        let forms = way.connect(&forms).await;
        if way.is_older() {
            let result = forms.call_tool("ask_all", ()).await.expect("a result");
            assert!(result.failed() && text(&result).contains("did not declare"));
            return;
        }
        let error = forms.call_tool("ask_all", ()).await.expect_err("not enough is declared");
        assert_eq!(error.code(), Some(-32021));
    }

    /// MRTR-S-07: a server that cannot make up its mind gives an error of its own.
    async fn two_questions_under_one_key_never_get_here(way: Way) {
        let connection = way.connect(&agreeable()).await;
        let error = connection.call_tool("ask_twice", ()).await.expect_err("an error");
        assert_eq!(error.code(), Some(-32603));
    }

    /// MRTR-C-19: a server that is not ready is asked again, or the caller is told.
    async fn a_server_that_is_not_ready_is_asked_again(way: Way) {
        let connection = way.plain().await;
        way.sent();
        let result = connection.call_tool("later", ()).await.expect("a result");
        assert_eq!(text(&result), "here it is");
        if way.is_older() {
            // SHIM-S-08: the server does the waiting.
            assert_eq!(way.sent(), ["tools/call"]);
            let outcome = connection.start(CallTool::new("later", ())).await.expect("an outcome");
            assert!(matches!(&outcome, Outcome::Done(result) if text(result) == "here it is"));
            return;
        }
        assert_eq!(way.sent(), ["tools/call"; 2]);
        let outcome = connection.start(CallTool::new("later", ())).await.expect("an outcome");
        let Outcome::Later(paused) = outcome else { panic!("{outcome:?}") };
        assert_eq!(way.sent(), ["tools/call"]);
        let outcome = connection.resume::<CallToolResult>(paused).await.expect("an outcome");
        assert!(matches!(&outcome, Outcome::Done(result) if text(result) == "here it is"));
    }

    /// A call that waits for its caller goes on on another connection, too.
    async fn a_paused_call_is_resumed(way: Way) {
        let client = Client::new("tests", "1.0").by_hand([Kind::Form]);
        let connection = way.connect(&client).await;
        let outcome = connection.start(CallTool::new("ask", ())).await.expect("an outcome");
        let Outcome::Paused(paused) = outcome else { panic!("{outcome:?}") };
        let stored = serde_json::to_string(&paused).expect("JSON");
        drop((connection, paused));
        let paused: antiphon::client::Paused = serde_json::from_str(&stored).expect("a call");
        let paused = paused.answer("confirm", Answer::accept(json!({ "ok": false })));
        let connection = way.connect(&client).await;
        let outcome = connection.resume::<CallToolResult>(paused).await.expect("an outcome");
        let Outcome::Done(result) = outcome else { panic!("{outcome:?}") };
        let (state, answers) = brought(&result);
        let action = serde_json::to_value(ElicitAction::Accept).expect("JSON");
        assert_eq!((&*state, &answers["confirm"]["action"]), ("open-state", &action));
        assert_eq!(answers["confirm"]["content"], json!({ "ok": false }));
    }

    /// SUB-C-01 to SUB-C-04, SUB-C-07: what was acknowledged is told, until nobody listens.
    async fn changes_are_told_to_whoever_listens(way: Way) {
        let connection = way.plain().await;
        let mut subscription = connection.listen(everything()).await.expect("a subscription");
        // Prompts do not change here.
        let acknowledged = SubscriptionFilter { prompts_list_changed: None, ..everything() };
        assert_eq!(subscription.acknowledged(), &acknowledged);
        for (what, change) in [
            ("tools", Change::Tools),
            ("resources", Change::Resources),
            ("tide://kept", Change::Resource("tide://kept".into())),
        ] {
            announce(&connection, "prompts").await;
            announce(&connection, "tide://other").await;
            assert_eq!(announce(&connection, what).await, "1 listening");
            assert_eq!(next(&mut subscription).await, Some(change));
        }
        // A session listens once, whatever becomes of it at the client.
        let two = if way.is_older() { "1 listening" } else { "2 listening" };
        let other = SubscriptionFilter { tools_list_changed: Some(true), ..Default::default() };
        let mut other = connection.listen(other).await.expect("a subscription");
        announce(&connection, "resources").await;
        assert_eq!(announce(&connection, "tools").await, two);
        assert_eq!(next(&mut other).await, Some(Change::Tools));
        let both = BTreeSet::from([
            format!("{:?}", next(&mut subscription).await),
            format!("{:?}", next(&mut subscription).await),
        ]);
        assert_eq!(both.len(), 2);

        drop(subscription);
        let gone = async {
            while announce(&connection, "tools").await != "1 listening" {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, gone).await.expect("the server is told");
        assert_eq!(next(&mut other).await, Some(Change::Tools));
    }

    /// SUB-C-05, AMB-01: the server may end it, which is no error.
    async fn a_subscription_that_the_server_ends_is_over(way: Way) {
        let connection = way.plain().await;
        let mut subscription = connection.listen(everything()).await.expect("a subscription");
        if way.is_older() {
            announce(&connection, "resources").await;
            assert_eq!(next(&mut subscription).await, Some(Change::Resources));
            // There is no way to say so in a session, which goes on: at most a stream ends, and the
            // client comes back.
            assert_eq!(announce(&connection, "end").await, "1 listening");
            announce(&connection, "tools").await;
            assert_eq!(next(&mut subscription).await, Some(Change::Tools));
            return;
        }
        assert_eq!(announce(&connection, "end").await, "1 listening");
        assert_eq!(next(&mut subscription).await, None);
        assert_eq!(next(&mut subscription).await, None);
        let mut again = connection.listen(everything()).await.expect("another");
        announce(&connection, "tools").await;
        assert_eq!(next(&mut again).await, Some(Change::Tools));
    }

    /// A large message is no special case, in either direction.
    async fn large_messages_are_carried_whole(way: Way) {
        let connection = way.plain().await;
        // Larger than any buffer; unoptimised, more of it takes its time.
        let (calls, kib) = if way.is_older() { (1, 256) } else { (3, 1024) };
        let large = "x\u{1F6A2}\n".repeat(kib * 1024 / 6);
        let calls = (0..calls).map(|_| connection.call_tool("echo", json!({ "text": large })));
        for call in calls {
            let result = call.await.expect("a result");
            let echoed: Value = serde_json::from_str(text(&result)).expect("JSON");
            assert!(echoed["text"] == large.as_str(), "{} bytes", text(&result).len());
        }
    }

    /// HDR-C-07 to HDR-C-11, HDR-C-16, HDR-C-17: headers follow the definitions, as far as there
    /// are any.
    async fn mirrored_arguments_are_learnt_when_they_are_needed(way: Way) {
        let connection = way.plain().await;
        let reserve = async || {
            let arguments = json!({ "port": "Malmö", "berth": 7 });
            let result = connection.call_tool("berth.reserve", arguments).await;
            assert_eq!(text(&result.expect("a result")), r#"{"port":"Malmö","berth":7}"#);
            way.sent()
        };
        way.sent();
        let first = reserve().await;
        match way.wire {
            Wire::Http if !way.is_older() => assert_eq!(first, ["tools/call", "tools/list", "tools/call"]),
            _ => assert_eq!(first, ["tools/call"]),
        }
        assert_eq!(reserve().await, ["tools/call"]);
        connection.call_tool("berth.reserve", ()).await.expect("nothing to mirror");
    }

    /// HDR-C-08 to HDR-C-10: a definition that cannot be followed is hidden where it matters.
    async fn broken_definitions_are_hidden_where_they_matter(way: Way) {
        let (hide, hidden) = notes();
        let client = Client::new("tests", "1.0").on_event(move |event| {
            if let Event::HiddenTool { name, why } = event {
                hide.lock().expect("unpoisoned").push((name.clone(), why.clone()));
            }
        });
        let connection = way.connect(&client).await;
        let tools = connection.tools().all().await.expect("tools");
        let listed = tools.iter().any(|tool| tool.name == "berth.broken");
        let hidden = read(&hidden);
        if way.wire == Wire::Http && !way.is_older() {
            assert!(!listed);
            assert_eq!((hidden.len(), &*hidden[0].0), (1, "berth.broken"));
            assert!(hidden[0].1.contains("port"), "{}", hidden[0].1);
        } else {
            assert!(listed);
            assert_eq!(hidden, []);
        }
    }

    /// After the connection is closed nothing is sent any more, by nobody.
    async fn a_closed_connection_is_closed_for_its_clones(way: Way) {
        let connection = way.plain().await;
        let clone = connection.clone();
        let in_flight = tokio::spawn({
            let clone = connection.clone();
            async move { clone.call_tool("slow", json!({ "ms": 60_000 })).await }
        });
        let mut subscription = connection.listen(everything()).await.expect("a subscription");
        tokio::time::sleep(Duration::from_millis(100)).await;
        timeout(PATIENCE, connection.close()).await.expect("it closes");
        let failed = timeout(PATIENCE, in_flight).await.expect("in time").expect("no panic");
        let error = failed.expect_err("closed");
        assert!(matches!(error.kind(), ErrorKind::Transport), "{error:?}");
        let lost = timeout(PATIENCE, subscription.next()).await.expect("in time");
        assert!(matches!(lost.expect("lost").expect_err("lost").kind(), ErrorKind::Transport));
        let error = clone.call_tool("echo", ()).await.expect_err("closed");
        assert!(matches!(error.kind(), ErrorKind::Transport), "{error:?}");
    }
}

// The rest is of 2026-07-28 alone: what may be kept, calls that are paused, several rounds.
in_older_revisions! {
    discovery_tells_who_the_server_is,
    a_known_server_is_not_asked_again,
    odd_names_and_arguments_survive,
    a_failure_is_a_result_and_an_unknown_name_an_error,
    structured_content_keeps_its_promise,
    lists_come_page_by_page,
    arguments_are_completed,
    progress_is_told_per_call_and_per_client,
    logs_come_at_the_level_asked_for,
    a_call_that_is_given_up_is_cancelled_at_the_server,
    parallel_calls_do_not_mix,
    all_kinds_of_questions_are_answered_in_one_round,
    declining_is_an_answer,
    nothing_is_asked_that_was_not_declared,
    two_questions_under_one_key_never_get_here,
    a_server_that_is_not_ready_is_asked_again,
    changes_are_told_to_whoever_listens,
    a_subscription_that_the_server_ends_is_over,
    large_messages_are_carried_whole,
    mirrored_arguments_are_learnt_when_they_are_needed,
    broken_definitions_are_hidden_where_they_matter,
    a_closed_connection_is_closed_for_its_clones,
}

/// A tool whose parameter is mirrored in a header from some time on.
struct Growing(Arc<AtomicBool>);

impl Growing {
    fn tool(&self) -> Tool {
        let mut port = json!({ "type": "string" });
        if self.0.load(Ordering::SeqCst) {
            port["x-mcp-header"] = "Port".into();
        }
        let schema = json!({ "type": "object", "properties": { "port": port } });
        Tool::new("reserve", schema.as_object().expect("an object").clone())
    }
}

impl Service for Growing {
    fn about(&self) -> About {
        let capabilities = ServerCapabilities::default().tools(false);
        About::new(Implementation::new("growing", "1")).capabilities(capabilities)
    }

    fn list_tools<'a>(
        &'a self,
        _: &'a Call<'a>,
        _: List<'a>,
    ) -> Answering<'a, Rendered<ListToolsResult>> {
        Box::pin(async { Ok(ListToolsResult::new(vec![self.tool()]).into()) })
    }

    fn header_params(&self, _: &Call<'_>, _: &str) -> Option<Arc<HeaderParams>> {
        let params = HeaderParams::of(&self.tool().input_schema).expect("valid annotations");
        Some(Arc::new(params))
    }

    fn call_tool<'a>(
        &'a self,
        _: &'a Call<'a>,
        tool: ToolCall<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        Box::pin(async move {
            let arguments: Value = tool
                .arguments()
                .map_err(|bad| Error::internal(bad.to_string()))?;
            Ok(CallToolResult::text(arguments.to_string()).into())
        })
    }
}

/// HDR-C-16, HDR-C-17: a definition that has changed since it was listed is listed anew, once.
#[tokio::test]
async fn a_parameter_that_gains_a_header_is_learnt_by_the_refusal() {
    let grown = Arc::new(AtomicBool::new(false));
    let endpoint = Endpoint::new(Growing(grown.clone()));
    let server = Server::start(antiphon::http::service(endpoint)).await;
    let client = Client::new("tests", "1.0");
    let http = Http::new(format!("http://{}/mcp", server.address));
    let connection = client.connect(http).await.expect("a connection");
    let reserve = async || {
        let result = connection
            .call_tool("reserve", json!({ "port": " Malmö" }))
            .await;
        assert_eq!(text(&result.expect("a result")), r#"{"port":" Malmö"}"#);
    };
    connection.tools().all().await.expect("tools");
    reserve().await;
    grown.store(true, Ordering::SeqCst);
    reserve().await;
    reserve().await;
    // And when it loses the header again, a header too many does no harm.
    grown.store(false, Ordering::SeqCst);
    reserve().await;
}
