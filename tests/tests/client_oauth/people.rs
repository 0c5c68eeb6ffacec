//! A person signs in, and what they come back with.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use antiphon::{
    Http,
    client::{
        Connect,
        oauth::{Callback, OAuth, SignIn},
    },
};
use serde_json::json;
use tokio::sync::Notify;

use crate::{
    BACK, ERAS,
    authority::{How, Rules},
    client, connect, desk,
    guarded::{HERE, Manners},
    person, refused, says, soon, start, usual, visit,
};

/// From the first challenge to the answer. AUTH-C-01, AUTH-C-02, AUTH-C-03, AUTH-C-12, AUTH-C-20,
/// AUTH-C-21, AUTH-C-35, AUTH-C-41 to AUTH-C-46, AUTH-C-49, AUTH-C-52, AUTH-C-53, AUTH-C-55,
/// LAUTH-B-01, LAUTH-B-02.
#[tokio::test]
async fn a_person_signs_in_once_and_everything_goes_on() {
    for era in ERAS {
        let (authority, guarded) = usual().await;
        let (back, count) = person();
        let oauth = OAuth::new("Desk", back);
        let http = Http::new(guarded.url()).oauth(oauth);
        let connection = client().era(era).connect(http).await.expect("let in");
        for _ in 0..2 {
            assert_eq!(says(&connection, "whoami").await.expect("text"), "ada: ");
        }
        assert_eq!(
            says(&connection, "order").await.expect("text"),
            "ada: first second"
        );
        connection.close().await;
        assert_eq!(count.load(Ordering::SeqCst), 1, "{era:?}");

        let [registration] = &authority.seen("/register")[..] else {
            panic!("it registers once");
        };
        assert_eq!(
            registration.json,
            json!({
                "client_name": "Desk",
                "redirect_uris": [BACK],
                "grant_types": ["authorization_code", "refresh_token"],
                "response_types": ["code"],
                "token_endpoint_auth_method": "none",
                "application_type": "web",
            })
        );
        let [visited] = &authority.seen("/authorize")[..] else {
            panic!("one visit");
        };
        let params = &visited.params;
        assert_eq!(params["resource"], guarded.url());
        assert_eq!(params["redirect_uri"], BACK);
        assert_eq!(params["code_challenge"].len(), 43);
        assert!(params["state"].len() >= 43);
        assert!(!params.contains_key("scope"), "none are known");
        let [redeemed] = &authority.asked("authorization_code")[..] else {
            panic!("one code");
        };
        assert_eq!(redeemed.params["resource"], guarded.url());
        assert_eq!(redeemed.params["redirect_uri"], BACK);
        // On every request since, in its header and nowhere else.
        let asked = guarded.asked();
        let first = asked.iter().position(|asked| asked.token().is_some());
        let first = first.expect("a token");
        let token = asked[first].token();
        for asked in &asked[first..] {
            assert_eq!((asked.token(), &asked.query), (token, &None), "{asked:?}");
        }
        assert!(
            asked[..first]
                .iter()
                .all(|asked| asked.path == HERE || asked.status == 401)
        );
    }
}

/// AUTH-C-22, AUTH-C-42, AUTH-C-44: the canonical name, however the URL was spelled.
#[tokio::test]
async fn a_server_is_called_by_its_name() {
    let (authority, guarded) = usual().await;
    let url = guarded.url().replace("http://", "HTTP://") + "#top";
    let http = Http::new(url).oauth(desk());
    let connection = client().connect(http).await.expect("let in");
    says(&connection, "whoami").await.expect("text");
    assert_eq!(
        authority.seen("/authorize")[0].params["resource"],
        guarded.url()
    );
}

/// What a person is shown.
#[tokio::test]
async fn a_sign_in_says_what_it_is_for() {
    let manners = Manners {
        scopes: vec!["read"],
        ..Manners::default()
    };
    let (authority, guarded) = start(Rules::default(), manners).await;
    let issuer = authority.issuer();
    let server = guarded.url();
    let back = Callback::new(BACK, move |sign_in: SignIn| {
        assert_eq!(sign_in.issuer(), issuer);
        assert_eq!(sign_in.scopes(), ["read"]);
        assert_eq!(sign_in.server().to_string(), server);
        assert!(!format!("{sign_in:?}").contains("state"));
        async move { Ok(visit(sign_in.url()).await.1) }
    });
    let connection = connect(&guarded, OAuth::new("Desk", back)).await;
    says(&connection.expect("let in"), "whoami")
        .await
        .expect("text");
}

/// However many requests need it.
#[tokio::test]
async fn many_requests_wait_for_one_sign_in() {
    let (authority, guarded) = usual().await;
    let (back, count) = person();
    let connection = connect(&guarded, OAuth::new("Desk", back)).await;
    let connection = connection.expect("let in");
    authority.revoke();
    let all = (0..10).map(|_| says(&connection, "whoami"));
    for said in join_all(all).await {
        assert_eq!(said.expect("text"), "ada: ");
    }
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

/// Somebody who says no is not asked once more for each request that waits.
#[tokio::test]
async fn a_no_is_one_for_all_who_wait() {
    let (authority, guarded) = usual().await;
    let (back, count) = person();
    let gate = Arc::new(Notify::new());
    let opened = gate.clone();
    let back = Callback::new(BACK, move |sign_in| {
        let (opened, back) = (opened.clone(), back.clone());
        async move {
            opened.notified().await;
            let visit = antiphon::client::oauth::Redirect::begin(&back, None).await?;
            visit.send(sign_in).await
        }
    });
    gate.notify_one();
    let connection = connect(&guarded, OAuth::new("Desk", back)).await;
    let connection = connection.expect("let in");
    authority.revoke();
    authority.rules().refuses = Some(("access_denied", "canary"));
    let before = guarded.asked().len();
    let all = (0..5).map(|_| says(&connection, "whoami"));
    let all = join_all(all);
    let both = async {
        tokio::join!(all, async {
            // All of them are waiting by now.
            antiphon_tests::until(|| guarded.asked().len() >= before + 6).await;
            tokio::time::sleep(Duration::from_millis(100)).await;
            gate.notify_one();
        })
    };
    let (all, ()) = soon(both).await;
    for said in all {
        let text = refused(said);
        assert!(
            text.contains("said no") && !text.contains("canary"),
            "{text}"
        );
    }
    assert_eq!(count.load(Ordering::SeqCst), 2);
    // Whoever asks later is asked for anew.
    authority.rules().refuses = None;
    gate.notify_one();
    says(&connection, "whoami").await.expect("text");
}

/// AUTH-C-36 to AUTH-C-40, AUTH-C-56: whose answer it is, to the byte.
#[tokio::test]
async fn only_the_right_answer_is_redeemed() {
    for (iss, supported, is_good) in [
        (None, false, true),
        (None, true, false),
        (Some("$"), false, true),
        (Some("$"), true, true),
        (Some("$/"), false, false),
        (Some("https://evil.example"), false, false),
        (Some("https://evil.example"), true, false),
        (Some(""), true, false),
    ] {
        for refuses in [None, Some(("canary", "canary"))] {
            let rules = Rules {
                iss,
                refuses,
                metadata: json!({ "authorization_response_iss_parameter_supported": supported }),
                ..Rules::default()
            };
            let (authority, guarded) = start(rules, Manners::default()).await;
            let connected = connect(&guarded, desk()).await;
            if refuses.is_none() && is_good {
                connected.expect("let in");
                continue;
            }
            let text = refused(connected);
            assert_eq!(text.contains("canary"), is_good, "{iss:?}: {text}");
            assert_eq!(authority.asked("authorization_code").len(), 0, "{iss:?}");
        }
    }
}

/// AUTH-C-56: what is said for somebody else, or made up.
#[tokio::test]
async fn another_state_is_not_ours() {
    for answer in [
        "$?code=c&state=made-up",
        "$?code=c",
        "$",
        "",
        "$?error=canary&state=x",
        "$?code=c&$state&$state",
    ] {
        let (authority, guarded) = usual().await;
        let back = Callback::new(BACK, move |sign_in: SignIn| async move {
            let state = sign_in
                .url()
                .split('&')
                .find(|part| part.starts_with("state="));
            let answer = answer.replace("$state", state.expect("a state"));
            assert!(!sign_in.is_answered_by(&answer), "{answer}");
            Ok(answer.replace('$', BACK))
        });
        let text = refused(connect(&guarded, OAuth::new("Desk", back)).await);
        assert!(!text.contains("canary"), "{text}");
        assert!(text.contains("came back with"), "{text}");
        assert_eq!(authority.asked("authorization_code").len(), 0);
    }
}

/// AUTH-B-05: where people come back to.
#[tokio::test]
async fn people_come_back_safely_or_not_at_all() {
    for (uri, is_safe) in [
        ("http://desk.example/back", false),
        ("javascript:alert(1)", false),
        ("desk://back", false),
        ("http://localhost:1/back", true),
        ("https://desk.example/back", true),
    ] {
        let (authority, guarded) = usual().await;
        authority.know("desk", How::Public, uri);
        let back = Callback::new(uri, |sign_in: SignIn| async move {
            Ok(visit(sign_in.url()).await.1)
        });
        let connected = connect(&guarded, OAuth::new("Desk", back)).await;
        assert_eq!(connected.is_ok(), is_safe, "{uri}");
        assert_eq!(authority.visits(), usize::from(is_safe));
    }
}

/// AUTH-C-22: what kind of program it is, by where people come back to.
#[tokio::test]
async fn programs_on_the_machine_are_native() {
    for (uri, kind) in [
        ("http://127.0.0.1:1/back", "native"),
        ("https://localhost/back", "native"),
        ("https://desk.example/back", "web"),
    ] {
        let (authority, guarded) = usual().await;
        let back = Callback::new(uri, |sign_in: SignIn| async move {
            Ok(visit(sign_in.url()).await.1)
        });
        connect(&guarded, OAuth::new("Desk", back))
            .await
            .expect("let in");
        assert_eq!(
            authority.seen("/register")[0].json["application_type"],
            kind
        );
    }
}

/// A program that cannot show anybody anything says so.
#[tokio::test]
async fn who_cannot_sign_in_says_why() {
    let (authority, guarded) = usual().await;
    let back = Callback::new(BACK, |_| async { Err("there is no screen".into()) });
    let text = refused(connect(&guarded, OAuth::new("Desk", back)).await);
    assert!(text.contains("there is no screen"), "{text}");
    assert_eq!(authority.visits(), 0);
}

/// Signing in by hand, before anything is asked, and out again.
#[tokio::test]
async fn one_can_sign_in_and_out_by_hand() {
    let rules = Rules {
        metadata: json!({ "scopes_supported": ["offline_access"] }),
        ..Rules::default()
    };
    let manners = Manners {
        metadata: json!({ "scopes_supported": ["read", "write"] }),
        ..Manners::default()
    };
    let (authority, guarded) = start(rules, manners).await;
    let (back, count) = person();
    let http = Http::new(guarded.url()).oauth(OAuth::new("Desk", back));
    assert!(
        !http.sign_out().await.expect("a store"),
        "there is none yet"
    );
    let signed_in = http.sign_in(&[]).await.expect("signed in");
    assert_eq!(signed_in.issuer, authority.issuer());
    assert_eq!(signed_in.resource, guarded.url());
    // AUTH-C-30, AUTH-C-50
    assert_eq!(signed_in.scopes, ["read", "write", "offline_access"]);
    assert!(signed_in.is_renewable && signed_in.expires_at.is_some());
    let connection = client().connect(http.clone()).await.expect("let in");
    says(&connection, "whoami").await.expect("text");
    assert_eq!(count.load(Ordering::SeqCst), 1, "the store has it");
    assert!(guarded.asked_for("tools/call")[0].token().is_some());

    assert!(http.sign_out().await.expect("a store"));
    assert!(!http.sign_out().await.expect("a store"));
    client().connect(http).await.expect("let in");
    assert_eq!(count.load(Ordering::SeqCst), 2);
    // How the client is known stays.
    assert_eq!(authority.seen("/register").len(), 1);
    let plain = Http::new(guarded.url());
    let error = plain.sign_in(&[]).await.expect_err("no way to");
    assert!(error.to_string().contains(".oauth("), "{error}");
}

/// The challenges of an error say what a sign-in is for.
#[tokio::test]
async fn signing_in_by_hand_heeds_the_challenge() {
    let (_authority, guarded) = usual().await;
    let http = Http::new(guarded.url()).oauth(desk());
    let place = format!("{}{HERE}", guarded.origin());
    let challenge = format!(r#"Bearer scope="sail", resource_metadata="{place}""#);
    let signed_in = http.sign_in(&[challenge]).await.expect("signed in");
    assert_eq!(signed_in.scopes, ["sail"]);
    let elsewhere = r#"Bearer resource_metadata="http://elsewhere.example/""#;
    let error = http.sign_in(&[elsewhere.to_owned()]).await;
    assert!(refused(error).contains("not read"));
}

/// Servers with names of one's own are told apart as ever.
#[tokio::test]
async fn named_servers_sign_in_too() {
    let (_authority, guarded) = usual().await;
    let http = Http::new(guarded.url()).oauth(desk());
    let named = http.named("shop");
    let connection = client().connect(named).await.expect("let in");
    assert_eq!(says(&connection, "whoami").await.expect("text"), "ada: ");
    assert_eq!(
        connection.server().to_string(),
        format!("shop ({})", guarded.url())
    );
}

async fn join_all<T>(all: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut pending: Vec<_> = all.map(Box::pin).collect();
    let mut done: Vec<Option<T>> = pending.iter().map(|_| None).collect();
    std::future::poll_fn(move |context| {
        for (future, done) in pending.iter_mut().zip(&mut done) {
            if done.is_none()
                && let std::task::Poll::Ready(value) = future.as_mut().poll(context)
            {
                *done = Some(value);
            }
        }
        match done.iter().all(Option::is_some) {
            true => std::task::Poll::Ready(done.iter_mut().filter_map(Option::take).collect()),
            false => std::task::Poll::Pending,
        }
    })
    .await
}
