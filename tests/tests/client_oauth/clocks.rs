//! Clocks stand still while a person signs in, and not otherwise.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon::{
    Http,
    client::{
        Clock, ErrorKind,
        oauth::{Callback, OAuth, SignIn},
    },
    types::SubscriptionFilter,
};
use antiphon_tests::until;
use tokio::sync::Notify;

use crate::{BACK, ERAS, client, connect, desk, person, refused, says, usual, visit};

/// As long as a server may take here, and a part of what a person takes.
const WORK: Duration = Duration::from_millis(1500);

/// A person who takes longer than any server may, and how often.
fn slow_person() -> (Callback, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let signs_in = count.clone();
    let back = Callback::new(BACK, move |sign_in: SignIn| {
        signs_in.fetch_add(1, Ordering::SeqCst);
        async move {
            tokio::time::sleep(2 * WORK).await;
            Ok(visit(sign_in.url()).await.1)
        }
    });
    (back, count)
}

/// A person who signs in when they are let, and how often they were asked to.
fn waiting_person() -> (Callback, Arc<Notify>, Arc<AtomicUsize>) {
    let (gate, count) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
    let (opened, asked) = (gate.clone(), count.clone());
    let back = Callback::new(BACK, move |sign_in: SignIn| {
        asked.fetch_add(1, Ordering::SeqCst);
        let opened = opened.clone();
        async move {
            opened.notified().await;
            Ok(visit(sign_in.url()).await.1)
        }
    });
    (back, gate, count)
}

/// While connecting, calling and listening, in every era.
#[tokio::test]
async fn people_may_take_their_time() {
    for era in ERAS {
        let (authority, guarded) = usual().await;
        let (back, count) = slow_person();
        let http = Http::new(guarded.url()).oauth(OAuth::new("Desk", back));
        let client = client().era(era).work_timeout(WORK);
        let connection = client.connect(http).await.expect("let in");
        authority.revoke();
        assert_eq!(says(&connection, "whoami").await.expect("text"), "ada: ");
        authority.revoke();
        let filter = SubscriptionFilter::new().tools();
        let listening = connection.listen(filter).await;
        listening.expect("listening");
        says(&connection, "whoami").await.expect("text");
        assert_eq!(count.load(Ordering::SeqCst), 3, "{era:?}");
        connection.close().await;
    }
}

/// An authorization server is no person.
#[tokio::test]
async fn servers_may_not() {
    for era in ERAS {
        let (authority, guarded) = usual().await;
        let http = Http::new(guarded.url()).oauth(desk());
        let client = client().era(era).work_timeout(WORK);
        authority.stall();
        let error = client.connect(http.clone()).await.expect_err("too long");
        assert!(
            matches!(
                error.kind(),
                ErrorKind::TimedOut {
                    clock: Clock::Work,
                    ..
                }
            ),
            "{error:?}"
        );
        authority.go_on();
        let connection = client.connect(http).await.expect("let in");
        authority.expire();
        authority.stall();
        let error = says(&connection, "whoami").await.expect_err("too long");
        assert!(
            matches!(
                error.kind(),
                ErrorKind::TimedOut {
                    clock: Clock::Work,
                    ..
                }
            ),
            "{error:?}"
        );
        authority.go_on();
        says(&connection, "whoami").await.expect("text");
        connection.close().await;
    }
}

/// Nobody waits for a person for ever.
#[tokio::test]
async fn patience_runs_out() {
    let (authority, guarded) = usual().await;
    let back = Callback::new(BACK, |_| std::future::pending());
    let oauth = OAuth::new("Desk", back).patience(Duration::from_millis(50));
    let text = refused(connect(&guarded, oauth).await);
    assert!(text.contains("nobody signed in within 50ms"), "{text}");
    assert_eq!(authority.visits(), 0);
}

/// Who has a token that is good enough need not wait for somebody who wants more.
#[tokio::test]
async fn others_go_on_while_somebody_signs_in() {
    let (_authority, guarded) = usual().await;
    guarded.manners().needs.insert("write", "w");
    let (back, gate, count) = waiting_person();
    gate.notify_one();
    let connection = connect(&guarded, OAuth::new("Desk", back)).await;
    let connection = connection.expect("let in");
    let others = async {
        until(|| count.load(Ordering::SeqCst) == 2).await;
        let said = says(&connection, "whoami").await;
        gate.notify_one();
        said
    };
    let both = async { tokio::join!(says(&connection, "write"), others) };
    let both = tokio::time::timeout(Duration::from_secs(20), both).await;
    let (written, said) = both.expect("nobody waits for the other");
    assert_eq!(said.expect("text"), "ada: ");
    assert_eq!(written.expect("text"), "ada: w");
}

/// A request that is given up takes its sign-in with it; the next one begins anew.
#[tokio::test]
async fn a_sign_in_is_over_with_its_request() {
    for era in ERAS {
        let (authority, guarded) = usual().await;
        let (back, gate, count) = waiting_person();
        gate.notify_one();
        let http = Http::new(guarded.url()).oauth(OAuth::new("Desk", back));
        let connection = client().era(era).connect(http).await.expect("let in");
        authority.revoke();
        {
            let asked = until(|| count.load(Ordering::SeqCst) == 2);
            tokio::select! {
                said = says(&connection, "whoami") => panic!("{said:?}"),
                () = asked => {}
            }
        }
        gate.notify_one();
        says(&connection, "whoami").await.expect("text");
        assert_eq!(count.load(Ordering::SeqCst), 3, "{era:?}");
        assert_eq!(authority.visits(), 2);
        connection.close().await;
    }
}

/// One sign-in for all connections with the same settings; those that wait have their clocks
/// stand still, too.
#[tokio::test]
async fn connections_wait_for_one_another() {
    let (authority, guarded) = usual().await;
    let (back, count) = slow_person();
    let http = Http::new(guarded.url()).oauth(OAuth::new("Desk", back));
    let client = client().work_timeout(WORK);
    let (a, b, c) = tokio::join!(
        client.connect(http.clone()),
        client.connect(http.clone()),
        client.connect(http)
    );
    for connection in [a, b, c] {
        says(&connection.expect("let in"), "whoami")
            .await
            .expect("text");
    }
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert_eq!(authority.seen("/register").len(), 1);
}

/// What a server does not take when it is new may be taken later, or another in its place.
#[tokio::test]
async fn a_refusal_is_not_for_ever() {
    let (_authority, guarded) = usual().await;
    let (back, count) = person();
    let oauth = OAuth::new("Desk", back);
    let connection = connect(&guarded, oauth).await.expect("let in");
    let known = connection.negotiated().clone();
    connection.close().await;

    let (back, again) = person();
    let http = Http::new(guarded.url()).oauth(OAuth::new("Desk", back));
    let connection = client().connect_as(http, known).await.expect("known");
    let refuse = |times| guarded.manners().refuses = vec![(401, "Bearer".to_owned()); times].into();
    for _ in 0..3 {
        refuse(9);
        let text = refused(says(&connection, "whoami").await);
        assert!(text.contains("does not take the token"), "{text}");
    }
    assert_eq!(again.load(Ordering::SeqCst), 1, "not once for each");
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(61)).await;
    tokio::time::resume();
    refuse(1);
    says(&connection, "whoami").await.expect("text");
    assert_eq!(count.load(Ordering::SeqCst), 1);
}
