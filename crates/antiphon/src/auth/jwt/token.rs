//! A token in its parts, before anybody knows whether they are true (RFC 7515, RFC 7519).

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, Value};

use super::KeySet;
use crate::{jose::Algorithm, schema::read_once};

/// No token is longer.
pub(super) const LONGEST: usize = 16 * 1024;

/// What somebody says is a token.
pub(super) struct Token<'a> {
    algorithm: Algorithm,
    key: Option<String>,
    /// What is signed.
    message: &'a [u8],
    signature: Vec<u8>,
    claims: Map<String, Value>,
}

/// Why a text is no token that could be accepted: for the log, and so nothing of the token itself.
pub(super) type Defect = &'static str;

impl<'a> Token<'a> {
    pub(super) fn read(token: &'a str, algorithms: &[Algorithm]) -> Result<Self, Defect> {
        if token.len() > LONGEST {
            return Err("it is longer than any token");
        }
        let mut parts = token.split('.');
        let (Some(header), Some(payload), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err("it is no JWT: it has not three parts");
        };
        let bytes = |part: &str| {
            let decoded = URL_SAFE_NO_PAD.decode(part);
            decoded.map_err(|_| "it is no JWT: a part is not base64url")
        };
        let object = |part: &str| {
            let text = String::from_utf8(bytes(part)?).map_err(|_| "a part of it is not UTF-8")?;
            match read_once(&text) {
                Ok((_, doubled)) if !doubled.is_empty() => Err("a name stands twice in it"),
                Ok((Value::Object(object), _)) => Ok(object),
                _ => Err("a part of it is no JSON object"),
            }
        };
        // Also what `decode_header` does not look at must be read in one way.
        let names = object(header)?;
        if names.contains_key("crit") {
            return Err("its header has extensions that must be understood (crit)");
        }
        if names.contains_key("enc") {
            return Err("it is encrypted");
        }
        let header = jsonwebtoken::decode_header(token)
            .map_err(|_| "its header is none, or names no algorithm that is known")?;
        let algorithm = Algorithm::of(header.alg)
            .filter(|algorithm| algorithms.contains(algorithm))
            .ok_or("its algorithm is not one of those that are accepted")?;
        if !header.typ.as_deref().is_none_or(is_access_token) {
            return Err("it is of another type than an access token (typ)");
        }
        Ok(Self {
            algorithm,
            key: header.kid,
            message: &token.as_bytes()[..token.len() - signature.len() - 1],
            signature: bytes(signature)?,
            claims: object(payload)?,
        })
    }

    /// Whether one of these keys signed it; `None` if none of them can have.
    pub(super) fn is_signed_by(&self, keys: &KeySet) -> Option<bool> {
        let mut candidates = keys
            .candidates(self.key.as_deref(), self.algorithm)
            .peekable();
        candidates.peek()?;
        Some(candidates.any(|key| key.signed(self.algorithm, self.message, &self.signature)))
    }

    /// Who it says has issued it.
    pub(super) fn issuer(&self) -> Option<&str> {
        self.claims.get("iss").and_then(Value::as_str)
    }

    pub(super) fn into_claims(self) -> Map<String, Value> {
        self.claims
    }
}

/// RFC 9068, section 2.1. Many issuers say only `JWT`, or nothing; an ID token, a logout token and
/// others of RFC 8725, section 3.11, have types of their own.
fn is_access_token(kind: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    let kind = kind.strip_prefix("application/").unwrap_or(&kind);
    matches!(kind, "jwt" | "at+jwt")
}
