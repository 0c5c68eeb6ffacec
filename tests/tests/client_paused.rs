//! Paused calls: stored, answered elsewhere, resumed.

use antiphon::{
    Client, Kind,
    client::{Answer, CallTool, Completed, ErrorKind, Identity, Key, Outcome, Paused},
    types::{CallToolResult, GetPromptResult},
};
use antiphon_tests::script::{answers, asking, form, link, roots, text};
use serde_json::{Value, json};

fn by_hand() -> Client {
    Client::new("tests", "1.0").by_hand([Kind::Form, Kind::Url])
}

async fn paused(client: &Client, questions: Value) -> Paused {
    let (peer, _) = answers([questions]);
    let client = client.connect(peer).await.expect("connected");
    let call = CallTool::new("order", json!({ "title": "Dune", "n": 1.0 }));
    match client.start(call).await.expect("an outcome") {
        Outcome::Paused(paused) => paused,
        other => panic!("{other:?}"),
    }
}

/// A callback may leave its question to the caller; what others answer is kept.
#[tokio::test]
async fn a_callback_may_pause_the_call() {
    let client = Client::new("tests", "1.0")
        .on_form(|form| async move {
            match form.key() {
                "a" => form.pause(),
                _ => form.accept(json!({ "ok": true })),
            }
        })
        .on_url(|link| async move { link.pause() });
    let questions = asking(
        [
            ("a", form("Sure?")),
            ("b", form("Really?")),
            ("c", link("https://x.org")),
        ],
        Some("s"),
    );
    let mut paused = paused(&client, questions).await;
    let open: Vec<_> = paused.unanswered().map(|(key, _)| key.to_owned()).collect();
    assert_eq!(open, ["a", "c"]);
    for key in open {
        paused = paused.answer(&key, Answer::decline());
    }
    let (peer, seen) = answers([text("done")]);
    let connection = client.connect(peer).await.expect("connected");
    let outcome = connection.resume::<CallToolResult>(paused).await;
    assert!(matches!(outcome, Ok(Outcome::Done(_))), "{outcome:?}");
    assert_eq!(
        seen.messages()[0]["params"]["inputResponses"],
        json!({
            "a": { "action": "decline" },
            "b": { "action": "accept", "content": { "ok": true } },
            "c": { "action": "decline" },
        })
    );
    // Calls that cannot come back as paused ones hold it in their error.
    let (peer, _) = answers([asking([("a", form("Sure?"))], Some("s"))]);
    let connection = client.connect(peer).await.expect("connected");
    let error = connection
        .call_tool("order", ())
        .await
        .expect_err("it waits");
    assert!(matches!(error.kind(), ErrorKind::Paused(_)), "{error}");
}

/// A paused call leaves the process, and comes back to a server that never saw it before.
#[tokio::test]
async fn a_paused_call_is_plain_data() {
    let questions = asking(
        [("a", form("Sure?")), ("b", link("https://x.org"))],
        Some("s\n\"1\""),
    );
    let paused = paused(&by_hand(), questions).await;
    assert_eq!((paused.round(), paused.server()), (1, &Identity::Memory));
    assert_eq!(paused.call().to_string(), "tools/call order");
    // In one process one question is answered,
    let stored = serde_json::to_string(&paused.answer("b", Answer::accept(()))).expect("JSON");
    // in another one the other.
    let paused: Paused = serde_json::from_str(&stored).expect("read");
    let open: Vec<_> = paused.unanswered().map(|(key, _)| key).collect();
    assert_eq!(open, ["a"]);
    let (peer, seen) = answers([asking([("c", form("Really?"))], Some("2")), text("done")]);
    let client = by_hand().connect(peer).await.expect("connected");
    let mut outcome = client
        .resume(paused.answer("a", Answer::accept(json!({ "ok": false }))))
        .await
        .expect("an outcome");
    while let Outcome::Paused(paused) = outcome {
        assert_eq!(paused.round(), 2);
        outcome = client
            .resume(paused.answer("c", Answer::decline()))
            .await
            .expect("an outcome");
    }
    let Outcome::Done(result) = outcome else {
        panic!("{outcome:?}")
    };
    let result: CallToolResult = result;
    assert_eq!(result.first_text(), Some("done"));
    let texts = seen.texts();
    assert!(
        texts[0].contains(r#""arguments":{"title":"Dune","n":1.0}"#),
        "{}",
        texts[0]
    );
    let messages = seen.messages();
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    assert_eq!(
        messages[0]["params"]["_meta"][capabilities],
        json!({"elicitation": {"form": {}, "url": {}}})
    );
    assert_eq!(messages[0]["params"]["requestState"], "s\n\"1\"");
    assert_eq!(
        messages[0]["params"]["inputResponses"],
        json!({"a": {"action": "accept", "content": {"ok": false}}, "b": {"action": "accept"}})
    );
    assert_eq!(
        messages[1]["params"]["inputResponses"],
        json!({"c": {"action": "decline"}})
    );
    assert_eq!(messages[1]["params"]["requestState"], "2");
}

/// MRTR-C-13: the call goes on declaring what it declared, and what the resuming client has no
/// callback for comes back by hand.
#[tokio::test]
async fn a_resumed_call_declares_what_it_declared() {
    let paused = paused(&by_hand(), asking([("a", form("?"))], None)).await;
    let (peer, seen) = answers([asking([("b", form("?"))], None)]);
    let other = Client::new("other", "1.0")
        .on_roots(|roots| async move { roots.list([]) })
        .connect(peer)
        .await
        .expect("connected");
    let paused = paused.answer("a", Answer::cancel());
    let outcome = other
        .resume::<CallToolResult>(paused)
        .await
        .expect("an outcome");
    assert!(matches!(outcome, Outcome::Paused(_)), "{outcome:?}");
    let meta = &seen.messages()[0]["params"]["_meta"];
    assert_eq!(
        meta["io.modelcontextprotocol/clientCapabilities"],
        json!({"elicitation": {"form": {}, "url": {}}})
    );
    // What the call never declared is not asked, though this client could answer it.
    let Outcome::Paused(paused) = outcome else {
        unreachable!()
    };
    let (peer, _) = answers([asking([("r", roots())], None)]);
    let other = Client::new("other", "1.0").on_roots(|roots| async move { roots.list([]) });
    let other = other.connect(peer).await.expect("connected");
    let paused = paused.answer("b", Answer::cancel());
    let error = other
        .resume::<CallToolResult>(paused)
        .await
        .expect_err("undeclared");
    assert!(
        matches!(error.kind(), ErrorKind::Unsupported { .. }),
        "{error:?}"
    );
}

/// Nothing is sent and nothing is lost when a call cannot be resumed.
#[tokio::test]
async fn a_call_that_cannot_be_resumed_comes_back_unharmed() {
    let questions = asking([("a", form("?")), ("b", form("?"))], Some("s"));
    let mut paused = paused(&by_hand(), questions).await;
    let (peer, seen) = answers([text("done")]);
    let client = by_hand().connect(peer).await.expect("connected");
    type Spoil = fn(Paused) -> Paused;
    let spoilt: [(Spoil, &str); 4] = [
        (
            |paused| paused,
            "`a`: it is not answered; `b`: it is not answered",
        ),
        (
            |paused| paused.answer("c", Answer::decline()),
            "`c`: there is no such question",
        ),
        (
            |paused| paused.answer("a", Answer::accept(json!({"ok": "yes"}))),
            "`a`: ok: must be true or false",
        ),
        (
            |paused| {
                paused
                    .answer("a", Answer::accept(f64::NAN))
                    .answer("b", Answer::accept(()))
            },
            "`b`: an accepted form needs `content`",
        ),
    ];
    for (spoil, why) in spoilt {
        let error = client
            .resume::<CallToolResult>(spoil(paused))
            .await
            .expect_err(why);
        assert!(
            matches!(error.kind(), ErrorKind::NotResumed { .. }),
            "{error:?}"
        );
        assert!(error.to_string().contains(why), "{error}");
        paused = error.into_paused().expect("the call");
    }
    let yes = || Answer::accept(json!({ "ok": true }));
    // No object has such keys.
    let odd = Answer::accept(std::collections::BTreeMap::from([((1, 2), 3)]));
    let paused = paused.answer("a", odd);
    assert_eq!(paused.problems()[0].key.as_deref(), Some("a"));
    let paused = paused.answer("a", yes()).answer("b", yes());
    assert_eq!(paused.problems(), []);
    // A prompt's result it has not.
    let error = client
        .resume::<GetPromptResult>(paused)
        .await
        .expect_err("another type");
    let paused = error.into_paused().expect("the call");
    assert!(seen.messages().is_empty());
    let outcome = client
        .resume::<Completed>(paused)
        .await
        .expect("an outcome");
    assert!(
        matches!(outcome, Outcome::Done(Completed::Tool(_))),
        "{outcome:?}"
    );
}

/// A call is resumed only where it was made; what the server calls itself does not matter.
#[tokio::test]
async fn a_paused_call_belongs_to_one_server() {
    let paused = paused(&by_hand(), asking([("a", form("?"))], None)).await;
    let mut stored = serde_json::to_value(paused.answer("a", Answer::cancel())).expect("JSON");
    stored["server"] = json!({"http": {"origin": "https://shop.example", "path": "/mcp"}});
    let paused: Paused = serde_json::from_value(stored).expect("read");
    let (peer, seen) = answers([text("done")]);
    let client = by_hand().connect(peer).await.expect("connected");
    let error = client
        .resume::<CallToolResult>(paused)
        .await
        .expect_err("another server");
    let text = error.to_string();
    assert!(
        text.contains("https://shop.example/mcp") && text.contains("this process"),
        "{text}"
    );
    assert!(seen.messages().is_empty());
}

#[tokio::test]
async fn a_call_that_waits_for_the_server_comes_back_as_later() {
    let (peer, seen) = answers([asking([], Some("1")), asking([], Some("2")), text("done")]);
    let client = by_hand().connect(peer).await.expect("connected");
    let mut outcome = client
        .start(CallTool::new("t", ()))
        .await
        .expect("an outcome");
    let mut pauses = Vec::new();
    while let Outcome::Later(paused) = outcome {
        assert_eq!(paused.questions().count(), 0);
        pauses.push(paused.retry_after().as_millis());
        outcome = client.resume(paused).await.expect("an outcome");
    }
    assert!(matches!(outcome, Outcome::Done(_)));
    assert_eq!(pauses, [50, 100]);
    let state = |at: usize| seen.messages()[at]["params"]["requestState"].clone();
    assert_eq!((state(1), state(2)), (json!("1"), json!("2")));
}

/// Callbacks answer theirs, the caller the rest.
#[tokio::test]
async fn callbacks_answer_what_they_can() {
    let client = by_hand().on_roots(|roots| async move { roots.list([]) });
    let (peer, seen) = answers([
        asking([("mine", form("?")), ("theirs", roots())], None),
        text("done"),
    ]);
    let client = client.connect(peer).await.expect("connected");
    let error = client.call_tool("t", ()).await.expect_err("by hand");
    assert!(
        error
            .to_string()
            .contains("waits for answers by hand: mine"),
        "{error}"
    );
    let paused = error.into_paused().expect("the call");
    let paused = paused.answer("mine", Answer::decline());
    client.resume::<CallToolResult>(paused).await.expect("done");
    assert_eq!(
        seen.messages()[1]["params"]["inputResponses"],
        json!({"mine": {"action": "decline"}, "theirs": {"roots": []}})
    );
}

#[tokio::test]
async fn a_sealed_call_cannot_be_read_or_changed() {
    let paused = paused(&by_hand(), asking([("a", form("Secret?"))], Some("st4te"))).await;
    let key = Key::new(&[7; 32]).expect("long enough");
    let sealed = paused.sealed(&key).expect("sealed");
    assert_ne!(sealed, paused.sealed(&key).expect("sealed"));
    let opened = Paused::open(&sealed, &key).expect("opened");
    let (opened, paused) = (serde_json::to_value(&opened), serde_json::to_value(&paused));
    assert_eq!(opened.expect("JSON"), paused.expect("JSON"));
    let other = Key::new(&[8; 32]).expect("long enough");
    let mut changed = sealed.clone().into_bytes();
    changed[20] = if changed[20] == b'A' { b'B' } else { b'A' };
    let changed = String::from_utf8(changed).expect("ASCII");
    let texts: Vec<_> = [
        Paused::open(&sealed, &other),
        Paused::open(&changed, &key),
        Paused::open(&sealed[..sealed.len() - 3], &key),
        Paused::open("", &key),
        Paused::open("{}", &key),
    ]
    .into_iter()
    .map(|opened| opened.expect_err("not opened").to_string())
    .collect();
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
}

/// Nothing that a person answered or a server entrusted to us gets into a log by accident.
#[tokio::test]
async fn debug_shows_no_secrets() {
    let questions = asking([("key", form("How is your mother?"))], Some("st4te"));
    let paused = paused(&by_hand(), questions).await;
    let paused = paused.answer("key", Answer::accept(json!({"ok": true})));
    let text = format!("{paused:?} {:?}", Answer::accept("hush"));
    for secret in ["st4te", "Dune", "mother", "hush", "true"] {
        assert!(!text.contains(secret), "{text}");
    }
    assert!(text.contains("tools/call order"), "{text}");
}

/// Stored calls of a format that is not known, or that were tampered with, are refused.
#[tokio::test]
async fn what_is_no_stored_call_is_refused() {
    let paused = paused(&by_hand(), asking([("a", form("?"))], None)).await;
    let stored = serde_json::to_value(&paused).expect("JSON");
    assert_eq!(stored["paused"], 1);
    for (member, value) in [
        ("paused", json!(2)),
        ("more", json!(1)),
        ("server", json!("example.org")),
        ("call", json!({"method": "tools/list", "name": ""})),
        ("rounds", json!({})),
    ] {
        let mut stored = stored.clone();
        stored[member] = value;
        let read = serde_json::from_value::<Paused>(stored);
        assert!(read.is_err(), "{member}");
    }
}

/// What was special about a call still holds when it goes on, and can be said again once it was
/// stored.
#[tokio::test]
async fn a_resumed_call_keeps_what_was_special_about_it() {
    let (peer, _) = answers([asking([("a", form("?"))], None)]);
    let client = by_hand().connect(peer).await.expect("connected");
    let call = CallTool::new("t", ()).work_timeout(std::time::Duration::from_millis(50));
    let Outcome::Paused(paused) = client.start(call).await.expect("an outcome") else {
        panic!("not paused")
    };
    let paused = paused.answer("a", Answer::decline());
    let stored = serde_json::to_string(&paused).expect("JSON");
    // The server is silent from here on.
    let error = client
        .resume::<CallToolResult>(paused)
        .await
        .expect_err("silence");
    assert!(
        matches!(error.kind(), ErrorKind::TimedOut { .. }),
        "{error:?}"
    );
    let token = antiphon::CancellationToken::new();
    let paused: Paused = serde_json::from_str(&stored).expect("read");
    let paused = paused.cancel_with(token.clone());
    token.cancel();
    let error = client
        .resume::<CallToolResult>(paused)
        .await
        .expect_err("cancelled");
    assert!(matches!(error.kind(), ErrorKind::Cancelled), "{error:?}");
}

#[tokio::test]
async fn a_call_goes_on_in_the_revision_it_was_begun_in() {
    let paused = paused(&by_hand(), asking([("a", form("?"))], None)).await;
    let mut stored = serde_json::to_value(paused.answer("a", Answer::cancel())).expect("JSON");
    stored["protocol"] = "2025-11-25".into();
    let paused: Paused = serde_json::from_value(stored).expect("read");
    let (peer, seen) = answers([text("done")]);
    let client = by_hand().connect(peer).await.expect("connected");
    let error = client
        .resume::<CallToolResult>(paused)
        .await
        .expect_err("another revision");
    assert!(error.to_string().contains("2025-11-25"), "{error}");
    assert!(seen.messages().is_empty());
}

/// What a person has answered outlives whatever happens to the call afterwards.
#[tokio::test]
async fn answers_survive_an_interruption() {
    let unavailable = json!({ "code": -32603, "message": "Try again" });
    let client = Client::new("tests", "1.0")
        .by_hand([Kind::Url])
        .work_timeout(std::time::Duration::from_millis(100))
        .on_form(|form| async move { form.accept(json!({ "ok": true })) });
    let asked = || asking([("a", form("?"))], Some("s"));
    for rest in [vec![asked()], vec![asked(), unavailable]] {
        let (peer, _) = answers(rest);
        let connection = client.connect(peer).await.expect("connected");
        let error = connection
            .call_tool("t", json!({ "x": 1 }))
            .await
            .expect_err("lost");
        let paused = error.into_paused().expect("the call as it stood");
        assert_eq!(paused.unanswered().count(), 0);
        let (peer, seen) = answers([text("done")]);
        let connection = client.connect(peer).await.expect("connected");
        let outcome = connection
            .resume::<CallToolResult>(paused)
            .await
            .expect("an outcome");
        assert!(matches!(outcome, Outcome::Done(_)));
        let params = &seen.messages()[0]["params"];
        assert_eq!(params["requestState"], "s");
        assert_eq!(params["inputResponses"]["a"]["content"]["ok"], true);
    }
    // One of two answers was there when the other was refused.
    let (peer, seen) = answers([asking([("a", form("?")), ("b", roots())], Some("s"))]);
    let refusing = client.clone().on_roots(|roots| async move {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        roots.refuse("not today")
    });
    let connection = refusing.connect(peer).await.expect("connected");
    let error = connection.call_tool("t", ()).await.expect_err("refused");
    let paused = error.into_paused().expect("the call as it stood");
    let open: Vec<_> = paused.unanswered().map(|(key, _)| key).collect();
    assert_eq!(open, ["b"]);
    assert_eq!(seen.messages().len(), 1);
    // Before anybody was asked there is nothing to keep, and after the end nothing to go on with.
    let endless = asking([("a", form("?"))], None);
    let (peer, _) = answers([endless.clone(), endless]);
    let connection = client.max_rounds(1).connect(peer).await.expect("connected");
    let error = connection
        .call_tool("t", ())
        .await
        .expect_err("too many rounds");
    assert!(error.into_paused().is_err());
    let error = connection.call_tool("t", ()).await.expect_err("silence");
    assert!(error.into_paused().is_err());
}

/// What is wrong with answers is told question by question, also before there is a connection.
#[tokio::test]
async fn problems_are_told_one_by_one() {
    let questions = asking([("a", form("?")), ("b", form("?"))], Some("s"));
    let paused = paused(&by_hand(), questions).await;
    assert!(paused.problems().is_empty());
    let paused = paused
        .answer("a", Answer::accept(json!({ "ok": 7 })))
        .answer("z", Answer::decline());
    let keys: Vec<_> = paused
        .problems()
        .into_iter()
        .map(|problem| problem.key)
        .collect();
    assert_eq!(keys, [Some("z".to_owned()), Some("a".to_owned())]);
    let (peer, _) = answers([text("done")]);
    let client = by_hand().connect(peer).await.expect("connected");
    let error = client
        .resume::<CallToolResult>(paused)
        .await
        .expect_err("problems");
    assert_eq!(error.paused().expect("the call").round(), 1);
    let ErrorKind::NotResumed { paused, problems } = error.into_kind() else {
        panic!("another kind")
    };
    let told: Vec<_> = problems
        .iter()
        .map(|it| (it.key.as_deref(), it.what.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (Some("z"), "there is no such question"),
            (Some("a"), "ok: must be true or false"),
            (Some("b"), "it is not answered"),
        ]
    );
    // What nobody asked is forgotten; what does not fit can be answered anew.
    let yes = || Answer::accept(json!({ "ok": true }));
    let paused = paused.answer("a", yes()).answer("b", yes());
    client.resume::<CallToolResult>(paused).await.expect("done");
}

/// Of two calls that look the same a callback knows which is which, and the server does not.
#[tokio::test]
async fn a_tag_stays_with_the_call() {
    let (peer, seen) = answers([asking([("a", form("?"))], None), text("done")]);
    let client = Client::new("tests", "1.0")
        .by_hand([Kind::Url])
        .on_round(|round| match round.tag() {
            Some("chat 7") => Ok(()),
            _ => Err("another conversation"),
        })
        .on_form(|form| async move {
            match form.tag() {
                Some("chat 7") => form.accept(json!({ "ok": true })),
                _ => form.refuse("whose is it?"),
            }
        });
    let connection = client.connect(peer).await.expect("connected");
    let call = CallTool::new("t", ()).tag("chat 7");
    connection.call(call).await.expect("a result");
    assert!(seen.texts().iter().all(|text| !text.contains("chat 7")));

    let (peer, _) = answers([asking([("a", link("https://x.org"))], None)]);
    let connection = client.connect(peer).await.expect("connected");
    let call = CallTool::new("t", ()).tag("chat 7");
    let error = connection.call(call).await.expect_err("by hand");
    let paused = error.into_paused().expect("the call");
    let stored = serde_json::to_string(&paused).expect("JSON");
    let paused: Paused = serde_json::from_str(&stored).expect("read");
    assert_eq!(paused.tagged(), Some("chat 7"));
}
