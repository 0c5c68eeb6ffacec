//! The flows in memory, by the same table as the tests of the program.

#[path = "../../../tests/flows/table.rs"]
mod table;

#[path = "../../../tests/flows/older.rs"]
mod older;

use antiphon::{
    client::CallTool,
    memory,
    testing::{Rehearsal, Script},
    types::Version,
};
use serde_json::json;

use super::{Orders, Shared, SignIn, Till, serve, server};
use older::{Person, Says, every_older_flow};
use table::every_flow;

fn way() -> impl Fn() -> memory::Peer {
    let server = server(SignIn::at_once());
    move || memory(server.clone())
}

every_flow!(way());
every_older_flow!(way());

#[tokio::test]
async fn the_handle_of_a_call_signs_in_to_that_call() {
    let sign_in = SignIn::page("http://127.0.0.1:1/sign-in".to_owned(), false);
    let server = server(sign_in.clone());
    let page = sign_in.clone();
    let script = Script::new().visit("signin", move |url| {
        let handle = url.rsplit('/').next().unwrap_or_default();
        page.complete(handle).expect("a handle of ours");
        async {}
    });
    let played = script.call_tool(&server, "sign_in", ()).await;
    assert_eq!(played.text(), "Signed in as Ada.");
    assert!(sign_in.complete("x").is_err());

    let again = Script::new().accept_link("signin").decline("signin");
    let played = again.play(memory(server), CallTool::new("sign_in", ()));
    assert!(!played.await.failure().contains("Signed in"));
}

#[tokio::test]
async fn whoever_declines_has_ordered_nothing() {
    let server = server(SignIn::at_once());
    for number in [1, 2] {
        let dune = json!({ "title": "Dune", "copies": 1 });
        let ordered = Script::new().call_tool(&server, "order_book", dune).await;
        assert!(ordered.text().ends_with(&format!("as order {number}.")));
        let rare = json!({ "title": "Neuromancer", "copies": 1 });
        let declined = Script::new().decline("backorder");
        let declined = declined.call_tool(&server, "order_book", rare).await;
        assert_eq!(declined.text(), "No order placed.");
    }
}

/// Effects happen once, after a yes, and not at all for those who cannot be asked for one.
#[tokio::test]
async fn in_older_sessions_as_much_is_done_as_was_said_yes_to() {
    for version in Version::LEGACY {
        let shared = shared();
        let server = serve(shared.clone());
        let way = || memory(server.clone());
        let yes = Says::Yes(json!(true));
        for (confirm, charges) in [(Says::No, 0), (Says::Nothing, 0), (yes.clone(), 1)] {
            let answers = [("confirm", confirm), ("receipt", Says::No)];
            let person = Person::new(*version, &answers);
            person.calls(&way, "charge", json!({ "amount": 5 })).await;
            let charges = if *version < Version::V2025_06_18 {
                0
            } else {
                charges
            };
            assert_eq!(shared.till.total(), charges, "{version}");
        }
    }
}

fn shared() -> Shared {
    Shared {
        till: Till::default(),
        orders: Orders::default(),
        sign_in: SignIn::at_once(),
    }
}

/// On instances that share what the flows share, and nothing else.
fn rehearsed(script: &Script) -> Rehearsal {
    let shared = shared();
    script.rehearse(move |sealing| serve(shared.clone()).sealing(sealing))
}

#[tokio::test]
async fn every_flow_can_be_replayed() {
    let yes = |key: &str| Script::new().accept(key, json!({ key: true }));
    let text = |script: Script, key: &str, text: &str| script.accept(key, json!({ key: text }));
    for (tool, arguments, script) in [
        (
            "provision",
            json!({ "name": "a" }),
            text(Script::new(), "region", "eu-west-1"),
        ),
        ("issue_card", json!({}), text(Script::new(), "name", "Ada")),
        ("deploy", json!({ "env": "prod" }), yes("confirm")),
        (
            "deploy",
            json!({ "env": "prod" }),
            Script::new().decline("confirm"),
        ),
        (
            "new_database",
            json!({}),
            text(text(Script::new(), "name", "Ada"), "region", "eu-west-1"),
        ),
        (
            "wipe_cache",
            json!({}),
            text(yes("confirm"), "scope", "pages"),
        ),
        (
            "wizard",
            json!({}),
            text(Script::new(), "name", "Ada").accept("age", json!({ "age": 36 })),
        ),
        (
            "charge",
            json!({ "amount": 5 }),
            yes("confirm").accept("receipt", json!({ "receipt": false })),
        ),
        (
            "summarize",
            json!({ "text": "x" }),
            Script::new().sample("summary", "Short."),
        ),
        (
            "workspace",
            json!({}),
            Script::new().roots("roots", ["file:///srv"]),
        ),
        ("sign_in", json!({}), Script::new().accept_link("signin")),
        ("report", json!({ "rounds": 1 }), Script::new()),
        (
            "order_book",
            json!({ "title": "Dune", "copies": 1 }),
            Script::new(),
        ),
        (
            "order_book",
            json!({ "title": "Neuromancer", "copies": 1 }),
            yes("backorder"),
        ),
    ] {
        // Orders have numbers.
        let rehearsal = rehearsed(&script).result_may_differ();
        let played = rehearsal.call_tool(tool, arguments).await;
        assert!(played.result().is_error != Some(true), "{tool}");
    }
    let audience = Script::new().accept("audience", json!({ "audience": "everyone" }));
    let brief = rehearsed(&audience)
        .get_prompt("brief", json!({ "topic": "x" }))
        .await;
    assert!(!brief.text().is_empty());
    let reason = Script::new().accept("reason", json!({ "reason": "an audit" }));
    let vault = rehearsed(&reason).read_resource("vault://7").await;
    assert!(!vault.text().is_empty());
}
