//! What expires when.

use std::collections::BTreeSet;

use crate::moment::Moment;

pub(super) struct Expiring<T>(BTreeSet<(Moment, T)>);

impl<T> Default for Expiring<T> {
    fn default() -> Self {
        Self(BTreeSet::new())
    }
}

impl<T: Ord> Expiring<T> {
    pub(super) fn add(&mut self, at: Moment, what: T) {
        self.0.insert((at, what));
    }

    pub(super) fn remove(&mut self, at: Moment, what: T) {
        self.0.remove(&(at, what));
    }

    /// Takes out the next that has expired.
    pub(super) fn next(&mut self, now: Moment) -> Option<T> {
        let (at, _) = self.0.first()?;
        if now <= *at {
            return None;
        }
        self.0.pop_first().map(|(_, what)| what)
    }
}
