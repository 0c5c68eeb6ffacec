//! [`Connector`]: opens connections to one server: directly, through a proxy, over TLS.

use std::{
    future::Future,
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{HttpConnector, proxy::Tunnel};
use tokio::time::timeout;
use tower_service::Service;

use super::{error::Boxed, proxy::Proxy, tls::Tls};

/// Opens connections to one server.
#[derive(Clone)]
pub(crate) struct Connector {
    hop: Hop,
    proxy: Option<Proxy>,
    timeout: Duration,
}

/// Opens connections to whatever a URI names, itself.
#[derive(Clone)]
struct Hop {
    tcp: HttpConnector,
    tls: Option<Tls>,
}

/// What bytes go through.
pub(crate) trait Io: Read + Write + Send + Unpin {}

impl<T: Read + Write + Send + Unpin> Io for T {}

/// An open connection.
pub(crate) struct Connection {
    io: Box<dyn Io>,
    /// It ends at a proxy, which has to be told the whole URI.
    pub(super) absolute: bool,
}

type Opening<T> = Pin<Box<dyn Future<Output = Result<T, Boxed>> + Send>>;

impl Connector {
    /// `tls` is there if the server or the proxy needs it.
    pub(crate) fn new(proxy: Option<Proxy>, tls: Option<Tls>, timeout: Duration) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        Self {
            hop: Hop { tcp, tls },
            proxy,
            timeout,
        }
    }

    async fn open(mut self, uri: Uri) -> Result<Connection, Boxed> {
        let secure = uri.scheme_str() == Some("https");
        let (io, absolute) = match self.proxy {
            None => (self.hop.call(uri).await?, false),
            Some(proxy) if secure => {
                let mut tunnel = Tunnel::new(proxy.uri, self.hop.clone());
                if let Some(authorization) = proxy.authorization {
                    tunnel = tunnel.with_auth(authorization);
                }
                let io = tunnel.call(uri.clone()).await?;
                (self.hop.secure(io, &uri).await?, false)
            }
            Some(proxy) => (self.hop.call(proxy.uri).await?, true),
        };
        Ok(Connection { io, absolute })
    }
}

impl Hop {
    async fn secure(&self, io: Box<dyn Io>, uri: &Uri) -> Result<Box<dyn Io>, Boxed> {
        match &self.tls {
            Some(tls) => tls.wrap(io, uri.host().unwrap_or_default()).await,
            None => Err("there is no TLS".into()),
        }
    }
}

impl Service<Uri> for Hop {
    type Response = Box<dyn Io>;
    type Error = Boxed;
    type Future = Opening<Self::Response>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Boxed>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let mut hop = self.clone();
        Box::pin(async move {
            let io = Box::new(hop.tcp.call(uri.clone()).await?);
            match uri.scheme_str() {
                Some("https") => hop.secure(io, &uri).await,
                _ => Ok(io as Box<dyn Io>),
            }
        })
    }
}

impl Service<Uri> for Connector {
    type Response = Connection;
    type Error = Boxed;
    type Future = Opening<Connection>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Boxed>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let (limit, opening) = (self.timeout, self.clone().open(uri));
        Box::pin(async move {
            timeout(limit, opening).await.unwrap_or_else(|_| {
                let text = format!("no connection within {limit:?}");
                Err(io::Error::new(io::ErrorKind::TimedOut, text).into())
            })
        })
    }
}

impl Read for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl Write for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(context, parts)
    }
}
