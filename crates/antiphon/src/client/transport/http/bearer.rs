//! [`Bearer`]: where access tokens come from.

use std::{
    collections::hash_map::RandomState, error::Error as StdError, fmt, hash::BuildHasher, sync::Arc,
};

use http::HeaderValue;

use super::challenge::Challenge;
use crate::client::{Error, Pending};

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
}

/// A token as it travels. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Token(HeaderValue);

impl Token {
    /// # Errors
    /// [`ErrorKind::Invalid`] for text that is no token.
    pub(super) fn new(text: &str) -> Result<Self, Error> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::invalid(
                "the access token cannot be sent: it is empty, or holds blanks or characters \
                 outside ASCII",
            ));
        }
        let mut value = HeaderValue::from_str(&format!("Bearer {text}"))
            .map_err(|error| Error::invalid("the access token cannot be sent").caused_by(error))?;
        value.set_sensitive(true);
        Ok(Self(value))
    }

    /// The `Authorization` header.
    pub(super) fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

impl Credentials {
    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// The token for the next request.
    pub(super) async fn token(&self) -> Result<Option<Token>, Error> {
        match self {
            Self::None => Ok(None),
            Self::Fixed(token) => Ok(Some(token.clone())),
            Self::From(provider) => match provider.token(None).await {
                Ok(text) => text.as_deref().map(Token::new).transpose(),
                Err(cause) => Err(Error::invalid("there is no access token").caused_by(cause)),
            },
        }
    }

    /// Another token than the one that was refused.
    ///
    /// # Errors
    /// When there is none; `text` is what else the server said.
    pub(super) async fn another(
        &self,
        refused: Option<&Token>,
        challenge: Challenge,
        text: &str,
    ) -> Result<Token, Error> {
        let Self::From(provider) = self else {
            return Err(challenge.into_error(text));
        };
        if !challenge.can_be_met() {
            return Err(challenge.into_error(text));
        }
        match provider.token(Some(&challenge)).await {
            Ok(Some(fresh)) => match Token::new(&fresh)? {
                fresh if Some(&fresh) != refused => Ok(fresh),
                _ => Err(challenge.into_error(text)),
            },
            Ok(None) => Err(challenge.into_error(text)),
            Err(cause) => Err(challenge.into_error(text).caused_by(cause)),
        }
    }

    /// A digest of the token in use, which says nothing of it outside this process.
    pub(super) async fn digest(&self, keys: &RandomState) -> Result<Option<u64>, Error> {
        let token = self.token().await?;
        Ok(token.map(|token| keys.hash_one(token.0.as_bytes())))
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Fixed(_) => "a token",
            Self::From(_) => "a provider",
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
