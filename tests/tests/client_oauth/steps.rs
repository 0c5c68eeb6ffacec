//! Scopes: what is asked for first, and more of it later.

use std::{collections::HashMap, sync::atomic::Ordering};

use antiphon::{
    Http,
    client::{Era, oauth::OAuth},
    types::Version,
};
use serde_json::json;

use crate::{
    ERAS,
    authority::Rules,
    client, connect, desk,
    guarded::{HERE, Manners},
    person, refused, says, start, usual,
};

fn needs(all: &[(&'static str, &'static str)]) -> Manners {
    Manners {
        needs: HashMap::from_iter(all.iter().copied()),
        ..Manners::default()
    }
}

/// AUTH-C-28 to AUTH-C-31, AUTH-C-50: which scopes are asked for first.
#[tokio::test]
async fn the_first_scopes_are_those_of_the_challenge() {
    let offered = json!({ "scopes_supported": ["b", "c"] });
    let lasting = json!({ "scopes_supported": ["offline_access"] });
    for (challenged, offered, configured, lasting, asked) in [
        (vec!["a"], &offered, &[][..], &json!({}), Some("a")),
        (vec!["a"], &offered, &["d"], &json!({}), Some("a d")),
        (vec![], &offered, &[], &json!({}), Some("b c")),
        (vec![], &offered, &["d"], &json!({}), Some("d")),
        (vec![], &json!({}), &[], &json!({}), None),
        (vec!["a"], &offered, &[], &lasting, Some("a offline_access")),
        (vec![], &json!({}), &[], &lasting, None),
        // What is no scope is nothing that could be asked for, or shown.
        (
            vec![],
            &json!({ "scopes_supported": ["b", "\u{1b}[2J", "", "x y", "\u{202e}", "q\"", "c"] }),
            &[],
            &json!({}),
            Some("b c"),
        ),
    ] {
        let manners = Manners {
            scopes: challenged,
            metadata: offered.clone(),
            ..Manners::default()
        };
        let rules = Rules {
            metadata: lasting.clone(),
            ..Rules::default()
        };
        let (authority, guarded) = start(rules, manners).await;
        let oauth = desk().scopes(configured.iter().copied());
        connect(&guarded, oauth).await.expect("let in");
        let params = &authority.seen("/authorize")[0].params;
        assert_eq!(params.get("scope").map(String::as_str), asked);
        assert!(!params.contains_key("prompt"));
    }
    // Somebody may not want tokens that last.
    let rules = Rules {
        metadata: lasting,
        ..Rules::default()
    };
    let manners = Manners {
        scopes: vec!["a"],
        ..Manners::default()
    };
    let (authority, guarded) = start(rules, manners).await;
    connect(&guarded, desk().no_offline_access())
        .await
        .expect("let in");
    assert_eq!(authority.seen("/authorize")[0].params["scope"], "a");
}

/// AUTH-C-29, AUTH-C-32, AUTH-C-33: more is asked for, on top of what there is; in the middle of
/// a call that asks, too.
#[tokio::test]
async fn more_is_asked_for_when_it_is_needed() {
    for era in ERAS {
        let mut manners = needs(&[("write", "w"), ("order", "w buy")]);
        manners.scopes = vec!["r"];
        let (authority, guarded) = start(Rules::default(), manners).await;
        let (back, count) = person();
        let http = Http::new(guarded.url()).oauth(OAuth::new("Desk", back));
        let connection = client().era(era).connect(http).await.expect("let in");
        assert_eq!(says(&connection, "whoami").await.expect("text"), "ada: r");
        assert_eq!(says(&connection, "write").await.expect("text"), "ada: r w");
        let said = says(&connection, "order").await.expect("text");
        assert_eq!(said, "ada: first second", "{era:?}");
        assert_eq!(
            says(&connection, "whoami").await.expect("text"),
            "ada: buy r w"
        );
        assert_eq!(count.load(Ordering::SeqCst), 3);
        let visits = authority.seen("/authorize");
        let scopes: Vec<_> = visits.iter().map(|seen| &*seen.params["scope"]).collect();
        assert_eq!(scopes, ["r", "r w", "r w buy"], "{era:?}");
        connection.close().await;
    }
}

/// Rounds that need more than the first did: nothing that was answered is lost.
#[tokio::test]
async fn a_call_that_asks_goes_on_after_a_step_up() {
    for era in [
        Era::Pinned(Version::LATEST),
        Era::Pinned(Version::V2025_11_25),
    ] {
        let (authority, guarded) = usual().await;
        let (back, count) = person();
        let raised = guarded.clone();
        let client = antiphon::Client::new("desk", "1.0")
            .era(era)
            .on_form(move |form| {
                // From now on it needs more.
                raised.manners().needs.insert("order", "buy");
                async move { form.accept(json!({ "word": if form.message == "A word?" { "first" } else { "second" } })) }
            });
        let http = Http::new(guarded.url()).oauth(OAuth::new("Desk", back));
        let connection = client.connect(http).await.expect("let in");
        assert_eq!(
            says(&connection, "order").await.expect("text"),
            "ada: first second"
        );
        let steps = match era {
            // There the answers are messages of their own, which need nothing more.
            Era::Pinned(version) if !version.is_modern() => 0,
            _ => 1,
        };
        assert_eq!(count.load(Ordering::SeqCst), 1 + steps, "{era:?}");
        assert_eq!(authority.visits(), 1 + steps);
        connection.close().await;
    }
}

/// AUTH-C-34: a server that wants more of what it was given is not asked for ever.
#[tokio::test]
async fn steps_are_counted() {
    for (era, rules) in [
        (Era::Auto, Rules::default()),
        (
            Era::Auto,
            Rules {
                token: json!({ "scope": null }),
                ..Rules::default()
            },
        ),
        (Era::Legacy, Rules::default()),
        (
            Era::Legacy,
            Rules {
                token: json!({ "scope": null }),
                ..Rules::default()
            },
        ),
    ] {
        let says_what_it_gives = rules.token == json!({});
        let (_authority, guarded) = start(rules, Manners::default()).await;
        let (back, count) = person();
        let http = Http::new(guarded.url()).oauth(OAuth::new("Desk", back));
        let connection = client().era(era).connect(http).await.expect("let in");
        let place = format!(r#"resource_metadata="{}{HERE}""#, guarded.origin());
        let never = format!(r#"Bearer error="insufficient_scope", scope="w", {place}"#);
        for _ in 0..3 {
            guarded.manners().refuses = vec![(403, never.clone()); 9].into();
            let text = refused(says(&connection, "write").await);
            assert!(
                text.contains("scope") || text.contains("wants more"),
                "{text}"
            );
        }
        guarded.manners().refuses.clear();
        let steps = if says_what_it_gives { 1 } else { 2 };
        assert_eq!(count.load(Ordering::SeqCst), 1 + steps, "{era:?}");
        says(&connection, "whoami")
            .await
            .expect("it is fine otherwise");
        connection.close().await;
    }
}

/// AUTH-C-34: steps of one operation are none of another's; and what worked is no failure.
#[tokio::test]
async fn steps_that_lead_somewhere_do_not_count() {
    for era in [Era::Auto, Era::Legacy] {
        let manners = needs(&[
            ("whoami", "a"),
            ("write", "b"),
            ("erase", "c"),
            ("order", "d"),
        ]);
        let rules = Rules {
            token: json!({ "scope": null }),
            ..Rules::default()
        };
        let (authority, guarded) = start(rules, manners).await;
        let http = Http::new(guarded.url()).oauth(desk());
        let connection = client().era(era).connect(http).await.expect("let in");
        for tool in ["whoami", "write", "erase", "order"] {
            says(&connection, tool).await.expect(tool);
        }
        assert_eq!(authority.visits(), 5);
        // Its tokens are soon worth less again.
        for number in 0..3 {
            guarded
                .manners()
                .needs
                .insert("write", ["e", "f", "g"][number]);
            says(&connection, "write").await.expect("text");
        }
        assert_eq!(authority.visits(), 8);
        connection.close().await;
    }
}

/// AUTH-C-33: programs step up as well.
#[tokio::test]
async fn programs_step_up_too() {
    use crate::authority::How;
    use antiphon::client::oauth::Registration;
    let (authority, guarded) = start(Rules::default(), needs(&[("write", "w")])).await;
    authority.know("robot", How::Basic("canary".into()), crate::BACK);
    let client = Registration::with_secret("robot", "canary");
    let oauth = OAuth::client_credentials(authority.issuer(), client);
    let connection = connect(&guarded, oauth).await.expect("let in");
    assert_eq!(says(&connection, "write").await.expect("text"), "robot: w");
}

/// A 403 that says nothing of scopes is none that a token could help with.
#[tokio::test]
async fn a_plain_no_is_a_no() {
    let (authority, guarded) = usual().await;
    let connection = connect(&guarded, desk()).await.expect("let in");
    for challenge in ["Bearer", r#"Bearer error="access_denied""#, "Basic realm=x"] {
        guarded.refuse(403, challenge);
        refused(says(&connection, "whoami").await);
    }
    assert_eq!(authority.visits(), 1);
    says(&connection, "whoami").await.expect("text");
}
