//! What every flow of the demo says, whatever it is reached by.

use antiphon::{
    Client, Kind,
    client::{Answer, CallTool, Connect, Connection, GetPrompt, Outcome, Paused, ReadResource},
    testing::Script,
    types::{CallToolResult, ElicitRequestParams, InputRequest},
};
use serde_json::{Value, json};

/// A script that fills in forms of one field, each named like its key.
fn filled_in(answers: &[(&str, Value)]) -> Script {
    answers.iter().fold(Script::new(), |script, (key, value)| {
        script.accept(*key, json!({ *key: value }))
    })
}

/// What a tool says when its forms are filled in like this, and the keys it asked by round.
async fn said<C: Connect>(
    way: &impl Fn() -> C,
    tool: &str,
    arguments: Value,
    answers: &[(&str, Value)],
) -> (String, Vec<Vec<String>>) {
    let call = CallTool::new(tool, arguments);
    let played = filled_in(answers).play(way(), call).await;
    for (key, _) in answers {
        let InputRequest::Elicit(ElicitRequestParams::Form(form)) = played.question(key) else {
            panic!("{tool}: {key} is no form");
        };
        let schema = &form.requested_schema;
        let names: Vec<_> = schema.properties.iter().map(|(name, _)| name).collect();
        assert_eq!(names, [key], "{tool}: one field, named like the key");
        assert!(schema.is_required(key), "{tool}: {key} is required");
        let field = schema.property(key).expect("just seen");
        assert_eq!(field.default_value(), None, "{tool}: {key} has no default");
    }
    let rounds = played.rounds().into_iter();
    let rounds = rounds.map(|keys| keys.into_iter().map(str::to_owned).collect());
    (played.text(), rounds.collect())
}

/// A tool that asks by forms: its name and arguments, how they are filled in, the words of its
/// result, and what is asked in which round.
pub(crate) type Flow = (
    &'static str,
    Value,
    Vec<(&'static str, Value)>,
    &'static str,
    Vec<Vec<&'static str>>,
);

/// Every one of them.
pub(crate) fn forms() -> Vec<Flow> {
    let (ada, region) = (json!("Ada"), json!("eu-west-1"));
    vec![
        (
            "provision",
            json!({ "name": "orders" }),
            vec![("region", region.clone())],
            "Provisioned 'orders' in eu-west-1.",
            vec![vec!["region"]],
        ),
        (
            "issue_card",
            json!({}),
            vec![("name", ada.clone())],
            "Card issued to Ada.",
            vec![vec!["name"]],
        ),
        (
            "deploy",
            json!({ "env": "prod" }),
            vec![("confirm", json!(true))],
            "Deployed to prod",
            vec![vec!["confirm"]],
        ),
        (
            "deploy",
            json!({ "env": "prod" }),
            vec![("confirm", json!(false))],
            "Deployment to prod cancelled",
            vec![vec!["confirm"]],
        ),
        (
            "new_database",
            json!({}),
            vec![("name", ada.clone()), ("region", region)],
            "Provisioned Ada in eu-west-1",
            vec![vec!["name", "region"]],
        ),
        (
            "wipe_cache",
            json!({}),
            vec![("confirm", json!(true)), ("scope", json!("sessions"))],
            "Wiped sessions",
            vec![vec!["confirm"], vec!["scope"]],
        ),
        (
            "wipe_cache",
            json!({}),
            vec![("confirm", json!(false))],
            "Nothing wiped",
            vec![vec!["confirm"]],
        ),
        (
            "wizard",
            json!({}),
            vec![("name", ada), ("age", json!(36))],
            "Welcome, Ada! You are 36 years old.",
            vec![vec!["name"], vec!["age"]],
        ),
        (
            "charge",
            json!({ "amount": 5 }),
            vec![("confirm", json!(true)), ("receipt", json!(true))],
            "Charged 5; effect ran 1 time(s)",
            vec![vec!["confirm"], vec!["receipt"]],
        ),
        (
            "charge",
            json!({ "amount": 5 }),
            vec![("confirm", json!(false))],
            "Nothing charged",
            vec![vec!["confirm"]],
        ),
    ]
}

/// Every tool that asks by forms says the words, and asks what it must.
pub(crate) async fn tools_ask_and_do<C: Connect>(way: impl Fn() -> C) {
    for (tool, arguments, answers, text, rounds) in forms() {
        let (told, asked) = said(&way, tool, arguments, &answers).await;
        assert_eq!(told, text, "{tool}");
        assert_eq!(asked, rounds, "{tool}");
    }
}

/// Saying no, and going away.
pub(crate) async fn no_is_an_answer<C: Connect>(way: impl Fn() -> C) {
    let deploy = || CallTool::new("deploy", json!({ "env": "prod" }));
    for script in [
        Script::new().decline("confirm"),
        Script::new().cancel("confirm"),
    ] {
        let played = script.play(way(), deploy()).await;
        assert_eq!(played.text(), "Deployment to prod cancelled");
    }
    let wipe = || CallTool::new("wipe_cache", ());
    let script = filled_in(&[("confirm", json!(true))]).decline("scope");
    let played = script.play(way(), wipe()).await;
    assert_eq!(played.text(), "Nothing wiped");
    played.assert_rounds([["confirm"], ["scope"]]);
    let played = Script::new().decline("confirm").play(way(), wipe()).await;
    assert_eq!(played.text(), "Nothing wiped");

    // The charge stands, whatever becomes of the receipt.
    let charge = || CallTool::new("charge", json!({ "amount": 7 }));
    let script = filled_in(&[("confirm", json!(true))]).decline("receipt");
    let played = script.play(way(), charge()).await;
    assert_eq!(played.text(), "Charged 7; effect ran 1 time(s)");
    let played = Script::new().decline("confirm").play(way(), charge()).await;
    assert_eq!(played.text(), "Nothing charged");

    // Those that cannot do without the answer end with it.
    for (tool, arguments, key) in [
        ("provision", json!({ "name": "orders" }), "region"),
        ("issue_card", json!({}), "name"),
        ("wizard", json!({}), "name"),
    ] {
        let call = CallTool::new(tool, arguments);
        let played = Script::new().decline(key).play(way(), call).await;
        let failure = played.failure();
        assert!(failure.contains("declined"), "{tool}: {failure}");
    }
    let script = Script::new().decline("signin");
    let played = script.play(way(), CallTool::new("sign_in", ())).await;
    assert!(!played.failure().contains("Signed in"));
}

/// What is in stock is ordered without a question, and nothing is ordered that nobody wants.
pub(crate) async fn books_are_ordered<C: Connect>(way: impl Fn() -> C) {
    let order = |title: &str, copies: u32| {
        CallTool::new("order_book", json!({ "title": title, "copies": copies }))
    };
    let played = Script::new().play(way(), order("Dune", 2)).await;
    assert!(played.questions().is_empty());
    let first = "Ordered 2 of 'Dune', there in 2 days, as order ";
    assert!(played.text().starts_with(first), "{}", played.text());

    for script in [
        Script::new().decline("backorder"),
        Script::new().cancel("backorder"),
        filled_in(&[("backorder", json!(false))]),
    ] {
        let played = script.play(way(), order("Neuromancer", 1)).await;
        assert_eq!(played.text(), "No order placed.");
        played.assert_rounds([["backorder"]]);
        let asked = "'Neuromancer' is out of stock and takes 21 days. Order it anyway?";
        assert_eq!(played.message("backorder"), asked);
    }

    let script = filled_in(&[("backorder", json!(true))]);
    let played = script.play(way(), order("Emma", 2)).await;
    let second = "Ordered 2 of 'Emma', there in 21 days, as order ";
    assert!(played.text().starts_with(second), "{}", played.text());
}

/// The other kinds of questions, and those who ask nothing.
pub(crate) async fn models_roots_and_waiting<C: Connect>(way: impl Fn() -> C) {
    let call = CallTool::new("summarize", json!({ "text": "A long story." }));
    let script = Script::new().sample("summary", "Short.");
    let played = script.play(way(), call).await;
    assert_eq!(played.text(), "Summary: Short.");
    let InputRequest::Sample(asked) = played.question("summary") else {
        panic!("a model is asked");
    };
    let told = asked.messages[0].content.as_slice()[0].as_text();
    assert!(told.is_some_and(|told| told.contains("A long story.")));

    let call = || CallTool::new("workspace", ());
    let script = Script::new().roots("roots", ["file:///srv", "file:///tmp"]);
    let played = script.play(way(), call()).await;
    assert_eq!(played.text(), "2 root(s): file:///srv, file:///tmp");
    let script = Script::new().roots("roots", [""; 0]);
    assert_eq!(script.play(way(), call()).await.text(), "No roots.");

    for rounds in [0, 1, 3] {
        let call = CallTool::new("report", json!({ "rounds": rounds }));
        let played = Script::new().play(way(), call).await;
        assert_eq!(played.text(), format!("Done after {rounds} round(s)"));
        assert_eq!(played.laters(), rounds);
        assert!(played.questions().is_empty());
    }

    for (client, expected) in [
        (Client::new("test", "1"), json!([])),
        (
            Client::new("test", "1").by_hand([Kind::Form, Kind::Roots]),
            json!(["elicitation", "elicitation.form", "roots"]),
        ),
    ] {
        let server = client.connect(way()).await.expect("connected");
        let result = server.call_tool("client_features", ()).await.expect("told");
        let structured = result.structured_content.as_ref().expect("structured");
        assert_eq!(structured["features"], expected);
        let text: Value = serde_json::from_str(result.first_text().expect("text")).expect("JSON");
        assert_eq!(&text, structured);
    }
}

/// Prompts and resources ask as tools do.
pub(crate) async fn prompts_and_resources_ask<C: Connect>(way: impl Fn() -> C) {
    let get = || GetPrompt::new("brief", json!({ "topic": "tides" }));
    let script = filled_in(&[("audience", json!("sailors"))]);
    let played = script.play(way(), get()).await;
    assert_eq!(played.text(), "Write a brief on tides for sailors.");
    played.assert_rounds([["audience"]]);
    let played = Script::new().decline("audience").play(way(), get()).await;
    assert!(played.error().message.contains("declined"));

    let read = || ReadResource::new("vault://7");
    let script = filled_in(&[("reason", json!("audit"))]);
    let played = script.play(way(), read()).await;
    assert_eq!(played.text(), "Vault 7, opened because: audit");
    played.assert_rounds([["reason"]]);
    let played = Script::new().decline("reason").play(way(), read()).await;
    assert!(played.error().message.contains("declined"));
}

/// A client that cannot be asked gets nothing done.
pub(crate) async fn who_cannot_be_asked_gets_nothing_done<C: Connect>(way: impl Fn() -> C) {
    for (kind, tool) in [
        (Kind::Form, "deploy"),
        (Kind::Sample, "summarize"),
        (Kind::Roots, "workspace"),
        (Kind::Url, "sign_in"),
    ] {
        let call = CallTool::new(tool, json!({ "env": "prod", "text": "x" }));
        let played = Script::new().without(kind).play(way(), call).await;
        assert_eq!(played.error().code, -32021, "{tool}");
    }
}

/// However often a leg is sent again, nobody is charged twice.
pub(crate) async fn a_charge_that_is_sent_again<C: Connect>(way: impl Fn() -> C) {
    let client = Client::new("test", "1").by_hand([Kind::Form]);
    let server = client.connect(way()).await.expect("connected");
    let charge = CallTool::new("charge", json!({ "amount": 5 }));
    let Outcome::Paused(asked) = server.start(charge).await.expect("asked") else {
        panic!("it asks first");
    };
    let answered = asked.answer("confirm", Answer::accept(json!({ "confirm": true })));
    let stored = serde_json::to_value(&answered).expect("data");
    let again = async |stored: &Value| -> Outcome<CallToolResult> {
        let stored: Paused = serde_json::from_value(stored.clone()).expect("a call");
        server.resume(stored).await.expect("answered again")
    };
    let Outcome::Paused(asked) = again(&stored).await else {
        panic!("it asks for the receipt");
    };
    // As if what came of it had been lost.
    assert!(matches!(again(&stored).await, Outcome::Paused(_)));
    let answered = asked.answer("receipt", Answer::accept(json!({ "receipt": false })));
    let stored = serde_json::to_value(&answered).expect("data");
    for _ in 0..2 {
        let Outcome::Done(result) = again(&stored).await else {
            panic!("it is done");
        };
        let text = result.first_text();
        assert_eq!(text, Some("Charged 5; effect ran 1 time(s)"));
    }
}

/// What is offered, by name.
pub(crate) async fn everything_is_listed<C: Connect>(way: impl Fn() -> C) {
    let client = Client::new("test", "1");
    offers_everything(&client.connect(way()).await.expect("connected")).await;
}

/// The same, of a server that is connected already.
pub(crate) async fn offers_everything(server: &Connection) {
    let tools = server.tools().all().await.expect("listed");
    let mut names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    names.sort_unstable();
    let expected = "charge client_features deploy issue_card new_database order_book provision report \
                    sign_in summarize wipe_cache wizard workspace";
    assert_eq!(names.join(" "), expected);
    for tool in &tools {
        assert!(tool.description.is_some(), "{} is described", tool.name);
    }
    let prompts = server.prompts().all().await.expect("listed");
    assert_eq!(prompts[0].name, "brief");
    let templates = server.resource_templates().all().await.expect("listed");
    assert_eq!(templates[0].uri_template, "vault://{id}");
}

/// Every row of the table, for one way to the server.
macro_rules! every_flow {
    (@ $way:expr, $row:ident) => {
        #[tokio::test]
        async fn $row() {
            let way = $way;
            table::$row(way).await;
        }
    };
    ($way:expr) => {
        every_flow!(@ $way, tools_ask_and_do);
        every_flow!(@ $way, no_is_an_answer);
        every_flow!(@ $way, models_roots_and_waiting);
        every_flow!(@ $way, prompts_and_resources_ask);
        every_flow!(@ $way, who_cannot_be_asked_gets_nothing_done);
        every_flow!(@ $way, a_charge_that_is_sent_again);
        every_flow!(@ $way, books_are_ordered);
        every_flow!(@ $way, everything_is_listed);
    };
}
pub(crate) use every_flow;
