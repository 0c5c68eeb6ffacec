//! [`Streams`]: to a server at the other end of any streams of bytes, one message per line.

use std::{fmt, io, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::timeout,
};

use super::channel::{Queue, Serving, Shared};
use crate::client::{Channel, Connect, Error, Events, Identity};
use crate::transport::{
    framing::{Line, Reader},
    one_line::one_line,
};

/// The longest message that is read, unless told otherwise.
pub(super) const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// How long a write that has begun may take to end after the connection was closed.
pub(super) const FLUSH: Duration = Duration::from_millis(100);

/// How long answers are read on after something else has ended.
pub(super) const DRAIN: Duration = Duration::from_millis(500);

/// How long a server may take to close its side after this side was closed.
const GRACE: Duration = Duration::from_secs(2);

/// A way to a server over any pair of byte streams with the framing of stdio (STDIO-B-02): a
/// Unix socket, a TCP connection, a pipe.
///
/// ```no_run
/// # async fn connect() -> std::io::Result<()> {
/// use antiphon::client::Streams;
///
/// let (read, write) = tokio::net::TcpStream::connect("localhost:4000").await?.into_split();
/// let server = Streams::new(read, write, "localhost:4000");
/// # Ok(())
/// # }
/// ```
pub struct Streams<R, W> {
    read: R,
    write: W,
    name: String,
    max_message_bytes: usize,
}

impl<R, W> Streams<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// The server's output, its input, and where that is, for the user to see: it becomes the
    /// [`Identity::Other`] of the server.
    pub fn new(read: R, write: W, name: impl Into<String>) -> Self {
        Self {
            read,
            write,
            name: name.into(),
            max_message_bytes: MAX_MESSAGE_BYTES,
        }
    }

    /// The longest message that is read, 16 MiB unless told otherwise. A longer one is skipped, and
    /// the request that it answers fails.
    #[must_use]
    pub fn max_message_bytes(mut self, bytes: usize) -> Self {
        self.max_message_bytes = bytes;
        self
    }
}

impl<R, W> Connect for Streams<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Transport = Channel;

    async fn connect(self, events: Events) -> Result<Channel, Error> {
        let (shared, queue) = Shared::new(events);
        let write = write(queue, self.write);
        let read = read(shared.clone(), self.read, self.max_message_bytes);
        tokio::spawn(serve(shared.clone(), write, read));
        Ok(Channel::new(Identity::Other(self.name), shared))
    }
}

impl<R, W> fmt::Debug for Streams<R, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Streams({:?})", self.name)
    }
}

async fn serve(
    shared: Arc<Shared>,
    write: impl Future<Output = io::Result<()>>,
    read: impl Future<Output = io::Result<()>>,
) {
    let _serving = Serving(shared.clone());
    // Boxed, so that dropping it closes the stream.
    let mut write = Box::pin(write);
    tokio::pin!(read);
    tokio::select! {
        biased;
        () = shared.closing.cancelled() => {
            _ = timeout(FLUSH, &mut write).await;
        }
        read = &mut read => return shared.fail(&lost(read)),
        written = &mut write => if let Err(error) = written {
            // What was answered before that counts.
            _ = timeout(DRAIN, &mut read).await;
            return shared.fail(&format!("writing to the server failed: {error}"));
        },
    }
    drop(write);
    _ = timeout(GRACE, read).await;
}

/// What the end of the server's output means.
pub(super) fn lost(read: io::Result<()>) -> String {
    match read {
        Ok(()) => "the server closed the connection".into(),
        Err(error) => format!("reading from the server failed: {error}"),
    }
}

/// Writes what is sent until the channel is closed, then closes `output`.
pub(super) async fn write(mut queue: Queue, mut output: impl AsyncWrite + Unpin) -> io::Result<()> {
    let (mut batch, mut buffer) = (Vec::new(), Vec::new());
    while queue.take(&mut batch).await {
        for message in batch.drain(..) {
            let start = buffer.len();
            buffer.extend_from_slice(&message);
            one_line(&mut buffer[start..]);
            buffer.push(b'\n');
        }
        output.write_all(&buffer).await?;
        output.flush().await?;
        buffer.clear();
        // One large request must not be paid for ever after.
        buffer.shrink_to(256 * 1024);
    }
    output.shutdown().await
}

/// Reads messages until `input` ends.
pub(super) async fn read(
    shared: Arc<Shared>,
    mut input: impl AsyncRead + Unpin,
    limit: usize,
) -> io::Result<()> {
    let receive = |line| match line {
        Line::Message(message) => shared.receive(message),
        Line::TooLong(beginning) => shared.skipped(&beginning, limit),
    };
    let mut reader = Reader::new(limit);
    while input.read_buf(reader.space()).await? > 0 {
        while let Some(line) = reader.next() {
            receive(line);
        }
    }
    if let Some(line) = reader.rest() {
        receive(line);
    }
    Ok(())
}
