//! TLS, by rustls and ring.

use std::{error::Error as StdError, fmt, io, sync::Arc};

use hyper_util::rt::TokioIo;
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore, SignatureScheme, client::ResolvesClientCert, crypto::ring,
        pki_types::ServerName, sign::CertifiedKey,
    },
};

use super::{
    connector::Io,
    error::{Boxed, Error},
};

/// What a caller may give instead of the usual.
pub(crate) type Config = Arc<ClientConfig>;

/// Makes connections secure.
#[derive(Clone)]
pub(crate) struct Tls(TlsConnector);

impl Tls {
    /// TLS as the caller wants it, or with the certificates that the system trusts.
    pub(crate) async fn load(config: Option<Config>) -> Result<Self, Error> {
        let mut config = match config {
            Some(config) => config,
            // Reads files.
            None => tokio::task::spawn_blocking(system)
                .await
                .map_err(|error| Error::invalid("TLS cannot be set up").caused_by(error))??,
        };
        // Nothing else is spoken here, so nothing else may be agreed upon.
        let only = [b"http/1.1".to_vec()];
        if config.alpn_protocols != only {
            Arc::make_mut(&mut config).alpn_protocols = only.into();
        }
        Ok(Self(TlsConnector::from(config)))
    }

    /// Makes a connection to `host` secure.
    pub(crate) async fn wrap(&self, io: Box<dyn Io>, host: &str) -> Result<Box<dyn Io>, Boxed> {
        let name = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(name.to_owned())?;
        match self.0.connect(name, TokioIo::new(io)).await {
            Ok(stream) => Ok(Box::new(TokioIo::new(stream))),
            Err(source) => Err(NotSecured {
                host: host.to_owned(),
                source,
            }
            .into()),
        }
    }
}

/// The same configuration without a client certificate.
pub(crate) fn anonymous(mut config: Config) -> Config {
    if config.client_auth_cert_resolver.has_certs() {
        Arc::make_mut(&mut config).client_auth_cert_resolver = Arc::new(Nobody);
    }
    config
}

/// Who has no certificate.
#[derive(Debug)]
struct Nobody;

impl ResolvesClientCert for Nobody {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}

/// A handshake that failed.
#[derive(Debug)]
struct NotSecured {
    host: String,
    source: io::Error,
}

impl fmt::Display for NotSecured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no secure connection to {}", self.host)
    }
}

impl StdError for NotSecured {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.source)
    }
}

fn system() -> Result<Config, Error> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    if usable == 0 {
        let error = Error::invalid(
            "https needs certificates to trust, and this system has none: install them, name a \
             file of them in SSL_CERT_FILE, or give a .tls_config(..)",
        );
        return Err(match found.errors.into_iter().next() {
            Some(cause) => error.caused_by(cause),
            None => error,
        });
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::invalid("TLS cannot be set up").caused_by(error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}
