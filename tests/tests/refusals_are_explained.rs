//! What an operator reads in the log when something is refused.

use std::{
    io::Write,
    sync::{Arc, Mutex},
};

use antiphon::Limits;
use antiphon_tests::{call, harbour, http::Server, http::post};
use hyper::header::HeaderValue;
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("not poisoned").clone()).expect("UTF-8")
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("not poisoned").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Everything is on one thread, so one thread's subscriber sees it all.
#[tokio::test]
async fn the_log_names_the_fix() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(log.clone())
        .with_ansi(false)
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let endpoint = harbour::endpoint_with(Limits::new().calls(0));
    let server = Server::start(antiphon::http::service(endpoint)).await;
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
    // PEERS: logs that dump bodies.
    assert!(!text.contains("hunter2"), "{text}");
}
