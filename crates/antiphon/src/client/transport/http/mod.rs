//! Streamable HTTP, the client's side.

mod answer;
mod bearer;
mod cause;
mod connector;
mod endpoint;
mod events;
mod head;
mod proxy;
mod settings;
#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
#[path = "no_tls.rs"]
mod tls;
mod transport;

pub use bearer::{Bearer, Challenge};
pub use settings::Http;
pub use transport::HttpTransport;
