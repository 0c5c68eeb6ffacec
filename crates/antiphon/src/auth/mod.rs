//! Who is calling: the principal, the seam that finds it out from a bearer token, and what a server
//! says of itself to those who have no token yet.
//!
//! A [`Verifier`] makes a [`Principal`] of a token: [`StaticTokens`] for a fixed set; with the
//! feature `jwt` also `jwt::JwtVerifier`, which knows the keys of an authorization server, and
//! `Introspection`, which asks it. [`Protected`] is what is published of the server (RFC 9728).

mod principal;
mod protected;
pub(crate) mod scopes;
mod static_tokens;
mod verifier;

#[cfg(feature = "jwt")]
mod introspection;
#[cfg(feature = "jwt")]
pub mod jwt;

#[cfg(feature = "jwt")]
pub use self::introspection::Introspection;
#[cfg(feature = "http")]
pub(crate) use self::protected::WELL_KNOWN;
#[cfg(feature = "jwt")]
pub(crate) use self::protected::is_safe;
pub use self::{
    principal::Principal,
    protected::Protected,
    static_tokens::StaticTokens,
    verifier::{Refusal, Verifier},
};
