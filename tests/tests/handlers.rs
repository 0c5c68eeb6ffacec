//! What handlers can take and return.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use antiphon::{
    Args, Audio, Call, CallKind, CancellationToken, ClientInfo, Contents, Context, Extension,
    FromCall, FromRef, Image, IntoReply, Json, Logger, Messages, Prefix, Progress, Server, State,
    Stop, Tool,
    auth::Principal,
    http::HeaderMap,
    memory,
    raw::Reply,
    schemars::{self, JsonSchema},
    types::{
        BooleanSchema, CallToolResult, ClientCapabilities, ContentBlock, ElicitRequestParams,
        FormSchema, InputRequest, InputRequired, Resource, ResourceContents, Version,
    },
};
use antiphon_tests::{
    call, request, request_as, until,
    wire::{Connection, Exchange},
    with_meta,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Default)]
struct App {
    counter: Arc<AtomicUsize>,
    name: Name,
}

#[derive(Clone, Default)]
struct Name(String);

impl FromRef<App> for Name {
    fn from_ref(app: &App) -> Self {
        app.name.clone()
    }
}

#[derive(Deserialize, JsonSchema)]
struct Sum {
    a: i64,
    b: Option<i64>,
}

#[tokio::test]
async fn arguments_state_and_its_parts() {
    async fn add(
        Args(Sum { a, b }): Args<Sum>,
        State(app): State<App>,
        State(Name(name)): State<Name>,
    ) -> String {
        app.counter.fetch_add(1, Ordering::SeqCst);
        format!("{name}: {}", a + b.unwrap_or_default())
    }
    let app = App {
        name: Name("sum".to_owned()),
        ..App::default()
    };
    let server: Server = Server::new("calculator", "1.0")
        .tool("add", add)
        .tool("twice", |Args(Sum { a, .. }): Args<Sum>| async move {
            (2 * a).to_string()
        })
        .tool("nothing", async || "there")
        .with_state(app.clone());
    for mut connection in [
        Connection::memory(server.clone()),
        Connection::http(server).await,
    ] {
        let answer = connection.call("add", json!({ "a": 1, "b": 2 })).await;
        assert_eq!(answer.text(), "sum: 3");
        assert_eq!(
            connection.call("add", json!({ "a": 1 })).await.text(),
            "sum: 1"
        );
        assert_eq!(
            connection.call("twice", json!({ "a": 4 })).await.text(),
            "8"
        );
        assert_eq!(connection.call("nothing", json!({})).await.text(), "there");
        // Whatever a handler does not take it does not look at.
        assert_eq!(
            connection.call("nothing", json!({ "x": 1 })).await.text(),
            "there"
        );
    }
    assert_eq!(app.counter.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn the_way_back_while_it_runs() {
    async fn work(progress: Progress, logger: Logger, cancelled: CancellationToken) -> String {
        progress.report_of(1, 2);
        logger.info("half");
        format!("{}", cancelled.is_cancelled())
    }
    let server: Server = Server::new("worker", "1.0").tool("work", work);
    let mut connection = Connection::memory(server);
    let discovered = connection.request("server/discover", json!({})).await;
    // LOG-S-01: declared because a handler takes a logger.
    assert_eq!(discovered.result()["capabilities"]["logging"], json!({}));
    let message = with_meta(call(1, "work", json!({})), "progressToken", "p");
    let message = with_meta(message, "io.modelcontextprotocol/logLevel", "info");
    let answer = connection.ask(&message).await;
    assert_eq!(answer.text(), "false");
    let methods: Vec<_> = answer
        .notifications
        .iter()
        .map(|one| one["method"].as_str())
        .collect();
    assert_eq!(
        methods,
        [
            Some("notifications/progress"),
            Some("notifications/message")
        ]
    );
}

#[tokio::test]
async fn a_token_outlives_its_call_and_tells_of_its_end() {
    async fn leave(State(app): State<App>, token: CancellationToken) {
        tokio::spawn(async move {
            token.cancelled().await;
            app.counter.fetch_add(1, Ordering::SeqCst);
        });
    }
    let app = App::default();
    let server: Server = Server::new("worker", "1.0")
        .tool("leave", leave)
        .with_state(app.clone());
    Connection::memory(server)
        .call("leave", json!({}))
        .await
        .result();
    until(|| app.counter.load(Ordering::SeqCst) == 1).await;
}

#[tokio::test]
async fn who_calls() {
    async fn known(who: Principal) -> String {
        who.subject.unwrap_or_default()
    }
    async fn maybe(who: Option<Principal>) -> String {
        who.map_or("nobody".to_owned(), |who| format!("{:?}", who.subject))
    }
    async fn client(
        ClientInfo(info): ClientInfo,
        declared: ClientCapabilities,
        version: Version,
    ) -> String {
        format!("{} {} {version}", info.name, declared.roots.is_some())
    }
    let server: Server = Server::new("door", "1.0")
        .tool("known", known)
        .tool("maybe", maybe)
        .tool("client", client);
    let mut connection = Connection::memory(server.clone());
    let answer = connection.call("known", json!({})).await;
    assert_eq!(answer.result()["isError"], true);
    assert_eq!(answer.text(), "This needs a caller who is signed in.");
    assert_eq!(connection.call("maybe", json!({})).await.text(), "nobody");
    assert_eq!(
        connection.call("client", json!({})).await.text(),
        "tests true 2026-07-28"
    );
    let bare = request_as(&json!({}), 1, "tools/call", json!({ "name": "client" }));
    assert_eq!(connection.ask(&bare).await.text(), "tests false 2026-07-28");
    let (mut client, peer) = memory::pair();
    let anna = Principal::subject("anna");
    tokio::spawn(memory::serve_as(server, peer, Some(anna)));
    for (tool, text) in [("known", "anna"), ("maybe", "Some(\"anna\")")] {
        assert!(client.send(call(1, tool, json!({})).to_string()).await);
        let answer = client.receive().await.expect("an answer");
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        assert_eq!(answer["result"]["content"][0]["text"], text);
    }
}

/// On HTTP there are headers, elsewhere none.
#[tokio::test]
async fn headers() {
    async fn agent(headers: HeaderMap, maybe: Option<HeaderMap>) -> String {
        let method = headers
            .get("mcp-method")
            .map(|value| value.to_str().unwrap_or_default());
        format!("{method:?} {}", maybe.is_some())
    }
    let server: Server = Server::new("door", "1.0").tool("agent", agent);
    let mut memory = Connection::memory(server.clone());
    assert_eq!(memory.call("agent", json!({})).await.text(), "None false");
    let mut http = Connection::http(server).await;
    assert_eq!(
        http.call("agent", json!({})).await.text(),
        "Some(\"tools/call\") true"
    );
}

#[tokio::test]
async fn an_extension_nobody_attached_is_our_fault() {
    #[derive(Clone)]
    struct Tenant;
    async fn needs(_: Extension<Tenant>) {}
    async fn may(tenant: Option<Extension<Tenant>>) -> String {
        tenant.is_some().to_string()
    }
    let server: Server = Server::new("door", "1.0")
        .tool("needs", needs)
        .tool("may", may);
    let mut connection = Connection::memory(server);
    connection
        .call("needs", json!({}))
        .await
        .refused(-32603, 200);
    assert_eq!(connection.call("may", json!({})).await.text(), "false");
}

/// `Call` tells all of it, and can be kept.
#[tokio::test]
async fn the_whole_call_can_be_kept() {
    async fn tell(call: Call) -> Result<String, Stop> {
        if call.request_state_text().is_none() {
            let ask = InputRequired::ask("sure", yes_or_no("Sure?"));
            return Err(Stop::ask(ask.with_state("s")));
        }
        let told = tokio::spawn(async move {
            let sum: Sum = call.args().expect("checked already");
            let kind = call.kind() == CallKind::Tool;
            let trace = call.trace().traceparent.clone();
            format!(
                "{} {} {} {kind} {} {} {:?} {:?} {:?} {:?}",
                call.id(),
                call.method(),
                call.target(),
                sum.a,
                call.client_info().map_or("", |info| &info.name),
                call.meta().get("example.com/k"),
                trace,
                call.request_state_text(),
                call.responses().keys().collect::<Vec<_>>(),
            )
        });
        Ok(told.await.expect("no panic"))
    }
    let server: Server = Server::new("teller", "1.0").tool("tell", tell);
    let message = call("c-1", "tell", json!({ "a": 5 }));
    let mut message = with_meta(message, "example.com/k", 7);
    message["params"]["_meta"]["traceparent"] = "00-1-2-01".into();
    let mut connection = Connection::memory(server);
    let asked = connection.ask(&message).await;
    let answer = json!({ "sure": { "action": "decline" }, "other": { "action": "accept" } });
    let answer = connection.ask(&again(message, &asked, answer)).await;
    assert_eq!(
        answer.text(),
        "c-1 tools/call tell true 5 tests Some(Number(7)) Some(\"00-1-2-01\") Some(\"s\") [\"sure\"]"
    );
}

/// Nothing of what a call says is in its `Debug`.
#[tokio::test]
async fn debug_output_keeps_secrets() {
    struct Shown(String);
    impl<S: Sync> FromCall<S> for Shown {
        async fn from_call(call: &Context<'_>, _: &S) -> Result<Self, Stop> {
            Ok(Self(format!("{call:?}")))
        }
    }
    async fn show(call: Call, Shown(context): Shown) -> Result<String, Stop> {
        match call.request_state_text() {
            Some(state) => Ok(format!("{call:?} {context} {}", state.len())),
            None => {
                let ask = InputRequired::ask("k", yes_or_no("Sure?"));
                Err(Stop::ask(ask.with_state("hunter2")))
            }
        }
    }
    let server: Server = Server::new("teller", "1.0").tool("show", show);
    let message = call(1, "show", json!({ "password": "hunter2" }));
    let mut connection = Connection::memory(server);
    let asked = connection.ask(&message).await;
    let answer = json!({ "k": { "action": "hunter2" } });
    let answer = connection.ask(&again(message, &asked, answer)).await;
    assert!(answer.text().ends_with(" 7"), "{}", answer.text());
    assert!(answer.text().contains("show"), "{}", answer.text());
    assert!(!answer.text().contains("hunter2"), "{}", answer.text());
}

/// Extractors of one's own may wait, fail, and build on others.
#[tokio::test]
async fn own_extractors() {
    struct Customer(String);
    impl FromCall<App> for Customer {
        async fn from_call(call: &Context<'_>, app: &App) -> Result<Self, Stop> {
            tokio::task::yield_now().await;
            let State(Name(prefix)) = call.extract(app).await?;
            match call.client_info() {
                Some(info) => Ok(Self(prefix + &info.name)),
                None => Err(Stop::fail("Who are you?")),
            }
        }
    }
    async fn greet(Customer(name): Customer) -> String {
        format!("Hello, {name}.")
    }
    async fn try_greet(customer: Result<Customer, Stop>) -> String {
        match customer {
            Ok(Customer(name)) => name,
            Err(stop) => format!("no: {stop}"),
        }
    }
    let app = App {
        name: Name("dear ".to_owned()),
        ..App::default()
    };
    let server: Server = Server::new("shop", "1.0")
        .tool("greet", greet)
        .tool("try", try_greet)
        .with_state(app);
    let mut connection = Connection::memory(server);
    assert_eq!(
        connection.call("greet", json!({})).await.text(),
        "Hello, dear tests."
    );
    let anonymous = |tool: &str| {
        let mut message = call(1, tool, json!({}));
        let meta = message["params"]["_meta"]
            .as_object_mut()
            .expect("an object");
        meta.remove("io.modelcontextprotocol/clientInfo");
        message
    };
    let answer = connection.ask(&anonymous("greet")).await;
    assert_eq!(
        (answer.text(), &answer.result()["isError"]),
        ("Who are you?", &json!(true))
    );
    let answer = connection.ask(&anonymous("try")).await;
    assert_eq!(answer.text(), "no: Who are you?");
}

/// Extractors that do not ask are taken in their order, whatever their schemas say.
#[tokio::test]
async fn extractors_fail_in_their_order() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "it only has to be read")]
    struct Ranged {
        #[schemars(range(max = 3))]
        a: u8,
    }
    async fn first(_: Principal, _: Args<Ranged>) {}
    async fn last(_: Args<Ranged>, _: Principal) {}
    async fn caught(args: Result<Args<Ranged>, Stop>) -> String {
        args.map_or_else(|stop| stop.to_string(), |_| "fine".to_owned())
    }
    let server: Server = Server::new("order", "1.0")
        .tool("first", first)
        .tool("last", last)
        .tool("caught", caught);
    let mut connection = Connection::memory(server);
    let bad = json!({ "a": 4 });
    let signed = "This needs a caller who is signed in.";
    assert_eq!(connection.call("first", bad.clone()).await.text(), signed);
    let ranged = "- `a`: must be at most 3";
    let answer = connection.call("last", bad.clone()).await;
    assert_eq!(
        answer.text(),
        format!("Invalid arguments for `last`:\n{ranged}")
    );
    assert_eq!(connection.call("caught", bad).await.text(), ranged);
    assert_eq!(
        connection.call("caught", json!({ "a": 3 })).await.text(),
        "fine"
    );
}

/// An extractor that names arguments but reads them in its own way is not trusted to check them.
#[tokio::test]
async fn described_arguments_are_checked_however_they_are_read() {
    struct Raw(String);
    impl<S: Sync> FromCall<S> for Raw {
        async fn from_call(call: &Context<'_>, _: &S) -> Result<Self, Stop> {
            Ok(Self(
                call.arguments()
                    .map(ToString::to_string)
                    .unwrap_or_default(),
            ))
        }
        fn describe(description: &mut antiphon::Description) {
            description.arguments::<Sum>();
        }
    }
    let server: Server = Server::new("raw", "1.0").tool("raw", async |Raw(text): Raw| text);
    let mut connection = Connection::memory(server);
    assert_eq!(
        connection.call("raw", json!({ "a": 1 })).await.text(),
        r#"{"a":1}"#
    );
    let answer = connection.call("raw", json!({ "a": "x" })).await;
    assert_eq!(
        answer.text(),
        "Invalid arguments for `raw`:\n- `a`: must be a whole number"
    );
}

/// The same request once more, with the state that the answer to it brought and with answers.
fn again(mut message: Value, asked: &Exchange, answers: Value) -> Value {
    let state = &asked.result()["requestState"];
    assert!(state.is_string(), "{state}");
    message["params"]["requestState"] = state.clone();
    message["params"]["inputResponses"] = answers;
    message
}

fn yes_or_no(text: &str) -> InputRequest {
    let form = FormSchema::new().required("ok", BooleanSchema::new());
    ElicitRequestParams::form(text, form).into()
}

/// Asks under a key of its own, and counts how often.
struct Asks<const N: u8>;

impl<const N: u8> FromCall<App> for Asks<N> {
    const ASKS: bool = true;

    async fn from_call(call: &Context<'_>, app: &App) -> Result<Self, Stop> {
        app.counter.fetch_add(1, Ordering::SeqCst);
        let key = format!("k{N}");
        match call.responses().elicit(&key).given() {
            Some(_) => Ok(Self),
            None => Err(Stop::ask(InputRequired::ask(key, yes_or_no("Sure?")))),
        }
    }
}

/// Extractors that do not ask come first, wherever they stand, and the first that fails ends the
/// call; the others ask together. An answer counts in the round after its question, and in no
/// other.
#[tokio::test]
async fn extractors_that_ask_come_last_and_ask_together() {
    async fn order(_: Asks<1>, Args(sum): Args<Sum>, _: Asks<2>, _: Asks<3>) -> String {
        sum.a.to_string()
    }
    let app = App::default();
    let server: Server = Server::new("shop", "1.0")
        .tool("order", order)
        .with_state(app.clone());
    let mut connection = Connection::memory(server);
    let answer = connection.call("order", json!({ "a": "x" })).await;
    assert_eq!(answer.result()["isError"], true);
    assert_eq!(app.counter.load(Ordering::SeqCst), 0, "nothing asked");
    let message = call(1, "order", json!({ "a": 1 }));
    let asked = connection.ask(&message).await;
    assert_eq!(asked.result()["resultType"], "input_required");
    let keys = |answer: &Value| {
        let requests = answer["inputRequests"].as_object().expect("questions");
        requests.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(keys(asked.result()), ["k1", "k2", "k3"]);
    let yes = json!({ "action": "accept", "content": { "ok": true } });
    let all = json!({ "k1": yes, "k2": yes, "k3": yes });
    let two = again(message.clone(), &asked, json!({ "k1": yes, "k3": yes }));
    let asked = connection.ask(&two).await;
    assert_eq!(keys(asked.result()), ["k2"]);
    let asked = connection
        .ask(&again(message.clone(), &asked, all.clone()))
        .await;
    assert_eq!(keys(asked.result()), ["k1", "k3"]);
    // Nobody was asked for these.
    let mut unasked = message.clone();
    unasked["params"]["inputResponses"] = all.clone();
    let asked = connection.ask(&unasked).await;
    assert_eq!(keys(asked.result()), ["k1", "k2", "k3"]);
    let done = connection.ask(&again(message, &asked, all)).await;
    assert_eq!(done.text(), "1");
}

/// MRTR-S-01, PROMPT-S-06, RES-S-06, TOOL-S-22: all kinds can ask by hand, in every way to say so.
#[tokio::test]
async fn every_kind_can_ask_by_hand() {
    async fn ask(call: Call) -> Result<&'static str, Stop> {
        let sure = call.responses().elicit("sure").given();
        match (sure, call.request_state_text()) {
            (Some(_), Some("s1")) => Ok("done"),
            _ => {
                let ask = InputRequired::ask("sure", yes_or_no("Sure?"));
                Err(Stop::ask(ask.with_state("s1")))
            }
        }
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "it only has to be there")]
    struct Id {
        id: u8,
    }
    async fn ask_template(_: Args<Id>, call: Call) -> Result<&'static str, Stop> {
        ask(call).await
    }
    async fn always() -> InputRequired {
        InputRequired::ask("sure", yes_or_no("Sure?"))
    }
    async fn reply(call: Call) -> Result<Reply<CallToolResult>, Stop> {
        Ok(match call.request_state_text() {
            None => InputRequired::later("s1").into(),
            Some(state) => CallToolResult::text(state).into(),
        })
    }
    let server: Server = Server::new("asker", "1.0")
        .tool("ask", ask)
        .tool("always", always)
        .tool("reply", reply)
        .prompt("ask", ask)
        .resource("ask://static", ask)
        .resource("ask://{id}", ask_template);
    for mut connection in [
        Connection::memory(server.clone()),
        Connection::http(server).await,
    ] {
        for (method, params) in [
            ("tools/call", json!({ "name": "ask" })),
            ("prompts/get", json!({ "name": "ask" })),
            ("resources/read", json!({ "uri": "ask://static" })),
            ("resources/read", json!({ "uri": "ask://7" })),
        ] {
            let message = request(1, method, params);
            let asked = connection.ask(&message).await;
            assert_eq!(asked.result()["resultType"], "input_required", "{method}");
            let question = &asked.result()["inputRequests"]["sure"];
            assert_eq!(question["params"]["message"], "Sure?");
            let yes = json!({ "sure": { "action": "accept", "content": { "ok": true } } });
            let mut made_up = message.clone();
            made_up["params"]["requestState"] = "s1".into();
            made_up["params"]["inputResponses"] = yes.clone();
            let refused = connection.ask(&made_up).await;
            refused.refused(-32602, 200);
            let reason = &refused.response["error"]["data"]["reason"];
            assert_eq!(reason, "invalid_request_state", "{method}");
            let done = connection.ask(&again(message, &asked, yes)).await;
            assert_eq!(done.result()["resultType"], "complete");
            assert!(done.result().to_string().contains("done"), "{method}");
        }
        let asked = connection.call("always", json!({})).await;
        assert_eq!(asked.result()["resultType"], "input_required");
        let message = call(1, "reply", json!({}));
        let asked = connection.ask(&message).await;
        assert!(asked.result().get("inputRequests").is_none());
        let done = connection.ask(&again(message, &asked, json!({}))).await;
        assert_eq!(done.text(), "s1");
        // MRTR-S-20: a client that cannot be asked is not.
        let message = request_as(&json!({}), 1, "prompts/get", json!({ "name": "ask" }));
        connection.ask(&message).await.refused(-32021, 400);
    }
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    degrees: i32,
    sky: String,
}

/// TOOL-S-15, TOOL-S-16, TOOL-S-18 to TOOL-S-20
#[tokio::test]
async fn what_tools_return() {
    struct Celsius(f64);
    impl IntoReply<CallToolResult> for Celsius {
        fn into_reply(self, call: &Context<'_>) -> Result<Reply<CallToolResult>, Stop> {
            format!("{:.1} °C", self.0).into_reply(call)
        }
    }
    let weather = || Weather {
        degrees: 21,
        sky: "\"clear\"".to_owned(),
    };
    let server: Server = Server::new("replies", "1.0")
        .tool("unit", async || {})
        .tool("string", async || String::from("text"))
        .tool("cow", async || std::borrow::Cow::Borrowed("text"))
        .tool("json", move || async move { Json(weather()) })
        .tool("null", async || Json(Value::Null))
        .tool("image", async || Image::new([1, 2, 3], "image/png"))
        .tool("audio", async || Audio::new([1, 2, 3], "audio/wav"))
        .tool("block", async || ContentBlock::text("text"))
        .tool("blocks", async || {
            vec![ContentBlock::text("a"), Image::new([0], "image/png").into()]
        })
        .tool("embedded", async || ResourceContents::text("a://b", "text"))
        .tool("link", async || Resource::new("a://b", "b"))
        .tool("own", async || Celsius(21.04))
        .tool("result", async || Ok::<_, std::io::Error>("text"))
        .tool("whole", async || CallToolResult::text("text"));
    let mut connection = Connection::memory(server);
    let text = json!([{ "type": "text", "text": "text" }]);
    for (tool, content) in [
        ("unit", json!([])),
        ("string", text.clone()),
        ("cow", text.clone()),
        (
            "image",
            json!([{ "type": "image", "data": "AQID", "mimeType": "image/png" }]),
        ),
        (
            "audio",
            json!([{ "type": "audio", "data": "AQID", "mimeType": "audio/wav" }]),
        ),
        ("block", text.clone()),
        (
            "blocks",
            json!([{ "type": "text", "text": "a" }, { "type": "image", "data": "AA==", "mimeType": "image/png" }]),
        ),
        (
            "embedded",
            json!([{ "type": "resource", "resource": { "uri": "a://b", "text": "text" } }]),
        ),
        (
            "link",
            json!([{ "type": "resource_link", "uri": "a://b", "name": "b" }]),
        ),
        ("own", json!([{ "type": "text", "text": "21.0 °C" }])),
        ("result", text.clone()),
        ("whole", text),
    ] {
        let answer = connection.call(tool, json!({})).await;
        assert_eq!(answer.result()["content"], content, "{tool}");
        assert!(answer.result().get("structuredContent").is_none(), "{tool}");
        assert!(answer.result().get("isError").is_none(), "{tool}");
    }
    let answer = connection.call("json", json!({})).await;
    let expected = json!({ "degrees": 21, "sky": "\"clear\"" });
    assert_eq!(answer.result()["structuredContent"], expected);
    let content = answer.result()["content"].as_array().expect("content");
    assert_eq!(content.len(), 1, "the same JSON as a text, once");
    let text: Value = serde_json::from_str(answer.text()).expect("JSON");
    assert_eq!(text, expected);
    let answer = connection.call("null", json!({})).await;
    assert_eq!(answer.result().get("structuredContent"), Some(&Value::Null));
    assert_eq!(answer.text(), "null");
    let list = connection.request("tools/list", json!({})).await;
    let tools = list.result()["tools"].as_array().expect("tools");
    let schema = |name: &str| {
        let tool = tools
            .iter()
            .find(|tool| tool["name"] == name)
            .expect("listed");
        tool.get("outputSchema").cloned()
    };
    let properties = &schema("json").expect("a schema")["properties"];
    assert_eq!(properties["degrees"]["type"], "integer");
    assert_eq!(schema("null"), None, "a value of any kind says nothing");
    assert_eq!(schema("string"), None);
}

#[tokio::test]
async fn what_prompts_return() {
    let server: Server = Server::new("replies", "1.0")
        .prompt("text", async || "Hello")
        .prompt("messages", async || {
            Messages::new()
                .user("Hello")
                .assistant(Image::new([1], "image/png"))
                .description("A greeting")
        })
        .prompt("block", async || ContentBlock::text("Hello"))
        .prompt("fails", async || Err::<String, _>(Stop::fail("not today")));
    let mut connection = Connection::memory(server);
    let user = json!({ "role": "user", "content": { "type": "text", "text": "Hello" } });
    for name in ["text", "block"] {
        let answer = connection
            .request("prompts/get", json!({ "name": name }))
            .await;
        assert_eq!(answer.result()["messages"], json!([user]));
    }
    let answer = connection
        .request("prompts/get", json!({ "name": "messages" }))
        .await;
    assert_eq!(answer.result()["description"], "A greeting");
    let image = json!({ "role": "assistant", "content": { "type": "image", "data": "AQ==", "mimeType": "image/png" } });
    assert_eq!(answer.result()["messages"], json!([user, image]));
    let answer = connection
        .request("prompts/get", json!({ "name": "fails" }))
        .await;
    answer.refused(-32603, 200);
    assert_eq!(answer.response["error"]["message"], "not today");
}

/// RES-S-05, RES-S-14
#[tokio::test]
async fn what_resources_return() {
    let server: Server = Server::new("replies", "1.0")
        .resource("r://text", async || "text")
        .resource("r://bytes", async || vec![1_u8, 2, 3])
        .resource("r://json", async || Json(json!({ "a": 1 })))
        .add(antiphon::Resource::new("r://ld", async || Json(1)).mime_type("application/ld+json"))
        .resource("r://contents", async || {
            Contents::text("a")
                .uri("r://contents/a")
                .mime_type("text/x-a")
                .and(Contents::blob([0]))
        })
        .resource("r://missing", async || Err::<String, _>(Stop::not_found()));
    let mut connection = Connection::memory(server);
    for (uri, contents) in [
        ("r://text", json!([{ "uri": "r://text", "text": "text" }])),
        ("r://bytes", json!([{ "uri": "r://bytes", "blob": "AQID" }])),
        (
            "r://ld",
            json!([{ "uri": "r://ld", "mimeType": "application/ld+json", "text": "1" }]),
        ),
        (
            "r://json",
            json!([{ "uri": "r://json", "mimeType": "application/json", "text": "{\"a\":1}" }]),
        ),
        (
            "r://contents",
            json!([
                { "uri": "r://contents/a", "mimeType": "text/x-a", "text": "a" },
                { "uri": "r://contents", "blob": "AA==" },
            ]),
        ),
    ] {
        let answer = connection
            .request("resources/read", json!({ "uri": uri }))
            .await;
        assert_eq!(answer.result()["contents"], contents, "{uri}");
    }
    // RES-S-09
    for uri in ["r://missing", "r://nowhere"] {
        let answer = connection
            .request("resources/read", json!({ "uri": uri }))
            .await;
        answer.refused(-32602, 200);
        assert_eq!(answer.response["error"]["data"]["uri"], uri);
    }
}

/// A prefix belongs to completions alone.
#[tokio::test]
async fn a_tool_has_no_prefix() {
    async fn odd(_: Prefix) {}
    async fn fine(prefix: Option<Prefix>) -> String {
        prefix.is_some().to_string()
    }
    let server: Server = Server::new("odd", "1.0").tool("fine", fine);
    let error = server.insert(Tool::new("odd", odd)).expect_err("refused");
    assert!(error.to_string().contains("only a completion"), "{error}");
    let mut connection = Connection::memory(server);
    assert_eq!(connection.call("fine", json!({})).await.text(), "false");
}
