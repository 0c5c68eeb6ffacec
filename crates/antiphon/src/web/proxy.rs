//! [`Proxy`]: the way around, from the environment or the caller.

use std::fmt;

use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

use super::{
    endpoint::{Endpoint, unusable},
    error::Error,
};
use crate::links::is_loopback;

/// Which proxy to use.
#[derive(Debug, Clone, Default)]
pub(crate) enum Choice {
    /// What the environment says.
    #[default]
    Environment,
    None,
    /// This one. May hold a password.
    Url(Secret),
}

/// Text that is not shown.
#[derive(Clone)]
pub(crate) struct Secret(pub(crate) String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

/// The proxy in front of one server.
#[derive(Debug, Clone)]
pub(crate) struct Proxy {
    /// Where it listens, without user name and password.
    pub(crate) uri: Uri,
    /// The `Proxy-Authorization` header.
    pub(crate) authorization: Option<HeaderValue>,
}

impl Choice {
    /// The proxy for a server.
    ///
    /// # Errors
    /// For a proxy that cannot be used.
    pub(crate) fn proxy_for(&self, endpoint: &Endpoint) -> Result<Option<Proxy>, Error> {
        let found = match self {
            Self::None => None,
            // A proxy elsewhere would look for the server on its own machine.
            Self::Environment if endpoint.is_loopback() => None,
            Self::Environment => Matcher::from_env().intercept(&endpoint.uri),
            Self::Url(Secret(url)) => {
                let found = Matcher::builder()
                    .all(url.as_str())
                    .build()
                    .intercept(&endpoint.uri);
                let why = "it must look like http://host:port";
                Some(found.ok_or_else(|| unusable("the proxy", url, why))?)
            }
        };
        found.as_ref().map(Proxy::new).transpose()
    }
}

impl Proxy {
    fn new(found: &Intercept) -> Result<Self, Error> {
        let uri = found.uri().clone();
        match uri.scheme_str() {
            Some("http" | "https") => Ok(Self {
                authorization: found.basic_auth().cloned(),
                uri,
            }),
            _ => {
                let why = "only HTTP proxies can be; .no_proxy() goes without one";
                Err(unusable("the proxy", &uri.to_string(), why))
            }
        }
    }

    /// Whether it is spoken to over TLS.
    pub(crate) fn is_secure(&self) -> bool {
        self.uri.scheme_str() == Some("https")
    }

    /// Whether it is on this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        is_loopback(self.uri.host().unwrap_or_default())
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.uri.to_string().trim_end_matches('/'))
    }
}
