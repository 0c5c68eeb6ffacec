//! The HTTP/1.1 accept loop.

use std::{error::Error, io, net::Ipv4Addr};

use http_body::Body;
use hyper::{Request, Response, body::Incoming, server::conn::http1, service::Service};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// Serves every connection to `port` on the loopback interface with a clone of `service`.
pub async fn serve<S, B>(port: u16, service: S) -> io::Result<()>
where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    S::Future: Send,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let connection =
            http1::Builder::new().serve_connection(TokioIo::new(stream), service.clone());
        // A connection that fails ends alone: the client has gone or does not speak HTTP.
        tokio::spawn(async move { drop(connection.await) });
    }
}
