//! Ten thousand sessions that were opened and left: they go, and so does what they held. A program
//! of its own, because it measures itself.
#![cfg(target_os = "linux")]

use std::time::Duration;

use antiphon::http::{HttpService, Sessions};
use antiphon_tests::{harbour, older_http::request, until};
use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use serde_json::json;
use tower_service::Service;

const MANY: usize = 10_000;

/// Bytes that this process has in memory.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages = pages.split(' ').nth(1).expect("a second number");
    4096 * pages.parse::<usize>().expect("a number")
}

async fn open_many(service: &mut HttpService) {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}},
        "clientInfo": {"name": "a client of some name", "version": "1.0.0"}});
    let body = Bytes::from(request(0, "initialize", params).to_string());
    for _ in 0..MANY {
        let request = Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(Full::new(body.clone()))
            .expect("a request");
        let response = service.call(request).await.expect("infallible");
        assert_eq!(response.status(), 200);
        assert!(response.headers().contains_key("mcp-session-id"));
    }
}

#[tokio::test]
async fn sessions_that_are_left_leave_nothing() {
    let endpoint = harbour::endpoint();
    let sessions = Sessions::new().most(MANY).idle(Duration::from_secs(3));
    let mut service = antiphon::http::service(endpoint).sessions(sessions);
    let before = resident();
    open_many(&mut service).await;
    assert_eq!(
        service.session_counts().open,
        MANY,
        "none was idle for so long yet"
    );
    let first = resident();
    let each = first.saturating_sub(before) / MANY;
    println!("{each} bytes per idle session");
    assert!(each < 2048, "{each} bytes per session");
    let tasks = tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks();
    assert!(
        tasks <= 2,
        "{tasks} tasks for sessions in which nothing happens"
    );
    until(|| service.session_counts().open == 0).await;
    // Whether an allocator gives memory back is its own affair; that it can be used again is ours.
    open_many(&mut service).await;
    let second = resident();
    let grown = second.saturating_sub(first);
    assert!(
        grown < 4 * 1024 * 1024,
        "{grown} bytes more for as many sessions"
    );
    until(|| service.session_counts().open == 0).await;
    let counts = service.session_counts();
    assert_eq!(counts.expired, 2 * MANY as u64);
    assert_eq!(
        (counts.refused, counts.displaced, counts.event_bytes),
        (0, 0, 0)
    );
    let tasks = tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks();
    assert!(
        tasks <= 1,
        "nothing looks after sessions that are not there: {tasks}"
    );
}
