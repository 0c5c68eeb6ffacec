//! Sealing bytes under a key: nobody without it can read or change them.
//!
//! AES-256-GCM-SIV, safe for random nonces at any scale, under a sub-key derived for one purpose
//! (HKDF-SHA-256), so that what was sealed for one is never opened as another.

use std::fmt;

use aes_gcm_siv::{
    Aes256GcmSiv,
    aead::{Aead, KeyInit, Payload},
};
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

/// Bytes of a nonce; each sealing takes a fresh random one.
pub const NONCE: usize = 12;

/// Fewest bytes of a secret.
pub const SECRET: usize = 32;

/// A secret to seal with. Wiped when dropped, and not shown by `Debug`.
#[derive(Clone)]
pub struct Key(Zeroizing<Vec<u8>>);

impl Key {
    /// A key from a secret of at least 32 random bytes.
    ///
    /// # Errors
    /// When it is shorter.
    pub fn new(secret: &[u8]) -> Result<Self, WeakKey> {
        match secret.len() {
            short if short < SECRET => Err(WeakKey(short)),
            _ => Ok(Self(Zeroizing::new(secret.to_vec()))),
        }
    }

    /// Seals `text` for a purpose.
    pub fn seal(&self, purpose: &str, nonce: [u8; NONCE], text: &[u8]) -> Vec<u8> {
        let payload = Payload {
            msg: text,
            aad: purpose.as_bytes(),
        };
        let mut sealed = nonce.to_vec();
        let encrypted = self.cipher(purpose).encrypt(&nonce.into(), payload);
        sealed.extend(encrypted.expect("a text shorter than 64 GiB can be sealed"));
        sealed
    }

    /// Opens what was sealed for a purpose; `None` if it was not, or not like this.
    pub fn open(&self, purpose: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, encrypted) = sealed.split_first_chunk::<NONCE>()?;
        let payload = Payload {
            msg: encrypted,
            aad: purpose.as_bytes(),
        };
        let opened = self.cipher(purpose).decrypt(&(*nonce).into(), payload);
        opened.ok()
    }

    fn cipher(&self, purpose: &str) -> Aes256GcmSiv {
        let mut key = Zeroizing::new([0; 32]);
        Hkdf::<Sha256>::new(None, &self.0)
            .expand(purpose.as_bytes(), &mut *key)
            .expect("32 bytes are not too many for HKDF");
        Aes256GcmSiv::new((&*key).into())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// A secret that is too short.
#[derive(Clone, PartialEq, Eq)]
pub struct WeakKey(usize);

/// As it is told: `main` prints errors like this.
impl fmt::Debug for WeakKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WeakKey: {self}")
    }
}

impl fmt::Display for WeakKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a key needs at least {SECRET} bytes, not {}", self.0)
    }
}

impl std::error::Error for WeakKey {}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> Key {
        Key::new(&[byte; 32]).expect("long enough")
    }

    #[test]
    fn only_the_same_key_and_purpose_open_what_was_not_touched() {
        let sealed = key(1).seal("test", [7; NONCE], b"text");
        assert_eq!(key(1).open("test", &sealed).as_deref(), Some(&b"text"[..]));
        assert_eq!(key(2).open("test", &sealed), None);
        assert_eq!(key(1).open("other", &sealed), None);
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert_eq!(key(1).open("test", &changed), None, "byte {at}");
            assert_eq!(key(1).open("test", &sealed[..at]), None, "cut at {at}");
        }
        assert!(!sealed.windows(4).any(|window| window == b"text"));
    }

    #[test]
    fn keys_are_long_and_hidden() {
        assert_eq!(Key::new(&[0; 31]).unwrap_err(), WeakKey(31));
        assert_eq!(format!("{:?}", key(65)), "Key(..)");
    }
}
