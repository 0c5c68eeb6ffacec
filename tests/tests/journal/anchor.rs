//! `Ask::anchor`: nothing is done in a request that nobody would know again.

use antiphon::{Ask, Server, State, Stop, testing::Script};
use antiphon_tests::{asking::state_of, call, log::Log, wire::Connection};
use serde_json::json;

use super::shop::*;

async fn anchored(State(app): State<App>, ask: Ask) -> Result<String, Stop> {
    ask.anchor()?;
    let number = ask.once("charge", async || app.effect().await).await?;
    let Name { name } = ask.form("a", "Who?")?;
    ask.anchor()?;
    Ok(format!("{name} {number}"))
}

#[tokio::test]
async fn an_anchor_costs_one_round_in_which_nothing_is_done() {
    let app = App::default();
    let server = Server::new("shop", "1.0")
        .tool("anchored", anchored)
        .sealing(app.journalled())
        .with_state(app.clone());
    let mut shop = Connection::memory(server.clone());
    let first = call(0, "anchored", json!({}));
    for _ in 0..2 {
        let answer = shop.ask(&first).await;
        state_of(answer.result());
        assert!(answer.result().get("inputRequests").is_none());
    }
    assert_eq!(app.diary.take(), [""; 0]);
    let people = Script::new().accept("a", json!({ "name": "Ada" }));
    let played = people.call_tool(&server, "anchored", ()).await;
    assert_eq!((&*played.text(), played.laters()), ("Ada 1", 1));
}

/// A round that asks something is an anchor as well.
#[tokio::test]
async fn what_is_asked_before_an_anchor_leaves_with_it() {
    async fn asks(ask: Ask) -> Result<String, Stop> {
        let name = ask.form::<Name>("a", "Who?");
        ask.anchor()?;
        Ok(name?.name)
    }
    let server: Server = Server::new("shop", "1.0").tool("asks", asks);
    let people = Script::new().accept("a", json!({ "name": "Ada" }));
    let played = people.call_tool(&server, "asks", ()).await;
    assert_eq!((&*played.text(), played.laters()), ("Ada", 0));
}

#[tokio::test]
async fn an_anchor_that_is_swallowed_is_named() {
    async fn drifts(ask: Ask) -> String {
        ask.anchor().is_ok().to_string()
    }
    let (log, _guard) = Log::of_everything();
    let server: Server = Server::new("shop", "1.0").tool("drifts", drifts);
    let mut shop = Connection::memory(server);
    assert_eq!(shop.call("drifts", json!({})).await.text(), "false");
    assert!(
        log.text().contains("`anchor` was swallowed"),
        "{}",
        log.text()
    );
}
