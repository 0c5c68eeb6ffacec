//! Sealing: what leaves for a client and comes back is opened only if it is ours, untouched, in
//! time, and brought by whom and for what it was made.
//!
//! | module | concern |
//! |---|---|
//! | [`key`] | a secret, and bytes sealed under it for one purpose |
//! | [`codec`] | the seam for a key that is kept elsewhere |
//! | [`guard`] | the seam that makes a state good once |
//! | [`spill`] | the seam for bodies too large to travel |
//! | [`memory`] | both of these in memory |

pub mod codec;
pub mod guard;
pub mod key;
pub mod memory;
pub mod spill;

pub use self::key::{Key, NONCE, SECRET, WeakKey};
