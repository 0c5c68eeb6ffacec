//! The client.

mod error;
mod event;
#[cfg(feature = "http")]
mod http;
mod identity;
mod paused;
mod transport;

pub use error::{Clock, Error, ErrorKind};
pub use event::Event;
#[cfg(feature = "http")]
pub use http::{Bearer, Challenge, Http, HttpTransport};
pub use identity::Identity;
pub use paused::Paused;
pub use transport::{Connect, Events, Incoming, Outgoing, Pending, Transport};

/// The TLS library behind [`Http::tls_config`].
#[cfg(feature = "tls")]
pub use tokio_rustls::rustls;
