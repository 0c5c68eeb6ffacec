//! Ways to a server.

mod batch;
mod channel;
#[cfg(feature = "http")]
mod http;
mod memory;
mod named;
mod seam;
#[cfg(feature = "stdio")]
mod stdio;
#[cfg(feature = "stdio")]
mod streams;

pub(super) use batch::split;
pub use channel::Channel;
#[cfg(feature = "http")]
pub(super) use http::Token;
#[cfg(feature = "http")]
pub use http::{Bearer, BearerChallenge, Challenge, Http, HttpTransport, ResourceMetadata};
pub use named::Named;
pub use seam::{Connect, Events, Incoming, Outgoing, Pending, Transport};
#[cfg(feature = "stdio")]
pub use stdio::{Process, Stderr, Stdio};
#[cfg(feature = "stdio")]
pub use streams::Streams;
