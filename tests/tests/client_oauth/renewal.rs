//! Tokens that grow old.

use std::sync::atomic::Ordering;

use antiphon::{Http, client::oauth::OAuth};
use antiphon_tests::until;
use serde_json::json;

use crate::{
    ERAS, authority::Rules, client, connect, desk, guarded::Manners, person, refused, says, start,
    usual,
};

/// AUTH-C-48: renewed without a person, and in the middle of a call that asks, too.
#[tokio::test]
async fn tokens_are_renewed() {
    for era in ERAS {
        let (authority, guarded) = usual().await;
        let (back, count) = person();
        let expires = authority.clone();
        let client = antiphon::Client::new("desk", "1.0")
            .era(era)
            .on_form(move |form| {
                expires.expire();
                async move { form.accept(json!({ "word": if form.message == "A word?" { "first" } else { "second" } })) }
            });
        let http = Http::new(guarded.url()).oauth(OAuth::new("Desk", back));
        let connection = client.connect(http).await.expect("let in");
        assert_eq!(
            says(&connection, "order").await.expect("text"),
            "ada: first second"
        );
        assert_eq!(count.load(Ordering::SeqCst), 1);
        let renewed = authority.asked("refresh_token");
        assert!(!renewed.is_empty());
        for asked in renewed {
            assert_eq!(asked.params["resource"], guarded.url());
        }
        assert!(!authority.was_deceived());
        connection.close().await;
    }
}

/// What will not do for another request is renewed before it is sent.
#[tokio::test]
async fn tokens_that_are_about_to_expire_are_renewed_first() {
    let rules = Rules {
        lasts: Some(5),
        ..Rules::default()
    };
    let (authority, guarded) = start(rules, Manners::default()).await;
    let connection = connect(&guarded, desk()).await.expect("let in");
    authority.rules().lasts = Some(3600);
    let before = guarded.asked().len();
    for _ in 0..2 {
        says(&connection, "whoami").await.expect("text");
    }
    assert_eq!(authority.asked("refresh_token").len(), 1);
    assert!(
        guarded.asked()[before..]
            .iter()
            .all(|asked| asked.status == 200)
    );
}

/// AUTH-C-51: a token that cannot be renewed is used as long as the server takes it.
#[tokio::test]
async fn tokens_that_cannot_be_renewed_are_used_up() {
    let rules = Rules {
        lasts: Some(5),
        renews: false,
        ..Rules::default()
    };
    let (authority, guarded) = start(rules, Manners::default()).await;
    let connection = connect(&guarded, desk()).await.expect("let in");
    for _ in 0..3 {
        says(&connection, "whoami").await.expect("text");
    }
    assert_eq!(
        authority.visits(),
        1,
        "nobody has to sign in for each request"
    );
    authority.expire();
    says(&connection, "whoami").await.expect("text");
    assert_eq!(authority.visits(), 2);
}

/// What cannot be renewed any more has somebody sign in again.
#[tokio::test]
async fn who_is_not_known_any_more_signs_in_again() {
    let (authority, guarded) = usual().await;
    let connection = connect(&guarded, desk()).await.expect("let in");
    authority.revoke();
    says(&connection, "whoami").await.expect("text");
    assert_eq!(
        (authority.visits(), authority.asked("refresh_token").len()),
        (2, 1)
    );
    // And whose registration is gone registers again.
    authority.forget_clients();
    authority.expire();
    says(&connection, "whoami").await.expect("text");
    assert_eq!(authority.visits(), 3);
    assert_eq!(authority.seen("/register").len(), 2);
}

/// An authorization server that is ill does not cost anybody their sign-in.
#[tokio::test]
async fn what_fails_for_now_is_tried_again_later() {
    for (status, said) in [
        (503, r#"{"error":"temporarily_unavailable"}"#),
        (500, r#"{"error":"server_error"}"#),
        (502, "<html>"),
        (429, r#"{"error":"slow_down"}"#),
    ] {
        let (authority, guarded) = usual().await;
        let connection = connect(&guarded, desk()).await.expect("let in");
        authority.expire();
        authority.rules().gives_not = Some((status, said.to_owned()));
        let text = refused(says(&connection, "whoami").await);
        assert!(text.contains("getting a token"), "{text}");
        authority.rules().gives_not = None;
        says(&connection, "whoami").await.expect("text");
        assert_eq!(authority.visits(), 1, "{status}");
    }
}

/// A server that refuses what was made for it is not given the same again, nor is a person.
#[tokio::test]
async fn a_new_token_that_is_refused_is_the_end() {
    let (authority, guarded) = usual().await;
    guarded.manners().metadata = json!({ "resource": guarded.url() });
    guarded.manners().refuses = vec![(401, "Bearer".to_owned()); 20].into();
    let text = refused(connect(&guarded, desk()).await);
    assert!(text.contains("does not take the token"), "{text}");
    assert_eq!(authority.visits(), 1);
}

/// A request that is given up in the middle of a renewal does not take the new tokens with it.
#[tokio::test]
async fn a_renewal_outlives_its_request() {
    let (authority, guarded) = usual().await;
    let connection = connect(&guarded, desk()).await.expect("let in");
    authority.expire();
    authority.stall();
    {
        let call = says(&connection, "whoami");
        let stalled = until(|| authority.is_stalled());
        tokio::select! {
            said = call => panic!("{said:?}"),
            () = stalled => {}
        }
    }
    authority.go_on();
    says(&connection, "whoami").await.expect("text");
    assert_eq!(authority.visits(), 1);
    assert_eq!(authority.asked("refresh_token").len(), 1);
    assert!(!authority.was_deceived());
}

/// One renewal for all who wait.
#[tokio::test]
async fn many_requests_wait_for_one_renewal() {
    let (authority, guarded) = usual().await;
    let http = Http::new(guarded.url()).oauth(desk());
    let connection = client().connect(http).await.expect("let in");
    for turn in 1..=3 {
        authority.expire();
        let (a, b, c) = tokio::join!(
            says(&connection, "whoami"),
            says(&connection, "write"),
            says(&connection, "whoami")
        );
        for said in [a, b, c] {
            said.expect("text");
        }
        assert_eq!(authority.asked("refresh_token").len(), turn);
    }
    assert!(!authority.was_deceived());
}
