//! How the stream of a call is written, over HTTP.

use antiphon::{Ask, Form, Server, Stop, http::service};
use antiphon_tests::{
    http::{Server as Served, events},
    older::everything,
};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use serde_json::{Value, json};

#[derive(Form)]
struct Confirm {
    approve: bool,
}

fn desk() -> Server {
    Server::new("desk", "1.0").tool("confirm", async |ask: Ask| -> Result<String, Stop> {
        let Confirm { approve } = ask.form("confirm", "Go?")?;
        Ok(approve.to_string())
    })
}

fn post(session: Option<&str>, message: &Value) -> Request<Full<Bytes>> {
    let mut request = Request::post("/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    if let Some(session) = session {
        request = request
            .header("mcp-session-id", session)
            .header("mcp-protocol-version", "2025-11-25");
    }
    let body = Full::new(Bytes::from(message.to_string()));
    request.body(body).expect("a request")
}

/// Every piece costs both sides a system call or two.
#[tokio::test]
async fn what_is_asked_at_once_comes_in_the_first_piece() {
    let server = Served::start(service(desk())).await;
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": everything(),
        "clientInfo": {"name": "older", "version": "1.0"},
    }});
    let opened = server.send(post(None, &initialize)).await;
    let session = opened.headers["mcp-session-id"].to_str().expect("ASCII");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "confirm", "arguments": {},
    }});
    let mut body = server.open(post(Some(session), &call)).await.into_body();
    let piece = body.frame().await.expect("a piece").expect("whole");
    let piece = piece.into_data().expect("data");
    let piece = std::str::from_utf8(&piece).expect("UTF-8");
    assert!(piece.starts_with("id: "), "the stream has a name: {piece}");
    assert!(piece.ends_with("\n\n"), "only whole events: {piece}");
    let asked = events(piece).pop().expect("a question");
    assert_eq!(asked["method"], "elicitation/create");

    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {
        "action": "accept", "content": {"approve": true},
    }});
    assert_eq!(server.send(post(Some(session), &answer)).await.status, 202);
    let rest = body.collect().await.expect("an end").to_bytes();
    let rest = events(std::str::from_utf8(&rest).expect("UTF-8"));
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["result"]["content"][0]["text"], "true");
}
