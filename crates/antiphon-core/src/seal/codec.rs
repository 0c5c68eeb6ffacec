//! [`Codec`]: the seam for a key that is kept elsewhere, as in a key management service.

use std::{error::Error, fmt, future::Future, pin::Pin, sync::Arc};

/// What a codec makes, when it is made.
pub type Coding<'a> = Pin<Box<dyn Future<Output = Result<Vec<u8>, CodecError>> + Send + 'a>>;

/// Seals and opens bytes with a key of its own.
///
/// It must authenticate: what [`open`](Self::open) returns is what [`seal`](Self::seal) was given,
/// or nothing. It should encrypt as well. It needs to know nothing about what is in there:
/// expiry, audience, principal and request are bound inside and checked by the server.
pub trait Codec: Send + Sync + 'static {
    /// Seals.
    fn seal<'a>(&'a self, plain: &'a [u8]) -> Coding<'a>;

    /// Opens what this, or another replica's, `seal` made.
    fn open<'a>(&'a self, sealed: &'a [u8]) -> Coding<'a>;
}

/// Why bytes could not be sealed or opened. The texts are for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodecError {
    /// They are not what the codec made. The client is refused.
    Invalid(String),
    /// The codec cannot tell at present. The client is told to try again.
    Unavailable(String),
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(why) => write!(f, "invalid: {why}"),
            Self::Unavailable(why) => write!(f, "unavailable: {why}"),
        }
    }
}

impl Error for CodecError {}

impl<C: Codec + ?Sized> Codec for Arc<C> {
    fn seal<'a>(&'a self, plain: &'a [u8]) -> Coding<'a> {
        C::seal(self, plain)
    }

    fn open<'a>(&'a self, sealed: &'a [u8]) -> Coding<'a> {
        C::open(self, sealed)
    }
}
