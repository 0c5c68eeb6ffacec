//! What is asked of a token endpoint, and what it gives.

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use form_urlencoded::{Serializer, byte_serialize};
use http::{
    HeaderMap, HeaderValue, Method as HttpMethod,
    header::{AUTHORIZATION, CONTENT_TYPE},
};
use serde::Deserialize;
use serde_json::json;

use super::{
    Registration, Secret,
    discovery::{Issuer, Trust},
    dpop::{DPOP, Prover},
    failed::Failed,
    moment::now,
    pkce::random,
    registration::{Method, Proof},
    scopes::is_scope,
};
use crate::{
    excerpt::one_line,
    web::{Agent, Answer},
};

pub(super) const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// What an authorization server gave.
#[derive(Deserialize)]
pub(super) struct Tokens {
    pub(super) access_token: Secret,
    #[serde(default)]
    pub(super) token_type: String,
    #[serde(default)]
    pub(super) expires_in: Option<Seconds>,
    #[serde(default)]
    pub(super) refresh_token: Option<Secret>,
    #[serde(default)]
    pub(super) scope: Option<String>,
}

/// A number of seconds; some write it as text.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Seconds {
    Number(u64),
    Text(String),
    /// Anything else says nothing.
    Other(serde::de::IgnoredAny),
}

impl Seconds {
    fn count(&self) -> Option<u64> {
        match self {
            Self::Number(count) => Some(*count),
            Self::Text(text) => text.parse().ok(),
            Self::Other(_) => None,
        }
    }
}

impl Tokens {
    /// When the access token is no longer good, if that was said.
    pub(super) fn expires_at(&self) -> Option<u64> {
        let lasts = self.expires_in.as_ref().and_then(Seconds::count)?;
        Some(now().saturating_add(lasts))
    }

    /// What it allows, if that was said.
    pub(super) fn granted(&self) -> Option<Vec<String>> {
        let scopes = self.scope.as_deref()?.split_ascii_whitespace();
        Some(
            scopes
                .filter(|it| is_scope(it))
                .map(str::to_owned)
                .collect(),
        )
    }

    /// Whether it is good with its key alone.
    pub(super) fn is_bound(&self) -> bool {
        self.token_type.eq_ignore_ascii_case("dpop")
    }

    fn checked(self) -> Result<Self, Failed> {
        if self.access_token.reveal().is_empty() {
            return Err(Failed::new("it gave an empty access token"));
        }
        match self.token_type.to_ascii_lowercase().as_str() {
            "bearer" | "dpop" | "" => Ok(self),
            other => Err(Failed::new(format!(
                "it gave a token of the type {}, which is not known here",
                one_line(other.as_bytes())
            ))),
        }
    }
}

/// Who asks for tokens, and whom.
pub(super) struct Asking<'a> {
    pub(super) agent: &'a Agent,
    pub(super) issuer: &'a Issuer,
    pub(super) client: &'a Registration,
    pub(super) prover: Option<&'a Prover>,
    pub(super) trust: Trust,
}

impl Asking<'_> {
    /// Asks for tokens with these parameters.
    pub(super) async fn ask(&self, params: &[(&str, &str)]) -> Result<Tokens, Failed> {
        let about = format!("getting a token from {}", self.issuer.shown());
        let asked = self.exchange(params).await;
        asked.map_err(|failed| failed.during(&about))
    }

    async fn exchange(&self, params: &[(&str, &str)]) -> Result<Tokens, Failed> {
        let endpoint = self.issuer.token_endpoint()?;
        let (headers, body) = self.request(params)?;
        let mut answer = self.post(endpoint, &headers, &body).await?;
        // RFC 9449, 8: the server says what it wants to see in the proof.
        if let Some(prover) = self.prover {
            let uri = self.trust.endpoint(endpoint)?.uri;
            let is_told = prover.heard(&uri, &answer.headers);
            if is_told && code(&answer).as_deref() == Some("use_dpop_nonce") {
                answer = self.post(endpoint, &headers, &body).await?;
                prover.heard(&uri, &answer.headers);
            }
        }
        if !answer.status.is_success() {
            return Err(refusal(&answer, &self.secrets(params)));
        }
        // Whatever it holds may be secret, so nothing of it is told.
        let tokens = answer.json::<Tokens>();
        let tokens = tokens
            .map_err(|_| Failed::new("its answer holds no token"))?
            .checked()?;
        match (self.prover, tokens.is_bound()) {
            (Some(_), false) => Err(Failed::new(
                "it gave a token that is good without a key, and one that is not was wanted",
            )),
            (None, true) => Err(Failed::new(
                "it gave a token that is good with a key alone, and no key was shown to it",
            )),
            _ => Ok(tokens),
        }
    }

    /// What it is told, and should tell nobody.
    fn secrets<'a>(&'a self, params: &[(&'a str, &'a str)]) -> Vec<&'a str> {
        const SECRET: [&str; 4] = ["code", "code_verifier", "refresh_token", "assertion"];
        let params = params.iter().filter(|(name, _)| SECRET.contains(name));
        let mut secrets: Vec<_> = params.map(|(_, value)| *value).collect();
        if let Proof::Password(secret) = &self.client.proof {
            secrets.push(secret.reveal());
        }
        secrets
    }

    async fn post(
        &self,
        endpoint: &str,
        headers: &HeaderMap,
        body: &str,
    ) -> Result<Answer, Failed> {
        let mut headers = headers.clone();
        headers.insert(CONTENT_TYPE, FORM);
        if let Some(prover) = self.prover {
            let uri = self.trust.endpoint(endpoint)?.uri;
            let proof = prover.proof(&HttpMethod::POST, &uri, None);
            let proof = proof.map_err(|error| Failed::new("there is no proof").caused_by(error))?;
            headers.insert(DPOP, proof);
        }
        let body = Bytes::from(body.to_owned());
        Ok(self.agent.post(endpoint, headers, body).await?)
    }

    /// A request that says who is asking: its headers and its body.
    fn request(&self, params: &[(&str, &str)]) -> Result<(HeaderMap, String), Failed> {
        let mut headers = HeaderMap::new();
        let mut form = Serializer::new(String::new());
        form.extend_pairs(params);
        let id = self.client.id.as_str();
        match &self.client.proof {
            Proof::Password(secret) if self.client.method(self.issuer) == Method::Basic => {
                headers.insert(AUTHORIZATION, basic(id, secret)?);
            }
            Proof::Password(secret) => {
                form.append_pair("client_id", id);
                form.append_pair("client_secret", secret.reveal());
            }
            Proof::None => {
                form.append_pair("client_id", id);
            }
            Proof::Key(key) => {
                let now = now();
                let claims = json!({
                    "iss": id,
                    "sub": id,
                    "aud": self.issuer.issuer,
                    "jti": random()?,
                    "iat": now,
                    "exp": now + 300,
                });
                form.append_pair("client_id", id);
                form.append_pair("client_assertion_type", ASSERTION);
                form.append_pair("client_assertion", &key.sign(&claims)?);
            }
        }
        Ok((headers, form.finish()))
    }
}

const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");

/// RFC 6749, 2.3.1: both are encoded as in a form before they are joined.
fn basic(id: &str, secret: &Secret) -> Result<HeaderValue, Failed> {
    let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let joined = format!("{}:{}", encoded(id), encoded(secret.reveal()));
    let value = format!("Basic {}", STANDARD.encode(joined));
    let mut value = HeaderValue::try_from(value)
        .map_err(|error| Failed::new("the client's password cannot be sent").caused_by(error))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Asks an identity provider to vouch for its user at an authorization server (RFC 8693, with the
/// token type of the identity assertion grant).
pub(super) async fn exchange_identity(
    agent: &Agent,
    endpoint: &str,
    params: &[(&str, &str)],
) -> Result<Secret, Failed> {
    const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
    #[derive(Deserialize)]
    struct Issued {
        access_token: Secret,
        #[serde(default)]
        issued_token_type: Option<String>,
    }
    let about = "asking the identity provider";
    let fixed = [
        (
            "grant_type",
            "urn:ietf:params:oauth:grant-type:token-exchange",
        ),
        ("requested_token_type", ID_JAG),
        (
            "subject_token_type",
            "urn:ietf:params:oauth:token-type:id_token",
        ),
    ];
    let body = Serializer::new(String::new())
        .extend_pairs(fixed)
        .extend_pairs(params)
        .finish();
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, FORM)]);
    let answer = agent.post(endpoint, headers, body.into()).await;
    let answer = answer.map_err(|error| Failed::from(error).during(about))?;
    if !answer.status.is_success() {
        let secret = params.iter().find(|(name, _)| *name == "subject_token");
        let secret = secret.map(|(_, value)| *value);
        return Err(refusal(&answer, secret.as_slice()).during(about));
    }
    let issued: Issued = answer
        .json()
        .map_err(|_| Failed::new("its answer holds no token").during(about))?;
    // What is something else is for somebody else.
    match issued.issued_token_type.as_deref() {
        None | Some(ID_JAG) => Ok(issued.access_token),
        Some(other) => Err(Failed::new(format!(
            "it gave a token of the type {}, which vouches for nobody",
            one_line(other.as_bytes())
        ))
        .during(about)),
    }
}

/// What an authorization server says when it refuses (RFC 6749, 5.2).
#[derive(Deserialize)]
struct Refusal {
    error: String,
    #[serde(default)]
    error_description: Option<String>,
}

fn code(answer: &Answer) -> Option<String> {
    answer.json::<Refusal>().ok().map(|refusal| refusal.error)
}

/// Why it refused, without what it was told in confidence.
pub(super) fn refusal(answer: &Answer, secrets: &[&str]) -> Failed {
    let hidden = |text: &str| {
        let mut text = text.to_owned();
        for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
            text = text.replace(secret, "..");
        }
        one_line(text.as_bytes())
    };
    let Ok(refusal) = answer.json::<Refusal>() else {
        return Failed::new(format!("it answered {}", answer.status));
    };
    let code = hidden(&refusal.error);
    let mut failed = Failed::new(match refusal.error_description {
        Some(why) => format!("{} ({code})", hidden(&why)),
        None => format!("it answered {} with {code}", answer.status),
    });
    failed.code = Some(refusal.error);
    failed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_encoded_before_they_are_joined() {
        let header = basic("a:b", &Secret::new("p w/ü")).expect("a header");
        let text = header
            .to_str()
            .expect("ASCII")
            .strip_prefix("Basic ")
            .expect("basic");
        let text = STANDARD.decode(text).expect("base64");
        assert_eq!(text, b"a%3Ab:p+w%2F%C3%BC");
        assert!(!format!("{header:?}").contains("Basic"));
    }

    #[test]
    fn tokens_are_read_as_they_come() {
        let read = |text: &str| serde_json::from_str::<Tokens>(text).map(Tokens::checked);
        for (text, expires) in [
            (
                r#"{"access_token":"a","token_type":"Bearer","expires_in":60}"#,
                true,
            ),
            (
                r#"{"access_token":"a","token_type":"bearer","expires_in":"60"}"#,
                true,
            ),
            (
                r#"{"access_token":"a","token_type":"DPoP","expires_in":null}"#,
                false,
            ),
            (
                r#"{"access_token":"a","expires_in":-1,"scope":null}"#,
                false,
            ),
        ] {
            let tokens = read(text).expect(text).expect(text);
            assert_eq!(tokens.expires_at().is_some(), expires, "{text}");
        }
        assert!(
            read(r#"{"access_token":"","token_type":"Bearer"}"#)
                .expect("JSON")
                .is_err()
        );
        assert!(
            read(r#"{"access_token":"a","token_type":"mac"}"#)
                .expect("JSON")
                .is_err()
        );
        assert!(read(r#"{"token_type":"Bearer"}"#).is_err());
    }
}
