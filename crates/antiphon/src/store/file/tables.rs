//! What one transaction works on.

use redb::{StorageError, TableError, WriteTransaction};

use super::{bodies::Bodies, claims::Claims, states, steps};
use crate::store::Moment;

pub(super) struct Tables<'t> {
    pub(super) states: Claims<'t>,
    pub(super) bodies: Bodies<'t>,
    pub(super) steps: Claims<'t>,
    /// The latest time anyone told.
    now: Moment,
}

impl<'t> Tables<'t> {
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, TableError> {
        Ok(Self {
            states: Claims::open(transaction, &states::NAMES)?,
            bodies: Bodies::open(transaction)?,
            steps: Claims::open(transaction, &steps::NAMES)?,
            now: Moment::default(),
        })
    }

    /// It is this late, at least.
    pub(super) fn passed(&mut self, now: Moment) {
        self.now = self.now.max(now);
    }

    /// Removes what has expired: more than one request can add, not more than a moment's work.
    pub(super) fn sweep(&mut self, requests: usize) -> Result<(), StorageError> {
        for _ in 0..2 * requests + 16 {
            let state = self.states.forget_one(self.now)?;
            let body = self.bodies.forget_one(self.now)?;
            let step = self.steps.forget_one(self.now)?;
            if !state && !body && !step {
                break;
            }
        }
        Ok(())
    }

    /// Whether there is anything to write.
    pub(super) fn changed(&self) -> bool {
        self.states.changed || self.bodies.changed || self.steps.changed
    }
}
