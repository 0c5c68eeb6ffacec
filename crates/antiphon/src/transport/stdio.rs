//! stdio: one message per line, in on standard input, out on standard output.
//!
//! Standard output belongs to the protocol: log to standard error. The server never ends
//! because of what it is sent, only when its input ends.

use std::{io, pin::Pin, sync::Arc};

use antiphon_types::ErrorObject;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::timeout,
};

use crate::{
    engine::{
        connection::{Connection, DRAIN},
        lifecycle::Serving,
        lines::Lines,
    },
    raw::{Endpoint, Transport},
    transport::framing::{Line, Reader},
};

/// Serves `endpoint` on this process's standard streams until standard input ends. Calls that run
/// then have a second left, those that [run to their end](crate::raw::Call::run_to_end) a minute.
///
/// # Errors
/// When the service does not start, a stream cannot be used, or reading fails.
pub async fn serve(endpoint: impl Into<Endpoint>) -> io::Result<()> {
    on_standard_streams(endpoint.into()).await
}

/// Boxed so that it is compiled with this crate: what a future does is otherwise compiled with the
/// crate that awaits it, again with each of its changes.
fn on_standard_streams(endpoint: Endpoint) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send>> {
    Box::pin(async {
        let (input, output) = standard_streams()?;
        serve_on(endpoint, input, output).await
    })
}

/// Serves `endpoint` on any pair of byte streams with the same framing (STDIO-B-02): a Unix
/// socket, a TCP connection, a child's pipes.
///
/// The service stops with the last transport of its endpoint. One that serves connection after
/// connection is started before the first with [`Endpoint::start`].
///
/// # Errors
/// When the service does not start, or reading fails. A writer that is gone ends the connection
/// in good order.
pub async fn serve_on(
    endpoint: impl Into<Endpoint>,
    input: impl AsyncRead + Send + Unpin,
    output: impl AsyncWrite + Send + Unpin,
) -> io::Result<()> {
    let endpoint = endpoint.into();
    let serving = Serving::begin(&endpoint).await?;
    let limit = endpoint.inner().limits.message_bytes;
    let lines = Arc::new(Lines::default());
    let connection = Connection::new(endpoint, Transport::Stdio, None, lines.clone());
    let tasks = connection.tasks();
    let served = exchange(connection, &lines, limit, input, output).await;
    // What was cancelled is on its way out.
    tasks.close();
    tasks.wait().await;
    serving.end().await;
    served
}

/// Reads and writes until either is done.
async fn exchange(
    connection: Connection,
    lines: &Lines,
    limit: usize,
    input: impl AsyncRead + Send + Unpin,
    output: impl AsyncWrite + Send + Unpin,
) -> io::Result<()> {
    let write = write(lines, output);
    tokio::pin!(write);
    let read = tokio::select! {
        read = read(&connection, lines, input, limit) => Ok(read),
        written = &mut write => Err(written),
    };
    let finish = connection.finish();
    tokio::pin!(finish);
    let written = match read {
        Ok(read) => tokio::select! {
            () = &mut finish => {
                // Whatever was answered is still written, if somebody reads it.
                _ = timeout(DRAIN, write).await;
                return read;
            }
            written = &mut write => written,
        },
        Err(written) => written,
    };
    // Nobody reads our answers any more: as good as the end of the input, but at once.
    connection.leave();
    finish.await;
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

async fn write(lines: &Lines, mut output: impl AsyncWrite + Unpin) -> io::Result<()> {
    let mut buffer = Vec::new();
    while lines.take(&mut buffer).await {
        output.write_all(&buffer).await?;
        output.flush().await?;
        buffer.clear();
        // One large answer must not be paid for ever after.
        buffer.shrink_to(256 * 1024);
    }
    Ok(())
}

async fn read(
    connection: &Connection,
    lines: &Lines,
    mut input: impl AsyncRead + Unpin,
    limit: usize,
) -> io::Result<()> {
    let mut reader = Reader::new(limit);
    let mut open = true;
    while open {
        // While nobody takes the answers, no more requests are taken; but the end is noticed.
        while lines.has_room() {
            match reader.next() {
                Some(line) => receive(connection, line, limit),
                None => break,
            }
        }
        if !lines.has_room() && reader.is_ahead() {
            lines.room().await;
            continue;
        }
        tokio::select! {
            read = input.read_buf(reader.space()) => open = read? > 0,
            () = lines.room(), if !lines.has_room() => {}
        }
    }
    while let Some(line) = reader.next() {
        receive(connection, line, limit);
    }
    if let Some(line) = reader.rest() {
        receive(connection, line, limit);
    }
    Ok(())
}

fn receive(connection: &Connection, line: Line, limit: usize) {
    match line {
        Line::Message(message) => connection.receive(message),
        Line::TooLong(_) => {
            let error = format!("The line is longer than {limit} bytes");
            connection.refuse(&ErrorObject::invalid_request(error));
        }
    }
}

type Input = Box<dyn AsyncRead + Send + Unpin>;
type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Standard input and output, without a helper thread where the system allows it: hosts connect
/// them by pipes or, as Node does, by sockets.
#[cfg(unix)]
fn standard_streams() -> io::Result<(Input, Output)> {
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::{fs::FileTypeExt, fs::MetadataExt, net::UnixStream};
    use tokio::net::unix::pipe;

    let stdin: OwnedFd = io::stdin().as_fd().try_clone_to_owned()?;
    let stdout: OwnedFd = io::stdout().as_fd().try_clone_to_owned()?;
    let stderr: OwnedFd = io::stderr().as_fd().try_clone_to_owned()?;
    let about = |fd: &OwnedFd| std::fs::File::from(fd.try_clone()?).metadata();
    let (input, output, errors) = (about(&stdin)?, about(&stdout)?, about(&stderr)?);
    let same =
        |a: &std::fs::Metadata, b: &std::fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());

    let socket = |fd: OwnedFd| {
        let stream = UnixStream::from(fd);
        stream.set_nonblocking(true)?;
        tokio::net::UnixStream::from_std(stream)
    };
    let reader: Input = if input.file_type().is_fifo() {
        Box::new(pipe::Receiver::from_owned_fd(stdin)?)
    } else if input.file_type().is_socket() && !same(&input, &errors) {
        Box::new(socket(stdin)?)
    } else {
        Box::new(tokio::io::stdin())
    };
    // Non-blocking writes are a property of the file, not of the descriptor: shared with
    // standard error, they would break every log line.
    let writer: Output = if same(&output, &errors) {
        Box::new(tokio::io::stdout())
    } else if output.file_type().is_fifo() {
        Box::new(pipe::Sender::from_owned_fd(stdout)?)
    } else if output.file_type().is_socket() {
        Box::new(socket(stdout)?)
    } else {
        Box::new(tokio::io::stdout())
    };
    Ok((reader, writer))
}

/// Standard input and output.
#[cfg(not(unix))]
fn standard_streams() -> io::Result<(Input, Output)> {
    Ok((Box::new(tokio::io::stdin()), Box::new(tokio::io::stdout())))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl crate::raw::Service for Nothing {
        fn about(&self) -> crate::raw::About {
            crate::raw::About::new(antiphon_types::Implementation::new("nothing", "1"))
        }
    }

    /// A writer that counts how often it is written to.
    struct Counting {
        writes: usize,
        bytes: Vec<u8>,
    }

    impl AsyncWrite for &mut Counting {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            bytes: &[u8],
        ) -> std::task::Poll<io::Result<usize>> {
            self.writes += 1;
            self.bytes.extend_from_slice(bytes);
            std::task::Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(
            self: Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<io::Result<()>> {
            std::task::Poll::Ready(Ok(()))
        }

        fn poll_shutdown(
            self: Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<io::Result<()>> {
            std::task::Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn answers_that_are_ready_together_leave_together() {
        let request = r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#;
        let input = format!("{request}\n").repeat(100);
        let mut output = Counting {
            writes: 0,
            bytes: Vec::new(),
        };
        serve_on(Endpoint::new(Nothing), input.as_bytes(), &mut output)
            .await
            .expect("served");
        let answers = output.bytes.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!((answers, output.writes), (100, 1));
    }
}
