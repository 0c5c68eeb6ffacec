//! The requests of one connection that are not answered yet, by id.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use antiphon_types::RequestId;

use super::outbox::Outbox;

#[derive(Debug, Default)]
pub(crate) struct InFlight(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    /// Ids are the client's, but so is the time that it takes to tell them apart: the table is that of
    /// one connection, and the hash is seeded.
    waiting: HashMap<RequestId, Arc<Outbox>, foldhash::quality::RandomState>,
    /// Cancelled by id, and not gone yet.
    cancelled: Vec<Arc<Outbox>>,
}

impl InFlight {
    /// Enters a request; `None` if its id is still in use (BASE-C-03).
    pub(crate) fn enter(self: &Arc<Self>, id: RequestId, outbox: &Arc<Outbox>) -> Option<Entered> {
        match self.lock().waiting.entry(id) {
            Entry::Occupied(_) => None,
            Entry::Vacant(vacant) => {
                let id = vacant.key().clone();
                vacant.insert(outbox.clone());
                Some(Entered {
                    table: self.clone(),
                    id,
                    outbox: outbox.clone(),
                })
            }
        }
    }

    /// Cancels a request, whose id is free again at once; an unknown or finished one is ignored
    /// (CANC-S-06, CANC-B-04).
    pub(crate) fn cancel(&self, id: &RequestId) -> bool {
        let mut table = self.lock();
        let Some(outbox) = table.waiting.remove(id) else {
            return false;
        };
        table.cancelled.push(outbox.clone());
        drop(table);
        outbox.cancel();
        true
    }

    /// Cancels all that is left.
    pub(crate) fn cancel_all(&self) {
        for outbox in self.all() {
            outbox.cancel();
        }
    }

    /// Drops all that is left, also what is to run to its end.
    pub(crate) fn drop_all(&self) {
        self.all().iter().for_each(|outbox| outbox.drop_request());
    }

    /// Brings what stays open to its end.
    pub(crate) fn end_all(&self) {
        self.all().iter().for_each(|outbox| outbox.end());
    }

    fn all(&self) -> Vec<Arc<Outbox>> {
        let table = self.lock();
        let waiting = table.waiting.values();
        waiting.chain(&table.cancelled).cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request's place in the table, given up when it is dropped.
#[derive(Debug)]
pub(crate) struct Entered {
    table: Arc<InFlight>,
    id: RequestId,
    outbox: Arc<Outbox>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        // After a cancellation the id may be another request's already.
        let mut table = self.table.lock();
        let ours = |outbox: &Arc<Outbox>| Arc::ptr_eq(outbox, &self.outbox);
        if table.waiting.get(&self.id).is_some_and(ours) {
            table.waiting.remove(&self.id);
        } else if let Some(at) = table.cancelled.iter().position(ours) {
            table.cancelled.swap_remove(at);
        }
    }
}
