//! Calls of older clients that run to their end, whatever becomes of client, session and server.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon::{
    http,
    raw::{About, Answering, Call, CallTool, Endpoint, Reply, Service},
    types::{CallToolResult, Implementation, ServerCapabilities},
};
use antiphon_tests::{
    http::Server,
    log::Log,
    older_http::{Older, call, text, watched},
    until,
};
use serde_json::json;
use tokio::sync::{Semaphore, oneshot};

/// A ferry that arrives once it has cast off, and one that does not care.
struct Ferry {
    arrived: Arc<AtomicUsize>,
    lock: Arc<Semaphore>,
}

impl Service for Ferry {
    fn about(&self) -> About {
        About::new(Implementation::new("ferry", "1"))
            .capabilities(ServerCapabilities::default().tools(false))
    }

    fn call_tool<'a>(
        &'a self,
        call: &'a Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        Box::pin(async move {
            if tool.name == "sail" {
                call.run_to_end();
            }
            call.progress().report(1);
            self.lock.acquire().await.expect("never closed").forget();
            self.arrived.fetch_add(1, Ordering::SeqCst);
            Ok(CallToolResult::text("arrived").into())
        })
    }
}

struct Quay {
    endpoint: Endpoint,
    arrived: Arc<AtomicUsize>,
    lock: Arc<Semaphore>,
}

impl Quay {
    fn new() -> Self {
        let (arrived, lock) = (Arc::<AtomicUsize>::default(), Arc::new(Semaphore::new(0)));
        let ferry = Ferry {
            arrived: arrived.clone(),
            lock: lock.clone(),
        };
        Self {
            endpoint: Endpoint::new(ferry),
            arrived,
            lock,
        }
    }

    fn arrived(&self) -> usize {
        self.arrived.load(Ordering::SeqCst)
    }

    async fn serve(&self) -> (Server, Older) {
        let server = Server::start(http::service(self.endpoint.clone())).await;
        let client = Older::open(server.address, "2025-11-25").await;
        (server, client)
    }
}

/// Cancelled, nobody hears of it any more; it arrives all the same.
#[tokio::test]
async fn what_is_cancelled_runs_to_its_end() {
    let quay = Quay::new();
    let (_server, client) = quay.serve().await;
    let mut stream = client.stream(&watched(1, "sail", json!({}))).await;
    stream.message().await;
    let silent = client.clone();
    let silent = tokio::spawn(async move { silent.call(2, "sail", json!({})).await });
    until(|| quay.endpoint.calls() == 2).await;
    for id in [1, 2] {
        assert_eq!(client.cancel(id).await, 202);
    }
    assert_eq!(stream.next().await, None, "the stream does not wait for it");
    assert_eq!(silent.await.expect("no panic").messages.len(), 0);
    assert_eq!(quay.endpoint.calls(), 2);
    quay.lock.add_permits(2);
    until(|| quay.endpoint.calls() == 0).await;
    assert_eq!(quay.arrived(), 2);
}

/// A session that ends says so to all its calls, and drops those that may be dropped.
#[tokio::test]
async fn what_a_session_leaves_behind_runs_to_its_end() {
    let quay = Quay::new();
    let (_server, client) = quay.serve().await;
    let mut streams = Vec::new();
    for (id, tool) in [(1, "sail"), (2, "drift")] {
        let mut stream = client.stream(&watched(id, tool, json!({}))).await;
        stream.message().await;
        streams.push((id, stream));
    }
    assert_eq!(client.delete().await, 204);
    for (id, stream) in streams {
        let answer = stream.rest().await.pop().expect("an answer").data;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(id), &json!(-32603))
        );
    }
    until(|| quay.endpoint.calls() == 1).await;
    quay.lock.add_permits(2);
    until(|| quay.endpoint.calls() == 0).await;
    assert_eq!(quay.arrived(), 1);
}

/// Mounted in another's server: whoever stops the service waits.
#[tokio::test]
async fn a_service_that_stops_waits_for_calls_of_sessions() {
    let quay = Quay::new();
    let app = axum::Router::new().route_service("/mcp", http::service(quay.endpoint.clone()));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = axum::serve(listener, app).with_graceful_shutdown(async {
        _ = stopped.await;
    });
    let serving = tokio::spawn(async move { serving.await });
    let client = Older::open(address, "2025-11-25").await;
    let mut standalone = client.listen(None).await;
    standalone.next().await;
    let mut stream = client.stream(&watched(1, "drift", json!({}))).await;
    stream.message().await;
    drop(stream);
    stop.send(()).expect("it listens");
    quay.endpoint.end_subscriptions();
    assert_eq!(standalone.next().await, None);
    serving.await.expect("no panic").expect("no error");
    let endpoint = quay.endpoint.clone();
    let stopping = tokio::spawn(async move { endpoint.stop().await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!stopping.is_finished());
    quay.lock.add_permits(1);
    stopping.await.expect("no panic");
    assert_eq!(quay.arrived(), 1);
}

/// A server waits for its calls, but not for ever, and says what it dropped.
#[tokio::test]
async fn a_server_drops_what_takes_too_long_and_says_so() {
    let (log, _guard) = Log::of_everything();
    let quay = Quay::new();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = http::serve(listener, http::service(quay.endpoint.clone()))
        .drain(Duration::from_millis(200))
        .with_graceful_shutdown(async {
            _ = stopped.await;
        });
    let serving = tokio::spawn(async move { serving.await });
    let client = Older::open(address, "2025-11-25").await;
    for (id, tool) in [(1, "sail"), (2, "drift")] {
        let mut stream = client.stream(&watched(id, tool, json!({}))).await;
        stream.message().await;
    }
    let mut kept = client.stream(&watched(3, "drift", json!({}))).await;
    kept.message().await;
    stop.send(()).expect("it listens");
    serving.await.expect("no panic").expect("no error");
    assert_eq!((quay.endpoint.calls(), quay.arrived()), (0, 0));
    let text = log.text();
    assert!(text.contains("unattended_calls=3"), "{text}");
    assert!(text.contains("calls were still running and are dropped"));
}

/// Dropping the future that serves ends everything.
#[tokio::test]
async fn what_serves_takes_its_sessions_calls_along() {
    let quay = Quay::new();
    let (server, client) = quay.serve().await;
    for id in [1, 2] {
        let mut stream = client.stream(&watched(id, "sail", json!({}))).await;
        stream.message().await;
    }
    assert_eq!(quay.endpoint.calls(), 2);
    drop(server);
    until(|| quay.endpoint.calls() == 0).await;
    assert_eq!(quay.arrived(), 0);
}

/// Without sessions there is nothing a call could belong to, so it ends with its connection.
#[tokio::test]
async fn without_a_session_who_leaves_has_cancelled() {
    let quay = Quay::new();
    let service = http::service(quay.endpoint.clone()).stateless();
    let server = Server::start(service).await;
    let client = Older::new(server.address, "2025-06-18");
    for tool in ["drift", "sail"] {
        let request = client.request("POST", call(1, tool, json!({})).to_string());
        let left = tokio::time::timeout(Duration::from_millis(100), client.begin(request)).await;
        assert!(left.is_err(), "not answered yet");
    }
    until(|| quay.endpoint.calls() == 1).await;
    quay.lock.add_permits(1);
    until(|| quay.arrived() == 1).await;
    quay.lock.add_permits(1);
    let answer = client.call(2, "drift", json!({})).await;
    assert_eq!(text(answer.last()), "arrived");
}
