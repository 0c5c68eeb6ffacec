//! [`Journal`]: the seam that makes a step of a call known beyond the process that did it.
//!
//! A step is *entered* before its work begins, by the first who comes to it, and what came of it is
//! written beside it before the call goes on. An entry is a lease, as a claim on a state is: its
//! holder renews it while the work goes on. One that ran out without a result is the mark of a
//! process that ended in between, and nobody knows how far it came.

use std::{fmt, sync::Arc};

use super::guard::{Claim, Fingerprint, Holder, StateId, Storing, hexadecimal};
use crate::moment::Moment;

/// Remembers which steps were begun, and what came of them.
///
/// Every method is atomic: of any number of [`enter`](Self::enter)s of one step, from any number of
/// processes that share the store, one gets [`Entered::Yours`]. That, and what came of a step, must
/// be as durable as the store promises before it is said. An entry holds while
/// `now < lease_until`: from [`Entry::lease_until`] on, that moment included, one without a result
/// is [`Entered::Unknown`]. What a store knows of a step, its result included, is kept while
/// `now <= keep_until`, with [`Entry::keep_until`] itself: when there is no room left, new steps are
/// refused ([`Entered::Full`]), and nothing is thrown away early. One that is taken over is kept for
/// as long as the later of both entries says. A step that has begun may always end: no limit keeps
/// its result from being written.
pub trait Journal: Send + Sync + 'static {
    /// Enters that a step begins, or says how it stands with it.
    fn enter<'a>(&'a self, entry: &'a Entry) -> Storing<'a, Entered>;

    /// Goes on holding an entry until `until`. Nothing happens if it is not (any more) this
    /// holder's, or has ended.
    fn renew<'a>(&'a self, step: &'a StepId, holder: &'a Holder, until: Moment) -> Storing<'a, ()>;

    /// Writes down how a step ended. Nothing happens if the entry is not (any more) this holder's,
    /// or has ended.
    fn end<'a>(&'a self, step: &'a StepId, holder: &'a Holder, ended: Ended<'a>)
    -> Storing<'a, ()>;

    /// Whether all replicas of a server that are given such a store see the same.
    fn is_shared(&self) -> bool;
}

/// A step of a call: a keyed digest of both, which says nothing to anyone else.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StepId(pub [u8; 16]);

hexadecimal!(StepId);

/// A step that is about to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Which.
    pub step: StepId,
    /// Stands for the answers it builds upon: equal for equal answers.
    pub upon: Fingerprint,
    /// By whom.
    pub holder: Holder,
    /// What time it is.
    pub now: Moment,
    /// Until when the entry holds, unless it is renewed: while `now` is before this.
    pub lease_until: Moment,
    /// Until when this is to be remembered, this moment included.
    pub keep_until: Moment,
    /// Whether to take over an entry whose outcome is unknown, if it builds upon the same answers.
    pub take_over: bool,
}

impl Entry {
    /// The same as a claim on a state: for stores that keep both alike, though apart.
    pub fn as_claim(&self) -> Claim {
        Claim {
            id: StateId(self.step.0),
            answers: self.upon,
            holder: self.holder,
            now: self.now,
            lease_until: self.lease_until,
            keep_until: self.keep_until,
            take_over: self.take_over,
        }
    }
}

/// How it stands with a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entered {
    /// Nobody had begun it, or it failed. Now it is entered for whoever asked.
    Yours,
    /// Somebody does it, upon these answers.
    Running(Fingerprint),
    /// Somebody began it, upon these answers, and was not heard of again.
    Unknown(Fingerprint),
    /// It was done, upon these answers, and this came of it.
    Done(Fingerprint, Vec<u8>),
    /// There is no room to remember one more.
    Full,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended<'a> {
    /// It was done, and this came of it.
    Done(&'a [u8]),
    /// It was not done: whoever comes next may begin it, upon whatever answers, as if nobody had.
    Failed,
}

impl<J: Journal + ?Sized> Journal for Arc<J> {
    fn enter<'a>(&'a self, entry: &'a Entry) -> Storing<'a, Entered> {
        J::enter(self, entry)
    }

    fn renew<'a>(&'a self, step: &'a StepId, holder: &'a Holder, until: Moment) -> Storing<'a, ()> {
        J::renew(self, step, holder, until)
    }

    fn end<'a>(
        &'a self,
        step: &'a StepId,
        holder: &'a Holder,
        ended: Ended<'a>,
    ) -> Storing<'a, ()> {
        J::end(self, step, holder, ended)
    }

    fn is_shared(&self) -> bool {
        J::is_shared(self)
    }
}
