//! The client's clocks, and giving a call up: whoever works on it is really interrupted.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use antiphon::{
    CancellationToken, Client,
    client::{CallTool, Clock, ErrorKind},
};
use antiphon_tests::{
    script::{answers, asking, form, respond, script, text},
    until,
};
use serde_json::{Value, json};

/// A client that agrees to every form.
fn agreeable() -> Client {
    Client::new("tests", "1.0").on_form(|form| async move { form.accept(json!({ "ok": true })) })
}

/// elsewhere.md: rounds that ask nothing do not count, and are paced.
#[tokio::test]
async fn coming_back_is_paced_and_has_a_clock_of_its_own() {
    let count = AtomicU32::new(0);
    let (peer, seen) = script(move |request| {
        let result = match count.fetch_add(1, Ordering::SeqCst) {
            12 => text("ready"),
            _ => asking([], Some("wait")),
        };
        vec![respond(request, &result)]
    });
    let client = agreeable()
        .max_rounds(1)
        .connect(peer)
        .await
        .expect("connected");
    let began = Instant::now();
    client.call_tool("t", ()).await.expect("a result");
    assert_eq!(seen.messages().len(), 13);
    // 50 + 100 + 200 + 9 * 250, each up to a fifth less.
    assert!(
        began.elapsed() >= Duration::from_millis(2000),
        "{:?}",
        began.elapsed()
    );

    let (peer, seen) = script(|request| vec![respond(request, &asking([], Some("wait")))]);
    let client = agreeable().connect(peer).await.expect("connected");
    let patience = Duration::from_millis(200);
    let call = CallTool::new("t", ()).poll_timeout(patience);
    let error = client.call(call).await.expect_err("never ready");
    let ErrorKind::TimedOut {
        clock: Clock::Poll,
        after,
    } = *error.kind()
    else {
        panic!("{error}")
    };
    assert_eq!(after, patience);
    let calls = seen.messages().len();
    assert!((2..6).contains(&calls), "{calls}");
}

/// The poll clock also ends a request that is in flight.
#[tokio::test]
async fn the_poll_clock_interrupts_a_server_that_holds_its_answer() {
    let (peer, seen) = answers([asking([], Some("wait"))]);
    let client = agreeable().connect(peer).await.expect("connected");
    let call = CallTool::new("t", ()).poll_timeout(Duration::from_millis(150));
    let error = client.call(call).await.expect_err("never ready");
    assert!(
        matches!(
            error.kind(),
            ErrorKind::TimedOut {
                clock: Clock::Poll,
                ..
            }
        ),
        "{error}"
    );
    until(|| {
        seen.methods()
            .last()
            .is_some_and(|it| it == "notifications/cancelled")
    })
    .await;
}

/// elsewhere.md: whoever waits is really interrupted, be it in a callback that blocks its thread.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_human_clock_interrupts_callbacks() {
    for blocking in [false, true] {
        let (peer, seen) = answers([asking([("k", form("?"))], None)]);
        let told = Arc::new(AtomicU32::new(0));
        let tell = told.clone();
        let client = Client::new("tests", "1.0").on_form(move |form| {
            let tell = tell.clone();
            let gone = form.cancelled().clone();
            tokio::spawn(async move {
                gone.cancelled().await;
                tell.fetch_add(1, Ordering::SeqCst);
            });
            async move {
                match blocking {
                    true => std::thread::sleep(Duration::from_secs(3)),
                    false => std::future::pending().await,
                }
                form.accept(json!({ "ok": true }))
            }
        });
        let client = client.connect(peer).await.expect("connected");
        let began = Instant::now();
        let call = CallTool::new("t", ()).human_timeout(Duration::from_millis(100));
        let error = client.call(call).await.expect_err("nobody answered");
        assert!(
            began.elapsed() < Duration::from_secs(2),
            "{:?}",
            began.elapsed()
        );
        assert!(
            matches!(
                error.kind(),
                ErrorKind::TimedOut {
                    clock: Clock::Human,
                    ..
                }
            ),
            "{error}"
        );
        until(|| told.load(Ordering::SeqCst) == 1).await;
        assert_eq!(seen.methods(), ["tools/call"]);
    }
}

/// CANC-C-06, STDIO-C-06: the work clock ends a request, and the server is told.
#[tokio::test]
async fn the_work_clock_cancels_the_request() {
    let (peer, seen) = answers([]);
    let client = Client::new("tests", "1.0")
        .connect(peer)
        .await
        .expect("connected");
    let call = CallTool::new("t", ()).work_timeout(Duration::from_millis(50));
    let error = client.call(call).await.expect_err("silence");
    let text = error.to_string();
    assert!(
        text.contains("tools/call t") && text.contains("work clock"),
        "{text}"
    );
    assert!(matches!(
        error.kind(),
        ErrorKind::TimedOut {
            clock: Clock::Work,
            ..
        }
    ));
    until(|| seen.messages().len() == 2).await;
    let messages = seen.messages();
    assert_eq!(messages[1]["method"], "notifications/cancelled");
    assert_eq!(messages[1]["params"]["requestId"], messages[0]["id"]);
}

/// CANC-C-08, CANC-C-09
#[tokio::test]
async fn progress_may_extend_the_work_clock_up_to_a_limit() {
    let known = antiphon::client::Negotiated::new(antiphon::types::Version::LATEST);
    let reports = Arc::new(AtomicU32::new(0));
    let count = reports.clone();
    let client = Client::new("tests", "1.0")
        .work_timeout(Duration::from_millis(150))
        .on_progress(move |call, progress| {
            assert_eq!(call.name(), "t");
            assert!(progress.progress.as_u64().is_some());
            count.fetch_add(1, Ordering::SeqCst);
        });
    for (at_most, reported) in [(Some(20_000), 10..=10), (Some(250), 2..=6), (None, 1..=3)] {
        reports.store(0, Ordering::SeqCst);
        let client = match at_most {
            Some(ms) => client
                .clone()
                .progress_extends_work(Duration::from_millis(ms)),
            None => client.clone(),
        };
        let connection = client.connect_as(slow_but_steady(), known.clone()).await;
        let result = connection.expect("connected").call_tool("t", ()).await;
        let count = reports.load(Ordering::SeqCst);
        assert!(reported.contains(&count), "{at_most:?}: {count}");
        match result {
            Ok(_) => assert_eq!(at_most, Some(20_000)),
            Err(error) => {
                assert_ne!(at_most, Some(20_000), "{error}");
                assert!(matches!(
                    error.kind(),
                    ErrorKind::TimedOut {
                        clock: Clock::Work,
                        ..
                    }
                ));
            }
        }
    }
}

/// A server that takes 400 ms for an answer, and reports every 40.
fn slow_but_steady() -> antiphon::memory::Peer {
    let (client, mut server) = antiphon::memory::pair();
    tokio::spawn(async move {
        while let Some(message) = server.receive().await {
            let request: Value = serde_json::from_slice(&message).expect("JSON");
            let token = request["params"]["_meta"]["progressToken"].clone();
            for progress in 1..=10 {
                tokio::time::sleep(Duration::from_millis(40)).await;
                let params = json!({ "progressToken": token, "progress": progress });
                let method = "notifications/progress";
                let note = json!({ "jsonrpc": "2.0", "method": method, "params": params });
                server.send(note.to_string()).await;
            }
            let answer = respond(&request, &text("slow"));
            server.send(answer.to_string()).await;
        }
    });
    client
}

/// Dropping a call reaches whoever works on it: the server, or a callback.
#[tokio::test]
async fn dropping_a_call_cancels_it() {
    let (peer, seen) = answers([]);
    let client = Client::new("tests", "1.0")
        .connect(peer)
        .await
        .expect("connected");
    let call = client.call_tool("t", ());
    assert!(
        tokio::time::timeout(Duration::from_millis(50), call)
            .await
            .is_err()
    );
    until(|| seen.methods() == ["tools/call", "notifications/cancelled"]).await;

    let (peer, seen) = answers([asking([("k", form("?"))], None)]);
    let (alive, gone) = (Arc::new(()), CancellationToken::new());
    let (held, fire) = (alive.clone(), gone.clone());
    let client = Client::new("tests", "1.0").on_form(move |form| {
        let (held, fire) = (held.clone(), fire.clone());
        async move {
            let token = form.cancelled().clone();
            tokio::spawn(async move {
                token.cancelled().await;
                fire.cancel();
            });
            std::future::pending::<()>().await;
            drop(held);
            form.cancel()
        }
    });
    let client = client.connect(peer).await.expect("connected");
    let holders = Arc::strong_count(&alive);
    let token = CancellationToken::new();
    let cancel = token.clone();
    let call = tokio::spawn(async move {
        client
            .call(CallTool::new("t", ()).cancel_with(cancel))
            .await
    });
    until(|| Arc::strong_count(&alive) > holders).await;
    token.cancel();
    let error = call.await.expect("no panic").expect_err("cancelled");
    assert!(matches!(error.kind(), ErrorKind::Cancelled), "{error}");
    gone.cancelled().await;
    until(|| Arc::strong_count(&alive) == holders).await;
    // Between rounds there is nobody to tell.
    assert_eq!(seen.methods(), ["tools/call"]);
}
