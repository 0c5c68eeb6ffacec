//! What signatures say, as whoever gets them reads it.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    digest::{SHA256, digest},
    signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey, VerificationAlgorithm},
};
use serde_json::Value;

/// A proof of having a key (RFC 9449).
pub(crate) struct Proof {
    /// The thumbprint of the key (RFC 7638).
    pub(crate) key: String,
    pub(crate) id: String,
    pub(crate) nonce: Option<String>,
    /// The hash of the token that it goes with.
    pub(crate) token: Option<String>,
}

/// Reads a proof for a request, which has to be right in all but its nonce.
pub(crate) fn read(proof: &str, method: &str, place: &str) -> Proof {
    let header = part(proof, 0);
    assert_eq!(
        (&header["typ"], &header["alg"]),
        (&"dpop+jwt".into(), &"ES256".into())
    );
    let jwk = &header["jwk"];
    assert_eq!((&jwk["kty"], &jwk["crv"]), (&"EC".into(), &"P-256".into()));
    assert!(jwk.get("d").is_none(), "nothing private");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let (x, y) = (text(&jwk["x"]).expect("x"), text(&jwk["y"]).expect("y"));
    let mut point = vec![4];
    point.extend(decoded(&x));
    point.extend(decoded(&y));
    let (_, claims) = verified(proof, &ECDSA_P256_SHA256_FIXED, &point);
    assert_eq!(
        (&claims["htm"], &claims["htu"]),
        (&method.into(), &place.into())
    );
    let now = std::time::UNIX_EPOCH.elapsed().expect("a time").as_secs();
    assert!(
        claims["iat"]
            .as_u64()
            .is_some_and(|at| at.abs_diff(now) < 60)
    );
    let thumb = format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
    Proof {
        key: hash(&thumb),
        id: text(&claims["jti"]).expect("an id"),
        nonce: text(&claims["nonce"]),
        token: text(&claims["ath"]),
    }
}

/// The header and the claims of a token whose signature is good.
pub(crate) fn verified(
    token: &str,
    algorithm: &'static dyn VerificationAlgorithm,
    key: &[u8],
) -> (Value, Value) {
    let (message, signature) = token.rsplit_once('.').expect("three parts");
    UnparsedPublicKey::new(algorithm, key)
        .verify(message.as_bytes(), &decoded(signature))
        .expect("a good signature");
    (part(token, 0), part(token, 1))
}

pub(crate) fn hash(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}

fn part(token: &str, which: usize) -> Value {
    let part = token.split('.').nth(which).expect("three parts");
    serde_json::from_slice(&decoded(part)).expect("JSON")
}

fn decoded(text: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text).expect("base64url")
}
