//! Arguments and results that violate their schema, and definitions that cannot be registered.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use antiphon::{
    Args, Call, Prompt, Resource, Server, State, Tool,
    schemars::{self, JsonSchema},
    types::CallToolResult,
};
use antiphon_tests::{call, wire::Connection};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

type Reached = Arc<AtomicUsize>;

/// Order books.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "it only has to be read")]
struct Order {
    /// Who pays.
    customer: String,
    #[schemars(length(min = 1))]
    lines: Vec<Line>,
    binding: Option<Binding>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "it only has to be read")]
struct Line {
    title: String,
    #[schemars(range(min = 1, max = 10))]
    copies: u32,
}

#[derive(Deserialize, JsonSchema)]
enum Binding {
    Soft,
    Hard,
}

async fn order(_: Args<Order>, State(reached): State<Reached>) -> &'static str {
    reached.fetch_add(1, Ordering::SeqCst);
    "ordered"
}

/// Nothing here that serde would not refuse by itself.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "it only has to be read")]
struct Plain {
    name: String,
    age: Option<u8>,
    parts: Option<Vec<Part>>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "it only has to be read")]
struct Part {
    size: i64,
}

async fn plain(_: Args<Plain>, State(reached): State<Reached>) -> &'static str {
    reached.fetch_add(1, Ordering::SeqCst);
    "read"
}

fn server() -> (Server<Reached>, Reached) {
    let server = Server::new("shop", "1.0")
        .tool("order", order)
        .tool("plain", plain);
    (server, Reached::default())
}

/// AMB-10, TOOL-S-24, TOOL-S-25: every offending path is named, no value is, and the handler never
/// runs.
#[tokio::test]
async fn violating_arguments_never_reach_the_handler() {
    let (server, reached) = server();
    let mut connection = Connection::memory(server.with_state::<()>(reached.clone()));
    let line = json!({ "title": "Dune", "copies": 1 });
    for (tool, arguments, paths) in [
        ("order", json!({}), &["`customer`", "`lines`"][..]),
        (
            "order",
            json!({ "customer": "hunter2", "lines": [] }),
            &["`lines`"],
        ),
        (
            "order",
            json!({ "customer": 7, "lines": [line] }),
            &["`customer`"],
        ),
        (
            "order",
            json!({ "customer": "a", "lines": [line, { "copies": 11 }, { "title": "x", "copies": "hunter2" }] }),
            &["`lines[1].copies`", "`lines[1].title`", "`lines[2].copies`"],
        ),
        (
            "order",
            json!({ "customer": "a", "lines": [line], "binding": "hunter2" }),
            &["`binding`"],
        ),
        // A struct is no list of its fields, and a variant no object, whatever serde thinks.
        (
            "order",
            json!({ "customer": "a", "lines": [["Dune", 1]] }),
            &["`lines[0]`"],
        ),
        (
            "order",
            json!({ "customer": "a", "lines": [line], "binding": { "Hard": null } }),
            &["`binding`"],
        ),
        ("plain", json!({ "name": null }), &["`name`"]),
        ("plain", json!({ "name": "a", "age": 300 }), &["`age`"]),
        ("plain", json!({ "name": "a", "age": -1 }), &["`age`"]),
        (
            "plain",
            json!({ "name": "a", "age": "hunter2" }),
            &["`age`"],
        ),
        (
            "plain",
            json!({ "name": "a", "parts": [{ "size": 1 }, [2]] }),
            &["`parts[1]`"],
        ),
    ] {
        let answer = connection.call(tool, arguments.clone()).await;
        assert_eq!(answer.result()["isError"], true, "{arguments}");
        let text = answer.text();
        assert!(
            text.starts_with(&format!("Invalid arguments for `{tool}`:\n- ")),
            "{text}"
        );
        assert_eq!(text.lines().count(), 1 + paths.len(), "{text}");
        for path in paths {
            assert!(text.contains(path), "{path} in {text}");
        }
        assert!(!text.contains("hunter2"), "{text}");
        assert!(!text.contains("line 1 column"), "{text}");
    }
    assert_eq!(reached.load(Ordering::SeqCst), 0);
    for (tool, arguments) in [
        (
            "order",
            json!({ "customer": "a", "lines": [line], "binding": "Hard" }),
        ),
        ("plain", json!({ "name": "a", "age": null, "more": true })),
    ] {
        let answer = connection.call(tool, arguments).await;
        assert!(
            answer.result().get("isError").is_none(),
            "{}",
            answer.text()
        );
    }
    assert_eq!(reached.load(Ordering::SeqCst), 2);
}

/// To JSON Schema `2.0` is a whole number, so it is one to a handler.
#[tokio::test]
async fn what_the_schema_allows_is_read() {
    #[derive(Deserialize, JsonSchema)]
    struct Whole {
        n: u32,
        more: Vec<i64>,
    }
    async fn whole(Args(Whole { n, more }): Args<Whole>) -> String {
        format!("{n} {more:?}")
    }
    let server: Server = Server::new("numbers", "1.0").tool("whole", whole);
    let mut connection = Connection::memory(server);
    let answer = connection
        .call("whole", json!({ "n": 2.0, "more": [-1.0, 3] }))
        .await;
    assert_eq!(answer.text(), "2 [-1, 3]");
    let answer = connection
        .call("whole", json!({ "n": 2.5, "more": [] }))
        .await;
    assert_eq!(
        answer.text(),
        "Invalid arguments for `whole`:\n- `n`: must be a whole number"
    );
}

/// What the schema has no word for, the type explains.
#[tokio::test]
async fn what_only_the_type_refuses_is_explained() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "it only has to be read")]
    struct Aliased {
        #[serde(alias = "n")]
        count: u32,
    }
    let server: Server = Server::new("odd", "1.0").tool("odd", async |_: Args<Aliased>| "read");
    let mut connection = Connection::memory(server);
    assert_eq!(
        connection.call("odd", json!({ "count": 1 })).await.text(),
        "read"
    );
    let answer = connection.call("odd", json!({ "count": 1, "n": 2 })).await;
    let told = "Invalid arguments for `odd`:\n- the whole: duplicate field `count`";
    assert_eq!(answer.text(), told);
}

/// A name that stands twice could be checked as one and read as the other.
#[tokio::test]
async fn a_name_stands_once() {
    let schema = json!({ "type": "object", "properties": { "path": { "pattern": "^/safe/" } } });
    let tool = Tool::new("read", async |call: Call| {
        call.arguments()
            .map(ToString::to_string)
            .unwrap_or_default()
    });
    let server: Server = Server::new("gate", "1.0").add(tool.input_schema(schema));
    let mut connection = Connection::memory(server);
    let message = call(1, "read", json!("ARGUMENTS")).to_string();
    let twice = message.replace(
        "\"ARGUMENTS\"",
        r#"{"path":"/etc/passwd","path":"/safe/x"}"#,
    );
    connection.send_text(&twice).await;
    let answer = connection.receive().await.expect("an answer");
    let told = "Invalid arguments for `read`:\n- `path`: stands twice";
    assert_eq!(answer["result"]["content"][0]["text"], told);
}

/// A filter that nests is refused as soon as any other, and the place is named.
#[tokio::test]
async fn what_nests_is_refused_soon() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "op")]
    #[expect(dead_code, reason = "it only has to be read")]
    enum Filter {
        And { of: Vec<Self> },
        Or { of: Vec<Self> },
        Not { of: Vec<Self> },
        Leaf { n: i64 },
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "it only has to be read")]
    struct Search {
        q: Filter,
    }
    let server: Server =
        Server::new("search", "1.0").tool("search", async |_: Args<Search>| "found");
    let mut connection = Connection::memory(server);
    let nested = |leaf: Value| (0..25).fold(leaf, |inner, _| json!({ "op": "And", "of": [inner] }));
    let bad = nested(json!({ "op": "Leaf", "n": "x" }));
    let answer = connection.call("search", json!({ "q": bad })).await;
    let path = format!("q{}.n", ".of[0]".repeat(25));
    let told = format!("Invalid arguments for `search`:\n- `{path}`: must be a whole number");
    assert_eq!(answer.text(), told);
    let good = nested(json!({ "op": "Leaf", "n": 1 }));
    assert_eq!(
        connection.call("search", json!({ "q": good })).await.text(),
        "found"
    );
}

/// A model is told which names there are.
#[tokio::test]
async fn a_wrong_name_is_told_the_right_ones() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Priority {
        Low,
        /// Drop everything else.
        High,
    }
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind", rename_all = "snake_case")]
    #[expect(dead_code, reason = "it only has to be read")]
    enum Reason {
        Fixed { commit: String },
        Duplicate { of: u64 },
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "it only has to be read")]
    struct Close {
        binding: Option<Binding>,
        priority: Option<Priority>,
        reason: Option<Reason>,
    }
    let server: Server =
        Server::new("issues", "1.0").tool("close", async |_: Args<Close>| "closed");
    let mut connection = Connection::memory(server);
    for (arguments, told) in [
        (
            json!({ "binding": "x" }),
            "- `binding`: must be one of \"Soft\", \"Hard\"",
        ),
        (
            json!({ "priority": "x" }),
            "- `priority`: must be one of \"low\", \"high\"",
        ),
        (
            json!({ "reason": { "kind": "x" } }),
            "- `reason.kind`: must be one of \"fixed\", \"duplicate\"",
        ),
        (json!({ "reason": {} }), "- `reason.kind`: is missing"),
        (
            json!({ "reason": { "kind": "fixed" } }),
            "- `reason.commit`: is missing",
        ),
    ] {
        let answer = connection.call("close", arguments.clone()).await;
        assert_eq!(
            answer.text(),
            format!("Invalid arguments for `close`:\n{told}"),
            "{arguments}"
        );
    }
    for arguments in [
        json!({}),
        json!({ "binding": null, "priority": "high", "reason": { "kind": "duplicate", "of": 7 } }),
    ] {
        assert_eq!(connection.call("close", arguments).await.text(), "closed");
    }
}

/// AMB-10 is switchable.
#[tokio::test]
async fn violating_arguments_can_be_rejected_instead() {
    let (server, reached) = server();
    let server = server
        .reject_invalid_arguments()
        .with_state::<()>(reached.clone());
    for mut connection in [
        Connection::memory(server.clone()),
        Connection::http(server).await,
    ] {
        let answer = connection
            .call(
                "order",
                json!({ "customer": "a", "lines": [{ "copies": 0 }] }),
            )
            .await;
        answer.refused(-32602, 200);
        let violations = &answer.response["error"]["data"]["violations"];
        let paths: Vec<_> = violations
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| one["path"].as_str())
            .collect();
        assert_eq!(paths, [Some("lines[0].title"), Some("lines[0].copies")]);
        assert!(violations[0]["message"].is_string());
    }
    assert_eq!(reached.load(Ordering::SeqCst), 0);
}

/// What a client reads about a tool comes from the types.
#[tokio::test]
async fn definitions_come_from_the_types() {
    let (server, reached) = server();
    let wipe = Tool::new("wipe", async |_: Args<Part>| {})
        .title("Wipe it")
        .description("Wipes a part.")
        .destructive()
        .icon("https://example.com/wipe.png");
    let server = server.add(wipe).with_state::<()>(reached);
    let mut connection = Connection::memory(server);
    let list = connection.request("tools/list", json!({})).await;
    let tools = list.result()["tools"].as_array().expect("tools");
    let order = &tools[0];
    assert_eq!(order["description"], "Order books.");
    let schema = &order["inputSchema"];
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["required"], json!(["customer", "lines"]));
    assert_eq!(
        schema["properties"]["customer"],
        json!({ "type": "string", "description": "Who pays." })
    );
    let line = &schema["$defs"]["Line"]["properties"]["copies"];
    assert_eq!(
        (&line["minimum"], &line["maximum"]),
        (&json!(1), &json!(10))
    );
    for noise in ["$schema", "title", "description"] {
        assert!(schema.get(noise).is_none(), "{noise}");
    }
    assert!(!schema.to_string().contains("uint32"), "{schema}");
    let wipe = &tools[2];
    assert_eq!(
        (&wipe["title"], &wipe["description"]),
        (&json!("Wipe it"), &json!("Wipes a part."))
    );
    assert_eq!(
        wipe["annotations"],
        json!({ "readOnlyHint": false, "destructiveHint": true })
    );
    assert_eq!(
        wipe["icons"],
        json!([{ "src": "https://example.com/wipe.png" }])
    );
}

#[tokio::test]
async fn a_schema_can_be_written_by_hand() {
    let schema = json!({
        "type": "object",
        "properties": { "from": { "type": "string" }, "to": { "type": "string" } },
        "anyOf": [{ "required": ["from"] }, { "required": ["to"] }],
        "additionalProperties": false,
    });
    async fn raw(call: Call) -> String {
        call.arguments()
            .map(ToString::to_string)
            .unwrap_or_default()
    }
    let tool = Tool::new("raw", raw).input_schema(schema.clone());
    let server: Server = Server::new("raw", "1.0").add(tool);
    let mut connection = Connection::memory(server);
    let list = connection.request("tools/list", json!({})).await;
    assert_eq!(list.result()["tools"][0]["inputSchema"], schema);
    assert_eq!(
        connection.call("raw", json!({ "to": "x" })).await.text(),
        r#"{"to":"x"}"#
    );
    for bad in [
        json!({}),
        json!({ "to": 1 }),
        json!({ "to": "x", "other": 1 }),
    ] {
        assert_eq!(
            connection.call("raw", bad.clone()).await.result()["isError"],
            true,
            "{bad}"
        );
    }
}

#[derive(Serialize, JsonSchema)]
struct Count {
    #[schemars(range(max = 10))]
    total: u32,
}

/// TOOL-S-21: a result that breaks its promise is not sent; one that failed may be anything.
#[tokio::test]
async fn structured_results_are_checked() {
    #[derive(Deserialize, JsonSchema)]
    struct Which {
        total: u32,
    }
    async fn typed(Args(Which { total }): Args<Which>) -> antiphon::Json<Count> {
        antiphon::Json(Count { total })
    }
    async fn by_hand(Args(which): Args<Value>) -> CallToolResult {
        match &which["structured"] {
            Value::Null if which["error"] == true => CallToolResult::error("it failed"),
            Value::Null => CallToolResult::text("nothing structured"),
            value => CallToolResult::text("structured").structured(value.clone()),
        }
    }
    let server: Server = Server::new("counter", "1.0")
        .tool("typed", typed)
        .add(Tool::new("by_hand", by_hand).output::<Count>())
        .add(Tool::new("by_schema", by_hand).output_schema(json!({ "type": "integer" })));
    let mut connection = Connection::memory(server);
    let good = connection.call("typed", json!({ "total": 10 })).await;
    assert_eq!(good.result()["structuredContent"], json!({ "total": 10 }));
    let text = json!([{ "type": "text", "text": "{\"total\":10}" }]);
    assert_eq!(good.result()["content"], text);
    let good = connection
        .call("by_hand", json!({ "structured": { "total": 3 } }))
        .await;
    assert_eq!(good.result()["structuredContent"], json!({ "total": 3 }));
    let good = connection
        .call("by_schema", json!({ "structured": 3 }))
        .await;
    assert_eq!(good.result()["structuredContent"], 3);
    for (tool, arguments) in [
        ("typed", json!({ "total": 11 })),
        ("by_hand", json!({})),
        ("by_hand", json!({ "structured": { "total": "hunter2" } })),
        ("by_schema", json!({ "structured": "hunter2" })),
    ] {
        let bad = connection.call(tool, arguments.clone()).await;
        assert_eq!(bad.result()["isError"], true, "{tool} {arguments}");
        assert_eq!(
            bad.text(),
            format!("The result of `{tool}` is not what its output schema promises.")
        );
        assert!(bad.result().get("structuredContent").is_none());
    }
    let failed = connection.call("by_hand", json!({ "error": true })).await;
    assert_eq!(failed.text(), "it failed");
}

#[derive(Deserialize, JsonSchema)]
struct Region {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

async fn in_region(Args(Region { region }): Args<Region>) -> String {
    region
}

/// HDR-S-17: on HTTP the header must say what the argument says.
#[tokio::test]
async fn mirrored_arguments_are_compared() {
    let server: Server = Server::new("regions", "1.0").tool("where", in_region);
    let mut connection = Connection::http(server).await;
    let list = connection.request("tools/list", json!({})).await;
    let schema = &list.result()["tools"][0]["inputSchema"];
    assert_eq!(schema["properties"]["region"]["x-mcp-header"], "Region");
    let Connection::Http(http) = &connection else {
        panic!("it is HTTP")
    };
    let message = call(1, "where", json!({ "region": "eu" }));
    for (header, code) in [
        (Some("eu"), None),
        (Some("us"), Some(-32020)),
        (None, Some(-32020)),
    ] {
        let mut request = antiphon_tests::http::post(&message);
        if let Some(value) = header {
            let value = value.parse().expect("a header");
            request.headers_mut().insert("mcp-param-region", value);
        }
        let answer = http.send(request).await;
        let answer = answer.messages.last().expect("an answer").clone();
        assert_eq!(answer["error"]["code"].as_i64(), code, "{answer}");
    }
}

/// TOOL-S-08, TOOL-S-11 to TOOL-S-14, RES-S-19, RES-S-20: what cannot be right is refused when it
/// is registered, with a reason; nothing has changed then.
#[tokio::test]
async fn what_cannot_be_registered_is_refused() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "it only has a schema")]
    struct Headers {
        #[schemars(extend("x-mcp-header" = "not a token"))]
        a: String,
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "it only has a schema")]
    struct Nested {
        part: Part,
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "it only has a schema")]
    struct Disagrees {
        size: String,
    }
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "it only has a schema")]
    struct Closed {
        other: String,
    }
    let server: Server = Server::new("strict", "1.0").tool("taken", async || {});
    let long = "x".repeat(129);
    let nothing = async || {};
    let text = async || "";
    for (tool, why) in [
        (Tool::new("", nothing), "the tool name \"\" is not 1 to 128"),
        (Tool::new("a b", nothing), "the tool name \"a b\" is not"),
        (Tool::new("a,b", nothing), "the tool name"),
        (Tool::new("ä", nothing), "the tool name"),
        (Tool::new(long, nothing), "the tool name"),
        (
            Tool::new("taken", nothing),
            "there is a tool `taken` already",
        ),
        (
            Tool::new("list", async |_: Args<Vec<u8>>| {}),
            "arguments are an object",
        ),
        (
            Tool::new("header", async |_: Args<Headers>| {}),
            "a bad `x-mcp-header`",
        ),
        (
            Tool::new("two", async |_: Args<Part>, _: Args<Disagrees>| {}),
            "disagree about `size`",
        ),
        (
            Tool::new("closed", async |_: Args<Part>, _: Args<Closed>| {}),
            "allows no other members",
        ),
        (
            Tool::new("type", nothing).input_schema(json!({ "type": "string" })),
            "arguments are an object",
        ),
        (
            Tool::new("no", nothing).input_schema(json!(true)),
            "a bad input schema",
        ),
        (
            Tool::new("bad", nothing).input_schema(json!({ "type": "object", "properties": 7 })),
            "a bad input schema",
        ),
        (
            Tool::new("remote", nothing)
                .input_schema(json!({ "type": "object", "$ref": "https://example.com/s.json" })),
            "a bad input schema",
        ),
        (
            Tool::new("out", nothing).output_schema(json!({ "type": 7 })),
            "a bad output schema",
        ),
        (
            Tool::new("out", nothing).output_schema(json!(7)),
            "a bad output schema",
        ),
    ] {
        let error = server.insert(tool).expect_err(why).to_string();
        assert!(error.contains(why), "{why}: {error}");
    }
    for (prompt, why) in [
        (Prompt::new("", text), "the prompt name"),
        (Prompt::new("a\nb", text), "the prompt name"),
        (Prompt::new("nested", async |_: Args<Nested>| ""), "`part`"),
        (
            Prompt::new("who", text).choices("x", ["a"]),
            "no argument `x`",
        ),
    ] {
        let error = server.insert(prompt).expect_err(why).to_string();
        assert!(error.contains(why), "{why}: {error}");
    }
    for (resource, why) in [
        (Resource::new("terms", text), "begins with a scheme"),
        (Resource::new("a://b c", text), "no spaces"),
        (Resource::new("a://{x", text), "a://{x"),
        (Resource::new("a://{x}{y}", text), "a://{x}{y}"),
        (
            Resource::new("a://{y}", async |_: Args<Part>| ""),
            "needs `size`",
        ),
        (
            Resource::new("a://{x}", text).choices("y", ["a"]),
            "no variable `y`",
        ),
        (
            Resource::new("a://b", text).list(async || Vec::<antiphon::types::Resource>::new()),
            "only a template",
        ),
    ] {
        let error = server.insert(resource).expect_err(why).to_string();
        assert!(error.contains(why), "{why}: {error}");
    }
    let mut connection = Connection::memory(server);
    let list = connection.request("tools/list", json!({})).await;
    assert_eq!(list.result()["tools"].as_array().expect("tools").len(), 1);
}

#[test]
#[should_panic(expected = "there is a tool `a` already")]
fn a_builder_panics_with_the_reason() {
    let _: Server = Server::new("strict", "1.0")
        .tool("a", async || {})
        .tool("a", async || {});
}

#[test]
#[should_panic(expected = "a server needs a name")]
fn a_server_needs_a_name() {
    let _: Server = Server::new(" ", "1.0");
}

/// Prompts and templates are as strict, though their arguments are strings.
#[tokio::test]
async fn string_arguments_are_typed_and_checked() {
    #[derive(Deserialize, JsonSchema)]
    struct Book {
        #[schemars(range(min = 10))]
        isbn: u32,
        binding: Option<Binding>,
        gift: Option<bool>,
    }
    async fn book(Args(book): Args<Book>, State(reached): State<Reached>) -> String {
        reached.fetch_add(1, Ordering::SeqCst);
        let hard = matches!(book.binding, Some(Binding::Hard));
        format!("{} {hard} {:?}", book.isbn, book.gift)
    }
    let reached = Reached::default();
    let server: Server = Server::new("shop", "1.0")
        .prompt("book", book)
        .resource("shop://books/{isbn}{?binding,gift}", book)
        .with_state(reached.clone());
    let mut connection = Connection::memory(server);
    let get = |arguments: Value| json!({ "name": "book", "arguments": arguments });
    let good = connection
        .request(
            "prompts/get",
            get(json!({ "isbn": "42", "binding": "Hard", "gift": "true" })),
        )
        .await;
    assert_eq!(
        good.result()["messages"][0]["content"]["text"],
        "42 true Some(true)"
    );
    // What was left blank was not given.
    let blank = json!({ "isbn": "42", "binding": "Soft", "gift": "" });
    let good = connection.request("prompts/get", get(blank)).await;
    let text = &good.result()["messages"][0]["content"]["text"];
    assert_eq!(text, "42 false None");
    let read = |uri: &str| json!({ "uri": uri });
    let good = connection
        .request("resources/read", read("shop://books/42?gift=false"))
        .await;
    assert_eq!(good.result()["contents"][0]["text"], "42 false Some(false)");
    assert_eq!(reached.load(Ordering::SeqCst), 3);
    for (arguments, path) in [
        (json!({}), "`isbn`"),
        (json!({ "isbn": "x" }), "`isbn`"),
        (json!({ "isbn": "9" }), "`isbn`"),
        (json!({ "isbn": "42", "binding": "Leather" }), "`binding`"),
        (json!({ "isbn": "42", "gift": "maybe" }), "`gift`"),
        (json!({ "isbn": 42 }), "strings"),
    ] {
        let answer = connection
            .request("prompts/get", get(arguments.clone()))
            .await;
        answer.refused(-32602, 200);
        let text = answer.response["error"]["message"]
            .as_str()
            .expect("a text");
        assert!(text.contains(path), "{arguments}: {text}");
    }
    for uri in ["shop://books/x", "shop://books/9", "shop://books/42?gift=7"] {
        connection
            .request("resources/read", read(uri))
            .await
            .refused(-32602, 200);
    }
    assert_eq!(reached.load(Ordering::SeqCst), 3);
    let list = connection.request("prompts/list", json!({})).await;
    let arguments = &list.result()["prompts"][0]["arguments"];
    assert_eq!(arguments[0], json!({ "name": "isbn", "required": true }));
    assert_eq!(
        arguments[1],
        json!({ "name": "binding", "required": false })
    );
}
