//! [`Body`]: one JSON message, or a stream of events with the call still running inside it.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

use crate::server::{dispatch::Answer, lines::one_line, outbox::Outbox};

/// The body of a response.
#[derive(Debug)]
pub struct Body(Inner);

#[derive(Debug)]
enum Inner {
    Whole(Bytes),
    Events(Box<Events>),
}

impl Body {
    pub(crate) fn empty() -> Self {
        Self(Inner::Whole(Bytes::new()))
    }

    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self(Inner::Whole(bytes.into()))
    }

    pub(crate) fn events(events: Events) -> Self {
        Self(Inner::Events(Box::new(events)))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = match &mut self.0 {
            Inner::Whole(bytes) if bytes.is_empty() => return Poll::Ready(None),
            Inner::Whole(bytes) => Poll::Ready(Some(std::mem::take(bytes))),
            Inner::Events(events) => events.poll(context),
        };
        data.map(|data| data.map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Inner::Whole(bytes) => bytes.is_empty(),
            Inner::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Inner::Events(_) => SizeHint::default(),
        }
    }
}

/// One request on its way to its answer. Dropping it cancels the request (HTTP-S-19): the
/// handler's future goes, and nothing more gets out.
pub(crate) struct Exchange {
    pub(crate) answer: Pin<Box<dyn Future<Output = Answer> + Send>>,
    pub(crate) outbox: Arc<Outbox>,
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.outbox.shut();
    }
}

impl std::fmt::Debug for Exchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Exchange")
    }
}

/// An answer that began with a notification: server-sent events, the last of them the answer.
#[derive(Debug)]
pub(crate) struct Events {
    /// The call, until it is answered.
    exchange: Option<Exchange>,
    /// Messages taken from the outbox before the stream began.
    first: Vec<Vec<u8>>,
    quiet: Pin<Box<Sleep>>,
    keep_alive: Duration,
}

impl Events {
    pub(crate) fn new(exchange: Exchange, first: Vec<Vec<u8>>, keep_alive: Duration) -> Self {
        Self {
            exchange: Some(exchange),
            first,
            quiet: Box::pin(sleep(keep_alive)),
            keep_alive,
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some(exchange) = &mut self.exchange else {
            return Poll::Ready(None);
        };
        let mut frame = Vec::new();
        for message in std::mem::take(&mut self.first) {
            event(&mut frame, message);
        }
        let answer = match frame.is_empty() {
            true => exchange.answer.as_mut().poll(context),
            false => return Poll::Ready(Some(frame.into())),
        };
        for message in exchange.outbox.take(context) {
            event(&mut frame, message);
        }
        if let Poll::Ready(answer) = answer {
            if let Answer::Message { json, .. } = answer {
                event(&mut frame, json);
            }
            self.exchange = None;
        } else if frame.is_empty() {
            // HTTP-S-17: a comment now and then tells proxies that somebody is there.
            if self.quiet.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            frame.extend_from_slice(b": keep-alive\n\n");
        }
        let again = Instant::now() + self.keep_alive;
        self.quiet.as_mut().reset(again);
        if frame.is_empty() {
            return Poll::Ready(None);
        }
        Poll::Ready(Some(frame.into()))
    }
}

/// One message as one event; no ids, no resumption (HTTP-S-18, AMB-13).
fn event(frame: &mut Vec<u8>, mut message: Vec<u8>) {
    one_line(&mut message);
    frame.extend_from_slice(b"data: ");
    frame.append(&mut message);
    frame.extend_from_slice(b"\n\n");
}
