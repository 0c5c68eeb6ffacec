//! Ways for messages to arrive.

#[cfg(all(feature = "stdio", any(feature = "server", feature = "client")))]
pub(crate) mod framing;
#[cfg(all(feature = "server", feature = "http"))]
pub mod http;
#[cfg(any(feature = "server", feature = "client"))]
pub mod memory;
#[cfg(any(feature = "server", all(feature = "client", feature = "stdio")))]
pub(crate) mod one_line;
#[cfg(all(feature = "server", feature = "stdio"))]
pub mod stdio;
