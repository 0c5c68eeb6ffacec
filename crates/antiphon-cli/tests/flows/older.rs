//! The same flows for clients of older revisions: asked by callbacks while their calls wait, or
//! told why they cannot be.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use antiphon::{
    Client, Kind,
    client::{
        CallTool, Connect, Connection, Era, Error, ErrorKind, GetPrompt, Outcome, ReadResource,
    },
    types::{CallToolResult, FormSchema, Root, Version},
};
use serde_json::{Value, json};

use super::table::{forms, offers_everything};

/// What a revision without forms, or without links, has a call say.
const NO_FORM: &str = "cannot be asked for a form to be filled in";
const NO_LINK: &str = "cannot be asked for a link to be opened";

fn has_forms(version: Version) -> bool {
    version >= Version::V2025_06_18
}

fn has_links(version: Version) -> bool {
    version >= Version::V2025_11_25
}

/// What somebody says who is asked.
#[derive(Debug, Clone)]
pub(crate) enum Says {
    Yes(Value),
    No,
    /// Goes away.
    Nothing,
}

/// Somebody at a client of an older revision, who knows what will be asked. The questions of a round
/// are answered when all of them are there, so that a server that waits for one before it asks the
/// next waits for ever.
#[derive(Clone)]
pub(crate) struct Person {
    version: Version,
    answers: Vec<(String, Says)>,
    rounds: Vec<usize>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Person {
    /// Somebody who is asked one question a round.
    pub(crate) fn new(version: Version, answers: &[(&str, Says)]) -> Self {
        Self::by_rounds(version, answers, &vec![1; answers.len()])
    }

    fn by_rounds(version: Version, answers: &[(&str, Says)], rounds: &[usize]) -> Self {
        let answers = answers.iter();
        Self {
            version,
            answers: answers
                .map(|(key, says)| ((*key).to_owned(), says.clone()))
                .collect(),
            rounds: rounds.to_vec(),
            asked: Arc::default(),
        }
    }

    /// What was asked, in the order in which it was.
    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no panic").clone()
    }

    /// Takes down what is asked; how much that was up to now.
    fn note(&self, name: &str) -> usize {
        let mut asked = self.asked.lock().expect("no panic");
        asked.push(name.to_owned());
        asked.len()
    }

    /// Says what is to be said to the question of this name.
    async fn answer(&self, name: &str) -> Says {
        let at = self.note(name);
        let ends = self.rounds.iter().scan(0, |end, questions| {
            *end += questions;
            Some(*end)
        });
        let all = ends.into_iter().find(|end| *end >= at).unwrap_or(at);
        while self.asked().len() < all {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let known = self.answers.iter().find(|(key, _)| key == name);
        known.map_or(Says::Nothing, |(_, says)| says.clone())
    }

    fn client(&self) -> Client {
        let [forms, links, models, roots] = std::array::from_fn(|_| self.clone());
        Client::new("test", "1")
            .era(Era::Pinned(self.version))
            // The sign-in page of the demo is on this machine.
            .danger_insecure_links()
            .work_timeout(Duration::from_secs(20))
            .human_timeout(Duration::from_secs(20))
            .on_form(move |form| {
                let person = forms.clone();
                async move {
                    let field = field(&form.requested_schema);
                    match person.answer(&field).await {
                        Says::Yes(value) => form.accept(json!({ field: value })),
                        Says::No => form.decline(),
                        Says::Nothing => form.cancel(),
                    }
                }
            })
            .on_url(move |link| {
                let person = links.clone();
                async move {
                    match person.answer("signin").await {
                        Says::Yes(_) => link.accept(),
                        Says::No => link.decline(),
                        Says::Nothing => link.cancel(),
                    }
                }
            })
            .on_sample(move |sample| {
                let person = models.clone();
                async move {
                    let told = sample.messages[0].content.as_slice()[0].as_text();
                    let told = told.is_some_and(|told| told.contains("A long story."));
                    match person.answer("summary").await {
                        Says::Yes(Value::String(text)) if told => sample.text(text, "model"),
                        _ => sample.refuse("not this"),
                    }
                }
            })
            .on_roots(move |roots_of| {
                let person = roots.clone();
                async move {
                    match person.answer("roots").await {
                        Says::Yes(Value::Array(uris)) => {
                            let uris = uris.iter().filter_map(Value::as_str);
                            roots_of.list(uris.map(Root::new))
                        }
                        _ => roots_of.refuse("not these"),
                    }
                }
            })
    }

    /// Connects.
    async fn connect<C: Connect>(&self, way: &impl Fn() -> C) -> Connection {
        connected(&self.client(), self.version, way).await
    }

    /// What a tool gives.
    pub(crate) async fn calls<C: Connect>(
        &self,
        way: &impl Fn() -> C,
        tool: &str,
        arguments: Value,
    ) -> CallToolResult {
        let server = self.connect(way).await;
        server.call_tool(tool, arguments).await.expect("a result")
    }
}

/// The name of a form's one field, which has to be filled in.
fn field(schema: &FormSchema) -> String {
    let names: Vec<_> = schema.properties.iter().map(|(name, _)| name).collect();
    match names.as_slice() {
        [name] if schema.is_required(name) => {
            let field = schema.property(name).expect("just seen");
            match field.default_value() {
                None => name.to_string(),
                Some(default) => format!("{name}, which is {default}"),
            }
        }
        _ => format!("{names:?}"),
    }
}

async fn connected<C: Connect>(
    client: &Client,
    version: Version,
    way: &impl Fn() -> C,
) -> Connection {
    let client = client.clone().era(Era::Pinned(version));
    let server = client.connect(way()).await.expect("connected");
    assert_eq!(server.protocol_version(), version);
    server
}

/// What a result says that is not a failure.
pub(crate) fn text(result: &CallToolResult) -> &str {
    let text = result.first_text().expect("a text");
    assert!(!result.failed(), "{text}");
    text
}

/// What a failure says.
fn failure(result: &CallToolResult) -> &str {
    let text = result.first_text().expect("a text");
    assert!(result.failed(), "{text}");
    text
}

fn yes(value: impl Into<Value>) -> Says {
    Says::Yes(value.into())
}

/// Every tool that asks by forms: the same words, the same questions in the same rounds.
pub(crate) async fn tools_ask_and_do<C: Connect>(way: impl Fn() -> C, version: Version) {
    for (tool, arguments, answers, said, rounds) in forms() {
        let answers: Vec<_> = answers
            .into_iter()
            .map(|(key, value)| (key, yes(value)))
            .collect();
        let sizes: Vec<_> = rounds.iter().map(Vec::len).collect();
        let person = Person::by_rounds(version, &answers, &sizes);
        let result = person.calls(&way, tool, arguments).await;
        let asked = person.asked();
        if !has_forms(version) {
            assert!(failure(&result).contains(NO_FORM), "{tool}: {result:?}");
            assert_eq!(asked, [""; 0], "{tool}");
            continue;
        }
        assert_eq!(text(&result), said, "{tool}");
        let mut asked = asked.as_slice();
        for round in rounds {
            let (mut together, later) = asked.split_at(round.len().min(asked.len()));
            let mut sorted = together.to_vec();
            sorted.sort_unstable();
            together = &sorted;
            assert_eq!(together, round, "{tool}");
            asked = later;
        }
        assert_eq!(asked, [""; 0], "{tool}");
    }
}

/// Saying no, and going away.
pub(crate) async fn no_is_an_answer<C: Connect>(way: impl Fn() -> C, version: Version) {
    let prod = || json!({ "env": "prod" });
    for (tool, arguments, answers, said) in [
        (
            "deploy",
            prod(),
            vec![("confirm", Says::No)],
            "Deployment to prod cancelled",
        ),
        (
            "deploy",
            prod(),
            vec![("confirm", Says::Nothing)],
            "Deployment to prod cancelled",
        ),
        (
            "wipe_cache",
            json!({}),
            vec![("confirm", Says::No)],
            "Nothing wiped",
        ),
        (
            "wipe_cache",
            json!({}),
            vec![("confirm", yes(true)), ("scope", Says::No)],
            "Nothing wiped",
        ),
        (
            "charge",
            json!({ "amount": 7 }),
            vec![("confirm", Says::No)],
            "Nothing charged",
        ),
        // The charge stands, whatever becomes of the receipt.
        (
            "charge",
            json!({ "amount": 7 }),
            vec![("confirm", yes(true)), ("receipt", Says::Nothing)],
            "Charged 7; effect ran 1 time(s)",
        ),
    ] {
        let person = Person::new(version, &answers);
        let result = person.calls(&way, tool, arguments).await;
        if has_forms(version) {
            assert_eq!(text(&result), said, "{tool}");
            let keys: Vec<_> = answers.iter().map(|(key, _)| *key).collect();
            assert_eq!(person.asked(), keys, "{tool}");
        } else {
            assert!(failure(&result).contains(NO_FORM), "{tool}: {result:?}");
        }
    }

    // Those that cannot do without the answer end with it.
    for (tool, arguments, key, needs) in [
        ("provision", json!({ "name": "orders" }), "region", NO_FORM),
        ("issue_card", json!({}), "name", NO_FORM),
        ("wizard", json!({}), "name", NO_FORM),
        ("sign_in", json!({}), "signin", NO_LINK),
    ] {
        let person = Person::new(version, &[(key, Says::No)]);
        let result = person.calls(&way, tool, arguments).await;
        let can = match needs {
            NO_FORM => has_forms(version),
            _ => has_links(version),
        };
        let expected = if can { "declined" } else { needs };
        assert!(failure(&result).contains(expected), "{tool}: {result:?}");
        assert_eq!(person.asked().len(), usize::from(can), "{tool}");
    }
}

/// Whoever agrees to open the link is signed in, where there are links.
pub(crate) async fn whoever_accepts_is_signed_in<C: Connect>(
    way: impl Fn() -> C,
    version: Version,
) {
    let person = Person::new(version, &[("signin", yes(true))]);
    let result = person.calls(&way, "sign_in", json!({})).await;
    match has_links(version) {
        true => assert_eq!(text(&result), "Signed in as Ada."),
        false => assert!(failure(&result).contains(NO_LINK), "{result:?}"),
    }
}

/// What is in stock is ordered without a question, and nothing is ordered that nobody wants.
pub(crate) async fn books_are_ordered<C: Connect>(way: impl Fn() -> C, version: Version) {
    let order = |title: &str, copies| json!({ "title": title, "copies": copies });
    for says in [Says::No, Says::Nothing, yes(false), yes(true)] {
        let wanted = matches!(&says, Says::Yes(Value::Bool(true))) && has_forms(version);
        let person = Person::new(version, &[("backorder", says)]);
        // On one connection, as the orders are numbered.
        let server = person.connect(&way).await;
        let book = async |title, copies| {
            let ordered = server.call_tool("order_book", order(title, copies)).await;
            ordered.expect("a result")
        };
        let number = |text: &str, first: &str| -> u32 {
            let number = text
                .strip_prefix(first)
                .and_then(|rest| rest.strip_suffix('.'));
            number.and_then(|number| number.parse().ok()).expect(text)
        };
        let in_stock = "Ordered 2 of 'Dune', there in 2 days, as order ";
        let first = number(text(&book("Dune", 2).await), in_stock);
        assert_eq!(person.asked(), [""; 0]);
        let rare = book("Emma", 2).await;
        match has_forms(version) {
            true => assert_eq!(person.asked(), ["backorder"]),
            false => assert!(failure(&rare).contains(NO_FORM), "{rare:?}"),
        }
        if wanted {
            let rare = number(
                text(&rare),
                "Ordered 2 of 'Emma', there in 21 days, as order ",
            );
            assert_eq!(rare, first + 1);
        } else if has_forms(version) {
            assert_eq!(text(&rare), "No order placed.");
        }
        let last = number(text(&book("Dune", 2).await), in_stock);
        assert_eq!(last, first + 1 + u32::from(wanted));
    }
}

/// The other kinds of questions, and those who ask nothing.
pub(crate) async fn models_roots_and_waiting<C: Connect>(way: impl Fn() -> C, version: Version) {
    let story = json!({ "text": "A long story." });
    let person = Person::new(version, &[("summary", yes("Short."))]);
    let result = person.calls(&way, "summarize", story.clone()).await;
    assert_eq!(text(&result), "Summary: Short.");
    let person = Person::new(version, &[("summary", Says::No)]);
    let result = person.calls(&way, "summarize", story).await;
    assert!(failure(&result).contains("summary"), "{result:?}");

    for (uris, said) in [
        (
            json!(["file:///srv", "file:///tmp"]),
            "2 root(s): file:///srv, file:///tmp",
        ),
        (json!([]), "No roots."),
    ] {
        let person = Person::new(version, &[("roots", yes(uris))]);
        let result = person.calls(&way, "workspace", json!({})).await;
        assert_eq!(text(&result), said);
        assert_eq!(person.asked(), ["roots"]);
    }

    let person = Person::new(version, &[]);
    for rounds in [0, 1, 3] {
        let result = person
            .calls(&way, "report", json!({ "rounds": rounds }))
            .await;
        assert_eq!(text(&result), format!("Done after {rounds} round(s)"));
    }
    assert_eq!(person.asked(), [""; 0]);

    let asks = match has_forms(version) {
        true => json!([
            "elicitation",
            "elicitation.form",
            "roots",
            "roots.listChanged"
        ]),
        false => json!(["roots", "roots.listChanged"]),
    };
    for (client, expected) in [
        (Client::new("test", "1"), json!([])),
        (
            Client::new("test", "1").by_hand([Kind::Form, Kind::Roots]),
            asks,
        ),
    ] {
        let server = connected(&client, version, &way).await;
        let result = server.call_tool("client_features", ()).await.expect("told");
        let told: Value = serde_json::from_str(text(&result)).expect("JSON");
        assert_eq!(told["features"], expected);
        // Before 2025-06-18 there is only text.
        let structured = has_forms(version).then_some(told);
        assert_eq!(result.structured_content, structured);
    }
}

/// Prompts and resources ask as tools do.
pub(crate) async fn prompts_and_resources_ask<C: Connect>(way: impl Fn() -> C, version: Version) {
    for says in [yes("sailors"), Says::No] {
        let accepted = matches!(says, Says::Yes(_));
        let person = Person::new(version, &[("audience", says)]);
        let server = person.connect(&way).await;
        let brief = GetPrompt::new("brief", json!({ "topic": "tides" }));
        match server.call(brief).await {
            Ok(prompt) if accepted && has_forms(version) => {
                let message = serde_json::to_value(&prompt.messages[0]).expect("JSON");
                let text = "Write a brief on tides for sailors.";
                assert_eq!(message["content"]["text"], text);
                assert_eq!(person.asked(), ["audience"]);
            }
            answer => not_read(version, accepted, &answer.expect_err("no prompt")),
        }
    }
    for says in [yes("audit"), Says::No] {
        let accepted = matches!(says, Says::Yes(_));
        let person = Person::new(version, &[("reason", says)]);
        let server = person.connect(&way).await;
        match server.call(ReadResource::new("vault://7")).await {
            Ok(read) if accepted && has_forms(version) => {
                let contents = serde_json::to_value(&read.contents[0]).expect("JSON");
                assert_eq!(contents["text"], "Vault 7, opened because: audit");
                assert_eq!(person.asked(), ["reason"]);
            }
            answer => not_read(version, accepted, &answer.expect_err("no contents")),
        }
    }
}

/// The error of a prompt or a resource whose question was declined or could not be asked.
fn not_read(version: Version, accepted: bool, error: &Error) {
    let told = error.to_string();
    match has_forms(version) {
        true => assert!(!accepted && told.contains("declined"), "{told}"),
        false => {
            assert_eq!(error.code(), Some(-32603), "{told}");
            assert!(told.contains(NO_FORM), "{told}");
        }
    }
}

/// A client that cannot be asked gets nothing done, and is told why.
pub(crate) async fn who_cannot_be_asked_gets_nothing_done<C: Connect>(
    way: impl Fn() -> C,
    version: Version,
) {
    let server = connected(&Client::new("test", "1"), version, &way).await;
    for (tool, needs) in [
        ("deploy", "elicitation.form"),
        ("charge", "elicitation.form"),
        ("summarize", "sampling"),
        ("workspace", "roots"),
        ("sign_in", "elicitation.url"),
    ] {
        let arguments = json!({ "env": "prod", "text": "x", "amount": 5 });
        let result = server.call_tool(tool, arguments).await.expect("a result");
        let expected = format!("it did not declare `{needs}`");
        assert!(failure(&result).contains(&expected), "{tool}: {result:?}");
    }
    let brief = server
        .get_prompt("brief", json!({ "topic": "tides" }))
        .await;
    let vault = server.read_resource("vault://7").await;
    for error in [
        brief.expect_err("no prompt"),
        vault.expect_err("no contents"),
    ] {
        assert_eq!(error.code(), Some(-32603));
        assert!(error.to_string().contains(NO_FORM), "{error}");
    }
}

/// A call that wants its caller to answer cannot wait for that, and says so.
pub(crate) async fn nothing_can_be_paused<C: Connect>(way: impl Fn() -> C, version: Version) {
    let client = Client::new("test", "1").by_hand([Kind::Form]);
    let server = connected(&client, version, &way).await;
    let charge = CallTool::new("charge", json!({ "amount": 5 }));
    match server.start(charge).await {
        Ok(Outcome::Done(result)) if !has_forms(version) => {
            assert!(failure(&result).contains(NO_FORM), "{result:?}");
        }
        outcome => {
            let error = outcome.expect_err("not pausable");
            let named = error.to_string().contains("Client::on_form");
            assert!(named && has_forms(version), "{error}");
            assert!(
                matches!(error.kind(), ErrorKind::NotPausable { .. }),
                "{error}"
            );
        }
    }
}

/// What is offered, by name.
pub(crate) async fn everything_is_listed<C: Connect>(way: impl Fn() -> C, version: Version) {
    let server = connected(&Client::new("test", "1"), version, &way).await;
    offers_everything(&server).await;
}

/// Every row of the table, for one way to the server, in every older revision.
macro_rules! every_older_flow {
    (@ $module:ident, $way:expr, $version:ident: $($row:ident)*) => {
        mod $module {
            use super::*;
            $(
                #[tokio::test]
                async fn $row() {
                    let way = $way;
                    older::$row(way, antiphon::types::Version::$version).await;
                }
            )*
        }
    };
    (@ $module:ident, $way:expr, $version:ident) => {
        every_older_flow!(@ $module, $way, $version:
            tools_ask_and_do
            no_is_an_answer
            whoever_accepts_is_signed_in
            books_are_ordered
            models_roots_and_waiting
            prompts_and_resources_ask
            who_cannot_be_asked_gets_nothing_done
            nothing_can_be_paused
            everything_is_listed
        );
    };
    ($way:expr) => {
        every_older_flow!(@ in_2025_11_25, $way, V2025_11_25);
        every_older_flow!(@ in_2025_06_18, $way, V2025_06_18);
        every_older_flow!(@ in_2025_03_26, $way, V2025_03_26);
        every_older_flow!(@ in_2024_11_05, $way, V2024_11_05);
    };
}
pub(crate) use every_older_flow;
