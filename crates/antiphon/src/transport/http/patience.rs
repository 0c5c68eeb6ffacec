//! How long a client may take to send a head, without a timer for each.
//!
//! hyper sets a deadline whenever it begins to wait for a head. A timer of tokio's for each is
//! entered and taken out with every request, which almost never runs out of time: some 1,200
//! instructions. Here a deadline is a moment that is compared with the clock whenever the connection
//! is looked at, and [`Attended`] sees to it that this happens every few seconds, whatever the
//! client does.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use hyper::{
    body::Incoming,
    rt::{Sleep, Timer},
    server::conn::http1::Connection,
    service::HttpService,
};
use hyper_util::rt::TokioIo;
use pin_project_lite::pin_project;
use tokio::time::{self, Instant};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::{body::Body, watched::Watched};

/// How often a connection is looked at: a deadline is noticed so much later at the most.
const LOOK: Duration = Duration::from_secs(10);

/// The clock of an [`Attended`] connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience;

impl Timer for Patience {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: std::time::Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Deadline(deadline))
    }

    fn now(&self) -> std::time::Instant {
        Instant::now().into_std()
    }
}

/// Over when it is polled after a moment; it wakes nobody.
struct Deadline(std::time::Instant);

impl Sleep for Deadline {}

impl Future for Deadline {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        match Patience.now() >= self.0 {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

pin_project! {
    /// A connection that is looked at now and then, and told when the server stops. To be awaited in
    /// a task of its own: what wakes it is asked for once, not whenever it is polled.
    pub(super) struct Attended<S>
    where
        S: HttpService<Incoming>,
    {
        #[pin]
        connection: Connection<TokioIo<Watched>, S>,
        stopping: CancellationToken,
        #[pin]
        stopped: WaitForCancellationFutureOwned,
        #[pin]
        look: time::Sleep,
        begun: bool,
        told: bool,
    }
}

impl<S: HttpService<Incoming>> Attended<S> {
    pub(super) fn new(
        connection: Connection<TokioIo<Watched>, S>,
        stopping: CancellationToken,
    ) -> Self {
        Self {
            connection,
            stopped: stopping.clone().cancelled_owned(),
            stopping,
            look: time::sleep(LOOK),
            begun: false,
            told: false,
        }
    }
}

impl<S> Future for Attended<S>
where
    S: HttpService<Incoming, ResBody = Body, Error = Infallible>,
{
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        let first = !std::mem::replace(this.begun, true);
        if first || this.look.is_elapsed() {
            this.look.as_mut().reset(Instant::now() + LOOK);
            // Asks to be woken; it has only just begun.
            _ = this.look.poll(context);
        }
        if first {
            _ = this.stopped.poll(context);
        }
        if !*this.told && this.stopping.is_cancelled() {
            *this.told = true;
            this.connection.as_mut().graceful_shutdown();
        }
        this.connection.poll(context).map(|ended| {
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended");
            }
        })
    }
}
