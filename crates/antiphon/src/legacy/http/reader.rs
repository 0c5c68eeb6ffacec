//! [`Reader`]: a connection on which the events of a stream are sent.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::{
    hosted::{Hosted, Present},
    pump::Around,
    stream::{Kind, Taken},
    streams::Seat,
};
use crate::deadline::after;

/// Reads a stream. Dropped, it leaves the stream to whoever comes back for it.
#[derive(Debug)]
pub(crate) struct Reader {
    hosted: Arc<Hosted>,
    seat: Seat,
    kind: Kind,
    _present: Present,
    /// Done when the server is about to stop.
    stopping: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    quiet: Pin<Box<Sleep>>,
    keep_alive: Duration,
    /// When the client is to come back on another connection.
    closes: Option<(Pin<Box<Sleep>>, Duration)>,
}

impl Reader {
    pub(super) fn new(hosted: Arc<Hosted>, seat: Seat, kind: Kind, around: Around<'_>) -> Self {
        let closes = hosted.settings().let_go.filter(|_| hosted.comes_back());
        // Calls are waited for, so only what goes on for ever must be ended.
        let ends = kind == Kind::Standalone;
        Self {
            seat,
            kind,
            _present: hosted.present(),
            stopping: ends.then(|| Box::pin(around.stopping.clone().cancelled_owned())),
            quiet: Box::pin(sleep(around.keep_alive)),
            keep_alive: around.keep_alive,
            closes: closes.map(|(open, retry)| (Box::pin(sleep(open)), retry)),
            hosted,
        }
    }

    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let stream = self.seat.stream;
        if let Some(stopping) = &mut self.stopping
            && stopping.as_mut().poll(context).is_ready()
        {
            self.stopping = None;
            self.hosted.close(stream);
        }
        if self.kind == Kind::Standalone {
            self.hosted.tell(stream, context);
        }
        let mut taken = self.hosted.take(&mut self.seat, context);
        if taken == Taken::Nothing
            && let Some((closes, retry)) = &mut self.closes
            && closes.as_mut().poll(context).is_ready()
        {
            self.hosted.let_go(stream, *retry);
            self.closes = None;
            taken = self.hosted.take(&mut self.seat, context);
        }
        match taken {
            Taken::End => return Poll::Ready(None),
            Taken::Frame(frame) => {
                self.quiet
                    .as_mut()
                    .reset(after(Instant::now(), self.keep_alive));
                return Poll::Ready(Some(frame));
            }
            Taken::Nothing => {}
        }
        if self.quiet.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        self.quiet
            .as_mut()
            .reset(after(Instant::now(), self.keep_alive));
        Poll::Ready(Some(Bytes::from_static(b": keep-alive\n\n")))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.hosted.detach(self.seat);
    }
}
