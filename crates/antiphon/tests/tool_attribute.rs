//! What clients see of a tool that was written with `#[tool]`.

use antiphon::{Server, State, Stop, Tool, memory, tool};
use serde_json::{Value, json};

#[derive(Clone)]
struct Calculator {
    limit: i64,
}

/// Add numbers.
///
/// They are whole.
#[tool(
    title = "Add",
    icon = "https://example.com/add.png",
    read_only,
    idempotent,
    open_world = false
)]
async fn add(
    /// The first.
    #[arg]
    a: i64,
    #[arg] b: Option<i64>,
    State(calculator): State<Calculator>,
    #[arg(default)] mut rest: Vec<i64>,
    #[arg]
    #[serde(rename = "roundTo")]
    #[schemars(range(min = 1))]
    round_to: Option<u8>,
) -> Result<String, Stop> {
    rest.push(a);
    rest.extend(b);
    let sum: i64 = rest.iter().sum();
    let sum = round_to.map_or(sum, |to| sum / i64::from(to) * i64::from(to));
    match sum <= calculator.limit {
        true => Ok(sum.to_string()),
        false => Err(Stop::fail("That is too much.")),
    }
}

/// Not this.
#[tool(name = "clock.now", description = "Tell the time.", destructive)]
async fn now() -> &'static str {
    "noon"
}

fn server() -> Server {
    Server::new("calculator", "1.0")
        .add(add())
        .add(now())
        .with_state(Calculator { limit: 100 })
}

async fn result(server: Server, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let mut client = memory::connect(server);
    assert!(client.send(request.to_string()).await);
    let answer = client.receive().await.expect("there is an answer");
    let answer: Value = serde_json::from_slice(&answer).expect("it is JSON");
    answer["result"].clone()
}

async fn called(arguments: Value) -> Value {
    let params = json!({ "name": "add", "arguments": arguments });
    result(server(), "tools/call", params).await
}

#[tokio::test]
async fn the_definition_says_what_the_function_says() {
    let list = result(server(), "tools/list", json!({})).await;
    let tool = |name: &str| {
        let tools = list["tools"].as_array().expect("there are tools");
        let found = tools.iter().find(|tool| tool["name"] == name);
        found.unwrap_or_else(|| panic!("no {name}: {list}")).clone()
    };

    let add = tool("add");
    assert_eq!(add["title"], "Add");
    assert_eq!(add["description"], "Add numbers.\n\nThey are whole.");
    assert_eq!(add["icons"][0]["src"], "https://example.com/add.png");
    assert_eq!(
        add["annotations"],
        json!({ "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false })
    );
    let input = &add["inputSchema"];
    assert_eq!(input["required"], json!(["a"]));
    assert_eq!(
        input["properties"]["a"],
        json!({ "type": "integer", "description": "The first." })
    );
    assert_eq!(input["properties"]["rest"]["default"], json!([]));
    assert_eq!(input["properties"]["roundTo"]["minimum"], 1);

    let now = tool("clock.now");
    assert_eq!(now["description"], "Tell the time.");
    assert_eq!(now["annotations"]["destructiveHint"], true);
}

#[tokio::test]
async fn arguments_arrive_under_their_names() {
    let sum = called(json!({ "a": 1 })).await;
    assert_eq!(sum["content"][0]["text"], "1");
    let sum = called(json!({ "a": 1, "b": 20, "rest": [30, 4], "roundTo": 10 })).await;
    assert_eq!(sum["content"][0]["text"], "50");
}

#[tokio::test]
async fn a_failure_and_a_bad_argument_are_results_for_the_model() {
    let failed = called(json!({ "a": 101 })).await;
    assert_eq!(failed["isError"], true);
    assert_eq!(failed["content"][0]["text"], "That is too much.");
    for bad in [
        json!({}),
        json!({ "a": "one" }),
        json!({ "a": 1, "roundTo": 0 }),
    ] {
        assert_eq!(called(bad.clone()).await["isError"], true, "{bad}");
    }
}

#[tokio::test]
async fn a_tool_can_bring_its_own_state_to_any_server() {
    let bound: Tool = add().with_state(Calculator { limit: 1 });
    let server = Server::new("other", "1.0").add(bound);
    let params = json!({ "name": "add", "arguments": { "a": 2 } });
    let failed = result(server, "tools/call", params).await;
    assert_eq!(failed["content"][0]["text"], "That is too much.");
}
