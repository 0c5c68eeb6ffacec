//! [`Ledger`]: what a call carries from one round to the next.
//!
//! In a sealed state it comes after the claims, as sections:
//!
//! ```text
//!   1  what it is: 1 a question, 2 the author's state, 3 the handle of a body kept in a store
//!   3  length, big-endian
//!   n  a question: its key; the author's state: text; a handle: 16 bytes
//! ```
//!
//! The author's state comes after the questions; a handle is alone.

use crate::seal::{refusal::Refusal, spill::Handle};

/// What a call carries from one round to the next.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    /// The keys of the questions that were asked in this round.
    pub pending: Vec<String>,
    /// What the author carries along.
    pub state: Option<String>,
}

const QUESTION: u8 = 1;
const STATE: u8 = 2;
const HANDLE: u8 = 3;

/// A body: what follows the claims.
#[derive(Debug, PartialEq, Eq)]
pub enum Body {
    /// The ledger itself.
    Ledger(Ledger),
    /// Where the ledger is.
    Elsewhere(Handle),
}

impl Ledger {
    /// Whether a question is pending under this key.
    pub fn asks(&self, key: &str) -> bool {
        self.pending.iter().any(|pending| pending == key)
    }

    /// Writes it.
    ///
    /// # Errors
    /// If a part of it has 16 MiB or more.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        for key in &self.pending {
            write_question(key, out)?;
        }
        match &self.state {
            Some(state) => write_state(state, out),
            None => Ok(()),
        }
    }
}

/// Writes a question into a ledger that has no state yet.
///
/// # Errors
/// If its key has 16 MiB or more.
pub fn write_question(key: &str, out: &mut Vec<u8>) -> Result<(), TooLarge> {
    section(out, QUESTION, key.as_bytes())
}

/// Writes the author's state into a ledger, after all questions.
///
/// # Errors
/// If it has 16 MiB or more.
pub fn write_state(state: &str, out: &mut Vec<u8>) -> Result<(), TooLarge> {
    section(out, STATE, state.as_bytes())
}

impl Body {
    /// Writes where a ledger is.
    pub fn write_handle(handle: Handle, out: &mut Vec<u8>) {
        section(out, HANDLE, &handle.0).expect("a handle is small");
    }

    /// Reads what follows the claims.
    ///
    /// # Errors
    /// If it is no body.
    pub fn read(mut rest: &[u8]) -> Result<Self, Refusal> {
        let mut ledger = Ledger::default();
        while !rest.is_empty() {
            let (tag, bytes) = next(&mut rest).ok_or(Refusal::Contents)?;
            match tag {
                QUESTION if ledger.state.is_none() => ledger.pending.push(text(bytes)?),
                STATE if ledger.state.is_none() => ledger.state = Some(text(bytes)?),
                HANDLE if ledger == Ledger::default() && rest.is_empty() => {
                    let handle = bytes.try_into().map_err(|_| Refusal::Contents)?;
                    return Ok(Self::Elsewhere(Handle(handle)));
                }
                _ => return Err(Refusal::Contents),
            }
        }
        Ok(Self::Ledger(ledger))
    }
}

/// A part of a ledger that is larger than any can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

fn section(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) -> Result<(), TooLarge> {
    let [0, high, middle, low] = u32::try_from(bytes.len())
        .map_err(|_| TooLarge)?
        .to_be_bytes()
    else {
        return Err(TooLarge);
    };
    out.extend_from_slice(&[tag, high, middle, low]);
    out.extend_from_slice(bytes);
    Ok(())
}

fn next<'a>(rest: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let ([tag, high, middle, low], after) = rest.split_first_chunk()?;
    let length = u32::from_be_bytes([0, *high, *middle, *low]) as usize;
    let (bytes, after) = after.split_at_checked(length)?;
    *rest = after;
    Some((*tag, bytes))
}

fn text(bytes: &[u8]) -> Result<String, Refusal> {
    String::from_utf8(bytes.to_vec()).map_err(|_| Refusal::Contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let one = Ledger {
            pending: vec!["confirm".to_owned(), String::new()],
            state: Some("state".to_owned()),
        };
        for ledger in [one, Ledger::default()] {
            let mut bytes = Vec::new();
            ledger.write(&mut bytes).expect("small");
            for cut in 1..bytes.len() {
                let read = Body::read(&bytes[..cut]);
                assert_ne!(read, Ok(Body::Ledger(ledger.clone())), "cut at {cut}");
            }
            assert_eq!(Body::read(&bytes), Ok(Body::Ledger(ledger)));
        }
        let mut bytes = Vec::new();
        Body::write_handle(Handle([7; 16]), &mut bytes);
        assert_eq!(Body::read(&bytes), Ok(Body::Elsewhere(Handle([7; 16]))));
        bytes.extend_from_slice(&[STATE, 0, 0, 0]);
        assert_eq!(
            Body::read(&bytes),
            Err(Refusal::Contents),
            "one or the other"
        );
        assert_eq!(Body::read(&[9, 0, 0, 0]), Err(Refusal::Contents), "unknown");
        let bytes = [STATE, 0, 0, 0, QUESTION, 0, 0, 0];
        assert_eq!(
            Body::read(&bytes),
            Err(Refusal::Contents),
            "questions come first, so that a ledger has one spelling"
        );
        assert_eq!(Body::read(&[STATE, 0, 0, 1, 0xff]), Err(Refusal::Contents));
    }

    #[test]
    fn what_is_too_large_is_not_cut_short() {
        let ledger = Ledger {
            state: Some("x".repeat(1 << 24)),
            ..Ledger::default()
        };
        assert_eq!(ledger.write(&mut Vec::new()), Err(TooLarge));
    }
}
