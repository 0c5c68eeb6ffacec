//! How a client is known, and what it gets tokens for.

use std::sync::atomic::Ordering;

use antiphon::{
    Http,
    client::oauth::{Algorithm, IdentityProvider, OAuth, Registration, Secret, SigningKey},
};
use ring::signature::{ECDSA_P256_SHA256_FIXED, KeyPair};
use serde_json::json;

use crate::{
    BACK,
    authority::{How, Rules},
    client, connect, desk,
    guarded::Manners,
    person, refused, says, start, usual,
};

const DOCUMENT: &str = "https://desk.example/client.json";

/// A key for signatures, and what checks them.
pub(crate) fn signing_key() -> (String, How) {
    let key = rcgen::KeyPair::generate().expect("a key");
    let pem = key.serialize_pem();
    let random = ring::rand::SystemRandom::new();
    let pair = ring::signature::EcdsaKeyPair::from_pkcs8(
        &ring::signature::ECDSA_P256_SHA256_FIXED_SIGNING,
        key.serialized_der(),
        &random,
    );
    let point = pair.expect("a key").public_key().as_ref().to_vec();
    (pem, How::Key(&ECDSA_P256_SHA256_FIXED, point))
}

fn signs(pem: &str) -> SigningKey {
    let key = SigningKey::from_pem(pem, Algorithm::Es256);
    key.expect("a key").key_id("k1")
}

/// AUTH-C-13, AUTH-C-14, AUTH-C-19, AUTH-C-20: by what is configured, then by a document, then on
/// the way.
#[tokio::test]
async fn the_best_way_to_be_known_is_used() {
    for (configured, document, reads, takes, known_as) in [
        (true, true, true, true, Some("desk")),
        (true, false, false, false, Some("desk")),
        (false, true, true, true, Some(DOCUMENT)),
        (false, true, true, false, Some(DOCUMENT)),
        (false, true, false, true, Some("client-0")),
        (false, false, true, true, Some("client-0")),
        (false, true, false, false, None),
        (false, false, false, false, None),
    ] {
        let mut metadata = json!({ "client_id_metadata_document_supported": reads });
        if !takes {
            metadata["registration_endpoint"] = json!(null);
        }
        let rules = Rules {
            metadata,
            ..Rules::default()
        };
        let (authority, guarded) = start(rules, Manners::default()).await;
        authority.know("desk", How::Public, BACK);
        let mut oauth = desk();
        if configured {
            oauth = oauth.registered(authority.issuer(), Registration::public("desk"));
        }
        if document {
            oauth = oauth.client_metadata(DOCUMENT);
        }
        let connected = connect(&guarded, oauth).await;
        let visits = authority.seen("/authorize");
        let id = visits.first().map(|seen| &*seen.params["client_id"]);
        assert_eq!(id, known_as);
        match known_as {
            Some(_) => drop(connected.expect("let in")),
            None => {
                let text = refused(connected);
                assert!(text.contains("does not know this client"), "{text}");
            }
        }
    }
}

/// Nobody registers who was told not to.
#[tokio::test]
async fn one_may_refrain_from_registering() {
    let (authority, guarded) = usual().await;
    let text = refused(connect(&guarded, desk().no_registration()).await);
    assert!(text.contains("does not know this client"), "{text}");
    assert_eq!(authority.seen("/register").len(), 0);
}

/// AUTH-C-15, AUTH-C-17: the id is the URL, and it has to be one that can be read.
#[tokio::test]
async fn a_document_is_at_a_safe_place() {
    let rules = || Rules {
        metadata: json!({ "client_id_metadata_document_supported": true }),
        ..Rules::default()
    };
    for (url, is_good) in [
        ("https://desk.example/client.json", true),
        ("http://desk.example/client.json", false),
        ("https://desk.example", false),
        ("https://desk.example/", false),
        ("desk", false),
        ("https://desk.example/client.json#a", false),
        ("https://a:canary@desk.example/client.json", false),
    ] {
        let (authority, guarded) = start(rules(), Manners::default()).await;
        let connected = connect(&guarded, desk().client_metadata(url)).await;
        assert_eq!(connected.is_ok(), is_good, "{url}");
        if !is_good {
            let text = refused(connected);
            assert!(text.contains("https") && !text.contains("canary"), "{text}");
            assert_eq!(authority.visits(), 0);
        }
    }
}

/// AUTH-C-23, AUTH-C-24: why a registration was refused is told.
#[tokio::test]
async fn a_refused_registration_is_told() {
    for (said, words) in [
        (
            json!({ "error": "invalid_redirect_uri", "error_description": "no\u{1b}[31m apps" }),
            "no\\u{1b}[31m apps (invalid_redirect_uri)",
        ),
        (
            json!({ "error": "invalid_client_metadata" }),
            "invalid_client_metadata",
        ),
        (json!("<html>"), "400"),
    ] {
        let rules = Rules {
            registers_not: Some(said),
            ..Rules::default()
        };
        let (authority, guarded) = start(rules, Manners::default()).await;
        let text = refused(connect(&guarded, desk()).await);
        assert!(text.contains(words), "{text}");
        assert!(text.contains("registering with"), "{text}");
        assert_eq!(authority.visits(), 0);
    }
}

/// AUTH-C-18, AUTH-C-19: passwords as the authorization server wants them, and signatures.
#[tokio::test]
async fn clients_prove_who_they_are() {
    let (pem, key) = signing_key();
    let secret = "canary: s&c=ret/+%".to_owned();
    for (how, methods, client) in [
        (How::Public, json!(["none"]), Registration::public("desk 1")),
        (
            How::Basic(secret.clone()),
            json!(["client_secret_post", "client_secret_basic"]),
            Registration::with_secret("desk 1", &*secret),
        ),
        // RFC 8414, 2: what is meant if nothing is said.
        (
            How::Basic(secret.clone()),
            json!(null),
            Registration::with_secret("desk 1", &*secret),
        ),
        (
            How::Post(secret.clone()),
            json!(["client_secret_post"]),
            Registration::with_secret("desk 1", &*secret),
        ),
        (
            key,
            json!(["private_key_jwt"]),
            Registration::with_key("desk 1", signs(&pem)),
        ),
    ] {
        let rules = Rules {
            metadata: json!({ "token_endpoint_auth_methods_supported": methods }),
            ..Rules::default()
        };
        let (authority, guarded) = start(rules, Manners::default()).await;
        authority.know("desk 1", how, BACK);
        let (back, count) = person();
        let oauth = OAuth::new("Desk", back).registered(authority.issuer(), client);
        let connection = connect(&guarded, oauth).await.expect("let in");
        says(&connection, "whoami").await.expect("text");
        // And so they do to renew a token.
        authority.expire();
        says(&connection, "whoami").await.expect("text");
        assert_eq!(authority.asked("refresh_token").len(), 1);
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }
}

/// A password that came with a registration is used, and kept with it.
#[tokio::test]
async fn a_registration_may_bring_a_password() {
    let rules = Rules {
        metadata: json!({ "token_endpoint_auth_methods_supported": ["client_secret_basic"] }),
        ..Rules::default()
    };
    let (authority, guarded) = start(rules, Manners::default()).await;
    let http = Http::new(guarded.url()).oauth(desk());
    client().connect(http.clone()).await.expect("let in");
    http.sign_out().await.expect("a store");
    client().connect(http).await.expect("let in");
    assert_eq!(authority.seen("/register").len(), 1);
    let asked = authority.asked("authorization_code");
    assert_eq!(asked.len(), 2);
    for asked in asked {
        assert!(asked.headers.contains_key("authorization"));
    }
}

/// The program as a party of its own, with every proof there is. AUTH-C-33, AUTH-C-51.
#[tokio::test]
async fn programs_sign_in_themselves() {
    let (pem, key) = signing_key();
    for (how, client) in [
        (
            How::Basic("canary".into()),
            Registration::with_secret("robot", "canary"),
        ),
        (key, Registration::with_key("robot", signs(&pem))),
    ] {
        let rules = Rules {
            renews: false,
            metadata: json!({ "scopes_supported": ["offline_access"] }),
            ..Rules::default()
        };
        let manners = Manners {
            scopes: vec!["read"],
            ..Manners::default()
        };
        let (authority, guarded) = start(rules, manners).await;
        authority.know("robot", how, BACK);
        let oauth = OAuth::client_credentials(authority.issuer(), client);
        let connection = connect(&guarded, oauth).await.expect("let in");
        assert_eq!(
            says(&connection, "whoami").await.expect("text"),
            "robot: read"
        );
        let asked = authority.asked("client_credentials");
        assert_eq!(asked[0].params["resource"], guarded.url());
        assert_eq!(asked[0].params["scope"], "read", "nobody is ever offline");
        // There is nothing to renew it with, so another is asked for.
        authority.expire();
        says(&connection, "whoami").await.expect("text");
        assert_eq!(authority.asked("client_credentials").len(), 2);
        assert_eq!(authority.visits(), 0);
    }
}

/// A platform vouches for its program, to one authorization server alone.
#[tokio::test]
async fn platforms_vouch_for_programs() {
    let (authority, guarded) = usual().await;
    authority.know("robot", How::Public, BACK);
    authority.trust("assertion-canary", "job-7");
    let oauth = |issuer: String| {
        OAuth::workload(issuer, Registration::public("robot"), || async {
            Ok(Secret::new("assertion-canary"))
        })
    };
    let connection = connect(&guarded, oauth(authority.issuer())).await;
    let connection = connection.expect("let in");
    assert_eq!(says(&connection, "whoami").await.expect("text"), "job-7: ");
    let asked = authority.asked("urn:ietf:params:oauth:grant-type:jwt-bearer");
    assert_eq!(asked[0].params["resource"], guarded.url());
    assert_eq!(asked[0].params["client_id"], "robot");
    let before = authority.paths().len();
    let text = refused(connect(&guarded, oauth("https://other.example".into())).await);
    assert!(text.contains("https://other.example only"), "{text}");
    assert_eq!(
        authority.seen("/token").len(),
        1,
        "{:?}",
        &authority.paths()[before..]
    );
    let fails = OAuth::workload(
        authority.issuer(),
        Registration::public("robot"),
        || async { Err("the platform is down".into()) },
    );
    let text = refused(connect(&guarded, fails).await);
    assert!(text.contains("the platform is down"), "{text}");
}

/// An identity provider vouches for a person, to one authorization server alone.
#[tokio::test]
async fn enterprises_vouch_for_people() {
    let (authority, guarded) = usual().await;
    authority.know("desk", How::Basic("canary".into()), BACK);
    authority.trust("id-token-canary", "grace");
    let provider = || {
        let endpoint = format!("{}/token", authority.issuer());
        IdentityProvider::new(endpoint, "desk-at-idp", || async {
            Ok(Secret::new("id-token-canary"))
        })
    };
    let desk = || Registration::with_secret("desk", "canary");
    let oauth = OAuth::enterprise(authority.issuer(), desk(), provider());
    let connection = connect(&guarded, oauth).await.expect("let in");
    assert_eq!(says(&connection, "whoami").await.expect("text"), "grace: ");
    let exchanged = authority.asked("urn:ietf:params:oauth:grant-type:token-exchange");
    assert_eq!(exchanged[0].params["resource"], guarded.url());
    assert_eq!(exchanged[0].params["client_id"], "desk-at-idp");
    // The password is not for the provider.
    assert!(!exchanged[0].headers.contains_key("authorization"));
    assert_eq!(authority.visits(), 0);

    let other = OAuth::enterprise("https://other.example", desk(), provider());
    let text = refused(connect(&guarded, other).await);
    assert!(text.contains("https://other.example only"), "{text}");
    assert_eq!(
        authority.seen("/token").len(),
        2,
        "nothing is asked of the provider"
    );
    // What the provider gives is that, or nothing.
    authority.rules().token =
        json!({ "issued_token_type": "urn:ietf:params:oauth:token-type:access_token" });
    let oauth = OAuth::enterprise(authority.issuer(), desk(), provider());
    let text = refused(connect(&guarded, oauth).await);
    assert!(text.contains("identity provider"), "{text}");
    assert_eq!(
        authority
            .asked("urn:ietf:params:oauth:grant-type:jwt-bearer")
            .len(),
        1
    );
}

/// AUTH-C-10, AUTH-C-11, AUTH-C-25 to AUTH-C-27, AUTH-C-47: another authorization server knows
/// nothing of what this one gave.
#[tokio::test]
async fn a_server_may_move_to_another_authorization_server() {
    let (first, guarded) = usual().await;
    let second = crate::Authority::start(Rules::default()).await;
    let (back, count) = person();
    let oauth = OAuth::new("Desk", back);
    let connection = connect(&guarded, oauth).await.expect("let in");
    says(&connection, "whoami").await.expect("text");
    guarded.moves_to(&second);
    says(&connection, "whoami").await.expect("text");
    assert_eq!(count.load(Ordering::SeqCst), 2);
    assert_eq!(second.seen("/register").len(), 1, "it registers anew");
    assert_eq!(first.asked("refresh_token").len(), 0);
    let text = format!("{:?}", second.seen("/token"));
    let ours = second.secrets();
    for secret in first
        .secrets()
        .iter()
        .filter(|secret| !ours.contains(secret))
    {
        assert!(!text.contains(&**secret), "{text}");
    }
    let moved = desk().registered(first.issuer(), Registration::with_secret("desk", "canary"));
    let text = refused(connect(&guarded, moved).await);
    assert!(
        text.contains(&second.issuer()) && text.contains(&first.issuer()),
        "{text}"
    );
    assert_eq!(second.visits(), 1);
    assert!(!format!("{:?}", second.seen("/token")).contains("canary\""));
}

/// AUTH-C-14: a document is as good anywhere.
#[tokio::test]
async fn documents_carry_over() {
    let rules = || Rules {
        metadata: json!({ "client_id_metadata_document_supported": true }),
        ..Rules::default()
    };
    let (first, guarded) = start(rules(), Manners::default()).await;
    let second = crate::Authority::start(rules()).await;
    let connection = connect(&guarded, desk().client_metadata(DOCUMENT)).await;
    let connection = connection.expect("let in");
    guarded.moves_to(&second);
    says(&connection, "whoami").await.expect("text");
    for authority in [first, second] {
        assert_eq!(
            authority.seen("/authorize")[0].params["client_id"],
            DOCUMENT
        );
        assert_eq!(authority.seen("/register").len(), 0);
    }
}

/// Of several authorization servers it is the one that knows this client.
#[tokio::test]
async fn the_authorization_server_that_knows_us_is_chosen() {
    let (authority, guarded) = usual().await;
    guarded.manners().metadata =
        json!({ "authorization_servers": ["https://a.example", authority.issuer()] });
    authority.know("desk", How::Public, BACK);
    let oauth = desk().registered(authority.issuer(), Registration::public("desk"));
    let connection = connect(&guarded, oauth).await.expect("let in");
    says(&connection, "whoami").await.expect("text");
}
