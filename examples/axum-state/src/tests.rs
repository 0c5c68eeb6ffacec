//! What clients of the tools and of the route see.

use std::net::SocketAddr;

use antiphon_tests::{
    call,
    http::{Answer, post, send},
};
use serde_json::json;

async fn start() -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, super::app()).await });
    address
}

async fn pin(address: SocketAddr, text: &str, token: &'static str) -> Answer {
    let mut request = post(&call(1, "pin", json!({ "text": text })));
    let token = axum::http::HeaderValue::from_static(token);
    request.headers_mut().insert("authorization", token);
    send(address, request).await
}

async fn count(address: SocketAddr) -> String {
    let request = axum::http::Request::get("/notes").body(<_>::default());
    send(address, request.expect("a request")).await.text
}

#[tokio::test]
async fn the_route_sees_what_the_tool_did() {
    let address = start().await;
    assert_eq!(count(address).await, "0");
    pin(address, "Milk", "Bearer secret").await;
    let pinned = pin(address, "Bread", "Bearer secret").await;
    let text = &pinned.last()["result"]["content"][0]["text"];
    assert_eq!(*text, "ada: Milk\nada: Bread");
    assert_eq!(count(address).await, "2");
}

#[tokio::test]
async fn a_wrong_token_pins_nothing() {
    let address = start().await;
    assert_eq!(pin(address, "Milk", "Bearer guess").await.status, 401);
    assert_eq!(count(address).await, "0");
}
