//! What states and steps have in common: one at a time holds them, until they are done.

use redb::{
    ReadableTable, ReadableTableMetadata, StorageError, Table, TableDefinition, TableError,
    WriteTransaction,
};

use super::record::{Due, Known, KnownRecord, Stage, due, when_what};
use crate::store::{Claim, Holder, Moment, Standing, StateId};

/// What the tables are called.
pub(super) struct Names {
    /// One of what is in them.
    pub(super) one: &'static str,
    pub(super) known: &'static str,
    pub(super) forget: &'static str,
    pub(super) kept: &'static str,
    pub(super) bytes: &'static str,
}

/// What there may be before a new one is refused.
#[derive(Debug, Clone, Copy)]
pub(super) struct Most {
    pub(super) known: u64,
    pub(super) bytes: u64,
}

pub(super) struct Claims<'t> {
    one: &'static str,
    known: Table<'t, &'static [u8; 16], &'static KnownRecord>,
    /// When to forget which.
    forget: Table<'t, &'static Due, ()>,
    /// What came of those that are done, by when they are forgotten, and how much that is.
    kept: Table<'t, &'static Due, &'static [u8]>,
    bytes: Table<'t, (), u64>,
    pub(super) changed: bool,
}

impl<'t> Claims<'t> {
    pub(super) fn open(
        transaction: &'t WriteTransaction,
        names: &Names,
    ) -> Result<Self, TableError> {
        Ok(Self {
            one: names.one,
            known: transaction.open_table(TableDefinition::new(names.known))?,
            forget: transaction.open_table(TableDefinition::new(names.forget))?,
            kept: transaction.open_table(TableDefinition::new(names.kept))?,
            bytes: transaction.open_table(TableDefinition::new(names.bytes))?,
            changed: false,
        })
    }

    pub(super) fn claim(&mut self, claim: &Claim, most: Most) -> Result<Standing, StorageError> {
        let mut claimed = Known {
            answers: claim.answers,
            keep_until: claim.keep_until,
            stage: Stage::Claimed {
                holder: claim.holder,
                lease_until: claim.lease_until,
            },
        };
        let Some(known) = self.known(&claim.id)? else {
            while self.is_full(most)? {
                if !self.forget_one(claim.now)? {
                    return Ok(Standing::Full);
                }
            }
            self.write(&claim.id, &claimed)?;
            return Ok(Standing::Yours);
        };
        match known.stage {
            Stage::Done => {
                let kept = self.kept.get(&due(known.keep_until, &claim.id.0))?;
                let kept = kept.map(|kept| kept.value().to_vec());
                Ok(Standing::Done(known.answers, kept))
            }
            Stage::Claimed { lease_until, .. } if claim.now < lease_until => {
                Ok(Standing::Running(known.answers))
            }
            Stage::Released if claim.answers != known.answers => {
                Ok(Standing::Done(known.answers, None))
            }
            Stage::Claimed { .. } if !(claim.take_over && claim.answers == known.answers) => {
                Ok(Standing::Lost(known.answers))
            }
            Stage::Claimed { .. } | Stage::Released => {
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
        let Some(mut known) = self.held(id, holder)? else {
            return Ok(());
        };
        known.stage = Stage::Claimed {
            holder: *holder,
            lease_until: until,
        };
        self.write(id, &known)
    }

    /// Leaves it to the same answers, if this is its holder.
    pub(super) fn release(&mut self, id: &StateId, holder: &Holder) -> Result<(), StorageError> {
        let Some(mut known) = self.held(id, holder)? else {
            return Ok(());
        };
        known.stage = Stage::Released;
        self.write(id, &known)
    }

    /// Leaves it to anyone, if this is its holder.
    pub(super) fn give_up(&mut self, id: &StateId, holder: &Holder) -> Result<(), StorageError> {
        if let Some(known) = self.held(id, holder)? {
            self.changed = true;
            self.known.remove(&id.0)?;
            self.forget.remove(&due(known.keep_until, &id.0))?;
        }
        Ok(())
    }

    /// It is done, with what came of it, if this is its holder.
    pub(super) fn finish(
        &mut self,
        id: &StateId,
        holder: &Holder,
        kept: Option<&[u8]>,
    ) -> Result<(), StorageError> {
        let Some(mut known) = self.held(id, holder)? else {
            return Ok(());
        };
        known.stage = Stage::Done;
        self.write(id, &known)?;
        if let Some(kept) = kept {
            self.kept.insert(&due(known.keep_until, &id.0), kept)?;
            let bytes = self.bytes()? + kept.len() as u64;
            self.bytes.insert((), bytes)?;
        }
        Ok(())
    }

    /// Forgets what came of those that expire first, while that is too much; never that they are
    /// done.
    pub(super) fn keep_at_most(&mut self, most: u64) -> Result<(), StorageError> {
        let mut bytes = self.bytes()?;
        if bytes <= most {
            return Ok(());
        }
        while bytes > most {
            let Some((_, kept)) = self.kept.pop_first()? else {
                break;
            };
            bytes = bytes.saturating_sub(kept.value().len() as u64);
        }
        self.bytes.insert((), bytes)?;
        Ok(())
    }

    /// Forgets the first that has expired; whether there was one.
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
        self.known.remove(&id)?;
        let kept = self.kept.remove(&first)?;
        if let Some(size) = kept.map(|kept| kept.value().len() as u64) {
            let bytes = self.bytes()?.saturating_sub(size);
            self.bytes.insert((), bytes)?;
        }
        Ok(true)
    }

    fn is_full(&self, most: Most) -> Result<bool, StorageError> {
        Ok(self.known.len()? >= most.known || self.bytes()? >= most.bytes)
    }

    fn known(&self, id: &StateId) -> Result<Option<Known>, StorageError> {
        let Some(record) = self.known.get(&id.0)? else {
            return Ok(None);
        };
        match Known::read(record.value()) {
            Some(known) => Ok(Some(known)),
            None => Err(self.damaged(id)),
        }
    }

    /// What is not as it can have been written.
    pub(super) fn damaged(&self, id: &StateId) -> StorageError {
        StorageError::Corrupted(format!("the record of {} {id}", self.one))
    }

    /// What is known of it, if it is claimed by this holder.
    fn held(&self, id: &StateId, by: &Holder) -> Result<Option<Known>, StorageError> {
        let known = self.known(id)?;
        Ok(known
            .filter(|known| matches!(&known.stage, Stage::Claimed { holder, .. } if holder == by)))
    }

    fn write(&mut self, id: &StateId, known: &Known) -> Result<(), StorageError> {
        self.changed = true;
        self.known.insert(&id.0, &known.write())?;
        self.forget.insert(&due(known.keep_until, &id.0), ())?;
        Ok(())
    }

    fn bytes(&self) -> Result<u64, StorageError> {
        let bytes = self.bytes.get(())?;
        Ok(bytes.map_or(0, |bytes| bytes.value()))
    }
}
