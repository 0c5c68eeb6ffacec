//! What must never be written anywhere: tokens, secrets, and what tokens say of people.

use antiphon::{
    auth::{Introspection, Protected, Verifier, jwt::JwtVerifier},
    http::service,
};
use antiphon_tests::{call, log::Log};
use serde_json::json;

use crate::{
    Running,
    files::{self, Done},
    issuer::{Issuer, now},
};

const SECRET: &str = "canary-secret";
const OPAQUE: &str = "canary-opaque";
const CLAIM: &str = "canary-claim";
const SUBJECT: &str = "canary-subject";

/// All of it at `TRACE`, with everything that may go wrong.
#[tokio::test]
async fn nothing_of_a_token_is_written() {
    let (log, _guard) = Log::of_everything();
    let issuer = Issuer::start().await;
    let mut hidden: Vec<String> = [SECRET, OPAQUE, CLAIM, SUBJECT].map(String::from).into();
    let mut shown = Vec::new();

    let signed = Running::start(|url| {
        let verifier = JwtVerifier::new(&issuer.url, &url);
        shown.push(format!("{verifier:?}"));
        let protected = Protected::new(url, [&issuer.url]);
        let service = service(files::server(&Done::default())).protected(protected, verifier);
        shown.push(format!("{service:?}"));
        service.require_scopes(["files:read"])
    })
    .await;
    let here = signed.url();
    let claims = |more: serde_json::Value| {
        let mut claims = json!({"scope": "files:read", "sub": SUBJECT, "email": CLAIM});
        for (name, value) in more.as_object().expect("an object") {
            claims[name] = value.clone();
        }
        claims
    };
    let good = issuer.token(&here, &claims(json!({})));
    let mut tokens = vec![
        good.clone(),
        good[..good.len() - 2].to_owned(),
        format!("{good}.{good}"),
        issuer.token(&here, &claims(json!({"exp": now() - 60}))),
        issuer.token(CLAIM, &claims(json!({}))),
        issuer.token(&here, &claims(json!({"iss": CLAIM}))),
        issuer.token(&here, &claims(json!({"scope": "canary-scope"}))),
        issuer.token(&here, &claims(json!({"cnf": {"jkt": CLAIM}}))),
    ];
    issuer.set_down(true);
    hidden.push("canary-scope".to_owned());
    let mut statuses = Vec::new();
    for token in &tokens {
        let answer = signed.post(token, &call(1, "write", json!({}))).await;
        shown.push(answer.text);
        shown.push(format!("{:?}", answer.headers));
        statuses.push(answer.status);
    }
    assert_eq!(statuses[0], 503, "no keys yet");
    issuer.set_down(false);
    tokio::time::sleep(std::time::Duration::from_millis(2100)).await;
    signed.post(&good, &call(1, "who", json!({}))).await;
    // One that names a key nobody knows.
    issuer.rotate(CLAIM);
    tokens.push(issuer.token(&here, &claims(json!({}))));
    issuer.rotate("third");
    for token in &tokens {
        let answer = signed.post(token, &call(1, "write", json!({}))).await;
        shown.push(answer.text);
        statuses.push(answer.status);
    }
    for status in [401, 403, 503] {
        assert!(statuses.contains(&status), "{statuses:?}");
    }
    for token in &tokens {
        hidden.extend(
            token
                .split('.')
                .filter(|part| part.len() > 8)
                .map(Into::into),
        );
    }

    let endpoint = format!("{}/introspect", issuer.url);
    let verifier = Introspection::new(endpoint, &here).client("files", SECRET);
    shown.push(format!("{verifier:?}"));
    let unknown = verifier.verify(OPAQUE).await.expect_err("not active");
    shown.push(format!("{unknown} {unknown:?}"));
    let known = json!({"active": true, "aud": here, "sub": SUBJECT, "email": CLAIM});
    issuer.knows(OPAQUE, known);
    let who = verifier.verify(OPAQUE).await.expect("let in");
    assert_eq!(who.claim::<String>("email").as_deref(), Some(CLAIM));
    issuer.set_down(true);
    let down = verifier.verify(OPAQUE).await.expect_err("down");
    shown.push(format!("{down} {down:?}"));
    hidden.extend(issuer.introspected().into_iter().map(|(basic, _)| basic));

    let text = log.text();
    assert!(text.contains("a bearer token was refused"), "{text}");
    assert!(text.contains("expired (exp)"), "{text}");
    assert!(text.contains("cannot be read"), "{text}");
    for hidden in &hidden {
        assert!(
            !hidden.is_empty() && !text.contains(hidden),
            "{hidden} in {text}"
        );
        for shown in &shown {
            assert!(!shown.contains(hidden), "{hidden} in {shown}");
        }
    }
}
