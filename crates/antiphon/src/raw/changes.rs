//! [`Changes`]: where a service announces that something is different now.
//!
//! Each open `subscriptions/listen` has a [`Listener`] here. A listener holds a set, not a
//! queue: the same change twice before it is taken is delivered once, so a subscription costs no
//! more memory than its own filter.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::{Context, Poll, Waker},
};

use antiphon_types::SubscriptionFilter;

/// Announces changes to every client that listens for them. Clones are one and the same.
#[derive(Debug, Clone, Default)]
pub struct Changes(Arc<Mutex<Listeners>>);

#[derive(Debug, Default)]
struct Listeners {
    all: Vec<Weak<Listener>>,
    /// With this many it is worth looking for those that are gone.
    full: usize,
}

impl Changes {
    /// Nobody listens yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The set of tools is different now.
    pub fn tools(&self) {
        self.announce(&Change::Tools);
    }

    /// The set of prompts is different now.
    pub fn prompts(&self) {
        self.announce(&Change::Prompts);
    }

    /// The set of resources is different now.
    pub fn resources(&self) {
        self.announce(&Change::Resources);
    }

    /// One resource reads differently now.
    pub fn resource(&self, uri: &str) {
        self.announce(&Change::Resource(uri.to_owned()));
    }

    /// Ends every open subscription in good order (SUB-S-07). New ones may follow.
    pub fn end(&self) {
        self.announce(&Change::End);
    }

    /// How many listen: open subscriptions, and sessions of older clients.
    pub fn listeners(&self) -> usize {
        self.lock()
            .all
            .iter()
            .filter(|listener| listener.strong_count() > 0)
            .count()
    }

    fn announce(&self, change: &Change) {
        let listeners: Vec<_> = self.lock().all.iter().filter_map(Weak::upgrade).collect();
        for listener in listeners {
            listener.tell(change);
        }
    }

    pub(crate) fn listen(&self, filter: &SubscriptionFilter) -> Arc<Listener> {
        let listener = Arc::new(Listener::new(filter));
        let mut listeners = self.lock();
        // Each look at all of them is paid for by as many that came since the last.
        if listeners.all.len() >= listeners.full {
            listeners.all.retain(|listener| listener.strong_count() > 0);
            listeners.full = 2 * listeners.all.len() + 16;
            let full = listeners.full;
            listeners.all.shrink_to(full);
        }
        listeners.all.push(Arc::downgrade(&listener));
        listener
    }

    fn lock(&self) -> MutexGuard<'_, Listeners> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a listener can be told; the end comes last.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    Tools,
    Prompts,
    Resources,
    Resource(String),
    End,
}

/// One open subscription.
#[derive(Debug)]
pub(crate) struct Listener {
    pending: Mutex<Pending>,
}

#[derive(Debug, Default)]
struct Pending {
    wanted: BTreeSet<Change>,
    changes: BTreeSet<Change>,
    waker: Option<Waker>,
}

impl Pending {
    fn has_room(&self, uri: &str, most: usize, bytes: usize) -> bool {
        let uris = || {
            self.wanted.iter().filter_map(|change| match change {
                Change::Resource(uri) => Some(&**uri),
                _ => None,
            })
        };
        let held: usize = uris().map(str::len).sum();
        (uris().count() < most && held.saturating_add(uri.len()) <= bytes)
            || uris().any(|heard| heard == uri)
    }
}

impl Listener {
    fn new(filter: &SubscriptionFilter) -> Self {
        let flags = [
            (filter.tools_list_changed, Change::Tools),
            (filter.prompts_list_changed, Change::Prompts),
            (filter.resources_list_changed, Change::Resources),
        ];
        let mut wanted = BTreeSet::from([Change::End]);
        wanted.extend(
            flags
                .into_iter()
                .filter(|(on, _)| *on == Some(true))
                .map(|(_, change)| change),
        );
        let uris = filter.resource_subscriptions.iter().flatten().cloned();
        wanted.extend(uris.map(Change::Resource));
        Self {
            pending: Mutex::new(Pending {
                wanted,
                ..Pending::default()
            }),
        }
    }

    fn tell(&self, change: &Change) {
        let mut pending = self.lock();
        if !pending.wanted.contains(change) {
            return;
        }
        pending.changes.insert(change.clone());
        if let Some(waker) = pending.waker.take() {
            waker.wake();
        }
    }

    /// Hears of this resource, too; `false` if there are `most` already, or `bytes` of them.
    pub(crate) fn watch(&self, uri: &str, most: usize, bytes: usize) -> bool {
        let mut pending = self.lock();
        let has_room = pending.has_room(uri, most, bytes);
        if has_room {
            pending.wanted.insert(Change::Resource(uri.to_owned()));
        }
        has_room
    }

    /// Whether it hears of this resource, or could.
    pub(crate) fn has_room(&self, uri: &str, most: usize, bytes: usize) -> bool {
        self.lock().has_room(uri, most, bytes)
    }

    /// Hears no more of this resource.
    pub(crate) fn unwatch(&self, uri: &str) {
        let resource = Change::Resource(uri.to_owned());
        let mut pending = self.lock();
        pending.wanted.remove(&resource);
        pending.changes.remove(&resource);
    }

    /// Takes back that it is to end.
    #[cfg(feature = "http")]
    pub(crate) fn forget_end(&self) {
        self.lock().changes.remove(&Change::End);
    }

    /// All that changed since the last time, so that no change can starve another.
    pub(crate) fn poll_changes(&self, context: &Context<'_>) -> Poll<BTreeSet<Change>> {
        let mut pending = self.lock();
        if pending.changes.is_empty() {
            pending.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(std::mem::take(&mut pending.changes))
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(tools: bool, uris: &[&str]) -> SubscriptionFilter {
        SubscriptionFilter {
            tools_list_changed: Some(tools),
            resource_subscriptions: Some(uris.iter().map(|uri| (*uri).to_owned()).collect()),
            ..SubscriptionFilter::default()
        }
    }

    fn heard(listener: &Listener) -> Vec<Change> {
        match listener.poll_changes(&Context::from_waker(Waker::noop())) {
            Poll::Ready(changes) => changes.into_iter().collect(),
            Poll::Pending => Vec::new(),
        }
    }

    /// SUB-S-01, RES-S-08: only what was asked for; once however often it happens.
    #[test]
    fn a_listener_hears_what_it_asked_for_once() {
        let changes = Changes::new();
        let listener = changes.listen(&filter(true, &["a://1"]));
        let deaf = changes.listen(&filter(false, &[]));
        changes.prompts();
        for _ in 0..1000 {
            changes.tools();
            changes.resource("a://1");
            changes.resource("a://2");
        }
        changes.end();
        let expected = [Change::Tools, Change::Resource("a://1".into()), Change::End];
        assert_eq!(heard(&listener), expected);
        assert_eq!(heard(&deaf), [Change::End]);
        assert!(heard(&listener).is_empty());
    }

    #[test]
    fn a_dropped_listener_is_forgotten() {
        let changes = Changes::new();
        let listener = changes.listen(&filter(true, &[]));
        assert_eq!(changes.listeners(), 1);
        drop(listener);
        assert_eq!(changes.listeners(), 0);
        changes.tools();
    }

    #[test]
    fn those_that_come_and_go_are_not_held() {
        let changes = Changes::new();
        let stays = changes.listen(&filter(true, &[]));
        for _ in 0..10_000 {
            changes.listen(&filter(true, &[]));
        }
        assert!(changes.lock().all.len() < 40);
        changes.tools();
        assert_eq!(heard(&stays), [Change::Tools]);
    }
}
