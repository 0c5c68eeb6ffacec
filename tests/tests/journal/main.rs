//! The durable journal: what a step of `once` finds there, and what trouble with it does to a call.

mod anchor;
mod meanwhile;
mod shop;
mod trouble;

use std::sync::atomic::Ordering;

use antiphon::{
    Ask, Server, Stop,
    sealing::{Key, Sealing},
    store::MemoryStore,
};
use antiphon_tests::{
    asking::{asked, confirm, no, state_of, yes},
    diary::Diary,
    log::Log,
    until,
    wire::Connection,
};

use self::shop::*;

#[tokio::test]
async fn what_came_of_work_is_written_before_the_handler_goes_on() {
    let app = App::default();
    let mut shop = app.connect(app.journalled());
    let ada = asked_a(&mut shop, "charge").await("Ada");
    let asked = shop.ask(&ada).await;
    let events = app.diary.take();
    assert_eq!(events, ["entered", "work", "written", "goes on"]);
    // From then on the state tells, and the journal is not asked.
    let end = to_the_end(&mut shop, "charge", asked.result()).await;
    assert_eq!(end, "Ada, 1, thanks");
    assert_eq!(app.diary.take(), ["goes on"]);
}

/// What was written is there for whoever comes again with the same answers, however spelt.
#[tokio::test]
async fn what_was_done_upon_the_same_answers_is_not_done_again() {
    let app = App::default();
    let mut shop = app.connect(app.journalled());
    let ada = asked_a(&mut shop, "charge").await("Ada");
    shop.ask(&ada).await.result();
    let mut again = ada.clone();
    let respelt = r#"{"a":{"content":{"name":"\u0041da"},"action":"accept"}}"#;
    again["params"]["inputResponses"] = serde_json::from_str(respelt).expect("JSON");
    let asked = shop.ask(&again).await;
    let end = to_the_end(&mut shop, "charge", asked.result()).await;
    assert_eq!(end, "Ada, 1, thanks");
    assert_eq!(app.effects(), 1);
    assert_eq!(app.diary.count("known"), 1);
}

#[tokio::test]
async fn another_call_does_its_own_work() {
    let app = App::default();
    let mut shop = app.connect(app.journalled());
    for number in 1..=2 {
        let ada = asked_a(&mut shop, "charge").await("Ada");
        let asked = shop.ask(&ada).await;
        let end = to_the_end(&mut shop, "charge", asked.result()).await;
        assert_eq!(end, format!("Ada, {number}, thanks"));
    }
}

#[tokio::test]
async fn a_failure_is_written_and_may_be_tried_again() {
    let app = App::default();
    let mut shop = app.connect(app.journalled());
    let named = asked_a(&mut shop, "charge").await;
    app.fails.store(true, Ordering::SeqCst);
    let failed = shop.ask(&named("Ada")).await;
    assert_eq!(failure(&failed), "not today");
    assert_eq!(app.diary.take(), ["entered", "work", "failed"]);
    app.fails.store(false, Ordering::SeqCst);
    // Nothing was done, so the answers may be others now.
    let asked = shop.ask(&named("Eve")).await;
    let end = to_the_end(&mut shop, "charge", asked.result()).await;
    assert_eq!(end, "Eve, 1, thanks");
}

/// Whoever waits for another says so, and so does whoever does again what may have been done.
#[tokio::test]
async fn who_waits_and_what_is_done_again_is_logged() {
    let (log, _listening) = Log::of_everything();
    let app = App::waiting();
    app.harmless.store(true, Ordering::SeqCst);
    let server = app.server(app.journalled());
    let mut one = Connection::memory(server.clone());
    let mut two = Connection::memory(server);
    let ada = asked_a(&mut one, "charge").await("Ada");
    one.send(&ada).await;
    until(|| app.effects() == 1).await;
    two.send(&ada).await;
    until(|| {
        log.text()
            .contains("a step is being done elsewhere: waiting for it")
    })
    .await;
    assert!(!log.text().contains("a step is done again"));
    app.clock.forward(31);
    until(|| app.effects() == 2).await;
    assert!(log.text().contains("WARN"));
    assert!(
        log.text()
            .contains("a step is done again, as it is not known whether it was done")
    );
}

/// What was begun upon other answers is neither used nor done again, whatever became of it.
#[tokio::test]
async fn other_answers_get_neither_the_result_nor_another_effect() {
    for became in ["done", "running", "unknown", "harmless"] {
        let app = App::waiting();
        let server = app.server(app.journalled());
        let mut one = Connection::memory(server.clone());
        let mut two = Connection::memory(server);
        app.harmless.store(became == "harmless", Ordering::SeqCst);
        let named = asked_a(&mut one, "charge").await;
        one.send(&named("Ada")).await;
        until(|| app.effects() == 1).await;
        match became {
            "done" => {
                app.let_go();
                one.receive().await.expect("an answer");
            }
            "running" => {}
            _ => app.clock.forward(31),
        }
        let eve = two.ask(&named("Eve")).await;
        assert_eq!(failure(&eve), CHANGED, "{became}");
        assert_eq!(app.effects(), 1, "{became}");
    }
}

/// The one that came now, and the one that was carried along.
#[tokio::test]
async fn answers_to_questions_by_hand_are_answers_too() {
    let app = App::default();
    let mut shop = app.connect(app.journalled());
    let first = asked(&mut shop, "by_hand").await;
    for (one, two, told) in [
        (yes(), yes(), "Accept Accept 1"),
        (yes(), yes(), "Accept Accept 1"),
        (yes(), no(), CHANGED),
        (no(), yes(), CHANGED),
    ] {
        let second = shop.ask(&confirm("by_hand", &first, one)).await;
        let second = state_of(second.result());
        let done = shop.ask(&confirm("by_hand", &second, two)).await;
        assert_eq!(done.text(), told);
    }
    assert_eq!(app.effects(), 1);
}

#[tokio::test]
async fn a_result_outlives_the_rotation_of_keys_but_not_the_end_of_its_key() {
    let app = App::default();
    let shop = |keys: &[u8]| {
        let keys = keys
            .iter()
            .map(|byte| Key::new(&[*byte; 32]).expect("long"));
        let sealing = Sealing::keys(keys.collect::<Vec<_>>()).audience("shop");
        app.connect(sealing.replayable().journal(app.diary.clone()))
    };
    // The state is of the new key, the result of the old one.
    let ada = asked_a(&mut shop(&[2, 1]), "charge").await("Ada");
    shop(&[1, 2]).ask(&ada).await.result();
    let mut rotated = shop(&[2, 1]);
    let asked = rotated.ask(&ada).await;
    let end = to_the_end(&mut rotated, "charge", asked.result()).await;
    assert_eq!(end, "Ada, 1, thanks");
    shop(&[2]).ask(&ada).await.refused(-32603, 200);
    assert_eq!(app.effects(), 1);
}

#[tokio::test]
async fn a_journal_says_nothing_in_the_clear() {
    async fn secret(ask: Ask) -> Result<String, Stop> {
        let Name { name } = ask.form("a", "Who?")?;
        let work = async || Ok("a canary in the result".to_owned());
        let result: String = ask.once("canary-key", work).await?;
        Ok(format!("{name} {}", result.len()))
    }
    let (log, _guard) = Log::of_everything();
    let diary = Diary::default();
    let server: Server = Server::new("shop", "1.0")
        .tool("secret", secret)
        .sealing(Sealing::default().journal(diary.clone()));
    let mut shop = Connection::memory(server);
    let canary = asked_a(&mut shop, "secret").await("a canary in an answer");
    assert_eq!(shop.ask(&canary).await.text(), "a canary in an answer 22");
    assert!(diary.kept().len() > 60, "it was given something");
    assert!(!diary.kept().contains("canary"), "{}", diary.kept());
    assert!(!log.text().contains("a canary"), "{}", log.text());
}

#[tokio::test]
async fn of_those_who_share_a_step_one_may_say_that_it_is_harmless() {
    let app = App::default();
    let sealing = app.journalled();
    let mut lost = app.stuck().connect(sealing.clone());
    let mut shop = app.connect(sealing);
    let ada = asked_a(&mut shop, "together").await("Ada");
    lost.send(&ada).await;
    until(|| app.effects() == 1).await;
    app.clock.forward(31);
    assert_eq!(shop.ask(&ada).await.text(), "2 2");
}

#[tokio::test]
async fn what_two_shared_is_there_for_two() {
    let app = App::default();
    let mut shop = app.connect(app.journalled());
    let ada = asked_a(&mut shop, "both").await("Ada");
    for _ in 0..2 {
        assert_eq!(shop.ask(&ada).await.text(), "1 1");
    }
    assert_eq!(app.effects(), 1);
}

#[tokio::test]
async fn replicas_need_a_journal_that_they_share() {
    let key = Key::new(&[1; 32]).expect("long enough");
    let sealing = Sealing::keys([key])
        .audience("shop")
        .replayable()
        .replicas(2);
    let start = async |sealing: Sealing| {
        let server: Server = Server::new("shop", "1.0").sealing(sealing);
        antiphon::raw::Endpoint::from(server).start().await
    };
    let alone = start(sealing.clone().journal(MemoryStore::new())).await;
    let words = alone.expect_err("one process").to_string();
    assert!(words.contains("Sealing::journal"), "{words}");
    start(sealing.journal(Diary::default()))
        .await
        .expect("shared");
    let debug = format!("{:?}", Sealing::default().journal(Diary::default()));
    assert!(debug.contains("journal: true"), "{debug}");
}
