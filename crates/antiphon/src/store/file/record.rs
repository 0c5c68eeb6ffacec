//! How things are written down: fixed places, big-endian, so that keys sort by time.
//!
//! Whatever changes here, or in what a table holds, changes [`FORMAT`](super::disk::FORMAT).

use antiphon_core::seal::guard::{Fingerprint, Holder};

use crate::store::Moment;

/// When something is to go, and what: the key of the tables that are in the order of time.
pub(super) type Due = [u8; 24];

pub(super) fn due(at: Moment, what: &[u8; 16]) -> Due {
    join(&at.as_millis().to_be_bytes(), what)
}

/// The parts of a [`Due`].
pub(super) fn when_what(due: &Due) -> (Moment, [u8; 16]) {
    (moment(piece(due, 0)), piece(due, 8))
}

/// Whose, when and what: the key of the bodies of one owner in the order of time.
pub(super) type Owned = [u8; 40];

pub(super) fn owned(owner: &[u8; 16], due: &Due) -> Owned {
    join(owner, due)
}

/// What is due, of an [`Owned`].
pub(super) fn due_of(owned: &Owned) -> Due {
    piece(owned, 16)
}

/// What is written in front of a body: until when it is kept, and whose it is.
pub(super) const HEAD: usize = 24;

/// A body with its head, or nothing if it has none.
pub(super) fn body(record: &[u8]) -> Option<(Moment, [u8; 16], &[u8])> {
    let (head, body) = record.split_first_chunk::<HEAD>()?;
    let (keep_until, owner) = when_what(head);
    Some((keep_until, owner, body))
}

/// What is known of something that was claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) answers: Fingerprint,
    pub(super) keep_until: Moment,
    pub(super) stage: Stage,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stage {
    Claimed { holder: Holder, lease_until: Moment },
    Done,
    Released,
}

/// A stage, answers, when to forget it; holder and lease, if it is claimed.
pub(super) type KnownRecord = [u8; 49];

const CLAIMED: u8 = 1;
const DONE: u8 = 2;
const RELEASED: u8 = 3;

impl Known {
    pub(super) fn write(&self) -> KnownRecord {
        let (stage, holder, lease_until) = match self.stage {
            Stage::Claimed {
                holder,
                lease_until,
            } => (CLAIMED, holder, lease_until),
            Stage::Done => (DONE, Holder([0; 16]), Moment::default()),
            Stage::Released => (RELEASED, Holder([0; 16]), Moment::default()),
        };
        let known: [u8; 25] = join(&[stage], &due(self.keep_until, &self.answers.0));
        join(&known, &due(lease_until, &holder.0))
    }

    /// Nothing, if this is no stage that we know.
    pub(super) fn read(record: &KnownRecord) -> Option<Self> {
        let (keep_until, answers) = when_what(&piece(record, 1));
        let (lease_until, holder) = when_what(&piece(record, 25));
        let stage = match record[0] {
            CLAIMED => Stage::Claimed {
                holder: Holder(holder),
                lease_until,
            },
            DONE => Stage::Done,
            RELEASED => Stage::Released,
            _ => return None,
        };
        Some(Self {
            answers: Fingerprint(answers),
            keep_until,
            stage,
        })
    }
}

fn moment(bytes: [u8; 8]) -> Moment {
    Moment::from_millis(u64::from_be_bytes(bytes))
}

fn join<const N: usize>(front: &[u8], back: &[u8]) -> [u8; N] {
    let mut whole = [0; N];
    whole[..front.len()].copy_from_slice(front);
    whole[front.len()..].copy_from_slice(back);
    whole
}

fn piece<const N: usize>(whole: &[u8], at: usize) -> [u8; N] {
    whole[at..]
        .first_chunk()
        .copied()
        .expect("records have fixed places")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_read_as_they_were_written() {
        let stages = [
            Stage::Done,
            Stage::Released,
            Stage::Claimed {
                holder: Holder([3; 16]),
                lease_until: Moment::LAST,
            },
        ];
        for stage in stages {
            let known = Known {
                answers: Fingerprint([7; 16]),
                keep_until: Moment::from_millis(1_789_000_000_123),
                stage,
            };
            assert_eq!(Known::read(&known.write()), Some(known));
        }
    }

    #[test]
    fn a_stage_of_another_time_is_not_read() {
        let mut record = [0; 49];
        assert_eq!(Known::read(&record), None);
        record[0] = RELEASED + 1;
        assert_eq!(Known::read(&record), None);
    }

    #[test]
    fn what_is_due_sorts_by_time() {
        let early = due(Moment::from_millis(255), &[9; 16]);
        let late = due(Moment::from_millis(256), &[0; 16]);
        assert!(early < late);
        assert_eq!(when_what(&early), (Moment::from_millis(255), [9; 16]));
        assert_eq!(due_of(&owned(&[5; 16], &late)), late);
    }
}
