//! The request state, sealed: encrypted, bound to its call, and good for ten minutes.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde::Serialize;

/// How long a state may be used.
const LIFE: Duration = Duration::from_secs(600);
/// When it ends, in milliseconds since 1970; stands before the state itself.
const EXPIRY_LEN: usize = size_of::<u64>();
/// Room for a sealed state of the contract.
const ROOM: usize = 320;

/// Seals and opens with a key that no other process has.
pub(super) struct Sealer(LessSafeKey);

impl Sealer {
    pub(super) fn new() -> Self {
        let mut key = [0; 32];
        rand::fill(&mut key);
        let key = UnboundKey::new(&AES_256_GCM, &key).expect("the key has 32 bytes");
        Self(LessSafeKey::new(key))
    }

    /// The state as text that needs no escapes in JSON; only with the same `bound` can it be opened.
    pub(super) fn seal(&self, state: &impl Serialize, bound: &[u8]) -> String {
        self.seal_at(now(), state, bound)
    }

    /// The bytes of the state, opened in `buffer`.
    pub(super) fn open<'a>(
        &self,
        text: &[u8],
        bound: &[u8],
        buffer: &'a mut Vec<u8>,
    ) -> Option<&'a [u8]> {
        self.open_at(now(), text, bound, buffer)
    }

    fn seal_at(&self, now: Duration, state: &impl Serialize, bound: &[u8]) -> String {
        let mut nonce = [0; NONCE_LEN];
        rand::fill(&mut nonce);
        let mut bytes = Vec::with_capacity(ROOM);
        bytes.extend_from_slice(&nonce);
        bytes.extend_from_slice(&milliseconds(now + LIFE).to_be_bytes());
        serde_json::to_writer(&mut bytes, state).expect("a state can be written to memory");
        let tag = self
            .0
            .seal_in_place_separate_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(bound),
                &mut bytes[NONCE_LEN..],
            )
            .expect("the state is shorter than a cipher allows");
        bytes.extend_from_slice(tag.as_ref());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    fn open_at<'a>(
        &self,
        now: Duration,
        text: &[u8],
        bound: &[u8],
        buffer: &'a mut Vec<u8>,
    ) -> Option<&'a [u8]> {
        *buffer = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (nonce, sealed) = buffer.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let opened = self.0.open_in_place(nonce, Aad::from(bound), sealed).ok()?;
        let (expiry, state) = opened.split_first_chunk::<EXPIRY_LEN>()?;
        (milliseconds(now) < u64::from_be_bytes(*expiry)).then_some(state)
    }
}

fn now() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("the clock is past 1970")
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const THEN: Duration = Duration::from_secs(1_000_000);

    fn opens(sealer: &Sealer, at: Duration, text: &str, bound: &[u8]) -> bool {
        let mut buffer = Vec::new();
        let opened = sealer.open_at(at, text.as_bytes(), bound, &mut buffer);
        opened.is_some_and(|state| state == br#""kept""#)
    }

    #[test]
    fn a_state_opens_until_its_time_is_over() {
        let sealer = Sealer::new();
        let text = sealer.seal_at(THEN, &"kept", b"call");
        let last = THEN + LIFE - Duration::from_millis(1);
        assert!(opens(&sealer, last, &text, b"call"));
        assert!(!opens(&sealer, THEN + LIFE, &text, b"call"));
    }

    #[test]
    fn a_state_opens_for_its_own_call_and_key_only() {
        let sealer = Sealer::new();
        let text = sealer.seal_at(THEN, &"kept", b"call");
        assert!(opens(&sealer, THEN, &text, b"call"));
        assert!(!opens(&sealer, THEN, &text, b"another"));
        assert!(!opens(&Sealer::new(), THEN, &text, b"call"));
    }

    #[test]
    fn a_state_that_was_changed_anywhere_does_not_open() {
        let sealer = Sealer::new();
        let text = sealer.seal_at(THEN, &"kept", b"call");
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("text");
            assert!(!opens(&sealer, THEN, &changed, b"call"), "changed at {at}");
            assert!(!opens(&sealer, THEN, &text[..at], b"call"), "cut at {at}");
        }
    }
}
