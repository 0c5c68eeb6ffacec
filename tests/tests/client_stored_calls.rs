//! Stored calls that somebody changed by hand, or that meet another client than the one that
//! stored them.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use antiphon::{
    Client, Kind,
    client::{Answer, CallTool, Completed, ErrorKind, Outcome, Paused},
};
use antiphon_tests::script::{answers, asking, form, link, roots, text};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

fn by_hand() -> Client {
    Client::new("tests", "1.0").by_hand([Kind::Form, Kind::Url, Kind::Roots])
}

/// A call that waits for answers to these questions, as it is stored.
async fn stored(questions: Value) -> Value {
    let (peer, _) = answers([questions]);
    let client = by_hand().danger_insecure_links();
    let client = client.connect(peer).await.expect("connected");
    let call = CallTool::new("order", json!({ "title": "Dune" })).meta("com.example/tenant", "a");
    match client.start(call).await.expect("an outcome") {
        Outcome::Paused(paused) => serde_json::to_value(paused).expect("JSON"),
        other => panic!("{other:?}"),
    }
}

fn read(stored: &Value) -> Result<Paused, String> {
    serde_json::from_str(&stored.to_string()).map_err(|error| error.to_string())
}

/// However many rounds it says there were, there are no more than allowed.
#[tokio::test]
async fn a_huge_round_is_too_many_rounds() {
    let mut call = stored(asking([("k", form("?"))], None)).await;
    call["rounds"]["round"] = u32::MAX.into();
    let paused = read(&call).expect("a call");
    let paused = paused.answer("k", Answer::accept(json!({ "ok": true })));
    let (peer, _) = answers([asking([("k", form("?"))], None)]);
    let client = by_hand().connect(peer).await.expect("connected");
    let error = client.resume::<Completed>(paused).await.expect_err("over");
    assert!(
        matches!(error.kind(), ErrorKind::RoundsExceeded(_)),
        "{error:?}"
    );
}

/// BASE-B: no object has a key twice, so no answer can be hidden behind another.
#[tokio::test]
async fn what_could_not_have_been_stored_is_not_read() {
    let call = stored(asking([("k", form("?"))], None)).await;
    read(&call).expect("a call");
    let mut twice = call.clone();
    let question = twice["rounds"]["questions"][0].clone();
    let questions = twice["rounds"]["questions"].as_array_mut();
    questions.expect("a list").push(question);
    assert!(read(&twice).is_err_and(|why| why.contains("`k`")));
    let mut list = call.clone();
    for arguments in ["[1]", "{\"a\"", "null"] {
        list["call"]["arguments"] = arguments.into();
        assert!(read(&list).is_err(), "{arguments}");
    }
    let mut resource = call.clone();
    resource["call"]["method"] = "resources/read".into();
    assert!(read(&resource).is_err_and(|why| why.contains("arguments")));
}

/// MRTR-C-16, ELIC-C-14: what a server may not ask, a stored call may not ask either.
#[tokio::test]
async fn a_stored_call_asks_only_what_a_server_may_ask() {
    let insecure = stored(asking([("k", link("http://evil.example/"))], None)).await;
    let mut undeclared = stored(asking([("k", roots())], None)).await;
    undeclared["capabilities"] = json!({});
    for call in [insecure, undeclared] {
        let asked = Arc::new(AtomicU32::new(0));
        let (links, lists) = (asked.clone(), asked.clone());
        let client = Client::new("tests", "1.0")
            .on_url(move |link| {
                links.fetch_add(1, Ordering::SeqCst);
                async move { link.accept() }
            })
            .on_roots(move |roots| {
                lists.fetch_add(1, Ordering::SeqCst);
                async move { roots.list([]) }
            });
        let (peer, seen) = answers([text("done")]);
        let client = client.connect(peer).await.expect("connected");
        let resumed = client.resume::<Completed>(read(&call).expect("a call"));
        let error = resumed.await.expect_err("not asked");
        assert!(error.to_string().contains("`k`"), "{error}");
        error.into_paused().expect("the call, unharmed");
        assert_eq!(asked.load(Ordering::SeqCst), 0);
        assert!(seen.messages().is_empty());
    }
}

/// It is stored among other things, in whatever way those are told apart.
#[tokio::test]
async fn a_stored_call_may_be_part_of_anything() {
    #[derive(Serialize, Deserialize)]
    #[serde(tag = "kind", rename_all = "lowercase")]
    enum Job {
        Call { user: String, paused: Box<Paused> },
    }
    #[derive(Serialize, Deserialize)]
    struct Row {
        user: String,
        #[serde(flatten)]
        paused: Paused,
    }
    let call = stored(asking([("k", form("?"))], Some("s"))).await;
    let paused = Box::new(read(&call).expect("a call"));
    let user = "ada".to_owned();
    let job = serde_json::to_string(&Job::Call { user, paused }).expect("JSON");
    let Job::Call { user, paused } = serde_json::from_str(&job).expect("a job");
    assert_eq!(serde_json::to_value(&paused).expect("JSON"), call);
    let paused = *paused;
    let row = serde_json::to_string(&Row { user, paused }).expect("JSON");
    let row: Row = serde_json::from_str(&row).expect("a row");
    assert_eq!(serde_json::to_value(&row.paused).expect("JSON"), call);
}

/// MRTR-C-10: a retry adds answers and takes nothing away.
#[tokio::test]
async fn a_resumed_call_keeps_its_metadata() {
    let call = stored(asking([("k", form("?"))], None)).await;
    let paused = read(&call).expect("a call");
    let paused = paused.answer("k", Answer::decline());
    let (peer, seen) = answers([text("done")]);
    let client = by_hand().connect(peer).await.expect("connected");
    client.resume::<Completed>(paused).await.expect("done");
    let message = &seen.messages()[0];
    assert_eq!(message["params"]["_meta"]["com.example/tenant"], "a");
}

/// Whoever inspects rounds does so wherever somebody is asked.
#[tokio::test]
async fn a_round_is_inspected_before_a_resumed_call_asks() {
    let call = stored(asking([("k", form("?"))], None)).await;
    let (peer, seen) = answers([text("done")]);
    let client = Client::new("tests", "1.0")
        .on_form(|form| async move { form.accept(json!({ "ok": true })) })
        .on_round(|_| Err("not today"));
    let client = client.connect(peer).await.expect("connected");
    let resumed = client.resume::<Completed>(read(&call).expect("a call"));
    let error = resumed.await.expect_err("refused");
    assert!(
        matches!(error.kind(), ErrorKind::Stopped { round: 1 }),
        "{error:?}"
    );
    assert!(seen.messages().is_empty());
}
