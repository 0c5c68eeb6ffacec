//! Handlers that ask, called by clients of older revisions: the outcome is the one that clients of
//! today have, with as many runs and no more effects (SHIM-S-01 to SHIM-S-09).

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use antiphon::{
    Answer, Args, Ask, Completions, Form, Kind, Messages, Resolved, Sample, Server, State, Stop,
    resolver,
    schemars::{self, JsonSchema},
};
use antiphon_tests::{
    older::{Older, REVISIONS, accept},
    wire::Wire,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The revisions that can ask with a form.
const WITH_FORMS: [&str; 2] = ["2025-11-25", "2025-06-18"];

type Said = Result<Value, Value>;

/// A call that has ended.
struct Told {
    /// The methods and messages of what was asked.
    asked: Vec<String>,
    /// All that was heard but the response.
    heard: Vec<Value>,
    response: Value,
}

impl Told {
    fn text(&self) -> &str {
        assert_ne!(
            self.response["result"]["isError"], true,
            "{}",
            self.response
        );
        let text = &self.response["result"]["content"][0]["text"];
        text.as_str().unwrap_or_else(|| panic!("{}", self.response))
    }

    fn failure(&self) -> &str {
        assert_eq!(
            self.response["result"]["isError"], true,
            "{}",
            self.response
        );
        let text = &self.response["result"]["content"][0]["text"];
        text.as_str().expect("a text")
    }
}

async fn open(server: &Server, version: &str) -> Older {
    Older::open(Wire::Memory, server.clone(), version).await
}

/// Calls a tool, and answers each question with the first answer left whose words are in it.
async fn call<'a>(
    client: &mut Older,
    tool: &str,
    arguments: Value,
    answers: impl IntoIterator<Item = (&'a str, Said)>,
) -> Told {
    let mut params = json!({ "name": tool });
    params["arguments"] = arguments;
    ask(client, "tools/call", params, answers).await
}

async fn ask<'a>(
    client: &mut Older,
    method: &str,
    params: Value,
    answers: impl IntoIterator<Item = (&'a str, Said)>,
) -> Told {
    let mut answers: Vec<_> = answers.into_iter().collect();
    let mut asked = Vec::new();
    let id = client.begin(method, params).await;
    let (heard, response) = client
        .finish(id, |question| {
            let message = match question["method"].as_str() {
                Some("elicitation/create") => &question["params"]["message"],
                _ => &question["method"],
            };
            let message = message.as_str().expect("a text").to_owned();
            let known = answers
                .iter()
                .position(|(words, _)| message.contains(words));
            let known = known.unwrap_or_else(|| panic!("nobody expects {message}"));
            asked.push(message);
            answers.remove(known).1
        })
        .await;
    assert!(answers.is_empty(), "never asked: {answers:?}");
    Told {
        asked,
        heard,
        response,
    }
}

fn decline() -> Said {
    Ok(json!({ "action": "decline" }))
}

fn cancel() -> Said {
    Ok(json!({ "action": "cancel" }))
}

fn name(name: &str) -> Said {
    accept(json!({ "name": name }))
}

#[derive(Form)]
struct Name {
    name: String,
}

#[derive(Form)]
struct Confirm {
    confirm: bool,
}

#[derive(Form)]
struct Age {
    #[form(min = 18, max = 120)]
    age: u8,
}

/// What is counted.
#[derive(Clone, Default)]
struct App {
    runs: Arc<AtomicU32>,
    effects: Arc<AtomicU32>,
    keys: Arc<Mutex<Vec<String>>>,
}

impl App {
    fn run(&self) -> u32 {
        self.runs.fetch_add(1, Ordering::SeqCst)
    }

    fn effect(&self) -> u32 {
        self.effects.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// How often a handler ran, and how much it did, since this was last asked.
    fn took(&self) -> (u32, u32) {
        let taken = |count: &AtomicU32| count.swap(0, Ordering::SeqCst);
        (taken(&self.runs), taken(&self.effects))
    }
}

/// Three questions in a row, with work after the first.
async fn charge(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    app.run();
    let Name { name: a } = ask.form("a", "A?")?;
    app.keys
        .lock()
        .expect("not poisoned")
        .push(ask.idempotency_key("charge"));
    let charged = async || {
        tokio::task::yield_now().await;
        Ok(format!("{a} as number {}", app.effect()))
    };
    let charged: String = ask.once("charge", charged).await?;
    let Name { name: b } = ask.form("b", format!("B after {charged}?"))?;
    let Name { name: c } = ask.form("c", format!("C after {b}?"))?;
    Ok(format!("{charged}, {b}, {c}"))
}

/// Two questions at once.
async fn both(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    app.run();
    let (name, age) = (
        ask.form::<Name>("name", "Name?"),
        ask.form::<Age>("age", "Age?"),
    );
    let (name, age) = (name?, age?);
    Ok(format!("{} is {}", name.name, age.age))
}

/// Whoever says no is asked for a name all the same.
async fn soft(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    app.run();
    let sure = match ask.form("confirm", "Sure?")? {
        Answer::Accept(Confirm { confirm }) => format!("said {confirm}"),
        Answer::Decline => "declined".to_owned(),
        Answer::Cancel => "cancelled".to_owned(),
    };
    let Name { name } = ask.form("name", "Name?")?;
    Ok(format!("{name} {sure}"))
}

/// Comes back until its work is done, and asks then.
async fn later(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    app.run();
    let job = ask.once("start", async || Ok(app.effect())).await?;
    if ask.round() < 3 {
        ask.later(Duration::from_millis(1))?;
    }
    let Name { name } = ask.form("a", "A?")?;
    Ok(format!("job {job} for {name} after {} rounds", ask.round()))
}

/// Asks something else once the work is done.
async fn changed(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let words = if app.run() < 2 { "before" } else { "after" };
    let _: Name = ask.form("a", words)?;
    let number = ask.once("work", async || Ok(app.effect())).await?;
    let _: Name = ask.form("b", "B?")?;
    Ok(format!("{number}"))
}

/// Fails in its first run.
async fn failing(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    let _: Name = ask.form("a", "A?")?;
    let first = app.run() == 0;
    let work = ask.once("work", async || match first {
        true => Err(Stop::fail("not today")),
        false => Ok(app.effect()),
    });
    let done = work.await;
    let _: Name = ask.form("b", "B?")?;
    Ok(format!("{:?}", done.map_err(|stop| stop.to_string())))
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Delete {
    path: String,
}

/// Deletes what the user has seen and agreed to.
async fn remove(
    Args(what): Args<Delete>,
    State(app): State<App>,
    ask: Ask,
) -> Result<String, Stop> {
    app.run();
    let confirmed = ask.confirm("delete", "Delete this file for good?", what)?;
    app.effect();
    Ok(format!("Deleted {}.", confirmed.path))
}

/// Needs a completion and the roots, in one round.
async fn sum(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    app.run();
    let summary = ask.sample("summary", Sample::user("Sum up.", 100));
    let roots = ask.roots("roots");
    let (summary, roots) = (summary?, roots?);
    let text = summary.first_text().unwrap_or_default();
    let roots: Vec<_> = roots.iter().map(|root| root.uri.as_str()).collect();
    Ok(format!("{text} in {}", roots.join(" ")))
}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    name: Option<String>,
}

/// Asks only for what was not given.
async fn greet(Args(greet): Args<Greet>, ask: Ask) -> Result<String, Stop> {
    let Name { name } = ask.given(greet.name).or_form("name", "Name?")?;
    Ok(format!("Hello, {name}!"))
}

async fn able(ask: Ask) -> String {
    format!("{:?}", Kind::ALL.map(|kind| ask.can(kind)))
}

fn server(app: &App) -> Server {
    Server::new("older", "1.0")
        .tool("charge", charge)
        .tool("both", both)
        .tool("soft", soft)
        .tool("later", later)
        .tool("changed", changed)
        .tool("failing", failing)
        .tool("remove", remove)
        .tool("sum", sum)
        .tool("greet", greet)
        .tool("able", able)
        .with_state(app.clone())
}

#[tokio::test]
async fn an_effect_happens_once_in_a_call_of_many_rounds() {
    for version in WITH_FORMS {
        let app = App::default();
        let mut client = open(&server(&app), version).await;
        for number in [1, 2] {
            let answers = [
                ("A?", name("a")),
                ("B after", name("b")),
                ("C after", name("c")),
            ];
            let told = call(&mut client, "charge", json!({}), answers).await;
            assert_eq!(told.text(), format!("a as number {number}, b, c"));
            let b = format!("B after a as number {number}?");
            assert_eq!(told.asked, ["A?", &*b, "C after b?"]);
        }
        assert_eq!(app.took(), (8, 2), "{version}");
        let keys = app.keys.lock().expect("not poisoned");
        let (one, two) = (&keys[..3], &keys[3..]);
        assert!(one.iter().all(|key| *key == one[0]), "{keys:?}");
        assert!(two.iter().all(|key| *key == two[0]), "{keys:?}");
        assert_ne!(one[0], two[0], "in another call it is another");
    }
}

#[tokio::test]
async fn whoever_cannot_be_asked_has_nothing_done() {
    let app = App::default();
    let server = server(&app);
    for (version, can) in [
        ("2024-11-05", antiphon_tests::older::everything()),
        ("2025-03-26", antiphon_tests::older::everything()),
        ("2025-06-18", json!({ "sampling": {}, "roots": {} })),
        ("2025-11-25", json!({ "elicitation": { "url": {} } })),
    ] {
        let mut client = Older::open_as(Wire::Memory, server.clone(), version, &can).await;
        for tool in ["charge", "remove", "both", "soft"] {
            let told = call(&mut client, tool, json!({ "path": "a.txt" }), []).await;
            let why = "This needs to ask its user, but this client cannot be asked for a form";
            assert!(told.failure().starts_with(why), "{}", told.failure());
            assert_eq!(app.took(), (1, 0), "{version} {tool}");
        }
        // What can be had otherwise is.
        let told = call(&mut client, "greet", json!({ "name": "Ada" }), []).await;
        assert_eq!(told.text(), "Hello, Ada!");
        let told = call(&mut client, "greet", json!({}), []).await;
        assert!(
            told.failure().contains("give it as an argument"),
            "{version}"
        );
    }
}

/// What a handler sees of its client before it asks.
#[tokio::test]
async fn a_handler_knows_what_can_be_asked() {
    for (version, kinds) in [
        ("2025-11-25", "[true, true, true, true, true]"),
        ("2025-06-18", "[true, false, true, false, true]"),
        ("2025-03-26", "[false, false, true, false, true]"),
        ("2024-11-05", "[false, false, true, false, true]"),
    ] {
        let mut client = open(&server(&App::default()), version).await;
        let told = call(&mut client, "able", json!({}), []).await;
        assert_eq!(told.text(), kinds, "{version}: {:?}", Kind::ALL);
    }
}

/// Two runs for two questions: they leave together.
#[tokio::test]
async fn what_is_asked_before_the_first_question_mark_leaves_together() {
    for version in WITH_FORMS {
        let app = App::default();
        let mut client = open(&server(&app), version).await;
        let answers = [
            ("Name?", name("Ada")),
            ("Age?", accept(json!({ "age": 36 }))),
        ];
        let told = call(&mut client, "both", json!({}), answers).await;
        assert_eq!(told.text(), "Ada is 36");
        assert_eq!(app.took(), (2, 0), "{version}");
    }
}

/// Without the errors being quoted, and only what does not fit.
#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_again_and_told_why() {
    for version in WITH_FORMS {
        let app = App::default();
        let mut client = open(&server(&app), version).await;
        let age = |age: Value| ("Age?", accept(json!({ "age": age })));
        let answers = [("Name?", name("Ada")), age(json!(17)), age(json!(36))];
        let told = call(&mut client, "both", json!({}), answers).await;
        assert_eq!(told.text(), "Ada is 36");
        assert_eq!(app.took(), (3, 0), "{version}");
        let note = told.asked[2].strip_prefix("Age?\n\n").expect("a note");
        assert!(
            note.contains("at least 18") && !note.contains("17"),
            "{note}"
        );

        // Three more tries and no more, whatever it is that does not fit.
        for bad in [
            json!(7),
            json!({ "action": "perhaps" }),
            json!({ "roots": [] }),
            json!({ "action": "accept" }),
            json!({ "action": "accept", "content": [] }),
            json!({ "action": "accept", "content": { "age": "36" } }),
        ] {
            let answers = std::iter::repeat_n(("Age?", Ok(bad.clone())), 4);
            let answers = answers.chain([("Name?", name("Ada"))]);
            let told = call(&mut client, "both", json!({}), answers).await;
            let failure = "There was no usable answer to `age`:\n- ";
            assert!(
                told.failure().starts_with(failure),
                "{bad}: {}",
                told.failure()
            );
            assert_eq!(app.took(), (5, 0), "{bad}");
        }
    }
}

#[tokio::test]
async fn no_is_an_answer_and_is_remembered() {
    let failed = || Err(json!({ "code": -32603, "message": "no screen" }));
    for version in WITH_FORMS {
        let app = App::default();
        let mut client = open(&server(&app), version).await;
        for (said, told) in [
            (accept(json!({ "confirm": false })), "Ada said false"),
            (decline(), "Ada declined"),
            (cancel(), "Ada cancelled"),
            // SHIM-S-06
            (failed(), "Ada cancelled"),
        ] {
            let answers = [("Sure?", said), ("Name?", name("Ada"))];
            let call = call(&mut client, "soft", json!({}), answers).await;
            assert_eq!(call.text(), told);
            assert_eq!(app.took(), (3, 0), "{told}");
        }
        for (said, told) in [
            (decline(), "The user declined to answer `a`."),
            (cancel(), "The user did not answer `a`."),
            (failed(), "The user did not answer `a`."),
        ] {
            let call = call(&mut client, "charge", json!({}), [("A?", said)]).await;
            assert_eq!(call.failure(), told);
            assert_eq!(app.took(), (2, 0), "{told}");
        }
        // What was done is done.
        let answers = [("A?", name("a")), ("B after", decline())];
        let told = call(&mut client, "charge", json!({}), answers).await;
        assert_eq!(told.failure(), "The user declined to answer `b`.");
        assert_eq!(app.took(), (3, 1), "{version}");
    }
}

#[tokio::test]
async fn a_handler_that_puts_off_its_client_begins_its_work_once() {
    for version in WITH_FORMS {
        let app = App::default();
        let mut client = open(&server(&app), version).await;
        let told = call(&mut client, "later", json!({}), [("A?", name("Ada"))]).await;
        assert_eq!(told.text(), "job 1 for Ada after 4 rounds");
        assert_eq!(app.took(), (5, 1), "{version}");
    }
}

#[tokio::test]
async fn an_answer_that_work_was_done_upon_does_not_change() {
    for version in WITH_FORMS {
        let app = App::default();
        let mut client = open(&server(&app), version).await;
        let answers = [("before", name("a")), ("B?", name("b"))];
        let told = call(&mut client, "changed", json!({}), answers).await;
        let failure = told.failure();
        assert!(
            failure.contains("`a`") && failure.contains("call again"),
            "{failure}"
        );
        assert_eq!(app.took().1, 1, "{version}");
    }
}

#[tokio::test]
async fn work_that_failed_is_done_again() {
    for version in WITH_FORMS {
        let app = App::default();
        let mut client = open(&server(&app), version).await;
        let answers = [("A?", name("a")), ("B?", name("b"))];
        let told = call(&mut client, "failing", json!({}), answers).await;
        assert_eq!(told.text(), "Ok(1)");
        assert_eq!(app.took().1, 1, "{version}");
    }
}

/// Only a yes to what was shown.
#[tokio::test]
async fn nothing_but_a_yes_is_consent() {
    let file = || json!({ "path": "a.txt" });
    let says = |confirm: Value| accept(json!({ "confirm": confirm }));
    for version in WITH_FORMS {
        let app = App::default();
        let mut client = open(&server(&app), version).await;
        for (said, told) in [
            (says(json!(false)), "The user declined to answer `delete`."),
            (decline(), "The user declined to answer `delete`."),
            (cancel(), "The user did not answer `delete`."),
            // No answer at all.
            (Ok(Value::Null), "The user did not answer `delete`."),
        ] {
            let call = call(&mut client, "remove", file(), [("Delete", said)]).await;
            assert_eq!(call.failure(), told);
            assert_eq!(app.took(), (2, 0), "{version}");
        }
        for forged in [
            says(json!("true")),
            says(json!(1)),
            says(json!([true])),
            accept(json!({})),
            accept(json!({ "Confirm": true })),
            Ok(json!({ "action": "accept" })),
            Ok(json!({ "action": "ACCEPT", "content": { "confirm": true } })),
            Ok(json!({ "content": { "confirm": true } })),
            Ok(json!(true)),
        ] {
            let answers = [("Delete", forged.clone()), ("Delete", decline())];
            let told = call(&mut client, "remove", file(), answers).await;
            assert_eq!(told.failure(), "The user declined to answer `delete`.");
            assert_eq!(app.took(), (3, 0), "{forged:?}");
        }
        let yes = [("Delete", says(json!(true)))];
        let told = call(&mut client, "remove", file(), yes.clone()).await;
        assert_eq!(told.text(), "Deleted a.txt.");
        assert_eq!(
            told.asked,
            ["Delete this file for good?\n- path: \"a.txt\""]
        );
        assert_eq!(app.took(), (2, 1), "{version}");

        // One yes is good for one call; and what came by itself for none.
        let mut params = json!({ "name": "remove", "arguments": file() });
        let answer = json!({ "action": "accept", "content": { "confirm": true } });
        params["inputResponses"] = json!({ "delete": answer });
        params["requestState"] = "made up".into();
        let told = ask(&mut client, "tools/call", params, [("Delete", decline())]).await;
        assert_eq!(told.failure(), "The user declined to answer `delete`.");
        assert_eq!(app.took(), (2, 0), "{version}");
    }
}

/// In every revision; what the client answers with an error ends the call.
#[tokio::test]
async fn completions_of_models_and_roots_are_asked_for_in_one_round() {
    let message = || {
        let content = json!({ "type": "text", "text": "short" });
        let message = json!({ "role": "assistant", "content": content, "model": "m" });
        ("sampling/createMessage", Ok(message))
    };
    let root = || {
        (
            "roots/list",
            Ok(json!({ "roots": [{ "uri": "file:///srv" }] })),
        )
    };
    for version in REVISIONS {
        let app = App::default();
        let mut client = open(&server(&app), version).await;
        let told = call(&mut client, "sum", json!({}), [message(), root()]).await;
        assert_eq!(told.text(), "short in file:///srv");
        assert_eq!(app.took(), (2, 0), "{version}");
        let unusable = ("sampling/createMessage", Ok(json!({ "action": "accept" })));
        let answers = [unusable, root(), message()];
        let told = call(&mut client, "sum", json!({}), answers).await;
        assert_eq!(told.text(), "short in file:///srv");
        assert_eq!(app.took(), (3, 0), "{version}");
        let refused = Err(json!({ "code": -1, "message": "User rejected sampling request" }));
        let answers = [("sampling/createMessage", refused), root()];
        let told = call(&mut client, "sum", json!({}), answers).await;
        assert!(
            told.failure().contains("User rejected"),
            "{}",
            told.failure()
        );
        assert_eq!(app.took(), (1, 0), "{version}");
    }
}

#[derive(Form)]
struct Size {
    size: u32,
}

#[derive(Clone)]
struct Width(u32);

#[derive(Clone)]
struct Area(u32);

#[derive(Clone)]
struct Height(u32);

#[resolver]
async fn width(State(app): State<App>, ask: Ask) -> Result<Width, Stop> {
    app.run();
    let Size { size } = ask.form("size", "How wide?")?;
    Ok(Width(size))
}

#[resolver]
async fn height(State(app): State<App>, ask: Ask) -> Result<Height, Stop> {
    app.run();
    let Size { size } = ask.form("size", "How high?")?;
    Ok(Height(size))
}

#[resolver]
async fn area(
    Resolved(Width(width)): Resolved<Width>,
    Resolved(Height(height)): Resolved<Height>,
    State(app): State<App>,
) -> Area {
    app.effect();
    Area(width * height)
}

async fn paint(
    Resolved(Area(area)): Resolved<Area>,
    Resolved(Width(width)): Resolved<Width>,
    ask: Ask,
) -> Result<String, Stop> {
    let Size { size } = ask.form("size", format!("Which brush for {area}?"))?;
    Ok(format!("{area}, {width} wide, with {size}"))
}

async fn wrap(Resolved(width): Resolved<Answer<Width>>) -> String {
    match width {
        Answer::Accept(Width(width)) => format!("{width} wide"),
        Answer::Decline => "as wide as it is".to_owned(),
        Answer::Cancel => "another time".to_owned(),
    }
}

/// Once a round, however many take it; and those that do not need each other ask together.
#[tokio::test]
async fn resolvers_ask_in_as_many_rounds_as_they_must() {
    let size = |size: u32| accept(json!({ "size": size }));
    for version in WITH_FORMS {
        let app = App::default();
        let server = Server::new("paint", "1.0")
            .tool("paint", paint)
            .tool("wrap", wrap);
        let server = server.with_state(app.clone());
        let mut client = open(&server, version).await;
        let answers = [
            ("How wide?", size(3)),
            ("How high?", size(4)),
            ("brush", size(5)),
        ];
        let told = call(&mut client, "paint", json!({}), answers).await;
        assert_eq!(told.text(), "12, 3 wide, with 5");
        assert_eq!(told.asked[2], "Which brush for 12?");
        // Two resolvers in each of three rounds; what needs both, in two.
        assert_eq!(app.took(), (6, 2), "{version}");
        for (said, told) in [
            (size(3), "3 wide"),
            (decline(), "as wide as it is"),
            (cancel(), "another time"),
        ] {
            let call = call(&mut client, "wrap", json!({}), [("How wide?", said)]).await;
            assert_eq!(call.text(), told);
            assert_eq!(app.took(), (2, 0), "{version}");
        }
        let answers = [("How wide?", decline()), ("How high?", size(4))];
        let told = call(&mut client, "paint", json!({}), answers).await;
        assert_eq!(told.failure(), "The user declined to answer `width.size`.");
    }
}

#[derive(Deserialize, JsonSchema)]
struct Topic {
    topic: String,
}

async fn brief(Args(Topic { topic }): Args<Topic>, ask: Ask) -> Result<Messages, Stop> {
    let Name { name } = ask.form("name", format!("Who reads about {topic}?"))?;
    Ok(Messages::new().user(format!("Brief {name} on {topic}.")))
}

async fn vault(ask: Ask) -> Result<String, Stop> {
    let Name { name } = ask.form("name", "Who wants to know?")?;
    Ok(format!("the secret of {name}"))
}

#[tokio::test]
async fn prompts_and_resources_ask_alike() {
    let server: Server = Server::new("all", "1.0")
        .prompt("brief", brief)
        .resource("vault://fixed", vault);
    for version in REVISIONS {
        let mut client = open(&server, version).await;
        let get = json!({ "name": "brief", "arguments": { "topic": "tea" } });
        let read = json!({ "uri": "vault://fixed" });
        for (method, params, path, text) in [
            (
                "prompts/get",
                get,
                "/messages/0/content/text",
                "Brief Ada on tea.",
            ),
            (
                "resources/read",
                read,
                "/contents/0/text",
                "the secret of Ada",
            ),
        ] {
            let answers = |said| WITH_FORMS.contains(&version).then_some(("Who", said));
            let told = ask(&mut client, method, params.clone(), answers(name("Ada"))).await;
            let no = ask(&mut client, method, params, answers(decline())).await;
            let why = match WITH_FORMS.contains(&version) {
                true => {
                    let result = &told.response["result"];
                    assert_eq!(result.pointer(path), Some(&json!(text)), "{version}");
                    "The user declined to answer `name`."
                }
                false => {
                    assert_eq!(told.response["error"]["code"], -32603, "{version}");
                    "cannot be asked for a form to be filled in"
                }
            };
            assert_eq!(no.response["error"]["code"], -32603, "{version}");
            let message = no.response["error"]["message"].as_str();
            assert!(
                message.is_some_and(|message| message.contains(why)),
                "{message:?}"
            );
        }
    }
}

type Accounts = Completions<String>;

async fn balance(State((app, accounts)): State<(App, Accounts)>, ask: Ask) -> Result<String, Stop> {
    app.run();
    let account = ask.url(
        "signin",
        "Sign in",
        |handle| format!("https://bank.example/sign-in/{handle}"),
        |handle| accounts.get(handle),
    )?;
    app.effect();
    Ok(format!("{account} has 7 ducats"))
}

/// LFEAT-S-07: agreeing is not doing; and the client hears when it is done.
#[tokio::test]
async fn what_is_behind_a_link_counts_once_it_is_done() {
    let (app, accounts) = (App::default(), Accounts::new());
    let bank = Server::new("bank", "1.0").tool("balance", balance);
    let bank = bank.with_state((app.clone(), accounts.clone()));
    let mut client = open(&bank, "2025-11-25").await;
    let params = json!({ "name": "balance", "arguments": {} });

    // Done before it is agreed to; and a while after.
    for after in [0, 120] {
        let id = client.begin("tools/call", params.clone()).await;
        let (page, opened) = (accounts.clone(), app.clone());
        let complete = move |question: &Value| {
            let url = question["params"]["url"].as_str().expect("a link");
            let handle = url.rsplit('/').next().expect("a handle").to_owned();
            let (page, opened) = (page.clone(), opened.clone());
            let done = async move {
                tokio::time::sleep(Duration::from_millis(after)).await;
                assert_eq!(
                    opened.effects.load(Ordering::SeqCst),
                    0,
                    "agreeing is not doing"
                );
                let ada = page.complete(&handle, Some("ada"), "Ada".to_owned());
                ada.expect("a good link");
            };
            tokio::spawn(done);
            Ok(json!({ "action": "accept" }))
        };
        let (heard, response) = client.finish(id, complete).await;
        assert_eq!(response["result"]["content"][0]["text"], "Ada has 7 ducats");
        // Asked once, and told that it was completed.
        let [asked, completed] = heard.as_slice() else {
            panic!("{heard:?}");
        };
        assert_eq!(completed["method"], "notifications/elicitation/complete");
        let id = &asked["params"]["elicitationId"];
        assert_eq!(&completed["params"]["elicitationId"], id);
        let (runs, effects) = app.took();
        assert!((2..8).contains(&runs), "{runs}");
        assert_eq!(effects, 1);
    }

    let told = call(&mut client, "balance", json!({}), [("Sign in", decline())]).await;
    assert_eq!(told.failure(), "The user declined to answer `signin`.");
    assert_eq!(told.heard.len(), 1, "nothing was completed");
    assert_eq!(app.took(), (2, 0));
    for version in &REVISIONS[1..] {
        let mut client = open(&bank, version).await;
        let told = call(&mut client, "balance", json!({}), []).await;
        let why = "this client cannot be asked for a link to be opened";
        assert!(
            told.failure().contains(why),
            "{version}: {}",
            told.failure()
        );
        assert_eq!(app.took(), (1, 0), "{version}");
    }
}

/// Calls at the same time, in one session and in several, keep their answers apart.
#[tokio::test]
async fn calls_at_the_same_time_keep_their_answers_apart() {
    let app = App::default();
    let mut client = open(&server(&app), "2025-11-25").await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let params = json!({ "name": "both", "arguments": {} });
        ids.push(client.begin("tools/call", params).await);
    }
    let mut asked = Vec::new();
    while asked.len() < 6 {
        asked.push(client.hear().await);
    }
    // The last question first. Who answers what cannot be told: each answer names its question.
    for (at, question) in asked.iter().enumerate().rev() {
        let content = match question["params"]["message"].as_str() {
            Some("Name?") => json!({ "name": format!("<{at}>") }),
            _ => json!({ "age": 20 + at }),
        };
        let result = json!({ "action": "accept", "content": content });
        client
            .say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }))
            .await;
    }
    let mut told = Vec::new();
    while told.len() < 3 {
        let message = client.hear().await;
        assert!(
            ids.contains(&message["id"].as_i64().expect("an id")),
            "{message}"
        );
        let text = message["result"]["content"][0]["text"].as_str();
        told.push(text.expect("a text").to_owned());
    }
    // The questions of one call came one after the other.
    told.sort_unstable();
    assert_eq!(told, ["<0> is 21", "<2> is 23", "<4> is 25"]);
    assert_eq!(app.took(), (6, 0));
}
