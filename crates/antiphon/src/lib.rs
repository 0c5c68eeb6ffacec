//! Antiphon: a Rust SDK for the [Model Context Protocol](https://modelcontextprotocol.io).
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "server")]
pub mod auth;
#[cfg(feature = "server")]
pub mod raw;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "server")]
mod transport;

pub use antiphon_types as types;

#[cfg(feature = "http")]
pub use transport::http;
#[cfg(feature = "server")]
pub use transport::memory;
#[cfg(feature = "stdio")]
pub use transport::stdio;
