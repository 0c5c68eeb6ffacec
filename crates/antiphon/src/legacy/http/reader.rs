//! [`Reader`]: a connection on which the events of a stream are sent.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use tokio::time::{Instant, Sleep, sleep, sleep_until};
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
    /// Made when there is nothing to send for the first time.
    quiet: Option<Pin<Box<Sleep>>>,
    /// When something was sent last.
    spoke: Instant,
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
            quiet: None,
            spoke: Instant::now(),
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
            Taken::End => Poll::Ready(None),
            Taken::Frame(frame) => {
                self.spoke = Instant::now();
                Poll::Ready(Some(frame))
            }
            Taken::Nothing => self.poll_quiet(context),
        }
    }

    /// A comment now and then, where nothing else is said. The clock is looked at again when it has
    /// run down, not set anew whenever something is sent.
    fn poll_quiet(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            let until = after(self.spoke, self.keep_alive);
            let quiet = self
                .quiet
                .get_or_insert_with(|| Box::pin(sleep_until(until)));
            ready!(quiet.as_mut().poll(context));
            let now = Instant::now();
            if now >= until {
                self.spoke = now;
                quiet.as_mut().reset(after(now, self.keep_alive));
                return Poll::Ready(Some(Bytes::from_static(b": keep-alive\n\n")));
            }
            quiet.as_mut().reset(until);
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.hosted.detach(self.seat);
    }
}
