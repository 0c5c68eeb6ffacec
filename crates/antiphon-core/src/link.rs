//! [`Handle`]: what a link that a user is asked to open says of the call it belongs to.
//!
//! ```text
//!  16  the call and the question, by a digest that nobody else can make
//!   6  when the call ends, in milliseconds since 1970, big-endian
//!  16  who is to open it: SHA-256 over a label, the bytes above, a byte that says whether anybody
//!      is known, and the name; its first bytes
//! ```
//!
//! In a link it stands as base64url. Nothing in it is secret, and nothing is sealed: a handle with
//! one bit changed is another handle, which no call waits for. Who is to open it is part of it, so
//! a handle that somebody makes up for another user is again one that no call waits for
//! (ELIC-S-31 to ELIC-S-33).

use std::{error::Error, fmt, str::FromStr};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

use crate::{moment::Moment, seal::digest::Digest};

const LENGTH: usize = 16 + 6 + 16;

/// What a link says of the call it belongs to, for use in its URL and as a key in a store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle([u8; LENGTH]);

impl Handle {
    /// The handle for one question of a call, to be opened by `subject`, if anybody is known.
    pub fn new(question: &Digest, until: Moment, subject: Option<&str>) -> Self {
        let mut bytes = [0; LENGTH];
        bytes[..16].copy_from_slice(question);
        bytes[16..22].copy_from_slice(&until.as_millis().to_be_bytes()[2..]);
        let mut handle = Self(bytes);
        let who = handle.whose(subject);
        handle.0[22..].copy_from_slice(&who);
        handle
    }

    /// When the call that waits for it ends.
    pub fn until(&self) -> Moment {
        let mut millis = [0; 8];
        millis[2..].copy_from_slice(&self.0[16..22]);
        Moment::from_millis(u64::from_be_bytes(millis))
    }

    /// Reads the handle of a link that `subject` has opened, or nobody that is known.
    ///
    /// # Errors
    /// If it is none, is of a call that has ended, or was meant for somebody else.
    pub fn opened_by(text: &str, subject: Option<&str>, now: Moment) -> Result<Self, BadHandle> {
        let handle: Self = text.parse()?;
        let who = &handle.0[22..];
        if who != handle.whose(subject) && who != handle.whose(None) {
            return Err(BadHandle::Subject);
        }
        match now < handle.until() {
            true => Ok(handle),
            false => Err(BadHandle::Over),
        }
    }

    fn whose(&self, subject: Option<&str>) -> [u8; 16] {
        let mut hash = Sha256::new();
        hash.update(b"antiphon link\0");
        hash.update(&self.0[..22]);
        hash.update([u8::from(subject.is_some())]);
        hash.update(subject.unwrap_or_default());
        let hash: [u8; 32] = hash.finalize().into();
        let (who, _) = hash.split_first_chunk().expect("16 of 32 bytes");
        *who
    }
}

impl FromStr for Handle {
    type Err = BadHandle;

    fn from_str(text: &str) -> Result<Self, BadHandle> {
        let mut bytes = [0; LENGTH];
        let read = URL_SAFE_NO_PAD.decode_slice(text, &mut bytes);
        match read {
            Ok(LENGTH) => Ok(Self(bytes)),
            _ => Err(BadHandle::Text),
        }
    }
}

/// As it stands in a link: letters, digits, `-` and `_`.
impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({self})")
    }
}

/// Why a handle is not good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadHandle {
    /// The text is no handle.
    Text,
    /// It was meant for somebody else.
    Subject,
    /// The call has ended.
    Over,
}

impl fmt::Display for BadHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "this is not a link that we made",
            Self::Subject => "this link is for somebody else",
            Self::Over => "this link is too old: call again",
        })
    }
}

impl Error for BadHandle {}

#[cfg(test)]
mod tests {
    use super::*;

    const UNTIL: u64 = 1_800_000_000_000;

    fn handle(subject: Option<&str>) -> Handle {
        Handle::new(&[7; 16], Moment::from_millis(UNTIL), subject)
    }

    fn opened(text: &str, subject: Option<&str>) -> Result<Handle, BadHandle> {
        Handle::opened_by(text, subject, Moment::from_millis(UNTIL - 1))
    }

    #[test]
    fn only_whom_it_is_for_can_open_it() {
        let ada = handle(Some("ada"));
        let text = ada.to_string();
        assert_eq!(text.len(), 51);
        assert_eq!(opened(&text, Some("ada")), Ok(ada));
        for other in [None, Some("bob"), Some(""), Some("ada ")] {
            assert_eq!(opened(&text, other), Err(BadHandle::Subject), "{other:?}");
        }
    }

    #[test]
    fn where_nobody_is_known_anybody_can() {
        let text = handle(None).to_string();
        assert_eq!(opened(&text, Some("ada")), Ok(handle(None)));
        assert_eq!(opened(&text, None), Ok(handle(None)));
        assert_ne!(handle(None), handle(Some("")));
    }

    #[test]
    fn it_ends_with_its_call() {
        let text = handle(None).to_string();
        let late = Handle::opened_by(&text, None, Moment::from_millis(UNTIL));
        assert_eq!(late, Err(BadHandle::Over));
    }

    #[test]
    fn a_changed_one_is_another_or_none() {
        let ada = handle(Some("ada"));
        for at in 0..LENGTH {
            let mut bytes = ada.0;
            bytes[at] ^= 1;
            let other = Handle(bytes);
            assert_ne!(opened(&other.to_string(), Some("ada")), Ok(ada));
        }
        let text = ada.to_string();
        for bad in [
            "",
            &text[1..],
            &*format!("{text}A"),
            &*text.replace('B', "+"),
        ] {
            assert!(opened(bad, Some("ada")).is_err(), "{bad}");
        }
    }
}
