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
