//! The test kit: scripted people answer, and what is wrong with how a server asks fails the test.

use std::{
    future::Future,
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use antiphon::{
    Ask, Call, Kind, RawForm, RequestState, Responses, Server, Stop,
    client::{CallTool, Http, Stdio},
    testing::{Played, Script},
    types::{
        BooleanSchema, CallToolResult, CreateMessageRequestParams, CreateMessageResult,
        ElicitAction, ElicitRequestParams, FormSchema, InputRequest, InputRequired, StringSchema,
        code,
    },
};
use antiphon_tests::{harbour, script};
use serde_json::json;

/// A form with one required yes-or-no field, named like its key.
fn yes_or_no(key: &str, message: &str) -> InputRequired {
    let form = FormSchema::new().required(key, BooleanSchema::new());
    InputRequired::ask(key, ElicitRequestParams::form(message, form))
}

/// `carrying`, for what always serialises.
fn carrying(questions: InputRequired, state: impl serde::Serialize) -> Stop {
    Stop::ask(questions.carrying(&state).expect("a state"))
}

/// Asks `confirm`, then `scope`; a scope that is not given is asked for once more, with a note.
async fn wipe(RequestState(step): RequestState<u32>, responses: Responses) -> Result<String, Stop> {
    let answers = responses.answers();
    let ask_scope = |note: &str| {
        let form = FormSchema::new().required("scope", StringSchema::new().min_length(3));
        let form = ElicitRequestParams::form(format!("Which scope?{note}"), form);
        InputRequired::ask("scope", form)
    };
    match step {
        None => Err(carrying(yes_or_no("confirm", "Really wipe?"), 1)),
        Some(1) => match answers.accepted::<serde_json::Value>("confirm") {
            Some(given) if given["confirm"] == true => Err(carrying(ask_scope(""), 2)),
            _ => Ok("Nothing wiped".to_owned()),
        },
        Some(step) => match answers.elicit("scope").given() {
            Some(given) if given.action == ElicitAction::Accept => {
                let scope = given.content.and_then(|content| {
                    let scope = content.get("scope")?.as_str()?.to_owned();
                    (scope.len() > 2).then_some(scope)
                });
                let again = || carrying(ask_scope("\n\nscope: too short"), step + 1);
                Ok(format!("Wiped {}", scope.ok_or_else(again)?))
            }
            Some(_) => Err(Stop::fail("The scope was not given")),
            None => Err(Stop::fail("There is no answer")),
        },
    }
}

fn cache() -> Server {
    Server::new("cache", "1.0").tool("wipe", wipe)
}

/// Says yes to `confirm`.
fn sure() -> Script {
    Script::new().accept("confirm", json!({ "confirm": true }))
}

/// Plays what must fail, and returns what the test would be told.
async fn failure<T: Send + 'static>(
    play: impl Future<Output = Played<T>> + Send + 'static,
) -> String {
    let ended = tokio::spawn(async move { play.await.trace() }).await;
    let panic = match ended {
        Ok(trace) => panic!("it did not fail: {trace}"),
        Err(error) => error.into_panic(),
    };
    panic.downcast_ref::<String>().expect("a text").clone()
}

/// The same, of calling the one tool without arguments.
async fn calling(script: Script, server: Server, tool: &'static str) -> String {
    failure(async move { script.call_tool(&server, tool, ()).await }).await
}

/// What looking at a play tells the test when it fails.
fn looking(look: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = std::panic::catch_unwind(look).expect_err("it does not fail");
    panic.downcast_ref::<String>().expect("a text").clone()
}

#[track_caller]
fn says(told: &str, parts: &[&str]) {
    for part in parts {
        assert!(told.contains(part), "{part:?} is missing in:\n{told}");
    }
}

#[tokio::test]
async fn a_script_answers_round_by_round() {
    let people = sure().accept("scope", json!({ "scope": "sessions" }));
    // A script begins anew with each play.
    for _ in 0..2 {
        let played = people.call_tool(&cache(), "wipe", ()).await;
        assert_eq!(played.text(), "Wiped sessions");
        played.assert_rounds([["confirm"], ["scope"]]);
        assert_eq!(played.message("confirm"), "Really wipe?");
        let InputRequest::Elicit(ElicitRequestParams::Form(form)) = played.question("scope") else {
            panic!("no form");
        };
        assert_eq!(form.message, "Which scope?");
        let asked = played.questions().iter();
        let asked: Vec<_> = asked.map(|asked| (asked.round, &*asked.key)).collect();
        assert_eq!(asked, [(1, "confirm"), (2, "scope")]);
        assert_eq!(
            played.trace(),
            "tools/call wipe\n  round 1: `confirm`, a form: accept\n  round 2: `scope`, a form: \
             accept\n  a result"
        );
    }
}

#[tokio::test]
async fn people_may_decline_cancel_and_answer_again() {
    let played = Script::new().decline("confirm");
    let played = played.call_tool(&cache(), "wipe", ()).await;
    assert_eq!(played.text(), "Nothing wiped");
    assert!(played.trace().contains("`confirm`, a form: decline"));

    let played = sure().cancel("scope").call_tool(&cache(), "wipe", ()).await;
    assert_eq!(played.failure(), "The scope was not given");
    assert!(played.trace().ends_with("a tool error"), "{played:?}");

    // Wrong, then right: one answer after the other.
    let played = sure()
        .answer(
            "scope",
            json!({ "action": "accept", "content": { "scope": "x" } }),
        )
        .accept("scope", json!({ "scope": "pages" }))
        .call_tool(&cache(), "wipe", ())
        .await;
    assert_eq!(played.text(), "Wiped pages");
    played.assert_rounds([["confirm"], ["scope"], ["scope"]]);
    assert_eq!(played.message("scope"), "Which scope?\n\nscope: too short");
}

/// What has no answer is not in the answers at all.
#[tokio::test]
async fn people_may_leave_a_question_out() {
    async fn both(responses: Responses) -> Result<String, Stop> {
        let answers = responses.answers();
        if answers.is_empty() {
            let two = yes_or_no("confirm", "Sure?").and("roots", InputRequest::roots());
            return Err(Stop::ask(two));
        }
        Ok(answers.keys().collect::<Vec<_>>().join(", "))
    }
    let server = Server::new("both", "1.0").tool("both", both);
    let played = sure().skip("roots").call_tool(&server, "both", ()).await;
    assert_eq!(played.text(), "confirm");
    let all = Script::new().skip("confirm").skip("roots");
    let played = all.call_tool(&server, "both", ()).await;
    assert_eq!(played.error().code, code::INVALID_PARAMS);
}

/// Everything at once: what each kind of answer is on the wire.
#[tokio::test]
async fn every_kind_of_question_has_its_answer() {
    async fn all(responses: Responses) -> Result<String, Stop> {
        let answers = responses.answers();
        if answers.is_empty() {
            let sample = CreateMessageRequestParams::user("Sum it up", 100);
            let link = |path| ElicitRequestParams::url("Sign in", format!("https://id.test{path}"));
            return Err(Stop::ask(
                yes_or_no("confirm", "Sure?")
                    .and("signin", link("/one"))
                    .and("consent", link("/two"))
                    .and("summary", sample.clone())
                    .and("more", sample)
                    .and("roots", InputRequest::roots()),
            ));
        }
        let mut told = Vec::new();
        for key in ["confirm", "signin", "consent", "summary", "more", "roots"] {
            told.push(answers.raw(key).expect("an answer").get().to_owned());
        }
        Ok(told.join("\n"))
    }
    let server = Server::new("all", "1.0").tool("all", all);
    let opened = Arc::new(Mutex::new(Vec::new()));
    let browser = opened.clone();
    let played = Script::new()
        .roots("roots", ["file:///srv"])
        .sample("summary", "Short")
        .sample("more", CreateMessageResult::text("Long", "parrot"))
        .accept_link("consent")
        .visit("signin", move |url| {
            let browser = browser.clone();
            async move { browser.lock().expect("unpoisoned").push(url) }
        })
        .accept("confirm", json!({ "confirm": false }))
        .call_tool(&server, "all", ())
        .await;
    assert_eq!(*opened.lock().expect("unpoisoned"), ["https://id.test/one"]);
    let text = played.text();
    let told: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(
        told[0],
        json!({ "action": "accept", "content": { "confirm": false } })
    );
    assert_eq!(told[1], json!({ "action": "accept" }));
    assert_eq!(told[2], json!({ "action": "accept" }));
    assert_eq!(told[3]["content"]["text"], "Short");
    assert_eq!(
        (&told[4]["content"]["text"], &told[4]["model"]),
        (&json!("Long"), &json!("parrot"))
    );
    assert_eq!(told[5], json!({ "roots": [{ "uri": "file:///srv" }] }));
    // The order asked, not the order of the script.
    played.assert_rounds([["confirm", "signin", "consent", "summary", "more", "roots"]]);
    assert_eq!(played.message("summary"), "Sum it up");
    assert_eq!(played.message("signin"), "Sign in");
}

#[tokio::test]
async fn prompts_and_resources_are_played_as_well() {
    async fn brief(responses: Responses) -> Result<String, Stop> {
        match responses.answers().is_empty() {
            true => Err(Stop::ask(yes_or_no("confirm", "Brief?"))),
            false => Ok("A brief".to_owned()),
        }
    }
    let server = Server::new("desk", "1.0")
        .prompt("brief", brief)
        .resource("vault://{id}", brief);
    let played = sure().get_prompt(&server, "brief", ()).await;
    assert_eq!(played.text(), "A brief");
    assert_eq!(played.result().messages.len(), 1);
    let played = sure().read_resource(&server, "vault://7").await;
    assert_eq!(played.text(), "A brief");
    played.assert_rounds([["confirm"]]);
}

#[tokio::test]
async fn rounds_that_ask_nothing_are_followed_and_counted_apart() {
    async fn report(RequestState(done): RequestState<u32>) -> Result<String, Stop> {
        match done {
            None => Err(carrying(InputRequired::later(""), 1)),
            Some(2) => Err(carrying(yes_or_no("confirm", "Go on?"), 3)),
            Some(6) => Ok("Done".to_owned()),
            Some(step) => Err(carrying(InputRequired::later(""), step + 1)),
        }
    }
    let server = Server::new("reports", "1.0").tool("report", report);
    let played = sure().call_tool(&server, "report", ()).await;
    assert_eq!((played.text(), played.laters()), ("Done".to_owned(), 5));
    played.assert_rounds([["confirm"]]);
    says(
        &played.trace(),
        &["later, 2 x\n  round 1: `confirm`, a form: accept\n  later, 3 x"],
    );
}

#[tokio::test]
async fn an_error_is_an_ending_too() {
    let server: Server = Server::new("desk", "1.0").tool("closed", async || {
        Err::<String, _>(Stop::reject(7, "Closed"))
    });
    let played = Script::new().call_tool(&server, "closed", ()).await;
    assert_eq!(
        (played.error().code, &*played.error().message),
        (7, "Closed")
    );
    assert!(played.rounds().is_empty());
    let told = looking(|| _ = played.text());
    says(
        &told,
        &[
            "no result",
            "error 7",
            "Closed",
            "tools/call closed",
            "test_kit.rs",
        ],
    );
}

#[tokio::test]
async fn a_kind_can_be_taken_away() {
    let played = Script::new().without(Kind::Form);
    let played = played.call_tool(&cache(), "wipe", ()).await;
    assert_eq!(played.error().code, code::MISSING_CLIENT_CAPABILITY);

    // Without a model there is none with tools either.
    let server: Server = Server::new("desk", "1.0").tool("features", async |call: Call| {
        json!(call.capabilities()).to_string()
    });
    for (kind, expected) in [
        (
            Kind::Sample,
            json!({ "elicitation": { "form": {}, "url": {} }, "roots": {} }),
        ),
        (
            Kind::SampleWithTools,
            json!({ "elicitation": { "form": {}, "url": {} }, "roots": {}, "sampling": {} }),
        ),
        (
            Kind::Url,
            json!({ "elicitation": { "form": {} }, "roots": {}, "sampling": { "tools": {} } }),
        ),
    ] {
        let played = Script::new().without(kind);
        let played = played.call_tool(&server, "features", ()).await;
        let told: serde_json::Value = serde_json::from_str(&played.text()).expect("JSON");
        assert_eq!(told, expected);
    }
}

#[tokio::test]
async fn a_question_without_an_answer_fails() {
    let people = sure().accept("scopes", json!({ "scope": "sessions" }));
    let told = calling(people, cache(), "wipe").await;
    says(
        &told,
        &[
            "no answer to `scope`, which is a form in round 2: \"Which scope?\"",
            "write `.accept(\"scope\", json!({ .. }))`, `.decline(\"scope\")`",
            "not asked for so far: `scopes`",
            "test_kit.rs",
            "round 1: `confirm`, a form: accept\n  round 2: `scope`, a form: ?",
        ],
    );
    // Each is used once.
    let people = sure().answer("scope", json!({ "action": "accept", "content": {} }));
    let told = calling(people, cache(), "wipe").await;
    says(&told, &["no answer left to `scope`", "in round 3"]);
}

#[tokio::test]
async fn an_answer_that_nobody_asked_for_fails() {
    let no = || Script::new().decline("confirm");
    let people = no().accept("scope", json!({ "scope": "sessions" }));
    let told = calling(people, cache(), "wipe").await;
    says(
        &told,
        &[
            "nobody asked for the script's answer to `scope` (accept);",
            "`.optional()`",
            "a result",
        ],
    );

    let people = no().cancel("scope").optional();
    let played = people.call_tool(&cache(), "wipe", ()).await;
    assert_eq!(played.text(), "Nothing wiped");
    let people = sure().cancel("scope").decline("why");
    let told = calling(people, cache(), "wipe").await;
    says(
        &told,
        &["answer to `why` (decline) before the tool error \"The scope was not given\""],
    );
    // Only the one.
    let people = no().decline("scope").cancel("scope").optional();
    let told = calling(people, cache(), "wipe").await;
    says(
        &told,
        &["nobody asked for the script's answer to `scope` (decline);"],
    );
}

#[tokio::test]
async fn an_answer_of_another_kind_or_shape_fails() {
    let people = Script::new().accept_link("confirm");
    let told = calling(people, cache(), "wipe").await;
    says(
        &told,
        &[
            "`confirm` is a form in round 1, and the script answers a link there (accept)",
            "write `.accept(",
        ],
    );

    let people = Script::new().accept("confirm", json!({ "confirm": "secret" }));
    let told = calling(people, cache(), "wipe").await;
    says(
        &told,
        &[
            "answer in round 1 does not fit: `confirm`",
            "use `.answer(key, entry)`",
        ],
    );
    assert!(!told.contains("secret"), "{told}");
}

/// A handler that makes its question of something that changes.
#[tokio::test]
async fn a_question_that_changes_fails() {
    let ticks = Arc::new(AtomicU32::new(0));
    let server = Server::new("clock", "1.0").tool("wait", move || {
        let now = ticks.fetch_add(1, Ordering::Relaxed);
        let text = format!("It is {now} o'clock. Go on?");
        async move { Err::<String, _>(Stop::ask(yes_or_no("confirm", &text))) }
    });
    let people = sure().accept("confirm", json!({ "confirm": true }));
    let told = calling(people.clone(), server.clone(), "wait").await;
    says(
        &told,
        &[
            "the question `confirm` is another one",
            "round 1: a form, \"It is 0 o'clock. Go on?\"",
            "round 2: a form, \"It is 1 o'clock. Go on?\"",
            "not of the time",
            ".reworded(\"confirm\")",
        ],
    );
    // Then the third of them is one too many for the script, not for the kit.
    let told = calling(people.reworded("confirm"), server, "wait").await;
    says(&told, &["no answer left to `confirm`", "in round 3"]);
}

/// The same words, and other things to choose from: no answer can count.
#[tokio::test]
async fn a_form_that_changes_fails() {
    let ticks = Arc::new(AtomicU32::new(0));
    let server = Server::new("clock", "1.0").tool("wait", move |ask: Ask| {
        let now = ticks.fetch_add(1, Ordering::Relaxed);
        let form = json!({ "type": "object", "properties": {
            "hour": { "type": "string", "enum": ["any", format!("{now} o'clock")] },
        } });
        async move {
            let form = RawForm::new(form)?;
            ask.raw_form("hour", "When?", &form)?;
            Ok::<_, Stop>("never")
        }
    });
    let people = Script::new()
        .accept("hour", json!({ "hour": "any" }))
        .accept("hour", json!({ "hour": "any" }))
        .accept("hour", json!({ "hour": "any" }));
    let told = calling(people, server, "wait").await;
    says(
        &told,
        &["the question `hour` is another one", "another schema"],
    );
}

#[tokio::test]
async fn a_server_that_does_not_end_fails() {
    // Whatever ours would allow, others may go on for ever.
    let (server, seen) = script::script(|request| {
        let again = script::asking([("confirm", script::form("Again?"))], Some("s"));
        vec![script::respond(request, &again)]
    });
    let mut people = Script::new();
    for _ in 0..50 {
        people = people.decline("confirm");
    }
    let told = failure(async move { people.play(server, CallTool::new("ask", ())).await }).await;
    says(&told, &["more than 40 rounds, last for `confirm`"]);
    assert_eq!(seen.texts().len(), 41);

    let server: Server = Server::new("loop", "1.0").tool("wait", async || {
        Err::<String, _>(Stop::ask(InputRequired::later("")))
    });
    let told = calling(Script::new(), server, "wait").await;
    says(
        &told,
        &["asked 1000 times in a row to come back", "later, 1000 x"],
    );
}

#[tokio::test]
async fn a_call_that_breaks_off_fails() {
    let server: Server = Server::new("odd", "1.0").tool("insecure", async || {
        let link = ElicitRequestParams::url("Sign in", "http://id.test/");
        Err::<String, _>(Stop::ask(InputRequired::ask("signin", link)))
    });
    let told = calling(Script::new().accept_link("signin"), server, "insecure").await;
    says(&told, &["the call broke off", "signin", "no answer"]);

    let nowhere = Http::new("http://127.0.0.1:1/mcp");
    let told = failure(async move {
        let call = CallTool::new("wipe", ());
        Script::new().play(nowhere, call).await
    })
    .await;
    says(
        &told,
        &["the call broke off", "tools/call wipe", "test_kit.rs"],
    );
}

#[tokio::test]
async fn what_is_not_there_is_told_with_the_trace() {
    let people = sure().cancel("scope");
    let played: Played<CallToolResult> = people.call_tool(&cache(), "wipe", ()).await;
    let trace = played.trace();
    let told = looking(|| played.assert_rounds([vec!["confirm"], vec!["scope", "x"], vec!["y"]]));
    says(
        &told,
        &[
            "  round 1: confirm\n- round 2: scope, x\n+ round 2: scope\n- round 3: y",
            &trace,
        ],
    );
    let told = looking(|| played.assert_rounds([["confirm"]]));
    says(&told, &["  round 1: confirm\n+ round 2: scope\n"]);
    says(
        &looking(|| _ = played.text()),
        &["the tool failed: The scope was not given", &trace],
    );
    says(
        &looking(|| _ = played.message("region")),
        &["`region` was not asked", &trace],
    );
    says(
        &looking(|| _ = played.error()),
        &["no error, but a result", &trace],
    );
    let played = Script::new().decline("confirm");
    let played = played.call_tool(&cache(), "wipe", ()).await;
    says(
        &looking(|| _ = played.failure()),
        &["did not fail: Nothing wiped"],
    );
}

/// The same people, on every way to a server.
#[tokio::test]
async fn a_script_plays_on_every_transport() {
    let people = Script::new()
        .accept("form", json!({ "ok": true }))
        .visit("url", |_| async {})
        .sample("model", "Hello")
        .roots("roots", ["file:///srv"]);
    let call = || CallTool::new("ask_all", ());
    let server = antiphon_tests::http::Server::start(antiphon::http::service(harbour::endpoint()));
    let server = server.await;
    let url = format!("http://{}/mcp", server.address);
    let child = Command::new(env!("CARGO_BIN_EXE_antiphon-tests-stdio"));
    for played in [
        people
            .play(antiphon::memory(harbour::endpoint()), call())
            .await,
        people.play(Stdio::spawn(child), call()).await,
        people.play(Http::new(url), call()).await,
    ] {
        says(&played.text(), &["file:///srv", "Hello"]);
        assert_eq!(played.rounds().len(), 1);
    }
    server.stop().await;
}

#[test]
fn only_an_answer_can_be_optional() {
    says(
        &looking(|| _ = Script::new().optional()),
        &["`optional` comes after an answer"],
    );
}

#[test]
fn debug_shows_no_answers() {
    let people = Script::new().accept("confirm", json!({ "confirm": "secret" }));
    assert_eq!(format!("{people:?}"), r#"[("accept", "confirm")]"#);
}
