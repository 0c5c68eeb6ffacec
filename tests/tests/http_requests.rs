//! The HTTP side of a request: verbs, media types, who may call, and how much.

use std::time::Duration;

use antiphon::Limits;
use antiphon_tests::{call, harbour, http::Server, http::post, request, until};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, header::HeaderValue};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

async fn server() -> Server {
    Server::start(antiphon::http::service(harbour::endpoint())).await
}

fn with(name: &'static str, value: &'static str) -> Request<Full<Bytes>> {
    let mut request = post(&call(1, "echo", json!({})));
    request
        .headers_mut()
        .insert(name, HeaderValue::from_static(value));
    request
}

/// HTTP-S-01, HTTP-S-25
#[tokio::test]
async fn only_post_is_served() {
    let server = server().await;
    for method in ["GET", "DELETE", "PUT", "HEAD", "OPTIONS"] {
        let mut request = post(&call(1, "echo", json!({})));
        *request.method_mut() = method.parse().expect("a verb");
        let answer = server.send(request).await;
        assert_eq!(
            (answer.status, answer.header("allow")),
            (405, "GET, POST, DELETE, OPTIONS"),
            "{method}"
        );
    }
}

#[tokio::test]
async fn other_paths_are_not_found() {
    let server = server().await;
    let mut request = post(&call(1, "echo", json!({})));
    *request.uri_mut() = "/other".parse().expect("a path");
    let answer = server.send(request).await;
    assert_eq!(answer.status, 404);
    // A bare 404 must not look like a modern "method not found" (ERA-C-14).
    assert_ne!(answer.code(), -32601);
}

/// AMB-19, HTTP-S-10
#[tokio::test]
async fn media_types_must_fit() {
    let server = server().await;
    assert_eq!(
        server.send(with("content-type", "text/plain")).await.status,
        415
    );
    assert_eq!(
        server.send(with("accept", "application/json")).await.status,
        406
    );
    assert_eq!(server.send(with("accept", "*/*")).await.status, 200);
    let answer = server.post(&call(1, "echo", json!({}))).await;
    assert_eq!(answer.header("content-type"), "application/json");
}

/// HTTP-S-02, HTTP-S-03: DNS rebinding.
#[tokio::test]
async fn strangers_are_refused() {
    let server = server().await;
    let answer = server.send(with("host", "evil.example.com")).await;
    assert_eq!((answer.status, answer.last().get("id")), (403, None));
    let answer = server.send(with("origin", "http://evil.example.com")).await;
    assert_eq!(answer.status, 403);
    assert!(!answer.headers.contains_key("access-control-allow-origin"));
    let answer = server.send(with("origin", "http://localhost:5173")).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("access-control-allow-origin"),
        "http://localhost:5173"
    );
    assert!(answer.header("vary").contains("origin"));
    assert!(
        answer
            .header("access-control-expose-headers")
            .contains("www-authenticate")
    );
}

#[tokio::test]
async fn allow_lists_let_in() {
    let service = antiphon::http::service(harbour::endpoint())
        .allow_host("mcp.example.com")
        .allow_origin("https://app.example.com");
    let server = Server::start(service).await;
    assert_eq!(
        server.send(with("host", "mcp.example.com")).await.status,
        200
    );
    assert_eq!(
        server.send(with("host", "other.example.com")).await.status,
        403
    );
    let mut preflight = Request::new(Full::new(Bytes::new()));
    *preflight.method_mut() = hyper::Method::OPTIONS;
    *preflight.uri_mut() = "/mcp".parse().expect("a path");
    let headers = preflight.headers_mut();
    headers.insert(
        "origin",
        HeaderValue::from_static("https://app.example.com"),
    );
    headers.insert(
        "access-control-request-method",
        HeaderValue::from_static("POST"),
    );
    let asked = "content-type, mcp-method, mcp-param-port";
    headers.insert(
        "access-control-request-headers",
        HeaderValue::from_static(asked),
    );
    let answer = server.send(preflight).await;
    assert_eq!(answer.status, 204);
    assert_eq!(
        answer.header("access-control-allow-origin"),
        "https://app.example.com"
    );
    assert_eq!(
        answer.header("access-control-allow-methods"),
        "GET, POST, DELETE"
    );
    assert_eq!(answer.header("access-control-allow-headers"), asked);
}

/// Not JSON, not UTF-8: 400 and -32700, without an id.
#[tokio::test]
async fn what_is_not_json_is_a_parse_error() {
    let server = server().await;
    for body in [
        &b""[..],
        b"{",
        b"nonsense",
        b"\xff\xfe",
        b"{} {}",
        b"{\"a\":\"\xff\"}",
    ] {
        let mut request = post(&call(1, "echo", json!({})));
        *request.body_mut() = Full::new(Bytes::copy_from_slice(body));
        let answer = server.send(request).await;
        assert_eq!((answer.status, answer.code()), (400, -32700), "{body:?}");
        assert!(answer.last().get("id").is_none());
    }
}

/// BASE-S-06: JSON that nothing can hold is answered under its id.
#[tokio::test]
async fn json_that_cannot_be_held_is_invalid_params() {
    let server = server().await;
    let list = request(7, "tools/list", json!({"cursor": "CURSOR"})).to_string();
    for cursor in ["1e999", r#""\ud800""#] {
        let mut request = post(&request(7, "tools/list", json!({})));
        *request.body_mut() = Full::new(Bytes::from(list.replace(r#""CURSOR""#, cursor)));
        let answer = server.send(request).await;
        assert_eq!((answer.status, answer.code()), (400, -32602), "{cursor}");
        assert_eq!(answer.last()["id"], 7);
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let endpoint = harbour::endpoint_with(Limits::new().message_bytes(2000));
    let server = Server::start(antiphon::http::service(endpoint)).await;
    let answer = server
        .post(&call(1, "echo", json!({"text": "x".repeat(3000)})))
        .await;
    assert_eq!((answer.status, answer.code()), (413, -32600));
    assert!(answer.text.contains("2000 bytes"), "{}", answer.text);
    // Without a length: counted as it comes.
    let mut stream = tokio::net::TcpStream::connect(server.address)
        .await
        .expect("connected");
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
        server.address
    );
    stream.write_all(head.as_bytes()).await.expect("written");
    for _ in 0..3 {
        stream
            .write_all(format!("3e8\r\n{}\r\n", "x".repeat(1000)).as_bytes())
            .await
            .expect("written");
    }
    let mut answer = vec![0; 12];
    stream.read_exact(&mut answer).await.expect("an answer");
    assert_eq!(answer, b"HTTP/1.1 413");
    assert_eq!(server.post(&call(1, "echo", json!({}))).await.status, 200);
}

#[tokio::test]
async fn a_head_over_the_limit_is_refused() {
    let server = server().await;
    let mut stream = tokio::net::TcpStream::connect(server.address)
        .await
        .expect("connected");
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n",
        "y".repeat(100_000)
    );
    stream.write_all(head.as_bytes()).await.expect("written");
    let mut answer = vec![0; 12];
    stream.read_exact(&mut answer).await.expect("an answer");
    assert_eq!(answer, b"HTTP/1.1 431");
}

#[tokio::test]
async fn a_body_that_never_comes_is_given_up() {
    let service =
        antiphon::http::service(harbour::endpoint()).body_timeout(Duration::from_millis(50));
    let server = Server::start(service).await;
    let mut stream = tokio::net::TcpStream::connect(server.address)
        .await
        .expect("connected");
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{{",
        server.address
    );
    stream.write_all(head.as_bytes()).await.expect("written");
    let mut answer = vec![0; 12];
    stream.read_exact(&mut answer).await.expect("an answer");
    assert_eq!(answer, b"HTTP/1.1 408");
}

/// Calls and subscriptions beyond the limit are refused, and places are given back.
#[tokio::test]
async fn concurrency_is_bounded() {
    let endpoint = harbour::endpoint_with(Limits::new().calls(2).listens(1));
    let server = Server::start(antiphon::http::service(endpoint.clone())).await;
    let slow = call(1, "slow", json!({"ms": 60_000}));
    let listen = request(2, "subscriptions/listen", json!({"notifications": {}}));
    let open = server.open(post(&listen)).await;
    assert_eq!(open.status(), 200);
    let second = server.post(&listen).await;
    assert_eq!((second.status, second.code()), (200, -32603));
    let server = std::sync::Arc::new(server);
    let waiting = tokio::spawn({
        let (server, slow) = (server.clone(), slow.clone());
        async move { server.post(&slow).await }
    });
    until(|| endpoint.calls() == 2).await;
    let refused = server.post(&call(3, "echo", json!({}))).await;
    assert_eq!(
        (
            refused.status,
            refused.code(),
            refused.header("retry-after")
        ),
        (503, -32603, "1")
    );
    assert_eq!(refused.last()["id"], 3);
    waiting.abort();
    drop(open);
    until(|| endpoint.calls() == 0).await;
    assert_eq!(server.post(&call(4, "echo", json!({}))).await.status, 200);
}

/// `Serve` does what its options say: where it serves, how many it lets in, how long it waits.
#[tokio::test]
async fn a_server_keeps_to_its_options() {
    let endpoint = harbour::endpoint();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = antiphon::http::serve(listener, antiphon::http::service(endpoint.clone()))
        .path("/elsewhere")
        .connections(1)
        .drain(Duration::from_millis(50))
        .with_graceful_shutdown(async { _ = stopped.await });
    let serving = tokio::spawn(async move { serving.await });
    let ask = async |path: &str, tool: &str| {
        let mut stream = tokio::net::TcpStream::connect(address)
            .await
            .expect("connected");
        let body = call(1, tool, json!({"ms": 600_000})).to_string();
        let length = body.len();
        let text = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
             content-type: application/json\r\nmcp-protocol-version: 2026-07-28\r\n\
             mcp-method: tools/call\r\nmcp-name: {tool}\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(text.as_bytes()).await.expect("written");
        stream
    };
    let status = async |mut stream: tokio::net::TcpStream| {
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.expect("an answer");
        String::from_utf8_lossy(&answer).into_owned()
    };
    assert_eq!(status(ask("/mcp", "echo").await).await, "HTTP/1.1 404");
    let slow = ask("/elsewhere", "slow").await;
    until(|| endpoint.calls() == 1).await;
    // There is room for one: the next waits until that one is gone.
    let next = ask("/elsewhere", "echo").await;
    let waiting = status(next);
    tokio::pin!(waiting);
    let early = tokio::time::timeout(Duration::from_millis(100), &mut waiting).await;
    assert!(early.is_err(), "a second connection was let in");
    drop(slow);
    assert_eq!(waiting.await, "HTTP/1.1 200");
    // A call that takes too long to end is dropped with the server.
    let _slow = ask("/elsewhere", "slow").await;
    until(|| endpoint.calls() == 1).await;
    stop.send(()).expect("it runs");
    let ended = tokio::time::timeout(Duration::from_secs(10), serving).await;
    ended
        .expect("it does not wait")
        .expect("no panic")
        .expect("no error");
    until(|| endpoint.calls() == 0).await;
}
