//! [`Reply`]: what comes back for a request of an older revision, over one connection or several.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_core::Stream;

use super::{
    asked::Asked,
    events::{Reader, message},
    resume::{Tries, reopen},
    wire::report,
};
use crate::{
    client::{Error, ErrorKind, Pending, transport::batch::split},
    web::Content,
};

type Item = Result<Bytes, Error>;

/// The messages for one request: what the server asks and tells because of it, and then its
/// answer.
pub(super) struct Reply {
    asked: Asked,
    /// None once nothing more is read.
    reader: Option<Reader>,
    tries: Tries,
    ready: VecDeque<Bytes>,
}

impl Reply {
    /// What a stream of events says.
    pub(super) fn events(asked: Asked, body: Content) -> Self {
        let mut reader = Reader::resumable(asked.session.wire.limit);
        reader.open(body);
        Self {
            asked,
            reader: Some(reader),
            tries: Tries::default(),
            ready: VecDeque::new(),
        }
    }

    /// These, which are all there is.
    pub(super) fn messages(asked: Asked, ready: VecDeque<Bytes>) -> Self {
        Self {
            asked,
            reader: None,
            tries: Tries::default(),
            ready,
        }
    }

    pub(super) fn into_stream(self) -> Pin<Box<dyn Stream<Item = Item> + Send>> {
        Box::pin(Steps::Resting(Box::new(self)))
    }

    async fn next(&mut self) -> Option<Item> {
        loop {
            while let Some(message) = self.ready.pop_front() {
                self.tries.rewarded();
                if let Some(message) = self.asked.sort(message) {
                    return Some(Ok(message));
                }
            }
            let Some(reader) = &mut self.reader else {
                self.asked.over();
                return None;
            };
            let event = tokio::select! {
                biased;
                event = reader.next() => event,
                // Nothing that matters comes here any more.
                answer = self.asked.elsewhere() => {
                    self.reader = None;
                    self.ready.push_back(answer);
                    continue;
                }
            };
            let broken = match event {
                Some(Ok(event)) => {
                    if let Some(message) = message(event) {
                        split(self.asked.version, message, &mut self.ready);
                    }
                    continue;
                }
                Some(Err(error)) => Some(error),
                None => None,
            };
            if self.asked.is_answered() {
                self.reader = None;
            } else if let Err(end) = self.resume(broken).await {
                self.reader = None;
                return end.map(Err);
            }
        }
    }

    /// Goes on after the connection ended; the error is how the stream ends then.
    async fn resume(&mut self, broken: Option<Error>) -> Result<(), Option<Error>> {
        let is_useless = |error: &Error| !matches!(error.kind(), ErrorKind::Transport);
        if broken.as_ref().is_some_and(is_useless) {
            self.asked.give_up();
            return Err(broken);
        }
        let Some(reader) = &mut self.reader else {
            return Err(broken);
        };
        let end = match reader.last_id() {
            None => broken,
            Some(last) => {
                let (session, stamp) = (self.asked.session.clone(), self.asked.stamp.clone());
                tokio::select! {
                    biased;
                    reopened = reopen(&session.wire, &stamp, last, reader, &mut self.tries) => {
                        match reopened {
                            Ok(()) => return Ok(()),
                            Err(error) => Some(error),
                        }
                    }
                    answer = self.asked.elsewhere() => {
                        self.reader = None;
                        self.ready.push_back(answer);
                        return Ok(());
                    }
                }
            }
        };
        self.asked.over();
        if let Some(error) = &end {
            report(&self.asked.session.wire.events, error);
        }
        Err(end)
    }
}

/// A reply as a stream: at rest, on its way to the next message, or at its end.
enum Steps {
    Resting(Box<Reply>),
    Going(Pending<'static, (Box<Reply>, Option<Item>)>),
    Over,
}

impl Stream for Steps {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Item>> {
        let mut going: Pending<'static, _> = match std::mem::replace(&mut *self, Self::Over) {
            Self::Resting(mut reply) => Box::pin(async move {
                let item = reply.next().await;
                (reply, item)
            }),
            Self::Going(going) => going,
            Self::Over => return Poll::Ready(None),
        };
        let Poll::Ready((reply, item)) = going.as_mut().poll(context) else {
            *self = Self::Going(going);
            return Poll::Pending;
        };
        if item.is_some() {
            *self = Self::Resting(reply);
        }
        Poll::Ready(item)
    }
}
