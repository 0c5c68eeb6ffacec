//! Signatures over JSON: the keys of others, and what they signed.
//!
//! `jsonwebtoken` reads headers and keys; `ring`, which TLS has brought along, does the arithmetic.

mod verify;

pub use self::verify::Algorithm;
pub(crate) use self::verify::PublicKey;
