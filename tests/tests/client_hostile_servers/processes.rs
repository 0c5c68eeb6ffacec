//! Processes that misbehave in ways of their own.

use super::*;

/// What a shell says to be discovered, as the first request of a client.
const DISCOVERED: &str = r#"read -r request; printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}'"#;
const FINE: &str = r#"read -r request; printf '%s\n' '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"fine"}]}}'"#;

/// A process has ways of its own to misbehave.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_ends_whatever_a_process_does() {
    let cases = [
        // Before discovery.
        (
            "it exits at once",
            "exit 7".to_owned(),
            None,
            End::Transport,
            "status 7",
        ),
        (
            "it exits with words",
            "echo 'no such port' >&2; exit 1".to_owned(),
            None,
            End::Transport,
            "no such port",
        ),
        (
            "it exits once it is asked",
            "read -r request; exit 0".to_owned(),
            None,
            End::Transport,
            "status 0",
        ),
        (
            "it dies",
            "kill -9 $$".to_owned(),
            None,
            End::Transport,
            "signal",
        ),
        (
            "it says nothing",
            "sleep 60".to_owned(),
            None,
            LATE,
            "work clock",
        ),
        (
            "it closes its output",
            "exec >&-; sleep 60".to_owned(),
            None,
            End::Transport,
            "closed",
        ),
        (
            "it closes its input",
            "read -r request; exec <&-; sleep 60".to_owned(),
            None,
            End::Transport,
            "writing to the server failed",
        ),
        (
            "it closes everything",
            "exec >&- <&- 2>&-; sleep 60".to_owned(),
            None,
            End::Transport,
            "",
        ),
        (
            "it leaves its output to another",
            "sleep 60 & exit 3".to_owned(),
            None,
            End::Transport,
            "status 3",
        ),
        (
            "it only makes noise",
            "yes noise".to_owned(),
            None,
            LATE,
            "work clock",
        ),
        // During a call.
        (
            "it exits during a call",
            format!("{DISCOVERED}; read -r request; exit 4"),
            Some(()),
            End::Transport,
            "status 4",
        ),
        (
            "it dies in the middle of a line",
            format!("{DISCOVERED}; read -r request; printf '{{\"jsonrpc\"'; exit 5"),
            Some(()),
            End::Transport,
            "status 5",
        ),
        (
            "it closes its output during a call",
            format!("{DISCOVERED}; read -r request; exec >&-; sleep 60"),
            Some(()),
            End::Transport,
            "closed",
        ),
        (
            "it closes its input during a call",
            format!("{DISCOVERED}; exec <&-; sleep 60"),
            Some(()),
            End::Transport,
            "writing to the server failed",
        ),
        (
            "it reads no more",
            format!("{DISCOVERED}; sleep 60"),
            Some(()),
            LATE,
            "work clock",
        ),
        (
            "it makes noise and answers",
            format!(
                "echo Welcome; {DISCOVERED}; printf '\\377\\n\\n  \\n\\033[31mred\\n'; {FINE}; sleep 60"
            ),
            Some(()),
            End::Done,
            "",
        ),
        (
            "it floods its errors and answers",
            format!("yes error >&2 & {DISCOVERED}; {FINE}; sleep 60"),
            Some(()),
            End::Done,
            "",
        ),
        (
            "it will not go",
            format!("trap '' TERM INT HUP; {DISCOVERED}; {FINE}; while :; do sleep 1; done"),
            Some(()),
            End::Done,
            "",
        ),
        (
            "it answers and exits",
            format!("{DISCOVERED}; {FINE}; exit 0"),
            Some(()),
            End::Done,
            "",
        ),
        (
            "it answers without an end of line",
            format!("{DISCOVERED}; {}; exit 0", FINE.replace(r"%s\n", "%s")),
            Some(()),
            End::Done,
            "",
        ),
    ];
    each(cases, async |(name, script, call, expected, says)| {
        let (client, events) = client();
        let client = match call {
            None if expected == LATE => client.work_timeout(WORK),
            _ => client,
        };
        let started = Instant::now();
        let connected = timeout(BUDGET, client.connect(shell(&script)))
            .await
            .expect("in time");
        let text = if call.is_none() {
            assert_eq!(End::of(&connected), expected, "{name}: {connected:?}");
            connected.err().map(|error| error.to_string())
        } else {
            let connection = connected.unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut call = CallTool::new("rogue", json!({ "large": "x".repeat(1 << 20) }));
            if expected == LATE {
                call = call.work_timeout(WORK);
            }
            let outcome = connection.call(call).await;
            assert_eq!(End::of(&outcome), expected, "{name}: {outcome:?}");
            // A server that is gone stays gone.
            if expected == End::Transport {
                let again = connection.call_tool("fine", ()).await;
                assert_eq!(End::of(&again), End::Transport, "{name}: {again:?}");
            }
            close(connection).await;
            outcome.err().map(|error| error.to_string())
        };
        let text = text.unwrap_or_default();
        assert!(text.contains(says), "{name}: {text}");
        assert!(
            started.elapsed() < SOON * 2,
            "{name}: {:?}",
            started.elapsed()
        );
        if name == "it makes noise and answers" {
            assert!(events.any("noise: Welcome") && events.any(r"noise: \u{1b}[31mred"));
        }
    })
    .await;
}

/// However many wait for a server that reads nothing, each has its own clock.
#[cfg(unix)]
#[tokio::test]
async fn calls_do_not_wait_for_each_other() {
    let (client, _) = client();
    let connected = client.connect(shell(&format!("{DISCOVERED}; sleep 60")));
    let connection = connected.await.expect("a connection");
    let started = Instant::now();
    let mut calls = JoinSet::new();
    for _ in 0..200 {
        let connection = connection.clone();
        calls.spawn(async move {
            let arguments = json!({ "large": "x".repeat(1 << 16) });
            let call = CallTool::new("rogue", arguments).work_timeout(WORK);
            End::of(&connection.call(call).await)
        });
    }
    while let Some(end) = calls.join_next().await {
        assert_eq!(end.expect("no panic"), LATE);
    }
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    close(connection).await;
    assert!(started.elapsed() < SOON * 2, "{:?}", started.elapsed());
}

/// A line without end is not kept, and what comes after it is heard.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_without_end_is_not_kept() {
    let line = format!("head -c {} /dev/zero | tr '\\0' x; echo", 512 << 20);
    let before = peak();
    let (client, events) = client();
    // It is slow, which is no sign of age.
    let client = client.probe_timeout(BUDGET);
    let connected = client.connect(shell(&format!(
        "{line}; {DISCOVERED}; {line}; {FINE}; sleep 60"
    )));
    let connection = timeout(BUDGET, connected)
        .await
        .expect("in time")
        .expect("a connection");
    let fine = connection.call_tool("rogue", ()).await;
    assert_eq!(End::of(&fine), End::Done, "{fine:?}");
    assert!(events.any("noise: a line of more than 8388608 bytes"));
    close(connection).await;
    let grown = peak() - before;
    assert!(grown < 400 << 20, "{} MiB", grown >> 20);
}

/// The most memory that this process ever had.
#[cfg(target_os = "linux")]
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("readable");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.expect("a size")
        .trim()
        .parse::<u64>()
        .expect("a number")
        << 10
}
