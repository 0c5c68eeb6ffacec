//! The client.

mod error;
mod event;
mod identity;
mod paused;
mod transport;

pub use error::{Clock, Error, ErrorKind};
pub use event::Event;
pub use identity::Identity;
pub use paused::Paused;
pub use transport::{Connect, Events, Incoming, Outgoing, Pending, Transport};
