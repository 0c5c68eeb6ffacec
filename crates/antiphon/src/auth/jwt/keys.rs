//! [`KeySet`]: the keys of an issuer (RFC 7517).

use std::{fmt, sync::Arc};

use jsonwebtoken::jwk::Jwk;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::jose::{Algorithm, PublicKey};

/// As many keys are looked at; who has more of them has made a mistake.
const MOST: usize = 100;
/// As many are tried for a token that does not say which one it is signed with.
const TRIED: usize = 4;

/// The public keys of an issuer.
///
/// Keys that could sign nothing that is accepted are not in it: those for encryption, of unknown
/// kinds, too short, or shared secrets.
#[derive(Clone)]
pub struct KeySet(Arc<[PublicKey]>);

/// Why something is no set of keys.
#[derive(Debug)]
pub struct BadKeySet(&'static str);

impl fmt::Display for BadKeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for BadKeySet {}

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    keys: Vec<&'a RawValue>,
}

impl KeySet {
    /// Reads a set, as issuers publish it.
    ///
    /// # Errors
    /// If it is none, or no key in it is of use.
    pub fn from_json(json: &str) -> Result<Self, BadKeySet> {
        let document: Document<'_> = serde_json::from_str(json)
            .map_err(|_| BadKeySet("a key set is a JSON object with a list `keys`"))?;
        if document.keys.len() > MOST {
            return Err(BadKeySet("a key set has at most 100 keys"));
        }
        let mut keys = Vec::new();
        for (at, raw) in document.keys.into_iter().enumerate() {
            // One key that is odd does not make the others so.
            let key = serde_json::from_str::<Jwk>(raw.get());
            match key.map(|key| PublicKey::new(&key)) {
                Ok(Ok(key)) => keys.push(key),
                Ok(Err(why)) => tracing::debug!(at, %why, "a key of a key set is not used"),
                Err(_) => tracing::debug!(at, "a key of a key set cannot be read"),
            }
        }
        match keys.is_empty() {
            true => Err(BadKeySet("no key of the key set is of use")),
            false => Ok(Self(keys.into())),
        }
    }

    /// Whether this is that very set, read at the same time.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The keys that may have signed a token: of this name, or of any if it has none.
    pub(super) fn candidates<'a>(
        &'a self,
        id: Option<&'a str>,
        algorithm: Algorithm,
    ) -> impl Iterator<Item = &'a PublicKey> {
        let named = move |key: &&PublicKey| id.is_none() || key.id.as_deref() == id;
        let fits = move |key: &&PublicKey| key.is_for(algorithm);
        self.0.iter().filter(named).filter(fits).take(TRIED)
    }
}

impl fmt::Debug for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ED: &str = r#"{"kty":"OKP","crv":"Ed25519","kid":"ed","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;

    fn found(set: &KeySet, id: Option<&str>, algorithm: Algorithm) -> usize {
        set.candidates(id, algorithm).count()
    }

    /// What an issuer publishes besides is no reason to know none of its keys.
    #[test]
    fn odd_keys_are_left_out() {
        let odd = [
            r#"{"kty":"EC","crv":"secp256k1","x":"AA","y":"AA"}"#,
            r#"{"kty":"AKP","alg":"ML-DSA-44","pub":"AA"}"#,
            r#"{"kty":"oct","k":"c2VjcmV0"}"#,
            r#"{"kty":"RSA","n":1,"e":2}"#,
            r#"{"kid":7}"#,
            "null",
            "7",
        ];
        let set = format!(r#"{{"keys":[{},{ED}],"more":1}}"#, odd.join(","));
        let set = KeySet::from_json(&set).expect("a set");
        assert_eq!(set.0.len(), 1);
        assert_eq!(found(&set, Some("ed"), Algorithm::EdDSA), 1);
        assert_eq!(found(&set, None, Algorithm::EdDSA), 1);
        assert_eq!(found(&set, Some("ed"), Algorithm::ES256), 0);
        assert_eq!(found(&set, Some("ED"), Algorithm::EdDSA), 0);
        assert_eq!(found(&set, Some(""), Algorithm::EdDSA), 0);
    }

    #[test]
    fn what_is_no_key_set() {
        for bad in [
            "",
            "[]",
            "{}",
            r#"{"keys":{}}"#,
            r#"{"keys":[]}"#,
            r#"{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}"#,
        ] {
            assert!(KeySet::from_json(bad).is_err(), "{bad}");
        }
        let many = format!(r#"{{"keys":[{}]}}"#, vec![ED; MOST + 1].join(","));
        assert!(KeySet::from_json(&many).is_err());
        // Nobody makes this server try keys for ever.
        let many = format!(r#"{{"keys":[{}]}}"#, vec![ED; MOST].join(","));
        let set = KeySet::from_json(&many).expect("a set");
        assert_eq!(found(&set, None, Algorithm::EdDSA), TRIED);
    }
}
