//! Ways for messages to arrive.

#[cfg(feature = "http")]
pub mod http;
pub mod memory;
#[cfg(feature = "stdio")]
pub mod stdio;
