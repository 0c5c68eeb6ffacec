//! The client's loop: a call, its questions, and the call again with the answers.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use antiphon::{
    Client, Kind,
    client::{CallTool, ErrorKind, GetPrompt, Identity, Outcome, ReadResource, Reply},
    types::{LoggingLevel, Root},
};
use antiphon_tests::script::{answers, asking, form, link, respond, roots, sample, script, text};
use serde_json::{Value, json, value::RawValue};
use tokio::sync::Barrier;

/// A client that agrees to everything.
fn agreeable() -> Client {
    Client::new("tests", "1.0")
        .on_form(|form| async move { form.accept(json!({ "ok": true })) })
        .on_url(|link| async move { link.accept() })
        .on_sample(|sample| async move { sample.text("Hello", "parrot") })
        .on_roots(|roots| async move { roots.list([Root::new("file:///srv")]) })
}

fn without_meta(message: &Value) -> Value {
    let mut params = message["params"].clone();
    params.as_object_mut().expect("params").remove("_meta");
    params
}

/// MRTR-C-01 to MRTR-C-12: keys, bare answers, the state as it came, a fresh id, the params as
/// they were, and nothing of an earlier round.
#[tokio::test]
async fn a_retry_repeats_the_call_and_adds_what_the_last_round_asked() {
    let state = "{\"a\": [1.0, \"\\u00e9\"] } \u{1F6A2}\n";
    let (peer, seen) = answers([
        asking(
            [
                ("z", form("Pay?")),
                ("a", roots()),
                ("m", sample()),
                ("", link("https://example.org/x")),
            ],
            Some(state),
        ),
        asking([("b", form("Sure?"))], None),
        asking([], Some("")),
        text("done"),
    ]);
    let client = agreeable().connect(peer).await.expect("connected");
    let arguments = r#"{"b":1e2,"a":9007199254740993,"n":0.10}"#;
    let raw = RawValue::from_string(arguments.to_owned()).expect("JSON");
    let result = client.call_tool("pay", &raw).await.expect("a result");
    assert_eq!(result.first_text(), Some("done"));

    let messages = seen.messages();
    assert_eq!(messages.len(), 4);
    let mut ids: Vec<_> = messages
        .iter()
        .map(|it| it["id"].as_i64().expect("an id"))
        .collect();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    for (text, message) in seen.texts().iter().zip(&messages) {
        assert!(
            text.contains(&format!(r#""arguments":{arguments}"#)),
            "{text}"
        );
        assert_eq!(message["params"]["name"], "pay");
        let meta = &message["params"]["_meta"];
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"],
            "2026-07-28"
        );
        assert_eq!(
            meta["io.modelcontextprotocol/clientCapabilities"],
            json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}})
        );
    }
    let accepted = json!({"action": "accept", "content": {"ok": true}});
    let params: Vec<_> = messages.iter().map(without_meta).collect();
    assert_eq!(params[0].as_object().expect("params").len(), 2);
    assert_eq!(params[1]["requestState"], state);
    assert_eq!(
        params[1]["inputResponses"],
        json!({
            "z": accepted,
            "a": {"roots": [{"uri": "file:///srv"}]},
            "m": {"role": "assistant", "content": {"type": "text", "text": "Hello"},
                  "model": "parrot", "stopReason": "endTurn"},
            "": {"action": "accept"},
        })
    );
    assert_eq!(params[2]["inputResponses"], json!({ "b": accepted }));
    assert!(params[2].get("requestState").is_none());
    assert!(params[3].get("inputResponses").is_none());
    assert_eq!(params[3]["requestState"], "");
}

/// Whatever a caller keeps of a call is what it was, however often it was asked.
#[tokio::test]
async fn a_call_that_was_made_can_be_made_again() {
    let (peer, seen) = script(|request| {
        let result = match request["params"].get("requestState") {
            None => asking([("k", form("?"))], Some("s")),
            Some(_) => text("done"),
        };
        vec![respond(request, &result)]
    });
    let client = agreeable().connect(peer).await.expect("connected");
    let call = CallTool::new("pay", json!({ "a": 1 }));
    for _ in 0..2 {
        client.call(call.clone()).await.expect("a result");
    }
    let params: Vec<_> = seen.messages().iter().map(without_meta).collect();
    let plain = json!({ "name": "pay", "arguments": { "a": 1 } });
    assert_eq!(params.len(), 4);
    assert_eq!((&params[0], &params[2]), (&plain, &plain));
}

/// Every way to call runs the loop, or says that it does not: none gives questions for a result.
#[tokio::test]
async fn whatever_calls_runs_the_loop() {
    let (peer, seen) = script(|request| {
        let result = match (request["params"].get("requestState"), &request["method"]) {
            (None, _) => asking([("k", form("?"))], Some("s")),
            (_, method) if method == "tools/call" => text("done"),
            (_, method) if method == "prompts/get" => json!({ "messages": [] }),
            _ => json!({ "contents": [], "ttlMs": 0, "cacheScope": "private" }),
        };
        vec![respond(request, &result)]
    });
    let client = agreeable().connect(peer).await.expect("connected");
    client.call_tool("t", ()).await.expect("a result");
    client.call(CallTool::new("t", ())).await.expect("a result");
    let started = client.start(CallTool::new("t", ())).await;
    assert!(matches!(started, Ok(Outcome::Done(_))), "{started:?}");
    client.get_prompt("p", ()).await.expect("a prompt");
    client
        .call(GetPrompt::new("p", ()))
        .await
        .expect("a prompt");
    client.read_resource("x://y").await.expect("contents");
    client
        .call(ReadResource::new("x://y"))
        .await
        .expect("contents");
    assert_eq!(seen.messages().len(), 14);
    for (method, name) in [
        ("tools/call", "name"),
        ("prompts/get", "name"),
        ("resources/read", "uri"),
    ] {
        let params = json!({ name: "x://y" });
        let params = params.as_object().expect("an object");
        let error = client.request(method, params).await.expect_err("it asks");
        assert!(matches!(error.kind(), ErrorKind::Decode), "{error:?}");
        assert!(error.to_string().contains("asks for input"), "{error}");
    }
}

/// The callbacks of a round run together, and see who asks, for which call, until when.
#[tokio::test]
async fn questions_of_a_round_are_asked_together() {
    let (peer, _) = answers([
        asking([("a", form("One?")), ("b", form("Two?"))], None),
        text("done"),
    ]);
    let together = Arc::new(Barrier::new(2));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let client = Client::new("tests", "1.0").on_form(move |form| {
        let (together, log) = (together.clone(), log.clone());
        async move {
            together.wait().await;
            assert_eq!(*form.server(), Identity::Memory);
            assert_eq!(
                (form.call().method(), form.call().name()),
                ("tools/call", "t")
            );
            assert_eq!(
                form.call().arguments().expect("arguments").get(),
                r#"{"x":1}"#
            );
            assert!(form.remaining() > Duration::from_secs(500));
            let told = (form.key().to_owned(), form.message.clone(), form.round());
            log.lock().expect("unpoisoned").push(told);
            form.accept(json!({ "ok": true }))
        }
    });
    let client = client.connect(peer).await.expect("connected");
    client
        .call_tool("t", json!({"x": 1}))
        .await
        .expect("a result");
    let mut seen = seen.lock().expect("unpoisoned").clone();
    seen.sort();
    let told = |key: &str, message: &str| (key.to_owned(), message.to_owned(), 1);
    assert_eq!(seen, [told("a", "One?"), told("b", "Two?")]);
}

/// wire.md 4.3, step 6: a user's no is an answer.
#[tokio::test]
async fn declining_is_an_answer() {
    for (reply, action) in [(true, "decline"), (false, "cancel")] {
        let (peer, seen) = answers([asking([("k", form("?"))], Some("s")), text("fine")]);
        let client = Client::new("tests", "1.0").on_form(move |form| async move {
            match reply {
                true => form.decline(),
                false => form.cancel(),
            }
        });
        let client = client.connect(peer).await.expect("connected");
        client.call_tool("t", ()).await.expect("a result");
        let retry = &seen.messages()[1]["params"];
        assert_eq!(retry["inputResponses"], json!({"k": {"action": action}}));
    }
}

/// MRTR-C-16, MRTR-C-17, SAMP-C-03: what nobody declared is not asked, and nothing is sent.
#[tokio::test]
async fn a_question_nobody_declared_ends_the_call() {
    let client = || Client::new("tests", "1.0");
    let yes = || client().on_form(|form| async move { form.accept(json!({"ok": true})) });
    let say = || client().on_sample(|sample| async move { sample.text("x", "m") });
    let mut with_tools = sample();
    with_tools["params"]["tools"] = json!([]);
    let unknown = json!({ "method": "weather/read", "params": {} });
    for (client, question, expected) in [
        (client(), form("?"), "Elicitation not supported"),
        (yes(), link("https://x"), "Elicitation not supported"),
        (client(), sample(), "Sampling not supported"),
        (say(), with_tools, "Sampling not supported"),
        (yes(), roots(), "Roots not supported"),
        (yes(), unknown, "weather/read not supported"),
    ] {
        // The question that could be answered is not asked either.
        let (peer, seen) = answers([asking([("odd", question)], Some("s")), text("no")]);
        let client = client.connect(peer).await.expect("connected");
        let error = client.call_tool("t", ()).await.expect_err("unsupported");
        assert_eq!(error.code(), Some(-32600));
        assert!(error.to_string().contains(expected), "{error}");
        let ErrorKind::Unsupported { key, error } = error.into_kind() else {
            panic!("another kind")
        };
        assert_eq!((key.as_str(), error.message.as_str()), ("odd", expected));
        assert_eq!(seen.messages().len(), 1);
    }
}

/// ELIC-C-14: a link that could do anything never reaches the user.
#[tokio::test]
async fn links_are_https_or_local() {
    for (url, reaches) in [
        ("https://example.org/a?b#c", true),
        ("http://localhost:8080/x", true),
        ("http://127.0.0.1/x", true),
        ("http://[::1]/x", true),
        ("http://example.org/x", false),
        ("http://localhost.example.org/x", false),
        ("http://127.0.0.1@example.org/x", false),
        ("javascript:alert(1)", false),
        ("file:///etc/passwd", false),
        ("https://", false),
        ("", false),
    ] {
        for insecure in [false, true] {
            let (peer, seen) = answers([asking([("k", link(url))], None), text("ok")]);
            let client = match insecure {
                true => agreeable().danger_insecure_links(),
                false => agreeable(),
            };
            let client = client.connect(peer).await.expect("connected");
            let result = client.call_tool("t", ()).await;
            assert_eq!(result.is_ok(), reaches || insecure, "{url}: {result:?}");
            assert_eq!(seen.messages().len(), 1 + usize::from(reaches || insecure));
        }
    }
}

/// MRTR-C-20, elsewhere.md: the answers of the last round allowed are sent; the round after it is
/// an error that holds its questions.
#[tokio::test]
async fn rounds_are_limited() {
    let (peer, seen) =
        script(|request| vec![respond(request, &asking([("again", form("?"))], None))]);
    let client = agreeable()
        .max_rounds(3)
        .connect(peer)
        .await
        .expect("connected");
    let error = client.call_tool("t", ()).await.expect_err("too many");
    let ErrorKind::RoundsExceeded(last) = error.kind() else {
        panic!("{error}")
    };
    assert_eq!(
        last.requests().map(|(key, _)| key).collect::<Vec<_>>(),
        ["again"]
    );
    assert_eq!(seen.messages().len(), 4);
    assert!(error.to_string().contains("more than 3 rounds"), "{error}");
    let once = client.call(CallTool::new("t", ()).max_rounds(1)).await;
    assert!(matches!(
        once.expect_err("too many").kind(),
        ErrorKind::RoundsExceeded(_)
    ));
    assert_eq!(seen.messages().len(), 6);
}

/// The answers of the last round allowed may be all that was missing.
#[tokio::test]
async fn the_last_round_allowed_counts() {
    let (peer, seen) = answers([
        asking([("one", form("?"))], None),
        asking([("two", form("?"))], None),
        asking([("three", form("?"))], Some("s")),
        text("done"),
    ]);
    let client = agreeable().max_rounds(3);
    let client = client.connect(peer).await.expect("connected");
    let result = client.call_tool("t", ()).await.expect("a result");
    assert_eq!(result.first_text(), Some("done"));
    let last = &seen.messages()[3]["params"];
    assert_eq!(last["inputResponses"]["three"]["action"], "accept");
}

/// ELIC-C-21, elsewhere.md: an answer that does not fit is handed back, and never sent.
#[tokio::test]
async fn an_answer_that_does_not_fit_is_handed_back() {
    for good_at in [2, 3, 4] {
        let (peer, seen) = answers([asking([("age", form("?"))], None), text("ok")]);
        let client = Client::new("tests", "1.0").on_form(move |form| async move {
            match form.attempt() {
                1 => assert!(form.errors().is_empty()),
                _ => assert_eq!(form.errors(), ["ok: must be true or false"]),
            }
            match form.attempt() == good_at {
                true => form.accept(json!({ "ok": true })),
                false => form.accept(json!({ "ok": "yes" })),
            }
        });
        let client = client.connect(peer).await.expect("connected");
        let result = client.call_tool("t", ()).await;
        if good_at <= 3 {
            result.expect("a result");
            continue;
        }
        let error = result.expect_err("three tries");
        let ErrorKind::InvalidAnswer { key, round, errors } = error.kind() else {
            panic!("{error}")
        };
        assert_eq!((key.as_str(), *round), ("age", 1));
        assert_eq!(errors, &["ok: must be true or false"]);
        assert_eq!(seen.messages().len(), 1);
    }
}

/// elsewhere.md: the key and the round of a question that got no answer.
#[tokio::test]
async fn refusals_name_the_question() {
    type Answer = fn(antiphon::client::Form) -> Reply;
    let refusals: [(Answer, &str); 4] = [
        (|form| form.refuse("not today"), "not today"),
        (
            |_| Reply::from(Err::<Reply, _>("no terminal")),
            "no terminal",
        ),
        (|form| form.accept([1, 2]), "an object of its fields"),
        (|_| panic!("a bug"), "panicked"),
    ];
    for (refusal, why) in refusals {
        let (peer, seen) = answers([
            asking([("first", form("1?"))], None),
            asking([("second", form("2?"))], None),
        ]);
        let client = Client::new("tests", "1.0").on_form(move |form| async move {
            match form.round() {
                1 => form.accept(json!({ "ok": true })),
                _ => refusal(form),
            }
        });
        let client = client.connect(peer).await.expect("connected");
        let error = client.call_tool("t", ()).await.expect_err("refused");
        let text = error.to_string();
        assert!(
            text.contains("`second`") && text.contains("round 2"),
            "{text}"
        );
        assert!(text.contains(why), "{text}");
        let ErrorKind::Refused { key, round } = error.kind() else {
            panic!("{error}")
        };
        assert_eq!((key.as_str(), *round), ("second", 2));
        assert_eq!(seen.messages().len(), 2);
    }
}

/// MRTR-C-09: what belongs to one call does not leak into another.
#[tokio::test]
async fn parallel_calls_do_not_mix() {
    let (peer, seen) = script(|request| {
        let params = &request["params"];
        let name = params["name"].as_str().expect("a name");
        let result = match params.get("inputResponses") {
            None => asking([("same", form(name))], Some(name)),
            Some(_) => text(params["requestState"].as_str().expect("a state")),
        };
        vec![respond(request, &result)]
    });
    let client = Client::new("tests", "1.0").on_form(|form| async move {
        assert_eq!(form.message, form.call().name());
        tokio::time::sleep(Duration::from_millis(5)).await;
        form.accept(json!({ "ok": form.message.ends_with('1') }))
    });
    let client = client.connect(peer).await.expect("connected");
    let calls = (0..50).map(|number| {
        let client = client.clone();
        tokio::spawn(async move {
            let name = format!("tool{number}");
            let result = client.call_tool(&name, ()).await.expect("a result");
            assert_eq!(result.first_text(), Some(&*name));
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.expect("as it should be");
    }
    for message in seen.messages() {
        let params = &message["params"];
        let name = params["name"].as_str().expect("a name");
        if let Some(answer) = params.get("inputResponses") {
            assert_eq!(params["requestState"], name);
            assert_eq!(answer["same"]["content"]["ok"], name.ends_with('1'));
        }
    }
}

/// BASE-C-04, BASE-C-05, MRTR-C-15, elsewhere.md: a result is what its `resultType` says.
#[tokio::test]
async fn results_are_read_by_their_type_alone() {
    let questions = json!({ "k": form("?") });
    for (result, expected) in [
        (json!({"content": []}), Ok(())),
        (
            json!({"content": [], "requestState": "s", "inputRequests": questions}),
            Ok(()),
        ),
        (
            json!({"resultType": "complete", "content": [], "more": 1}),
            Ok(()),
        ),
        (
            json!({"resultType": "task", "content": []}),
            Err("unknown resultType \"task\""),
        ),
        (
            json!({"resultType": "input_required", "content": []}),
            Err("neither"),
        ),
        (
            json!({"resultType": "complete", "requestState": "s"}),
            Err("content"),
        ),
        (json!({"resultType": 7, "content": []}), Err("invalid")),
        (json!([]), Err("invalid")),
    ] {
        let (peer, seen) = answers([result.clone(), text("no")]);
        let client = agreeable().connect(peer).await.expect("connected");
        match (client.call_tool("t", ()).await, expected) {
            (Ok(_), Ok(())) => {}
            (Err(error), Err(part)) => {
                assert!(matches!(error.kind(), ErrorKind::Decode), "{error:?}");
                assert!(error.to_string().contains(part), "{error}");
            }
            (other, _) => panic!("{result}: {other:?}"),
        }
        assert_eq!(seen.messages().len(), 1);
    }
    // Metadata does not make a question a success.
    let mut asks = asking([("k", form("?"))], None);
    asks["_meta"] = json!({ "x": 1 });
    asks["content"] = json!([]);
    let (peer, seen) = answers([asks, text("asked")]);
    let client = agreeable().connect(peer).await.expect("connected");
    let result = client.call_tool("t", ()).await.expect("a result");
    assert_eq!(
        (result.first_text(), seen.messages().len()),
        (Some("asked"), 2)
    );
    // Nobody else may ask.
    let (peer, seen) = answers([asking([("k", form("?"))], Some("s"))]);
    let client = agreeable().connect(peer).await.expect("connected");
    let error = client.tools().all().await.expect_err("may not ask");
    assert!(matches!(error.kind(), ErrorKind::Decode), "{error:?}");
    assert!(error.to_string().contains("may not ask"), "{error}");
    assert_eq!(seen.messages().len(), 1);
}

/// So it is with prompts and resources: more members do not make them another result, and
/// metadata does not make a success of questions.
#[tokio::test]
async fn prompts_and_resources_are_read_by_their_type_too() {
    let more = |mut result: Value| {
        result["_meta"] = json!({ "x": 1 });
        result["more"] = json!({ "content": [] });
        result
    };
    let asks = |member: &str| {
        let mut asks = more(asking([("k", form("?"))], None));
        asks[member] = json!([]);
        asks
    };
    let done = json!({ "messages": [], "contents": [], "content": [], "requestState": "s" });
    let (peer, seen) = answers([
        asks("messages"),
        more(done.clone()),
        asks("contents"),
        more(done),
    ]);
    let client = agreeable().connect(peer).await.expect("connected");
    client.get_prompt("p", ()).await.expect("a prompt");
    assert_eq!(seen.messages().len(), 2);
    client.read_resource("x://y").await.expect("contents");
    assert_eq!(seen.messages().len(), 4);
}

/// A hook sees each round, and may refuse it.
#[tokio::test]
async fn a_round_can_be_refused_before_anybody_is_asked() {
    let (peer, seen) = answers([
        asking([("password", form("?"))], None),
        asking([("fine", form("?"))], None),
        text("done"),
    ]);
    let rounds = Arc::new(AtomicU32::new(0));
    let count = rounds.clone();
    let client = agreeable().on_round(move |round| {
        count.fetch_add(1, Ordering::SeqCst);
        assert_eq!((round.call().name(), round.number()), ("t", 1));
        assert_eq!(*round.server(), Identity::Memory);
        match round.questions().any(|(key, _)| key == "password") {
            true => Err("forms must not ask for secrets"),
            false => Ok(()),
        }
    });
    let client = client.connect(peer).await.expect("connected");
    let error = client.call_tool("t", ()).await.expect_err("refused");
    assert!(
        matches!(error.kind(), ErrorKind::Stopped { round: 1 }),
        "{error:?}"
    );
    assert!(error.to_string().contains("secrets"), "{error}");
    assert_eq!(seen.messages().len(), 1);
    client.call_tool("t", ()).await.expect("a result");
    assert_eq!(rounds.load(Ordering::SeqCst), 2);
}

/// Prompts and resources ask like tools; and what is by hand comes back from all of them.
#[tokio::test]
async fn all_three_methods_run_the_same_loop() {
    let (peer, seen) = answers([
        asking([("k", form("?"))], Some("s")),
        json!({"resultType": "complete", "messages": []}),
        asking([("k", form("?"))], Some("s")),
        json!({"resultType": "complete", "contents": [], "ttlMs": 0, "cacheScope": "public"}),
    ]);
    let client = agreeable().connect(peer).await.expect("connected");
    client
        .get_prompt("p", json!({"a": "b"}))
        .await
        .expect("a prompt");
    client.read_resource("x://y").await.expect("a resource");
    let params: Vec<_> = seen.messages().iter().map(without_meta).collect();
    let answered = json!({"k": {"action": "accept", "content": {"ok": true}}});
    assert_eq!(
        params[1],
        json!({"name": "p", "arguments": {"a": "b"}, "inputResponses": answered, "requestState": "s"})
    );
    assert_eq!(
        params[3],
        json!({"uri": "x://y", "inputResponses": answered, "requestState": "s"})
    );

    let (peer, _) = script(|request| vec![respond(request, &asking([("k", form("?"))], None))]);
    let client = Client::new("tests", "1.0").by_hand([Kind::Form]);
    let client = client.connect(peer).await.expect("connected");
    let paused = client
        .get_prompt("p", ())
        .await
        .expect_err("by hand")
        .into_paused();
    assert_eq!(paused.expect("a paused call").call().name(), "p");
    let paused = client
        .read_resource("x://y")
        .await
        .expect_err("by hand")
        .into_paused();
    assert_eq!(
        paused.expect("a paused call").call().method(),
        "resources/read"
    );
}

/// What cannot be sent is told at once.
#[tokio::test]
async fn arguments_that_cannot_be_sent_are_refused() {
    let (peer, seen) = answers([]);
    let client = agreeable().connect(peer).await.expect("connected");
    let bad = [
        client.call_tool("t", [1]).await.err(),
        client.call_tool("t", "text").await.err(),
        client.get_prompt("p", json!({"a": 1})).await.err(),
    ];
    for error in bad {
        let error = error.expect("refused");
        assert!(matches!(error.kind(), ErrorKind::Invalid), "{error:?}");
    }
    assert!(seen.messages().is_empty());
}

/// One request at a time, what comes on its channel is in order: progress and logs alike.
#[tokio::test]
async fn notifications_keep_their_order() {
    let (peer, _) = script(|request| {
        let token = &request["params"]["_meta"]["progressToken"];
        let level = &request["params"]["_meta"]["io.modelcontextprotocol/logLevel"];
        assert_eq!(level, "info");
        let note = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "method": method, "params": params });
        let progress = |n: u32| {
            let params = json!({ "progressToken": token, "progress": n });
            note("notifications/progress", params)
        };
        let log = |text: &str| {
            note(
                "notifications/message",
                json!({ "level": "info", "data": text }),
            )
        };
        vec![
            progress(1),
            log("one"),
            progress(2),
            log("two"),
            respond(request, &text("done")),
        ]
    });
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (told, logged) = (heard.clone(), heard.clone());
    let client = Client::new("tests", "1.0")
        .on_progress(move |_, progress| {
            told.lock()
                .expect("unpoisoned")
                .push(progress.progress.to_string());
        })
        .on_log(LoggingLevel::Info, move |log| {
            let text = log.data.as_str().expect("a text");
            logged.lock().expect("unpoisoned").push(text.to_owned());
        });
    let client = client.connect(peer).await.expect("connected");
    client.call_tool("t", ()).await.expect("a result");
    assert_eq!(*heard.lock().expect("unpoisoned"), ["1", "one", "2", "two"]);
}
