//! [`Introspection`]: tokens that only their issuer can read (RFC 7662).

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE},
};
use ring::{hmac, rand::SystemRandom};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::{
    Principal, Refusal, Verifier, is_safe,
    jwt::{self, Expected, Seconds, whole},
};
use crate::{schema::read_once, web};

/// No token is longer.
const LONGEST: usize = 16 * 1024;
/// What may be remembered at most, and for how long.
const MOST: usize = 10_000;
const LONGEST_KEPT: Duration = Duration::from_secs(30);

/// Asks the authorization server about each token (RFC 7662): for tokens that say nothing themselves, or
/// that must not be good any more once they are revoked.
///
/// ```
/// use antiphon::auth::Introspection;
///
/// let secret = std::env::var("INTROSPECTION_SECRET").unwrap_or_default();
/// let verifier = Introspection::new(
///     "https://auth.example.com/introspect",
///     "https://mcp.example.com/mcp", // the audience
/// )
/// .client("files-server", secret);
/// ```
///
/// A token is let in if it is `active` and for this audience (`aud`), and is neither expired nor bound to a
/// key. While the authorization server cannot be asked, requests are answered with `503`.
pub struct Introspection {
    endpoint: String,
    issuer: Option<String>,
    expected: Expected,
    any_audience: bool,
    authorization: Option<HeaderValue>,
    agent: web::Agent,
    keep: Duration,
    kept: Mutex<HashMap<[u8; 32], Kept>>,
    /// What is remembered is known by a digest under this key, and by nothing that could be used.
    key: Option<hmac::Key>,
}

struct Kept {
    principal: Principal,
    until: Instant,
}

impl Introspection {
    /// Asks at `endpoint`, for tokens that are for `audience`: mostly the URL of this server.
    ///
    /// # Panics
    /// If `endpoint` is no `https` URL (`http` on a loopback host): tokens are sent there.
    #[track_caller]
    pub fn new(endpoint: impl Into<String>, audience: impl Into<String>) -> Self {
        let endpoint = endpoint.into();
        if let Err(why) = is_safe(&endpoint) {
            panic!("tokens cannot be sent to {endpoint:?}: {why}");
        }
        Self {
            endpoint,
            issuer: None,
            expected: Expected {
                audiences: vec![audience.into()],
                leeway: 0,
            },
            any_audience: false,
            authorization: None,
            agent: web::Agent::new(web::Settings::default()),
            keep: Duration::ZERO,
            kept: Mutex::default(),
            key: hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).ok(),
        }
    }

    /// Who asks: the id and the secret that this server was given.
    pub fn client(mut self, id: &str, secret: impl AsRef<str>) -> Self {
        // RFC 6749, section 2.3.1
        let encoded =
            |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let both = format!("{}:{}", encoded(id), encoded(secret.as_ref()));
        let value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(both)));
        self.authorization = value.ok().map(|mut value| {
            value.set_sensitive(true);
            value
        });
        self
    }

    /// The issuer of the tokens: one that is said to be of another (`iss`) is refused.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Takes tokens for this audience too: another name of this server.
    pub fn accept_audience(mut self, audience: impl Into<String>) -> Self {
        self.expected.audiences.push(audience.into());
        self
    }

    /// Takes tokens whatever they are for. Right only where the authorization server tells this client of no
    /// others: else a token that somebody was given for another server is good here (AUTH-S-08).
    pub fn danger_accept_any_audience(mut self) -> Self {
        self.any_audience = true;
        self
    }

    /// Remembers for so long that a token is good, 30 seconds at most, and never beyond its end. Unless told,
    /// each request is asked about, and a token that is revoked is no longer good at once.
    pub fn keep(mut self, span: Duration) -> Self {
        self.keep = span.min(LONGEST_KEPT);
        self
    }

    async fn ask(&self, token: &str) -> Result<Principal, Refusal> {
        if token.len() > LONGEST {
            return Err(invalid("it is longer than any token"));
        }
        let digest = self.digest(token);
        if let Some(principal) = digest.and_then(|digest| self.remembered(&digest)) {
            return Ok(principal);
        }
        let claims = self.claims(token).await?;
        let now = jwt::now();
        let ends = claims.get("exp").and_then(Value::as_u64);
        let principal = self.judge_at(claims, now)?;
        if let Some(digest) = digest {
            let left = ends.map_or(self.keep, |ends| {
                Duration::from_secs(ends.saturating_sub(now))
            });
            self.remember(digest, &principal, left.min(self.keep));
        }
        Ok(principal)
    }

    /// What the authorization server says.
    async fn claims(&self, token: &str) -> Result<Map<String, Value>, Refusal> {
        let mut headers = HeaderMap::new();
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(CONTENT_TYPE, form);
        if let Some(authorization) = &self.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        let body = form_urlencoded::Serializer::new(String::new())
            .append_pair("token", token)
            .append_pair("token_type_hint", "access_token")
            .finish();
        let endpoint = &self.endpoint;
        let unavailable = |why: String| Refusal::Unavailable(format!("{endpoint}: {why}"));
        let answer = self.agent.post(endpoint, headers, Bytes::from(body)).await;
        let answer = answer.map_err(|error| unavailable(whole(&error)))?;
        if answer.status != StatusCode::OK {
            let hint = match answer.status {
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                    ": it does not know this server; see Introspection::client"
                }
                _ => "",
            };
            return Err(unavailable(format!(
                "answered with {}{hint}",
                answer.status
            )));
        }
        let text = std::str::from_utf8(&answer.body).ok();
        match text.and_then(|text| read_once(text).ok()) {
            Some((Value::Object(claims), doubled)) if doubled.is_empty() => Ok(claims),
            _ => Err(unavailable("answered with no JSON object".to_owned())),
        }
    }

    fn judge_at(&self, mut claims: Map<String, Value>, now: Seconds) -> Result<Principal, Refusal> {
        if claims.get("active") != Some(&Value::Bool(true)) {
            return Err(invalid("its issuer says that it is not active"));
        }
        let stated = match claims.get("iss") {
            None => None,
            Some(Value::String(issuer)) => Some(issuer.clone()),
            Some(_) => return Err(invalid("its issuer is no text (iss)")),
        };
        if let (Some(stated), Some(issuer)) = (&stated, &self.issuer)
            && stated != issuer
        {
            return Err(invalid("it is of another issuer (iss)"));
        }
        let expected = &self.expected;
        expected.check_times(&claims, now).map_err(invalid)?;
        if !self.any_audience {
            expected.check_audience(&claims).map_err(invalid)?;
        }
        jwt::is_bearer(&claims).map_err(invalid)?;
        if !claims.contains_key("sub")
            && let Some(name) = claims.get("username").cloned()
        {
            claims.insert("sub".to_owned(), name);
        }
        // The same in every answer, whether or not it says so each time.
        let issuer = self.issuer.clone().or(stated);
        let issuer = issuer.unwrap_or_else(|| self.endpoint.clone());
        jwt::principal(&issuer, claims).map_err(invalid)
    }

    fn digest(&self, token: &str) -> Option<[u8; 32]> {
        let key = self.key.as_ref().filter(|_| !self.keep.is_zero())?;
        hmac::sign(key, token.as_bytes()).as_ref().try_into().ok()
    }

    fn remembered(&self, digest: &[u8; 32]) -> Option<Principal> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let one = kept.get(digest)?;
        (Instant::now() < one.until).then(|| one.principal.clone())
    }

    fn remember(&self, digest: [u8; 32], principal: &Principal, span: Duration) {
        let now = Instant::now();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST {
            kept.retain(|_, one| now < one.until);
        }
        if kept.len() < MOST && !span.is_zero() {
            let principal = principal.clone();
            let until = now + span;
            kept.insert(digest, Kept { principal, until });
        }
    }
}

fn invalid(why: &str) -> Refusal {
    Refusal::Invalid(why.to_owned())
}

impl Verifier for Introspection {
    fn verify<'a>(
        &'a self,
        token: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<Principal, Refusal>> + Send + 'a>> {
        Box::pin(self.ask(token))
    }
}

/// Neither who asks, nor what is remembered.
impl fmt::Debug for Introspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Introspection")
            .field("endpoint", &self.endpoint)
            .field("issuer", &self.issuer)
            .field("audiences", &self.expected.audiences)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: Seconds = 1_800_000_000;

    fn verifier() -> Introspection {
        Introspection::new("https://a.example/introspect", "https://mcp.example/mcp")
    }

    fn judged(verifier: &Introspection, change: &Value) -> Result<Principal, String> {
        let mut claims = json!({
            "active": true,
            "aud": "https://mcp.example/mcp",
            "sub": "ada",
            "client_id": "desk",
            "scope": "a b",
            "exp": NOW + 60,
        });
        for (name, value) in change.as_object().expect("an object") {
            match value {
                Value::Null => _ = claims.as_object_mut().expect("an object").remove(name),
                value => claims[name] = value.clone(),
            }
        }
        let Value::Object(claims) = claims else {
            unreachable!("an object")
        };
        match verifier.judge_at(claims, NOW) {
            Ok(principal) => Ok(principal),
            Err(Refusal::Invalid(why)) => Err(why),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn what_its_issuer_says_decides() {
        let ada = judged(&verifier(), &json!({})).expect("let in");
        assert_eq!(
            ada,
            Principal::subject("ada")
                .through("desk")
                .issued_by("https://a.example/introspect")
        );
        assert!(ada.scopes.iter().eq(["a", "b"]));
        let named = judged(&verifier(), &json!({"sub": null, "username": "bob"}));
        assert_eq!(named.expect("let in").subject.as_deref(), Some("bob"));
        judged(&verifier(), &json!({"exp": null})).expect("its end need not be told");
        for (change, why) in [
            (json!({"active": false}), "not active"),
            (json!({"active": "true"}), "not active"),
            (json!({"active": 1}), "not active"),
            (json!({"active": null}), "not active"),
            (json!({"aud": null}), "for whom"),
            (json!({"aud": "https://mcp.example"}), "somebody else"),
            (json!({"aud": ["https://other.example"]}), "somebody else"),
            (json!({"exp": NOW}), "expired"),
            (json!({"exp": "soon"}), "no time"),
            (json!({"nbf": NOW + 1}), "not valid yet"),
            (json!({"cnf": {"jkt": "x"}}), "bound to a key"),
            (json!({"sub": 7}), "not a text"),
            (json!({"iss": 7}), "no text"),
            (json!({"sub": null, "client_id": null}), "neither"),
        ] {
            let refused = judged(&verifier(), &change).expect_err(why);
            assert!(refused.contains(why), "{change}: {refused}");
        }
    }

    #[test]
    fn the_issuer_and_the_audience_as_they_are_configured() {
        let strict = verifier().issuer("https://a.example");
        let silent = judged(&strict, &json!({})).expect("it need not be told");
        assert_eq!(silent.issuer.as_deref(), Some("https://a.example"));
        let told = judged(&strict, &json!({"iss": "https://a.example"})).expect("let in");
        assert_eq!(told, silent);
        judged(&strict, &json!({"iss": "https://a.example/"})).expect_err("another issuer");
        let any = verifier().danger_accept_any_audience();
        judged(&any, &json!({"aud": null})).expect("as was said");
        let two = verifier().accept_audience("files");
        judged(&two, &json!({"aud": ["x", "files"]})).expect("let in");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_remembered_is_forgotten() {
        let short = verifier();
        assert!(short.digest("token").is_none(), "nothing is, unless told");
        let verifier = verifier().keep(Duration::from_secs(3600));
        let (ada, digest) = (Principal::subject("ada"), verifier.digest("token"));
        let digest = digest.expect("a digest");
        assert_ne!(
            Some(digest),
            self::verifier().keep(LONGEST_KEPT).digest("token")
        );
        verifier.remember(digest, &ada, verifier.keep);
        assert_eq!(verifier.remembered(&digest), Some(ada.clone()));
        tokio::time::advance(LONGEST_KEPT).await;
        assert_eq!(verifier.remembered(&digest), None);
        for n in 0..=MOST {
            let digest = verifier.digest(&n.to_string()).expect("a digest");
            verifier.remember(digest, &ada, verifier.keep);
        }
        let held = || verifier.kept.lock().expect("not poisoned").len();
        assert_eq!(held(), MOST);
        verifier.remember(digest, &ada, verifier.keep);
        assert_eq!((held(), verifier.remembered(&digest)), (MOST, None));
    }
}
