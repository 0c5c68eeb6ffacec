//! The events of a response: [`EventStream`] for a request that stands alone, [`Reader`] for a
//! stream that one may have to come back to.

use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use antiphon_core::sse::{Decoder, Event};
use bytes::{Buf, Bytes};
use futures_core::Stream;
use http::HeaderValue;
use http_body::Body;

use super::{answer::broken, wire::report};
use crate::{
    client::{Error, ErrorKind, Events},
    web::Content,
};

/// The messages of a stream. Dropping it before its end closes the connection, which is what
/// cancels a request over HTTP.
pub(super) struct EventStream {
    reader: Reader,
    events: Events,
}

impl EventStream {
    pub(super) fn new(body: Content, limit: usize, events: Events) -> Self {
        let reader = Reader {
            body: Some(body),
            part: Bytes::new(),
            decoder: Decoder::new(limit),
        };
        Self { reader, events }
    }
}

impl Stream for EventStream {
    type Item = Result<Bytes, Error>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            match ready!(self.reader.poll_next(context)) {
                Some(Ok(event)) => {
                    if let Some(message) = message(event) {
                        return Poll::Ready(Some(Ok(message)));
                    }
                }
                Some(Err(error)) => {
                    if let ErrorKind::Transport = error.kind() {
                        report(&self.events, &error);
                    }
                    return Poll::Ready(Some(Err(error)));
                }
                None => return Poll::Ready(None),
            }
        }
    }
}

/// The message that an event is. Other types are for others, and an event without data is none.
pub(super) fn message(event: Event) -> Option<Bytes> {
    let is = matches!(&*event.kind, b"" | b"message") && !event.data.is_empty();
    is.then(|| event.data.into())
}

/// Reads events, from one connection after the other.
pub(super) struct Reader {
    /// None once it ended.
    body: Option<Content>,
    part: Bytes,
    decoder: Decoder,
}

impl Reader {
    /// A stream that knows where it stands.
    pub(super) fn resumable(limit: usize) -> Self {
        Self {
            body: None,
            part: Bytes::new(),
            decoder: Decoder::resumable(limit),
        }
    }

    /// Reads on from this body. What the last one left unfinished is gone.
    pub(super) fn open(&mut self, body: Content) {
        let decoder = std::mem::replace(&mut self.decoder, Decoder::new(0));
        self.decoder = decoder.resumed();
        self.part = Bytes::new();
        self.body = Some(body);
    }

    /// Forgets where it stands.
    pub(super) fn forget(&mut self, limit: usize) {
        *self = Self::resumable(limit);
    }

    /// The id of the last event, if there is one that can be sent back.
    pub(super) fn last_id(&self) -> Option<HeaderValue> {
        HeaderValue::from_bytes(self.decoder.last_id()?).ok()
    }

    /// How long to wait before coming back, if the server says so.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.decoder.retry_ms().map(Duration::from_millis)
    }

    /// The next event. An error of the transport is a stream that broke; any other is one that
    /// is of no use.
    pub(super) async fn next(&mut self) -> Option<Result<Event, Error>> {
        poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Event, Error>>> {
        loop {
            let end = match self.next_here() {
                Ok(Some(event)) => return Poll::Ready(Some(Ok(event))),
                Err(error) => Some(Err(error)),
                Ok(None) => {
                    let Some(body) = &mut self.body else {
                        return Poll::Ready(None);
                    };
                    match ready!(Pin::new(body).poll_frame(context)) {
                        Some(Ok(frame)) => {
                            // Trailers say nothing here.
                            self.part = frame.into_data().unwrap_or_default();
                            continue;
                        }
                        Some(Err(error)) => Some(Err(broken(error))),
                        None => None,
                    }
                }
            };
            self.body = None;
            self.part = Bytes::new();
            return Poll::Ready(end);
        }
    }

    /// The next event in the bytes at hand.
    fn next_here(&mut self) -> Result<Option<Event>, Error> {
        while !self.part.is_empty() {
            let mut rest = &*self.part;
            let event = self.decoder.next(&mut rest);
            let read = self.part.len() - rest.len();
            self.part.advance(read);
            let event = event.map_err(|error| {
                Error::decode(format!("{error}, the limit of .max_message_bytes(..)"))
            })?;
            if event.is_some() {
                return Ok(event);
            }
        }
        Ok(None)
    }
}
