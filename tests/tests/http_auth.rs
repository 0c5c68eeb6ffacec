//! Bearer tokens: who is let in, what the others are told, and who the handler sees.

use antiphon::auth::{Principal, StaticTokens};
use antiphon_tests::{call, harbour, http::Answer, http::Server, http::post};
use hyper::header::HeaderValue;
use serde_json::{Value, json};

async fn server() -> Server {
    let tokens = StaticTokens::new()
        .token("ada-token", Principal::subject("ada").scopes(["mcp"]))
        .token("weak-token", Principal::subject("bob"));
    let service = antiphon::http::service(harbour::endpoint())
        .verifier(tokens)
        .require_scopes(["mcp"])
        .resource_metadata("https://h.example/.well-known/oauth-protected-resource/mcp");
    Server::start(service).await
}

async fn who(server: &Server, authorization: Option<&'static str>) -> Answer {
    let mut request = post(&call(1, "who", json!({})));
    if let Some(authorization) = authorization {
        let value = HeaderValue::from_static(authorization);
        request.headers_mut().insert("authorization", value);
    }
    server.send(request).await
}

/// AUTH-S-03, AUTH-S-04, AUTH-S-07, AUTH-S-09, AUTH-S-12, AUTH-S-13
#[tokio::test]
async fn only_good_tokens_are_let_in() {
    let server = server().await;
    let metadata =
        r#"resource_metadata="https://h.example/.well-known/oauth-protected-resource/mcp""#;
    let rest = format!(r#"scope="mcp", {metadata}"#);
    for (authorization, status, challenge) in [
        (None, 401, format!("Bearer {rest}")),
        (Some("Basic abc"), 401, format!("Bearer {rest}")),
        (
            Some("Bearer wrong"),
            401,
            format!(r#"Bearer error="invalid_token", {rest}"#),
        ),
        (
            Some("Bearer weak-token"),
            403,
            format!(r#"Bearer error="insufficient_scope", {rest}"#),
        ),
        (
            Some("Bearer"),
            400,
            format!(r#"Bearer error="invalid_request", {rest}"#),
        ),
    ] {
        let answer = who(&server, authorization).await;
        assert_eq!(
            (answer.status, answer.header("www-authenticate")),
            (status, &*challenge)
        );
        assert!(answer.last().get("id").is_none());
    }
    let answer = who(&server, Some("bearer ada-token")).await;
    assert_eq!(answer.status, 200);
    let text = answer.last()["result"]["content"][0]["text"]
        .as_str()
        .expect("a text");
    let seen: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(seen["principal"], "ada");
}

/// wire.md 10.1: strangers first, then tokens, then verbs.
#[tokio::test]
async fn the_token_is_asked_for_before_the_verb() {
    let server = server().await;
    let mut request = post(&call(1, "who", json!({})));
    *request.method_mut() = hyper::Method::GET;
    assert_eq!(server.send(request).await.status, 401);
    let mut request = post(&call(1, "who", json!({})));
    request
        .headers_mut()
        .insert("host", HeaderValue::from_static("evil.example.com"));
    assert_eq!(server.send(request).await.status, 403);
}

/// A browser's preflight carries no token.
#[tokio::test]
async fn a_preflight_needs_no_token() {
    let server = server().await;
    let mut request = post(&call(1, "who", json!({})));
    *request.method_mut() = hyper::Method::OPTIONS;
    request
        .headers_mut()
        .insert("origin", HeaderValue::from_static("http://localhost:1"));
    assert_eq!(server.send(request).await.status, 204);
    let mut request = post(&call(1, "who", json!({})));
    request
        .headers_mut()
        .insert("origin", HeaderValue::from_static("http://localhost:1"));
    let answer = server.send(request).await;
    assert_eq!(
        (answer.status, answer.header("access-control-allow-origin")),
        (401, "http://localhost:1")
    );
}

struct Broken;

impl antiphon::auth::Verifier for Broken {
    fn verify<'a>(
        &'a self,
        token: &'a str,
    ) -> std::pin::Pin<
        Box<dyn Future<Output = Result<Principal, antiphon::auth::Refusal>> + Send + 'a>,
    > {
        assert!(token != "panic", "the directory is gone");
        Box::pin(async move {
            match token {
                "down" => Err(antiphon::auth::Refusal::Unavailable("no route".into())),
                _ => Ok(Principal::subject("ada")),
            }
        })
    }
}

/// A verifier that fails costs one request, and tells the client nothing.
#[tokio::test]
async fn a_verifier_that_fails_is_the_servers_fault() {
    let service = antiphon::http::service(harbour::endpoint()).verifier(Broken);
    let server = Server::start(service).await;
    for (token, status) in [
        ("Bearer panic", 500),
        ("Bearer down", 503),
        ("Bearer fine", 200),
    ] {
        let answer = who(&server, Some(token)).await;
        assert_eq!(answer.status, status, "{token}");
        assert!(!answer.text.contains("directory") && !answer.text.contains("route"));
    }
}
