//! The service inside other people's servers.

use antiphon_tests::{call, harbour, http::post};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use serde_json::{Value, json};

/// No `Endpoint` in sight: a transport makes one.
#[tokio::test]
async fn a_transport_takes_a_service_as_it_is() {
    let mut peer = antiphon::memory::connect(harbour::Harbour::default());
    assert!(peer.send(call(1, "echo", json!({})).to_string()).await);
    let message = peer.receive().await.expect("an answer");
    let message: Value = serde_json::from_slice(&message).expect("JSON");
    assert_eq!(message["result"]["content"][0]["text"], "{}");
    _ = antiphon::http::service(harbour::Harbour::default());
}

#[tokio::test]
async fn it_mounts_in_axum() {
    let app = axum::Router::new()
        .route("/health", axum::routing::get(|| async { "fine" }))
        .route_service("/mcp", antiphon::http::service(harbour::endpoint()));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, app).await });
    let stream = tokio::net::TcpStream::connect(address)
        .await
        .expect("connected");
    let io = hyper_util::rt::TokioIo::new(stream);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(io)
        .await
        .expect("shaken");
    tokio::spawn(connection);
    let mut request = post(&call(1, "echo", json!({"in": "axum"})));
    request
        .headers_mut()
        .insert("host", address.to_string().parse().expect("a header"));
    let response = sender.send_request(request).await.expect("answered");
    let body = response
        .into_body()
        .collect()
        .await
        .expect("a body")
        .to_bytes();
    let message: Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!(message["result"]["content"][0]["text"], r#"{"in":"axum"}"#);
}

/// As a bare tower service, with no socket at all.
#[tokio::test]
async fn it_is_a_tower_service() {
    let mut service = antiphon::http::service(harbour::endpoint());
    let mut request: Request<Full<Bytes>> = post(&call(1, "echo", json!({})));
    request
        .headers_mut()
        .insert("host", "localhost".parse().expect("a header"));
    let response = tower_service::Service::call(&mut service, request)
        .await
        .expect("infallible");
    let body = response
        .into_body()
        .collect()
        .await
        .expect("a body")
        .to_bytes();
    let message: Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!(message["id"], 1);
}
