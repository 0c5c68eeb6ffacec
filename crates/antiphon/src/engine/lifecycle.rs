//! A service's beginning and end: before the first transport and after the last, however many
//! serve it in between.

use std::{
    io,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use tokio::{sync::Mutex, time::Instant};

use super::{endpoint::Endpoint, unwind};
use crate::raw::Service;

/// After a start that failed.
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(crate) struct Lifecycle {
    /// Locked while the service starts or stops: whoever comes then waits.
    phase: Mutex<Phase>,
    /// Running transports, and those that wait for the start.
    transports: AtomicUsize,
    /// Started, and not to be stopped because a transport ends.
    held: AtomicBool,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    New,
    Started,
    Failed(io::ErrorKind, String, Instant),
    Stopped,
}

impl Lifecycle {
    /// Whether the service is started, and stays so until it is stopped by hand.
    pub(crate) fn is_held(&self) -> bool {
        self.held.load(Ordering::Acquire)
    }

    /// Starts the service unless that was done; `hold` keeps it until it is stopped by hand.
    ///
    /// A start that failed is tried again, though not at once: what it needs may come up later.
    pub(super) async fn start(&self, service: &dyn Service, hold: bool) -> io::Result<()> {
        let mut phase = self.phase.lock().await;
        match &*phase {
            Phase::New => *phase = begin(service).await,
            Phase::Failed(_, _, when) if when.elapsed() >= PAUSE => *phase = begin(service).await,
            Phase::Started | Phase::Failed(..) | Phase::Stopped => {}
        }
        match &*phase {
            Phase::Failed(kind, text, _) => Err(io::Error::new(*kind, text.clone())),
            Phase::Stopped => Err(io::Error::other("the server was stopped already")),
            Phase::New | Phase::Started => {
                if hold {
                    self.held.store(true, Ordering::Release);
                }
                Ok(())
            }
        }
    }

    /// Stops the service if it was started; nothing starts it again.
    pub(super) async fn stop(&self, service: &dyn Service) {
        let mut phase = self.phase.lock().await;
        self.end(&mut phase, Phase::Stopped, service).await;
    }

    /// Stops the service unless somebody still needs it; the next transport starts it again.
    async fn stop_unneeded(&self, service: &dyn Service) {
        let mut phase = self.phase.lock().await;
        if self.transports.load(Ordering::Acquire) == 0 && !self.is_held() {
            self.end(&mut phase, Phase::New, service).await;
        }
    }

    async fn end(&self, phase: &mut Phase, after: Phase, service: &dyn Service) {
        self.held.store(false, Ordering::Release);
        // Before it runs: dropped half-way, it is not run a second time.
        let before = std::mem::replace(phase, after);
        if matches!(before, Phase::Started)
            && let Err(panic) = unwind::run(|| service.stop()).await
        {
            tracing::error!(panic, "the service panicked as it stopped");
        }
    }
}

async fn begin(service: &dyn Service) -> Phase {
    let error = match unwind::run(|| service.start()).await {
        Ok(Ok(())) => return Phase::Started,
        Ok(Err(error)) => error,
        Err(panic) => {
            tracing::error!(panic, "the service panicked as it started");
            io::Error::other("the service panicked as it started")
        }
    };
    tracing::error!(%error, "the service did not start; nothing is served");
    Phase::Failed(error.kind(), error.to_string(), Instant::now())
}

/// A transport's share in a started endpoint. Dropping it gives the share up without stopping
/// anything, because a drop cannot wait.
#[derive(Debug)]
pub(crate) struct Serving {
    endpoint: Endpoint,
    counted: bool,
}

impl Serving {
    /// Starts the service, unless that was done, on behalf of one transport.
    pub(crate) async fn begin(endpoint: &Endpoint) -> io::Result<Self> {
        let lifecycle = &endpoint.inner().lifecycle;
        lifecycle.transports.fetch_add(1, Ordering::AcqRel);
        let serving = Self {
            endpoint: endpoint.clone(),
            counted: true,
        };
        lifecycle.start(&*endpoint.inner().service, false).await?;
        Ok(serving)
    }

    /// The transport has drained: stops the service, if this was the last.
    pub(crate) async fn end(mut self) {
        self.leave();
        let inner = self.endpoint.inner();
        inner.lifecycle.stop_unneeded(&*inner.service).await;
    }

    fn leave(&mut self) {
        if std::mem::take(&mut self.counted) {
            let lifecycle = &self.endpoint.inner().lifecycle;
            lifecycle.transports.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.leave();
    }
}
