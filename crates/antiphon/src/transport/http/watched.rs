//! [`Watched`]: a connection on which a client that leaves is noticed, whatever it sent before.
//!
//! hyper sees the end of a connection by reading, and it does not read while it holds bytes
//! beyond the current request. A client that pipelined, or sent a stray line break, could then
//! leave unnoticed and its call would run on (HTTP-S-19). So while hyper does not wait for input
//! the end is looked for here, without taking any bytes.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

#[derive(Debug)]
pub(crate) struct Watched {
    stream: TcpStream,
    /// The reader is waiting for input, and so will see the end itself.
    reading: bool,
    /// Something was written since the last flush: the peer is being answered.
    answering: bool,
}

impl Watched {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            reading: false,
            answering: false,
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.reading = read.is_pending();
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.answering = true;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.answering = true;
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let answered = std::mem::take(&mut self.answering);
        if !self.reading {
            let mut byte = [0];
            let mut peeked = ReadBuf::new(&mut byte);
            if let Poll::Ready(Ok(0) | Err(_)) = self.stream.poll_peek(context, &mut peeked) {
                if !answered {
                    return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
                }
                // There may be more to answer of what was sent ahead: once more, then decide.
                context.waker().wake_by_ref();
            }
        }
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
