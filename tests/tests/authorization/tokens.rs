//! Tokens that are signed: from the issuer's metadata to the handler, and when its keys change.

use antiphon::{
    auth::{
        Protected,
        jwt::{Algorithm, JwtVerifier},
    },
    http::service,
};
use antiphon_tests::{call, http::Answer, log::Log, older_http::Older};
use serde_json::{Value, json};

use crate::{
    Running,
    files::{self, Done},
    issuer::{Issuer, now},
};

async fn running(issuer: &Issuer) -> Running {
    running_with(issuer, |verifier| verifier).await
}

async fn running_with(issuer: &Issuer, change: impl FnOnce(JwtVerifier) -> JwtVerifier) -> Running {
    Running::start(|url| {
        let verifier = change(JwtVerifier::new(&issuer.url, &url));
        let protected = Protected::new(url, [&issuer.url]);
        service(files::server(&Done::default())).protected(protected, verifier)
    })
    .await
}

async fn who(server: &Running, token: &str) -> Answer {
    server.post(token, &call(1, "who", json!({}))).await
}

fn seen(answer: &Answer) -> &Value {
    assert_eq!(answer.status, 200, "{}", answer.text);
    &answer.last()["result"]["structuredContent"]
}

/// AUTH-S-07, AUTH-S-08: from the token to the handler, in both eras.
#[tokio::test]
async fn a_token_says_who_calls() {
    for place in [
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
    ] {
        let issuer = Issuer::publishing(place).await;
        let server = running(&issuer).await;
        let claims = json!({"scope": "files:read", "tenant": "north"});
        let token = issuer.token(&server.url(), &claims);
        let expected = json!({
            "subject": "ada", "client": "desk", "issuer": issuer.url,
            "scopes": ["files:read"], "tenant": "north",
        });
        assert_eq!(*seen(&who(&server, &token).await), expected);
        let older = Older::new(server.address, "2025-11-25").token(&token);
        let answer = older.opened().await.call(1, "who", json!({})).await;
        assert_eq!(*seen(&answer), expected);
        // All of them with keys that were read once.
        assert_eq!(issuer.read(), 1);
    }
}

/// AUTH-S-09: whatever is wrong, it is the same answer, and nobody is asked twice about it.
#[tokio::test]
async fn every_bad_token_gets_the_same_answer() {
    let (issuer, other) = (Issuer::start().await, Issuer::start().await);
    let server = running(&issuer).await;
    let here = server.url();
    let good = issuer.token(&here, &json!({}));
    seen(&who(&server, &good).await);
    let forged = other.token(&here, &json!({"iss": issuer.url}));
    let mut answers = Vec::new();
    for bad in [
        "opaque".to_owned(),
        good[..good.len() - 1].to_owned(),
        other.token(&here, &json!({})),
        forged,
        issuer.token("https://elsewhere.example", &json!({})),
        issuer.token(&format!("{here}/"), &json!({})),
        issuer.token(&here, &json!({"exp": now() - 31})),
        issuer.token(&here, &json!({"nbf": now() + 60})),
        issuer.token(&here, &json!({"cnf": {"jkt": "x"}})),
    ] {
        let answer = who(&server, &bad).await;
        let challenge = answer.header("www-authenticate").to_owned();
        answers.push((answer.status, challenge, answer.text));
    }
    let metadata = server.metadata_url();
    let challenge = format!(r#"Bearer error="invalid_token", resource_metadata="{metadata}""#);
    assert_eq!(answers[0].0, 401);
    assert_eq!(answers[0].1, challenge);
    assert!(
        answers.iter().all(|answer| *answer == answers[0]),
        "{answers:?}"
    );
    assert_eq!(other.read(), 0);
}

#[tokio::test]
async fn only_the_algorithms_that_are_wanted() {
    let issuer = Issuer::start().await;
    let server = running_with(&issuer, |it| it.algorithms([Algorithm::ES256])).await;
    let token = issuer.token(&server.url(), &json!({}));
    assert_eq!(who(&server, &token).await.status, 401);
    // Nothing that could not be good has anybody read keys.
    assert_eq!(issuer.read(), 0);
}

/// A new key is found when it is first used, and one that was withdrawn is good for nothing; but nobody
/// can have the issuer asked all the time.
#[tokio::test]
async fn keys_rotate() {
    let issuer = Issuer::start().await;
    let server = running(&issuer).await;
    let old = issuer.token(&server.url(), &json!({}));
    seen(&who(&server, &old).await);
    issuer.rotate("second");
    seen(&who(&server, &old).await);
    assert_eq!(issuer.read(), 1, "as long as it is not known");
    let new = issuer.token(&server.url(), &json!({}));
    seen(&who(&server, &new).await);
    assert_eq!(issuer.read(), 2);
    assert_eq!(who(&server, &old).await.status, 401);
    for n in 0..20 {
        issuer.rotate(&format!("made up {n}"));
        let token = issuer.token(&server.url(), &json!({}));
        assert_eq!(who(&server, &token).await.status, 401);
    }
    assert_eq!(issuer.read(), 2);
}

/// While the keys cannot be read nobody is let in, and nobody is told that a token is bad.
#[tokio::test]
async fn an_issuer_that_is_down() {
    let issuer = Issuer::start().await;
    let server = running(&issuer).await;
    let token = issuer.token(&server.url(), &json!({}));
    issuer.set_down(true);
    for _ in 0..5 {
        let answer = who(&server, &token).await;
        assert_eq!(answer.status, 503, "{}", answer.text);
        assert_eq!(answer.header("www-authenticate"), "");
        assert_eq!(answer.header("retry-after"), "1");
        assert!(!answer.text.contains(&issuer.url), "{}", answer.text);
    }
    assert_eq!(issuer.read(), 1, "not each time");
    issuer.set_down(false);
    tokio::time::sleep(std::time::Duration::from_millis(2100)).await;
    seen(&who(&server, &token).await);
    // With keys in hand it may be down.
    issuer.set_down(true);
    seen(&who(&server, &token).await);
}

/// To the letter: metadata of somebody else is none.
#[tokio::test]
async fn metadata_of_another_issuer_is_not_believed() {
    let issuer = Issuer::start().await;
    issuer.pose_as(&format!("{}/", issuer.url));
    let server = running(&issuer).await;
    let token = issuer.token(&server.url(), &json!({}));
    assert_eq!(who(&server, &token).await.status, 503);
    assert_eq!(issuer.read(), 0);
    // Where the keys are named, it says nothing.
    let keys = format!("{}/keys", issuer.url);
    let server = running_with(&issuer, |it| it.jwks_url(keys)).await;
    let token = issuer.token(&server.url(), &json!({}));
    seen(&who(&server, &token).await);
}

/// Keys do not come from where anybody could change them, whoever says that they are there.
#[tokio::test]
async fn keys_come_over_https() {
    let (log, _guard) = Log::of_everything();
    let issuer = Issuer::start().await;
    issuer.keep_keys_at("http://keys.example/keys");
    let server = running(&issuer).await;
    let token = issuer.token(&server.url(), &json!({}));
    assert_eq!(who(&server, &token).await.status, 503);
    let text = log.text();
    assert!(
        text.contains("http://keys.example/keys is not asked"),
        "{text}"
    );
}
