//! [`Spill`]: the seam for bodies too large to travel. The state then carries only a handle.

use std::{fmt, sync::Arc};

use super::guard::{Storing, hexadecimal};
use crate::moment::Moment;

/// Keeps bodies, sealed already, until they expire.
///
/// A body is there while `now < keep_until`. From [`Spilled::keep_until`] on, that moment included,
/// it is not found; once that has passed, it no longer counts against the quota.
pub trait Spill: Send + Sync + 'static {
    /// Keeps a body under its handle, which is new, unless the owner has too much there.
    fn put<'a>(&'a self, body: &'a Spilled<'a>) -> Storing<'a, Kept>;

    /// The body under a handle, if there is one and it has not expired at `now`.
    fn get<'a>(&'a self, handle: &'a Handle, now: Moment) -> Storing<'a, Option<Vec<u8>>>;

    /// Whether all replicas of a server that are given such a store see the same.
    fn is_shared(&self) -> bool;
}

/// Where a body is: a random number that only a sealed state tells.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(pub [u8; 16]);

/// Whose a body is: the same for all that one principal leaves behind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner(pub [u8; 16]);

hexadecimal!(Handle, Owner);

/// A body to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spilled<'a> {
    /// Where.
    pub handle: Handle,
    /// Whose.
    pub owner: Owner,
    /// What.
    pub body: &'a [u8],
    /// What time it is.
    pub now: Moment,
    /// Until when: while `now` is before this.
    pub keep_until: Moment,
    /// Most bytes that this owner may have there, this body included; bodies that have expired do
    /// not count.
    pub quota: u64,
}

/// Whether a body is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// It is.
    Kept,
    /// Its owner would have more than the quota.
    OverQuota,
    /// There is no room left for anyone.
    Full,
}

impl<S: Spill + ?Sized> Spill for Arc<S> {
    fn put<'a>(&'a self, body: &'a Spilled<'a>) -> Storing<'a, Kept> {
        S::put(self, body)
    }

    fn get<'a>(&'a self, handle: &'a Handle, now: Moment) -> Storing<'a, Option<Vec<u8>>> {
        S::get(self, handle, now)
    }

    fn is_shared(&self) -> bool {
        S::is_shared(self)
    }
}
