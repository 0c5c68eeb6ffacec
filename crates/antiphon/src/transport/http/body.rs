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
use tokio::{
    task::JoinHandle,
    time::{Instant, Sleep, sleep},
};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::service::Shared;
use crate::{
    deadline::after,
    engine::{
        answer::Answer,
        outbox::{Outbox, Sent},
        running::Running,
        unattended::Unattended,
    },
    legacy::http::Reader,
    transport::one_line::one_line,
};

/// The body of a response.
#[derive(Debug)]
pub struct Body(Inner);

#[derive(Debug)]
enum Inner {
    Whole(Bytes),
    Events(Box<Events>),
    /// Events of a session's.
    Read(Box<Reader>),
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

    pub(crate) fn read(reader: Reader) -> Self {
        Self(Inner::Read(Box::new(reader)))
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
            Inner::Read(reader) => reader.poll(context),
        };
        data.map(|data| data.map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Inner::Whole(bytes) => bytes.is_empty(),
            Inner::Events(_) | Inner::Read(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Inner::Events(_) | Inner::Read(_) => SizeHint::default(),
        }
    }
}

/// An answer that began with a notification: server-sent events, the last of them the answer.
///
/// From here on the call is a task of its own, so that a client that does not read delays only
/// itself. The task ends with the stream, unless the call is to run to its end.
#[derive(Debug)]
pub(crate) struct Events {
    /// Messages taken from the outbox before the stream began.
    first: Vec<Sent>,
    outbox: Arc<Outbox>,
    /// The call, until it is answered.
    task: Option<JoinHandle<Option<Answer>>>,
    unattended: Unattended,
    /// Done when the server is about to stop.
    stopping: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    quiet: Pin<Box<Sleep>>,
    keep_alive: Duration,
}

impl Events {
    pub(crate) fn new(request: Running, first: Vec<Sent>, shared: &Shared) -> Self {
        Self {
            first,
            outbox: request.outbox.clone(),
            task: Some(tokio::spawn(request)),
            unattended: shared.unattended.clone(),
            stopping: Some(Box::pin(shared.stopping.clone().cancelled_owned())),
            quiet: Box::pin(sleep(shared.keep_alive)),
            keep_alive: shared.keep_alive,
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(stopping) = &mut self.stopping
            && stopping.as_mut().poll(context).is_ready()
        {
            self.stopping = None;
            self.outbox.end();
        }
        let mut frame = Vec::new();
        for message in std::mem::take(&mut self.first) {
            event(&mut frame, message.json);
        }
        let Some(task) = &mut self.task else {
            return Poll::Ready(None);
        };
        // The answer first: what was sent before it is in the outbox by then.
        let answer = Pin::new(task).poll(context);
        for message in self.outbox.take(context) {
            event(&mut frame, message.json);
        }
        if let Poll::Ready(answer) = answer {
            self.task = None;
            if let Ok(Some(Answer::Message { json, .. })) = answer {
                event(&mut frame, json);
            }
        } else if frame.is_empty() {
            // HTTP-S-17: a comment now and then tells proxies that somebody is there.
            if self.quiet.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            frame.extend_from_slice(b": keep-alive\n\n");
        }
        self.quiet
            .as_mut()
            .reset(after(Instant::now(), self.keep_alive));
        match frame.is_empty() {
            true => Poll::Ready(None),
            false => Poll::Ready(Some(frame.into())),
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            // It may be about to say that it runs to its end; one that does not ends by itself.
            self.outbox.cancel();
            self.unattended.watch(task);
        }
    }
}

/// The messages of a request that is over, as a stream that is over.
pub(crate) fn finished(messages: Vec<Sent>, answer: Vec<u8>) -> Bytes {
    let mut frame = Vec::new();
    for message in messages {
        event(&mut frame, message.json);
    }
    event(&mut frame, answer);
    frame.into()
}

/// One message as one event; no ids, no resumption (HTTP-S-18, AMB-13).
fn event(frame: &mut Vec<u8>, mut message: Vec<u8>) {
    one_line(&mut message);
    frame.extend_from_slice(b"data: ");
    frame.append(&mut message);
    frame.extend_from_slice(b"\n\n");
}
