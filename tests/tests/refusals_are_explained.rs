//! What an operator reads in the log when something is refused.

use std::time::Duration;

use antiphon::{Limits, RateLimit, Server};
use antiphon_tests::{call, harbour, http, http::post, log::Log, wire::Connection};
use hyper::header::HeaderValue;
use serde_json::json;

/// Everything is on one thread, so one thread's subscriber sees it all.
#[tokio::test]
async fn the_log_names_the_fix() {
    let (log, _guard) = Log::of_everything();
    let endpoint = harbour::endpoint_with(Limits::new().calls(0));
    let server = http::Server::start(antiphon::http::service(endpoint)).await;
    let with = |name: &'static str, value: &'static str| {
        let mut request = post(&call(1, "echo", json!({"secret": "hunter2"})));
        request
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
        request
    };
    assert_eq!(
        server.send(with("host", "mcp.example.com")).await.status,
        403
    );
    assert_eq!(
        server
            .send(with("origin", "https://app.example.com"))
            .await
            .status,
        403
    );
    assert_eq!(server.send(with("x-other", "1")).await.status, 503);
    let text = log.text();
    for part in [
        ".allow_host(",
        "mcp.example.com",
        ".allow_origin(",
        "https://app.example.com",
        "Limits::calls",
    ] {
        assert!(text.contains(part), "{part} is missing from\n{text}");
    }
    // elsewhere.md: logs that dump bodies.
    assert!(!text.contains("hunter2"), "{text}");
}

/// What clients are not told is in the log: causes, and the number of an incident. What a peer
/// sent does not fill it.
#[tokio::test]
async fn the_log_has_what_clients_are_not_told() {
    let (log, _guard) = Log::of_everything();
    let failing = || {
        Server::new("failing", "1.0")
            .tool("pay", async || {
                let cause = anyhow::Error::msg("the database is down");
                Err::<String, _>(cause.context("nothing was paid"))
            })
            .resource("long://{x}", async || Err::<String, _>("no"))
    };
    let told = Connection::memory(failing()).call("pay", json!({})).await;
    assert_eq!(told.text(), "nothing was paid");
    assert!(
        log.text().contains("the database is down"),
        "{}",
        log.text()
    );
    let told = Connection::memory(failing().hide_errors())
        .call("pay", json!({}))
        .await;
    let incident = told.text().trim_end_matches(')').rsplit(' ').next();
    let incident = incident.expect("a number");
    assert!(log.text().contains(incident), "{incident}");
    let limited = failing().layer(RateLimit::new(1, Duration::from_secs(3600)));
    let mut connection = Connection::memory(limited);
    let before = log.text().len();
    for _ in 0..2 {
        let uri = format!("long://{}", "x".repeat(8000));
        connection
            .request("resources/read", json!({ "uri": uri }))
            .await;
    }
    let logged = log.text().len() - before;
    assert!((1..8000).contains(&logged), "{logged}");
}
