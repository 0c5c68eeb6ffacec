//! The client.

mod channel;
mod error;
mod event;
mod excerpt;
mod identity;
mod memory;
mod paused;
#[cfg(feature = "stdio")]
mod stdio;
#[cfg(feature = "stdio")]
mod streams;
mod transport;

pub use channel::Channel;
pub use error::{Clock, Error, ErrorKind};
pub use event::Event;
pub use identity::Identity;
pub use paused::Paused;
#[cfg(feature = "stdio")]
pub use stdio::{Process, Stderr, Stdio};
#[cfg(feature = "stdio")]
pub use streams::Streams;
pub use transport::{Connect, Events, Incoming, Outgoing, Pending, Transport};
