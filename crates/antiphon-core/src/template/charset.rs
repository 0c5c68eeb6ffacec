//! Sets of ASCII characters, and the two that URIs are made of.

use std::ops::{BitOr, Sub};

/// A set of ASCII characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Charset(u128);

/// What never needs an escape.
pub(super) const UNRESERVED: Charset = Charset::of(b"-._~").and_alphanumeric();

/// What has a meaning of its own in some part of a URI.
pub(super) const RESERVED: Charset = Charset::of(b":/?#[]@!$&'()*+,;=");

impl Charset {
    pub(super) const fn of(bytes: &[u8]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < bytes.len() {
            assert!(bytes[at].is_ascii());
            bits |= 1 << bytes[at];
            at += 1;
        }
        Self(bits)
    }

    const fn and_alphanumeric(self) -> Self {
        let (mut bits, mut byte) = (self.0, 0u8);
        while byte < 128 {
            if byte.is_ascii_alphanumeric() {
                bits |= 1 << byte;
            }
            byte += 1;
        }
        Self(bits)
    }

    pub(super) fn has(self, byte: u8) -> bool {
        byte.is_ascii() && self.0 & (1 << byte) != 0
    }

    /// The length of what stands at the start of `bytes`, if it may stand for part of a value:
    /// one of this set, an escape, or (part of) a letter beyond ASCII.
    pub(super) fn unit(self, bytes: &[u8]) -> Option<usize> {
        match bytes {
            [b'%', rest @ ..] => is_hex_pair(rest).then_some(3),
            [byte, ..] if self.has(*byte) || !byte.is_ascii() => Some(1),
            _ => None,
        }
    }

    /// Whether the whole of `text` is made of such [units](Self::unit).
    pub(super) fn covers(self, text: &str) -> bool {
        let mut rest = text.as_bytes();
        while let Some(length) = self.unit(rest) {
            rest = &rest[length..];
        }
        rest.is_empty()
    }
}

impl BitOr for Charset {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Sub for Charset {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// Whether `bytes` begin with two hexadecimal digits.
pub(super) fn is_hex_pair(bytes: &[u8]) -> bool {
    matches!(bytes, [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}
