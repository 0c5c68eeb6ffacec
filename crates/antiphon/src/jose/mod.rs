//! Signatures over JSON: the keys of others, and what they signed.
//!
//! `jsonwebtoken` reads headers and keys; `ring`, which TLS has brought along, does the arithmetic.

#[cfg(feature = "jwt")]
mod verify;

#[cfg(feature = "jwt")]
pub use self::verify::Algorithm;
#[cfg(feature = "jwt")]
pub(crate) use self::verify::PublicKey;
