//! What runs around handlers, and before and after a server.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon::{
    Args, Ask, Call, CallKind, Context, Extension, Form, Layer, Next, Outcome, Prefix, Prompt,
    RateLimit, Resource, Server, State, Stop, Timeout, Tool,
    raw::{Answered, Endpoint, Observed, Rendered},
    schemars::{self, JsonSchema},
    testing::Script,
    types::{self, InputRequired},
};
use antiphon_tests::wire::Connection;
use serde::Deserialize;
use serde_json::json;

/// What happened, in order.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn note(&self, what: impl Into<String>) {
        self.0.lock().expect("not poisoned").push(what.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("not poisoned"))
    }
}

/// Notes that it was passed, in and out.
struct Named(&'static str, Diary);

impl Layer for Named {
    async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
        self.1
            .note(format!("{} {:?} {}", self.0, call.kind(), call.target()));
        let outcome = next.run(call).await;
        self.1.note(format!("{} {:?}", self.0, outcome.verdict()));
        outcome
    }
}

#[derive(Deserialize, JsonSchema)]
struct Topic {
    topic: u8,
}

#[tokio::test]
async fn layers_are_around_everything_the_first_outermost() {
    let diary = Diary::default();
    let named = |name| Named(name, diary.clone());
    let text = async |Args(Topic { topic }): Args<Topic>| topic.to_string();
    let server: Server = Server::new("layered", "1.0")
        .add(
            Tool::new("t", text)
                .layer(named("third"))
                .layer(named("fourth")),
        )
        .layer(named("first"))
        .layer(named("second"))
        .add(Prompt::new("p", text).choices("topic", ["1"]))
        .add(Resource::new("r://{topic}", text).layer(named("third")));
    let mut connection = Connection::memory(server);
    connection.call("t", json!({ "topic": 1 })).await.result();
    let expected = [
        "first Tool t",
        "second Tool t",
        "third Tool t",
        "fourth Tool t",
        "fourth Complete",
        "third Complete",
        "second Complete",
        "first Complete",
    ];
    assert_eq!(diary.take(), expected);
    // Layers come before arguments are looked at, and see what becomes of bad ones.
    connection.call("t", json!({ "topic": "x" })).await.result();
    assert_eq!(
        diary.take()[4..],
        [
            "fourth Failed",
            "third Failed",
            "second Failed",
            "first Failed"
        ]
    );
    let get = json!({ "name": "p", "arguments": { "topic": "x" } });
    connection
        .request("prompts/get", get)
        .await
        .refused(-32602, 200);
    let expected = [
        "first Prompt p",
        "second Prompt p",
        "second Rejected(-32602)",
        "first Rejected(-32602)",
    ];
    assert_eq!(diary.take(), expected);
    connection
        .request("resources/read", json!({ "uri": "r://7" }))
        .await
        .result();
    assert_eq!(
        diary.take()[..3],
        [
            "first Resource r://7",
            "second Resource r://7",
            "third Resource r://7"
        ]
    );
    let complete = json!({
        "ref": { "type": "ref/prompt", "name": "p" },
        "argument": { "name": "topic", "value": "" },
    });
    connection
        .request("completion/complete", complete)
        .await
        .result();
    assert_eq!(
        diary.take()[..2],
        ["first Completion p", "second Completion p"]
    );
}

/// Refuses everything.
struct Deny;

impl Layer for Deny {
    async fn call(&self, call: &Context<'_>, _: Next<'_>) -> Outcome {
        call.stop(Stop::reject(403, "no"))
    }
}

/// What a template lists and who may watch a resource are as guarded as the resource itself.
#[tokio::test]
async fn layers_are_around_listings_and_subscriptions() {
    async fn vaults() -> Vec<types::Resource> {
        vec![types::Resource::new("vault://payroll", "payroll")]
    }
    let vault = || {
        Resource::new("vault://{id}", async || "gold")
            .list(vaults)
            .watched()
    };
    let open = || Resource::new("open://door", async || "").watched();
    let listen =
        json!({ "notifications": { "resourceSubscriptions": ["vault://payroll", "open://door"] } });
    let on_one: Server = Server::new("bank", "1.0")
        .add(vault().layer(Deny))
        .add(open());
    let on_all: Server = Server::new("bank", "1.0")
        .add(vault())
        .add(open())
        .layer(Deny);
    let free: Server = Server::new("bank", "1.0").add(vault()).add(open());
    for (server, lists, watches) in [
        (free, true, json!(["vault://payroll", "open://door"])),
        (on_one, false, json!(["open://door"])),
        (on_all, false, json!([])),
    ] {
        let mut connection = Connection::memory(server);
        let list = connection.request("resources/list", json!({})).await;
        assert_eq!(
            list.response.to_string().contains("payroll"),
            lists,
            "{}",
            list.response
        );
        if !lists {
            list.refused(403, 200);
        }
        connection
            .send(&antiphon_tests::request(
                2,
                "subscriptions/listen",
                listen.clone(),
            ))
            .await;
        let acknowledged = connection.receive().await.expect("acknowledged");
        assert_eq!(
            acknowledged["params"]["notifications"]["resourceSubscriptions"],
            watches
        );
    }
}

/// However a URI is spelt, it is the same resource in the same layers.
#[tokio::test]
async fn another_spelling_does_not_lead_around_a_layer() {
    struct Guard;
    impl Layer for Guard {
        async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
            match call.target() {
                "vault://secret" => call.stop(Stop::reject(403, "no")),
                _ => next.run(call).await,
            }
        }
    }
    let templates: Server = Server::new("vault", "1.0")
        .resource("vault://{id}", async |call: Call| call.target().to_owned())
        .layer(Guard);
    let fixed: Server = Server::new("vault", "1.0")
        .add(Resource::new("vault://secret", async || "secret").layer(Deny))
        .resource("vault://{id}", async |call: Call| call.target().to_owned());
    for server in [templates, fixed] {
        let mut connection = Connection::memory(server);
        for uri in ["vault://secret", "vault://%73ecret", "vault://s%65cret"] {
            connection
                .request("resources/read", json!({ "uri": uri }))
                .await
                .refused(403, 200);
        }
        let read = connection
            .request("resources/read", json!({ "uri": "vault://op%65n" }))
            .await;
        let contents = &read.result()["contents"][0];
        assert_eq!(
            (&contents["text"], &contents["uri"]),
            (&json!("vault://open"), &json!("vault://op%65n"))
        );
    }
}

/// TOOL-S-21 holds for what a layer makes of a result, too.
#[tokio::test]
async fn a_layers_result_keeps_to_the_output_schema() {
    struct Rewrite;
    impl Layer for Rewrite {
        async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
            next.run(call).await;
            let result =
                types::CallToolResult::content(Vec::new()).structured(json!({ "topic": "x" }));
            Outcome::Tool(result.into())
        }
    }
    let tool = Tool::new("t", async || {
        types::CallToolResult::content(Vec::new()).structured(json!({ "topic": 1 }))
    });
    let server: Server = Server::new("rewriting", "1.0").add(tool.output::<Topic>().layer(Rewrite));
    let answer = Connection::memory(server).call("t", json!({})).await;
    assert_eq!(answer.result()["isError"], true);
}

/// A layer that looks at arguments in its own way says nothing about whether they are right.
#[tokio::test]
async fn a_layer_that_peeks_does_not_answer_for_the_arguments() {
    struct Peek;
    impl Layer for Peek {
        async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
            // Not what the tool takes: it fails, and that is fine with this layer.
            assert!(call.args::<Topic>().is_err());
            next.run(call).await
        }
    }
    let schema = json!({ "type": "object", "required": ["path"] });
    let tool = Tool::new("read", async |call: Call| call.target().to_owned());
    let server: Server = Server::new("peeking", "1.0").add(tool.input_schema(schema).layer(Peek));
    let mut connection = Connection::memory(server);
    let answer = connection.call("read", json!({ "topic": "x" })).await;
    assert_eq!(
        answer.text(),
        "Invalid arguments for `read`:\n- `path`: is missing"
    );
    let answer = connection.call("read", json!({ "path": "/" })).await;
    assert_eq!(answer.text(), "read");
}

/// A result that was passed on as it came is seen for what it is.
#[tokio::test]
async fn a_layer_sees_that_a_result_passed_on_tells_of_a_failure() {
    let diary = Diary::default();
    let failed = async || {
        let raw = serde_json::value::to_raw_value(&json!({ "content": [], "isError": true }))?;
        Ok::<_, Stop>(Rendered::<types::CallToolResult>::from_raw(&raw)?)
    };
    let server: Server = Server::new("gate", "1.0")
        .tool("far", failed)
        .layer(Named("layer", diary.clone()));
    Connection::memory(server)
        .call("far", json!({}))
        .await
        .result();
    assert_eq!(diary.take()[1], "layer Failed");
}

/// One layer around several tools is one layer.
#[tokio::test]
async fn a_layer_can_be_shared() {
    let limit = Arc::new(RateLimit::new(1, Duration::from_secs(3600)));
    let server: Server = Server::new("shared", "1.0")
        .add(Tool::new("a", async || "").layer(limit.clone()))
        .add(Tool::new("b", async || "").layer(limit));
    let mut connection = Connection::memory(server);
    assert!(
        connection
            .call("a", json!({}))
            .await
            .result()
            .get("isError")
            .is_none()
    );
    assert_eq!(
        connection.call("b", json!({})).await.result()["isError"],
        true
    );
}

/// What is merged stays inside the layers it had.
#[tokio::test]
async fn a_merged_server_keeps_its_layers() {
    let diary = Diary::default();
    let named = |name| Named(name, diary.clone());
    let inner: Server = Server::new("inner", "1.0")
        .add(Tool::new("i", async || "").layer(named("own")))
        .layer(named("inner"));
    let server = Server::new("outer", "1.0")
        .tool("o", async || "")
        .layer(named("outer"))
        .merge(inner);
    let mut connection = Connection::memory(server);
    connection.call("o", json!({})).await.result();
    assert_eq!(diary.take(), ["outer Tool o", "outer Complete"]);
    connection.call("i", json!({})).await.result();
    assert_eq!(
        diary.take()[..3],
        ["outer Tool i", "inner Tool i", "own Tool i"]
    );
}

/// Lets only those through who know the word, and tells the handler who they are.
struct SignedIn;

#[derive(Clone)]
struct Member(String);

impl Layer for SignedIn {
    async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
        match call.meta("example.com/word").map(|raw| raw.get()) {
            Some(r#""sesame""#) => {
                call.insert(Member("Ali".to_owned()));
                assert!(call.extension::<Member>().is_some());
                next.run(call).await
            }
            _ => call.stop(Stop::reject(401, "Who are you?")),
        }
    }
}

#[tokio::test]
async fn a_layer_can_refuse_and_pass_values_on() {
    let reached = Arc::new(AtomicUsize::new(0));
    async fn open(
        Extension(Member(name)): Extension<Member>,
        State(reached): State<Arc<AtomicUsize>>,
    ) -> String {
        reached.fetch_add(1, Ordering::SeqCst);
        name
    }
    let server: Server = Server::new("cave", "1.0")
        .layer(SignedIn)
        .tool("open", open)
        .prompt("open", open)
        .resource("cave://open", open)
        .with_state(reached.clone());
    let mut connection = Connection::memory(server);
    for (method, params) in [
        ("tools/call", json!({ "name": "open" })),
        ("prompts/get", json!({ "name": "open" })),
        ("resources/read", json!({ "uri": "cave://open" })),
    ] {
        let message = antiphon_tests::request(1, method, params);
        let refused = connection.ask(&message).await;
        refused.refused(401, 200);
        let message = antiphon_tests::with_meta(message, "example.com/word", "sesame");
        let answer = connection.ask(&message).await;
        assert!(answer.result().to_string().contains("Ali"), "{method}");
    }
    assert_eq!(reached.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_layer_sees_questions() {
    let diary = Diary::default();
    let server: Server = Server::new("asking", "1.0")
        .tool("ask", async || InputRequired::later("s"))
        .layer(Named("layer", diary.clone()));
    Connection::memory(server)
        .call("ask", json!({}))
        .await
        .result();
    assert_eq!(diary.take()[1], "layer Asked");
}

/// Lets through who says the word.
struct Word;

#[derive(Form)]
struct Said {
    word: String,
}

impl Word {
    fn heard(call: &Context<'_>) -> Result<String, Stop> {
        let Said { word } = call.ask()?.form("word", "The word?")?;
        Ok(word)
    }
}

impl Layer for Word {
    async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
        match Self::heard(call) {
            Ok(word) if word == "sesame" => next.run(call).await,
            Ok(_) => call.stop(Stop::fail("Stay out.")),
            Err(stop) => call.stop(stop),
        }
    }
}

#[tokio::test]
async fn a_layer_asks_as_handlers_do() {
    async fn open(ask: Ask) -> Result<String, Stop> {
        let Said { word } = ask.form("own", "And yours?")?;
        Ok(word)
    }
    let server = Server::new("cave", "1.0")
        .layer(Word)
        .tool("open", open)
        .prompt("open", open)
        .resource("cave://open", open);
    let people = Script::new()
        .accept("word", json!({ "word": "sesame" }))
        .accept("own", json!({ "word": "Ali" }));
    let played = people.call_tool(&server, "open", ()).await;
    assert_eq!(played.text(), "Ali");
    played.assert_rounds([["word"], ["own"]]);
    let played = people.get_prompt(&server, "open", ()).await;
    played.assert_rounds([["word"], ["own"]]);
    let played = people.read_resource(&server, "cave://open").await;
    played.assert_rounds([["word"], ["own"]]);
    let wrong = Script::new().accept("word", json!({ "word": "barley" }));
    let played = wrong.call_tool(&server, "open", ()).await;
    assert_eq!(played.failure(), "Stay out.");
}

#[tokio::test]
async fn work_is_timed_and_limited() {
    let slow = async || tokio::time::sleep(Duration::from_secs(600)).await;
    let server: Server = Server::new("busy", "1.0")
        .add(Tool::new("slow", slow).layer(Timeout::new(Duration::from_millis(20))))
        .add(
            Tool::new("rare", async || "fine").layer(RateLimit::new(2, Duration::from_secs(3600))),
        );
    let mut connection = Connection::memory(server);
    let answer = connection.call("slow", json!({})).await;
    assert_eq!(answer.result()["isError"], true);
    assert_eq!(answer.text(), "This took longer than 20ms.");
    for _ in 0..2 {
        assert_eq!(connection.call("rare", json!({})).await.text(), "fine");
    }
    let answer = connection.call("rare", json!({})).await;
    assert_eq!(answer.result()["isError"], true);
    assert_eq!(answer.text(), "Too many calls; try again in 1800 s.");
}

/// What is merged is as discreet as it was.
#[tokio::test]
async fn a_merged_server_keeps_its_manners() {
    let inner: Server = Server::new("billing", "1.0")
        .hide_errors()
        .reject_invalid_arguments()
        .tool("pay", async || Err::<String, _>("postgres://u:hunter2@db"))
        .tool("sum", async |_: Args<Topic>| "");
    let outer = Server::new("all", "1.0")
        .tool("own", async || Err::<String, _>("plain"))
        .merge(inner);
    let mut connection = Connection::memory(outer);
    let paid = connection.call("pay", json!({})).await;
    assert!(
        paid.text().starts_with("Something went wrong"),
        "{}",
        paid.text()
    );
    connection.call("sum", json!({})).await.refused(-32602, 200);
    assert_eq!(connection.call("own", json!({})).await.text(), "plain");
}

/// `Call` tells what layers attached.
#[tokio::test]
async fn a_kept_call_has_what_layers_attached() {
    let server: Server =
        Server::new("cave", "1.0")
            .layer(SignedIn)
            .tool("who", async |call: Call| {
                call.extensions()
                    .get::<Member>()
                    .map(|member| member.0.clone())
                    .unwrap_or_default()
            });
    let message = antiphon_tests::call(1, "who", json!({}));
    let message = antiphon_tests::with_meta(message, "example.com/word", "sesame");
    assert_eq!(Connection::memory(server).ask(&message).await.text(), "Ali");
}

/// A layer that answers with the result of another kind is an internal error, not a wrong answer.
#[tokio::test]
async fn a_layer_cannot_answer_for_another_kind() {
    struct Confused;
    impl Layer for Confused {
        async fn call(&self, call: &Context<'_>, _: Next<'_>) -> Outcome {
            assert_eq!(call.kind(), CallKind::Tool);
            Outcome::Completion(types::CompleteResult::new(Vec::new()))
        }
    }
    let server: Server = Server::new("confused", "1.0")
        .tool("t", async || "")
        .layer(Confused);
    Connection::memory(server)
        .call("t", json!({}))
        .await
        .refused(-32603, 200);
}

/// The layers of a prompt are around its completions too.
#[tokio::test]
async fn a_completion_can_be_refused() {
    struct Closed;
    impl Layer for Closed {
        async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
            match call.kind() {
                CallKind::Completion if call.argument() == Some("topic") => {
                    call.stop(Stop::reject(403, "closed"))
                }
                _ => next.run(call).await,
            }
        }
    }
    let topics = async |Prefix(typed): Prefix| vec![typed];
    let prompt = Prompt::new("p", async |_: Args<Topic>| "").complete("topic", topics);
    let server: Server = Server::new("closed", "1.0").add(prompt.layer(Closed));
    let complete = json!({
        "ref": { "type": "ref/prompt", "name": "p" },
        "argument": { "name": "topic", "value": "" },
    });
    let mut connection = Connection::memory(server);
    connection
        .request("completion/complete", complete)
        .await
        .refused(403, 200);
}

/// The hooks run with the state: once, before the first message and after the last, the stop hooks
/// in the opposite order.
#[tokio::test]
async fn hooks_run_with_the_state() {
    async fn work(State(diary): State<Diary>) {
        diary.note("work");
    }
    let hook = |name: &'static str| {
        move |diary: Diary| async move {
            tokio::task::yield_now().await;
            diary.note(name);
        }
    };
    let start = |name: &'static str| {
        move |diary: Diary| async move {
            diary.note(name);
            Ok::<_, std::io::Error>(())
        }
    };
    let diary = Diary::default();
    let merged = Server::new("merged", "1.0")
        .on_start(start("start 3"))
        .on_stop(hook("stop 3"));
    let server: Server = Server::new("hooked", "1.0")
        .tool("work", work)
        .on_start(start("start 1"))
        .on_start(start("start 2"))
        .on_stop(hook("stop 1"))
        .on_stop(hook("stop 2"))
        .merge(merged)
        .with_state(diary.clone());
    let message = antiphon_tests::call(1, "work", json!({})).to_string() + "\n";
    let mut output = Vec::new();
    antiphon::stdio::serve_on(server, message.as_bytes(), &mut output)
        .await
        .expect("served");
    let expected = [
        "start 1", "start 2", "start 3", "work", "stop 3", "stop 2", "stop 1",
    ];
    assert_eq!(diary.take(), expected);
}

#[tokio::test]
async fn a_start_that_fails_keeps_the_server_closed() {
    let diary = Diary::default();
    let server: Server = Server::new("closed", "1.0")
        .tool("work", async || "")
        .on_start(|_: Diary| async { Err("no database") })
        .on_stop(|diary: Diary| async move { diary.note("stop") })
        .with_state(diary.clone());
    let mut output = Vec::new();
    let served = antiphon::stdio::serve_on(server, &b""[..], &mut output).await;
    assert_eq!(served.expect_err("closed").to_string(), "no database");
    assert!(output.is_empty() && diary.take().is_empty());
}

/// Clones share one endpoint: two transports, one start.
#[tokio::test]
async fn clones_start_once() {
    let diary = Diary::default();
    let server: Server = Server::new("one", "1.0")
        .tool("work", async || "")
        .on_start(|diary: Diary| async move {
            diary.note("start");
            Ok::<_, std::io::Error>(())
        })
        .with_state(diary.clone());
    let endpoint = Endpoint::from(server.clone());
    endpoint.start().await.expect("started");
    for server in [server.clone(), server] {
        Connection::memory(server)
            .call("work", json!({}))
            .await
            .result();
    }
    assert_eq!(diary.take(), ["start"]);
}

#[tokio::test]
async fn an_observer_hears_of_every_call() {
    let diary = Diary::default();
    let heard = diary.clone();
    let server: Server = Server::new("watched", "1.0")
        .tool("good", async || "")
        .tool("bad", async || Err::<String, _>(Stop::fail("no")))
        .observe(move |answered: &Answered<'_>| {
            let target = answered.target.unwrap_or_default();
            let failed = answered.outcome == Observed::ToolError;
            heard.note(format!("{} {target} {failed}", answered.method));
        });
    let more = Diary::default();
    let also = more.clone();
    let server = server.observe(move |answered: &Answered<'_>| also.note(answered.method));
    let mut connection = Connection::memory(server);
    connection.call("good", json!({})).await;
    connection.call("bad", json!({})).await;
    assert_eq!(more.take(), ["tools/call", "tools/call"]);
    assert_eq!(
        diary.take(),
        ["tools/call good false", "tools/call bad true"]
    );
}
