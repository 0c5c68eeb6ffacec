//! The requests of one connection that are not answered yet, by id.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use antiphon_types::RequestId;

use super::outbox::Outbox;

#[derive(Debug, Default)]
pub(crate) struct InFlight(Mutex<HashMap<RequestId, Arc<Outbox>>>);

impl InFlight {
    /// Enters a request; `None` if its id is still in use (BASE-C-03).
    pub(crate) fn enter(self: &Arc<Self>, id: RequestId, outbox: &Arc<Outbox>) -> Option<Entered> {
        match self.lock().entry(id) {
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
        let outbox = self.lock().remove(id);
        outbox.is_some_and(|outbox| {
            outbox.cancel();
            true
        })
    }

    /// Cancels all that is left.
    pub(crate) fn cancel_all(&self) {
        self.all().iter().for_each(|outbox| outbox.cancel());
    }

    /// Brings what stays open to its end.
    pub(crate) fn end_all(&self) {
        self.all().iter().for_each(|outbox| outbox.end());
    }

    fn all(&self) -> Vec<Arc<Outbox>> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Arc<Outbox>>> {
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
        if table.get(&self.id).is_some_and(ours) {
            table.remove(&self.id);
        }
    }
}
