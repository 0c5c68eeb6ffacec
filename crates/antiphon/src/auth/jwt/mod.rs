//! JSON Web Tokens: access tokens that say themselves who issued them, for whom and for how long
//! (RFC 9068), and the keys that prove it.

mod cache;
mod claims;
mod discovery;
mod keys;
#[cfg(test)]
mod tests;
mod token;
mod verifier;

pub(super) use self::{
    claims::{Expected, Seconds, is_bearer, principal},
    discovery::whole,
    verifier::now,
};
pub use self::{
    keys::{BadKeySet, KeySet},
    verifier::JwtVerifier,
};
pub use crate::jose::Algorithm;
