//! Who is calling: the principal, and the seam that finds it out from a bearer token.

use std::{
    collections::BTreeSet,
    fmt,
    future::Future,
    hash::{Hash, Hasher},
    pin::Pin,
};

use subtle::ConstantTimeEq;

/// The party a token was issued to and for.
///
/// Equal principals are the same party; scopes are what it may do and are no part of who it is.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Principal {
    /// Who vouches: the token's issuer.
    pub issuer: Option<String>,
    /// The client the token was issued to.
    pub client: Option<String>,
    /// The user it speaks for.
    pub subject: Option<String>,
    /// What it may do.
    pub scopes: BTreeSet<String>,
}

impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        self.issuer == other.issuer && self.client == other.client && self.subject == other.subject
    }
}

impl Eq for Principal {}

impl Hash for Principal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.issuer, &self.client, &self.subject).hash(state);
    }
}

impl Principal {
    /// A principal known by its subject.
    pub fn subject(subject: impl Into<String>) -> Self {
        Self {
            subject: Some(subject.into()),
            ..Self::default()
        }
    }

    /// With this issuer.
    pub fn issued_by(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// With this client.
    pub fn through(mut self, client: impl Into<String>) -> Self {
        self.client = Some(client.into());
        self
    }

    /// With these scopes.
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }
}

/// Why a token was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Unknown, malformed, expired, revoked, or meant for someone else: `401`. The text is for
    /// the log; the client is told no cause.
    Invalid(String),
    /// Good, but these scopes are needed as well: `403` (AUTH-S-13).
    InsufficientScope(Vec<String>),
    /// The verifier could not find out: `503`. The text is for the log.
    Unavailable(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(why) => write!(f, "the token is not valid: {why}"),
            Self::InsufficientScope(scopes) => write!(f, "missing scopes: {}", scopes.join(" ")),
            Self::Unavailable(why) => write!(f, "the token could not be checked: {why}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Turns a bearer token into a [`Principal`].
///
/// An implementation must check that the token was issued for this server (AUTH-S-08).
pub trait Verifier: Send + Sync + 'static {
    /// Verifies one token.
    fn verify<'a>(
        &'a self,
        token: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<Principal, Refusal>> + Send + 'a>>;
}

/// A fixed set of tokens: for development, tests and single-tenant servers.
#[derive(Clone, Default)]
pub struct StaticTokens(Vec<(Box<[u8]>, Principal)>);

impl StaticTokens {
    /// Knows no token.
    pub fn new() -> Self {
        Self::default()
    }

    /// Accepts `token` as `principal`.
    ///
    /// # Panics
    /// If the token is empty.
    pub fn token(mut self, token: impl AsRef<str>, principal: Principal) -> Self {
        let token = token.as_ref().as_bytes();
        assert!(!token.is_empty(), "an empty token would let everyone in");
        self.0.push((token.into(), principal));
        self
    }
}

impl Verifier for StaticTokens {
    fn verify<'a>(
        &'a self,
        token: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<Principal, Refusal>> + Send + 'a>> {
        Box::pin(async move {
            // Every token is compared in full, so the time taken tells nothing.
            let mut found = None;
            for (known, principal) in &self.0 {
                if bool::from(known.ct_eq(token.as_bytes())) {
                    found = Some(principal);
                }
            }
            found
                .cloned()
                .ok_or_else(|| Refusal::Invalid("not one of the static tokens".into()))
        })
    }
}

impl fmt::Debug for StaticTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StaticTokens({} hidden)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_whole_token_opens() {
        let tokens = StaticTokens::new()
            .token("s3cret", Principal::subject("ada"))
            .token("other", Principal::subject("bob").scopes(["read"]));
        assert_eq!(tokens.verify("s3cret").await, Ok(Principal::subject("ada")));
        for wrong in ["", "s3cre", "s3crets", "S3CRET"] {
            assert!(
                matches!(tokens.verify(wrong).await, Err(Refusal::Invalid(_))),
                "{wrong}"
            );
        }
        assert!(!format!("{tokens:?}").contains("s3cret"));
    }

    #[test]
    fn scopes_are_no_part_of_who_one_is() {
        let ada = Principal::subject("ada");
        assert_eq!(ada.clone().scopes(["read"]), ada);
        assert_ne!(ada.clone().issued_by("https://a"), ada);
        assert_ne!(ada.clone().through("app"), ada);
    }
}
