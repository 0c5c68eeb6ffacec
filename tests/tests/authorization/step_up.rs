//! What a token is not good for, and how its owner is told what would be.

use antiphon::{
    Client,
    auth::Principal,
    http::service,
    memory,
    raw::{Answering, Call, CallTool, Endpoint, Error, Reply, Service},
    types::CallToolResult,
};
use antiphon_tests::{
    call,
    http::Answer,
    log::Log,
    older_http::{self, Older},
    request, with_meta,
};
use serde_json::{Value, json};

use crate::{
    Running,
    files::{self, Done},
};

async fn running() -> (Running, Done) {
    let done = Done::default();
    let server = Running::start(|url| files::protected(&url, &done)).await;
    (server, done)
}

/// What a token with all these scopes would be good for.
fn challenge(server: &Running, scopes: &str) -> String {
    let metadata = server.metadata_url();
    format!(
        r#"Bearer error="insufficient_scope", scope="{scopes}", resource_metadata="{metadata}""#
    )
}

#[track_caller]
fn refused(answer: &Answer, challenge: &str, id: i64, scopes: &[&str]) {
    assert_eq!(
        (answer.status, answer.header("www-authenticate")),
        (403, challenge),
        "{}",
        answer.text
    );
    let message = answer.last();
    assert_eq!((&message["id"], answer.code()), (&json!(id), -32600));
    let data = json!({"reason": "insufficient_scope", "requiredScopes": scopes});
    assert_eq!(message["error"]["data"], data);
}

/// AUTH-S-12, AUTH-S-13, AUTH-S-14: with the request's id, and everything that is needed at once.
#[tokio::test]
async fn a_request_that_needs_more_is_told_so() {
    let (server, done) = running().await;
    let write = |method: &str, params: Value| (request(7, method, params), &["files:write"][..]);
    let argument = json!({"name": "name", "value": ""});
    for ((message, scopes), all) in [
        (
            (call(7, "write", json!({})), &["files:write"][..]),
            "files:read files:write",
        ),
        (
            (call(7, "merged", json!({})), &["files:write"]),
            "files:read files:write",
        ),
        // Before its arguments are looked at, and in one go.
        (
            (
                call(7, "strict", json!({"no": "name"})),
                &["files:write", "files:strict"],
            ),
            "files:read files:write files:strict",
        ),
        // What shows only when it runs: in an extractor, in a layer.
        (
            (call(7, "delete", json!({})), &["files:delete"]),
            "files:read files:delete",
        ),
        (
            (call(7, "locked", json!({})), &["files:unlock"]),
            "files:read files:unlock",
        ),
        (
            write("prompts/get", json!({"name": "brief", "arguments": {}})),
            "files:read files:write",
        ),
        (
            write("resources/read", json!({"uri": "files://plan"})),
            "files:read files:write",
        ),
        (
            write("resources/read", json!({"uri": "files://notes/one"})),
            "files:read files:write",
        ),
        (
            write(
                "completion/complete",
                json!({"ref": {"type": "ref/prompt", "name": "brief"}, "argument": argument}),
            ),
            "files:read files:write",
        ),
        (
            write(
                "completion/complete",
                json!({"ref": {"type": "ref/resource", "uri": "files://notes/{name}"}, "argument": argument}),
            ),
            "files:read files:write",
        ),
    ] {
        let answer = server.post("reader", &message).await;
        refused(&answer, &challenge(&server, all), 7, scopes);
    }
    assert_eq!(done.count(), 0);
    for tool in ["write", "merged", "delete", "locked"] {
        let answer = server.post("all", &call(1, tool, json!({}))).await;
        assert_eq!(answer.status, 200, "{tool}: {}", answer.text);
        assert!(
            answer.last()["result"]["isError"].is_null(),
            "{}",
            answer.text
        );
    }
    assert_eq!(done.count(), 2);
}

/// Everybody sees what there is to be had: a client cannot ask for what it does not know of. What is
/// in it is another matter.
#[tokio::test]
async fn lists_tell_what_there_is_and_not_what_is_in_it() {
    let (server, _) = running().await;
    let list = async |token: &str, method: &str| {
        let answer = server.post(token, &request(1, method, json!({}))).await;
        assert_eq!(answer.status, 200);
        answer.last()["result"].clone()
    };
    for token in ["reader", "writer"] {
        let tools = list(token, "tools/list").await;
        assert!(tools.to_string().contains(r#""write""#), "{tools}");
        let resources = list(token, "resources/list").await.to_string();
        assert!(resources.contains("files://plan"), "{resources}");
        let told = resources.contains("files://notes/one");
        assert_eq!(told, token == "writer", "{resources}");
    }
}

/// Nobody is told of changes of what they may not read.
#[tokio::test]
async fn who_may_not_read_may_not_watch() {
    let (server, _) = running().await;
    for (token, watched) in [("reader", json!([])), ("writer", json!(["files://plan"]))] {
        let filter = json!({"notifications": {"resourceSubscriptions": ["files://plan"]}});
        let mut message = antiphon_tests::http::post(&request(1, "subscriptions/listen", filter));
        let bearer = format!("Bearer {token}").parse().expect("a header");
        message.headers_mut().insert("authorization", bearer);
        let response = antiphon_tests::http::open(server.address, message).await;
        let first = older_http::Events::of(response).message().await;
        let honoured = &first.data["params"]["notifications"]["resourceSubscriptions"];
        assert_eq!(*honoured, watched, "{}", first.data);
    }
}

/// AMB-04: where the answer has begun, its status is said.
#[tokio::test]
async fn a_stream_ends_with_an_error() {
    let (server, _) = running().await;
    let message = with_meta(call(7, "slow", json!({})), "progressToken", 1);
    let answer = server.post("reader", &message).await;
    assert_eq!((answer.status, answer.messages.len()), (200, 2));
    assert_eq!(answer.header("www-authenticate"), "");
    assert_eq!(answer.code(), -32600);
    let scopes = json!(["files:read", "files:delete"]);
    assert_eq!(answer.last()["error"]["data"]["requiredScopes"], scopes);
    // Nobody listens to its progress: then nothing has begun.
    let answer = server.post("reader", &call(7, "slow", json!({}))).await;
    let all = challenge(&server, "files:read files:delete");
    refused(&answer, &all, 7, &["files:read", "files:delete"]);
}

/// The same for older clients, in their sessions.
#[tokio::test]
async fn older_clients_are_told_too() {
    let (server, done) = running().await;
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let reader = Older::new(server.address, version).token("reader");
        let reader = reader.opened().await;
        let answer = reader.call(7, "write", json!({})).await;
        let all = challenge(&server, "files:read files:write");
        refused(&answer, &all, 7, &["files:write"]);
        let answer = reader.call(8, "delete", json!({})).await;
        let all = challenge(&server, "files:read files:delete");
        refused(&answer, &all, 8, &["files:delete"]);
        // With a better token the session goes on.
        let done_before = done.count();
        let mut writer = reader.clone();
        writer.token = Some("writer".into());
        let answer = writer.call(9, "write", json!({})).await;
        assert_eq!((answer.status, done.count()), (200, done_before + 1));
    }
    let reader = Older::new(server.address, "2025-03-26").token("reader");
    let reader = reader.opened().await;
    let batch = json!([
        older_http::call(1, "who", json!({})),
        older_http::call(2, "write", json!({}))
    ]);
    let answer = reader.post(&batch).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let second = &answer.last()[1];
    assert_eq!(
        (&second["id"], &second["error"]["code"]),
        (&json!(2), &json!(-32600))
    );
}

/// AUTH-B-03: whoever started the program may do all; who is known by name is asked for scopes.
#[tokio::test]
async fn elsewhere_it_is_a_plain_error() {
    let done = Done::default();
    let server = files::server(&done);
    let client = Client::new("test", "1")
        .connect(memory(server.clone()))
        .await;
    let client = client.expect("connected");
    client.call_tool("write", ()).await.expect("written");
    client.call_tool("delete", ()).await.expect("deleted");
    assert_eq!(done.count(), 2);
    let ada = Principal::subject("ada").scopes(["files:read"]);
    let peer = memory::connect_as(server, ada);
    let client = Client::new("test", "1")
        .connect(peer)
        .await
        .expect("connected");
    for tool in ["write", "delete"] {
        let error = client.call_tool(tool, ()).await.expect_err("refused");
        assert!(error.to_string().contains("lacks a scope"), "{error}");
    }
    assert_eq!(done.count(), 2);
}

/// Where nobody asks for tokens, nobody has scopes; and the log says what to do, once.
#[tokio::test]
async fn without_a_verifier_nobody_may() {
    let (log, _guard) = Log::of_everything();
    let done = Done::default();
    let server = Running::start(|_| service(files::server(&done))).await;
    for _ in 0..3 {
        let answer = server.post("writer", &call(7, "write", json!({}))).await;
        refused(&answer, "", 7, &["files:write"]);
    }
    let answer = server.post("", &call(7, "delete", json!({}))).await;
    refused(&answer, "", 7, &["files:delete"]);
    assert_eq!(done.count(), 0);
    let text = log.text();
    assert_eq!(text.matches("add .protected(..)").count(), 1, "{text}");
    let answer = server.post("", &call(7, "who", json!({}))).await;
    assert_eq!(answer.status, 200);
}

/// A service of the lowest tier.
struct Gateway;

impl Service for Gateway {
    fn about(&self) -> antiphon::raw::About {
        let capabilities = antiphon::types::ServerCapabilities::default().tools(false);
        antiphon::raw::About::new(antiphon::types::Implementation::new("gateway", "1"))
            .capabilities(capabilities)
    }

    fn call_tool<'a>(
        &'a self,
        call: &'a Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        Box::pin(async move {
            match tool.name {
                "here" => Err(call.needs_scopes(["files:write"])),
                // What another server says of its own tokens.
                _ => Err(Error::invalid_request("no").with_data(json!({
                    "reason": "insufficient_scope", "requiredScopes": ["theirs"],
                }))),
            }
        })
    }
}

#[tokio::test]
async fn a_gateway_says_so_for_itself_alone() {
    let server = Running::start(|_| {
        let service = service(Endpoint::new(Gateway));
        service
            .verifier(files::tokens())
            .require_scopes(["files:read"])
    })
    .await;
    let answer = server.post("reader", &call(7, "here", json!({}))).await;
    let challenge = r#"Bearer error="insufficient_scope", scope="files:read files:write""#;
    refused(&answer, challenge, 7, &["files:write"]);
    let answer = server.post("reader", &call(7, "there", json!({}))).await;
    assert_eq!((answer.status, answer.code()), (200, -32600));
    assert_eq!(answer.header("www-authenticate"), "");
}

/// A text that is no scope is found when it is said.
#[test]
fn what_is_no_scope_is_not_registered() {
    let tool = antiphon::Tool::new("x", async || "x").require_scopes(["two words"]);
    let server: antiphon::Server = antiphon::Server::new("x", "1").offer_tools();
    let error = server.insert(tool).expect_err("no scope");
    assert!(
        error.to_string().contains("`x`: \"two words\" is no scope"),
        "{error}"
    );
}
