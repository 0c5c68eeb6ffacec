//! A journal that cannot be used.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use antiphon::{
    sealing::{Codec, CodecError, Coding, Sealing},
    store::MemoryStore,
};
use antiphon_tests::{
    asking::{retry, state_of},
    call,
    log::Log,
    until,
};
use serde_json::json;
use tokio::sync::Semaphore;

use super::shop::*;

#[tokio::test]
async fn a_journal_that_is_away_costs_no_state_and_nothing_is_done() {
    let app = App::default();
    let sealing = Sealing::default().journal(app.diary.clone());
    let mut shop = app.connect(app.clock.on(sealing));
    let named = asked_a(&mut shop, "charge").await;
    let (log, _guard) = Log::of_everything();
    app.diary.away.store(true, Ordering::SeqCst);
    let refused = shop.ask(&named("Ada")).await;
    refused.refused(-32603, 200);
    assert!(!refused.response.to_string().contains("fishing"));
    assert!(log.text().contains("gone fishing"));
    assert_eq!(app.effects(), 0);
    app.diary.away.store(false, Ordering::SeqCst);
    // Unspent, for the same answers.
    shop.ask(&named("Eve")).await.refused(-32602, 200);
    let asked = shop.ask(&named("Ada")).await;
    let end = to_the_end(&mut shop, "charge", asked.result()).await;
    assert_eq!(end, "Ada, 1, thanks");
}

/// Nothing was done: nobody may say later that this is not known.
#[tokio::test]
async fn an_entry_that_nobody_was_told_of_is_taken_back() {
    let app = App::default();
    let sealing = Sealing::default().journal(app.diary.clone());
    let mut shop = app.connect(app.clock.on(sealing));
    let ada = asked_a(&mut shop, "charge").await("Ada");
    app.diary.slips.store(true, Ordering::SeqCst);
    shop.ask(&ada).await.refused(-32603, 200);
    app.diary.slips.store(false, Ordering::SeqCst);
    app.clock.forward(31);
    let asked = shop.ask(&ada).await;
    let end = to_the_end(&mut shop, "charge", asked.result()).await;
    assert_eq!(end, "Ada, 1, thanks");
}

#[tokio::test]
async fn a_full_journal_is_no_reason_to_go_on_without() {
    let app = App::default();
    let store = MemoryStore::new().steps(1);
    let mut shop = app.connect(Sealing::default().journal(store));
    let ada = asked_a(&mut shop, "twice").await("Ada");
    let (log, _guard) = Log::of_everything();
    for _ in 0..2 {
        shop.ask(&ada).await.refused(-32603, 200);
        assert_eq!(app.effects(), 1, "`one` is in the journal");
    }
    assert!(log.text().contains("the journal is full"));
}

/// What was done before the trouble is in the journal, so the state may be used again.
#[tokio::test]
async fn what_was_done_before_the_trouble_is_not_done_again() {
    let app = App::default();
    let mut shop = app.connect(Sealing::default().journal(app.diary.clone()));
    let ada = asked_a(&mut shop, "twice").await("Ada");
    let (diary, gate) = (app.diary.clone(), app.clone());
    // Gone between the two steps.
    let leaves = tokio::spawn(async move {
        until(|| gate.effects() == 1).await;
        diary.away.store(true, Ordering::SeqCst);
    });
    app.gate.forget_permits(Semaphore::MAX_PERMITS);
    shop.send(&ada).await;
    leaves.await.expect("no panic");
    app.let_go();
    let refused = shop.receive().await.expect("an answer");
    assert_eq!(refused["error"]["code"], -32603, "{refused}");
    app.diary.away.store(false, Ordering::SeqCst);
    assert_eq!(shop.ask(&ada).await.text(), "1 Some(2)");
    assert_eq!(app.effects(), 2);
}

/// Work that is done is done: the call goes on. Nobody can do it again, as its entry stays.
#[tokio::test]
async fn a_result_that_cannot_be_written_is_used_and_the_work_not_done_again() {
    let app = App::default();
    let sealing = app.journalled().work_timeout(Duration::from_millis(30));
    let mut shop = app.connect(sealing);
    let ada = asked_a(&mut shop, "charge").await("Ada");
    let (log, _guard) = Log::of_everything();
    app.diary.mute.store(true, Ordering::SeqCst);
    let asked = shop.ask(&ada).await;
    app.diary.mute.store(false, Ordering::SeqCst);
    assert!(log.text().contains("could not be written"));
    let end = to_the_end(&mut shop, "charge", asked.result()).await;
    assert_eq!(end, "Ada, 1, thanks");
    shop.ask(&ada).await.refused(-32603, 200);
    app.clock.forward(31);
    let again = shop.ask(&ada).await;
    assert!(failure(&again).starts_with(UNKNOWN), "{}", again.text());
    assert_eq!(app.effects(), 1);
}

/// A codec that seals no states while it is away, and what is stored all the same.
#[derive(Clone, Default)]
struct Away(Arc<AtomicBool>);

impl Codec for Away {
    fn seal<'a>(&'a self, plain: &'a [u8]) -> Coding<'a> {
        Box::pin(async {
            match self.0.load(Ordering::SeqCst) && plain.starts_with(b"q") {
                true => Err(CodecError::Unavailable("gone fishing".to_owned())),
                false => Ok(plain.to_vec()),
            }
        })
    }

    fn open<'a>(&'a self, sealed: &'a [u8]) -> Coding<'a> {
        Box::pin(async { Ok(sealed.to_vec()) })
    }
}

/// Without a journal such a state is used up, since the work would be done again.
#[tokio::test]
async fn a_round_that_worked_and_could_not_be_sealed_may_be_tried_again() {
    let (app, codec) = (App::default(), Away::default());
    let sealing = Sealing::codec(codec.clone()).audience("shop");
    let mut shop = app.connect(sealing.journal(app.diary.clone()));
    let ada = asked_a(&mut shop, "charge").await("Ada");
    codec.0.store(true, Ordering::SeqCst);
    shop.ask(&ada).await.refused(-32603, 200);
    codec.0.store(false, Ordering::SeqCst);
    let asked = shop.ask(&ada).await;
    let end = to_the_end(&mut shop, "charge", asked.result()).await;
    assert_eq!(end, "Ada, 1, thanks");
    assert_eq!(app.effects(), 1);
}

/// What was done upon a yes nobody can see, so the state is used up.
#[tokio::test]
async fn a_yes_is_not_used_twice_because_the_journal_is_away() {
    let app = App::default();
    let sealing = Sealing::default().journal(app.diary.clone());
    let mut shop = app.connect(app.clock.on(sealing));
    let first = call(1, "delete", json!({}));
    let state = state_of(shop.ask(&first).await.result());
    let yes = json!({ "action": "accept", "content": { "confirm": true } });
    let yes = retry(&first, &state, json!({ "delete": yes }));
    app.diary.away.store(true, Ordering::SeqCst);
    shop.ask(&yes).await.refused(-32603, 200);
    app.diary.away.store(false, Ordering::SeqCst);
    shop.ask(&yes).await.refused(-32603, 200);
    assert_eq!(app.effects(), 1);
}

/// Nothing was answered, and yet the same yes is not good for a second try.
#[tokio::test]
async fn a_yes_is_not_used_twice_because_questions_cannot_be_sealed() {
    let (app, codec) = (App::default(), Away::default());
    let sealing = Sealing::codec(codec.clone()).audience("shop");
    let mut shop = app.connect(sealing.journal(app.diary.clone()));
    let first = call(1, "delete_first", json!({}));
    let state = state_of(shop.ask(&first).await.result());
    let yes = json!({ "action": "accept", "content": { "confirm": true } });
    let yes = retry(&first, &state, json!({ "delete": yes }));
    codec.0.store(true, Ordering::SeqCst);
    shop.ask(&yes).await.refused(-32603, 200);
    codec.0.store(false, Ordering::SeqCst);
    shop.ask(&yes).await.refused(-32602, 200);
    assert_eq!(app.effects(), 1);
}

#[tokio::test]
async fn nothing_is_done_when_it_could_have_been_forgotten() {
    let app = App::default();
    let mut shop = app.connect(app.journalled());
    let ada = asked_a(&mut shop, "late").await("Ada");
    let over = shop.ask(&ada).await;
    let told = "The time of this call is over. `charge` was not done: call again.";
    assert_eq!(failure(&over), told);
    assert_eq!(app.effects(), 0);
}
