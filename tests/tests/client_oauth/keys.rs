//! Tokens that are good with a key alone (DPoP). Every proof here is verified, and used once.

use antiphon::{
    Http,
    client::oauth::{MemoryTokens, OAuth, TokenStore},
};
use serde_json::json;

use crate::{
    ERAS,
    authority::{How, Rules},
    client, connect, desk,
    guarded::Manners,
    refused, says, start,
};

fn bound(nonces: (Option<&'static str>, Option<&'static str>)) -> (Rules, Manners) {
    let rules = Rules {
        nonce: nonces.0,
        ..Rules::default()
    };
    let manners = Manners {
        bound: true,
        nonce: nonces.1,
        ..Manners::default()
    };
    (rules, manners)
}

/// As the server demands it, with what either server wants to see in proofs; renewed, and found
/// again in the store.
#[tokio::test]
async fn tokens_are_bound_where_the_server_demands_it() {
    for nonces in [
        (None, None),
        (Some("n-as"), None),
        (None, Some("n-rs")),
        (Some("a"), Some("b")),
    ] {
        for era in ERAS {
            let (rules, manners) = bound(nonces);
            let (authority, guarded) = start(rules, manners).await;
            let oauth = desk().store(MemoryTokens::new());
            let http = Http::new(guarded.url()).oauth(oauth);
            let connect = async || {
                client()
                    .era(era)
                    .connect(http.clone())
                    .await
                    .expect("let in")
            };
            let connection = connect().await;
            let said = says(&connection, "order").await.expect("text");
            assert_eq!(said, "ada: first second", "{nonces:?} {era:?}");
            authority.expire();
            says(&connection, "whoami").await.expect("text");
            // The first is told what it has to show.
            let asked = 1 + usize::from(nonces.0.is_some());
            assert_eq!(
                authority.asked("refresh_token").len(),
                asked,
                "{nonces:?} {era:?}"
            );
            connection.close().await;
            let connection = connect().await;
            says(&connection, "whoami").await.expect("text");
            assert_eq!(authority.visits(), 1, "{nonces:?} {era:?}");
            connection.close().await;
        }
    }
}

/// Requests that are on their way when a server wants something new in proofs all go on.
#[tokio::test]
async fn nonces_may_change_at_any_time() {
    let (rules, manners) = bound((Some("n0"), Some("n0")));
    let (authority, guarded) = start(rules, manners).await;
    let connection = connect(&guarded, desk()).await.expect("let in");
    for nonce in ["n1", "n2", "n3"] {
        guarded.manners().nonce = Some(nonce);
        let (a, b, c, d) = tokio::join!(
            says(&connection, "whoami"),
            says(&connection, "write"),
            says(&connection, "erase"),
            says(&connection, "whoami")
        );
        for said in [a, b, c, d] {
            assert_eq!(said.expect("text"), "ada: ");
        }
    }
    assert_eq!(authority.visits(), 1);
    assert_eq!(authority.asked("refresh_token").len(), 0);
}

/// A server that never is content with a proof is not shown others for ever.
#[tokio::test]
async fn nonces_do_not_go_round_in_circles() {
    let (rules, manners) = bound((None, None));
    let (authority, guarded) = start(rules, manners).await;
    let connection = connect(&guarded, desk()).await.expect("let in");
    let before = guarded.asked().len();
    guarded.manners().refuses = vec![(401, r#"DPoP error="use_dpop_nonce""#.to_owned()); 50].into();
    refused(says(&connection, "whoami").await);
    assert!(guarded.asked().len() - before < 20);
    assert!(authority.visits() <= 2);
}

/// As the server's metadata says, or as the caller wants it.
#[tokio::test]
async fn tokens_may_be_bound_from_the_start() {
    for (metadata, wants) in [
        (json!({ "dpop_bound_access_tokens_required": true }), false),
        (json!({}), true),
        (json!({ "dpop_bound_access_tokens_required": false }), false),
    ] {
        let is_bound = wants || metadata["dpop_bound_access_tokens_required"] == true;
        let (rules, mut manners) = bound((None, None));
        manners.metadata = metadata;
        manners.bound = is_bound;
        let (authority, guarded) = start(rules, manners).await;
        let oauth = if wants { desk().dpop() } else { desk() };
        let connection = connect(&guarded, oauth).await.expect("let in");
        says(&connection, "whoami").await.expect("text");
        let redeemed = authority.asked("authorization_code");
        assert_eq!(redeemed[0].headers.contains_key("dpop"), is_bound);
    }
}

/// Programs have keys, too.
#[tokio::test]
async fn programs_bind_their_tokens() {
    use antiphon::client::oauth::Registration;
    let (rules, manners) = bound((Some("a"), Some("b")));
    let (authority, guarded) = start(rules, manners).await;
    authority.know("robot", How::Basic("canary".into()), crate::BACK);
    let client = Registration::with_secret("robot", "canary");
    let oauth = OAuth::client_credentials(authority.issuer(), client);
    let connection = connect(&guarded, oauth).await.expect("let in");
    assert_eq!(says(&connection, "whoami").await.expect("text"), "robot: ");
}

/// A token is of the kind that was asked for, or it is not used.
#[tokio::test]
async fn tokens_of_another_kind_are_not_used() {
    for (wants, rules, words) in [
        (
            true,
            Rules {
                ignores_proofs: true,
                ..Rules::default()
            },
            "good without a key",
        ),
        (
            false,
            Rules {
                token: json!({ "token_type": "DPoP" }),
                ..Rules::default()
            },
            "no key was shown",
        ),
        (
            true,
            Rules {
                token: json!({ "token_type": "Bearer" }),
                ..Rules::default()
            },
            "good without a key",
        ),
        (
            false,
            Rules {
                token: json!({ "token_type": "mac\u{1b}" }),
                ..Rules::default()
            },
            "mac\\u{1b}",
        ),
        (
            true,
            Rules {
                metadata: json!({ "dpop_signing_alg_values_supported": ["RS256"] }),
                ..Rules::default()
            },
            "ES256",
        ),
    ] {
        let (_authority, guarded) = start(rules, Manners::default()).await;
        let oauth = if wants { desk().dpop() } else { desk() };
        let text = refused(connect(&guarded, oauth).await);
        assert!(text.contains(words), "{text}");
        assert!(guarded.asked().iter().all(|asked| asked.token().is_none()));
    }
}

/// Nor is one that is renewed into another kind.
#[tokio::test]
async fn a_bound_token_stays_bound() {
    let (rules, manners) = bound((None, None));
    let (authority, guarded) = start(rules, manners).await;
    let store = MemoryTokens::new();
    let connection = connect(&guarded, desk().store(store.clone()))
        .await
        .expect("let in");
    authority.expire();
    authority.rules().token = json!({ "token_type": "Bearer" });
    let text = refused(says(&connection, "whoami").await);
    assert!(text.contains("good without a key"), "{text}");
    let kept = store.load(&format!("tokens {}", guarded.url())).await;
    assert!(kept.expect("a store").is_some());
}
