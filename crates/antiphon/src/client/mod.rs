//! The client: one loop, callbacks that are capabilities, paused calls that are plain data.
//!
//! A [`Client`] says who is calling and what it can answer; [`Client::connect`] gives a
//! [`Connection`] to one server. [`Connection::call_tool`], [`get_prompt`](Connection::get_prompt)
//! and [`read_resource`](Connection::read_resource) answer whatever the server asks, through the
//! client's callbacks. What a callback cannot answer at once is answered
//! [by hand](Client::by_hand): [`Connection::start`] gives a [`Paused`] call, which is data, and
//! [`Connection::resume`] goes on with it, today or in another process.
//!
//! Servers of the revisions 2024-11-05 to 2025-11-25 are spoken with as well, see [`Era`]: what they
//! ask goes to the same callbacks.

mod answer;
mod asking;
mod cache;
mod check;
#[expect(
    clippy::module_inception,
    reason = "the file is named for the type it holds"
)]
mod client;
mod connection;
mod discover;
mod drive;
mod era;
mod error;
mod event;
mod given;
mod handlers;
mod identity;
mod legacy;
mod listen;
mod listing;
mod negotiation;
#[cfg(feature = "oauth")]
pub mod oauth;
#[cfg(all(feature = "http", not(feature = "oauth")))]
#[path = "no_oauth.rs"]
mod oauth;
mod options;
mod outcome;
mod patience;
mod paused;
mod question;
mod request;
mod sending;
mod shared;
mod target;
mod tools;
mod transport;

pub use answer::Answer;
pub use antiphon_core::{
    question::Kind,
    seal::{Key, WeakKey},
};
pub use client::{Client, Traffic};
pub use connection::Connection;
pub use discover::Negotiated;
pub use era::Era;
pub use error::{Clock, Error, ErrorKind};
pub use event::Event;
pub use identity::Identity;
pub use listen::{Change, Subscription};
pub use listing::Listing;
pub use negotiation::Step;
pub use outcome::{Completed, Finished, Outcome};
pub use paused::{Paused, Problem};
pub use question::{Form, Link, Question, Reply, Roots, Round, Sample};
pub use request::{CallTool, GetPrompt, ReadResource, Request};
pub use target::Target;
#[cfg(feature = "http")]
pub use transport::{Bearer, BearerChallenge, Challenge, Http, HttpTransport, ResourceMetadata};
pub use transport::{Channel, Connect, Events, Incoming, Named, Outgoing, Pending, Transport};
#[cfg(feature = "stdio")]
pub use transport::{Process, Stderr, Stdio, Streams};

/// What messages are made of, for transports of one's own.
pub use bytes::Bytes;
/// What several of them come in.
pub use futures_core::Stream;

/// The TLS library behind [`Http::tls_config`].
#[cfg(feature = "tls")]
pub use tokio_rustls::rustls;
