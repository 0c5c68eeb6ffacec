//! Stores: where a server remembers which states were used, and keeps what is too large to travel.
//!
//! | store | what it holds outlives | seen by |
//! |---|---|---|
//! | [`MemoryStore`] | nothing | one process |
//! | `FileStore` (feature `store`) | the process, and a crash of the machine | one process at a time |
//! | your own | what you promise | whom you serve |
//!
//! # Writing a store
//!
//! A store implements [`Guard`], [`Spill`] or both: four methods and three, whose documentation is
//! the contract. What is easily got wrong:
//!
//! - **One wins.** [`Guard::claim`] looks and writes in one step. Where the database has no such
//!   step at hand (a script, an insert that fails on a conflict, a transaction), two callers get the
//!   same state.
//! - **Time comes from the caller.** Compare with [`Claim::now`], never with a clock of the store. A
//!   database may remove by its own clock what has passed [`Claim::keep_until`], but no earlier.
//! - **Refuse rather than forget.** A store without room says [`Standing::Full`]. One that drops
//!   markers to make room lets used states in again. Recorded answers may go at any time.
//! - **Holders are checked by the store**, in the same step as the write: someone may have taken over.
//! - **Durable first, then answered.** [`Standing::Yours`] is a promise.
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
