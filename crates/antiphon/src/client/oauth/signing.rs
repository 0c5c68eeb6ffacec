//! [`SigningKey`]: says who a program is by a signature (RFC 7523).

use std::{fmt, sync::Arc};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
        Ed25519KeyPair, RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaEncoding, RsaKeyPair,
    },
};
use rustls_pki_types::{PrivatePkcs8KeyDer, pem::PemObject};
use serde_json::{Value, json};

use super::failed::Failed;
use crate::client::Error;

/// How a [`SigningKey`] signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Algorithm {
    /// ECDSA with P-256.
    Es256,
    /// ECDSA with P-384.
    Es384,
    /// RSA, PKCS #1 v1.5, SHA-256.
    Rs256,
    /// RSA-PSS, SHA-256.
    Ps256,
    /// Ed25519.
    EdDsa,
}

impl Algorithm {
    /// Its name in a token.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Rs256 => "RS256",
            Self::Ps256 => "PS256",
            Self::EdDsa => "EdDSA",
        }
    }

    /// The algorithm of this name.
    pub fn named(name: &str) -> Option<Self> {
        let all = [
            Self::Es256,
            Self::Es384,
            Self::Rs256,
            Self::Ps256,
            Self::EdDsa,
        ];
        all.into_iter().find(|algorithm| algorithm.as_str() == name)
    }
}

/// A private key that says who a program is, in place of a password. Never shown.
#[derive(Clone)]
pub struct SigningKey {
    pair: Arc<Pair>,
    algorithm: Algorithm,
    id: Option<String>,
}

pub(super) enum Pair {
    Ec(EcdsaKeyPair),
    Rsa(RsaKeyPair, &'static dyn RsaEncoding),
    Ed(Ed25519KeyPair),
}

impl SigningKey {
    /// The key in a text that begins with `-----BEGIN PRIVATE KEY-----` (PKCS #8).
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`](crate::client::ErrorKind::Invalid) for what is no such key.
    pub fn from_pem(pem: &str, algorithm: Algorithm) -> Result<Self, Error> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| {
            Error::invalid("this is no private key in PEM: it must begin with BEGIN PRIVATE KEY")
        })?;
        let der = der.secret_pkcs8_der();
        let random = SystemRandom::new();
        let pair = match algorithm {
            Algorithm::Es256 => {
                EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random)
                    .map(Pair::Ec)
            }
            Algorithm::Es384 => {
                EcdsaKeyPair::from_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, der, &random)
                    .map(Pair::Ec)
            }
            Algorithm::Rs256 => {
                RsaKeyPair::from_pkcs8(der).map(|pair| Pair::Rsa(pair, &RSA_PKCS1_SHA256))
            }
            Algorithm::Ps256 => {
                RsaKeyPair::from_pkcs8(der).map(|pair| Pair::Rsa(pair, &RSA_PSS_SHA256))
            }
            Algorithm::EdDsa => Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).map(Pair::Ed),
        };
        let pair = pair.map_err(|why| {
            Error::invalid(format!("this is no key for {}: {why}", algorithm.as_str()))
        })?;
        Ok(Self {
            pair: Arc::new(pair),
            algorithm,
            id: None,
        })
    }

    /// The name under which the authorization server knows it.
    #[must_use]
    pub fn key_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// A token with these claims.
    pub(super) fn sign(&self, claims: &Value) -> Result<String, Failed> {
        let mut header = json!({ "alg": self.algorithm.as_str(), "typ": "JWT" });
        if let Some(id) = &self.id {
            header["kid"] = id.as_str().into();
        }
        self.pair.sign(&header, claims)
    }
}

impl Pair {
    /// A token of this header and these claims.
    pub(super) fn sign(&self, header: &Value, claims: &Value) -> Result<String, Failed> {
        let [header, claims] =
            [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
        let mut token = format!("{header}.{claims}");
        let random = SystemRandom::new();
        let message = token.as_bytes();
        let not = |_| Failed::new("the key does not sign");
        let signature = match self {
            Self::Ec(pair) => pair.sign(&random, message).map_err(not)?.as_ref().to_vec(),
            Self::Ed(pair) => pair.sign(message).as_ref().to_vec(),
            Self::Rsa(pair, encoding) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(*encoding, &random, message, &mut signature)
                    .map_err(not)?;
                signature
            }
        };
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut token);
        Ok(token)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("algorithm", &self.algorithm)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, KeyPair,
        RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256, UnparsedPublicKey,
        VerificationAlgorithm,
    };

    use super::*;
    use crate::client::ErrorKind;

    /// A key of 2048 bits that is good for nothing else: `ring` makes none.
    const RSA: &str = "MIIEugIBADANBgkqhkiG9w0BAQEFAASCBKQwggSgAgEAAoIBAQDNakgZJAxkVR444MHVWESccZjJkyZAqm5ebUYL7D\
         qpyl9ZjmAcMUAepodwtAQddyuG3GiROY9pZVzKMSDDLmDyu8EN7nBIxsIbxiT8/ElkYyBPZHPcsVEobV8M0quQqGBJ\
         pcK+zRTBLXZDubl9uidbT26DHQqEsWyWoB8x9UQ2y1jNr1Nt+c+Hqscwl3Oe724lQfuaL8bTgicScS68rB00J6dpCv\
         qeTQORGW7+qnfgED5+h5vKNfI4asc7l4LUBGbq99AbXk7AQn24zQ2UNrwSRmZf4G1rKLQ6wvVF1aGG7I9tpcCS1Sgy\
         I2A7TakCJvrSBu7C60QfV3znXhJJhtdZAgMBAAECggEAQuahCbMgaBMCz1KAPrxLSEqFEO2gcUIwxQdA34Q2DPOQv2\
         mr6rKtp+3jwbSXfINCBV/GnLnK9/Af2uhKO9dgkt3Mf/2Oy10Ufhg4Fr8SJiRUsxbL125WuNx6LwJ0Bx6XkZTvitXf\
         MxVb5a3Y+FZHGCmUHBa6xMHGVH5c+pffehqFufVJuEQQ5STZYbnwZR6uUldWnxBEezLmLJ1vn6pFctWaQ0gB/iwMYO\
         BnQcSxWEwfOSZrlPq+y8botq3eRkdQts+d1BGrLQr6EkXdEV+KsWOO5TiuPq6YXkkQbtvl8yBfjsLM2isCaDLaW3pZ\
         /DRGs7ZV2cgZMUo2TzhgFj1S2wKBgQDyt223GsR819VDGJXEzBqGy/rkzrdEu5TOmVybYR5WVQHaUpZM7gd1Yf9WXP\
         OR068vlbz93elqzum6YlVA5sWwzQpgSMynmpHQIikgZ5dQZswcoR1/YccVcFY2giUPU9IsY+B+YgCVSOkEUjQO/w5U\
         GWnCdC2rPqagJd3V/tcbpwKBgQDYqD5jYNFXZdqVQYHK2iiuOO2/jbwAl3a8NmyHWceuYRS+sM5Erm4fofyGKxXMLx\
         t7f0sAOxTvS6StesJhilmC7qNl3Am8tBJgqF+zu8jT/4CwdkhP+qGHOXgvP5raTjqfsFXGiraFz7he0jCCk2Cst9iN\
         oRWJE8qQTX1LGkTU/wJ/K5zKGhy1MbmWmHfScYo7Of1tF7ANPkx2cKkd+s14pgqgSpqMZ0ZeELmLJ/mLyqg+0k4Vp4\
         g4aPjFBrikmQTegOZW9vYdz//2M2/v8+KpTckq4/oPUtQ+8Zs94o2AG0D0gwVvUUZK1IhFVoFu2UL7UCFA37AAhMS9\
         LAmh0tH31QKBgHtHiHBtx9COQUlKg/sUFa/E7utfT8maZdKEuU5u9KMx1GcJHeWQx1KyjokdfQK5D08/SELyW2AqT6\
         LyxiZQXcyV014DTXsVj5t2UzZnNMgEi4pdU5pGx6C1P8DK1WdAujThVn1psqADaSpzOW0jRRAicFNuhF2CaHGh1hhk\
         8yOrAoGAJ3pgHYfZCiEvL/IvAaFuHI9Z4EQCQ4SfDS2PmXbGzqhUQV+TSDkykM33rBlWWmpwoE/mZkBfz9VthhgGia\
         xdVI2Y/Cu/IjSxh0TZDzMHxZiowtQwl2sxXwSjeBGkPYqCSNy0tOjXD6SiIm5CFAurwp8VOeULdr/kTHI1T6xb6Vc=";

    fn pem(der: &str) -> String {
        format!("-----BEGIN PRIVATE KEY-----\n{der}\n-----END PRIVATE KEY-----\n")
    }

    fn made(der: impl AsRef<[u8]>) -> String {
        pem(&base64::engine::general_purpose::STANDARD.encode(der))
    }

    /// A key for each algorithm.
    fn keys() -> Vec<(Algorithm, String)> {
        let random = SystemRandom::new();
        let ec = |algorithm| made(EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key"));
        vec![
            (Algorithm::Es256, ec(&ECDSA_P256_SHA256_FIXED_SIGNING)),
            (Algorithm::Es384, ec(&ECDSA_P384_SHA384_FIXED_SIGNING)),
            (Algorithm::Rs256, pem(RSA)),
            (Algorithm::Ps256, pem(RSA)),
            (
                Algorithm::EdDsa,
                made(Ed25519KeyPair::generate_pkcs8(&random).expect("a key")),
            ),
        ]
    }

    fn public(pair: &Pair) -> Vec<u8> {
        match pair {
            Pair::Ec(pair) => pair.public_key().as_ref().to_vec(),
            Pair::Rsa(pair, _) => pair.public_key().as_ref().to_vec(),
            Pair::Ed(pair) => pair.public_key().as_ref().to_vec(),
        }
    }

    #[test]
    fn signatures_are_those_of_their_algorithm() {
        for (algorithm, pem) in keys() {
            let verifies: &dyn VerificationAlgorithm = match algorithm {
                Algorithm::Es256 => &ECDSA_P256_SHA256_FIXED,
                Algorithm::Es384 => &ECDSA_P384_SHA384_FIXED,
                Algorithm::Rs256 => &RSA_PKCS1_2048_8192_SHA256,
                Algorithm::Ps256 => &RSA_PSS_2048_8192_SHA256,
                Algorithm::EdDsa => &ED25519,
            };
            let key = SigningKey::from_pem(&pem, algorithm).expect("a key");
            let token = key.clone().key_id("k").sign(&json!({ "sub": "a" }));
            let token = token.expect("a token");
            let (message, signature) = token.rsplit_once('.').expect("three parts");
            let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text).expect("base64url");
            let public = UnparsedPublicKey::new(verifies, public(&key.pair));
            let signature = decoded(signature);
            assert!(public.verify(message.as_bytes(), &signature).is_ok());
            assert!(public.verify(b"another", &signature).is_err());
            let (header, claims) = message.split_once('.').expect("two parts");
            let header: Value = serde_json::from_slice(&decoded(header)).expect("JSON");
            let expected = json!({ "alg": algorithm.as_str(), "typ": "JWT", "kid": "k" });
            assert_eq!(header, expected);
            assert_eq!(decoded(claims), br#"{"sub":"a"}"#);
            assert_eq!(Algorithm::named(algorithm.as_str()), Some(algorithm));
        }
        for name in ["none", "HS256", "es256", ""] {
            assert_eq!(Algorithm::named(name), None, "{name}");
        }
    }

    #[test]
    fn keys_of_another_kind_are_refused() {
        let is_rsa = |it: Algorithm| [Algorithm::Rs256, Algorithm::Ps256].contains(&it);
        for (kind, pem) in keys() {
            for (algorithm, _) in keys() {
                let read = SigningKey::from_pem(&pem, algorithm);
                if kind == algorithm || is_rsa(kind) && is_rsa(algorithm) {
                    read.expect("a key");
                    continue;
                }
                let error = read.expect_err("another kind");
                assert!(matches!(error.kind(), ErrorKind::Invalid), "{error:?}");
                let text = error.to_string();
                assert!(text.contains(algorithm.as_str()), "{text}");
            }
        }
        for text in [
            "",
            "canary",
            &pem("!!"),
            &pem(RSA).replace("PRIVATE", "RSA PRIVATE"),
        ] {
            let error = SigningKey::from_pem(text, Algorithm::Rs256).expect_err("no key");
            assert!(error.to_string().contains("BEGIN PRIVATE KEY"), "{error}");
        }
        let error = SigningKey::from_pem(&pem("AAAA"), Algorithm::EdDsa).expect_err("no key");
        assert!(error.to_string().contains("EdDSA"), "{error}");
    }

    #[test]
    fn keys_are_not_shown() {
        for (algorithm, pem) in keys() {
            let key = SigningKey::from_pem(&pem, algorithm).expect("a key");
            let shown = format!("{:?}", key.key_id("k"));
            assert_eq!(
                shown,
                format!("SigningKey {{ algorithm: {algorithm:?}, id: Some(\"k\"), .. }}")
            );
        }
    }
}
