//! Bodies: one that is sent, and one that is read up to a limit.

use std::{
    convert::Infallible,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::pool::Content;

/// The body of a request.
pub(crate) struct Payload(pub(crate) Bytes);

impl Body for Payload {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(match self.0.is_empty() {
            true => None,
            false => Some(Ok(Frame::data(std::mem::take(&mut self.0)))),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.len() as u64)
    }
}

/// How reading a body ended.
pub(crate) enum End {
    Whole,
    TooLong,
    Broken(hyper::Error),
}

/// Reads a body, but not more than `limit` bytes of it.
pub(crate) async fn gather(mut body: Content, limit: usize) -> (Bytes, End) {
    /// What is allocated on the word of the server.
    const TRUSTED: u64 = 1 << 20;
    let announced = body.size_hint().exact();
    let mut first = Bytes::new();
    let mut all: Vec<u8> = Vec::new();
    let end = loop {
        let frame = match poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => break End::Broken(error),
            None => break End::Whole,
        };
        let Ok(part) = frame.into_data() else {
            continue;
        };
        let room = limit - first.len().max(all.len());
        let fits = part.len() <= room;
        let part = part.slice(..part.len().min(room));
        // Most bodies come in one piece, which can stay as it is.
        if first.is_empty() && all.is_empty() {
            first = part;
        } else {
            if all.is_empty() {
                all.reserve(announced.unwrap_or(0).min(TRUSTED) as usize);
                all.extend_from_slice(&first);
            }
            all.extend_from_slice(&part);
        }
        if !fits {
            break End::TooLong;
        }
    };
    let bytes = match all.is_empty() {
        true => first,
        false => all.into(),
    };
    (bytes, end)
}
