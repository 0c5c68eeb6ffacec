//! The whole client, with nothing but a URL.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use antiphon::client::{Client, Step as Told};
use antiphon_tests::{desk::events, until};
use serde_json::{Value, json};

use super::*;

fn message(asked: &Asked) -> Value {
    serde_json::from_str(&asked.body).unwrap_or_default()
}

/// The response to what was asked.
fn respond(asked: &Asked, result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": message(asked)["id"], "result": result }).to_string()
}

fn greeting(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "veteran", "version": "1.0" },
    })
}

fn said(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// A response with this header.
fn with(header: &str, body: &str) -> Vec<Step> {
    let length = body.len();
    vec![write(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{header}\r\n\
         content-length: {length}\r\n\r\n{body}"
    ))]
}

/// Servers of one SDK make up an id for the error of a request that they did not read.
#[tokio::test]
async fn a_refusal_under_an_id_of_the_servers_own_is_one() {
    let desk = Desk::start(|asked, _| {
        if asked.calls("server/discover") {
            let error = json!({ "code": -32600, "message": "Bad Request: Missing session ID" });
            let body = json!({ "jsonrpc": "2.0", "id": "server-error", "error": error });
            let body = body.to_string();
            let length = body.len();
            return vec![write(format!(
                "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n\
                 content-length: {length}\r\n\r\n{body}"
            ))];
        }
        match asked.calls("initialize") {
            true => with(
                "mcp-session-id: s-1",
                &respond(asked, &greeting("2025-11-25")),
            ),
            false => usual(asked),
        }
    })
    .await;
    let client = Client::new("desk", "1.0");
    let connection = client.connect(Http::new(&desk.origin)).await;
    let connection = connection.expect("an older server");
    assert_eq!(connection.protocol_version().as_str(), "2025-11-25");
    // In a response that is no refusal, it is somebody else's.
    let desk = Desk::start(|_, _| {
        let error = json!({ "code": -32600, "message": "no" });
        let body = json!({ "jsonrpc": "2.0", "id": "server-error", "error": error });
        json(&body.to_string())
    })
    .await;
    let refused = client.connect(Http::new(&desk.origin)).await;
    let error = refused.expect_err("nobody asked that").to_string();
    assert!(error.contains("another request"), "{error}");
}

/// From the probe to the end of the session, with a question on the way.
#[tokio::test]
async fn a_call_is_asked_and_answered_in_a_session() {
    let question = json!({
        "jsonrpc": "2.0", "id": "q1", "method": "elicitation/create",
        "params": {
            "message": "Sure?",
            "requestedSchema": { "type": "object", "properties": { "ok": { "type": "boolean" } } },
        },
    });
    let answered = |asked: &Asked| asked.body.contains(r#""id":"q1""#);
    let desk = Desk::start(move |asked, _| match &*asked.verb {
        _ if asked.calls("server/discover") => status("400 Bad Request"),
        _ if asked.calls("initialize") => with(
            "mcp-session-id: s-1",
            &respond(asked, &greeting("2025-11-25")),
        ),
        _ if asked.calls("tools/call") => vec![
            events(),
            write("id: 1\ndata:\n\n"),
            event(&question.to_string()),
            Step::Until(answered),
            event(&respond(asked, &said("done"))),
        ],
        _ => usual(asked),
    })
    .await;
    let client = Client::new("desk", "1.0")
        .on_form(|form| async move { form.accept(json!({ "ok": true })) });
    let connection = client
        .connect(Http::new(&desk.origin))
        .await
        .expect("connected");
    assert_eq!(connection.protocol_version(), LATEST);
    let result = connection
        .call_tool("t", json!({}))
        .await
        .expect("a result");
    assert_eq!(result.first_text(), Some("done"));
    connection.close().await;
    let posts = desk.of("POST");
    let answer = posts
        .iter()
        .find(|asked| answered(asked))
        .expect("an answer");
    let result = json!({ "action": "accept", "content": { "ok": true } });
    assert_eq!(message(answer)["result"], result);
    for asked in desk.requests().iter().skip(2) {
        assert_eq!(
            asked.header("mcp-session-id"),
            Some("s-1"),
            "{}",
            asked.body
        );
    }
    assert_eq!(desk.of("DELETE").len(), 1);
    assert!(
        !desk
            .methods()
            .contains(&"notifications/cancelled".to_owned())
    );
}

/// LHTTP-C-10
#[tokio::test]
async fn a_session_that_is_gone_is_begun_anew() {
    let sessions = AtomicUsize::new(0);
    let desk = Desk::start(move |asked, _| {
        if asked.calls("server/discover") {
            return status("404 Not Found");
        }
        if asked.calls("initialize") {
            let session = sessions.fetch_add(1, Ordering::SeqCst);
            let answer = respond(asked, &greeting("2025-06-18"));
            return with(&format!("mcp-session-id: s-{session}"), &answer);
        }
        match asked.header("mcp-session-id") {
            Some("s-0") if asked.calls("tools/call") => status("404 Not Found"),
            _ if asked.calls("tools/call") => json(&respond(asked, &said("done"))),
            _ => usual(asked),
        }
    })
    .await;
    let client = Client::new("desk", "1.0");
    let connection = client
        .connect(Http::new(&desk.origin))
        .await
        .expect("connected");
    let call = || connection.call_tool("t", json!({}));
    let (one, two, three) = tokio::join!(call(), call(), call());
    for result in [one, two, three] {
        assert_eq!(result.expect("a result").first_text(), Some("done"));
    }
    let handshakes = desk
        .methods()
        .iter()
        .filter(|method| **method == "initialize")
        .count();
    assert_eq!(handshakes, 2);
    connection.close().await;
    let ended = desk.of("DELETE");
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0].header("mcp-session-id"), Some("s-1"));
}

/// LSSE-C-03: from the newest transport to the oldest, all by itself.
#[tokio::test]
async fn a_server_of_the_first_revision_is_found() {
    let desk = Desk::start(|asked, _| match (&*asked.verb, &*asked.path) {
        ("GET", _) => vec![
            events(),
            write("event: endpoint\ndata: /post?s=1\n\n"),
            Step::To(
                |asked| asked.path == "/post?s=1" && asked.calls("initialize"),
                |asked| format!("data: {}\n\n", respond(asked, &greeting("2024-11-05"))),
            ),
            Step::To(
                |asked| asked.calls("tools/call"),
                |asked| format!("data: {}\n\n", respond(asked, &said("done"))),
            ),
            Step::Hold,
        ],
        ("POST", "/post?s=1") => status("202 Accepted"),
        _ => status("405 Method Not Allowed"),
    })
    .await;
    let http = Http::new(format!("{}/sse", desk.origin));
    let connection = Client::new("desk", "1.0")
        .connect(http)
        .await
        .expect("connected");
    assert_eq!(connection.protocol_version(), Version::V2024_11_05);
    let steps = connection.negotiation();
    assert!(
        steps.iter().any(|step| matches!(step, Told::FellBack)),
        "{steps:?}"
    );
    let result = connection.call_tool("t", json!({})).await;
    assert_eq!(result.expect("a result").first_text(), Some("done"));
    connection.close().await;
    until(|| desk.left() == 1).await;
    let posts = desk.of("POST");
    let paths: Vec<_> = posts.iter().map(|asked| &*asked.path).collect();
    assert_eq!(
        paths,
        ["/sse", "/sse", "/post?s=1", "/post?s=1", "/post?s=1"]
    );
}

/// LHTTP-C-03, as the conformance suite plays it.
#[tokio::test]
async fn a_call_survives_the_end_of_its_stream() {
    let call = Arc::new(Mutex::new(None::<String>));
    let pending = call.clone();
    let desk = Desk::start(move |asked, _| match &*asked.verb {
        _ if asked.calls("server/discover") => {
            let refusal = json!({ "code": -32601, "message": "no" });
            let id = &message(asked)["id"];
            json(&json!({ "jsonrpc": "2.0", "id": id, "error": refusal }).to_string())
        }
        _ if asked.calls("initialize") => json(&respond(asked, &greeting("2025-11-25"))),
        _ if asked.calls("tools/call") => {
            let answer = respond(asked, &said("done"));
            *pending.lock().expect("unpoisoned") = Some(answer);
            vec![
                events(),
                write("id: event-1\nretry: 500\ndata: \n\n"),
                Step::Close,
            ]
        }
        "GET" => match (
            asked.header("last-event-id"),
            &*pending.lock().expect("unpoisoned"),
        ) {
            (Some("event-1"), Some(answer)) => vec![events(), event(answer)],
            _ => status("405 Method Not Allowed"),
        },
        _ => usual(asked),
    })
    .await;
    let client = Client::new("desk", "1.0");
    let connection = client
        .connect(Http::new(&desk.origin))
        .await
        .expect("connected");
    let result = connection
        .call_tool("t", json!({}))
        .await
        .expect("a result");
    assert_eq!(result.first_text(), Some("done"));
    connection.close().await;
    let last = desk.of("GET").pop().expect("a GET");
    assert_eq!(last.header("last-event-id"), Some("event-1"));
    let posted = desk.of("POST").pop().expect("the call");
    assert!(last.at - posted.at >= Duration::from_millis(500));
}
