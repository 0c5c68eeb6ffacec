//! For tests: scripted people who answer what your tools, prompts and resources ask, and the
//! contracts of [`store`](crate::store)s.
//!
//! A [`Script`] says who answers what, and is played on a server; what comes of it is a [`Played`].
//! A [`Rehearsal`] plays it again with everything going wrong that may.
//! The guide is `antiphon::guide::testing`.
//!
//! # Stores of your own
//!
//! A suite is handed a way to make a store and panics at the first rule that does not hold, with the
//! rule, what was expected and what came. Time is handed to stores, so nothing sleeps; it begins with
//! the present, for databases that expire things by a clock of their own. All ids, handles, owners
//! and steps are random, so the stores of a suite may share one database, and it need not be empty.
//!
//! ```
//! use antiphon::{store::MemoryStore, testing};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! // In a test of your own, with your own store:
//! testing::guard_contract(async || MemoryStore::new()).await;
//! testing::spill_contract(async || MemoryStore::new()).await;
//! testing::journal_contract(async || MemoryStore::new()).await;
//! # }
//! ```
//!
//! The suites need a tokio runtime; one with several threads finds more. What only the author of a
//! store knows is left to its own tests: how much it holds before it is full, and what it outlives.

mod guard;
mod journal;
mod lease;
mod play;
mod played;
mod rehearsal;
mod rule;
mod script;
mod spill;
mod trace;

pub use self::{
    guard::guard_contract,
    journal::journal_contract,
    played::{Asked, Played},
    rehearsal::{Rehearsal, Trouble},
    script::{Completion, Script},
    spill::spill_contract,
};
