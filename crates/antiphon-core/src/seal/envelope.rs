//! A sealed state as text.
//!
//! ```text
//! base64url, without padding, of
//!   1  form: 1 sealed under a key of the ring, 2 sealed by a codec
//!   3  length of all these bytes, big-endian
//! form 1:                                 form 2:
//!   4  id of the key                        the codec's bytes
//!  12  nonce
//!   n  AES-256-GCM-SIV of the payload
//!  16  tag
//! ```
//!
//! The first eight bytes of form 1 are authenticated as well. The text has one spelling only.

use std::{cmp::Ordering, fmt};

use base64::{DecodeError, Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use super::{
    key::NONCE,
    refusal::Refusal,
    ring::{For, KeyId, Ring, TAG},
};

/// Bytes before the nonce.
const HEAD: usize = 8;
/// Bytes before the payload.
const START: usize = HEAD + NONCE;
/// Bytes that every form begins with.
const PREFIX: usize = 4;
/// Most bytes of an envelope: its length has three bytes.
pub const LONGEST: usize = (1 << 24) - 1;

const RING: u8 = 1;
const CODEC: u8 = 2;

/// A payload that is being written, with room for what goes around it.
pub struct Draft(Vec<u8>);

impl Default for Draft {
    fn default() -> Self {
        let mut bytes = Vec::with_capacity(512);
        bytes.resize(START, 0);
        Self(bytes)
    }
}

impl Draft {
    /// The payload so far, to be written to at its end.
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    /// The payload.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0[START..]
    }

    /// How many bytes the envelope will have, sealed under a key of the ring.
    pub fn sealed_len(&self) -> usize {
        self.0.len() + TAG
    }

    /// Seals it under the ring's first key.
    pub fn seal(mut self, ring: &Ring, nonce: [u8; NONCE]) -> String {
        let length = self.sealed_len();
        let (front, payload) = self.0.split_at_mut(START);
        front[..PREFIX].copy_from_slice(&prefix(RING, length));
        front[PREFIX..HEAD].copy_from_slice(&ring.current().0);
        front[HEAD..].copy_from_slice(&nonce);
        let tag = ring.seal(For::States, &nonce, &front[..HEAD], payload);
        self.0.extend_from_slice(&tag);
        text_of(&self.0)
    }
}

/// Nothing of what is in there.
impl fmt::Debug for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Draft(..)")
    }
}

/// What a codec sealed, as text.
pub fn wrap(sealed: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(PREFIX + sealed.len());
    bytes.extend_from_slice(&prefix(CODEC, PREFIX + sealed.len()));
    bytes.extend_from_slice(sealed);
    text_of(&bytes)
}

/// The room is made here: what base64 makes by itself is zeroed by the allocator, which takes 400
/// instructions more, here and where it is read.
fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(encoded_len(bytes.len()));
    URL_SAFE_NO_PAD.encode_string(bytes, &mut text);
    text
}

fn prefix(form: u8, length: usize) -> [u8; PREFIX] {
    let length = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
    [form, length[1], length[2], length[3]]
}

/// An envelope, not opened yet.
#[derive(Debug)]
pub enum Envelope {
    /// Sealed under a key of the ring.
    Ring(Vec<u8>),
    /// Sealed by a codec.
    Codec(Vec<u8>),
}

impl Envelope {
    /// Reads the text of an envelope of at most so many bytes.
    ///
    /// # Errors
    /// If it is none, or not in its one spelling.
    pub fn read(text: &str, longest: usize) -> Result<Self, Refusal> {
        if text.len() > encoded_len(longest) {
            return Err(Refusal::TooLong);
        }
        // Three for four, and what base64 wants to be sure of.
        let mut bytes = Vec::with_capacity(text.len().div_ceil(4) * 3);
        let decoded = URL_SAFE_NO_PAD.decode_vec(text, &mut bytes);
        decoded.map_err(|error| misspelt(text, &error))?;
        let form = match bytes.first() {
            Some(form @ (&RING | &CODEC)) => *form,
            Some(_) => return Err(Refusal::Form),
            None => return Err(Refusal::Truncated),
        };
        match bytes.len().cmp(&length(&bytes)) {
            Ordering::Less => return Err(Refusal::Truncated),
            Ordering::Greater => return Err(Refusal::Extended),
            Ordering::Equal => {}
        }
        Ok(match form {
            RING => Self::Ring(bytes),
            _ => Self::Codec(bytes.split_off(PREFIX)),
        })
    }
}

fn misspelt(text: &str, error: &DecodeError) -> Refusal {
    match error {
        _ if text.ends_with('=') => Refusal::Spelling,
        DecodeError::InvalidByte(_, b'=') => Refusal::Spelling,
        DecodeError::InvalidByte(..) => Refusal::Alphabet,
        // The last character of a text that was cut anywhere, or has more behind it, looks
        // misspelt too.
        _ => {
            let front = text.get(..8).map(|front| URL_SAFE_NO_PAD.decode(front));
            let Some(Ok(front)) = front else {
                return Refusal::Truncated;
            };
            match text.len().cmp(&encoded_len(length(&front))) {
                Ordering::Less => Refusal::Truncated,
                Ordering::Equal => Refusal::Spelling,
                Ordering::Greater => Refusal::Extended,
            }
        }
    }
}

/// The length that an envelope says it has.
fn length(bytes: &[u8]) -> usize {
    match bytes {
        [_, high, middle, low, ..] => u32::from_be_bytes([0, *high, *middle, *low]) as usize,
        _ => usize::MAX,
    }
}

/// How many characters an envelope of so many bytes has: four for three.
pub fn encoded_len(bytes: usize) -> usize {
    bytes.saturating_mul(4).div_ceil(3)
}

/// Opens an envelope of the ring.
///
/// # Errors
/// If no key of the ring sealed it, or it is not as it was.
pub fn open(ring: &Ring, mut bytes: Vec<u8>) -> Result<Payload, Refusal> {
    let end = bytes.len().checked_sub(TAG).ok_or(Refusal::Truncated)?;
    let (rest, tag) = bytes.split_at_mut(end);
    let (head, rest) = rest
        .split_first_chunk_mut::<HEAD>()
        .ok_or(Refusal::Truncated)?;
    let (nonce, text) = rest
        .split_first_chunk_mut::<NONCE>()
        .ok_or(Refusal::Truncated)?;
    let tag: &[u8; TAG] = (&*tag).try_into().map_err(|_| Refusal::Truncated)?;
    let [.., a, b, c, d] = *head;
    ring.open(For::States, KeyId([a, b, c, d]), nonce, head, text, tag)?;
    Ok(Payload { bytes, end })
}

/// A payload that was opened where it lay.
pub struct Payload {
    bytes: Vec<u8>,
    end: usize,
}

impl Payload {
    /// The payload.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[START..self.end]
    }
}

/// Nothing of what is in there.
impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Payload(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::Key;

    fn ring(secrets: &[u8]) -> Ring {
        let keys: Vec<_> = secrets
            .iter()
            .map(|byte| Key::new(&[*byte; 32]).expect("long enough"))
            .collect();
        Ring::new(&keys).expect("a ring")
    }

    fn sealed(ring: &Ring, payload: &[u8]) -> String {
        let mut draft = Draft::default();
        draft.payload().extend_from_slice(payload);
        draft.seal(ring, [9; NONCE])
    }

    fn opened(ring: &Ring, text: &str) -> Result<Vec<u8>, Refusal> {
        match Envelope::read(text, 1024)? {
            Envelope::Ring(bytes) => Ok(open(ring, bytes)?.as_bytes().to_vec()),
            Envelope::Codec(bytes) => Ok(bytes),
        }
    }

    #[test]
    fn there_and_back() {
        let ring = ring(&[1, 2]);
        for payload in [&b""[..], b"x", &[7; 300]] {
            assert_eq!(opened(&ring, &sealed(&ring, payload)), Ok(payload.to_vec()));
        }
        assert_eq!(opened(&ring, &wrap(b"theirs")), Ok(b"theirs".to_vec()));
    }

    #[test]
    fn the_id_selects_the_key() {
        let text = sealed(&ring(&[1]), b"x");
        assert_eq!(opened(&ring(&[2, 1]), &text), Ok(b"x".to_vec()));
        assert_eq!(opened(&ring(&[2, 3]), &text), Err(Refusal::UnknownKey));
    }

    #[test]
    fn every_change_has_a_reason() {
        let ring = ring(&[1]);
        let text = sealed(&ring, b"some state");
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).expect("ASCII");
            // Form, length, key id, the rest.
            let refusal = opened(&ring, &changed).expect_err("changed");
            let byte = at * 6 / 8;
            let expected = match byte {
                0 => &[Refusal::Form, Refusal::Truncated][..],
                1..=3 => &[Refusal::Truncated, Refusal::Extended, Refusal::UnknownKey],
                4..=7 => &[Refusal::UnknownKey, Refusal::Tampered],
                _ => &[Refusal::Tampered, Refusal::Spelling],
            };
            assert!(expected.contains(&refusal), "character {at}: {refusal:?}");
        }
        for cut in 0..text.len() {
            assert_eq!(
                opened(&ring, &text[..cut]),
                Err(Refusal::Truncated),
                "{cut}"
            );
        }
        for (changed, reason) in [
            (format!("{text}AAAA"), Refusal::Extended),
            (format!("{text}A"), Refusal::Extended),
            (format!("{text}{text}"), Refusal::Extended),
            (format!("{text}="), Refusal::Spelling),
            (format!("{text} "), Refusal::Alphabet),
            (format!("+{}", &text[1..]), Refusal::Alphabet),
            (String::new(), Refusal::Truncated),
            ("A".repeat(4096), Refusal::TooLong),
        ] {
            assert_eq!(opened(&ring, &changed), Err(reason), "{changed}");
        }
    }

    #[test]
    fn the_longest_is_exact() {
        for length in PREFIX..PREFIX + 9 {
            let text = wrap(&vec![7; length - PREFIX]);
            assert!(Envelope::read(&text, length).is_ok(), "{length}");
            let refused = Envelope::read(&text, length - 1).map(drop);
            assert_eq!(refused, Err(Refusal::TooLong), "{length}");
        }
    }
}
