//! [`Protect`]: bytes sealed under the ring or by a codec, whichever it is.

use std::{
    cell::RefCell,
    sync::{Arc, OnceLock},
};

use antiphon_core::seal::{
    Key, NONCE,
    codec::{Codec, CodecError, Coding},
    envelope::{self, Draft, Envelope, Payload},
    guard::StateId,
    journal::StepId,
    refusal::Refusal,
    ring::{For, KeyId, Ring, TAG},
};

use zeroize::Zeroizing;

use super::KeyRing;

/// What seals.
#[derive(Clone)]
pub(super) enum Protect {
    /// A key of this process, made when it is first needed.
    Process(Arc<OnceLock<Arc<Ring>>>),
    Keys(KeyRing),
    Codec(Arc<dyn Codec>),
    /// Nothing does.
    Plain,
}

/// Why something could not be sealed or opened.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It is not ours, or not good here and now.
    Refused(Refusal),
    /// What is needed to find out is not there at present.
    Unavailable(String),
    /// Somebody works on it, for longer than one waits.
    Busy,
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<CodecError> for Trouble {
    fn from(error: CodecError) -> Self {
        match error {
            CodecError::Invalid(why) => {
                tracing::debug!(why, "the codec refused a requestState");
                Self::Refused(Refusal::Codec)
            }
            other => Self::Unavailable(format!("the codec is {other}")),
        }
    }
}

/// An opened payload, wherever it lies.
pub(super) enum Opened {
    InPlace(Payload),
    /// From a codec, after a byte that says what it is.
    Coded(Vec<u8>),
}

impl Opened {
    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::InPlace(payload) => payload.as_bytes(),
            Self::Coded(bytes) => &bytes[1..],
        }
    }
}

/// What is kept in a store: what it is, and the state or the step it belongs to.
pub(super) fn body_of(id: &StateId) -> [u8; 17] {
    bound(b'b', &id.0)
}

/// See [`body_of`].
pub(super) fn answer_to(id: &StateId) -> [u8; 17] {
    bound(b'a', &id.0)
}

/// See [`body_of`].
pub(super) fn result_of(step: &StepId) -> [u8; 17] {
    bound(b's', &step.0)
}

fn bound(what: u8, id: &[u8; 16]) -> [u8; 17] {
    let mut bound = [what; 17];
    bound[1..].copy_from_slice(id);
    bound
}

/// What a codec is given begins with what it is for, so that the one is never taken for the other.
const STATE: u8 = b'q';
const STORED: u8 = b'm';

impl Protect {
    /// Whoever else seals, which may take its time.
    pub(super) fn codec(&self) -> Option<&dyn Codec> {
        match self {
            Self::Process(_) | Self::Keys(_) => None,
            Self::Codec(codec) => Some(&**codec),
            Self::Plain => Some(&Plain),
        }
    }

    /// The keys, where there is no codec.
    fn ring(&self) -> Result<Arc<Ring>, Trouble> {
        match self {
            Self::Process(ring) => {
                if let Some(ring) = ring.get() {
                    return Ok(ring.clone());
                }
                let secret = Zeroizing::new(random::<32>()?);
                let key = Key::new(&*secret).expect("32 bytes are enough");
                let new = Arc::new(Ring::new([&key]).expect("there is one key"));
                Ok(ring.get_or_init(|| new).clone())
            }
            Self::Keys(keys) => keys
                .ring()
                .map_err(|bad| Trouble::Unavailable(bad.to_string())),
            Self::Codec(_) | Self::Plain => {
                Err(Trouble::Unavailable("a codec seals, not a key".to_owned()))
            }
        }
    }

    /// Seals a state at once, where there is no [codec](Self::codec).
    pub(super) fn seal_here(&self, draft: Draft, nonce: [u8; NONCE]) -> Result<String, Trouble> {
        Ok(draft.seal(&*self.ring()?, nonce))
    }

    /// Seals a state.
    pub(super) async fn seal(&self, draft: Draft, nonce: [u8; NONCE]) -> Result<String, Trouble> {
        let Some(codec) = self.codec() else {
            return self.seal_here(draft, nonce);
        };
        let mut plain = vec![STATE];
        plain.extend_from_slice(draft.as_bytes());
        Ok(envelope::wrap(&sealed(codec, &plain).await?))
    }

    /// Opens a state at once, where there is no [codec](Self::codec).
    pub(super) fn open_here(&self, text: &str, longest: usize) -> Result<Opened, Trouble> {
        match Envelope::read(text, longest)? {
            Envelope::Ring(bytes) => Ok(Opened::InPlace(envelope::open(&*self.ring()?, bytes)?)),
            Envelope::Codec(_) => Err(Refusal::Form.into()),
        }
    }

    /// Opens a state.
    pub(super) async fn open(&self, text: &str, longest: usize) -> Result<Opened, Trouble> {
        let Some(codec) = self.codec() else {
            return self.open_here(text, longest);
        };
        let Envelope::Codec(bytes) = Envelope::read(text, longest)? else {
            return Err(Refusal::Form.into());
        };
        let plain = codec.open(&bytes).await?;
        match plain.first() {
            Some(&STATE) => Ok(Opened::Coded(plain)),
            _ => Err(Refusal::Contents.into()),
        }
    }

    /// Seals what is kept in a store; it opens only for the same `bound`.
    pub(super) async fn store(&self, bound: &[u8; 17], text: &[u8]) -> Result<Vec<u8>, Trouble> {
        let Some(codec) = self.codec() else {
            let (ring, nonce) = (self.ring()?, random::<NONCE>()?);
            let mut bytes = Vec::with_capacity(4 + NONCE + text.len() + TAG);
            bytes.extend_from_slice(&ring.current().0);
            bytes.extend_from_slice(&nonce);
            bytes.extend_from_slice(text);
            let text = &mut bytes[4 + NONCE..];
            let tag = ring.seal(For::Stored, &nonce, bound, text);
            bytes.extend_from_slice(&tag);
            return Ok(bytes);
        };
        let mut plain = vec![STORED];
        plain.extend_from_slice(bound);
        plain.extend_from_slice(text);
        sealed(codec, &plain).await
    }

    /// Opens what was kept in a store.
    pub(super) async fn restore(
        &self,
        bound: &[u8; 17],
        mut bytes: Vec<u8>,
    ) -> Result<Vec<u8>, Trouble> {
        let Some(codec) = self.codec() else {
            let end = bytes.len().checked_sub(TAG).ok_or(Refusal::Truncated)?;
            let (rest, tag) = bytes.split_at_mut(end);
            let tag: [u8; TAG] = (&*tag).try_into().map_err(|_| Refusal::Truncated)?;
            let (id, rest) = rest.split_first_chunk_mut().ok_or(Refusal::Truncated)?;
            let (nonce, text) = rest.split_first_chunk_mut().ok_or(Refusal::Truncated)?;
            let ring = self.ring()?;
            ring.open(For::Stored, KeyId(*id), nonce, bound, text, &tag)?;
            bytes.truncate(end);
            return Ok(bytes.split_off(4 + NONCE));
        };
        let mut plain = codec.open(&bytes).await?;
        match plain.split_first() {
            Some((&STORED, rest)) if rest.starts_with(bound) => {
                Ok(plain.split_off(1 + bound.len()))
            }
            _ => Err(Refusal::Contents.into()),
        }
    }
}

async fn sealed(codec: &dyn Codec, plain: &[u8]) -> Result<Vec<u8>, Trouble> {
    codec
        .seal(plain)
        .await
        .map_err(|error| Trouble::Unavailable(format!("the codec cannot seal: {error}")))
}

/// Random bytes of the system's.
pub(super) fn random<const N: usize>() -> Result<[u8; N], Trouble> {
    /// Fetched for several uses at a time, as each fetch is a system call.
    struct Fetched {
        bytes: Zeroizing<[u8; 512]>,
        left: usize,
    }
    thread_local! {
        static FETCHED: RefCell<Fetched> = RefCell::new(Fetched {
            bytes: Zeroizing::new([0; 512]),
            left: 0,
        });
    }
    FETCHED.with_borrow_mut(|fetched| {
        if fetched.left < N {
            getrandom::fill(&mut *fetched.bytes).map_err(|error| {
                Trouble::Unavailable(format!("there is no randomness: {error}"))
            })?;
            fetched.left = fetched.bytes.len();
        }
        let rest = fetched.left - N;
        let mut random = [0; N];
        // Each byte is handed out once, and not kept.
        random.swap_with_slice(&mut fetched.bytes[rest..fetched.left]);
        fetched.left = rest;
        Ok(random)
    })
}

/// A codec that protects nothing.
struct Plain;

impl Codec for Plain {
    fn seal<'a>(&'a self, plain: &'a [u8]) -> Coding<'a> {
        Box::pin(async { Ok(plain.to_vec()) })
    }

    fn open<'a>(&'a self, sealed: &'a [u8]) -> Coding<'a> {
        Box::pin(async { Ok(sealed.to_vec()) })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_random_bytes_are_given_twice() {
        let mut seen = HashSet::new();
        for _ in 0..200 {
            assert!(seen.insert(random::<16>().expect("random").to_vec()));
            assert!(seen.insert(random::<44>().expect("random")[..16].to_vec()));
        }
        assert!(!seen.contains(&vec![0; 16]));
    }
}
