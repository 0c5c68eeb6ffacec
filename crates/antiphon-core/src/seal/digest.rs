//! [`Secret`]: the random secret of one call, and the keyed digests it makes.
//!
//! AES-128-CMAC (RFC 4493) under a secret that only the sealed state carries. Whoever sees a
//! digest learns nothing from it, it says nothing in another call, and it stays what it is when
//! keys are rotated. What is digested begins with a byte that says what it is, so that a digest
//! of one thing is never one of another.

use std::{fmt, mem::ManuallyDrop};

use aes::Aes128;
use cmac::{Cmac, KeyInit, Mac};
use zeroize::Zeroizing;

/// Bytes of a digest.
pub const DIGEST: usize = 16;

/// A digest.
pub type Digest = [u8; DIGEST];

/// The secret of one call, the same in all its rounds.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<[u8; 16]>);

impl Secret {
    /// From 16 random bytes.
    pub fn new(random: [u8; 16]) -> Self {
        Self(Zeroizing::new(random))
    }

    pub(super) fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Makes digests. It is worth keeping while there are more to make.
    pub fn digester(&self) -> Digester {
        Digester(ManuallyDrop::new(Cmac::new(self.as_bytes().into())))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// What a digest is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// The name a server gave itself.
    Audience,
    /// The tool, the prompt or the resource.
    Target,
    /// Canonical arguments.
    Arguments,
    /// Who calls.
    Principal,
    /// The answers of a round.
    Answers,
    /// The call itself: what it is called in logs.
    Flow,
    /// What is asked, canonical.
    Question,
    /// A key of the author's, for use elsewhere: idempotency keys.
    Key,
    /// A key of the author's, for use in links.
    Link,
    /// A key of the author's, for use in a journal.
    Step,
    /// What a step builds upon.
    Upon,
}

impl Of {
    fn tag(self) -> u8 {
        match self {
            Self::Audience => b'A',
            Self::Target => b'T',
            Self::Arguments => b'R',
            Self::Principal => b'P',
            Self::Answers => b'S',
            Self::Flow => b'F',
            Self::Question => b'Q',
            Self::Key => b'K',
            Self::Link => b'L',
            Self::Step => b'J',
            Self::Upon => b'U',
        }
    }
}

/// Makes digests under one secret, one after the other.
///
/// Unlike keys it is not wiped: the opened state beside it, which goes when it goes, holds the
/// same secret, and that is worth something in one call only.
pub struct Digester(ManuallyDrop<Cmac<Aes128>>);

impl Digester {
    /// The digest of these bytes.
    pub fn of(&mut self, what: Of, bytes: &[u8]) -> Digest {
        self.0.update(&[what.tag()]);
        self.0.update(bytes);
        self.0.finalize_reset().into_bytes().into()
    }

    /// What the call is called in logs.
    pub fn flow(&mut self) -> FlowId {
        FlowId(self.of(Of::Flow, b""))
    }
}

impl fmt::Debug for Digester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digester(..)")
    }
}

/// A call in all its rounds, as logs name it. It tells nothing about the secret.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlowId(pub Digest);

super::guard::hexadecimal!(FlowId);

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4493, section 4: the empty message aside, ours always begin with a tag.
    #[test]
    fn it_is_the_cmac_of_the_rfc() {
        let key = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes();
        let mac: Cmac<Aes128> = KeyInit::new((&key).into());
        let tag: Digest = mac.finalize().into_bytes().into();
        assert_eq!(
            u128::from_be_bytes(tag),
            0xbb1d_6929_e959_3728_7fa3_7d12_9b75_6746
        );
    }

    #[test]
    fn it_is_of_the_tag_and_the_bytes_however_many() {
        let secret = [3; 16];
        let mut digester = Secret::new(secret).digester();
        for length in 0..200 {
            let bytes: Vec<u8> = (0..length).collect();
            let mut mac: Cmac<Aes128> = KeyInit::new((&secret).into());
            mac.update(&[b"T", &*bytes].concat());
            let expected: Digest = mac.finalize().into_bytes().into();
            assert_eq!(digester.of(Of::Target, &bytes), expected, "{length}");
        }
    }

    #[test]
    fn what_it_is_of_makes_a_difference() {
        let mut one = Secret::new([1; 16]).digester();
        let mut two = Secret::new([2; 16]).digester();
        assert_eq!(one.of(Of::Target, b"x"), one.of(Of::Target, b"x"));
        assert_ne!(one.of(Of::Target, b"x"), one.of(Of::Target, b"y"));
        assert_ne!(one.of(Of::Target, b"x"), one.of(Of::Principal, b"x"));
        assert_ne!(one.of(Of::Target, b"x"), two.of(Of::Target, b"x"));
        assert_eq!(format!("{:?}", Secret::new([1; 16])), "Secret(..)");
    }
}
