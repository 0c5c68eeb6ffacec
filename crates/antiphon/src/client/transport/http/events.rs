//! [`EventStream`]: the messages of a response that is a stream of events.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use antiphon_core::sse::Decoder;
use bytes::{Buf, Bytes};
use futures_core::Stream;
use http_body::Body;
use hyper::body::Incoming;

use super::{answer::broken, transport::tell};
use crate::client::{Error, Events};

/// The data of each event. Dropping it before its end closes the connection, which is what
/// cancels a request over HTTP.
pub(super) struct EventStream {
    /// None once it ended.
    body: Option<Incoming>,
    part: Bytes,
    decoder: Decoder,
    events: Events,
}

impl EventStream {
    pub(super) fn new(body: Incoming, limit: usize, events: Events) -> Self {
        Self {
            body: Some(body),
            part: Bytes::new(),
            decoder: Decoder::new(limit),
            events,
        }
    }

    /// The next message in the bytes at hand.
    fn next_here(&mut self) -> Result<Option<Bytes>, Error> {
        while !self.part.is_empty() {
            let mut rest = &*self.part;
            let event = self.decoder.next(&mut rest);
            let read = self.part.len() - rest.len();
            self.part.advance(read);
            let event = event.map_err(|error| {
                Error::decode(format!("{error}, the limit of .max_message_bytes(..)"))
            })?;
            match event {
                // Other types are for others, and an event without data is no message.
                Some(event)
                    if matches!(&*event.kind, b"" | b"message") && !event.data.is_empty() =>
                {
                    return Ok(Some(event.data.into()));
                }
                _ => {}
            }
        }
        Ok(None)
    }
}

impl Stream for EventStream {
    type Item = Result<Bytes, Error>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Error>>> {
        let this = &mut *self;
        loop {
            let end = match this.next_here() {
                Ok(Some(message)) => return Poll::Ready(Some(Ok(message))),
                Err(error) => Some(Err(error)),
                Ok(None) => {
                    let Some(body) = &mut this.body else {
                        return Poll::Ready(None);
                    };
                    match ready!(Pin::new(body).poll_frame(context)) {
                        Some(Ok(frame)) => {
                            // Trailers say nothing here.
                            this.part = frame.into_data().unwrap_or_default();
                            continue;
                        }
                        Some(Err(error)) => {
                            let error = broken(error);
                            tell(&this.events, &error);
                            Some(Err(error))
                        }
                        None => None,
                    }
                }
            };
            this.body = None;
            this.part = Bytes::new();
            return Poll::Ready(end);
        }
    }
}
