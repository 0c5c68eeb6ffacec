//! Bearer tokens: finding one, judging it, and asking for one (AUTH-S-12, AUTH-S-13).

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, StatusCode, header::AUTHORIZATION};

use crate::auth::{Principal, Refusal, Verifier, scopes::union};

/// The verifier and what the challenge says.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) verifier: Arc<dyn Verifier>,
    pub(crate) resource_metadata: Option<String>,
    pub(crate) scopes: Vec<String>,
    /// Scopes, and what whoever has one may do as well.
    pub(crate) implied: Vec<(String, Vec<String>)>,
}

/// A refusal as it goes out.
#[derive(Debug)]
pub(crate) struct Denied {
    pub(crate) status: StatusCode,
    pub(crate) challenge: Option<HeaderValue>,
    pub(crate) text: &'static str,
}

impl Gate {
    pub(crate) fn new(verifier: impl Verifier) -> Self {
        Self {
            verifier: Arc::new(verifier),
            resource_metadata: None,
            scopes: Vec::new(),
            implied: Vec::new(),
        }
    }

    /// Verifies the request's token and its scopes.
    pub(crate) async fn admit(&self, token: Result<String, NoToken>) -> Result<Principal, Denied> {
        let token = match token {
            Ok(token) => token,
            Err(NoToken::Absent) => {
                return Err(self.denied(
                    StatusCode::UNAUTHORIZED,
                    None,
                    "A bearer token is needed",
                ));
            }
            Err(NoToken::Malformed) => {
                let error = Some("invalid_request");
                let text = "Authorization must be one `Bearer` token";
                return Err(self.denied(StatusCode::BAD_REQUEST, error, text));
            }
        };
        let refusal = match self.verifier.verify(&token).await {
            Ok(mut principal) => {
                self.add_implied(&mut principal);
                let missing = self
                    .scopes
                    .iter()
                    .any(|scope| !principal.scopes.contains(scope));
                if !missing {
                    return Ok(principal);
                }
                Refusal::InsufficientScope(self.scopes.clone())
            }
            Err(refusal) => refusal,
        };
        tracing::info!(%refusal, "a bearer token was refused");
        Err(match refusal {
            Refusal::Invalid(_) => {
                let error = Some("invalid_token");
                self.denied(
                    StatusCode::UNAUTHORIZED,
                    error,
                    "The bearer token is not valid",
                )
            }
            Refusal::InsufficientScope(scopes) => {
                let error = Some("insufficient_scope");
                self.challenge(
                    StatusCode::FORBIDDEN,
                    error,
                    &union(&self.scopes, &scopes),
                    "The token lacks a scope",
                )
            }
            Refusal::Unavailable(_) => Denied {
                status: StatusCode::SERVICE_UNAVAILABLE,
                challenge: None,
                text: "The token could not be checked; try again",
            },
        })
    }

    /// Scopes that contain others grant these too (AUTH-S-16).
    fn add_implied(&self, principal: &mut Principal) {
        let mut before = usize::MAX;
        // What is implied may imply more.
        while !self.implied.is_empty() && principal.scopes.len() != before {
            before = principal.scopes.len();
            for (scope, implied) in &self.implied {
                if principal.scopes.contains(scope) {
                    principal.scopes.extend(implied.iter().cloned());
                }
            }
        }
    }

    /// The challenge for a caller whose token lacks scopes that one operation needs: with those that
    /// every request needs, since a token that has only the former would not do (AUTH-S-14).
    pub(crate) fn step_up(&self, scopes: &[String]) -> Option<HeaderValue> {
        let scopes = union(&self.scopes, scopes);
        let error = Some("insufficient_scope");
        let denied = self.challenge(StatusCode::FORBIDDEN, error, &scopes, "");
        denied.challenge
    }

    fn denied(&self, status: StatusCode, error: Option<&str>, text: &'static str) -> Denied {
        self.challenge(status, error, &self.scopes, text)
    }

    fn challenge(
        &self,
        status: StatusCode,
        error: Option<&str>,
        scopes: &[String],
        text: &'static str,
    ) -> Denied {
        let mut parts = Vec::new();
        if let Some(error) = error {
            parts.push(format!("error={}", quoted(error)));
        }
        // AUTH-S-17
        let asked = scopes.iter().filter(|scope| *scope != "offline_access");
        let asked: Vec<&str> = asked.map(String::as_str).collect();
        if !asked.is_empty() {
            parts.push(format!("scope={}", quoted(&asked.join(" "))));
        }
        if let Some(url) = &self.resource_metadata {
            parts.push(format!("resource_metadata={}", quoted(url)));
        }
        let challenge = match parts.is_empty() {
            true => "Bearer".to_owned(),
            false => format!("Bearer {}", parts.join(", ")),
        };
        Denied {
            status,
            challenge: HeaderValue::from_str(&challenge).ok(),
            text,
        }
    }
}

/// A quoted string of RFC 9110; what cannot stand in one is left out.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars().filter(|c| (' '..='~').contains(c)) {
        if matches!(character, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}

/// Why there is no token to verify.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoToken {
    Absent,
    Malformed,
}

/// The request's bearer token.
pub(crate) fn token(headers: &HeaderMap) -> Result<String, NoToken> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = match (values.next(), values.next()) {
        (None, _) => return Err(NoToken::Absent),
        (Some(value), None) => value.to_str().map_err(|_| NoToken::Malformed)?,
        _ => return Err(NoToken::Malformed),
    };
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    // Another scheme is not for us: as good as nothing.
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(NoToken::Absent);
    }
    let token = token.trim();
    if token.is_empty() || token.contains([' ', ',']) {
        return Err(NoToken::Malformed);
    }
    Ok(token.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::StaticTokens;

    fn gate() -> Gate {
        let tokens = StaticTokens::new()
            .token("good", Principal::subject("ada").scopes(["read", "write"]))
            .token("weak", Principal::subject("bob").scopes(["read"]));
        Gate {
            verifier: Arc::new(tokens),
            resource_metadata: Some("https://h/.well-known/x\"".into()),
            scopes: vec!["read".into(), "write".into()],
            implied: Vec::new(),
        }
    }

    async fn verdict(token: Result<&str, NoToken>) -> (u16, String) {
        match gate().admit(token.map(str::to_owned)).await {
            Ok(principal) => (200, principal.subject.expect("a subject")),
            Err(denied) => {
                let challenge = denied.challenge.expect("a challenge");
                (
                    denied.status.as_u16(),
                    challenge.to_str().expect("ASCII").to_owned(),
                )
            }
        }
    }

    /// AUTH-S-09, AUTH-S-12, AUTH-S-13, AUTH-S-14; RFC 6750 section 3.1: no error code when no
    /// token was sent.
    #[tokio::test]
    async fn challenges() {
        let rest = r#"scope="read write", resource_metadata="https://h/.well-known/x\"""#;
        assert_eq!(verdict(Ok("good")).await, (200, "ada".into()));
        assert_eq!(
            verdict(Err(NoToken::Absent)).await,
            (401, format!("Bearer {rest}"))
        );
        let invalid = format!(r#"Bearer error="invalid_token", {rest}"#);
        assert_eq!(verdict(Ok("bad")).await, (401, invalid));
        let scope = format!(r#"Bearer error="insufficient_scope", {rest}"#);
        assert_eq!(verdict(Ok("weak")).await, (403, scope));
        let malformed = format!(r#"Bearer error="invalid_request", {rest}"#);
        assert_eq!(verdict(Err(NoToken::Malformed)).await, (400, malformed));
    }

    /// AUTH-S-16
    #[tokio::test]
    async fn scopes_that_contain_others() {
        let tokens = StaticTokens::new()
            .token("root", Principal::subject("ada").scopes(["root"]))
            .token("read", Principal::subject("bob").scopes(["read"]));
        let mut gate = Gate::new(tokens);
        gate.scopes = vec!["write".into()];
        // In an order that takes two turns, and in a circle.
        gate.implied = vec![
            ("admin".into(), vec!["read".into(), "write".into()]),
            ("root".into(), vec!["admin".into()]),
            ("write".into(), vec!["root".into()]),
        ];
        let ada = gate.admit(Ok("root".into())).await.expect("let in");
        let all = ["admin", "read", "root", "write"];
        assert!(ada.scopes.iter().eq(all), "{:?}", ada.scopes);
        let denied = gate.admit(Ok("read".into())).await.expect_err("no");
        assert_eq!(denied.status, 403);
    }

    /// AUTH-S-14: what every request needs and what this one needs, in one challenge.
    #[test]
    fn a_step_up_names_everything() {
        let challenge = gate().step_up(&["admin".into(), "read".into(), "offline_access".into()]);
        let challenge = challenge.expect("a header");
        let challenge = challenge.to_str().expect("ASCII");
        let (error, rest) = challenge.split_once(", ").expect("two parts");
        assert_eq!(error, r#"Bearer error="insufficient_scope""#);
        assert!(rest.starts_with(r#"scope="read write admin", "#), "{rest}");
        assert!(rest.contains("resource_metadata="), "{rest}");
    }

    #[test]
    fn tokens_are_found() {
        for (value, expected) in [
            ("Bearer abc", Ok("abc")),
            ("bearer  abc ", Ok("abc")),
            ("Basic abc", Err(NoToken::Absent)),
            ("Negotiate", Err(NoToken::Absent)),
            ("Bearer", Err(NoToken::Malformed)),
            ("Bearer ", Err(NoToken::Malformed)),
            ("Bearer a b", Err(NoToken::Malformed)),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(
                AUTHORIZATION,
                HeaderValue::from_str(value).expect("a header"),
            );
            assert_eq!(token(&headers), expected.map(str::to_owned), "{value}");
            headers.append(AUTHORIZATION, HeaderValue::from_static("Bearer two"));
            assert_eq!(token(&headers), Err(NoToken::Malformed));
        }
        assert_eq!(token(&HeaderMap::new()), Err(NoToken::Absent));
    }
}
