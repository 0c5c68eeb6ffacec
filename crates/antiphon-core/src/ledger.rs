//! [`Ledger`]: what a call carries from one round to the next.
//!
//! In a sealed state it comes after the claims, as sections in the order of their kinds:
//!
//! ```text
//!   1  what it is
//!   3  length of the rest, big-endian as all numbers
//!
//!   1  a question that the author built: its key
//!   2  a question that is to be answered:
//!        16  digest of the question
//!         1  how many answers to it were not usable
//!         1  how often it was asked in other words before
//!         1  length of the key, the key, then what is told about the last answer
//!   3  a question and its answer:
//!        16  digest of the question
//!         1  how many answers to it were not usable
//!         1  how often it was asked in other words before
//!         2  the round that brought the answer
//!         1  length of the key, the key, then the answer, JSON
//!   4  a step that is done:
//!         2  the round it was done in
//!         1  how many shared it in that round
//!         1  length of the key, the key, then its result, JSON
//!   5  how many rounds asked something, 2 bytes; only if not all did
//!   6  the author's state, text
//!   7  the handle of a body kept in a store, 16 bytes; alone
//! ```

use std::{fmt, sync::Arc};

use crate::seal::{digest::Digest, refusal::Refusal, spill::Handle};

/// Most bytes of a key.
pub const LONGEST_KEY: usize = u8::MAX as usize;

/// What a call carries from one round to the next.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    /// The keys of the pending questions that the author built.
    pub by_hand: Vec<String>,
    /// The questions of an [`Asking`](crate::asking::Asking).
    pub questions: Vec<Question>,
    /// What was done and is not done again.
    pub steps: Vec<Step>,
    /// How many rounds asked something, if not all did.
    pub rounds: Option<u16>,
    /// What the author carries along.
    pub state: Option<String>,
}

/// A question that was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Its key.
    pub key: Arc<str>,
    /// What was asked, as the author rendered it.
    pub digest: Digest,
    /// How many answers to it were not usable.
    pub tries: u8,
    /// How often it was asked in other words before.
    pub drifts: u8,
    /// What became of it.
    pub standing: Standing,
}

/// What became of a question.
#[derive(Clone, PartialEq, Eq)]
pub enum Standing {
    /// It is to be answered; what is told about the last answer, if that was not usable.
    Pending(Arc<str>),
    /// It was answered.
    Answered {
        /// In this round.
        round: u16,
        /// With this entry, JSON.
        answer: Arc<str>,
    },
}

/// Something that was done and is not done again.
#[derive(Clone, PartialEq, Eq)]
pub struct Step {
    /// Its key.
    pub key: Arc<str>,
    /// The round it was done in.
    pub round: u16,
    /// How many shared it in that round.
    pub shared: u8,
    /// What came of it, JSON.
    pub result: Arc<str>,
}

/// Nothing of what was answered, done or carried along.
impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger")
            .field("by_hand", &self.by_hand)
            .field("questions", &self.questions)
            .field("steps", &self.steps)
            .field("rounds", &self.rounds)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pending(_) => f.write_str("Pending(..)"),
            Self::Answered { round, .. } => f
                .debug_struct("Answered")
                .field("round", round)
                .finish_non_exhaustive(),
        }
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step")
            .field("key", &self.key)
            .field("round", &self.round)
            .finish_non_exhaustive()
    }
}

const BY_HAND: u8 = 1;
const PENDING: u8 = 2;
const ANSWERED: u8 = 3;
const STEP: u8 = 4;
const ROUNDS: u8 = 5;
const STATE: u8 = 6;
const HANDLE: u8 = 7;

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
        self.pending().any(|pending| pending == key)
    }

    /// The keys of all pending questions, in the order they are written.
    pub fn pending(&self) -> impl Iterator<Item = &str> {
        let questions = self.questions.iter();
        let pending =
            questions.filter(|question| matches!(question.standing, Standing::Pending(_)));
        let by_hand = self.by_hand.iter().map(String::as_str);
        by_hand.chain(pending.map(|question| &*question.key))
    }

    /// Writes it.
    ///
    /// # Errors
    /// If a part of it has 16 MiB or more, or a key more than [`LONGEST_KEY`] bytes.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        self.with(&self.by_hand, self.state.as_deref()).write(out)
    }

    /// The same, with other questions and another state of the author.
    pub fn with<'a, K>(&'a self, by_hand: K, state: Option<&'a str>) -> Draft<'a, K> {
        Draft {
            ledger: self,
            by_hand,
            state,
        }
    }
}

/// A ledger to be written, with what an author built in this round.
#[derive(Debug)]
pub struct Draft<'a, K> {
    ledger: &'a Ledger,
    by_hand: K,
    state: Option<&'a str>,
}

impl<K: IntoIterator<Item: AsRef<str>>> Draft<'_, K> {
    /// Writes it.
    ///
    /// # Errors
    /// If a part of it has 16 MiB or more, or a key more than [`LONGEST_KEY`] bytes.
    pub fn write(self, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        for key in self.by_hand {
            section(out, BY_HAND, [key.as_ref().as_bytes()])?;
        }
        let questions = &self.ledger.questions;
        for question in questions {
            if let Standing::Pending(note) = &question.standing {
                question.write(out, PENDING, &[], note)?;
            }
        }
        for question in questions {
            if let Standing::Answered { round, answer } = &question.standing {
                question.write(out, ANSWERED, &round.to_be_bytes(), answer)?;
            }
        }
        for step in &self.ledger.steps {
            let (round, key) = (step.round.to_be_bytes(), step.key.as_bytes());
            let length = [key_length(key)?];
            let shared = [step.shared];
            section(
                out,
                STEP,
                [&round[..], &shared, &length, key, step.result.as_bytes()],
            )?;
        }
        if let Some(rounds) = self.ledger.rounds {
            section(out, ROUNDS, [&rounds.to_be_bytes()[..]])?;
        }
        match self.state {
            Some(state) => section(out, STATE, [state.as_bytes()]),
            None => Ok(()),
        }
    }
}

impl Question {
    fn write(&self, out: &mut Vec<u8>, tag: u8, round: &[u8], rest: &str) -> Result<(), TooLarge> {
        let key = self.key.as_bytes();
        let counts = [self.tries, self.drifts];
        let length = [key_length(key)?];
        section(
            out,
            tag,
            [
                &self.digest,
                &counts[..],
                round,
                &length,
                key,
                rest.as_bytes(),
            ],
        )
    }

    fn read(mut bytes: &[u8], answered: bool) -> Option<Self> {
        let digest = *take(&mut bytes)?;
        let [tries, drifts] = *take(&mut bytes)?;
        let round = match answered {
            true => Some(u16::from_be_bytes(*take(&mut bytes)?)),
            false => None,
        };
        let (key, rest) = key_and_rest(bytes)?;
        let standing = match round {
            Some(round) => Standing::Answered {
                round,
                answer: rest,
            },
            None => Standing::Pending(rest),
        };
        Some(Self {
            key,
            digest,
            tries,
            drifts,
            standing,
        })
    }
}

impl Step {
    fn read(mut bytes: &[u8]) -> Option<Self> {
        let round = u16::from_be_bytes(*take(&mut bytes)?);
        let [shared] = *take(&mut bytes)?;
        let (key, result) = key_and_rest(bytes)?;
        Some(Self {
            key,
            round,
            shared,
            result,
        })
    }
}

impl Body {
    /// Writes where a ledger is.
    pub fn write_handle(handle: Handle, out: &mut Vec<u8>) {
        section(out, HANDLE, [&handle.0[..]]).expect("a handle is small");
    }

    /// Reads what follows the claims.
    ///
    /// # Errors
    /// If it is no body.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        Self::try_read(bytes).ok_or(Refusal::Contents)
    }

    fn try_read(mut rest: &[u8]) -> Option<Self> {
        let mut ledger = Ledger::default();
        let mut last = 0;
        while !rest.is_empty() {
            let (tag, bytes) = next(&mut rest)?;
            // One order, so that a ledger has one spelling.
            let single = tag >= ROUNDS;
            if tag < last || (single && tag == last) {
                return None;
            }
            match tag {
                BY_HAND => ledger.by_hand.push(text(bytes)?),
                PENDING => ledger.questions.push(Question::read(bytes, false)?),
                ANSWERED => ledger.questions.push(Question::read(bytes, true)?),
                STEP => ledger.steps.push(Step::read(bytes)?),
                ROUNDS => ledger.rounds = Some(u16::from_be_bytes(bytes.try_into().ok()?)),
                STATE => ledger.state = Some(text(bytes)?),
                HANDLE if last == 0 && rest.is_empty() => {
                    return Some(Self::Elsewhere(Handle(bytes.try_into().ok()?)));
                }
                _ => return None,
            }
            last = tag;
        }
        Some(Self::Ledger(ledger))
    }
}

/// A part of a ledger that is larger than any can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

fn section<'p>(
    out: &mut Vec<u8>,
    tag: u8,
    parts: impl IntoIterator<Item = &'p [u8], IntoIter: Clone>,
) -> Result<(), TooLarge> {
    let parts = parts.into_iter();
    let length = parts.clone().map(<[u8]>::len).sum::<usize>();
    let [0, high, middle, low] = u32::try_from(length).map_err(|_| TooLarge)?.to_be_bytes() else {
        return Err(TooLarge);
    };
    out.extend_from_slice(&[tag, high, middle, low]);
    parts.for_each(|part| out.extend_from_slice(part));
    Ok(())
}

fn next<'a>(rest: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let [tag, high, middle, low] = *take(rest)?;
    let length = u32::from_be_bytes([0, high, middle, low]) as usize;
    let (bytes, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some((tag, bytes))
}

fn take<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (first, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(first)
}

fn key_length(key: &[u8]) -> Result<u8, TooLarge> {
    u8::try_from(key.len()).map_err(|_| TooLarge)
}

fn key_and_rest(mut bytes: &[u8]) -> Option<(Arc<str>, Arc<str>)> {
    let [length] = *take(&mut bytes)?;
    let (key, rest) = bytes.split_at_checked(length.into())?;
    let shared = |bytes: &[u8]| match bytes.is_empty() {
        true => Some(Arc::default()),
        false => Some(Arc::from(str::from_utf8(bytes).ok()?)),
    };
    Some((shared(key)?, shared(rest)?))
}

fn text(bytes: &[u8]) -> Option<String> {
    Some(str::from_utf8(bytes).ok()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Ledger {
        let question = |key: &str, standing| Question {
            key: key.into(),
            digest: [7; 16],
            tries: 1,
            drifts: 2,
            standing,
        };
        let answered = Standing::Answered {
            round: 3,
            answer: r#"{"action":"decline"}"#.into(),
        };
        Ledger {
            by_hand: vec!["hand".to_owned(), String::new()],
            questions: vec![
                question("name", Standing::Pending("- `name`: is required".into())),
                question("", Standing::Pending("".into())),
                question("region", answered),
            ],
            steps: vec![Step {
                key: "charge".into(),
                round: 2,
                shared: 1,
                result: "42".into(),
            }],
            rounds: Some(258),
            state: Some("state".to_owned()),
        }
    }

    #[test]
    fn there_and_back() {
        for ledger in [full(), Ledger::default()] {
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
    }

    #[test]
    fn a_ledger_has_one_spelling() {
        for bytes in [
            &[9, 0, 0, 0][..],
            &[0, 0, 0, 0],
            &[STATE, 0, 0, 0, BY_HAND, 0, 0, 0],
            &[STATE, 0, 0, 0, STATE, 0, 0, 0],
            &[STATE, 0, 0, 1, 0xff],
            &[ROUNDS, 0, 0, 1, 1],
            &[ROUNDS, 0, 0, 2, 0, 1, ROUNDS, 0, 0, 2, 0, 1],
            &[BY_HAND, 0, 0, 0, HANDLE, 0, 0, 0],
            &[STEP, 0, 0, 3, 0, 1, 9],
        ] {
            assert_eq!(Body::read(bytes), Err(Refusal::Contents), "{bytes:?}");
        }
    }

    #[test]
    fn what_is_pending_is_asked() {
        let ledger = full();
        assert_eq!(
            ledger.pending().collect::<Vec<_>>(),
            ["hand", "", "name", ""]
        );
        assert!(ledger.asks("name") && ledger.asks("hand") && !ledger.asks("region"));
    }

    #[test]
    fn debug_shows_keys_and_no_values() {
        let shown = format!("{:?}", full());
        for key in ["hand", "name", "region", "charge"] {
            assert!(shown.contains(key), "{shown}");
        }
        for value in ["is required", "decline", "42", "\"state\""] {
            assert!(!shown.contains(value), "{shown}");
        }
    }

    #[test]
    fn what_is_too_large_is_not_cut_short() {
        let ledger = Ledger {
            state: Some("x".repeat(1 << 24)),
            ..Ledger::default()
        };
        assert_eq!(ledger.write(&mut Vec::new()), Err(TooLarge));
        let mut ledger = full();
        ledger.questions[0].key = "k".repeat(LONGEST_KEY + 1).into();
        assert_eq!(ledger.write(&mut Vec::new()), Err(TooLarge));
    }
}
