//! What an older server asks of its own accord, and who answers it (SHIM-C-01, SHIM-C-02).

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon::{
    Ask, CancellationToken, Client, Confirmed, Kind, Server, Stop,
    client::{CallTool, Connection, Era, ErrorKind, Event},
    memory,
    types::{InputRequest, Root},
};
use antiphon_tests::{
    older_server::{Older, older, streaming, text},
    script::{form, link, roots, sample},
    until,
};
use serde_json::{Value, json};
use tokio::join;

fn desk() -> Client {
    Client::new("desk", "1.0")
}

/// Connects to a server of this version that a test plays.
async fn met_in(version: &str, client: &Client) -> (Connection, Older) {
    let (peer, mut server) = older();
    let (connected, _) = join!(client.connect(peer), server.greet(version, json!({})));
    (connected.expect("connected"), server)
}

async fn met(client: &Client) -> (Connection, Older) {
    met_in("2025-11-25", client).await
}

/// One that answers everything at once.
fn answering() -> Client {
    desk()
        .on_form(|form| async move { form.accept(json!({ "ok": true })) })
        .on_url(|link| async move { link.accept() })
        .on_sample(|sample| async move { sample.text("Hi.", "m") })
        .on_roots(|roots| async move { roots.list([Root::new("file:///srv")]) })
}

fn pending() -> (Client, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let client = desk().on_form(move |form| {
        count.fetch_add(1, Ordering::SeqCst);
        async move {
            std::future::pending::<()>().await;
            form.cancel()
        }
    });
    (client, asked)
}

/// The same callbacks as for the questions of today, with the call that they belong to.
#[tokio::test]
async fn questions_of_a_call_are_answered_by_the_callbacks() {
    let client = desk().on_form(|form| async move {
        assert_eq!(
            (form.key(), form.round(), form.tag()),
            ("q-1", 1, Some("here"))
        );
        assert_eq!(
            (form.call().method(), form.call().name()),
            ("tools/call", "t")
        );
        assert!(form.call().is_known());
        assert_eq!(form.server().to_string(), "this process");
        match form.attempt() {
            1 => form.accept(json!({ "ok": "perhaps" })),
            _ => {
                assert!(form.errors()[0].contains("ok"), "{:?}", form.errors());
                form.accept(json!({ "ok": true }))
            }
        }
    });
    let (connection, mut server) = met(&client).await;
    let call = CallTool::new("t", ()).tag("here");
    let (result, answer) = join!(connection.call(call), async {
        let call = server.expect("tools/call").await;
        server.ask("q-1", &form("Sure?")).await;
        let answer = server.answer_to("q-1").await;
        server.respond(&call, &text("done")).await;
        answer
    });
    assert_eq!(result.expect("a result").first_text(), Some("done"));
    assert_eq!(
        answer,
        json!({ "jsonrpc": "2.0", "id": "q-1", "result": {
            "action": "accept", "content": { "ok": true },
        }})
    );
    server.quiet().await;
}

/// LEG-B-07, LFEAT-C-03 to LFEAT-C-05: each kind, with or without a call, and what is none.
#[tokio::test]
async fn every_request_gets_its_answer() {
    let mut link_of = link("https://example.com/x");
    link_of["params"]["elicitationId"] = "e".into();
    let mut old_form = form("m");
    old_form["params"]
        .as_object_mut()
        .expect("params")
        .remove("mode");
    let with_tools = {
        let mut sample = sample();
        sample["params"]["tools"] = json!([]);
        sample
    };
    let code = |code: i64| json!(code);
    let cases = [
        (json!({ "method": "ping" }), json!({})),
        (
            form("m"),
            json!({ "action": "accept", "content": { "ok": true } }),
        ),
        (
            old_form,
            json!({ "action": "accept", "content": { "ok": true } }),
        ),
        (link_of, json!({ "action": "accept" })),
        (
            sample(),
            json!({
                "role": "assistant", "content": { "type": "text", "text": "Hi." },
                "model": "m", "stopReason": "endTurn",
            }),
        ),
        (roots(), json!({ "roots": [{ "uri": "file:///srv" }] })),
        (with_tools, code(-32600)),
        // Not where a user can be sent.
        (link("http://example.com/x"), code(-32602)),
        (json!({ "method": "tasks/list" }), code(-32601)),
        (json!({ "method": "\u{1b}[31m" }), code(-32601)),
        (json!({ "method": "elicitation/create" }), code(-32602)),
        (
            json!({ "method": "elicitation/create", "params": [] }),
            code(-32602),
        ),
        (
            json!({ "method": "elicitation/create", "params": { "message": 7 } }),
            code(-32602),
        ),
        (
            json!({ "method": "sampling/createMessage", "params": { "messages": {} } }),
            code(-32602),
        ),
    ];
    let (connection, mut server) = met(&answering()).await;
    for (at, (question, expected)) in cases.iter().enumerate() {
        server.ask(at, question).await;
        let answer = server.answer_to(at).await;
        match expected.as_i64() {
            Some(code) => assert_eq!(answer["error"]["code"], code, "{question}: {answer}"),
            None => assert_eq!(answer["result"], *expected, "{question}"),
        }
    }
    drop(connection);
}

/// LFEAT-C-05 and the like: what was not declared, in the words of the revision.
#[tokio::test]
async fn what_was_not_declared_is_not_answered() {
    let forms = desk().on_form(|form| async move { form.decline() });
    let links = desk().on_url(|link| async move { link.decline() });
    let of = || link("https://example.com/x");
    for (client, version, question, code) in [
        (desk(), "2025-11-25", form("m"), -32600),
        (desk(), "2025-11-25", sample(), -32600),
        (desk(), "2025-11-25", roots(), -32600),
        (forms.clone(), "2025-11-25", of(), -32602),
        (links, "2025-11-25", form("m"), -32602),
        // Links came later than forms, and both later than this.
        (answering(), "2025-06-18", of(), -32602),
        (answering(), "2025-03-26", form("m"), -32600),
    ] {
        let (_connection, mut server) = met_in(version, &client).await;
        server.ask(1, &question).await;
        let answer = server.answer_to(1).await;
        assert_eq!(answer["error"]["code"], code, "{version} {question}");
    }
}

/// The server is told, and its call goes on.
#[tokio::test]
async fn a_callback_that_fails_comes_to_cancel_or_an_error() {
    let refusing = desk()
        .on_form(|form| async move { form.refuse("not now") })
        .on_sample(|sample| async move { sample.refuse("never") })
        .on_roots(|roots| async move { roots.refuse("none") });
    let panicking = desk()
        .on_form(|form| async move {
            assert!(form.round() > 7, "on purpose");
            form.decline()
        })
        .on_sample(|sample| async move {
            assert!(sample.round() > 7, "on purpose");
            sample.text("", "")
        })
        .on_roots(|roots| async move { roots.list([Root::new("https://no.file")]) });
    let slow = desk()
        .human_timeout(Duration::from_millis(30))
        .on_form(|form| async move {
            form.cancelled().cancelled().await;
            form.decline()
        })
        .on_sample(|sample| async move {
            sample.cancelled().cancelled().await;
            sample.text("", "")
        })
        .on_roots(|roots| async move {
            roots.cancelled().cancelled().await;
            roots.list([])
        });
    for (client, sampled) in [(refusing, -1), (panicking, -1), (slow, -32603)] {
        let (connection, mut server) = met(&client).await;
        let (result, ()) = join!(connection.call_tool("t", ()), async {
            let call = server.expect("tools/call").await;
            server.ask(1, &form("m")).await;
            let answer = server.answer_to(1).await;
            assert_eq!(answer["result"], json!({ "action": "cancel" }));
            server.ask(2, &sample()).await;
            assert_eq!(server.answer_to(2).await["error"]["code"], sampled);
            server.ask(3, &roots()).await;
            assert_eq!(server.answer_to(3).await["error"]["code"], -32603);
            server.respond(&call, &text("without")).await;
        });
        assert_eq!(result.expect("a result").first_text(), Some("without"));
    }
}

/// Waiting for a person is not the server's work.
#[tokio::test(start_paused = true)]
async fn the_work_clock_stands_still_while_somebody_is_asked() {
    let client = desk()
        .work_timeout(Duration::from_secs(10))
        .human_timeout(Duration::from_secs(1000))
        .on_form(|form| async move {
            tokio::time::sleep(Duration::from_secs(500)).await;
            form.accept(json!({ "ok": true }))
        });
    let (connection, mut server) = met(&client).await;
    let asking = async {
        let call = server.expect("tools/call").await;
        tokio::time::sleep(Duration::from_secs(6)).await;
        server.ask(1, &form("m")).await;
        tokio::time::sleep(Duration::from_secs(500)).await;
        server.answer_to(1).await;
        // Of its ten seconds six are over.
        tokio::time::sleep(Duration::from_secs(3)).await;
        server.respond(&call, &text("done")).await;
        let call = server.expect("tools/call").await;
        tokio::time::sleep(Duration::from_secs(6)).await;
        server.ask(2, &form("m")).await;
        tokio::time::sleep(Duration::from_secs(500)).await;
        server.answer_to(2).await;
        server.expect("notifications/cancelled").await;
        call
    };
    let calling = async {
        let first = connection.call_tool("t", ()).await;
        let started = tokio::time::Instant::now();
        let second = connection.call_tool("t", ()).await;
        (first, second, started.elapsed())
    };
    let ((first, second, took), _) = join!(calling, asking);
    first.expect("in time");
    let error = second.expect_err("too late");
    assert!(
        matches!(error.kind(), ErrorKind::TimedOut { .. }),
        "{error:?}"
    );
    assert_eq!(took.as_secs(), 510);
}

/// LEG-B-04: a question that is withdrawn is not answered.
#[tokio::test]
async fn a_server_may_withdraw_its_question() {
    let (client, asked) = pending();
    let (connection, mut server) = met(&client).await;
    let (result, ()) = join!(connection.call_tool("t", ()), async {
        let call = server.expect("tools/call").await;
        for (at, id) in [json!(1), json!("one")].into_iter().enumerate() {
            server.ask(id.clone(), &form("m")).await;
            until(|| asked.load(Ordering::SeqCst) > at).await;
            server
                .notify("notifications/cancelled", json!({ "requestId": id }))
                .await;
            // What was never asked, and what is over.
            server
                .notify("notifications/cancelled", json!({ "requestId": id }))
                .await;
            server
                .notify("notifications/cancelled", json!({ "requestId": 77 }))
                .await;
        }
        server.quiet().await;
        server.respond(&call, &text("done")).await;
    });
    result.expect("a result");
    // The id of a call of ours is not that of a question of the server's.
    let (result, ()) = join!(connection.call_tool("t", ()), async {
        let call = server.expect("tools/call").await;
        let id = json!({ "requestId": call["id"] });
        server.notify("notifications/cancelled", id).await;
        server.respond(&call, &text("done")).await;
    });
    result.expect("a result");
}

/// `Question::call` says what is known.
#[tokio::test]
async fn a_question_that_may_be_anybodys_says_so() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let client = desk().on_form(move |form| {
        let call = (form.call().is_known(), form.call().to_string());
        log.lock().expect("unpoisoned").push(call);
        async move { form.decline() }
    });
    let (connection, mut server) = met(&client).await;
    server.ask(1, &form("no call")).await;
    server.answer_to(1).await;
    let calling = async { join!(connection.call_tool("a", ()), connection.call_tool("b", ())) };
    let (results, ()) = join!(calling, async {
        let (a, b) = (
            server.expect("tools/call").await,
            server.expect("tools/call").await,
        );
        server.ask(2, &form("two calls")).await;
        server.answer_to(2).await;
        server.respond(&a, &text("a")).await;
        // It must be known that there is one less.
        tokio::time::sleep(Duration::from_millis(30)).await;
        server.ask(3, &form("one call")).await;
        server.answer_to(3).await;
        server.respond(&b, &text("b")).await;
    });
    results.0.expect("a result");
    results.1.expect("a result");
    let seen = seen.lock().expect("unpoisoned").clone();
    let name = if seen[2].1.ends_with('a') {
        "tools/call a"
    } else {
        "tools/call b"
    };
    let unknown = (false, "no call in particular".to_owned());
    assert_eq!(seen, [unknown.clone(), unknown, (true, name.to_owned())]);
}

/// No call can be paused, so the caller is told what was asked.
#[tokio::test]
async fn what_is_answered_by_hand_ends_the_call() {
    for (kind, question) in [
        (Kind::Form, form("Sure?")),
        (Kind::Sample, sample()),
        (Kind::Roots, roots()),
    ] {
        let client = desk().by_hand([kind]);
        let (connection, mut server) = met(&client).await;
        let (result, ()) = join!(connection.call_tool("t", ()), async {
            let call = server.expect("tools/call").await;
            server.ask("q", &question).await;
            // The question is answered before the call is given up.
            let rest = [server.receive().await, server.receive().await];
            match kind {
                Kind::Form => assert_eq!(rest[0]["result"], json!({ "action": "cancel" })),
                _ => assert!(rest[0]["error"]["code"].is_i64(), "{}", rest[0]),
            }
            assert_eq!(rest[1]["method"], "notifications/cancelled");
            assert_eq!(rest[1]["params"]["requestId"], call["id"]);
        });
        let error = result.expect_err("not pausable");
        let text = error.to_string();
        assert!(
            text.contains("by hand") && text.contains("`Client::on_"),
            "{text}"
        );
        let ErrorKind::NotPausable {
            key,
            question: asked,
        } = error.into_kind()
        else {
            panic!("{text}")
        };
        assert_eq!(
            (key.as_str(), asked.method()),
            ("q", question["method"].as_str().expect("a method"))
        );
    }
    // A question that belongs to no call ends none.
    let (_connection, mut server) = met(&desk().by_hand([Kind::Form])).await;
    server.ask(1, &form("m")).await;
    assert_eq!(
        server.answer_to(1).await["result"],
        json!({ "action": "cancel" })
    );
}

/// A callback that leaves the answer to the caller comes to the same.
#[tokio::test]
async fn what_a_callback_leaves_to_the_caller_ends_the_call() {
    let client = desk().on_form(|form| async move { form.pause() });
    let (connection, mut server) = met(&client).await;
    let (result, ()) = join!(connection.call_tool("t", ()), async {
        let call = server.expect("tools/call").await;
        server.ask("q", &form("Sure?")).await;
        let answer = server.receive().await;
        assert_eq!(answer["result"], json!({ "action": "cancel" }));
        let cancelled = server.receive().await;
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], call["id"]);
    });
    let error = result.expect_err("not pausable");
    assert!(
        matches!(error.kind(), ErrorKind::NotPausable { key, .. } if key == "q"),
        "{error}"
    );
}

/// Also when the server has made a result of the refusal before the caller looks.
#[tokio::test]
async fn a_question_that_ends_the_call_does_so_however_fast_the_server_is() {
    async fn wipe(ask: Ask) -> Result<&'static str, Stop> {
        let _: Confirmed<()> = ask.confirm("wipe", "Wipe it?", ())?;
        Ok("wiped")
    }
    let server: Server = Server::new("fast", "1").tool("wipe", wipe);
    let client = desk().era(Era::Legacy).by_hand([Kind::Form]);
    let connection = client.connect(memory(server)).await.expect("connected");
    for _ in 0..20 {
        let result = connection.call_tool("wipe", ()).await;
        let error = result.expect_err("not pausable");
        assert!(
            matches!(error.kind(), ErrorKind::NotPausable { .. }),
            "{error}"
        );
    }
}

/// Each question is a round of its own, unless others are open.
#[tokio::test]
async fn the_hook_sees_every_question_and_may_refuse() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let client = answering().on_round(move |round| {
        let (key, question) = round.questions().next().expect("a question");
        let roots = matches!(question, InputRequest::Roots(_));
        log.lock().expect("unpoisoned").push((
            round.number(),
            key.to_owned(),
            round.call().is_known(),
        ));
        match roots {
            true => Err("no roots for you"),
            false => Ok(()),
        }
    });
    let (connection, mut server) = met(&client).await;
    let (result, ()) = join!(connection.call_tool("t", ()), async {
        server.expect("tools/call").await;
        for id in [1, 2] {
            server.ask(id, &form("m")).await;
            server.answer_to(id).await;
            // The clock of the call goes on only when the answer is on its way.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        server.ask(3, &roots()).await;
        let rest = [server.receive().await, server.receive().await];
        let told = rest
            .iter()
            .any(|message| message["error"]["code"] == -32603);
        assert!(
            told && rest
                .iter()
                .any(|message| message["method"] == "notifications/cancelled")
        );
    });
    let error = result.expect_err("refused");
    assert!(
        matches!(error.kind(), ErrorKind::Stopped { round: 3 }),
        "{error:?}"
    );
    assert!(error.to_string().contains("no roots for you"), "{error}");
    let seen = seen.lock().expect("unpoisoned").clone();
    let seen: Vec<_> = seen
        .iter()
        .map(|(round, key, known)| (*round, key.as_str(), *known))
        .collect();
    assert_eq!(seen, [(1, "1", true), (2, "2", true), (3, "3", true)]);
}

/// A server that asks and asks is not answered for ever.
#[tokio::test]
async fn rounds_are_limited() {
    let (connection, mut server) = met(&answering().max_rounds(3)).await;
    let (result, asked) = join!(connection.call_tool("t", ()), async {
        server.expect("tools/call").await;
        for id in 1.. {
            server.ask(id, &form("m")).await;
            let message = server.receive().await;
            if message["method"] == "notifications/cancelled"
                || message["result"]["action"] == "cancel"
            {
                return id;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        0
    });
    assert_eq!(asked, 4);
    let error = result.expect_err("too many");
    assert!(
        matches!(error.kind(), ErrorKind::RoundsExceeded(_)),
        "{error:?}"
    );
}

/// Flooded with questions, a client says so, and stays usable.
#[tokio::test]
async fn a_flood_of_questions_is_bounded() {
    let (client, asked) = pending();
    let (connection, mut server) = met(&client).await;
    let mut refused = 0;
    for id in 0..150 {
        server.ask(id, &form("m")).await;
        if id >= 100 {
            let answer = server.answer_to(id).await;
            assert_eq!(answer["error"]["code"], -32603);
            refused += 1;
        }
    }
    assert_eq!((asked.load(Ordering::SeqCst), refused), (100, 50));
    // And it can be told that nobody wants to know any more.
    for id in 0..100 {
        server
            .notify("notifications/cancelled", json!({ "requestId": id }))
            .await;
    }
    let (result, ()) = join!(connection.call_tool("t", ()), async {
        let call = server.expect("tools/call").await;
        server.respond(&call, &text("done")).await;
    });
    result.expect("a result");
    tokio::time::sleep(Duration::from_millis(30)).await;
    server.ask(777, &json!({ "method": "ping" })).await;
    assert_eq!(server.answer_to(777).await["result"], json!({}));
}

/// Nobody sits before a question whose call was given up.
#[tokio::test]
async fn a_call_that_is_dropped_takes_its_questions_along() {
    let (client, asked) = pending();
    let (connection, mut server) = met(&client).await;
    let cancel = CancellationToken::new();
    let call = CallTool::new("t", ()).cancel_with(cancel.clone());
    let (result, ()) = join!(connection.call(call), async {
        let call = server.expect("tools/call").await;
        server.ask("q", &form("m")).await;
        until(|| asked.load(Ordering::SeqCst) == 1).await;
        cancel.cancel();
        let mut rest = [server.receive().await, server.receive().await];
        rest.sort_by_key(|message| message["method"].is_string());
        assert_eq!(rest[0]["result"], json!({ "action": "cancel" }));
        assert_eq!(rest[1]["params"]["requestId"], call["id"]);
    });
    assert!(matches!(
        result.expect_err("cancelled").kind(),
        ErrorKind::Cancelled
    ));
    // And with the connection goes everything.
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = dropped.clone();
    let client = desk().on_form(move |form| {
        let over = form.cancelled().clone();
        let count = count.clone();
        tokio::spawn(async move {
            over.cancelled().await;
            count.fetch_add(1, Ordering::SeqCst);
        });
        async move {
            std::future::pending::<()>().await;
            form.cancel()
        }
    });
    let (connection, server) = met(&client).await;
    server.ask(1, &form("m")).await;
    tokio::time::sleep(Duration::from_millis(30)).await;
    drop(connection);
    until(|| dropped.load(Ordering::SeqCst) == 1).await;
}

/// Whatever else comes on the way: answers to nothing, answers twice, garbage, questions after the
/// result or twice under one id.
#[tokio::test]
async fn odd_messages_harm_nobody() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let log = told.clone();
    let client = answering().on_event(move |event| {
        let what = match event {
            Event::Message(message) => String::from_utf8_lossy(message).into_owned(),
            Event::Noise(_) => "noise".to_owned(),
            _ => return,
        };
        log.lock().expect("unpoisoned").push(what);
    });
    let (connection, mut server) = met(&client).await;
    for round in 0..3 {
        let (result, ()) = join!(connection.call_tool("t", ()), async {
            let call = server.expect("tools/call").await;
            server.write("Listening on port 42").await;
            server
                .write(r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#)
                .await;
            server
                .send(json!({ "jsonrpc": "2.0", "id": 4242, "result": {} }))
                .await;
            server
                .send(json!({ "jsonrpc": "2.0", "id": "q", "result": {} }))
                .await;
            server
                .send(json!({ "jsonrpc": "2.0", "id": 1.5, "method": "ping" }))
                .await;
            server
                .send(json!({ "jsonrpc": "2.0", "id": {}, "method": "ping" }))
                .await;
            server
                .send(json!({ "jsonrpc": "1.0", "id": 3, "method": "ping" }))
                .await;
            server.send(json!({ "jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": { "elicitationId": "x" } })).await;
            server.respond(&call, &text("first")).await;
            server.respond(&call, &text("second")).await;
            server.ask(round, &form("after the result")).await;
            let answer = server.answer_to(round).await;
            assert_eq!(answer["result"]["action"], "accept");
        });
        assert_eq!(result.expect("a result").first_text(), Some("first"));
    }
    server.quiet().await;
    let told = told.lock().expect("unpoisoned").clone();
    assert_eq!(
        told.iter().filter(|what| *what == "noise").count(),
        3,
        "{told:?}"
    );
    assert!(told.iter().any(|what| what.contains("second")), "{told:?}");

    // Twice under one id: answered once.
    let (client, asked) = pending();
    let (_connection, server) = met(&client).await;
    server.ask(1, &form("m")).await;
    server.ask(1, &form("m")).await;
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

/// A result that asks is of another revision.
#[tokio::test]
async fn a_result_that_asks_is_no_result() {
    let (connection, mut server) = met(&answering()).await;
    let (result, ()) = join!(connection.call_tool("t", ()), async {
        let call = server.expect("tools/call").await;
        let asks: Value =
            json!({ "resultType": "input_required", "inputRequests": { "k": form("m") } });
        server.respond(&call, &asks).await;
    });
    let error = result.expect_err("it asks");
    assert!(matches!(error.kind(), ErrorKind::Decode), "{error:?}");
    server.quiet().await;
}

/// Where each request has a stream of its own, whose question it is stands fast, however many calls
/// there are; and all of them are asked at the same time.
#[tokio::test]
async fn a_question_in_the_stream_of_a_call_is_of_that_call() {
    let together = Arc::new(tokio::sync::Barrier::new(6));
    let client = desk().on_form(move |form| {
        let together = together.clone();
        async move {
            together.wait().await;
            let (key, name) = (form.key().to_owned(), form.call().name().to_owned());
            assert!(
                key.starts_with(&name) && form.round() == 1,
                "{key} of {name}"
            );
            form.accept(json!({ "ok": true }))
        }
    });
    let (way, mut told) = streaming(vec![form("one"), form("two")]);
    let connection = client.connect(way).await.expect("connected");
    let calls = ["a", "b", "c"].map(|name| connection.call_tool(name, ()));
    let [a, b, c] = calls;
    let results = join!(a, b, c);
    for (result, name) in [(results.0, "a"), (results.1, "b"), (results.2, "c")] {
        assert_eq!(result.expect("a result").first_text(), Some(name));
    }
    let mut ids = Vec::new();
    while let Ok(message) = told.try_recv() {
        if message["result"]["action"] == "accept" {
            ids.push(message["id"].as_str().expect("an id").to_owned());
        }
    }
    ids.sort();
    assert_eq!(ids, ["a 0", "a 1", "b 0", "b 1", "c 0", "c 1"]);
}

/// A question that may be anybody's lets nobody's clock run.
#[tokio::test(start_paused = true)]
async fn every_clock_stands_still_for_a_question_of_no_one() {
    let client = desk()
        .work_timeout(Duration::from_secs(10))
        .on_form(|form| async move {
            tokio::time::sleep(Duration::from_secs(100)).await;
            form.accept(json!({ "ok": true }))
        });
    let (connection, mut server) = met(&client).await;
    let calling = async { join!(connection.call_tool("a", ()), connection.call_tool("b", ())) };
    let (results, ()) = join!(calling, async {
        let calls = [
            server.expect("tools/call").await,
            server.expect("tools/call").await,
        ];
        server.ask(1, &form("m")).await;
        tokio::time::sleep(Duration::from_secs(99)).await;
        server.answer_to(1).await;
        for call in calls {
            server.respond(&call, &text("done")).await;
        }
    });
    results.0.expect("in time");
    results.1.expect("in time");
}
