//! Sealing bytes under a key: nobody without it can read or change them.
//!
//! AES-256-GCM-SIV, safe for random nonces at any scale, under a sub-key derived for one purpose
//! (HKDF-SHA-256), so that what was sealed for one is never opened as another.

use std::fmt;

use aes_gcm_siv::{
    Aes256GcmSiv,
    aead::{Aead, KeyInit, Payload},
};
use base64::{
    Engine,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
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

    /// A key from text: `hex:` or `base64:` and the secret in that spelling. Base64 may be of
    /// either alphabet, with padding or without; white space around is ignored.
    ///
    /// # Errors
    /// When it is spelt otherwise, or too short.
    pub fn parse(text: &str) -> Result<Self, BadKey> {
        let text = text.trim();
        let secret = if let Some(digits) = text.strip_prefix("hex:") {
            Zeroizing::new(from_hex(digits).ok_or(BadKey::Hex)?)
        } else if let Some(encoded) = text.strip_prefix("base64:") {
            let encoded = encoded.trim_end_matches('=');
            let alphabet = match encoded.contains(['-', '_']) {
                true => URL_SAFE_NO_PAD,
                false => STANDARD_NO_PAD,
            };
            Zeroizing::new(alphabet.decode(encoded).map_err(|_| BadKey::Base64)?)
        } else {
            return Err(BadKey::Unmarked);
        };
        Self::new(&secret).map_err(BadKey::Weak)
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

    pub(super) fn cipher(&self, purpose: &str) -> Aes256GcmSiv {
        let mut key = Zeroizing::new([0; 32]);
        self.derive(purpose, &mut *key);
        Aes256GcmSiv::new((&*key).into())
    }

    /// Fills `out` with what belongs to this key and this purpose alone.
    pub(super) fn derive(&self, purpose: &str, out: &mut [u8]) {
        Hkdf::<Sha256>::new(None, &self.0)
            .expand(purpose.as_bytes(), out)
            .expect("so few bytes are not too many for HKDF");
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

/// A text that is no key. It never shows the text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadKey {
    /// Too short.
    Weak(WeakKey),
    /// It begins with neither `hex:` nor `base64:`.
    Unmarked,
    /// What follows `hex:` is not pairs of hexadecimal digits.
    Hex,
    /// What follows `base64:` is not base64.
    Base64,
}

impl fmt::Display for BadKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Weak(weak) => weak.fmt(f),
            Self::Unmarked => f.write_str("a key begins with `hex:` or `base64:`"),
            Self::Hex => f.write_str("what follows `hex:` is not pairs of hexadecimal digits"),
            Self::Base64 => f.write_str("what follows `base64:` is not base64"),
        }
    }
}

impl std::error::Error for BadKey {}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| char::from(digit).to_digit(16);
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| u8::try_from(value(*high)? * 16 + value(*low)?).ok();
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

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
    fn keys_have_spellings() {
        let hex = format!("hex:{}", "0aFf".repeat(16));
        let opened = |text: &str| {
            let secret: Vec<u8> = [0x0a, 0xff].repeat(16);
            let sealed = Key::new(&secret).expect("long").seal("t", [0; NONCE], b"x");
            Key::parse(text).expect(text).open("t", &sealed)
        };
        assert_eq!(opened(&hex).as_deref(), Some(&b"x"[..]));
        assert_eq!(opened(&format!("  {hex}\n")).as_deref(), Some(&b"x"[..]));
        let encoded = STANDARD_NO_PAD.encode([0x0a, 0xff].repeat(16));
        assert!(encoded.contains('/'), "{encoded}");
        assert!(opened(&format!("base64:{encoded}=")).is_some());
        assert!(
            opened(&format!(
                "base64:{}",
                encoded.replace('/', "_").replace('+', "-")
            ))
            .is_some()
        );
        for (bad, why) in [
            ("", BadKey::Unmarked),
            ("0aff", BadKey::Unmarked),
            ("hex:0", BadKey::Hex),
            ("hex:0g", BadKey::Hex),
            ("base64:%", BadKey::Base64),
            ("hex:", BadKey::Weak(WeakKey(0))),
            ("base64:AAAA", BadKey::Weak(WeakKey(3))),
        ] {
            assert_eq!(Key::parse(bad).expect_err(bad), why);
        }
    }

    #[test]
    fn keys_are_long_and_hidden() {
        assert_eq!(Key::new(&[0; 31]).unwrap_err(), WeakKey(31));
        assert_eq!(format!("{:?}", key(65)), "Key(..)");
    }
}
