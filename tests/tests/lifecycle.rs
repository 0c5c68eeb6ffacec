//! When a service is started and stopped, and what is served in between.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use antiphon::{
    http, memory,
    raw::{About, Answering, Call, CallTool, Endpoint, Error, Reply, Service},
    stdio,
    types::{CallToolResult, Implementation, ServerCapabilities},
};
use antiphon_tests::{call, http::Server, http::post, until};
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, net::TcpListener};

/// What happened, in order.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn note(&self, what: impl Into<String>) {
        self.0.lock().expect("not poisoned").push(what.into());
    }

    fn pages(&self) -> Vec<String> {
        self.0.lock().expect("not poisoned").clone()
    }

    fn count(&self, what: &str) -> usize {
        self.pages().iter().filter(|page| *page == what).count()
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Trouble {
    None,
    Fails,
    Panics,
    PanicsAtOnce,
    PanicsAtTheEnd,
}

/// A sluice: has to be opened before ships pass, and closed after the last.
struct Sluice {
    diary: Diary,
    trouble: Trouble,
    opening: Duration,
}

/// A sluice that opens at once, and its diary.
fn sluice() -> (Endpoint, Diary) {
    sluice_with(Trouble::None, Duration::ZERO)
}

fn sluice_with(trouble: Trouble, opening: Duration) -> (Endpoint, Diary) {
    let diary = Diary::default();
    let sluice = Sluice {
        diary: diary.clone(),
        trouble,
        opening,
    };
    (Endpoint::new(sluice), diary)
}

/// Notes its end, however it comes.
struct Passing(Diary);

impl Drop for Passing {
    fn drop(&mut self) {
        self.0.note("passed");
    }
}

impl Service for Sluice {
    fn about(&self) -> About {
        About::new(Implementation::new("sluice", "1"))
            .capabilities(ServerCapabilities::default().tools(false))
    }

    fn start(&self) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send + '_>> {
        self.diary.note("start");
        assert!(self.trouble != Trouble::PanicsAtOnce, "stuck at once");
        Box::pin(async {
            tokio::time::sleep(self.opening).await;
            assert!(self.trouble != Trouble::Panics, "stuck");
            match self.trouble {
                Trouble::Fails => Err(io::Error::new(io::ErrorKind::NotConnected, "no water")),
                _ => {
                    self.diary.note("started");
                    Ok(())
                }
            }
        })
    }

    fn stop(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            tokio::task::yield_now().await;
            self.diary.note("stop");
            assert!(self.trouble != Trouble::PanicsAtTheEnd, "stuck open");
        })
    }

    fn call_tool<'a>(
        &'a self,
        _: &'a Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        Box::pin(async move {
            self.diary.note("call");
            let _passing = Passing(self.diary.clone());
            let wait = match tool.name {
                "quick" => Duration::ZERO,
                "slow" => Duration::from_millis(100),
                "endless" => Duration::from_secs(600),
                other => return Err(Error::invalid_params(format!("Unknown tool: {other}"))),
            };
            tokio::time::sleep(wait).await;
            Ok(CallToolResult::text("through").into())
        })
    }
}

async fn ask(peer: &mut memory::Peer, tool: &str) -> Value {
    assert!(peer.send(call(1, tool, json!({})).to_string()).await);
    let answer = peer.receive().await.expect("an answer");
    serde_json::from_slice(&answer).expect("JSON")
}

fn mounted(mut service: http::HttpService) -> impl Future<Output = Value> {
    use http_body_util::BodyExt;
    let mut request = post(&call(1, "quick", json!({})));
    let host = "localhost".parse().expect("a header");
    request.headers_mut().insert("host", host);
    async move {
        let Ok(response) = tower_service::Service::call(&mut service, request).await;
        let body = response.into_body().collect().await.expect("a body");
        serde_json::from_slice(&body.to_bytes()).expect("JSON")
    }
}

async fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.expect("a port")
}

#[tokio::test]
async fn stdio_starts_first_and_stops_last() {
    let (endpoint, diary) = sluice_with(Trouble::None, Duration::from_millis(20));
    let line = format!("{}\n", call(1, "slow", json!({})));
    let mut output = Vec::new();
    stdio::serve_on(endpoint, line.as_bytes(), &mut output)
        .await
        .expect("served");
    assert!(String::from_utf8_lossy(&output).contains("through"));
    assert_eq!(
        diary.pages(),
        ["start", "started", "call", "passed", "stop"]
    );
}

#[tokio::test]
async fn memory_starts_first_and_stops_last() {
    let (endpoint, diary) = sluice();
    let mut peer = memory::connect(endpoint);
    assert_eq!(
        ask(&mut peer, "quick").await["result"]["content"][0]["text"],
        "through"
    );
    assert_eq!(diary.count("stop"), 0);
    drop(peer);
    until(|| diary.count("stop") == 1).await;
}

#[tokio::test]
async fn http_starts_first_and_stops_last() {
    let (endpoint, diary) = sluice();
    let server = Arc::new(Server::start(http::service(endpoint)).await);
    let waiting = tokio::spawn({
        let server = server.clone();
        async move { server.post(&call(1, "slow", json!({}))).await }
    });
    until(|| diary.count("call") == 1).await;
    server.shut_down();
    assert_eq!(waiting.await.expect("no panic").status, 200);
    until(|| diary.count("stop") == 1).await;
    assert_eq!(
        diary.pages(),
        ["start", "started", "call", "passed", "stop"]
    );
}

/// Calls that are dropped at the end are gone before the service stops.
#[tokio::test]
async fn what_is_cut_short_ends_before_the_stop() {
    // HTTP, beyond its drain.
    let (endpoint, diary) = sluice();
    let listener = listener().await;
    let address = listener.local_addr().expect("an address");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = http::serve(listener, http::service(endpoint))
        .drain(Duration::from_millis(20))
        .with_graceful_shutdown(async { _ = stopped.await });
    let serving = tokio::spawn(async move { serving.await });
    let mut stream = tokio::net::TcpStream::connect(address)
        .await
        .expect("connected");
    let body = call(1, "endless", json!({})).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: endless\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.expect("written");
    stream.write_all(body.as_bytes()).await.expect("written");
    until(|| diary.count("call") == 1).await;
    stop.send(()).expect("it runs");
    serving.await.expect("no panic").expect("no error");
    assert_eq!(
        diary.pages(),
        ["start", "started", "call", "passed", "stop"]
    );
    // stdio, when nobody reads any more.
    let (endpoint, diary) = sluice();
    let (ours, theirs) = tokio::io::duplex(1024);
    let (input, output) = tokio::io::split(theirs);
    let serving = tokio::spawn(stdio::serve_on(endpoint, input, output));
    let (reader, mut writer) = tokio::io::split(ours);
    for tool in ["endless", "quick"] {
        let line = format!("{}\n", call(tool, tool, json!({})));
        writer.write_all(line.as_bytes()).await.expect("written");
    }
    until(|| diary.count("call") >= 1).await;
    drop((reader, writer));
    serving.await.expect("no panic").expect("no error");
    let pages = diary.pages();
    assert_eq!(pages.last().map(String::as_str), Some("stop"));
    assert_eq!(diary.count("passed"), diary.count("call"));
}

#[tokio::test]
async fn several_transports_share_one_start_and_one_stop() {
    let (endpoint, diary) = sluice_with(Trouble::None, Duration::from_millis(20));
    let mut first = memory::connect(endpoint.clone());
    let mut second = memory::connect(endpoint.clone());
    let server = Server::start(http::service(endpoint)).await;
    let third = call(1, "quick", json!({}));
    let (one, two, three) = tokio::join!(
        ask(&mut first, "quick"),
        ask(&mut second, "quick"),
        server.post(&third)
    );
    for answer in [&one, &two, three.last()] {
        assert_eq!(answer["result"]["content"][0]["text"], "through");
    }
    assert_eq!(diary.pages()[..2], ["start", "started"]);
    drop(first);
    server.stop().await;
    assert_eq!(
        ask(&mut second, "quick").await["result"]["content"][0]["text"],
        "through"
    );
    assert_eq!(diary.count("stop"), 0);
    drop(second);
    until(|| diary.count("stop") == 1).await;
    assert_eq!(diary.count("start"), 1);
}

#[tokio::test]
async fn nothing_is_served_if_the_start_fails() {
    for trouble in [Trouble::Fails, Trouble::Panics, Trouble::PanicsAtOnce] {
        let (endpoint, diary) = sluice_with(trouble, Duration::ZERO);
        let expected = match trouble {
            Trouble::Fails => (io::ErrorKind::NotConnected, "no water"),
            _ => (io::ErrorKind::Other, "the service panicked as it started"),
        };
        let line = format!("{}\n", call(1, "quick", json!({})));
        let mut output = Vec::new();
        let error = stdio::serve_on(endpoint.clone(), line.as_bytes(), &mut output)
            .await
            .expect_err("not started");
        assert_eq!((error.kind(), &*error.to_string()), expected);
        assert!(output.is_empty());
        // It is said again, but not tried again.
        let error = http::serve(listener().await, http::service(endpoint.clone()))
            .await
            .expect_err("not started");
        assert_eq!((error.kind(), &*error.to_string()), expected);
        assert!(memory::connect(endpoint.clone()).receive().await.is_none());
        let answer = mounted(http::service(endpoint.clone())).await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert_eq!(answer["id"], 1);
        endpoint.stop().await;
        assert_eq!(diary.pages(), ["start"]);
    }
}

#[tokio::test]
async fn a_mounted_service_starts_at_its_first_request() {
    let (endpoint, diary) = sluice_with(Trouble::None, Duration::from_millis(20));
    let service = http::service(endpoint.clone());
    assert!(diary.pages().is_empty());
    let (one, two) = tokio::join!(mounted(service.clone()), mounted(service.clone()));
    for answer in [one, two] {
        assert_eq!(answer["result"]["content"][0]["text"], "through");
    }
    assert_eq!(diary.count("start"), 1);
    assert_eq!(diary.pages()[..2], ["start", "started"]);
    // Another transport that ends does not stop it.
    let (peer, server) = memory::pair();
    drop(peer);
    memory::serve(endpoint.clone(), server).await;
    mounted(service.clone()).await;
    assert_eq!(diary.count("stop"), 0);
    endpoint.stop().await;
    endpoint.stop().await;
    assert_eq!(diary.count("stop"), 1);
    assert_eq!(mounted(service).await["error"]["code"], -32603);
    assert_eq!(diary.count("start"), 1);
}

/// Whoever comes first may leave while the service starts; it is not started over.
/// What a start needs may come up later than the server.
#[tokio::test]
async fn a_start_that_failed_is_tried_again() {
    struct Late(std::sync::atomic::AtomicUsize);
    impl Service for Late {
        fn about(&self) -> About {
            About::new(Implementation::new("late", "1"))
                .capabilities(ServerCapabilities::default().tools(false))
        }
        fn start(&self) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send + '_>> {
            let before = self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            Box::pin(async move {
                match before {
                    0 => Err(io::Error::other("no database yet")),
                    _ => Ok(()),
                }
            })
        }
        fn call_tool<'a>(
            &'a self,
            _: &'a Call<'a>,
            _: CallTool<'a>,
        ) -> Answering<'a, Reply<CallToolResult>> {
            Box::pin(async { Ok(CallToolResult::text("through").into()) })
        }
    }
    let service = http::service(Late(Default::default()));
    assert_eq!(mounted(service.clone()).await["error"]["code"], -32603);
    // Not at once: a flood of requests is no flood of starts.
    assert_eq!(mounted(service.clone()).await["error"]["code"], -32603);
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let answer = mounted(service).await;
    assert_eq!(
        answer["result"]["content"][0]["text"], "through",
        "{answer}"
    );
}

#[tokio::test]
async fn a_start_outlives_the_request_that_caused_it() {
    let (endpoint, diary) = sluice_with(Trouble::None, Duration::from_millis(50));
    let service = http::service(endpoint);
    let first = tokio::spawn(mounted(service.clone()));
    until(|| diary.count("start") == 1).await;
    first.abort();
    let answer = mounted(service).await;
    assert_eq!(answer["result"]["content"][0]["text"], "through");
    assert_eq!(diary.pages()[..2], ["start", "started"]);
    assert_eq!(diary.count("start"), 1);
}

#[tokio::test]
async fn started_by_hand_it_is_stopped_by_hand() {
    let (endpoint, diary) = sluice();
    endpoint.start().await.expect("started");
    endpoint.start().await.expect("still started");
    for _ in 0..2 {
        let (mut peer, server) = memory::pair();
        let serving = tokio::spawn(memory::serve(endpoint.clone(), server));
        ask(&mut peer, "quick").await;
        drop(peer);
        serving.await.expect("no panic");
    }
    assert_eq!((diary.count("start"), diary.count("stop")), (1, 0));
    tokio::join!(endpoint.stop(), endpoint.stop());
    assert_eq!((diary.count("start"), diary.count("stop")), (1, 1));
}

#[tokio::test]
async fn a_panic_at_the_end_is_contained() {
    let (endpoint, diary) = sluice_with(Trouble::PanicsAtTheEnd, Duration::ZERO);
    let mut output = Vec::new();
    stdio::serve_on(endpoint.clone(), &b""[..], &mut output)
        .await
        .expect("served");
    endpoint.stop().await;
    assert_eq!(diary.count("stop"), 1);
}

#[tokio::test]
async fn one_connection_after_the_other_starts_and_stops_each_time() {
    let (endpoint, diary) = sluice();
    let mut output = Vec::new();
    for _ in 0..2 {
        stdio::serve_on(endpoint.clone(), &b""[..], &mut output)
            .await
            .expect("served");
    }
    let once = ["start", "started", "stop"];
    assert_eq!(diary.pages(), [once, once].concat());
}

#[tokio::test]
async fn what_was_stopped_by_hand_does_not_start_again() {
    let (endpoint, diary) = sluice();
    endpoint.start().await.expect("started");
    endpoint.stop().await;
    endpoint.start().await.expect_err("stopped");
    let mut output = Vec::new();
    let served = stdio::serve_on(endpoint, &b""[..], &mut output).await;
    assert!(served.is_err());
    assert_eq!(diary.pages(), ["start", "started", "stop"]);
    // Stopped before it ever started: there was nothing to stop.
    let (endpoint, diary) = sluice();
    endpoint.stop().await;
    endpoint.start().await.expect_err("stopped");
    assert!(diary.pages().is_empty());
}
