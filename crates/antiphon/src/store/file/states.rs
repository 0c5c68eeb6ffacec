//! Claims and what became of them.

use redb::{
    ReadableTable, ReadableTableMetadata, StorageError, Table, TableDefinition, TableError,
    WriteTransaction,
};

use super::record::{Due, State, StateRecord, Step, due, when_what};
use crate::store::{Claim, Holder, Moment, Standing, StateId};

const STATES: TableDefinition<'_, &[u8; 16], &StateRecord> = TableDefinition::new("states");
const FORGET: TableDefinition<'_, &Due, ()> = TableDefinition::new("states by time");
const ANSWERS: TableDefinition<'_, &Due, &[u8]> = TableDefinition::new("answers by time");
const ANSWER_BYTES: TableDefinition<'_, (), u64> = TableDefinition::new("answer bytes");

pub(super) struct States<'t> {
    states: Table<'t, &'static [u8; 16], &'static StateRecord>,
    /// When to forget which.
    forget: Table<'t, &'static Due, ()>,
    /// The answers that are kept, by when their states are forgotten.
    answers: Table<'t, &'static Due, &'static [u8]>,
    answer_bytes: Table<'t, (), u64>,
    pub(super) changed: bool,
}

impl<'t> States<'t> {
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, TableError> {
        Ok(Self {
            states: transaction.open_table(STATES)?,
            forget: transaction.open_table(FORGET)?,
            answers: transaction.open_table(ANSWERS)?,
            answer_bytes: transaction.open_table(ANSWER_BYTES)?,
            changed: false,
        })
    }

    pub(super) fn claim(&mut self, claim: &Claim, most: u64) -> Result<Standing, StorageError> {
        let mut claimed = State {
            answers: claim.answers,
            keep_until: claim.keep_until,
            step: Step::Claimed {
                holder: claim.holder,
                lease_until: claim.lease_until,
            },
        };
        let Some(known) = self.state(&claim.id)? else {
            while self.states.len()? >= most {
                if !self.forget_one(claim.now)? {
                    return Ok(Standing::Full);
                }
            }
            self.write(&claim.id, &claimed)?;
            return Ok(Standing::Yours);
        };
        match known.step {
            Step::Done => {
                let answer = self.answers.get(&due(known.keep_until, &claim.id.0))?;
                let answer = answer.map(|answer| answer.value().to_vec());
                Ok(Standing::Done(known.answers, answer))
            }
            Step::Claimed { lease_until, .. } if claim.now < lease_until => {
                Ok(Standing::Running(known.answers))
            }
            Step::Released if claim.answers != known.answers => {
                Ok(Standing::Done(known.answers, None))
            }
            Step::Claimed { .. } if !(claim.take_over && claim.answers == known.answers) => {
                Ok(Standing::Lost(known.answers))
            }
            Step::Claimed { .. } | Step::Released => {
                self.forget.remove(&due(known.keep_until, &claim.id.0))?;
                claimed.keep_until = claim.keep_until.max(known.keep_until);
                self.write(&claim.id, &claimed)?;
                Ok(Standing::Yours)
            }
        }
    }

    pub(super) fn renew(
        &mut self,
        id: &StateId,
        holder: &Holder,
        until: Moment,
    ) -> Result<(), StorageError> {
        let Some(mut state) = self.held(id, holder)? else {
            return Ok(());
        };
        state.step = Step::Claimed {
            holder: *holder,
            lease_until: until,
        };
        self.write(id, &state)
    }

    /// Ends a claim, and leaves the state to the same answers.
    pub(super) fn release(&mut self, id: &StateId, holder: &Holder) -> Result<(), StorageError> {
        let Some(mut state) = self.held(id, holder)? else {
            return Ok(());
        };
        state.step = Step::Released;
        self.write(id, &state)
    }

    /// Ends a claim for good; at most so many bytes of answers are kept.
    pub(super) fn use_up(
        &mut self,
        id: &StateId,
        holder: &Holder,
        answer: Option<&[u8]>,
        most: u64,
    ) -> Result<(), StorageError> {
        let Some(mut state) = self.held(id, holder)? else {
            return Ok(());
        };
        state.step = Step::Done;
        self.write(id, &state)?;
        if let Some(answer) = answer {
            self.answers.insert(&due(state.keep_until, &id.0), answer)?;
            let kept = self.answer_bytes()? + answer.len() as u64;
            self.keep_answers(kept, most)?;
        }
        Ok(())
    }

    /// Forgets the first state that has expired; whether there was one.
    pub(super) fn forget_one(&mut self, now: Moment) -> Result<bool, StorageError> {
        let Some(first) = self.forget.first()?.map(|(due, _)| *due.value()) else {
            return Ok(false);
        };
        let (keep_until, id) = when_what(&first);
        if now <= keep_until {
            return Ok(false);
        }
        self.changed = true;
        self.forget.remove(&first)?;
        self.states.remove(&id)?;
        let answer = self.answers.remove(&first)?;
        if let Some(size) = answer.map(|answer| answer.value().len() as u64) {
            let kept = self.answer_bytes()?.saturating_sub(size);
            self.answer_bytes.insert((), kept)?;
        }
        Ok(true)
    }

    fn state(&self, id: &StateId) -> Result<Option<State>, StorageError> {
        let Some(record) = self.states.get(&id.0)? else {
            return Ok(None);
        };
        match State::read(record.value()) {
            Some(state) => Ok(Some(state)),
            None => Err(StorageError::Corrupted(format!("the record of state {id}"))),
        }
    }

    /// The state, if it is claimed by this holder.
    fn held(&self, id: &StateId, by: &Holder) -> Result<Option<State>, StorageError> {
        let state = self.state(id)?;
        Ok(state
            .filter(|state| matches!(&state.step, Step::Claimed { holder, .. } if holder == by)))
    }

    fn write(&mut self, id: &StateId, state: &State) -> Result<(), StorageError> {
        self.changed = true;
        self.states.insert(&id.0, &state.write())?;
        self.forget.insert(&due(state.keep_until, &id.0), ())?;
        Ok(())
    }

    fn answer_bytes(&self) -> Result<u64, StorageError> {
        let bytes = self.answer_bytes.get(())?;
        Ok(bytes.map_or(0, |bytes| bytes.value()))
    }

    /// There are so many bytes of answers; those that expire first go while that is too much.
    fn keep_answers(&mut self, mut kept: u64, most: u64) -> Result<(), StorageError> {
        while kept > most {
            let Some((_, answer)) = self.answers.pop_first()? else {
                break;
            };
            kept = kept.saturating_sub(answer.value().len() as u64);
        }
        self.answer_bytes.insert((), kept)?;
        Ok(())
    }
}
