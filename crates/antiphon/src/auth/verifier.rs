//! [`Verifier`]: the seam between a token and who it stands for.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use super::Principal;

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

/// One verifier for several services: they share, say, the keys it has read.
impl<V: Verifier + ?Sized> Verifier for Arc<V> {
    fn verify<'a>(
        &'a self,
        token: &'a str,
    ) -> Pin<Box<dyn Future<Output = Result<Principal, Refusal>> + Send + 'a>> {
        V::verify(self, token)
    }
}
