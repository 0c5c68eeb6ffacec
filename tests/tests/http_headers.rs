//! Mirrored headers: what must be there, and what it must say.

use antiphon_tests::{call, harbour, http::Server, http::post, request};
use serde_json::{Value, json};

async fn server() -> Server {
    Server::start(antiphon::http::service(harbour::endpoint())).await
}

/// Posts `message` with these headers replaced, or removed where the value is `None`.
async fn verdict(server: &Server, message: &Value, changes: &[(&str, Option<&str>)]) -> (u16, i64) {
    let mut request = post(message);
    for (name, value) in changes {
        let name: hyper::header::HeaderName = name.parse().expect("a name");
        request.headers_mut().remove(&name);
        if let Some(value) = value {
            let value = hyper::header::HeaderValue::from_bytes(value.as_bytes());
            request.headers_mut().append(name, value.expect("a value"));
        }
    }
    let answer = server.send(request).await;
    (answer.status, answer.code())
}

/// HDR-S-01, HDR-S-03, HDR-S-18 to HDR-S-20, HDR-B-02, HTTP-S-23, HTTP-S-24; AMB-02.
#[tokio::test]
async fn standard_headers_must_repeat_the_body() {
    let server = server().await;
    let list = request(1, "tools/list", json!({}));
    let echo = call(1, "echo", json!({}));
    let read = request(1, "resources/read", json!({"uri": "tide://1"}));
    let brief = request(
        1,
        "prompts/get",
        json!({"name": "brief", "arguments": {"vessel": "Aurora"}}),
    );
    let (version, method, name) = ("mcp-protocol-version", "mcp-method", "mcp-name");
    let mismatch = (400, -32020);
    for (message, changes, expected) in [
        (&list, vec![], (200, 0)),
        (&list, vec![(version, None)], mismatch),
        (&list, vec![(version, Some("2025-11-25"))], mismatch),
        (&list, vec![(method, None)], mismatch),
        (&list, vec![(method, Some("prompts/list"))], mismatch),
        (&list, vec![(method, Some("TOOLS/LIST"))], mismatch),
        (&list, vec![(method, Some("tools/list "))], (200, 0)),
        // HDR-S-13: only names and parameters may be encoded.
        (
            &list,
            vec![(method, Some("=?base64?dG9vbHMvbGlzdA==?="))],
            mismatch,
        ),
        (&list, vec![(name, Some("anything"))], (200, 0)),
        (&echo, vec![], (200, 0)),
        (&echo, vec![(name, None)], mismatch),
        (&echo, vec![(name, Some("wrong"))], mismatch),
        (&echo, vec![(name, Some("Echo"))], mismatch),
        (&echo, vec![(name, Some("=?base64?ZWNobw==?="))], (200, 0)),
        (&echo, vec![(name, Some("=?base64?ZWNobw?="))], mismatch),
        (&echo, vec![(name, Some("=?base64?!!?="))], mismatch),
        (&echo, vec![(name, Some("\u{e9}"))], mismatch),
        (&read, vec![], (200, 0)),
        (&read, vec![(name, Some("tide://2"))], mismatch),
        (&brief, vec![], (200, 0)),
        (&brief, vec![(name, None)], mismatch),
        // The version comes before the other headers, and both before the method.
        (&list, vec![(version, Some("v1")), (method, None)], mismatch),
    ] {
        let actual = verdict(&server, message, &changes).await;
        assert_eq!(actual, expected, "{} {changes:?}", message["method"]);
    }
    let unknown = request(1, "no/such", json!({}));
    assert_eq!(verdict(&server, &unknown, &[]).await, (404, -32601));
    assert_eq!(
        verdict(&server, &unknown, &[(method, None)]).await,
        mismatch
    );
}

/// A header that stands twice could be read in two ways, so it is read in none.
#[tokio::test]
async fn a_repeated_header_is_refused() {
    let server = server().await;
    for name in ["mcp-protocol-version", "mcp-method", "mcp-name"] {
        let mut request = post(&call(1, "echo", json!({})));
        let again = request.headers()[name].clone();
        let name: hyper::header::HeaderName = name.parse().expect("a name");
        request.headers_mut().append(&name, again);
        let answer = server.send(request).await;
        assert_eq!((answer.status, answer.code()), (400, -32020), "{name}");
    }
}

/// HDR-S-13 to HDR-S-17, HDR-S-21, HDR-S-23
#[tokio::test]
async fn annotated_arguments_must_be_mirrored() {
    let server = server().await;
    let (port, berth) = ("mcp-param-port", "mcp-param-berth");
    let mismatch = (400, -32020);
    for (arguments, changes, expected) in [
        (json!({}), vec![], (200, 0)),
        (json!({"port": null}), vec![], (200, 0)),
        (
            json!({"port": "oslo"}),
            vec![(port, Some("oslo"))],
            (200, 0),
        ),
        (
            json!({"port": "oslo"}),
            vec![(port, Some("  oslo "))],
            (200, 0),
        ),
        (json!({"port": "oslo"}), vec![], mismatch),
        (
            json!({"port": "oslo"}),
            vec![(port, Some("Oslo"))],
            mismatch,
        ),
        (json!({}), vec![(port, Some("oslo"))], mismatch),
        (
            json!({"port": "Malmö"}),
            vec![(port, Some("=?base64?TWFsbcO2?="))],
            (200, 0),
        ),
        (
            json!({"port": "Malmö"}),
            vec![(port, Some("Malmö"))],
            mismatch,
        ),
        (json!({"berth": 42}), vec![(berth, Some("42.0"))], (200, 0)),
        (json!({"berth": 42}), vec![(berth, Some("43"))], mismatch),
        (
            json!({"extra": 1}),
            vec![("mcp-param-unknown", Some("x"))],
            (200, 0),
        ),
    ] {
        let message = call(1, "berth.reserve", arguments.clone());
        let actual = verdict(&server, &message, &changes).await;
        assert_eq!(actual, expected, "{arguments} {changes:?}");
    }
}

/// What stands beside an annotated argument cannot hide it from the comparison.
#[tokio::test]
async fn a_mirrored_argument_cannot_be_hidden() {
    let server = server().await;
    let honest = call(1, "berth.reserve", json!({"port": "oslo", "x": "BESIDE"})).to_string();
    for beside in ["1e400", r#""\ud800""#] {
        let body = honest.replace(r#""BESIDE""#, beside);
        let mut request = post(&call(1, "berth.reserve", json!({})));
        *request.body_mut() = http_body_util::Full::new(body.into());
        let answer = server.send(request).await;
        assert_eq!((answer.status, answer.code()), (400, -32020), "{beside}");
    }
}

/// A service that panics while it is asked for headers costs one request.
#[tokio::test]
async fn a_panic_over_headers_is_an_internal_error() {
    let server = server().await;
    assert_eq!(
        verdict(&server, &call(1, "panic_in_headers", json!({})), &[]).await,
        (200, -32603)
    );
    assert_eq!(
        verdict(&server, &call(1, "echo", json!({})), &[]).await,
        (200, 0)
    );
}

/// ERA-S-05, AMB-05: an older client learns what is served, where only this revision is.
#[tokio::test]
async fn an_older_client_learns_what_is_served() {
    let modern: antiphon::Server = antiphon::Server::new("harbour", "2.0").modern_only();
    let server = Server::start(antiphon::http::service(modern)).await;
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "old", "version": "1"}}});
    let gone = ("mcp-protocol-version", None);
    assert_eq!(verdict(&server, &initialize, &[gone]).await, (400, -32022));
    let old = ("mcp-protocol-version", Some("2025-11-25"));
    assert_eq!(verdict(&server, &initialize, &[old]).await, (400, -32022));
    let new = ("mcp-protocol-version", Some("2026-07-28"));
    assert_eq!(verdict(&server, &initialize, &[new]).await, (404, -32601));
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    assert_eq!(verdict(&server, &list, &[old]).await, (400, -32022));
    assert_eq!(verdict(&server, &list, &[gone]).await, (400, -32020));
}

/// HTTP-S-26, HTTP-S-27: headers of the older era are ignored, and none is minted.
#[tokio::test]
async fn session_headers_mean_nothing() {
    let server = server().await;
    let mut request = post(&call(1, "echo", json!({})));
    let headers = request.headers_mut();
    headers.insert(
        "mcp-session-id",
        hyper::header::HeaderValue::from_static("old"),
    );
    headers.insert(
        "last-event-id",
        hyper::header::HeaderValue::from_static("7"),
    );
    let answer = server.send(request).await;
    assert_eq!(answer.status, 200);
    assert!(!answer.headers.contains_key("mcp-session-id"));
}

/// HTTP-S-07, HTTP-S-08, BASE-B-07: notifications are taken, muddled ones refused.
#[tokio::test]
async fn notifications_are_accepted_and_not_answered() {
    let server = server().await;
    let notification =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let answer = server.send(post(&notification)).await;
    assert_eq!((answer.status, answer.text.as_str()), (202, ""));
    let method = ("mcp-method", Some("notifications/other"));
    assert_eq!(
        verdict(&server, &notification, &[method]).await,
        (400, -32020)
    );
    let unknown = ("mcp-protocol-version", Some("1999-01-01"));
    assert_eq!(
        verdict(&server, &notification, &[unknown]).await,
        (400, -32022)
    );
    // Those of an older client belong to a session.
    for version in [None, Some("2025-11-25")] {
        let older = ("mcp-protocol-version", version);
        assert_eq!(
            verdict(&server, &notification, &[older]).await,
            (400, -32600)
        );
    }
}

/// BASE-C-06, HTTP-C-06
#[tokio::test]
async fn responses_are_refused() {
    let server = server().await;
    let response = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    let answer = server.post(&response).await;
    assert_eq!((answer.status, answer.code()), (400, -32600));
    assert!(answer.last().get("id").is_none());
}
