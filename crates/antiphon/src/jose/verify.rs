//! [`PublicKey`]: what somebody else signs with, and whether it signed something.

use std::fmt;

use jsonwebtoken::{
    DecodingKey, DecodingKeyKind,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations, PublicKeyUse},
};
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};

/// Shorter RSA keys are not good enough (RFC 7518, section 3.3), longer ones take too long.
const RSA_BYTES: std::ops::RangeInclusive<usize> = 256..=1024;

/// How a token is signed. Only with keys of which others have the public half: who shares a secret
/// with the issuer could issue tokens too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// RSA with PKCS #1 v1.5 padding, and SHA-256.
    RS256,
    /// RSA with PKCS #1 v1.5 padding, and SHA-384.
    RS384,
    /// RSA with PKCS #1 v1.5 padding, and SHA-512.
    RS512,
    /// RSA with PSS padding, and SHA-256.
    PS256,
    /// RSA with PSS padding, and SHA-384.
    PS384,
    /// RSA with PSS padding, and SHA-512.
    PS512,
    /// ECDSA on P-256, with SHA-256.
    ES256,
    /// ECDSA on P-384, with SHA-384.
    ES384,
    /// Ed25519.
    EdDSA,
}

impl Algorithm {
    /// All there are.
    pub const ALL: [Self; 9] = [
        Self::RS256,
        Self::RS384,
        Self::RS512,
        Self::PS256,
        Self::PS384,
        Self::PS512,
        Self::ES256,
        Self::ES384,
        Self::EdDSA,
    ];

    /// The algorithm that a header names, if it is one of these.
    pub(crate) fn of(named: jsonwebtoken::Algorithm) -> Option<Self> {
        use jsonwebtoken::Algorithm as Named;
        Some(match named {
            Named::RS256 => Self::RS256,
            Named::RS384 => Self::RS384,
            Named::RS512 => Self::RS512,
            Named::PS256 => Self::PS256,
            Named::PS384 => Self::PS384,
            Named::PS512 => Self::PS512,
            Named::ES256 => Self::ES256,
            Named::ES384 => Self::ES384,
            Named::EdDSA => Self::EdDSA,
            _ => return None,
        })
    }

    fn of_key(named: KeyAlgorithm) -> Option<Self> {
        jsonwebtoken::Algorithm::try_from(named)
            .ok()
            .and_then(Self::of)
    }

    fn family(self) -> Family {
        match self {
            Self::RS256 | Self::RS384 | Self::RS512 | Self::PS256 | Self::PS384 | Self::PS512 => {
                Family::Rsa
            }
            Self::ES256 => Family::P256,
            Self::ES384 => Family::P384,
            Self::EdDSA => Family::Ed25519,
        }
    }
}

/// What a key is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Rsa,
    P256,
    P384,
    Ed25519,
}

/// A key of somebody else's, ready to be used.
pub(crate) struct PublicKey {
    /// What it is called.
    pub(crate) id: Option<String>,
    family: Family,
    /// The one algorithm it is for, if it says so.
    only: Option<Algorithm>,
    material: Material,
}

enum Material {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    Point(Vec<u8>),
}

/// Why a key signs nothing that is accepted here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// It is not for signatures.
    Use,
    /// It is of a kind that is not known here, or a shared secret.
    Kind,
    /// It is too short, or too long.
    Size,
    /// It cannot be read.
    Malformed,
}

impl PublicKey {
    pub(crate) fn new(jwk: &Jwk) -> Result<Self, Unfit> {
        let common = &jwk.common;
        let signs = |ops: &Vec<KeyOperations>| ops.contains(&KeyOperations::Verify);
        if !matches!(common.public_key_use, None | Some(PublicKeyUse::Signature))
            || !common.key_operations.as_ref().is_none_or(signs)
        {
            return Err(Unfit::Use);
        }
        let family = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => Family::Rsa,
            AlgorithmParameters::EllipticCurve(key) => match key.curve {
                EllipticCurve::P256 => Family::P256,
                EllipticCurve::P384 => Family::P384,
                _ => return Err(Unfit::Kind),
            },
            AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
                Family::Ed25519
            }
            _ => return Err(Unfit::Kind),
        };
        let only = match common.key_algorithm {
            None => None,
            Some(named) => match Algorithm::of_key(named) {
                Some(only) if only.family() == family => Some(only),
                _ => return Err(Unfit::Kind),
            },
        };
        let key = DecodingKey::from_jwk(jwk).map_err(|_| Unfit::Malformed)?;
        let material = match key.kind() {
            DecodingKeyKind::RsaModulusExponent { n, e } => {
                // Some write a zero before a number that would look negative otherwise.
                let n = without_zeros(n);
                if !RSA_BYTES.contains(&n.len()) || (n.len() == *RSA_BYTES.start() && n[0] < 0x80) {
                    return Err(Unfit::Size);
                }
                Material::Rsa {
                    n: n.to_vec(),
                    e: without_zeros(e).to_vec(),
                }
            }
            DecodingKeyKind::SecretOrDer(point) => {
                let length = match family {
                    Family::P256 => 65,
                    Family::P384 => 97,
                    Family::Ed25519 => 32,
                    Family::Rsa => return Err(Unfit::Malformed),
                };
                if point.len() != length {
                    return Err(Unfit::Malformed);
                }
                Material::Point(point.clone())
            }
        };
        Ok(Self {
            id: common.key_id.clone(),
            family,
            only,
            material,
        })
    }

    /// Whether it is a key for this algorithm, and for no other that was pinned instead.
    pub(crate) fn is_for(&self, algorithm: Algorithm) -> bool {
        self.family == algorithm.family() && self.only.is_none_or(|only| only == algorithm)
    }

    /// Whether it signed `message`.
    pub(crate) fn signed(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        if !self.is_for(algorithm) {
            return false;
        }
        let rsa: &signature::RsaParameters = match algorithm {
            Algorithm::RS256 => &signature::RSA_PKCS1_2048_8192_SHA256,
            Algorithm::RS384 => &signature::RSA_PKCS1_2048_8192_SHA384,
            Algorithm::RS512 => &signature::RSA_PKCS1_2048_8192_SHA512,
            Algorithm::PS256 => &signature::RSA_PSS_2048_8192_SHA256,
            Algorithm::PS384 => &signature::RSA_PSS_2048_8192_SHA384,
            Algorithm::PS512 => &signature::RSA_PSS_2048_8192_SHA512,
            Algorithm::ES256 => {
                return self.point_signed(&signature::ECDSA_P256_SHA256_FIXED, message, signature);
            }
            Algorithm::ES384 => {
                return self.point_signed(&signature::ECDSA_P384_SHA384_FIXED, message, signature);
            }
            Algorithm::EdDSA => return self.point_signed(&signature::ED25519, message, signature),
        };
        match &self.material {
            Material::Rsa { n, e } => RsaPublicKeyComponents { n, e }
                .verify(rsa, message, signature)
                .is_ok(),
            Material::Point(_) => false,
        }
    }

    fn point_signed(
        &self,
        how: &'static dyn signature::VerificationAlgorithm,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        match &self.material {
            Material::Point(point) => UnparsedPublicKey::new(how, point)
                .verify(message, signature)
                .is_ok(),
            Material::Rsa { .. } => false,
        }
    }
}

fn without_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    &number[zeros..]
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublicKey")
            .field("id", &self.id)
            .field("family", &self.family)
            .field("only", &self.only)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Use => "it is not for signatures",
            Self::Kind => "it is of a kind that is not accepted",
            Self::Size => "an RSA key has 2048 to 8192 bits",
            Self::Malformed => "it cannot be read",
        })
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
    use serde_json::{Value, json};

    use super::*;

    fn key(jwk: Value) -> Result<PublicKey, Unfit> {
        PublicKey::new(&serde_json::from_value(jwk).expect("a key"))
    }

    /// A compact token: what is signed, and the signature.
    fn signed(token: &str) -> (&[u8], Vec<u8>) {
        let (message, signature) = token.rsplit_once('.').expect("a token");
        let signature = URL_SAFE_NO_PAD.decode(signature).expect("base64url");
        (message.as_bytes(), signature)
    }

    fn rfc7515_a2() -> (Value, String) {
        let jwk = json!({
            "kty": "RSA",
            "n": "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ",
            "e": "AQAB",
        });
        let token = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
        (jwk, token.to_owned())
    }

    fn rfc7515_a3() -> (Value, String) {
        let jwk = json!({
            "kty": "EC",
            "crv": "P-256",
            "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        });
        let token = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
        (jwk, token.to_owned())
    }

    fn rfc8037_a4() -> (Value, String) {
        let jwk = json!({
            "kty": "OKP",
            "crv": "Ed25519",
            "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        });
        let token = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
        (jwk, token.to_owned())
    }

    /// RFC 7515 appendix A.2 and A.3, RFC 8037 appendix A.4: and no bit of them otherwise.
    #[test]
    fn the_examples_of_the_standards() {
        for ((jwk, token), algorithm) in [
            (rfc7515_a2(), Algorithm::RS256),
            (rfc7515_a3(), Algorithm::ES256),
            (rfc8037_a4(), Algorithm::EdDSA),
        ] {
            let key = key(jwk).expect("a key");
            let (message, signature) = signed(&token);
            assert!(key.signed(algorithm, message, &signature), "{algorithm:?}");
            for other in Algorithm::ALL {
                let same = other == algorithm;
                assert_eq!(key.signed(other, message, &signature), same, "{other:?}");
            }
            for at in [0, signature.len() / 2, signature.len() - 1] {
                let mut forged = signature.clone();
                forged[at] ^= 1;
                assert!(!key.signed(algorithm, message, &forged), "{algorithm:?}");
            }
            assert!(!key.signed(algorithm, message, &signature[1..]));
            assert!(!key.signed(algorithm, message, &[]));
            assert!(!key.signed(algorithm, &message[1..], &signature));
        }
    }

    #[test]
    fn a_key_says_what_it_is_for() {
        let with = |(mut jwk, _): (Value, String), name: &str, value: Value| {
            jwk[name] = value;
            key(jwk)
        };
        let pinned = with(rfc7515_a2(), "alg", "PS256".into()).expect("a key");
        assert!(pinned.is_for(Algorithm::PS256) && !pinned.is_for(Algorithm::RS256));
        for (vector, name, value, unfit) in [
            (rfc7515_a2(), "use", json!("enc"), Unfit::Use),
            (rfc7515_a2(), "key_ops", json!(["encrypt"]), Unfit::Use),
            (rfc7515_a2(), "alg", json!("HS256"), Unfit::Kind),
            (rfc7515_a2(), "alg", json!("ES256"), Unfit::Kind),
            (rfc7515_a2(), "alg", json!("RSA-OAEP"), Unfit::Kind),
            (rfc7515_a2(), "alg", json!("none"), Unfit::Kind),
            (rfc7515_a3(), "crv", json!("P-521"), Unfit::Kind),
            (rfc7515_a3(), "crv", json!("P-384"), Unfit::Malformed),
            (rfc7515_a3(), "x", json!("AA"), Unfit::Malformed),
            (rfc8037_a4(), "x", json!("!"), Unfit::Malformed),
        ] {
            let what = format!("{name} {value}");
            assert_eq!(with(vector, name, value).err(), Some(unfit), "{what}");
        }
        assert!(with(rfc7515_a2(), "use", json!("sig")).is_ok());
        assert!(with(rfc7515_a2(), "key_ops", json!(["verify"])).is_ok());
        let secret = json!({"kty": "oct", "k": "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ"});
        assert_eq!(key(secret).err(), Some(Unfit::Kind));
    }

    /// Signed by a key of 1024 bits, or of 2047, it is not signed.
    #[test]
    fn short_keys_are_none() {
        let rsa = |first: u8, length: usize| {
            let mut n = vec![0xff; length];
            n[0] = first;
            key(json!({"kty": "RSA", "n": URL_SAFE_NO_PAD.encode(n), "e": "AQAB"}))
        };
        for (first, length, fits) in [
            (0xff, 128, false),
            (0x7f, 256, false),
            (0x80, 256, true),
            (0x00, 257, true),
            (0x00, 256, false),
            (0xff, 1024, true),
            (0xff, 1025, false),
        ] {
            let unfit = rsa(first, length).err();
            assert_eq!(unfit, (!fits).then_some(Unfit::Size), "{first:x} {length}");
        }
    }
}
