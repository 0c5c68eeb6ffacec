//! Antiphon: a Rust SDK for the [Model Context Protocol](https://modelcontextprotocol.io) whose
//! tools can ask.
//!
//! [`raw`] is the lowest tier of a server: a [`Service`](raw::Service) with a method per MCP
//! method. An [`Endpoint`](raw::Endpoint) makes it ready for the transports: [`memory`],
//! [`stdio`] and [`http`]. [`types`] are the wire shapes; [`auth`] says who is calling.
//!
//! | feature | default | what |
//! |---|---|---|
//! | `server` | yes | the raw tier and the in-memory transport |
//! | `stdio` | yes | the stdio transport |
//! | `http` | yes | Streamable HTTP |
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "server")]
pub mod auth;
#[cfg(feature = "server")]
mod engine;
#[cfg(feature = "server")]
pub mod raw;
#[cfg(feature = "server")]
#[allow(dead_code, unused_imports)]
mod schema;
#[cfg(feature = "server")]
mod transport;

pub use antiphon_types as types;
pub use schemars;

#[cfg(feature = "http")]
pub use transport::http;
#[cfg(feature = "server")]
pub use transport::memory;
#[cfg(feature = "stdio")]
pub use transport::stdio;
