//! Nothing secret is in what a program shows, logs, tells or stores of a call.

use antiphon::{
    Client, Http, Kind,
    client::{
        CallTool, Error, Outcome,
        oauth::{
            Algorithm, Callback, IdentityProvider, Loopback, MemoryTokens, OAuth, Registration,
            Secret, SigningKey, TokenFiles, TokenStore,
        },
    },
};
use antiphon_tests::log::Log;
use serde_json::json;

use crate::{
    BACK,
    authority::{Authority, How, Rules},
    desk,
    grants::signing_key,
    guarded::{Guarded, Manners},
    says, start, told,
};

/// All that was shown.
#[derive(Default)]
struct Shown(String);

impl Shown {
    fn show(&mut self, what: &impl std::fmt::Debug) {
        self.0 += &format!("{what:?}\n{what:#?}\n");
    }

    /// An error, with all that is behind it.
    fn tell(&mut self, error: &Error) {
        self.show(error);
        self.0 += &told(error);
        let mut source = std::error::Error::source(error);
        while let Some(error) = source {
            self.show(&error);
            source = error.source();
        }
    }
}

/// One life of a connection: signing in, pausing, renewing, stepping up, and failing in many ways.
async fn live(authority: &Authority, guarded: &Guarded, oauth: OAuth, shown: &mut Shown) {
    let http = Http::new(guarded.url()).oauth(oauth);
    shown.show(&http);
    let signed_in = http.sign_in(&[]).await.expect("signed in");
    shown.show(&signed_in);
    let by_hand = Client::new("desk", "1.0").by_hand([Kind::Form]);
    let connection = by_hand.connect(http.clone()).await.expect("let in");
    shown.show(&connection);
    let call = CallTool::new("order", json!({}));
    let outcome = connection.start(call).await.expect("an outcome");
    shown.show(&outcome);
    let Outcome::Paused(paused) = outcome else {
        panic!("{outcome:?}");
    };
    shown.0 += &serde_json::to_string(&paused).expect("JSON");
    authority.expire();
    says(&connection, "whoami").await.expect("text");
    guarded.manners().needs.insert("write", "w");
    says(&connection, "write").await.expect("text");
    guarded.manners().needs.clear();
    let echo = r#"{"error":"invalid_request","error_description":"$code$ $refresh_token$ $client_secret$ $assertion$ $code_verifier$"}"#;
    for (status, said) in [(400, echo), (502, "<html>"), (200, "[]")] {
        authority.rules().gives_not = Some((status, said.to_owned()));
        authority.expire();
        let error = says(&connection, "whoami").await.expect_err("no token");
        shown.tell(&error);
        let error = http.sign_in(&[]).await.expect_err("no token");
        shown.tell(&error);
    }
    authority.rules().gives_not = None;
    authority.revoke();
    says(&connection, "whoami").await.expect("text");
    http.sign_out().await.expect("a store");
    connection.close().await;
}

/// AUTH-C-46, AUTH-C-48, AUTH-B-06
#[tokio::test]
async fn nothing_secret_is_shown() {
    let (log, _guard) = Log::of_everything();
    let (pem, key) = signing_key();
    let id = || Registration::with_secret("desk", "s3cret-canary");
    let signing = SigningKey::from_pem(&pem, Algorithm::Es256);
    let signing = signing.expect("a key").key_id("k1");
    let mut shown = Shown::default();
    let posts = json!({ "token_endpoint_auth_methods_supported": ["client_secret_post"] });
    for (kind, how, metadata) in [
        ("public", How::Public, json!({})),
        ("basic", How::Basic("s3cret-canary".into()), json!({})),
        ("post", How::Post("s3cret-canary".into()), posts),
        ("key", key, json!({})),
        ("bound", How::Public, json!({})),
        (
            "registered",
            How::Public,
            json!({ "token_endpoint_auth_methods_supported": ["client_secret_basic"] }),
        ),
        ("program", How::Basic("s3cret-canary".into()), json!({})),
        ("workload", How::Basic("s3cret-canary".into()), json!({})),
        ("enterprise", How::Basic("s3cret-canary".into()), json!({})),
    ] {
        let rules = Rules {
            metadata,
            ..Rules::default()
        };
        let (authority, guarded) = start(rules, Manners::default()).await;
        guarded.manners().bound = kind == "bound";
        authority.know("desk", how, BACK);
        authority.trust("assertion-canary", "job");
        let issuer = authority.issuer();
        let vouches = || async { Ok(Secret::new("assertion-canary")) };
        let provider = IdentityProvider::new(format!("{issuer}/token"), "idp", vouches);
        shown.show(&provider);
        let store = MemoryTokens::new();
        let oauth = match kind {
            "public" => desk().registered(issuer, Registration::public("desk")),
            "basic" | "post" => desk().registered(issuer, id()),
            "key" => desk().registered(issuer, Registration::with_key("desk", signing.clone())),
            "bound" => desk()
                .registered(issuer, Registration::public("desk"))
                .dpop(),
            "registered" => desk(),
            "program" => OAuth::client_credentials(issuer, id()),
            "workload" => OAuth::workload(issuer, id(), vouches),
            _ => OAuth::enterprise(issuer, id(), provider),
        };
        let oauth = oauth.store(store.clone());
        shown.show(&oauth);
        let before = log.text().len();
        live(&authority, &guarded, oauth, &mut shown).await;
        shown.show(&store);
        let logged = log.text().split_off(before);
        assert!(logged.contains("tools/call"), "the log is read: {logged}");
        let secrets = authority.secrets();
        assert!(secrets.len() > 5, "there is something to hide");
        for secret in &secrets {
            assert!(!logged.contains(&**secret), "{kind}: {secret} in {logged}");
            assert!(
                !shown.0.contains(&**secret),
                "{kind}: {secret} in {}",
                shown.0
            );
        }
        for text in [&logged, &shown.0] {
            assert!(!text.contains("canary"), "{kind}: {text}");
        }
    }
    // What has no life of its own.
    shown.show(&id());
    shown.show(&signing);
    shown.show(&Secret::new("s3cret-canary"));
    shown.show(&TokenFiles::in_folder("tokens"));
    shown.show(&Loopback::new());
    shown.show(&Callback::new(BACK, |_| async { Ok(String::new()) }));
    let store = MemoryTokens::new();
    let kept = store.save("key", &Secret::new("s3cret-canary")).await;
    kept.expect("kept");
    shown.show(&store);
    for bad in [
        &pem[..pem.len() / 2],
        &pem.replace("PRIVATE", "EC PRIVATE"),
        "canary",
    ] {
        let error = SigningKey::from_pem(bad, Algorithm::Rs256).expect_err("no key");
        shown.tell(&error);
    }
    let error = SigningKey::from_pem(&pem, Algorithm::Ps256).expect_err("no key");
    shown.tell(&error);
    assert!(!shown.0.contains("canary"), "{}", shown.0);
    let lines = pem.lines().filter(|line| !line.starts_with('-'));
    for line in lines {
        assert!(!shown.0.contains(line), "{}", shown.0);
        assert!(!log.text().contains(line));
    }
}
