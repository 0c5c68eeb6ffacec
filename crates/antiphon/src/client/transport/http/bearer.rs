//! [`Bearer`]: where access tokens come from.

use std::{
    collections::hash_map::RandomState, error::Error as StdError, fmt, hash::BuildHasher,
    sync::Arc, time::Duration,
};

use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};

use super::challenge::Challenge;
use crate::client::{
    Error, Pending,
    oauth::{Authorizer, Prover},
};

/// Gives the access token of each request.
///
/// It is asked before each request, so it had better keep what it knows; and once more when the
/// server refused a token, with the server's challenge. If that brings another token, the request
/// is sent again with it.
///
/// ```
/// use std::{error::Error, sync::Mutex};
/// use antiphon::client::{Bearer, Challenge, Pending};
///
/// /// Hands out one token after the other, as they are refused.
/// struct Stack(Mutex<Vec<String>>);
///
/// impl Bearer for Stack {
///     fn token<'a>(
///         &'a self,
///         challenge: Option<&'a Challenge>,
///     ) -> Pending<'a, Result<Option<String>, Box<dyn Error + Send + Sync>>> {
///         Box::pin(async move {
///             let mut tokens = self.0.lock().map_err(|_| "poisoned")?;
///             if challenge.is_some() {
///                 tokens.pop();
///             }
///             Ok(tokens.last().cloned())
///         })
///     }
/// }
/// ```
pub trait Bearer: Send + Sync {
    /// The token to send; none sends the request without one.
    ///
    /// # Errors
    /// When there should be one and is not; the request fails with that.
    fn token<'a>(
        &'a self,
        challenge: Option<&'a Challenge>,
    ) -> Pending<'a, Result<Option<String>, Box<dyn StdError + Send + Sync>>>;
}

impl<B: Bearer + ?Sized> Bearer for Arc<B> {
    fn token<'a>(
        &'a self,
        challenge: Option<&'a Challenge>,
    ) -> Pending<'a, Result<Option<String>, Box<dyn StdError + Send + Sync>>> {
        B::token(self, challenge)
    }
}

/// What a transport knows of tokens.
pub(super) enum Credentials {
    None,
    Fixed(Token),
    From(Arc<dyn Bearer>),
    #[cfg_attr(not(feature = "oauth"), expect(dead_code, reason = "nobody signs in"))]
    OAuth(Arc<Authorizer>),
}

/// A token as it travels. Never shown.
#[derive(Clone)]
pub(crate) struct Token {
    header: HeaderValue,
    /// The key that it is good with.
    prover: Option<Arc<Prover>>,
}

impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        self.header == other.header
    }
}

impl Token {
    /// # Errors
    /// [`ErrorKind::Invalid`] for text that is no token.
    pub(crate) fn new(text: &str) -> Result<Self, Error> {
        Self::of("Bearer", text, None)
    }

    /// A token that is good with a key alone.
    #[cfg(feature = "oauth")]
    pub(crate) fn bound(text: &str, prover: Arc<Prover>) -> Result<Self, Error> {
        Self::of("DPoP", text, Some(prover))
    }

    fn of(scheme: &str, text: &str, prover: Option<Arc<Prover>>) -> Result<Self, Error> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::invalid(
                "the access token cannot be sent: it is empty, or holds blanks or characters \
                 outside ASCII",
            ));
        }
        let mut header = HeaderValue::from_str(&format!("{scheme} {text}"))
            .map_err(|error| Error::invalid("the access token cannot be sent").caused_by(error))?;
        header.set_sensitive(true);
        Ok(Self { header, prover })
    }

    /// The `Authorization` header.
    pub(super) fn header(&self) -> HeaderValue {
        self.header.clone()
    }

    /// The proof that a request with it needs, if it does.
    pub(super) fn proof(&self, method: &Method, uri: &Uri) -> Result<Option<HeaderValue>, Error> {
        let Some(prover) = &self.prover else {
            return Ok(None);
        };
        let token = self.header.to_str().ok();
        let token = token.and_then(|header| header.split_once(' '));
        let proof = prover.proof(method, uri, token.map(|(_, token)| token));
        proof.map(Some).map_err(|error| {
            Error::invalid("there is no proof for the access token").caused_by(error)
        })
    }

    /// Notes what the server wants to see in the next proof; whether the request is worth another
    /// try with that (RFC 9449, 9).
    pub(super) fn heard(&self, uri: &Uri, status: StatusCode, headers: &HeaderMap) -> bool {
        let Some(prover) = &self.prover else {
            return false;
        };
        // Whether it is news to somebody else does not matter: this proof had another.
        let is_there = prover.heard(uri, headers);
        is_there
            && status == StatusCode::UNAUTHORIZED
            && Challenge::read(status, headers).wants_nonce()
    }
}

impl Credentials {
    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// The token for the next request.
    pub(super) async fn token(&self) -> Result<Option<Token>, Error> {
        let none = |cause| Error::invalid("there is no access token").caused_by(cause);
        match self {
            Self::None => Ok(None),
            Self::Fixed(token) => Ok(Some(token.clone())),
            Self::From(provider) => match provider.token(None).await {
                Ok(text) => text.as_deref().map(Token::new).transpose(),
                Err(cause) => Err(none(cause)),
            },
            Self::OAuth(authorizer) => Box::pin(authorizer.token()).await.map_err(none),
        }
    }

    /// Another token than the one that was refused, for an operation such as `tools/call order`.
    ///
    /// # Errors
    /// When there is none; `text` is what else the server said.
    pub(super) async fn another(
        &self,
        refused: Option<&Token>,
        challenge: Challenge,
        text: &str,
        operation: &str,
    ) -> Result<Token, Error> {
        if !challenge.can_be_met() {
            return Err(challenge.into_error(text));
        }
        let fresh = match self {
            Self::None | Self::Fixed(_) => Ok(None),
            Self::From(provider) => match provider.token(Some(&challenge)).await {
                Ok(text) => Ok(text.as_deref().map(Token::new).transpose()?),
                Err(cause) => Err(cause),
            },
            Self::OAuth(authorizer) => {
                let another = authorizer.another(refused, &challenge, operation);
                another.await.map(Some)
            }
        };
        match fresh {
            Ok(Some(fresh)) if Some(&fresh) != refused => Ok(fresh),
            Ok(_) => Err(challenge.into_error(text)),
            Err(cause) => Err(challenge.into_error(text).caused_by(cause)),
        }
    }

    /// How often the challenges of one request are met.
    pub(super) fn tries(&self) -> u32 {
        match self {
            // A token first, and then one that allows more.
            Self::OAuth(_) => 3,
            _ => 1,
        }
    }

    /// A response came to a request with this token, for an operation such as `tools/call order`.
    pub(super) fn heard(
        &self,
        status: StatusCode,
        token: Option<&Token>,
        operation: impl FnOnce() -> String,
    ) {
        if let (Self::OAuth(authorizer), Some(token)) = (self, token) {
            authorizer.heard(status, token, operation);
        }
    }

    /// How long a person was waited for, all in all.
    pub(super) fn held(&self) -> Duration {
        match self {
            Self::OAuth(authorizer) => authorizer.held(),
            _ => Duration::ZERO,
        }
    }

    /// A digest of the token in use, which says nothing of it outside this process.
    pub(super) async fn digest(&self, keys: &RandomState) -> Result<Option<u64>, Error> {
        let token = self.token().await?;
        Ok(token.map(|token| keys.hash_one(token.header.as_bytes())))
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Fixed(_) => "a token",
            Self::From(_) => "a provider",
            Self::OAuth(_) => "by signing in",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::ErrorKind;

    #[test]
    fn tokens_are_one_word() {
        for text in ["", "a b", "a\nb", "tökén", " key", "a\u{7f}"] {
            let error = Token::new(text).err().expect(text);
            assert!(matches!(error.kind(), ErrorKind::Invalid), "{text:?}");
            assert!(text.is_empty() || !error.to_string().contains(text));
        }
        let token = Token::new("abc.def-_~+/==").map_err(|e| e.to_string());
        let header = token.expect("a token").header();
        assert_eq!(header.as_bytes(), b"Bearer abc.def-_~+/==");
        assert!(!format!("{header:?}").contains("abc"));
    }
}
