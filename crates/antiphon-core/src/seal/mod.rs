//! Sealing: what leaves for a client and comes back is opened only if it is ours, untouched, in
//! time, and brought by whom and for what it was made.
//!
//! | module | concern |
//! |---|---|
//! | [`key`] | a secret, and bytes sealed under it for one purpose |
//! | [`ring`](mod@ring) | several keys: the first seals, all open |
//! | [`codec`] | the seam for a key that is kept elsewhere |
//! | [`envelope`] | a sealed state as text, and the one spelling of it |
//! | [`claims`] | what a state says of itself, and of the request it belongs to |
//! | [`digest`] | short keyed digests of what a state is bound to |
//! | [`refusal`] | why a state was refused |
//! | [`guard`] | the seam that makes a state good once |
//! | [`spill`] | the seam for bodies too large to travel |
//! | [`journal`] | the seam that makes a step known beyond its process |
//! | [`memory`] | all of these in memory |

pub mod claims;
pub mod codec;
pub mod digest;
pub mod envelope;
pub mod guard;
pub mod journal;
pub mod key;
pub mod memory;
pub mod refusal;
pub mod ring;
pub mod spill;

pub use self::key::{BadKey, Key, NONCE, SECRET, WeakKey};
