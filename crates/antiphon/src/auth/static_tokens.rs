//! [`StaticTokens`]: a fixed set.

use std::{fmt, future::Future, pin::Pin};

use subtle::ConstantTimeEq;

use super::{Principal, Refusal, Verifier};

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
}
