//! [`Pkce`]: proof that whoever redeems a code is who asked for it (RFC 7636).

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};

use super::{Secret, failed::Failed};

/// A verifier and its challenge, by S256 (AUTH-C-53).
pub(super) struct Pkce {
    pub(super) verifier: Secret,
    pub(super) challenge: String,
}

impl Pkce {
    pub(super) fn new() -> Result<Self, Failed> {
        Ok(Self::of(random()?))
    }

    fn of(verifier: String) -> Self {
        let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
        Self {
            verifier: verifier.into(),
            challenge,
        }
    }
}

/// Text that nobody guesses: 256 bits.
pub(super) fn random() -> Result<String, Failed> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failed::new("this system gives no random bytes").caused_by(error))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7636, appendix B.
    #[test]
    fn the_challenge_is_that_of_the_standard() {
        let pkce = Pkce::of("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".into());
        assert_eq!(
            pkce.challenge,
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }

    #[test]
    fn none_is_like_another() {
        let (one, other) = (Pkce::new().expect("random"), Pkce::new().expect("random"));
        assert_ne!(one.verifier, other.verifier);
        assert_eq!(one.verifier.reveal().len(), 43);
    }
}
