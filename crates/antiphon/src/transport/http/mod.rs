//! Streamable HTTP: a [`tower_service::Service`] over `http` types, and a server for it.
//!
//! [`service`] mounts anywhere a tower service does (axum, hyper); [`serve`] is all a program
//! of its own needs. On by default: checks of `Host` and `Origin`, limits on size and time, and
//! every header rule of the protocol.

mod auth;
mod body;
mod future;
mod guard;
mod head;
mod patience;
mod published;
mod serve;
mod service;
mod watched;

pub use http::HeaderMap;

pub use crate::legacy::http::{SessionCounts, Sessions};

pub use self::{
    body::Body,
    future::ResponseFuture,
    serve::{Serve, serve},
    service::{HttpService, service},
};
