//! [`Connection`]: many requests on one channel that carries a message at a time.
//!
//! A request that is answered at once never becomes a task: it is polled where it was read, and
//! only one that has to wait moves to a task of its own.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Waker},
    time::Duration,
};

use bytes::Bytes;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use super::{
    dispatch::{self, Inbound},
    endpoint::Endpoint,
    inflight::InFlight,
    lines::Lines,
    outbox::Outbox,
    running::Running,
    unattended::LONGEST,
};
use crate::{
    auth::Principal,
    legacy::{Channel, Way},
    raw::Transport,
};

/// How long calls may go on after the client has closed its side.
pub(crate) const DRAIN: Duration = Duration::from_secs(1);

pub(crate) struct Connection {
    endpoint: Endpoint,
    transport: Transport,
    principal: Option<Arc<Principal>>,
    lines: Arc<Lines>,
    in_flight: Arc<InFlight>,
    tasks: TaskTracker,
    /// What is known of a client of an older revision, if such are served.
    legacy: Option<Arc<Channel>>,
}

impl Connection {
    pub(crate) fn new(
        endpoint: Endpoint,
        transport: Transport,
        principal: Option<Principal>,
        lines: Arc<Lines>,
    ) -> Self {
        let in_flight = Arc::<InFlight>::default();
        let legacy = (endpoint.inner().legacy.served)
            .then(|| Arc::new(Channel::new(lines.clone(), in_flight.clone())));
        Self {
            endpoint,
            transport,
            principal: principal.map(Arc::new),
            lines,
            in_flight,
            tasks: TaskTracker::new(),
            legacy,
        }
    }

    /// Takes what came: one message, or several where the client's revision has such.
    pub(crate) fn receive(&self, body: Bytes) {
        let batch = self.legacy.as_ref().and_then(|legacy| legacy.batch(&body));
        match batch {
            None => self.take(body),
            Some(messages) => messages.into_iter().for_each(|message| self.take(message)),
        }
    }

    fn take(&self, body: Bytes) {
        let outbox = Arc::new(Outbox::on(self.lines.clone()));
        let inbound = Inbound {
            body,
            transport: self.transport,
            http: None,
            principal: self.principal.clone(),
            in_flight: Some(self.in_flight.clone()),
            mounted: false,
            legacy: self.legacy.clone().map(Way::Channel),
        };
        let mut request = Running {
            answer: Box::pin(dispatch::answer(
                self.endpoint.clone(),
                inbound,
                outbox.clone(),
            )),
            outbox,
        };
        // Woken by nobody: if it has to wait, the task polls it again and is woken itself.
        let mut context = Context::from_waker(Waker::noop());
        if Pin::new(&mut request).poll(&mut context).is_pending() {
            self.tasks.spawn(request);
        }
    }

    /// The requests that had to wait.
    #[cfg(feature = "stdio")]
    pub(crate) fn tasks(&self) -> TaskTracker {
        self.tasks.clone()
    }

    /// Says that a message could not be read.
    pub(crate) fn refuse(&self, error: &antiphon_types::ErrorObject) {
        let mut json = Vec::new();
        let id = self.legacy.as_ref().and_then(|legacy| legacy.nobody());
        antiphon_core::write::error(&mut json, id, error);
        self.lines.push(&json);
    }

    /// The client has closed its side: ends subscriptions, lets calls finish for a moment, and
    /// cancels the rest (wire.md 10.2, step 8). Those that run to their end are waited for, though
    /// not for ever.
    pub(crate) async fn finish(&self) {
        self.tasks.close();
        self.in_flight.end_all();
        if let Some(legacy) = &self.legacy {
            legacy.end();
        }
        if timeout(DRAIN, self.tasks.wait()).await.is_err() {
            self.in_flight.cancel_all();
            let rest = LONGEST.saturating_sub(DRAIN);
            if timeout(rest, self.tasks.wait()).await.is_err() {
                let open = self.tasks.len();
                tracing::warn!(
                    open,
                    "calls were still running to their end and are dropped"
                );
                self.in_flight.drop_all();
                self.tasks.wait().await;
            }
        }
        self.lines.close();
    }

    /// Nobody takes answers any more: cancels everything at once.
    #[cfg(feature = "stdio")]
    pub(crate) fn leave(&self) {
        self.in_flight.cancel_all();
        self.lines.close();
    }
}

/// However a connection ends, what still runs on it ends too.
impl Drop for Connection {
    fn drop(&mut self) {
        self.in_flight.drop_all();
        self.lines.close();
    }
}
