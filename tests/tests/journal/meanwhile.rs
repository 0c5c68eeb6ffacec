//! Somebody else is at it, or was.

use std::{
    sync::atomic::Ordering,
    time::{Duration, SystemTime},
};

use antiphon::{
    http,
    sealing::{Key, Sealing},
};
use antiphon_tests::{
    asking::{retry, state_of},
    call, http as wire,
    log::Log,
    until,
    wire::Connection,
};
use serde_json::json;

use super::shop::*;

#[tokio::test]
async fn who_comes_meanwhile_waits_for_what_comes_of_it() {
    let app = App::waiting();
    let server = app.server(app.journalled());
    let mut one = Connection::memory(server.clone());
    let mut two = Connection::memory(server);
    let ada = asked_a(&mut one, "charge").await("Ada");
    one.send(&ada).await;
    until(|| app.effects() == 1).await;
    two.send(&ada).await;
    until(|| app.diary.count("running") > 0).await;
    app.let_go();
    for connection in [&mut one, &mut two] {
        let asked = connection.receive().await.expect("an answer");
        let question = &asked["result"]["inputRequests"]["b"]["params"]["message"];
        assert_eq!(question, "A note on 1?");
    }
    assert_eq!(app.effects(), 1);
}

/// Not for ever, and without using anything up.
#[tokio::test]
async fn who_has_waited_long_enough_is_told_to_try_again() {
    let app = App::waiting();
    let server = || {
        let key = Key::new(&[7; 32]).expect("long enough");
        let sealing = Sealing::keys([key]).audience("shop");
        let sealing = sealing.work_timeout(Duration::from_millis(30));
        app.server(app.clock.on(sealing.journal(app.diary.clone())))
    };
    // Two that share keys and the journal, each with a guard of its own.
    let mut one = Connection::memory(server());
    let mut two = Connection::memory(server());
    let ada = asked_a(&mut one, "charge").await("Ada");
    one.send(&ada).await;
    until(|| app.effects() == 1).await;
    let (log, _guard) = Log::of_everything();
    two.ask(&ada).await.refused(-32603, 200);
    assert!(log.text().contains("still being done elsewhere"));
    app.let_go();
    one.receive().await.expect("an answer");
    let asked = two.ask(&ada).await;
    let end = to_the_end(&mut two, "charge", asked.result()).await;
    assert_eq!(end, "Ada, 1, thanks");
    assert_eq!(app.effects(), 1);
}

/// However long the work takes, nobody takes it for lost while it goes on.
#[tokio::test(start_paused = true)]
async fn an_entry_is_held_while_the_work_goes_on() {
    let app = App::waiting();
    let (began, start) = (tokio::time::Instant::now(), SystemTime::now());
    let sealing = Sealing::default()
        .replayable()
        .journal(app.diary.clone())
        .clock(move || start + began.elapsed());
    let server = app.server(sealing);
    let mut one = Connection::memory(server.clone());
    let mut two = Connection::memory(server);
    let ada = asked_a(&mut one, "charge").await("Ada");
    one.send(&ada).await;
    until(|| app.effects() == 1).await;
    tokio::time::sleep(Duration::from_secs(45)).await;
    two.send(&ada).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(app.diary.count("running") > 0);
    app.let_go();
    for connection in [&mut one, &mut two] {
        let asked = connection.receive().await.expect("an answer");
        state_of(&asked["result"]);
    }
    assert_eq!(app.effects(), 1);
}

/// Also where nobody remembers states, a client that leaves does not leave work in the middle.
#[tokio::test]
async fn work_is_done_to_its_end_though_the_client_leaves() {
    let app = App::waiting();
    let server = wire::Server::start(http::service(app.server(app.journalled()))).await;
    let first = call(0, "charge", json!({}));
    let state = state_of(&server.post(&first).await.last()["result"]);
    let ada = retry(&first, &state, json!({ "a": said("Ada") }));
    let leaving = tokio::spawn({
        let (address, post) = (server.address, wire::post(&ada));
        async move { wire::send(address, post).await }
    });
    until(|| app.effects() == 1).await;
    leaving.abort();
    _ = leaving.await;
    tokio::time::sleep(Duration::from_millis(30)).await;
    app.let_go();
    let asked = server.post(&ada).await;
    state_of(&asked.last()["result"]);
    assert_eq!(app.effects(), 1);
}

#[tokio::test]
async fn work_of_which_nobody_knows_is_not_done_again_unless_that_is_harmless() {
    for harmless in [false, true] {
        let app = App::default();
        app.harmless.store(harmless, Ordering::SeqCst);
        let sealing = app.journalled();
        let mut lost = app.stuck().connect(sealing.clone());
        let mut shop = app.connect(sealing);
        let ada = asked_a(&mut shop, "charge").await("Ada");
        lost.send(&ada).await;
        until(|| app.effects() == 1).await;
        // As if that process had ended.
        app.clock.forward(31);
        let answer = shop.ask(&ada).await;
        match harmless {
            false => assert!(failure(&answer).starts_with(UNKNOWN), "{}", answer.text()),
            true => {
                let end = to_the_end(&mut shop, "charge", answer.result()).await;
                assert_eq!(end, "Ada, 2, thanks");
            }
        }
        assert_eq!(app.effects(), 1 + usize::from(harmless));
    }
}

#[tokio::test]
async fn work_that_is_dropped_or_panics_is_not_done_again() {
    for tool in ["impatient", "panics"] {
        let app = App::waiting();
        let mut shop = app.connect(app.journalled());
        let ada = asked_a(&mut shop, tool).await("Ada");
        shop.ask(&ada).await;
        assert_eq!(app.diary.take(), ["entered", "work"], "{tool}");
        app.let_go();
        app.clock.forward(31);
        let again = shop.ask(&ada).await.response.to_string();
        assert!(again.contains(UNKNOWN), "{tool}: {again}");
        assert_eq!(app.effects(), 0, "{tool}");
    }
}
