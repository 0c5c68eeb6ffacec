//! Antiphon: a Rust SDK for the [Model Context Protocol](https://modelcontextprotocol.io) whose
//! tools can ask.
//!
//! A [`Server`] is made of plain async functions. Their arguments say what they need from a call
//! ([`FromCall`]), what they return becomes the reply ([`IntoReply`]):
//!
//! ```no_run
//! use antiphon::{Args, Ask, Form, Server, Stop, schemars::{self, JsonSchema}, stdio};
//! use serde::Deserialize;
//!
//! /// Order a book.
//! #[derive(Deserialize, JsonSchema)]
//! struct Order { title: String }
//!
//! #[derive(Form)]
//! struct Confirm { approve: bool }
//!
//! async fn order(Args(order): Args<Order>, ask: Ask) -> Result<String, Stop> {
//!     let Confirm { approve } = ask.form("confirm", format!("Order {}?", order.title))?;
//!     Ok(if approve { "Ordered." } else { "Nothing was ordered." }.to_owned())
//! }
//!
//! #[tokio::main]
//! async fn main() -> std::io::Result<()> {
//!     let server = Server::new("book-shop", "1.0").tool("order", order);
//!     stdio::serve(server).await
//! }
//! ```
//!
//! A question without an answer ends the handler, and the client is asked; when it calls again, the
//! handler runs again, and the answer is there: see [`Ask`].
//!
//! The same server goes to [`stdio`], to [`http`] and to [`memory`](mod@memory), for tests. [`types`]
//! are the wire shapes, [`auth`] says who is calling, and [`raw`] is the tier below: one trait with a
//! method per MCP method, for gateways and for protocol work.
//!
//! | feature | default | what |
//! |---|---|---|
//! | `server` | yes | servers, and the in-memory transport |
//! | `client` | yes | clients |
//! | `stdio` | yes | the stdio transport |
//! | `http` | yes | Streamable HTTP |
//! | `tls` | no | `https` for clients |
//! | `oauth` | no | [`client::oauth`]: clients sign in |
//! | `jwt` | no | `auth::jwt` and `auth::Introspection`: tokens of an authorization server |
//! | `otel` | no | OpenTelemetry: a server span and a duration per request |
//! | `store` | no | `store::FileStore`, which outlives the process |
//! | `testing` | no | scripted people for tests of what asks; what stores must do |
//! | `macros` | yes | the attributes [`tool`](macro@tool) and [`resolver`](macro@resolver), the derives [`Form`](macro@Form) and [`Choice`](macro@Choice) |
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "server")]
pub mod auth;
#[cfg(feature = "client")]
pub mod client;
#[cfg(any(feature = "server", feature = "client"))]
mod deadline;
#[cfg(feature = "server")]
mod engine;
#[cfg(feature = "client")]
mod excerpt;
#[cfg(feature = "server")]
pub mod form;
#[cfg(all(
    feature = "client",
    feature = "stdio",
    feature = "http",
    feature = "macros"
))]
pub mod guide;
#[cfg(feature = "jwt")]
mod jose;
#[cfg(feature = "server")]
pub mod legacy;
#[cfg(any(feature = "server", feature = "client"))]
mod links;
#[cfg(feature = "server")]
pub mod raw;
#[cfg(any(feature = "server", feature = "client"))]
mod schema;
#[cfg(feature = "server")]
pub mod sealing;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "server")]
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;
mod transport;
#[cfg(all(feature = "client", feature = "http"))]
mod web;

#[cfg(feature = "macros")]
#[doc = include_str!("resolver.md")]
pub use antiphon_macros::resolver;
#[cfg(feature = "macros")]
#[doc = include_str!("tool.md")]
pub use antiphon_macros::tool;
pub use antiphon_types as types;
#[cfg(feature = "server")]
pub use schemars;
#[cfg(any(feature = "server", feature = "client"))]
pub use tokio_util::sync::CancellationToken;

pub use antiphon_core::question::Kind;
#[cfg(feature = "client")]
pub use client::Client;
#[cfg(all(feature = "client", feature = "http"))]
pub use client::Http;
#[cfg(all(feature = "client", feature = "stdio"))]
pub use client::Stdio;
#[cfg(feature = "server")]
pub use engine::{
    endpoint::Limits,
    log::Logger,
    progress::{Amount, Progress},
};
#[cfg(feature = "server")]
pub use form::{Choice, Form, RawForm};
#[cfg(feature = "server")]
pub use server::{
    Answer, Args, Ask, Audio, Cached, Call, CallKind, ClientInfo, Completions, Confirmed, Contents,
    Context, Description, Extension, Extract, FromAnswer, FromCall, FromRef, Given, Handler, Image,
    IntoContent, IntoReply, Json, Layer, Messages, Next, Offer, Once, OptionalFromCall, OrFail,
    Outcome, Prefix, Prompt, RateLimit, Receipt, RegistrationError, RequestState, Resolve,
    Resolved, Resource, Responses, Server, State, Stop, Timeout, Tool, Verdict,
};
#[cfg(all(feature = "server", feature = "http"))]
pub use transport::http;
#[cfg(any(feature = "server", feature = "client"))]
pub use transport::memory;
#[cfg(all(feature = "server", feature = "stdio"))]
pub use transport::stdio;

/// What [`Ask::url`] is made of: handles in links, and what was done behind them.
#[cfg(feature = "server")]
pub mod link {
    pub use antiphon_core::{
        link::{BadHandle, Handle},
        moment::Moment,
    };

    pub use crate::server::{Completions, NotCompleted};
}

/// A request for a completion of the client's model, as [`Ask::sample`] takes it.
#[cfg(feature = "server")]
pub use antiphon_types::CreateMessageRequestParams as Sample;

/// Serves `server` in this process, for tests and for hosts that embed it; what comes back is a
/// way for a client to reach it. The same as [`memory::connect`].
#[cfg(all(feature = "server", feature = "client"))]
pub fn memory(server: impl Into<raw::Endpoint>) -> memory::Peer {
    memory::connect(server)
}

/// What [`tool`](macro@tool) expands to needs these. Not for use by hand.
#[cfg(feature = "macros")]
#[doc(hidden)]
pub mod __private {
    pub use serde;
}
