//! Stores: where a server remembers which states were used and what came of the steps of a call, and
//! keeps what is too large to travel.
//!
//! | store | what it holds outlives | seen by |
//! |---|---|---|
//! | [`MemoryStore`] | nothing | one process |
//! | `FileStore` (feature `store`) | the process, and a crash of the machine | one process at a time |
//! | your own | what you promise | whom you serve |
//!
//! # Writing a store
//!
//! A store implements one or more of [`Guard`], [`Spill`] and [`Journal`]: four methods, three and
//! four, whose documentation is the contract. What is easily got wrong:
//!
//! - **One wins.** [`Guard::claim`] and [`Journal::enter`] look and write in one step. Where the
//!   database has no such step at hand (a script, an insert that fails on a conflict, a transaction),
//!   two callers get the same state, or do the same work.
//! - **Time comes from the caller.** Compare with [`Claim::now`] or [`Entry::now`], never with a clock
//!   of the store. A database may remove by its own clock what has passed `keep_until`, but no earlier.
//! - **Refuse rather than forget.** A store without room says [`Standing::Full`] or [`Entered::Full`].
//!   One that drops markers to make room lets used states in again, and one that drops steps has them
//!   done twice. Recorded answers of states may go at any time; results of steps stay with them.
//! - **What was begun may end.** Room is asked for when a step is entered, not when its result comes:
//!   by then the work is done.
//! - **Holders are checked by the store**, in the same step as the write: someone may have taken over.
//! - **Durable first, then answered.** [`Standing::Yours`] and [`Entered::Yours`] are promises, and so
//!   is an [`end`](Journal::end) that came back.
//! - **Apart.** A [`StateId`], a [`Handle`] and a [`StepId`] of the same bytes have nothing to do with
//!   each other.
//! - **Trouble is [`Unavailable`]**, with the reason for the log. The call fails, and its state stays
//!   good.
//!
//! The feature `testing` has the contract as tests, to be run on your store: see `antiphon::testing`.

#[cfg(feature = "store")]
mod file;

pub use antiphon_core::{
    moment::Moment,
    seal::{
        guard::{
            Claim, Ending, Fingerprint, Guard, Holder, Standing, StateId, Storing, Unavailable,
        },
        journal::{Ended, Entered, Entry, Journal, StepId},
        memory::MemoryStore,
        spill::{Handle, Kept, Owner, Spill, Spilled},
    },
};

#[cfg(feature = "store")]
pub use self::file::FileStore;
