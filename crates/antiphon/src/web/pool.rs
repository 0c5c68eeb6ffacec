//! [`Pool`]: connections to one server, kept and used again.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, Uri, uri::Parts};
use http_body::{Body, Frame, SizeHint};
use hyper::{
    body::Incoming,
    client::conn::http1::{SendRequest, handshake},
};
use tokio::{
    runtime::Handle,
    time::{Instant, sleep},
};
use tokio_util::task::AbortOnDropHandle;
use tower_service::Service;

use super::{Connector, body::Payload, error::Boxed};

/// How long a quiet connection is kept. A server that closes one is noticed; this is for what
/// vanishes unseen.
const QUIET: Duration = Duration::from_secs(30);

/// Connections to one server, kept and used again.
///
/// In place of a pool for any number of servers and protocols, which took a fourth of all that a
/// short call costs: here a request finds its connection under one lock, and gives it back when
/// its answer was read.
#[derive(Clone)]
pub(crate) struct Pool(Arc<Shared>);

struct Shared {
    connector: Connector,
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    /// The one that was used last comes last.
    lines: Vec<(Line, Instant)>,
    /// Closes those that are quiet for too long.
    watch: Option<AbortOnDropHandle<()>>,
}

/// One connection.
struct Line {
    send: SendRequest<Payload>,
    /// It ends at a proxy, which has to be told the whole URI.
    absolute: bool,
}

/// A request that brought no response.
pub(crate) enum Lost {
    /// There was no connection for it: it never left.
    Unsent(Boxed),
    /// Whether it arrived is not known.
    Sent(hyper::Error),
}

impl Pool {
    /// No connections yet.
    pub(crate) fn new(connector: Connector) -> Self {
        Self(Arc::new(Shared {
            connector,
            idle: Mutex::default(),
        }))
    }

    /// Sends a request to a URI of the server. If the connection for it turns out to be closed
    /// before anything was sent, the next one is taken.
    pub(crate) async fn request(
        &self,
        to: &Uri,
        mut request: Request<Payload>,
    ) -> Result<Response<Content>, Lost> {
        loop {
            let kept = self.0.take();
            let is_kept = kept.is_some();
            let mut line = match kept {
                Some(line) => line,
                // In a box, as it is rare and large.
                None => Box::pin(self.0.open(to.clone())).await?,
            };
            *request.uri_mut() = line.form(to);
            match line.send.try_send_request(request).await {
                Ok(response) => {
                    let line = Some((line, Arc::downgrade(&self.0)));
                    return Ok(response.map(|body| Content { body, line }));
                }
                Err(mut error) => match error.take_message() {
                    Some(unsent) if is_kept => request = unsent,
                    _ => return Err(Lost::Sent(error.into_error())),
                },
            }
        }
    }
}

impl Shared {
    /// A connection that is open and not in use.
    fn take(&self) -> Option<Line> {
        let mut idle = self.idle();
        let (mut line, mut since) = idle.lines.pop()?;
        while !line.send.is_ready() {
            (line, since) = idle.lines.pop()?;
        }
        if since.elapsed() < QUIET {
            return Some(line);
        }
        // The others are older still.
        idle.lines.clear();
        None
    }

    /// Keeps a connection that is ready for another request.
    fn keep(self: &Arc<Self>, line: Line) {
        let mut idle = self.idle();
        idle.lines.push((line, Instant::now()));
        let watched = |watch: &AbortOnDropHandle<()>| !watch.is_finished();
        if !idle.watch.as_ref().is_some_and(watched)
            && let Ok(runtime) = Handle::try_current()
        {
            let watch = runtime.spawn(watch(Arc::downgrade(self)));
            idle.watch = Some(AbortOnDropHandle::new(watch));
        }
    }

    async fn open(&self, uri: Uri) -> Result<Line, Lost> {
        let opening = self.connector.clone().call(uri);
        let connection = opening.await.map_err(Lost::Unsent)?;
        let absolute = connection.absolute;
        let (send, connection) = handshake(connection).await.map_err(Lost::Sent)?;
        // It ends when nobody can send on it any more.
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended");
            }
        });
        Ok(Line { send, absolute })
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes connections that are quiet for too long, as long as there are any.
async fn watch(pool: Weak<Shared>) {
    loop {
        sleep(QUIET).await;
        let Some(pool) = pool.upgrade() else {
            return;
        };
        let mut idle = pool.idle();
        let fresh =
            |(line, since): &(Line, Instant)| line.send.is_ready() && since.elapsed() < QUIET;
        idle.lines.retain(fresh);
        if idle.lines.is_empty() {
            idle.watch = None;
            return;
        }
    }
}

impl Line {
    /// How a URI is written in a request.
    fn form(&self, uri: &Uri) -> Uri {
        if self.absolute {
            return uri.clone();
        }
        let mut parts = Parts::default();
        parts.path_and_query = uri.path_and_query().cloned();
        Uri::from_parts(parts).unwrap_or_default()
    }
}

/// The body of a response. Once it was read to its end, its connection can be used again; dropped
/// before, it closes it.
pub(crate) struct Content {
    body: Incoming,
    line: Option<(Line, Weak<Shared>)>,
}

impl Content {
    /// Gives the connection back.
    fn finish(&mut self) {
        let Some((mut line, pool)) = self.line.take() else {
            return;
        };
        if line.send.is_ready() {
            if let Some(pool) = pool.upgrade() {
                pool.keep(line);
            }
        } else if !line.send.is_closed()
            && let Ok(runtime) = Handle::try_current()
        {
            // It has not come to rest yet.
            runtime.spawn(async move {
                if line.send.ready().await.is_ok()
                    && let Some(pool) = pool.upgrade()
                {
                    pool.keep(line);
                }
            });
        }
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if frame.is_none() {
            self.finish();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Content {
    fn drop(&mut self) {
        if self.body.is_end_stream() {
            self.finish();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader, Read as _, Write as _},
        net::{TcpListener, TcpStream},
        sync::mpsc,
        thread,
    };

    use super::*;
    use crate::web::{End, gather};

    const WHOLE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

    /// A pool, and where a server is whose connections are handed to this function, each on a thread
    /// of its own.
    fn served(serve: impl Fn(BufReader<TcpStream>) + Clone + Send + 'static) -> (Pool, Uri) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let at = listener.local_addr().expect("an address");
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serve = serve.clone();
                thread::spawn(move || serve(BufReader::new(stream)));
            }
        });
        let connector = Connector::new(None, None, Duration::from_secs(10));
        let uri = format!("http://{at}/a?b").parse().expect("a URI");
        (Pool::new(connector), uri)
    }

    /// The first line of the next request; `None` if there is none.
    fn next(stream: &mut BufReader<TcpStream>) -> Option<String> {
        let mut lines = stream.lines();
        let first = lines.next()?.ok()?;
        lines.find(|line| line.as_ref().is_ok_and(String::is_empty));
        Some(first)
    }

    fn write(stream: &mut BufReader<TcpStream>, text: &str) {
        _ = stream.get_mut().write_all(text.as_bytes());
    }

    async fn request(pool: &Pool, uri: &Uri) -> Content {
        let request = Request::new(Payload(Bytes::new()));
        match pool.request(uri, request).await {
            Ok(response) => response.into_body(),
            Err(_) => panic!("no response"),
        }
    }

    async fn read(body: Content) {
        let (text, end) = gather(body, 100).await;
        assert!(matches!(end, End::Whole));
        assert_eq!(text, "ok");
    }

    #[tokio::test]
    async fn a_connection_is_used_again() {
        let (tell, told) = mpsc::channel();
        let (pool, uri) = served(move |mut stream| {
            while let Some(first) = next(&mut stream) {
                let peer = stream.get_ref().peer_addr().expect("a peer");
                tell.send((first, peer)).expect("told");
                write(&mut stream, WHOLE);
            }
        });
        for _ in 0..3 {
            read(request(&pool, &uri).await).await;
        }
        let heard: Vec<_> = told.try_iter().collect();
        assert_eq!(heard.len(), 3);
        assert!(heard.iter().all(|it| *it == heard[0]), "{heard:?}");
        assert_eq!(heard[0].0, "GET /a?b HTTP/1.1");
        // Two at once need two.
        let (one, two) = (request(&pool, &uri).await, request(&pool, &uri).await);
        tokio::join!(read(one), read(two));
        let peers: Vec<_> = told.try_iter().map(|(_, peer)| peer).collect();
        assert_ne!(peers[0], peers[1]);
        assert_eq!(pool.0.idle().lines.len(), 2);
    }

    #[tokio::test]
    async fn a_connection_that_was_closed_is_not() {
        let (pool, uri) = served(|mut stream| {
            _ = next(&mut stream);
            write(&mut stream, WHOLE);
        });
        for _ in 0..3 {
            read(request(&pool, &uri).await).await;
            // Before that is noticed, a request may still get lost.
            while pool
                .0
                .idle()
                .lines
                .iter()
                .any(|(line, _)| line.send.is_ready())
            {
                sleep(Duration::from_millis(1)).await;
            }
        }
    }

    /// It is how a request is cancelled.
    #[tokio::test]
    async fn a_body_that_nobody_reads_closes_its_connection() {
        let (tell, told) = tokio::sync::mpsc::unbounded_channel();
        let mut told = told;
        let (pool, uri) = served(move |mut stream| {
            _ = next(&mut stream);
            write(
                &mut stream,
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n",
            );
            let ended = stream.read(&mut [0]);
            tell.send(matches!(ended, Ok(0) | Err(_))).expect("told");
        });
        drop(request(&pool, &uri).await);
        assert_eq!(told.recv().await, Some(true));
        assert!(pool.0.idle().lines.is_empty());
    }

    #[tokio::test]
    async fn quiet_connections_are_closed() {
        let (pool, uri) = served(|mut stream| {
            while next(&mut stream).is_some() {
                write(&mut stream, WHOLE);
            }
        });
        read(request(&pool, &uri).await).await;
        assert_eq!(pool.0.idle().lines.len(), 1);
        tokio::time::pause();
        sleep(2 * QUIET).await;
        assert!(pool.0.idle().lines.is_empty());
    }
}
