//! [`Prover`]: tokens that are good with a key alone (DPoP, RFC 9449).

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, PoisonError},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use ring::{
    digest::{SHA256, digest},
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
};
use serde_json::{Value, json};

use super::{Secret, failed::Failed, moment::now, pkce::random, signing::Pair};
use crate::client::error::Boxed;

pub(crate) const DPOP: HeaderName = HeaderName::from_static("dpop");
const DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// A key of one sign-in, and what servers want to see in the next proof.
pub(crate) struct Prover {
    pair: Pair,
    jwk: Value,
    pkcs8: Secret,
    /// By origin.
    nonces: Mutex<HashMap<String, String>>,
}

impl Prover {
    /// With a new key.
    pub(super) fn new() -> Result<Self, Failed> {
        let key =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())
                .map_err(|_| Failed::new("this system makes no keys"))?;
        Self::from_pkcs8(key.as_ref())
    }

    /// With a key that was stored.
    pub(super) fn restore(key: &Secret) -> Result<Self, Failed> {
        let bytes = URL_SAFE_NO_PAD.decode(key.reveal());
        let bytes = bytes.map_err(|_| Failed::new("the stored key is none"))?;
        Self::from_pkcs8(&bytes)
    }

    fn from_pkcs8(bytes: &[u8]) -> Result<Self, Failed> {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, bytes, &random)
            .map_err(|_| Failed::new("the stored key is none"))?;
        // An uncompressed point: a byte that says so, then both coordinates.
        let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
        let [x, y] = [x, y].map(|part| URL_SAFE_NO_PAD.encode(part));
        Ok(Self {
            jwk: json!({ "kty": "EC", "crv": "P-256", "x": x, "y": y }),
            pair: Pair::Ec(pair),
            pkcs8: URL_SAFE_NO_PAD.encode(bytes).into(),
            nonces: Mutex::default(),
        })
    }

    /// The key, to be stored.
    pub(super) fn key(&self) -> &Secret {
        &self.pkcs8
    }

    /// A proof for one request; with a token it is for that one alone.
    pub(crate) fn proof(
        &self,
        method: &Method,
        uri: &Uri,
        token: Option<&str>,
    ) -> Result<HeaderValue, Boxed> {
        let origin = origin(uri);
        let mut claims = json!({
            "jti": random()?,
            "htm": method.as_str(),
            "htu": format!("{origin}{}", uri.path()),
            "iat": now(),
        });
        if let Some(token) = token {
            claims["ath"] = URL_SAFE_NO_PAD
                .encode(digest(&SHA256, token.as_bytes()))
                .into();
        }
        if let Some(nonce) = self.nonces().get(&origin) {
            claims["nonce"] = nonce.as_str().into();
        }
        let header = json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": self.jwk });
        Ok(HeaderValue::try_from(self.pair.sign(&header, &claims)?)?)
    }

    /// Notes what a server wants to see in the next proof; whether it says so.
    pub(crate) fn heard(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let nonce = headers
            .get(DPOP_NONCE)
            .and_then(|nonce| nonce.to_str().ok());
        let Some(nonce) = nonce.filter(|nonce| nonce.len() <= 1024) else {
            return false;
        };
        self.nonces().insert(origin(uri), nonce.to_owned());
        true
    }

    fn nonces(&self) -> std::sync::MutexGuard<'_, HashMap<String, String>> {
        self.nonces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn origin(uri: &Uri) -> String {
    let (scheme, authority) = (uri.scheme_str(), uri.authority());
    let authority = authority.map_or("", |authority| authority.as_str());
    format!("{}://{authority}", scheme.unwrap_or_default())
}

impl fmt::Debug for Prover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prover(..)")
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    fn decoded(part: &str) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(part).expect("base64url")
    }

    /// The claims of a proof whose signature was checked with the key that it names.
    fn checked(proof: &HeaderValue) -> Value {
        let proof = proof.to_str().expect("ASCII");
        let (message, signature) = proof.rsplit_once('.').expect("three parts");
        let (header, claims) = message.split_once('.').expect("three parts");
        let header: Value = serde_json::from_slice(&decoded(header)).expect("JSON");
        assert_eq!(
            (&header["typ"], &header["alg"]),
            (&"dpop+jwt".into(), &"ES256".into())
        );
        let mut key = vec![4];
        for name in ["x", "y"] {
            key.extend(decoded(header["jwk"][name].as_str().expect("a coordinate")));
        }
        assert_eq!(
            header["jwk"].as_object().expect("a key").len(),
            4,
            "nothing private"
        );
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key)
            .verify(message.as_bytes(), &decoded(signature))
            .expect("a good signature");
        serde_json::from_slice(&decoded(claims)).expect("JSON")
    }

    #[test]
    fn a_proof_is_for_one_request() {
        let prover = Prover::new().expect("a key");
        let uri = Uri::from_static("https://a.example:8443/mcp?key=hidden");
        let first = checked(&prover.proof(&Method::POST, &uri, None).expect("a proof"));
        assert_eq!(first["htm"], "POST");
        assert_eq!(first["htu"], "https://a.example:8443/mcp");
        assert!(first.get("ath").is_none() && first.get("nonce").is_none());
        // RFC 9449, 7.1: the hash of that very token.
        let token = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU";
        let second = checked(
            &prover
                .proof(&Method::GET, &uri, Some(token))
                .expect("a proof"),
        );
        assert_eq!(second["ath"], "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo");
        assert_ne!(first["jti"], second["jti"]);
        let again = Prover::restore(prover.key()).expect("the key");
        assert_eq!(again.jwk, prover.jwk);
    }

    #[test]
    fn nonces_are_those_of_their_server() {
        let prover = Prover::new().expect("a key");
        let (a, b) = (
            Uri::from_static("https://a.example/x"),
            Uri::from_static("https://b.example/x"),
        );
        let headers = |nonce| HeaderMap::from_iter([(DPOP_NONCE, HeaderValue::from_static(nonce))]);
        assert!(prover.heard(&a, &headers("n1")));
        assert!(!prover.heard(&a, &HeaderMap::new()));
        let nonce = |uri| {
            checked(&prover.proof(&Method::POST, uri, None).expect("a proof"))["nonce"].clone()
        };
        assert_eq!((nonce(&a), nonce(&b)), ("n1".into(), Value::Null));
        assert!(prover.heard(&a, &headers("n2")));
        assert_eq!(nonce(&a), "n2");
    }
}
