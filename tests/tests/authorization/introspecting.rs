//! Tokens that only their issuer can read.

use std::time::Duration;

use antiphon::{
    auth::{Introspection, Protected},
    http::service,
};
use antiphon_tests::call;
use serde_json::{Value, json};

use crate::{
    Running,
    files::{self, Done},
    issuer::{Issuer, now},
};

async fn running(issuer: &Issuer, keep: Duration) -> Running {
    Running::start(|url| {
        let endpoint = format!("{}/introspect", issuer.url);
        let verifier = Introspection::new(endpoint, &url)
            .client("files server", "a:s3cret/+")
            .issuer(&issuer.url)
            .keep(keep);
        let protected = Protected::new(url, [&issuer.url]);
        service(files::server(&Done::default())).protected(protected, verifier)
    })
    .await
}

fn known(server: &Running) -> Value {
    json!({
        "active": true, "aud": [server.url()], "sub": "ada", "client_id": "desk",
        "scope": "files:read", "exp": now() + 300, "tenant": "north",
    })
}

async fn status(server: &Running, token: &str) -> u16 {
    server.post(token, &call(1, "who", json!({}))).await.status
}

#[tokio::test]
async fn its_issuer_says_who_calls() {
    let issuer = Issuer::start().await;
    let server = running(&issuer, Duration::ZERO).await;
    issuer.knows("opaque", known(&server));
    let answer = server.post("opaque", &call(1, "who", json!({}))).await;
    let expected = json!({
        "subject": "ada", "client": "desk", "issuer": issuer.url,
        "scopes": ["files:read"], "tenant": "north",
    });
    assert_eq!(answer.last()["result"]["structuredContent"], expected);
    // RFC 6749, section 2.3.1: both parts are encoded before they are joined.
    let (authorization, body) = issuer.introspected().remove(0);
    let basic = authorization.strip_prefix("Basic ").expect("basic");
    let basic = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, basic);
    assert_eq!(basic.as_deref(), Ok(&b"files+server:a%3As3cret%2F%2B"[..]));
    assert_eq!(body, "token=opaque&token_type_hint=access_token");
    let mut elsewhere = known(&server);
    elsewhere["aud"] = "https://elsewhere.example".into();
    issuer.knows("elsewhere", elsewhere);
    for bad in ["unknown", "elsewhere"] {
        assert_eq!(status(&server, bad).await, 401, "{bad}");
    }
}

/// Unless told otherwise a token is good no longer than its issuer says.
#[tokio::test]
async fn a_revoked_token_is_no_longer_good() {
    let issuer = Issuer::start().await;
    let server = running(&issuer, Duration::ZERO).await;
    issuer.knows("opaque", known(&server));
    assert_eq!(status(&server, "opaque").await, 200);
    issuer.knows("opaque", json!({"active": false}));
    assert_eq!(status(&server, "opaque").await, 401);
    assert_eq!(issuer.introspected().len(), 2);
}

/// Where it is remembered for a while, only that it is good, and never beyond its end.
#[tokio::test]
async fn good_tokens_may_be_remembered() {
    let issuer = Issuer::start().await;
    let server = running(&issuer, Duration::from_secs(30)).await;
    issuer.knows("opaque", known(&server));
    for _ in 0..5 {
        assert_eq!(status(&server, "opaque").await, 200);
    }
    assert_eq!(issuer.introspected().len(), 1);
    for _ in 0..2 {
        assert_eq!(status(&server, "unknown").await, 401);
    }
    assert_eq!(issuer.introspected().len(), 3);
    let mut short = known(&server);
    short["exp"] = (now() + 4).into();
    issuer.knows("short", short);
    assert_eq!(status(&server, "short").await, 200);
    tokio::time::sleep(Duration::from_millis(4100)).await;
    assert_eq!(status(&server, "short").await, 401);
}

#[tokio::test]
async fn an_issuer_that_cannot_be_asked() {
    let issuer = Issuer::start().await;
    let server = running(&issuer, Duration::ZERO).await;
    issuer.knows("opaque", known(&server));
    issuer.set_down(true);
    assert_eq!(status(&server, "opaque").await, 503);
    issuer.set_down(false);
    assert_eq!(status(&server, "opaque").await, 200);
}
