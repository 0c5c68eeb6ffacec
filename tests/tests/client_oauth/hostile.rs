//! Servers that want more than they should get.

use antiphon::{
    Http,
    client::oauth::{OAuth, Registration},
};
use antiphon_tests::socket::Socket;
use serde_json::json;

use crate::{
    BACK,
    authority::{How, METADATA, Rules},
    client, connect, desk,
    guarded::Manners,
    refused, says, start, usual,
};

/// What a server was told in confidence it may repeat; we do not.
#[tokio::test]
async fn what_is_repeated_is_not_told() {
    let (authority, guarded) = usual().await;
    let secret = "s3cret-canary";
    authority.know("desk", How::Post(secret.into()), BACK);
    authority.rules().metadata =
        json!({ "token_endpoint_auth_methods_supported": ["client_secret_post"] });
    let echo = r#"{"error":"invalid_grant","error_description":"$code$ $code_verifier$ $client_secret$ $refresh_token$ is bad"}"#;
    authority.rules().gives_not = Some((400, echo.to_owned()));
    let client = Registration::with_secret("desk", secret);
    let oauth = || desk().registered(authority.issuer(), client.clone());
    let text = refused(connect(&guarded, oauth()).await);
    assert!(text.contains("is bad (invalid_grant)"), "{text}");
    assert!(!text.contains("canary"), "{text}");
    let verifier = &authority.asked("authorization_code")[0].params["code_verifier"];
    assert!(!text.contains(&**verifier), "{text}");
}

/// A token endpoint that leads elsewhere is not followed, nor is metadata to another origin.
#[tokio::test]
async fn nobody_is_led_elsewhere() {
    for path in ["/token", "/register", METADATA] {
        let (authority, guarded) = usual().await;
        let elsewhere = Socket::bind().await;
        authority.rules().leads = Some((path, format!("{}{path}", elsewhere.origin())));
        let text = refused(connect(&guarded, desk()).await);
        assert!(text.contains("307"), "{text}");
        assert!(elsewhere.is_quiet().await, "{path}");
    }
}

/// A token goes to the server that it is for, wherever that leads.
#[tokio::test]
async fn tokens_stay_with_their_server() {
    let (_authority, guarded) = usual().await;
    let elsewhere = Socket::bind().await;
    let connection = connect(&guarded, desk()).await.expect("let in");
    guarded.lead_to(format!("{}/mcp", elsewhere.origin()));
    let error = says(&connection, "whoami").await.expect_err("not followed");
    assert!(error.to_string().contains("same origin"), "{error}");
    assert!(elsewhere.is_quiet().await);
}

/// AUTH-B-05: no token travels in the open to another machine.
#[tokio::test]
async fn nobody_signs_in_to_send_tokens_in_the_open() {
    let http = Http::new("http://shop.example/mcp")
        .no_proxy()
        .oauth(desk());
    for error in [
        client().connect(http.clone()).await.expect_err("refused"),
        http.sign_in(&[]).await.expect_err("refused"),
    ] {
        assert!(error.to_string().contains("without encryption"), "{error}");
    }
}

/// Answers that are none.
#[tokio::test]
async fn what_is_no_token_is_refused() {
    for (token, words) in [
        (json!({ "access_token": null }), "holds no token"),
        (json!({ "access_token": "" }), "empty"),
        (
            json!({ "access_token": "canary\r\nx: y" }),
            "cannot be sent",
        ),
        (json!({ "access_token": "canary\u{e9}" }), "cannot be sent"),
        (json!({ "access_token": ["canary"] }), "holds no token"),
        (json!({ "pad": "x".repeat(70_000) }), "longer than"),
    ] {
        let rules = Rules {
            token,
            ..Rules::default()
        };
        let (_authority, guarded) = start(rules, Manners::default()).await;
        let text = refused(connect(&guarded, desk()).await);
        assert!(text.contains(words), "{words}: {text}");
        assert!(!text.contains("canary"), "{text}");
        assert!(guarded.asked().iter().all(|asked| asked.token().is_none()));
    }
}

/// What may be missing, or odd, in tokens.
#[tokio::test]
async fn tokens_may_say_little() {
    for token in [
        json!({ "token_type": null, "scope": null, "expires_in": null, "refresh_token": null }),
        json!({ "token_type": "bearer", "expires_in": "3600" }),
        json!({ "expires_in": -1 }),
        json!({ "expires_in": 1e300 }),
        json!({ "expires_in": u64::MAX }),
    ] {
        let rules = Rules {
            token: token.clone(),
            ..Rules::default()
        };
        let (authority, guarded) = start(rules, Manners::default()).await;
        let connection = connect(&guarded, desk()).await.expect("let in");
        for _ in 0..2 {
            let said = says(&connection, "whoami").await;
            said.unwrap_or_else(|error| panic!("{token}: {error}"));
        }
        assert_eq!(authority.visits(), 1);
    }
}

/// What an authorization server says does not reach a terminal as it is.
#[tokio::test]
async fn words_are_escaped() {
    let bad = "\u{1b}]0;evil\u{7}\u{9b}31m\u{202e}\n";
    let said = json!({ "error": format!("e{bad}"), "error_description": format!("d{bad}") });
    let (authority, guarded) = usual().await;
    authority.rules().gives_not = Some((400, said.to_string()));
    let harmless = |text: &str| {
        let is_bad = |c: char| c.is_control() || c == '\u{202e}';
        assert!(!text.contains(is_bad), "{text:?}");
    };
    let text = refused(connect(&guarded, desk()).await);
    assert!(text.contains("\\u{1b}]0;evil"), "{text}");
    harmless(&text);
    authority.rules().gives_not = None;
    authority.rules().registers_not = Some(said);
    harmless(&refused(connect(&guarded, desk()).await));
    authority.rules().registers_not = None;
    authority.rules().refuses = Some(("e\u{1b}", "d\u{1b}\u{202e}"));
    harmless(&refused(connect(&guarded, desk()).await));
    authority.rules().refuses = None;
    // And scopes that are none are not among what was given.
    authority.rules().token = json!({ "scope": format!("good {bad} \"quoted\"") });
    let http = Http::new(guarded.url()).oauth(desk());
    let signed_in = http.sign_in(&[]).await.expect("signed in");
    assert_eq!(signed_in.scopes, ["good"]);
}

/// AUTH-C-26, AUTH-C-27: a server that names another's authorization server does not get what this
/// one knows of the client.
#[tokio::test]
async fn passwords_go_to_their_issuer_alone() {
    let (ours, _) = usual().await;
    let (theirs, guarded) = usual().await;
    let client = Registration::with_secret("robot", "s3cret-canary");
    for oauth in [
        OAuth::client_credentials(ours.issuer(), client.clone()),
        desk().registered(ours.issuer(), client),
    ] {
        let text = refused(connect(&guarded, oauth).await);
        assert!(text.contains(&ours.issuer()), "{text}");
    }
    assert_eq!(theirs.paths(), [METADATA, METADATA]);
    assert_eq!(ours.paths(), [""; 0]);
}
