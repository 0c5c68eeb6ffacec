//! Subscriptions at older servers: `resources/subscribe`, and what the session tells unasked
//! (SHIM-C-03).

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, Weak},
    task::{Context, Poll, Waker},
    time::Duration,
};

use antiphon_types::{
    ServerCapabilities, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
    method::Discover,
};
use bytes::Bytes;
use serde::Serialize;
use tokio::time::timeout;

use super::lock;
use crate::client::{
    Change, Error,
    listen::covered,
    options::Options,
    shared::{Leg, Shared},
};

/// Changes that may wait in one subscription.
const WAITING: usize = 1024;

/// The bytes of their URIs.
const WAITING_BYTES: usize = 4 * 1024 * 1024;

/// How long unsubscribing may take; nobody waits for it.
const PATIENCE: Duration = Duration::from_secs(5);

/// The subscriptions of a session.
#[derive(Default)]
pub(super) struct Feeds {
    feeds: Mutex<Vec<Weak<Queue>>>,
    /// How many subscriptions there are to each resource.
    resources: Mutex<HashMap<String, usize>>,
    /// The server hears of them in order.
    order: tokio::sync::Mutex<()>,
}

/// One subscription; dropping it unsubscribes.
pub(in crate::client) struct Feed {
    queue: Arc<Queue>,
    shared: Arc<Shared>,
    /// Resources that the server was told of.
    subscribed: Vec<String>,
}

/// What one subscription is about, and what it has not taken yet.
struct Queue {
    filter: SubscriptionFilter,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    changes: VecDeque<Change>,
    bytes: usize,
    /// Told after the changes.
    lost: Option<String>,
    waker: Option<Waker>,
}

impl Queue {
    /// Whether a change is one that was asked for.
    fn wants(&self, change: &Change) -> bool {
        let filter = &self.filter;
        match change {
            Change::Tools => filter.tools_list_changed == Some(true),
            Change::Prompts => filter.prompts_list_changed == Some(true),
            Change::Resources => filter.resources_list_changed == Some(true),
            Change::Resource(uri) => {
                let mut subscribed = filter.resource_subscriptions.iter().flatten();
                subscribed.any(|subscribed| uri.starts_with(subscribed.as_str()))
            }
        }
    }

    /// Adds a change, unless the same waits already.
    fn put(&self, change: &Change) {
        self.update(|state| {
            if state.lost.is_some() || state.changes.contains(change) {
                return;
            }
            let bytes = state.bytes + size(change);
            if state.changes.len() >= WAITING || bytes > WAITING_BYTES {
                let count = state.changes.len();
                state.lost = Some(format!("more than {count} changes were not taken"));
                return;
            }
            state.bytes = bytes;
            state.changes.push_back(change.clone());
        });
    }

    fn lose(&self, why: &str) {
        self.update(|state| {
            state.lost.get_or_insert_with(|| why.to_owned());
        });
    }

    fn update(&self, change: impl FnOnce(&mut State)) {
        let mut state = lock(&self.state);
        change(&mut state);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Feeds {
    /// Hands a change to those who asked for it; whether there are any.
    pub(super) fn report(&self, change: &Change) -> bool {
        let queues = self.queues();
        let mut wanted = queues.iter().filter(|queue| queue.wants(change)).peekable();
        let any = wanted.peek().is_some();
        for queue in wanted {
            queue.put(change);
        }
        any
    }

    /// There will be no more changes.
    pub(super) fn lost(&self, why: &str) {
        for queue in self.queues() {
            queue.lose(why);
        }
    }

    fn queues(&self) -> Vec<Arc<Queue>> {
        let mut feeds = lock(&self.feeds);
        feeds.retain(|feed| feed.strong_count() > 0);
        feeds.iter().filter_map(Weak::upgrade).collect()
    }

    fn add(&self, queue: &Arc<Queue>) {
        lock(&self.feeds).push(Arc::downgrade(queue));
    }
}

impl Feed {
    /// Subscribes to what the server offers of this, if it is an older one; beside that, what it
    /// offers.
    pub(in crate::client) async fn open(
        shared: &Arc<Shared>,
        filter: &SubscriptionFilter,
    ) -> Result<Option<(Self, SubscriptionFilter)>, Error> {
        let Some(known) = shared.negotiated.get().filter(|it| !it.version.is_modern()) else {
            return Ok(None);
        };
        let offered = offered(filter, &known.capabilities);
        let queue = Arc::new(Queue {
            filter: offered.clone(),
            state: Mutex::default(),
        });
        // First, so that nothing is missed.
        shared.session.changes.add(&queue);
        let mut feed = Self {
            queue,
            shared: shared.clone(),
            subscribed: Vec::new(),
        };
        for uri in offered.resource_subscriptions.iter().flatten() {
            let _order = shared.session.changes.order.lock().await;
            let params = SubscribeRequestParams::new(uri);
            let told = shared.about_a_resource("resources/subscribe", &params);
            told.await?;
            *lock(&shared.session.changes.resources)
                .entry(uri.clone())
                .or_default() += 1;
            feed.subscribed.push(uri.clone());
        }
        Ok(Some((feed, offered)))
    }

    /// The next change, or why there are no more.
    pub(in crate::client) fn poll_next(
        &self,
        context: &Context<'_>,
    ) -> Poll<Result<Change, String>> {
        let mut state = lock(&self.queue.state);
        if let Some(change) = state.changes.pop_front() {
            state.bytes -= size(&change);
            return Poll::Ready(Ok(change));
        }
        if let Some(why) = &state.lost {
            return Poll::Ready(Err(why.clone()));
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        let left: Vec<_> = {
            let mut resources = lock(&self.shared.session.changes.resources);
            let subscribed = self.subscribed.drain(..);
            let last = subscribed.filter(|uri| match resources.get_mut(uri) {
                Some(count) if *count > 1 => {
                    *count -= 1;
                    false
                }
                _ => resources.remove(uri).is_some(),
            });
            last.collect()
        };
        if left.is_empty() || self.shared.closed.is_cancelled() {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let shared = self.shared.clone();
        runtime.spawn(async move {
            _ = timeout(PATIENCE, shared.unsubscribe(left)).await;
        });
    }
}

impl Shared {
    async fn unsubscribe(&self, uris: Vec<String>) {
        for uri in uris {
            let _order = self.session.changes.order.lock().await;
            // Somebody may have subscribed since.
            if lock(&self.session.changes.resources).contains_key(&uri) {
                continue;
            }
            let params = UnsubscribeRequestParams::new(&uri);
            let told = self.about_a_resource("resources/unsubscribe", &params);
            if let Err(error) = told.await {
                tracing::debug!(%error, "not unsubscribed");
            }
        }
    }

    async fn about_a_resource(
        &self,
        method: &str,
        params: &(impl Serialize + Sync),
    ) -> Result<Bytes, Error> {
        let options = Options::default();
        let leg = Leg {
            method,
            ..self.leg::<Discover>(&options)
        };
        self.request(&leg, params).await?.into_text()
    }

    /// A new session knows of no subscriptions. What has changed in the meantime, nobody told.
    pub(super) async fn subscribe_again(&self) {
        let feeds = &self.session.changes;
        let version = self.version();
        if version.is_modern() {
            return feeds.lost("the server speaks another revision now");
        }
        let uris: Vec<_> = lock(&feeds.resources).keys().cloned().collect();
        for uri in uris {
            let params = SubscribeRequestParams::new(&uri);
            let told = self.older_once("resources/subscribe", version, &params);
            if let Err(error) = told.await {
                let why = error.to_string();
                let mut queues = feeds.queues();
                queues.retain(|queue| queue.wants(&Change::Resource(uri.clone())));
                for queue in queues {
                    queue.lose(&why);
                }
            }
        }
        for queue in feeds.queues() {
            for change in covered(&queue.filter) {
                self.changed(&change);
                queue.put(&change);
            }
        }
    }
}

/// Of what is asked for, what the server says it reports.
fn offered(filter: &SubscriptionFilter, server: &ServerCapabilities) -> SubscriptionFilter {
    let yes = Some(true);
    let resources = server.resources.as_ref();
    let mut offered = filter.clone();
    let offers = [
        (
            &mut offered.tools_list_changed,
            server.tools.as_ref().and_then(|it| it.list_changed),
        ),
        (
            &mut offered.prompts_list_changed,
            server.prompts.as_ref().and_then(|it| it.list_changed),
        ),
        (
            &mut offered.resources_list_changed,
            resources.and_then(|it| it.list_changed),
        ),
    ];
    for (wanted, offer) in offers {
        *wanted = wanted.filter(|_| offer == yes);
    }
    let subscribe = resources.and_then(|it| it.subscribe);
    offered.resource_subscriptions = offered.resource_subscriptions.filter(|_| subscribe == yes);
    offered
}

/// How much a change takes while it waits.
fn size(change: &Change) -> usize {
    match change {
        Change::Resource(uri) => uri.len(),
        Change::Tools | Change::Prompts | Change::Resources => 0,
    }
}
