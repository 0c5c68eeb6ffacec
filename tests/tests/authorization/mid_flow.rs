//! Calls of several rounds, and tokens that change between them.

use std::{future::Future, pin::Pin};

use antiphon::{
    auth::{Principal, Protected, Refusal, Verifier, jwt::JwtVerifier},
    http::service,
};
use antiphon_tests::{
    asking::{retry, state_of},
    call,
    older_http::{Older, text},
};
use serde_json::{Value, json};

use crate::{
    Running,
    files::{self, Done},
    issuer::Issuer,
};

/// Tokens of either.
struct Either(JwtVerifier, JwtVerifier);

impl Verifier for Either {
    fn verify<'a>(
        &'a self,
        token: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<Principal, Refusal>> + Send + 'a>> {
        Box::pin(async move {
            match self.0.verify(token).await {
                Err(Refusal::Invalid(_)) => self.1.verify(token).await,
                verdict => verdict,
            }
        })
    }
}

async fn running(one: &Issuer, two: &Issuer) -> (Running, Done) {
    let done = Done::default();
    let server = Running::start(|url| {
        let verifier = |issuer: &Issuer| JwtVerifier::new(&issuer.url, &url);
        let verifier = Either(verifier(one), verifier(two));
        let protected = Protected::new(&url, [&one.url, &two.url]);
        service(files::server(&done)).protected(protected, verifier)
    })
    .await;
    (server, done)
}

fn named(name: &str) -> Value {
    json!({"name": {"action": "accept", "content": {"name": name}}})
}

const SCOPE: &str = "files:write";

/// SEC-S-01, SEC-S-02: a state is of use only to the party that it was given to.
#[tokio::test]
async fn another_party_cannot_go_on() {
    let (one, two) = (Issuer::start().await, Issuer::start().await);
    let (server, done) = running(&one, &two).await;
    let here = server.url();
    let ada = || one.token(&here, &json!({"scope": SCOPE}));
    let first = call(1, "store", json!({}));
    let state = state_of(&server.post(&ada(), &first).await.last()["result"]);
    let again = retry(&first, &state, named("plan"));
    for (who, token) in [
        (
            "another user",
            one.token(&here, &json!({"scope": SCOPE, "sub": "eve"})),
        ),
        (
            "another client",
            one.token(&here, &json!({"scope": SCOPE, "client_id": "phone"})),
        ),
        (
            "another issuer's",
            two.token(&here, &json!({"scope": SCOPE})),
        ),
    ] {
        let answer = server.post(&token, &again).await;
        let error = &answer.last()["error"];
        assert_eq!((answer.status, answer.code()), (200, -32602), "{who}");
        assert_eq!(error["data"]["reason"], "invalid_request_state", "{who}");
        // The same party may well call for itself.
        let answer = server.post(&token, &first).await;
        assert_eq!(
            answer.last()["result"]["resultType"],
            "input_required",
            "{who}"
        );
    }
    assert_eq!(done.count(), 0);
    // And whoever was asked can: with a token that was issued since, as clients do.
    let answer = server.post(&ada(), &again).await;
    assert_eq!(text(answer.last()), "stored as plan");
    assert_eq!(done.count(), 1);
}

/// Scopes are judged in each round, and are no part of who calls: a call goes on with a token that
/// has more, and a round that was refused has used up nothing.
#[tokio::test]
async fn a_better_token_goes_on() {
    let done = Done::default();
    let server = Running::start(|url| files::protected(&url, &done)).await;
    let first = call(1, "store", json!({}));
    let state = state_of(&server.post("writer", &first).await.last()["result"]);
    let again = retry(&first, &state, named("plan"));
    for _ in 0..2 {
        assert_eq!(server.post("reader", &again).await.status, 403);
    }
    assert_eq!(done.count(), 0);
    let answer = server.post("root", &again).await;
    assert_eq!(text(answer.last()), "stored as plan");
    // What is needed depends on the answer: the handler has begun, and the state was claimed.
    let first = call(2, "move", json!({}));
    let state = state_of(&server.post("writer", &first).await.last()["result"]);
    let again = retry(&first, &state, named("/etc"));
    for _ in 0..2 {
        let answer = server.post("writer", &again).await;
        assert_eq!(answer.status, 403, "{}", answer.text);
        let challenge = answer.header("www-authenticate");
        let all = r#"scope="files:read files:write files:root""#;
        assert!(challenge.contains(all), "{challenge}");
    }
    assert_eq!(done.count(), 1);
    let answer = server.post("root", &again).await;
    assert_eq!(text(answer.last()), "moved to /etc");
    assert_eq!(done.count(), 2);
    // Done is done: the answer is repeated, and nothing else.
    let answer = server.post("root", &again).await;
    assert_eq!(text(answer.last()), "moved to /etc");
    assert_eq!(done.count(), 2);
}

/// SEC-S-04: a session is its opener's, whatever others know of it.
#[tokio::test]
async fn an_older_session_is_its_openers() {
    let (one, two) = (Issuer::start().await, Issuer::start().await);
    let (server, done) = running(&one, &two).await;
    let here = server.url();
    let ada = one.token(&here, &json!({"scope": SCOPE}));
    let client = Older::new(server.address, "2025-11-25").token(&ada);
    let client = client.opened().await;
    let mut events = client.streamed(1, "store", json!({})).await;
    let question = events.message().await.data;
    for (who, token) in [
        (
            "another user",
            one.token(&here, &json!({"scope": SCOPE, "sub": "eve"})),
        ),
        (
            "another client",
            one.token(&here, &json!({"scope": SCOPE, "client_id": "phone"})),
        ),
        (
            "another issuer's",
            two.token(&here, &json!({"scope": SCOPE})),
        ),
    ] {
        let mut other = client.clone();
        other.token = Some(token);
        let answer = other.answer(&question, named("evil")["name"].clone()).await;
        assert_eq!(answer.status, 404, "{who}");
        assert_eq!(other.call(2, "who", json!({})).await.status, 404, "{who}");
        assert_eq!(other.delete().await, 404, "{who}");
    }
    assert_eq!(done.count(), 0);
    // A token that was issued since, with other scopes, is of the same party.
    let mut same = client.clone();
    same.token = Some(one.token(&here, &json!({"scope": "files:read"})));
    let answer = same.answer(&question, named("plan")["name"].clone()).await;
    assert_eq!(answer.status, 202);
    assert_eq!(text(&events.message().await.data), "stored as plan");
    assert_eq!(done.count(), 1);
}
