//! Sealing: a `requestState` that nobody else can read, change, make up, or use twice.
//!
//! A server that asks hands out a state with its questions and gets it back with the answers. On
//! the way it is in the hands of a client, so everything that a later round relies on is sealed in
//! it: which questions were asked, the author's own state, when it expires, and which request of
//! whom to which server it belongs to. Every [`Server`](crate::Server) seals, under a key of its
//! own process unless it is given others; [`Sealing::layer`] seals for any
//! [`raw::Service`](crate::raw::Service).

mod keys;
mod layer;
mod leg;
mod protect;
mod record;
#[expect(clippy::module_inception, reason = "one concept, one file")]
mod sealing;

pub use antiphon_core::asking::Limits as AskLimits;
pub use antiphon_core::seal::{
    codec::{Codec, CodecError, Coding},
    key::{BadKey, Key, WeakKey},
    refusal::Refusal,
    ring::{BadRing, KeyId},
};

pub(crate) use self::leg::{
    Barred, Bound, Claimed, Dialogue, Entering, Kept, Leg, Mine, not_of_this_type,
};
pub use self::{
    keys::{KeyRing, KeysError},
    layer::Sealed,
    sealing::{Replay, Sealing},
};
