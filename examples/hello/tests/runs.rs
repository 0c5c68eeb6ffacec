//! What a client sees of the example.

use antiphon_tests::{call, request, wire::Connection};
use serde_json::json;

#[tokio::test]
async fn it_greets_by_name() {
    let mut hello = Connection::stdio(env!("CARGO_BIN_EXE_hello"), &[]);
    let greeting = hello.ask(&call(1, "greet", json!({ "name": "Ada" }))).await;
    assert_eq!(greeting.text(), "Hello, Ada!");
}

#[tokio::test]
async fn doc_comments_are_what_the_model_reads() {
    let mut hello = Connection::stdio(env!("CARGO_BIN_EXE_hello"), &[]);
    let tools = hello.ask(&request(1, "tools/list", json!({}))).await;
    let greet = &tools.result()["tools"][0];
    assert_eq!(greet["description"], "Greet someone by name.");
    let name = &greet["inputSchema"]["properties"]["name"];
    assert_eq!(name["description"], "Who to greet.");
    assert_eq!(greet["inputSchema"]["required"], json!(["name"]));
}
