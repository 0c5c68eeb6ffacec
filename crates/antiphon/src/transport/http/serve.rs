//! [`serve`]: an HTTP/1.1 server for an [`HttpService`].

use std::{
    future::{Future, IntoFuture, pending},
    io,
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use http::Request;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use super::{
    patience::{Attended, Patience},
    service::HttpService,
    watched::Watched,
};
use crate::engine::{lifecycle::Serving, unattended::Unattended};

/// Serves `service` on `listener`, at `/mcp`, until the future is dropped or told to stop. Told
/// to stop, it also stops the service, if no other transport serves it. Its error is that of a
/// service that does not start.
///
/// ```no_run
/// # async fn run(endpoint: antiphon::raw::Endpoint) -> std::io::Result<()> {
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
/// antiphon::http::serve(listener, antiphon::http::service(endpoint)).await
/// # }
/// ```
pub fn serve(listener: TcpListener, service: HttpService) -> Serve {
    Serve {
        listener,
        service,
        path: Some("/mcp".to_owned()),
        shutdown: Box::pin(pending()),
        drain: Duration::from_secs(30),
        connections: 16_384,
    }
}

/// A server that is about to run: await it.
pub struct Serve {
    listener: TcpListener,
    service: HttpService,
    path: Option<String>,
    shutdown: Pin<Box<dyn Future<Output = ()> + Send>>,
    drain: Duration,
    connections: usize,
}

impl Serve {
    /// Serves at this path instead of `/mcp`.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Serves at every path.
    pub fn any_path(mut self) -> Self {
        self.path = None;
        self
    }

    /// Stops in good order when `signal` is done: takes no more connections, ends this server's
    /// subscriptions, and waits for running calls, also those that
    /// [run to their end](crate::raw::Call::run_to_end) without their clients.
    pub fn with_graceful_shutdown(
        mut self,
        signal: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        self.shutdown = Box::pin(signal);
        self
    }

    /// How long running calls may take once told to stop, also those that run to their end. 30
    /// seconds; then they are dropped.
    pub fn drain(mut self, longest: Duration) -> Self {
        self.drain = longest;
        self
    }

    /// How many connections may be open at once; more wait to be accepted. 16,384.
    pub fn connections(mut self, most: usize) -> Self {
        self.connections = most;
        self
    }

    async fn run(self) -> io::Result<()> {
        let serving = Serving::begin(self.service.endpoint()).await?;
        let stopping = CancellationToken::new();
        // Dropping the set ends its connections, so they end with this future, however it ends.
        let mut connections = JoinSet::new();
        let unattended = Unattended::default();
        let _with_this_future = unattended.guard();
        let mut shutdown = self.shutdown;
        let service = self.service.until(stopping.clone(), unattended.clone());
        let path: Arc<Option<String>> = self.path.into();
        loop {
            let stream = tokio::select! {
                accepted = self.listener.accept(), if connections.len() < self.connections => match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        // Out of descriptors, most likely: others must close first.
                        tracing::warn!(%error, "cannot accept a connection");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        continue;
                    }
                },
                Some(_) = connections.join_next() => continue,
                () = &mut shutdown => break,
            };
            let (service, path) = (service.clone(), path.clone());
            connections.spawn(connection(stream, service, path, stopping.clone()));
        }
        drop(self.listener);
        stopping.cancel();
        let finished = async {
            while connections.join_next().await.is_some() {}
            // Connections leave calls behind, so only now are these all.
            unattended.finish().await;
        };
        if tokio::time::timeout(self.drain, finished).await.is_err() {
            let (open, unattended_calls) = (connections.len(), unattended.len());
            tracing::warn!(
                open,
                unattended_calls,
                "calls were still running and are dropped"
            );
            unattended.drop_all();
            connections.shutdown().await;
            unattended.finish().await;
        }
        serving.end().await;
        Ok(())
    }
}

impl IntoFuture for Serve {
    type Output = io::Result<()>;
    type IntoFuture = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl std::fmt::Debug for Serve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serve")
            .field("listener", &self.listener)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// Longest head of a request, all headers together.
const HEAD_BYTES: usize = 64 * 1024;
/// How long a client may take to send a head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// No `async fn`: its future would have room for its arguments beside the connection, for each of
/// those that are open.
fn connection(
    stream: TcpStream,
    service: HttpService,
    path: Arc<Option<String>>,
    stopping: CancellationToken,
) -> impl Future<Output = ()> + Send {
    _ = stream.set_nodelay(true);
    let answer = service_fn(move |request: Request<Incoming>| {
        // Strangers are refused wherever they knock.
        let here = path
            .as_deref()
            .is_none_or(|path| path == request.uri().path());
        match here || service.publishes(&request) || !service.knows(&request) {
            true => service.respond(request),
            false => service.refuse_path(),
        }
    });
    let connection = http1::Builder::new()
        .timer(Patience)
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(Watched::new(stream)), answer);
    Attended::new(connection, stopping)
}
