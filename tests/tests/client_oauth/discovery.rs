//! Who issues tokens, and how that is found out.

use antiphon::{
    Http,
    client::{Era, oauth::OAuth},
    types::Version,
};
use serde_json::{Value, json};

use crate::{
    authority::{METADATA, Rules},
    client, connect, desk,
    guarded::{HERE, Manners, ROOT},
    person, refused, says, start,
};

const OPEN_ID: &str = "/.well-known/openid-configuration";

/// AUTH-C-03, AUTH-C-04: where the challenge says, or else at the usual places.
#[tokio::test]
async fn metadata_of_the_server_is_found() {
    for (place, tells, tried) in [
        (HERE, true, &[HERE][..]),
        ("/elsewhere", true, &["/elsewhere"]),
        (HERE, false, &[HERE]),
        (ROOT, false, &[HERE, ROOT]),
    ] {
        let manners = Manners {
            place: Some(place),
            tells,
            ..Manners::default()
        };
        let (_authority, guarded) = start(Rules::default(), manners).await;
        let connection = connect(&guarded, desk()).await.expect("let in");
        says(&connection, "whoami").await.expect("text");
        let asked = guarded.asked();
        let gets = asked.iter().filter(|asked| asked.verb == "GET");
        let paths: Vec<_> = gets.map(|asked| &*asked.path).collect();
        assert_eq!(paths, tried);
    }
}

/// AUTH-C-05, AUTH-S-02, AUTH-B-05, SEC-C-01, SEC-C-03: whom a server may name.
#[tokio::test]
async fn what_a_server_says_of_itself_is_checked() {
    for (metadata, words) in [
        (json!({ "resource": "http://other.example/mcp" }), "about"),
        (
            json!({ "authorization_servers": [] }),
            "names no authorization server",
        ),
        (
            json!({ "authorization_servers": null }),
            "names no authorization server",
        ),
        (
            json!({ "authorization_servers": ["http://as.example"] }),
            "must be https",
        ),
        (
            json!({ "authorization_servers": ["file:///etc/passwd"] }),
            "http",
        ),
        (
            json!({ "authorization_servers": ["https://a:canary@as.example"] }),
            "password",
        ),
        (
            json!({ "authorization_servers": ["https://as.example/?canary"] }),
            "query",
        ),
        (
            json!({ "authorization_servers": ["https://as.example/\u{202e}canary"] }),
            "ASCII",
        ),
        (
            json!({ "authorization_servers": ["\u{1b}[2J"] }),
            "\\u{1b}[2J",
        ),
    ] {
        let manners = Manners {
            metadata,
            ..Manners::default()
        };
        let (authority, guarded) = start(Rules::default(), manners).await;
        let (back, count) = person();
        let text = refused(connect(&guarded, OAuth::new("Desk", back)).await);
        assert!(text.contains(words), "{words}: {text}");
        assert!(
            !text.contains('\u{1b}') && !text.contains('\u{202e}'),
            "{text:?}"
        );
        assert_eq!(authority.paths(), [""; 0]);
        assert_eq!(count.load(std::sync::atomic::Ordering::SeqCst), 0);
    }
}

/// AUTH-C-06 to AUTH-C-08, LAUTH-C-01: the first place that says anything.
#[tokio::test]
async fn metadata_of_the_authorization_server_is_found() {
    const PLACES: [&str; 3] = [
        "/.well-known/oauth-authorization-server/t1",
        "/.well-known/openid-configuration/t1",
        "/t1/.well-known/openid-configuration",
    ];
    for (path, all) in [("", &[METADATA, OPEN_ID][..]), ("/t1", &PLACES)] {
        for count in 1..=all.len() {
            let rules = Rules {
                path,
                places: vec![all[count - 1]],
                ..Rules::default()
            };
            let (authority, guarded) = start(rules, Manners::default()).await;
            connect(&guarded, desk()).await.expect("let in");
            let paths = authority.paths();
            assert_eq!(paths[..count], all[..count]);
            assert_eq!(paths[count], format!("{path}/register"));
        }
        let rules = Rules {
            path,
            places: Vec::new(),
            ..Rules::default()
        };
        let (authority, guarded) = start(rules, Manners::default()).await;
        let text = refused(connect(&guarded, desk()).await);
        assert!(text.contains("publishes nothing"), "{text}");
        assert_eq!(authority.paths(), all);
    }
}

/// AUTH-C-09, AUTH-C-52, AUTH-C-54, AUTH-B-05, SEC-C-01: what an authorization server must say.
#[tokio::test]
async fn what_an_authorization_server_says_is_checked() {
    for (metadata, words) in [
        (json!({ "issuer": "https://evil.example" }), "spelled alike"),
        (json!({ "issuer": "$/" }), "spelled alike"),
        (json!({ "code_challenge_methods_supported": null }), "PKCE"),
        (
            json!({ "code_challenge_methods_supported": ["plain"] }),
            "PKCE",
        ),
        (
            json!({ "authorization_endpoint": null }),
            "no authorization endpoint",
        ),
        (
            json!({ "authorization_endpoint": "javascript:alert(1)" }),
            "not used",
        ),
        (
            json!({ "authorization_endpoint": "http://as.example/a" }),
            "must be https",
        ),
        (
            json!({ "authorization_endpoint": "https://as.example/a#b" }),
            "not used",
        ),
        (
            json!({ "authorization_endpoint": "https://as.example/\"&calc" }),
            "not used",
        ),
        (
            json!({ "authorization_endpoint": "https://as.example/\u{202e}a" }),
            "not used",
        ),
        (
            json!({ "token_endpoint": "http://as.example/t" }),
            "must be https",
        ),
        (
            json!({ "registration_endpoint": "http://as.example/t" }),
            "must be https",
        ),
    ] {
        for place in [METADATA, OPEN_ID] {
            let rules = Rules {
                places: vec![place],
                ..Rules::default()
            };
            let (authority, guarded) = start(rules, Manners::default()).await;
            let mut metadata = metadata.clone();
            if metadata["issuer"] == "$/" {
                metadata["issuer"] = format!("{}/", authority.issuer()).into();
            }
            authority.rules().metadata = metadata;
            let text = refused(connect(&guarded, desk()).await);
            assert!(text.contains(words), "{words}: {text}");
            assert!(!text.contains('\u{202e}'), "{text:?}");
            assert_eq!(
                (authority.visits(), authority.seen("/register").len()),
                (0, 0)
            );
        }
    }
}

/// An authorization server that is ill is not one that does not exist.
#[tokio::test]
async fn what_fails_for_now_is_told_as_that() {
    let (authority, guarded) = start(Rules::default(), Manners::default()).await;
    for status in [500, 503, 429] {
        authority.rules().status = Some(status);
        let text = refused(connect(&guarded, desk()).await);
        assert!(text.contains(&status.to_string()), "{text}");
        assert!(!text.contains("publishes nothing"), "{text}");
    }
    authority.rules().status = None;
    authority.rules().metadata = json!({ "issuer": "x".repeat(70_000) });
    let text = refused(connect(&guarded, desk()).await);
    assert!(text.contains("longer than 65536"), "{text}");
}

/// The server of an origin that is its own authorization server.
async fn own(places: Vec<&'static str>, metadata: Value) -> (crate::Authority, crate::Guarded) {
    let manners = Manners {
        place: None,
        tells: false,
        is_authority: true,
        ..Manners::default()
    };
    let rules = Rules {
        places,
        metadata,
        ..Rules::default()
    };
    let (authority, guarded) = start(rules, manners).await;
    authority.rules().origin = Some(guarded.origin());
    (authority, guarded)
}

/// LAUTH-C-02 to LAUTH-C-05, LAUTH-B-02: as the revision 2025-03-26 had it, with and without
/// metadata; tokens are renewed there, too.
#[tokio::test]
async fn an_origin_may_be_its_own_authorization_server() {
    for places in [vec![METADATA], vec![]] {
        let (authority, guarded) = own(places, json!({})).await;
        let store = antiphon::client::oauth::MemoryTokens::new();
        let (back, count) = person();
        let oauth = OAuth::new("Desk", back).store(store);
        let http = Http::new(guarded.url()).oauth(oauth);
        let connection = client().era(Era::Pinned(Version::V2025_03_26));
        let connection = connection.connect(http.clone()).await.expect("let in");
        says(&connection, "whoami").await.expect("text");
        // LAUTH-C-04
        let headers = &authority.seen(METADATA)[0].headers;
        assert_eq!(headers["mcp-protocol-version"], "2025-03-26");
        assert_eq!(
            authority.seen("/authorize")[0].params["resource"],
            guarded.url()
        );

        authority.expire();
        says(&connection, "whoami").await.expect("text");
        assert_eq!(authority.asked("refresh_token").len(), 1);
        // And by whoever has what was stored, and nothing else.
        authority.expire();
        let connection = client().connect(http).await.expect("let in");
        says(&connection, "whoami").await.expect("text");
        assert_eq!(authority.asked("refresh_token").len(), 2);
        assert_eq!(count.load(std::sync::atomic::Ordering::SeqCst), 1);
    }
}

/// LAUTH-C-05: only if that is allowed, and there is really nothing else.
#[tokio::test]
async fn an_origin_is_not_taken_for_its_own_at_once() {
    let (authority, guarded) = own(vec![METADATA], json!({})).await;
    let text = refused(connect(&guarded, desk().no_older_discovery()).await);
    assert!(text.contains("404"), "{text}");
    assert_eq!(authority.paths(), [""; 0]);
    // What is there and ill is not gone.
    for status in [500, 503, 429] {
        guarded.manners().status = Some(status);
        let text = refused(connect(&guarded, desk()).await);
        assert!(text.contains(&status.to_string()), "{text}");
        assert_eq!(authority.paths(), [""; 0]);
    }
    // Nor what the server says is there.
    guarded.manners().status = None;
    guarded.refuse(
        401,
        format!(
            r#"Bearer resource_metadata="{}{ROOT}/gone""#,
            guarded.origin()
        ),
    );
    let text = refused(connect(&guarded, desk()).await);
    assert!(text.contains("/gone"), "{text}");
    assert_eq!(authority.paths(), [""; 0]);
    // What is published there is of that origin.
    let (authority, guarded) =
        own(vec![METADATA], json!({ "issuer": "https://evil.example" })).await;
    let text = refused(connect(&guarded, desk()).await);
    assert!(text.contains("evil.example"), "{text}");
    assert_eq!(authority.visits(), 0);
}
