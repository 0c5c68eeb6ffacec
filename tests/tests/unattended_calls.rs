//! Calls that run to their end though their client leaves, and what ends them nevertheless.

use std::{
    future::Future,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use antiphon::{
    Limits, http, memory,
    raw::{About, Answered, Answering, Call, CallTool, Endpoint, Error, Observed, Reply, Service},
    stdio,
    types::{CallToolResult, Implementation, ServerCapabilities, SubscriptionFilter},
};
use antiphon_tests::{
    call,
    http::{Server, open, post, send},
    request, until, with_meta,
};
use http_body_util::BodyExt;
use hyper::{Response, body::Incoming};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines},
    sync::Semaphore,
    task::JoinHandle,
    time::{Instant, timeout},
};

/// A ferry: who is on board when it casts off arrives, whoever still waits on the quay.
struct Ferry {
    log: Log,
    /// Let through one by one.
    lock: Arc<Semaphore>,
}

/// What happened, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<&'static str>>>);

impl Log {
    fn note(&self, what: &'static str) {
        self.0.lock().expect("not poisoned").push(what);
    }

    fn pages(&self) -> Vec<&'static str> {
        self.0.lock().expect("not poisoned").clone()
    }

    /// All but when tokens were cancelled, which other tasks note.
    fn voyage(&self) -> Vec<&'static str> {
        let mut pages = self.pages();
        pages.retain(|page| *page != "over");
        pages
    }

    fn has(&self, what: &str) -> bool {
        self.pages().contains(&what)
    }
}

fn ferry() -> (Endpoint, Log, Arc<Semaphore>) {
    ferry_with(Limits::default())
}

fn ferry_with(limits: Limits) -> (Endpoint, Log, Arc<Semaphore>) {
    let (log, lock) = (Log::default(), Arc::new(Semaphore::new(0)));
    let ferry = Ferry {
        log: log.clone(),
        lock: lock.clone(),
    };
    (Endpoint::with_limits(ferry, limits), log, lock)
}

/// Notes that a crossing was dropped, unless it arrived.
struct Crossing<'a> {
    log: &'a Log,
    sunk: &'static str,
}

impl Crossing<'_> {
    fn arrive(mut self) {
        self.sunk = "arrived";
    }
}

impl Drop for Crossing<'_> {
    fn drop(&mut self) {
        self.log.note(self.sunk);
    }
}

impl Ferry {
    async fn pass_the_lock(&self) {
        self.lock.acquire().await.expect("never closed").forget();
    }

    async fn sail(&self, call: &Call<'_>, tool: &str) -> Result<(), Error> {
        match tool {
            "quick" => return Ok(()),
            // Casts off; on request it says so first.
            "sail" => call.run_to_end(),
            // Never casts off.
            "drift" => {}
            // Casts off only after the lock.
            "dither" => {
                let crossing = Crossing {
                    log: &self.log,
                    sunk: "dithered",
                };
                self.log.note("dithers");
                self.pass_the_lock().await;
                call.run_to_end();
                crossing.arrive();
                return Ok(());
            }
            // Casts off in the very poll in which it hears that nobody comes along.
            "rush" => {
                call.progress().report(1);
                tokio::task::yield_now().await;
                self.log.note("rushes");
                let left = || self.lock.try_acquire().map(|through| through.forget());
                while left().is_err() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                call.run_to_end();
            }
            other => return Err(Error::invalid_params(format!("Unknown tool: {other}"))),
        }
        let crossing = Crossing {
            log: &self.log,
            sunk: if tool == "drift" { "drifted" } else { "sunk" },
        };
        call.progress().report(2);
        let (token, log) = (call.cancellation(), self.log.clone());
        tokio::spawn(async move {
            token.cancelled().await;
            log.note("over");
        });
        self.log.note("sails");
        self.pass_the_lock().await;
        call.progress().report(3);
        // The effect.
        crossing.arrive();
        Ok(())
    }
}

impl Service for Ferry {
    fn about(&self) -> About {
        let log = self.log.clone();
        let offers = ServerCapabilities::default().tools(true);
        About::new(Implementation::new("ferry", "1"))
            .capabilities(offers)
            .changes(antiphon::raw::Changes::new())
            .observer(move |answered: &Answered<'_>| match answered.outcome {
                Observed::Abandoned => log.note("abandoned"),
                Observed::Complete if answered.target != Some("quick") => log.note("complete"),
                _ => {}
            })
    }

    fn stop(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async { self.log.note("stop") })
    }

    fn call_tool<'a>(
        &'a self,
        call: &'a Call<'a>,
        tool: CallTool<'a>,
    ) -> Answering<'a, Reply<CallToolResult>> {
        Box::pin(async move {
            self.sail(call, tool.name).await?;
            Ok(CallToolResult::text(tool.name).into())
        })
    }

    fn listen<'a>(
        &'a self,
        call: &'a Call<'a>,
        filter: SubscriptionFilter,
    ) -> Answering<'a, SubscriptionFilter> {
        call.run_to_end();
        Box::pin(async move { Ok(filter) })
    }
}

fn tool(name: &str) -> Value {
    call(1, name, json!({}))
}

/// A server that has room for one connection: once another is answered, the first is gone.
struct Narrow {
    address: SocketAddr,
    stop: tokio_util::sync::CancellationToken,
    task: JoinHandle<std::io::Result<()>>,
}

impl Narrow {
    async fn start(endpoint: &Endpoint, drain: Duration) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port");
        let address = listener.local_addr().expect("an address");
        let stop = tokio_util::sync::CancellationToken::new();
        let serving = http::serve(listener, http::service(endpoint.clone()))
            .connections(1)
            .drain(drain)
            .with_graceful_shutdown(stop.clone().cancelled_owned());
        Self {
            address,
            stop,
            task: tokio::spawn(async move { serving.await }),
        }
    }

    /// Calls a tool, with or without a stream, and leaves once it has begun.
    async fn call_and_leave(&self, name: &str, streams: bool, begun: impl Fn() -> bool) {
        if streams {
            let message = with_meta(tool(name), "progressToken", 1);
            let response = open(self.address, post(&message)).await;
            let body = first_event(response).await;
            until(begun).await;
            drop(body);
        } else {
            let calling = tokio::spawn(send(self.address, post(&tool(name))));
            until(begun).await;
            calling.abort();
        }
        let next = timeout(
            Duration::from_secs(20),
            send(self.address, post(&tool("quick"))),
        );
        assert_eq!(next.await.expect("the other is gone").status, 200);
    }

    /// Calls a tool, with or without a stream, and waits for ever.
    fn call_and_stay(&self, name: &str, streams: bool) {
        let mut message = tool(name);
        if streams {
            message = with_meta(message, "progressToken", 1);
        }
        let address = self.address;
        tokio::spawn(async move {
            let _response = open(address, post(&message)).await;
            std::future::pending::<()>().await;
        });
    }

    async fn stop(self) {
        self.stop.cancel();
        self.task.await.expect("no panic").expect("no error");
    }
}

/// Reads the beginning of a stream, which stays open.
async fn first_event(response: Response<Incoming>) -> Incoming {
    let mut body = response.into_body();
    let frame = body.frame().await.expect("open").expect("a frame");
    let data = frame.data_ref().expect("data");
    assert!(data.starts_with(b"data: {"), "{data:?}");
    body
}

const LONG: Duration = Duration::from_secs(30);

#[tokio::test]
async fn over_http_it_happens_though_the_client_leaves() {
    for streams in [false, true] {
        let (endpoint, log, lock) = ferry();
        let server = Narrow::start(&endpoint, LONG).await;
        let begun = || log.has("sails");
        server.call_and_leave("sail", streams, begun).await;
        assert_eq!((endpoint.calls(), log.pages()), (1, vec!["sails"]));
        lock.add_permits(1);
        until(|| log.has("over")).await;
        until(|| endpoint.calls() == 0).await;
        assert_eq!(log.pages(), ["sails", "arrived", "complete", "over"]);
        server.stop().await;
    }
}

#[tokio::test]
async fn over_http_others_are_dropped_with_their_client() {
    for streams in [false, true] {
        let (endpoint, log, lock) = ferry();
        let server = Narrow::start(&endpoint, LONG).await;
        let begun = || log.has("sails");
        server.call_and_leave("drift", streams, begun).await;
        until(|| endpoint.calls() == 0).await;
        lock.add_permits(1);
        server.stop().await;
        assert_eq!(log.pages()[..3], ["sails", "drifted", "abandoned"]);
        assert!(!log.has("arrived"));
    }
}

/// Whoever stays is answered as ever.
#[tokio::test]
async fn a_client_that_stays_is_answered() {
    let (endpoint, log, lock) = ferry();
    let server = Server::start(http::service(endpoint)).await;
    lock.add_permits(2);
    let answer = server.post(&tool("sail")).await;
    assert_eq!(answer.last()["result"]["content"][0]["text"], "sail");
    let answer = server
        .post(&with_meta(tool("sail"), "progressToken", 1))
        .await;
    assert_eq!(answer.messages.len(), 3, "{}", answer.text);
    assert_eq!(answer.last()["result"]["content"][0]["text"], "sail");
    let arrived = |pages: Vec<_>| pages.iter().filter(|page| **page == "arrived").count();
    assert_eq!(arrived(log.pages()), 2);
}

/// What was answered is not taken for what its client left.
#[tokio::test]
async fn nothing_is_left_of_what_was_answered() {
    let (endpoint, log, lock) = ferry();
    let mut response = mounted(&endpoint, "sail", &log).await;
    lock.add_permits(1);
    let Ok(answer) = (&mut response).await;
    assert_eq!(answer.status(), 200);
    let tasks = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    let before = tasks();
    drop(response);
    assert_eq!(tasks(), before);
}

/// A stream's client leaves in the very moment in which the call decides to run to its end.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn leaving_at_the_same_moment_drops_nothing_that_runs_to_its_end() {
    let (endpoint, log, lock) = ferry();
    let server = Narrow::start(&endpoint, LONG).await;
    let begun = || log.has("rushes");
    server.call_and_leave("rush", true, begun).await;
    sail_through(&log, &lock).await;
    server.stop().await;
}

/// A graceful shutdown waits for such a call too.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_call_that_decides_late_is_waited_for() {
    let (endpoint, log, lock) = ferry();
    let server = Narrow::start(&endpoint, LONG).await;
    let begun = || log.has("rushes");
    server.call_and_leave("rush", true, begun).await;
    lock.add_permits(1);
    until(|| log.has("sails")).await;
    server.stop.cancel();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!server.task.is_finished(), "{:?}", log.pages());
    lock.add_permits(1);
    server.stop().await;
    let expected = ["rushes", "sails", "arrived", "complete", "stop"];
    assert_eq!(log.voyage(), expected);
}

/// Lets a call that rushes go on, and then to its end.
async fn sail_through(log: &Log, lock: &Semaphore) {
    lock.add_permits(1);
    until(|| log.has("sails")).await;
    // It waits by now, and would be dropped if it could.
    tokio::time::sleep(Duration::from_millis(50)).await;
    lock.add_permits(1);
    until(|| log.has("complete") || log.has("abandoned")).await;
    assert_eq!(log.voyage(), ["rushes", "sails", "arrived", "complete"]);
}

#[tokio::test]
async fn a_graceful_shutdown_waits_and_the_stop_comes_after() {
    for streams in [false, true] {
        let (endpoint, log, lock) = ferry();
        let server = Narrow::start(&endpoint, LONG).await;
        let begun = || log.has("sails");
        server.call_and_leave("sail", streams, begun).await;
        server.stop.cancel();
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(!server.task.is_finished());
        lock.add_permits(1);
        server.stop().await;
        assert_eq!(log.voyage(), ["sails", "arrived", "complete", "stop"]);
    }
}

#[tokio::test]
async fn beyond_the_drain_it_is_dropped_before_the_stop() {
    for streams in [false, true] {
        let (endpoint, log, _lock) = ferry();
        let server = Narrow::start(&endpoint, Duration::from_millis(20)).await;
        let begun = || log.has("sails");
        server.call_and_leave("sail", streams, begun).await;
        server.stop().await;
        assert_eq!(log.voyage(), ["sails", "sunk", "abandoned", "stop"]);
        // A client that is still there does not make it run longer.
        let (endpoint, log, _lock) = ferry();
        let server = Narrow::start(&endpoint, Duration::from_millis(20)).await;
        server.call_and_stay("sail", streams);
        until(|| log.has("sails")).await;
        server.stop().await;
        assert_eq!(log.voyage(), ["sails", "sunk", "abandoned", "stop"]);
    }
}

#[tokio::test]
async fn dropping_the_server_ends_everything() {
    for streams in [false, true] {
        for leaves in [false, true] {
            let (endpoint, log, lock) = ferry();
            let server = Narrow::start(&endpoint, LONG).await;
            let begun = || log.has("sails");
            if leaves {
                server.call_and_leave("sail", streams, begun).await;
            } else {
                server.call_and_stay("sail", streams);
                until(begun).await;
            }
            server.task.abort();
            until(|| endpoint.calls() == 0).await;
            lock.add_permits(1);
            tokio::task::yield_now().await;
            assert!(log.has("sunk"), "{:?}", log.pages());
            assert!(!log.has("arrived"), "{:?}", log.pages());
        }
    }
}

/// Nobody gets round the limit by leaving.
#[tokio::test]
async fn it_counts_as_a_running_call() {
    let (endpoint, log, lock) = ferry_with(Limits::new().calls(2));
    let server = Narrow::start(&endpoint, LONG).await;
    let begun = || log.has("sails");
    server.call_and_leave("sail", false, begun).await;
    let other = tokio::spawn(send(server.address, post(&tool("sail"))));
    until(|| endpoint.calls() == 2).await;
    other.abort();
    let refused = send(server.address, post(&tool("quick"))).await;
    assert_eq!(refused.status, 503);
    lock.add_permits(2);
    until(|| endpoint.calls() == 0).await;
    let answer = send(server.address, post(&tool("quick"))).await;
    assert_eq!(answer.status, 200);
}

/// Calls a tool as another server would, and returns what is about to answer once it has begun.
async fn mounted(
    endpoint: &Endpoint,
    name: &str,
    log: &Log,
) -> http::ResponseFuture<http_body_util::Full<bytes::Bytes>> {
    let mut request = post(&tool(name));
    let host = "localhost".parse().expect("a header");
    request.headers_mut().insert("host", host);
    let mut service = http::service(endpoint.clone());
    let mut response = tower_service::Service::call(&mut service, request);
    tokio::select! {
        _ = &mut response => unreachable!("it waits"),
        () = until(|| log.has("sails")) => {}
    }
    response
}

#[tokio::test]
async fn stopping_a_mounted_service_waits_for_it() {
    let (endpoint, log, lock) = ferry();
    drop(mounted(&endpoint, "sail", &log).await);
    assert_eq!(endpoint.calls(), 1);
    let stopping = tokio::spawn({
        let endpoint = endpoint.clone();
        async move { endpoint.stop().await }
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(log.pages(), ["sails"]);
    lock.add_permits(1);
    stopping.await.expect("no panic");
    assert_eq!(log.voyage(), ["sails", "arrived", "complete", "stop"]);
}

#[tokio::test]
async fn stopping_a_mounted_service_does_not_wait_for_ever() {
    let (endpoint, log, _lock) = ferry();
    drop(mounted(&endpoint, "sail", &log).await);
    tokio::time::pause();
    let before = Instant::now();
    endpoint.stop().await;
    assert_eq!(before.elapsed().as_secs(), 60);
    assert_eq!(log.voyage(), ["sails", "sunk", "abandoned", "stop"]);
}

/// Nobody can run it there; nothing breaks either.
#[test]
fn leaving_outside_a_runtime_drops_it() {
    let (endpoint, log, _lock) = ferry();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let response = runtime.block_on(mounted(&endpoint, "sail", &log));
    drop(response);
    assert_eq!(endpoint.calls(), 0);
    assert_eq!(log.pages(), ["sails", "sunk", "abandoned"]);
}

#[test]
fn dropping_the_runtime_ends_everything() {
    use tokio::runtime::Builder;
    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        for leaves in [false, true] {
            let (endpoint, log, _lock) = ferry();
            let runtime = builder.enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let response = mounted(&endpoint, "sail", &log).await;
                if leaves {
                    drop(response);
                } else {
                    tokio::spawn(response);
                }
            });
            assert_eq!(endpoint.calls(), 1);
            drop(runtime);
            assert_eq!(endpoint.calls(), 0);
            assert!(log.has("sunk"), "{:?}", log.pages());
        }
    }
}

/// The client's end of a channel that carries many requests.
enum Channel {
    Memory(memory::Peer),
    Stdio {
        input: DuplexStream,
        output: Lines<BufReader<DuplexStream>>,
    },
}

#[derive(Clone, Copy, PartialEq)]
enum Wire {
    Memory,
    Stdio,
}

impl Channel {
    /// Opens one; the task ends when the server has.
    fn open(wire: Wire, endpoint: &Endpoint) -> (Self, JoinHandle<()>) {
        let endpoint = endpoint.clone();
        match wire {
            Wire::Memory => {
                let (client, server) = memory::pair();
                let serving = tokio::spawn(memory::serve(endpoint, server));
                (Self::Memory(client), serving)
            }
            Wire::Stdio => {
                let (input, theirs) = tokio::io::duplex(64 * 1024);
                let (output, ours) = tokio::io::duplex(64 * 1024);
                let serving = tokio::spawn(async move {
                    let served = stdio::serve_on(endpoint, theirs, ours).await;
                    served.expect("no error");
                });
                let output = BufReader::new(output).lines();
                (Self::Stdio { input, output }, serving)
            }
        }
    }

    async fn send(&mut self, message: &Value) {
        match self {
            Self::Memory(peer) => assert!(peer.send(message.to_string()).await),
            Self::Stdio { input, .. } => {
                let line = format!("{message}\n");
                input.write_all(line.as_bytes()).await.expect("written");
            }
        }
    }

    /// The next message, whatever it is about.
    async fn receive(&mut self) -> Value {
        let received = async {
            match self {
                Self::Memory(peer) => peer.receive().await.expect("open").to_vec(),
                Self::Stdio { output, .. } => {
                    let line = output.next_line().await.expect("readable");
                    line.expect("open").into_bytes()
                }
            }
        };
        let received = timeout(Duration::from_secs(20), received).await;
        serde_json::from_slice(&received.expect("in time")).expect("JSON")
    }

    /// Calls the tool that answers at once, under this id.
    async fn quick(&mut self, id: u32) {
        self.send(&call(id, "quick", json!({}))).await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], id, "{answer}");
        assert_eq!(answer["result"]["content"][0]["text"], "quick");
    }

    async fn cancel(&mut self, id: u32) {
        let params = json!({ "requestId": id });
        self.send(&json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params
        }))
        .await;
    }
}

#[tokio::test]
async fn a_cancelled_call_runs_to_its_end_and_says_nothing() {
    for wire in [Wire::Memory, Wire::Stdio] {
        let (endpoint, log, lock) = ferry();
        let (mut channel, serving) = Channel::open(wire, &endpoint);
        let message = with_meta(call(1, "sail", json!({})), "progressToken", 1);
        channel.send(&message).await;
        assert_eq!(channel.receive().await["method"], "notifications/progress");
        channel.cancel(1).await;
        // Its id is free again.
        channel.quick(1).await;
        assert_eq!((endpoint.calls(), log.pages()), (1, vec!["sails"]));
        // Once more, and of no effect on the first.
        channel.cancel(1).await;
        channel.quick(1).await;
        lock.add_permits(1);
        until(|| log.has("over")).await;
        until(|| endpoint.calls() == 0).await;
        channel.quick(2).await;
        assert_eq!(log.pages(), ["sails", "arrived", "complete", "over"]);
        drop(channel);
        serving.await.expect("no panic");
    }
}

#[tokio::test]
async fn other_cancelled_calls_are_dropped() {
    for wire in [Wire::Memory, Wire::Stdio] {
        for (name, begun) in [("drift", "sails"), ("dither", "dithers")] {
            let (endpoint, log, lock) = ferry();
            let (mut channel, _serving) = Channel::open(wire, &endpoint);
            channel.send(&tool(name)).await;
            until(|| log.has(begun)).await;
            channel.cancel(1).await;
            until(|| log.has("abandoned")).await;
            lock.add_permits(1);
            channel.quick(1).await;
            assert_eq!(endpoint.calls(), 0);
            assert!(!log.has("arrived"), "{:?}", log.pages());
        }
    }
}

/// The cancellation comes in the very moment in which the call decides to run to its end.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn cancelling_at_the_same_moment_drops_nothing_that_runs_to_its_end() {
    for wire in [Wire::Memory, Wire::Stdio] {
        let (endpoint, log, lock) = ferry();
        let (mut channel, _serving) = Channel::open(wire, &endpoint);
        channel.send(&tool("rush")).await;
        until(|| log.has("rushes")).await;
        channel.cancel(1).await;
        // It is cancelled by now, and has not heard of it.
        channel.quick(1).await;
        sail_through(&log, &lock).await;
    }
}

#[tokio::test]
async fn it_outlives_its_connection_and_the_stop_comes_after() {
    for wire in [Wire::Memory, Wire::Stdio] {
        let (endpoint, log, lock) = ferry();
        let (mut channel, serving) = Channel::open(wire, &endpoint);
        for (id, name) in [(1, "sail"), (2, "sail"), (3, "drift")] {
            channel.send(&call(id, name, json!({}))).await;
        }
        channel.cancel(1).await;
        channel.quick(4).await;
        assert_eq!(endpoint.calls(), 3);
        drop(channel);
        until(|| log.has("abandoned")).await;
        assert_eq!(endpoint.calls(), 2);
        assert!(!serving.is_finished());
        lock.add_permits(2);
        serving.await.expect("no panic");
        let twice = ["arrived", "complete", "arrived", "complete", "stop"];
        assert_eq!(log.voyage()[3..5], ["drifted", "abandoned"]);
        assert_eq!(log.voyage()[5..], twice);
    }
}

/// A client may die without closing what it writes to.
#[tokio::test]
async fn it_outlives_a_reader_that_is_gone() {
    let (endpoint, log, lock) = ferry();
    let (channel, serving) = Channel::open(Wire::Stdio, &endpoint);
    let Channel::Stdio { mut input, output } = channel else {
        unreachable!("it is stdio")
    };
    drop(output);
    for name in ["sail", "drift", "quick"] {
        let line = format!("{}\n", call(name, name, json!({})));
        input.write_all(line.as_bytes()).await.expect("written");
    }
    until(|| log.has("drifted")).await;
    assert!(!serving.is_finished());
    lock.add_permits(1);
    serving.await.expect("no panic");
    assert!(log.has("arrived") && log.has("stop"), "{:?}", log.pages());
}

#[tokio::test]
async fn a_closed_connection_does_not_wait_for_ever() {
    for wire in [Wire::Memory, Wire::Stdio] {
        let (endpoint, log, _lock) = ferry();
        let (mut channel, serving) = Channel::open(wire, &endpoint);
        for id in [1, 2] {
            channel.send(&call(id, "sail", json!({}))).await;
        }
        channel.cancel(1).await;
        channel.quick(3).await;
        tokio::time::pause();
        let before = Instant::now();
        drop(channel);
        serving.await.expect("no panic");
        assert_eq!(before.elapsed().as_secs(), 60);
        let sunk = log.pages().iter().filter(|page| **page == "sunk").count();
        assert_eq!((sunk, endpoint.calls()), (2, 0));
        assert!(log.has("stop"));
        tokio::time::resume();
    }
}

#[tokio::test]
async fn dropping_what_serves_a_connection_ends_everything() {
    for wire in [Wire::Memory, Wire::Stdio] {
        let (endpoint, log, lock) = ferry();
        let (mut channel, serving) = Channel::open(wire, &endpoint);
        for id in [1, 2] {
            channel.send(&call(id, "sail", json!({}))).await;
        }
        channel.cancel(1).await;
        channel.quick(3).await;
        assert_eq!(endpoint.calls(), 2);
        serving.abort();
        until(|| endpoint.calls() == 0).await;
        lock.add_permits(2);
        tokio::task::yield_now().await;
        assert!(!log.has("arrived"), "{:?}", log.pages());
    }
}

/// A subscription has no end of its own; with nobody left to hear, it comes to one.
#[tokio::test]
async fn a_subscription_ends_with_its_client_all_the_same() {
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let listen = request(1, "subscriptions/listen", filter);
    let (endpoint, _log, _lock) = ferry();
    let server = Server::start(http::service(endpoint.clone())).await;
    let body = first_event(server.open(post(&listen)).await).await;
    assert_eq!(endpoint.calls(), 1);
    drop(body);
    until(|| endpoint.calls() == 0).await;
    for wire in [Wire::Memory, Wire::Stdio] {
        let (mut channel, _serving) = Channel::open(wire, &endpoint);
        channel.send(&listen).await;
        let acknowledged = channel.receive().await;
        assert_eq!(
            acknowledged["method"],
            "notifications/subscriptions/acknowledged"
        );
        channel.cancel(1).await;
        until(|| endpoint.calls() == 0).await;
        channel.quick(1).await;
    }
}
