//! What stands in for TLS without the feature `tls`: nothing can be made secure.

use super::{
    connector::Io,
    error::{Boxed, Error},
};

/// There is nothing to configure.
#[derive(Clone)]
pub(crate) enum Config {}

/// There is none.
#[derive(Clone)]
pub(crate) enum Tls {}

impl Tls {
    pub(crate) async fn load(_: Option<Config>) -> Result<Self, Error> {
        Err(Error::invalid(
            "https needs the feature `tls` of the crate `antiphon`",
        ))
    }

    pub(crate) async fn wrap(&self, _: Box<dyn Io>, _: &str) -> Result<Box<dyn Io>, Boxed> {
        match *self {}
    }
}

pub(crate) fn anonymous(config: Config) -> Config {
    config
}

#[cfg(test)]
mod tests {
    use crate::client::{Connect, ErrorKind, Events, Http};

    #[tokio::test]
    async fn https_says_what_it_needs() {
        for http in [
            Http::new("https://example.com/mcp").no_proxy(),
            Http::new("http://example.com/mcp").proxy("https://proxy.example.com"),
        ] {
            let connected = http.connect(Events::new(|_| {})).await;
            let error = connected.expect_err("there is no TLS");
            assert!(matches!(error.kind(), ErrorKind::Invalid), "{error:?}");
            assert!(error.to_string().contains("feature `tls`"), "{error}");
        }
    }
}
