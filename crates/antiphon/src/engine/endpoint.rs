//! [`Endpoint`]: a service made ready for transports.

use std::{
    fmt, io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use antiphon_types::{DiscoverResult, Implementation, ServerCapabilities, Version};
use serde_json::value::{RawValue, to_raw_value};

use super::{
    lifecycle::Lifecycle,
    otel::Instruments,
    unattended::{LONGEST, Unattended},
};
use crate::{
    legacy::Legacy,
    raw::{Changes, Rendered, Service, Watcher},
};

/// A service with its identity, its limits and its answer to `server/discover`. Clones are one
/// and the same server; transports take one each.
#[derive(Clone)]
pub struct Endpoint(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) service: Box<dyn Service>,
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) discover: Rendered<DiscoverResult>,
    pub(crate) info: Implementation,
    pub(crate) instructions: Option<String>,
    /// How clients of older revisions are served.
    pub(crate) legacy: Legacy,
    /// The server's identity as JSON, unless it stays anonymous.
    pub(crate) identity: Option<Box<RawValue>>,
    pub(crate) changes: Changes,
    pub(crate) observer: Option<Watcher>,
    pub(crate) instruments: Instruments,
    pub(crate) limits: Limits,
    pub(crate) lifecycle: Lifecycle,
    /// What runs on without its client, of calls through somebody else's server.
    pub(crate) unattended: Unattended,
    calls: AtomicUsize,
    listens: AtomicUsize,
    /// Calls of older clients that wait for answers.
    held: AtomicUsize,
}

/// The revisions this endpoint serves, newest first (AMB-06).
pub(crate) const SERVED: &[Version] = Version::MODERN;

/// What peers may use up: each message by itself, calls and subscriptions all together. The
/// defaults suit a server on the open network.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one message: a request body, or a line. 4 MiB.
    pub message_bytes: usize,
    /// Levels of nested objects and arrays in one message. 64.
    pub depth: usize,
    /// Requests running at once. 16,384.
    pub calls: usize,
    /// Open subscriptions; they count as calls too. 4,096.
    pub listens: usize,
    /// Resources one subscription may name. 1,024.
    pub listen_uris: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 4 * 1024 * 1024,
            depth: 64,
            calls: 16_384,
            listens: 4_096,
            listen_uris: 1_024,
        }
    }
}

impl Limits {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`Limits::message_bytes`].
    pub fn message_bytes(mut self, bytes: usize) -> Self {
        self.message_bytes = bytes;
        self
    }

    /// Sets [`Limits::depth`].
    pub fn depth(mut self, levels: usize) -> Self {
        self.depth = levels;
        self
    }

    /// Sets [`Limits::calls`].
    pub fn calls(mut self, calls: usize) -> Self {
        self.calls = calls;
        self
    }

    /// Sets [`Limits::listens`].
    pub fn listens(mut self, listens: usize) -> Self {
        self.listens = listens;
        self
    }

    /// Sets [`Limits::listen_uris`].
    pub fn listen_uris(mut self, uris: usize) -> Self {
        self.listen_uris = uris;
        self
    }
}

impl Endpoint {
    /// Makes `service` ready, with the default [`Limits`].
    pub fn new(service: impl Service) -> Self {
        Self::with_limits(service, Limits::default())
    }

    /// Makes `service` ready, with these limits.
    pub fn with_limits(service: impl Service, limits: Limits) -> Self {
        let about = service.about();
        let versions: Vec<_> = SERVED
            .iter()
            .map(|version| version.as_str().to_owned())
            .collect();
        let mut discover = DiscoverResult::new(versions, about.capabilities.clone())
            .cache(about.cache.0, about.cache.1);
        discover.instructions.clone_from(&about.instructions);
        let announces = [
            about
                .capabilities
                .tools
                .as_ref()
                .and_then(|tools| tools.list_changed),
            about
                .capabilities
                .prompts
                .as_ref()
                .and_then(|prompts| prompts.list_changed),
            about
                .capabilities
                .resources
                .as_ref()
                .and_then(|resources| resources.list_changed),
            about
                .capabilities
                .resources
                .as_ref()
                .and_then(|resources| resources.subscribe),
        ];
        if announces.contains(&Some(true)) && about.changes.is_none() {
            tracing::warn!(
                "changes are offered but nobody can announce one; give About::changes a Changes"
            );
        }
        let identity = about
            .identify
            .then(|| to_raw_value(&about.info).expect("an implementation is plain JSON"));
        Self(Arc::new(Inner {
            service: Box::new(service),
            capabilities: about.capabilities,
            discover: discover.into(),
            info: about.info,
            instructions: about.instructions,
            legacy: about.legacy,
            identity,
            changes: about.changes.unwrap_or_default(),
            observer: about.observer,
            instruments: Instruments::default(),
            limits,
            lifecycle: Lifecycle::default(),
            unattended: Unattended::default(),
            calls: AtomicUsize::new(0),
            listens: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
        }))
    }

    /// Starts the service by hand: [`Service::start`], unless it ran already. From then on only
    /// [`stop`](Self::stop) ends it, whatever transports come and go: for a service that is
    /// mounted in another server, or serves one connection after the other.
    ///
    /// # Errors
    /// What the service said, also when it said so earlier; or that it was stopped.
    pub async fn start(&self) -> io::Result<()> {
        self.0.lifecycle.start(&*self.0.service, true).await
    }

    /// Stops the service by hand, once nothing serves it any more: [`Service::stop`], if it was
    /// started and is not stopped yet. It cannot be started again.
    ///
    /// Calls that [run to their end](crate::raw::Call::run_to_end) without their clients are
    /// waited for, for a minute at most.
    pub async fn stop(&self) {
        self.0.unattended.finish_within(LONGEST).await;
        self.0.lifecycle.stop(&*self.0.service).await;
    }

    /// Starts a mounted service at its first request, on a task of its own: whoever happens to
    /// come first may leave before it is done.
    pub(crate) async fn start_on_demand(&self) -> io::Result<()> {
        let endpoint = self.clone();
        let started = tokio::spawn(async move { endpoint.start().await });
        started
            .await
            .unwrap_or_else(|lost| Err(io::Error::other(lost)))
    }

    /// Requests running now. Those that [wait](Self::waiting_calls) for answers are not.
    pub fn calls(&self) -> usize {
        self.0.calls.load(Ordering::Relaxed)
    }

    /// Calls of clients of older revisions that wait for answers now.
    pub fn waiting_calls(&self) -> usize {
        self.0.held.load(Ordering::Relaxed)
    }

    /// Ends open subscriptions in good order: what a server does before it goes away.
    pub fn end_subscriptions(&self) {
        self.0.changes.end();
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }
}

/// Transports take a service as it is, with the default [`Limits`].
impl<S: Service> From<S> for Endpoint {
    fn from(service: S) -> Self {
        Self::new(service)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("identity", &self.0.identity.as_deref().map(RawValue::get))
            .field("calls", &self.calls())
            .field("limits", &self.0.limits)
            .finish_non_exhaustive()
    }
}

impl Inner {
    /// A place among the running calls, if there is one.
    pub(crate) fn admit_call(&self) -> Option<Place<'_>> {
        Place::take(&self.calls, self.limits.calls)
    }

    /// A place among the calls that wait for answers of older clients, if there is one.
    pub(crate) fn hold(&self) -> Option<Place<'_>> {
        Place::take(&self.held, self.legacy.shim.calls)
    }

    /// Gives the place of a running call to others while it waits for an answer. For a moment after
    /// that there may be more calls than there should, but no more than may wait.
    pub(crate) fn lend_place(&self) -> Lent<'_> {
        self.calls.fetch_sub(1, Ordering::Relaxed);
        Lent(&self.calls)
    }

    /// A place among the open subscriptions, if there is one.
    pub(crate) fn admit_listen(&self) -> Option<Place<'_>> {
        Place::take(&self.listens, self.limits.listens)
    }
}

/// A counted place, given back when it is dropped.
pub(crate) struct Place<'a>(&'a AtomicUsize);

impl<'a> Place<'a> {
    fn take(count: &'a AtomicUsize, limit: usize) -> Option<Self> {
        let place = Self(count);
        // Taken first and given back by the drop if it was one too many.
        (count.fetch_add(1, Ordering::Relaxed) < limit).then_some(place)
    }
}

/// A place that is taken back when this is dropped.
pub(crate) struct Lent<'a>(&'a AtomicUsize);

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
