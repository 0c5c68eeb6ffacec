//! HTTP as it is spoken to others: connections, TLS, proxies, and [`Agent`], which gets documents.
//!
//! The client's transport stands on it, and so does whoever has to ask an authorization server.

mod agent;
mod body;
mod cause;
mod connector;
mod endpoint;
mod error;
mod pool;
mod proxy;
#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
#[path = "no_tls.rs"]
mod tls;
#[cfg(any(feature = "oauth", feature = "jwt"))]
mod well_known;

pub(crate) use agent::{Agent, Answer, NAME, Settings, lost};
pub(crate) use body::{End, Payload, gather};
pub(crate) use cause::Cause;
pub(crate) use connector::Connector;
pub(crate) use endpoint::{Endpoint, unusable, without_secrets};
pub(crate) use error::{Error, Kind};
pub(crate) use pool::{Content, Pool};
pub(crate) use proxy::{Choice, Proxy, Secret};
pub(crate) use tls::{Config, Tls, anonymous};
#[cfg(any(feature = "oauth", feature = "jwt"))]
pub(crate) use well_known::issuer_metadata;
