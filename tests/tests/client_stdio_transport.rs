//! The client's way to a server in a process of its own, with real processes: whether they are gone
//! is looked up in `/proc`.
#![cfg(target_os = "linux")]

use std::{
    future::poll_fn,
    path::Path,
    process::Command,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use antiphon::client::{
    Connect, Error, ErrorKind, Event, Events, Identity, Incoming, Outgoing, Process, Stderr, Stdio,
    Streams, Transport,
};
use antiphon_tests::{call, harbour, log::Log, request, until, with_meta};
use serde_json::{Value, json};
use tokio::time::timeout;

const BINARY: &str = env!("CARGO_BIN_EXE_antiphon-tests-stdio");

/// How long anything may take; a test that waits longer has found a hang.
const PATIENCE: Duration = Duration::from_secs(20);

/// What was reported.
#[derive(Clone, Default)]
struct Reported(Arc<Mutex<Vec<Event>>>);

impl Reported {
    fn events(&self) -> Events {
        let log = self.0.clone();
        Events::new(move |event| log.lock().expect("not poisoned").push(event))
    }

    fn noise(&self) -> Vec<String> {
        self.told(|event| match event {
            Event::Noise(what) => Some(what.clone()),
            _ => None,
        })
    }

    fn told(&self, of: impl Fn(&Event) -> Option<String>) -> Vec<String> {
        let events = self.0.lock().expect("not poisoned");
        events.iter().filter_map(of).collect()
    }

    fn messages(&self) -> usize {
        let events = self.0.lock().expect("not poisoned");
        events
            .iter()
            .filter(|event| matches!(event, Event::Message(_)))
            .count()
    }

    fn failures(&self) -> Vec<String> {
        self.told(|event| match event {
            Event::Transport(error) => Some(error.to_string()),
            _ => None,
        })
    }
}

/// The harbour, in a process of its own.
fn harbour_process() -> Stdio {
    Stdio::spawn(Command::new(BINARY))
}

/// A server that is a shell script.
fn script(text: &str) -> Stdio {
    let mut command = Command::new("sh");
    command.args(["-c", text]);
    Stdio::spawn(command)
}

/// A script that answers every line with a result whose text is its own.
const ANSWERS: &str = r#"
    answer() { id=${line#*'"id":'}; id=${id%%,*}; echo '{"jsonrpc":"2.0","id":'$id',"result":{}}'; }
"#;

async fn connect(stdio: Stdio) -> (Process, Reported) {
    let reported = Reported::default();
    let process = stdio.connect(reported.events()).await.expect("started");
    (process, reported)
}

async fn send(to: &impl Transport, request: &Value) -> Result<Incoming, Error> {
    let id = request["id"].as_i64().expect("an integer id");
    let method = request["method"].as_str().expect("a method");
    let sent = to.send(Outgoing::new(id, method, request.to_string()));
    timeout(PATIENCE, sent).await.expect("no hang")
}

async fn next(incoming: &mut Incoming) -> Option<Result<Value, Error>> {
    let next = match incoming {
        Incoming::Whole(message) | Incoming::Refused { message, .. } => {
            return Some(Ok(parse(message)));
        }
        Incoming::Stream(stream) => poll_fn(|context| stream.as_mut().poll_next(context)),
    };
    let next = timeout(PATIENCE, next).await.expect("no hang")?;
    Some(next.map(|message| parse(&message)))
}

fn parse(message: &[u8]) -> Value {
    serde_json::from_slice(message).expect("JSON")
}

/// Sends a request and waits for its answer.
async fn ask(to: &impl Transport, request: &Value) -> Result<Value, Error> {
    let mut incoming = send(to, request).await?;
    let mut last = None;
    while let Some(message) = next(&mut incoming).await {
        last = Some(message?);
    }
    Ok(last.expect("an answer"))
}

async fn echo(to: &impl Transport, id: i64) -> Result<String, Error> {
    let answer = ask(to, &call(id, "echo", json!({ "id": id }))).await?;
    let text = answer["result"]["content"][0]["text"].as_str();
    Ok(text.expect("a text").to_owned())
}

/// A file for a script to write process ids to.
struct Ids(std::path::PathBuf);

impl Ids {
    fn new(name: &str) -> Self {
        let name = format!("antiphon-tests-{}-{name}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    /// The ids, once there are as many.
    async fn read(&self, count: usize) -> Vec<u32> {
        let read = || -> Vec<u32> {
            let text = std::fs::read_to_string(&self.0).unwrap_or_default();
            // A line that is not ended may be half written.
            let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
            whole
                .lines()
                .map(|id| id.trim().parse().expect("an id"))
                .collect()
        };
        until(|| read().len() >= count).await;
        read()
    }
}

impl Drop for Ids {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.0);
    }
}

/// Whether a process runs; one that is dead but not yet reaped by its parent does not.
fn runs(id: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/stat"));
    status.is_ok_and(|status| {
        let state = status
            .rsplit(") ")
            .next()
            .and_then(|rest| rest.chars().next());
        state != Some('Z')
    })
}

/// Whether a process is there at all, reaped or not.
fn exists(id: u32) -> bool {
    Path::new(&format!("/proc/{id}")).exists()
}

#[tokio::test]
async fn a_call_goes_there_and_back() {
    let (process, reported) = connect(harbour_process()).await;
    assert_eq!(echo(&process, 1).await.expect("answered"), r#"{"id":1}"#);
    assert_eq!(*process.identity(), Identity::Command(vec![BINARY.into()]));
    assert!(!process.mirrors());

    // Progress comes before the answer, by the token that is the request's id.
    let progress = with_meta(call(2, "progress", json!({})), "progressToken", 2);
    let mut incoming = send(&process, &progress).await.expect("sent");
    let mut methods = Vec::new();
    while let Some(message) = next(&mut incoming).await {
        let message = message.expect("no failure");
        methods.push(message["method"].as_str().unwrap_or("answer").to_owned());
    }
    let progress = "notifications/progress";
    assert_eq!(methods, [progress, progress, progress, "answer"]);
    process.close().await;
    assert!(reported.0.lock().expect("not poisoned").is_empty());
}

#[tokio::test]
async fn a_hundred_calls_are_answered_in_any_order() {
    let (process, _) = connect(harbour_process()).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let calls: Vec<_> = (0..100)
        .map(|id| {
            // The first are the last to be answered.
            let call = call(id, "slow", json!({ "ms": 200 - 2 * id }));
            let order = order.clone();
            let process = &process;
            async move {
                let answer = ask(process, &call).await.expect("answered");
                assert_eq!(answer["id"], id);
                let text = answer["result"]["content"][0]["text"]
                    .as_str()
                    .expect("a text");
                assert!(
                    text.starts_with(&format!("slept {},", 200 - 2 * id)),
                    "{text}"
                );
                order.lock().expect("not poisoned").push(id);
            }
        })
        .collect();
    all(calls).await;
    let order = order.lock().expect("not poisoned");
    assert_eq!(order.len(), 100);
    assert!(!order.is_sorted());
}

/// Runs futures side by side.
async fn all(futures: Vec<impl Future<Output = ()>>) {
    let mut futures: Vec<_> = futures
        .into_iter()
        .map(|future| Some(Box::pin(future)))
        .collect();
    poll_fn(|context| {
        for slot in &mut futures {
            if slot
                .as_mut()
                .is_some_and(|future| future.as_mut().poll(context).is_ready())
            {
                *slot = None;
            }
        }
        match futures.iter().all(Option::is_none) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
}

/// The harbour counts the calls that were dropped: waits until it counts one.
async fn one_is_dropped(to: &impl Transport) {
    for id in 100.. {
        let answer = ask(to, &call(id, "slow", json!({ "ms": 5 })))
            .await
            .expect("answered");
        let text = answer["result"]["content"][0]["text"]
            .as_str()
            .expect("a text");
        if text.ends_with("1 dropped") {
            return;
        }
        assert!(id < 2000, "the server never heard of it: {text}");
    }
}

/// STDIO-C-06, CANC-C-02
#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled() {
    let (process, reported) = connect(harbour_process()).await;
    let incoming = send(&process, &call(1, "slow", json!({ "ms": 600_000 })))
        .await
        .expect("sent");
    one_is_waiting(&process).await;
    drop(incoming);
    one_is_dropped(&process).await;
    assert_eq!(reported.messages(), 0);

    let memory = antiphon::memory(harbour::endpoint());
    let channel = memory.connect(reported.events()).await.expect("connected");
    assert_eq!(*channel.identity(), Identity::Memory);
    let incoming = send(&channel, &call(1, "slow", json!({ "ms": 600_000 })))
        .await
        .expect("sent");
    one_is_waiting(&channel).await;
    drop(incoming);
    one_is_dropped(&channel).await;
    assert_eq!(reported.messages(), 0);
}

/// What was sent before this has reached the server.
async fn one_is_waiting(to: &impl Transport) {
    echo(to, 50).await.expect("answered");
}

/// STDIO-C-05, SUB-C-03, SUB-C-04, AMB-01
#[tokio::test]
async fn subscriptions_hear_their_own_news_until_the_server_ends_them() {
    let (process, reported) = connect(harbour_process()).await;
    let listen = |id| {
        let filter = json!({ "notifications": { "toolsListChanged": true } });
        request(id, "subscriptions/listen", filter)
    };
    let mut one = send(&process, &listen(1)).await.expect("sent");
    let mut two = send(&process, &listen(2)).await.expect("sent");
    let acknowledged = "notifications/subscriptions/acknowledged";
    let changed = "notifications/tools/list_changed";
    for incoming in [&mut one, &mut two] {
        let message = next(incoming).await.expect("open").expect("no failure");
        assert_eq!(message["method"], acknowledged);
    }
    ask(&process, &call(3, "announce", json!({ "what": "tools" })))
        .await
        .expect("answered");
    ask(&process, &call(4, "announce", json!({ "what": "end" })))
        .await
        .expect("answered");
    for (id, incoming) in [(1, &mut one), (2, &mut two)] {
        for method in [changed, "notifications/cancelled"] {
            let message = next(incoming).await.expect("open").expect("no failure");
            assert_eq!(message["method"], method);
            let tag = &message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
            assert_eq!(tag, id);
        }
        assert!(next(incoming).await.is_none());
    }
    // The answers that end them once more are nobody's.
    until(|| reported.messages() == 2).await;
}

/// STDIO-C-02
#[tokio::test]
async fn what_a_server_says_on_stderr_is_logged() {
    let (log, _guard) = Log::of_everything();
    let text = r#"printf 'one\033[2J\ntwo\n' >&2; cat >/dev/null"#;
    let (process, reported) = connect(script(text)).await;
    until(|| log.text().contains("two")).await;
    process.close().await;
    let text = log.text();
    let line = text
        .lines()
        .find(|line| line.contains("one"))
        .expect("logged");
    assert!(
        line.contains("INFO") && line.contains("antiphon::stderr"),
        "{line}"
    );
    assert!(line.contains(r"one\u{1b}[2J"), "{line}");
    assert!(line.contains("server=") && line.contains("sh -c"), "{line}");
    assert!(reported.failures().is_empty());

    let (log, _guard) = Log::of_everything();
    let text = "echo hidden >&2; echo not json; cat >/dev/null";
    let (process, reported) = connect(script(text).stderr(Stderr::Null)).await;
    until(|| !reported.noise().is_empty()).await;
    process.close().await;
    assert!(!log.text().contains("hidden"));
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_says_how() {
    let text = "read line; echo going >&2; echo 'no berth' >&2; exit 3";
    let (process, reported) = connect(script(text)).await;
    let why = "the server exited with status 3; it last said:\ngoing\nno berth";
    let error = echo(&process, 1).await.expect_err("it died");
    assert_eq!(error.to_string(), why);
    assert!(matches!(error.kind(), ErrorKind::Transport));
    assert_eq!(reported.failures(), [why]);
    // And so it stays.
    assert_eq!(echo(&process, 2).await.expect_err("dead").to_string(), why);
    assert_eq!(reported.failures(), [why]);

    let (process, _) = connect(script("read line; kill -9 $$")).await;
    let error = echo(&process, 1).await.expect_err("it died").to_string();
    assert!(error.contains("ended by signal: 9"), "{error}");

    // It is alive, but will never answer.
    let (process, _) = connect(script("read line; exec >&-; cat >/dev/null; sleep 600")).await;
    let error = echo(&process, 1).await.expect_err("mute").to_string();
    assert_eq!(error, "the server closed the connection");
}

/// Answers that were written before the end count.
#[tokio::test]
async fn a_last_answer_is_heard() {
    let text = format!("{ANSWERS} read line; answer; exit 1");
    let (process, _) = connect(script(&text)).await;
    assert_eq!(
        ask(&process, &call(7, "x", json!({})))
            .await
            .expect("answered")["id"],
        7
    );
    let error = echo(&process, 8).await.expect_err("gone").to_string();
    assert!(error.contains("status 1"), "{error}");
}

/// STDIO-C-07
#[tokio::test]
async fn nothing_is_left_after_the_end() {
    // The first child keeps the streams, the second ignores a request to end.
    let text = |ids: &Ids| {
        format!(
            "sleep 600 & echo $! >>{0}; sh -c 'trap \"\" TERM; sleep 600 & wait; wait' & \
             echo $! >>{0}; echo $$ >>{0}; cat >/dev/null; exit 0",
            ids.0.display()
        )
    };
    let grace = Duration::from_millis(200);

    let ids = Ids::new("close");
    let (process, reported) = connect(script(&text(&ids)).grace(grace)).await;
    let all = ids.read(3).await;
    assert!(all.iter().all(|id| runs(*id)));
    process.close().await;
    until(|| !all.iter().any(|id| runs(*id))).await;
    assert!(!exists(all[2]), "the server itself is reaped");
    let error = echo(&process, 1).await.expect_err("closed").to_string();
    assert_eq!(error, "the connection was closed on this side");
    process.close().await;
    assert!(reported.failures().is_empty());

    let ids = Ids::new("drop");
    let (process, _) = connect(script(&text(&ids)).grace(grace)).await;
    let all = ids.read(3).await;
    drop(process);
    until(|| !all.iter().any(|id| runs(*id)) && !exists(all[2])).await;

    // It dies by itself, and what it leaves behind holds its output open.
    let ids = Ids::new("death");
    let text = format!(
        "sleep 600 & echo $! >>{}; read line; exit 3",
        ids.0.display()
    );
    let (process, _) = connect(script(&text).grace(grace)).await;
    let all = ids.read(1).await;
    let error = echo(&process, 1).await.expect_err("it died").to_string();
    assert_eq!(error, "the server exited with status 3");
    until(|| !runs(all[0])).await;
}

#[test]
fn nothing_is_left_after_the_runtime() {
    let ids = Ids::new("runtime");
    let text = format!(
        "trap '' TERM; sleep 600 & echo $! >>{0}; echo $$ >>{0}; while :; do sleep 600; done",
        ids.0.display()
    );
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (_process, all) = runtime.block_on(async {
        let (process, _) = connect(script(&text)).await;
        (process, ids.read(2).await)
    });
    assert!(all.iter().all(|id| runs(*id)));
    drop(runtime);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(until(|| !all.iter().any(|id| runs(*id))));
}

/// STDIO-C-07
#[tokio::test]
async fn a_server_that_will_not_end_is_killed() {
    let ids = Ids::new("stubborn");
    let text = format!(
        "trap 'echo asked >&2' TERM; echo $$ >>{}; while :; do sleep 0.05; done",
        ids.0.display()
    );
    let (log, _guard) = Log::of_everything();
    let (process, _) = connect(script(&text).grace(Duration::from_secs(1))).await;
    let all = ids.read(1).await;
    let before = Instant::now();
    process.close().await;
    assert!(!exists(all[0]));
    // Its input was closed, then it was asked, each with a grace.
    assert!(before.elapsed() >= Duration::from_secs(2));
    assert!(log.text().contains("asked"), "{}", log.text());
}

/// STDIO-C-08
#[tokio::test]
async fn a_server_that_died_is_started_anew() {
    // Answers once, then dies of the second request.
    let text = format!("{ANSWERS} read line; answer; read line; exit 3");
    let (process, reported) = connect(script(&text).restart(1)).await;
    for id in 0..3 {
        let one = ask(&process, &call(2 * id, "x", json!({}))).await;
        assert_eq!(one.expect("answered")["id"], 2 * id);
        let error = ask(&process, &call(2 * id + 1, "x", json!({})))
            .await
            .expect_err("it died");
        assert_eq!(error.to_string(), "the server exited with status 3");
    }
    assert_eq!(reported.failures().len(), 3);
    process.close().await;
    let error = echo(&process, 9).await.expect_err("closed");
    assert!(matches!(error.kind(), ErrorKind::Transport));
    assert_eq!(reported.failures().len(), 3, "it was not started again");
}

#[tokio::test]
async fn a_server_that_never_answers_is_not_started_for_ever() {
    let ids = Ids::new("hopeless");
    let text = format!("echo $$ >>{}; echo 'no quay' >&2; exit 4", ids.0.display());
    let (process, _) = connect(script(&text).restart(2)).await;
    let mut errors = Vec::new();
    for id in 0..6 {
        errors.push(echo(&process, id).await.expect_err("hopeless").to_string());
    }
    assert_eq!(ids.read(3).await.len(), 3, "started, and twice anew");
    let last = errors.last().expect("errors");
    let why = "it was started anew 2 times in vain: the server exited with status 4; it last said:\n\
               no quay";
    assert_eq!(last, why);
}

/// wire.md 10.4.1
#[tokio::test]
async fn noise_is_skipped() {
    let text = format!(
        "{ANSWERS} echo 'Listening...'; printf '\\377\\n\\n'; read line; echo oops; answer; cat"
    );
    let (process, reported) = connect(script(&text)).await;
    ask(&process, &call(1, "x", json!({})))
        .await
        .expect("answered");
    assert_eq!(reported.noise(), ["Listening...", "\u{fffd}", "oops"]);
}

#[tokio::test]
async fn a_line_without_end_is_not_kept() {
    let text =
        format!("{ANSWERS} read line; head -c 3000000 /dev/zero | tr '\\0' x; echo; answer; cat");
    let (process, reported) = connect(script(&text).max_message_bytes(1000)).await;
    ask(&process, &call(1, "x", json!({})))
        .await
        .expect("answered");
    assert_eq!(reported.noise(), ["a line of more than 1000 bytes"]);
}

/// Whatever comes after it is still read.
#[tokio::test]
async fn an_answer_that_is_too_long_fails_its_request_alone() {
    let long = "head -c 3000000 /dev/zero | tr '\\0' x";
    let cases = [
        // Whose it is can be seen at its beginning, or can only be one.
        (r#"{"jsonrpc":"2.0","id":1,"result":{"x":""#, false),
        (r#"{"result":{"x":""#, false),
        (r#"{"method":"notifications/message","params":{"x":""#, true),
        ("", true),
    ];
    for (beginning, is_noise) in cases {
        // The line never ends before the next is asked for.
        let text = format!(
            "{ANSWERS} read line; printf %s '{beginning}'; {long}; read line; echo; answer; cat"
        );
        let (process, reported) = connect(script(&text).max_message_bytes(1000)).await;
        let first = call(1, "x", json!({}));
        let mut first = send(&process, &first).await.expect("sent");
        match is_noise {
            true => until(|| !reported.noise().is_empty()).await,
            false => {
                let error = next(&mut first).await.expect("an end");
                let error = error.expect_err("too long");
                assert!(matches!(error.kind(), ErrorKind::Decode), "{error:?}");
                let says = "the answer is longer than 1000 bytes, the limit of";
                assert!(error.to_string().starts_with(says), "{error}");
                assert_eq!(reported.noise(), [""; 0]);
            }
        }
        let answer = ask(&process, &call(2, "x", json!({}))).await;
        assert_eq!(answer.expect("answered")["id"], 2, "{beginning}");
    }
}

/// What was said before has nothing to do with it.
#[tokio::test]
async fn last_words_are_those_since_the_call_began() {
    let text =
        format!("{ANSWERS} read line; echo before >&2; answer; read line; echo ouch >&2; exit 3");
    let (log, _guard) = Log::of_everything();
    let (process, _) = connect(script(&text)).await;
    ask(&process, &call(1, "x", json!({})))
        .await
        .expect("answered");
    until(|| log.text().contains("before")).await;
    let error = echo(&process, 2).await.expect_err("it died").to_string();
    assert_eq!(
        error,
        "the server exited with status 3; it last said:\nouch"
    );
}

#[tokio::test]
async fn standard_error_can_be_reported() {
    let text = "read line; echo going >&2; echo 'no berth' >&2; exit 3";
    let (process, reported) = connect(script(text).stderr(Stderr::Report)).await;
    let error = echo(&process, 1).await.expect_err("it died").to_string();
    assert_eq!(error, "the server exited with status 3");
    let said = reported.told(|event| match event {
        Event::Stderr(line) => Some(line.clone()),
        _ => None,
    });
    assert_eq!(said, ["going", "no berth"]);
}

#[tokio::test]
async fn a_server_that_reads_nothing_holds_nobody_for_ever() {
    let ids = Ids::new("deaf");
    let text = format!("echo $$ >>{}; exec sleep 600", ids.0.display());
    let (process, _) = connect(script(&text).grace(Duration::from_millis(100))).await;
    let all = ids.read(1).await;
    let big = "x".repeat(100_000);
    let mut waiting = Vec::new();
    // The pipe fills, then the queue, then requests are held back.
    let held_back = async {
        for id in 0.. {
            waiting.push(send(&process, &call(id, "echo", json!({ "big": big }))).await);
        }
    };
    assert!(timeout(Duration::from_secs(1), held_back).await.is_err());
    assert!(waiting.len() < 200, "{} were taken", waiting.len());
    drop(waiting);
    timeout(PATIENCE, process.close()).await.expect("no hang");
    assert!(!exists(all[0]));
}

#[tokio::test]
async fn a_server_that_cannot_be_started_says_why() {
    let reported = Reported::default();
    let start = async |stdio: Stdio| {
        let error = stdio
            .connect(reported.events())
            .await
            .expect_err("no such thing");
        assert!(matches!(error.kind(), ErrorKind::Transport));
        error.to_string()
    };
    let text = start(Stdio::spawn(Command::new("no-such-harbour"))).await;
    assert!(
        text.contains(r#""no-such-harbour""#) && text.contains("install it"),
        "{text}"
    );

    let mut nowhere = Command::new("sh");
    nowhere.current_dir("/no/such/place");
    let text = start(Stdio::spawn(nowhere)).await;
    assert!(text.contains(r#""/no/such/place""#), "{text}");

    let text = start(Stdio::spawn(Command::new("/"))).await;
    assert!(text.contains("executable"), "{text}");
}

/// What is in the environment is nobody's business.
#[tokio::test]
async fn identities_hold_no_secrets() {
    let mut command = tokio::process::Command::new("sh");
    command
        .args(["-c", "cat >/dev/null"])
        .env("TOKEN", "s3cret");
    let stdio = Stdio::spawn(command);
    assert!(!format!("{stdio:?}").contains("s3cret"));
    let (process, _) = connect(stdio).await;
    assert!(!format!("{process:?}").contains("s3cret"));
    assert_eq!(process.identity().to_string(), r#"sh -c "cat >/dev/null""#);
}

/// STDIO-B-02
#[tokio::test]
async fn any_streams_will_do() {
    let (ours, theirs) = tokio::io::duplex(1000);
    let (input, output) = tokio::io::split(theirs);
    let server = tokio::spawn(antiphon::stdio::serve_on(
        harbour::endpoint(),
        input,
        output,
    ));
    let (read, write) = tokio::io::split(ours);
    let reported = Reported::default();
    let streams = Streams::new(read, write, "a pipe");
    let channel = streams.connect(reported.events()).await.expect("connected");
    assert_eq!(*channel.identity(), Identity::Other("a pipe".into()));
    // Line breaks in a request are blanks on the wire.
    let spread = format!("{:#}", call(1, "echo", json!({ "a": 1 })));
    let incoming = channel.send(Outgoing::new(1, "tools/call", spread)).await;
    let answer = next(&mut incoming.expect("sent"))
        .await
        .expect("open")
        .expect("answered");
    assert_eq!(answer["result"]["content"][0]["text"], r#"{"a":1}"#);
    channel.close().await;
    timeout(PATIENCE, server)
        .await
        .expect("no hang")
        .expect("no panic")
        .expect("served");
    assert!(reported.failures().is_empty());
}

#[tokio::test]
async fn a_stream_that_ends_takes_its_calls_with_it() {
    let (ours, theirs) = tokio::io::duplex(1000);
    let (read, write) = tokio::io::split(ours);
    let reported = Reported::default();
    let streams = Streams::new(read, write, "a pipe");
    let channel = streams.connect(reported.events()).await.expect("connected");
    let mut incoming = send(&channel, &call(1, "echo", json!({})))
        .await
        .expect("sent");
    drop(theirs);
    let error = next(&mut incoming)
        .await
        .expect("told")
        .expect_err("lost")
        .to_string();
    assert!(error.contains("server"), "{error}");
    assert_eq!(reported.failures(), [error]);
    channel.close().await;
}

/// A server in this process has stopped when its channel is closed.
#[tokio::test]
async fn closing_waits_for_a_server_in_this_process() {
    let stopped = Arc::new(Mutex::new(false));
    let flag = stopped.clone();
    let server = antiphon::Server::new("quay", "1.0")
        .with_state(())
        .on_stop(move |()| {
            let flag = flag.clone();
            async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                *flag.lock().expect("not poisoned") = true;
            }
        });
    let reported = Reported::default();
    let channel = antiphon::memory(server)
        .connect(reported.events())
        .await
        .expect("connected");
    ask(&channel, &request(1, "server/discover", json!({})))
        .await
        .expect("answered");
    channel.close().await;
    assert!(*stopped.lock().expect("not poisoned"));
    assert!(reported.failures().is_empty());
}

#[tokio::test]
async fn a_server_in_this_process_may_go_away() {
    let (client, server) = antiphon::memory::pair();
    let reported = Reported::default();
    let channel = client.connect(reported.events()).await.expect("connected");
    let mut incoming = send(&channel, &call(1, "echo", json!({})))
        .await
        .expect("sent");
    drop(server);
    let error = next(&mut incoming)
        .await
        .expect("told")
        .expect_err("lost")
        .to_string();
    assert_eq!(error, "the server in this process is gone");
    assert_eq!(reported.failures(), [error]);
}
