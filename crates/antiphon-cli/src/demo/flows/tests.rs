//! The flows in memory, by the same table as the tests of the program.

#[path = "../../../tests/flows/table.rs"]
mod table;

use antiphon::{client::CallTool, memory, testing::Script};

use super::{SignIn, server};
use table::every_flow;

fn way() -> impl Fn() -> memory::Peer {
    let server = server(SignIn::at_once());
    move || memory(server.clone())
}

every_flow!(way());

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
        let dune = serde_json::json!({ "title": "Dune", "copies": 1 });
        let ordered = Script::new().call_tool(&server, "order_book", dune).await;
        assert!(ordered.text().ends_with(&format!("as order {number}.")));
        let rare = serde_json::json!({ "title": "Neuromancer", "copies": 1 });
        let declined = Script::new().decline("backorder");
        let declined = declined.call_tool(&server, "order_book", rare).await;
        assert_eq!(declined.text(), "No order placed.");
    }
}
