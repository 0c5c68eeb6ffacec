//! [`Ring`]: several keys, of which the first seals and all open.
//!
//! The key's id travels with what it sealed and selects the one key that is tried.

use std::fmt;

use aes_gcm_siv::{
    Aes256GcmSiv, Tag,
    aead::{AeadInOut, inout::InOutBuf},
};

use super::{
    guard::hexadecimal,
    key::{Key, NONCE},
    refusal::Refusal,
};

/// Bytes of an authentication tag.
pub const TAG: usize = 16;

/// Which key it is. Not a secret.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId(pub [u8; 4]);

hexadecimal!(KeyId);

/// Keys made ready.
#[derive(Clone)]
pub struct Ring(Vec<Ready>);

#[derive(Clone)]
struct Ready {
    id: KeyId,
    states: Aes256GcmSiv,
    stored: Aes256GcmSiv,
}

/// What a sub-key is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum For {
    /// States, which travel.
    States,
    /// What is kept in a store.
    Stored,
}

const STATES: &str = "antiphon requestState v1";
const STORED: &str = "antiphon store v1";
const ID: &str = "antiphon key id v1";

impl Ring {
    /// A ring of these keys, the one that seals first.
    ///
    /// # Errors
    /// If there is none, or the same twice.
    pub fn new<'k>(keys: impl IntoIterator<Item = &'k Key>) -> Result<Self, BadRing> {
        let mut ready: Vec<Ready> = Vec::new();
        for key in keys {
            let mut id = [0; 4];
            key.derive(ID, &mut id);
            let id = KeyId(id);
            if ready.iter().any(|other| other.id == id) {
                return Err(BadRing::Twice(id));
            }
            ready.push(Ready {
                id,
                states: key.cipher(STATES),
                stored: key.cipher(STORED),
            });
        }
        match ready.is_empty() {
            true => Err(BadRing::Empty),
            false => Ok(Self(ready)),
        }
    }

    /// The ids, that of the key that seals first.
    pub fn ids(&self) -> impl Iterator<Item = KeyId> {
        self.0.iter().map(|key| key.id)
    }

    /// The id of the key that seals.
    pub fn current(&self) -> KeyId {
        self.0[0].id
    }

    /// Encrypts `text` where it is, under the first key.
    pub fn seal(&self, what: For, nonce: &[u8; NONCE], bound: &[u8], text: &mut [u8]) -> [u8; TAG] {
        let cipher = self.0[0].cipher(what);
        let tag = cipher.encrypt_inout_detached(nonce.into(), bound, InOutBuf::from(text));
        tag.expect("a text shorter than 64 GiB can be sealed")
            .into()
    }

    /// Decrypts `text` where it is, under the key of that id.
    ///
    /// # Errors
    /// If there is no such key, or this is not what it sealed.
    pub fn open(
        &self,
        what: For,
        id: KeyId,
        nonce: &[u8; NONCE],
        bound: &[u8],
        text: &mut [u8],
        tag: &[u8; TAG],
    ) -> Result<(), Refusal> {
        let key = self.0.iter().find(|key| key.id == id);
        let cipher = key.ok_or(Refusal::UnknownKey)?.cipher(what);
        let tag: &Tag = tag.into();
        cipher
            .decrypt_inout_detached(nonce.into(), bound, InOutBuf::from(text), tag)
            .map_err(|_| Refusal::Tampered)
    }
}

impl Ready {
    fn cipher(&self, what: For) -> &Aes256GcmSiv {
        match what {
            For::States => &self.states,
            For::Stored => &self.stored,
        }
    }
}

/// The ids, and nothing of the keys.
impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.ids()).finish()
    }
}

/// Why keys make no ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadRing {
    /// There is no key.
    Empty,
    /// Two keys have this id: the same key is given twice.
    Twice(KeyId),
}

impl fmt::Display for BadRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there is no key: give at least one"),
            Self::Twice(id) => write!(f, "the key with the id {id} is given twice"),
        }
    }
}

impl std::error::Error for BadRing {}
