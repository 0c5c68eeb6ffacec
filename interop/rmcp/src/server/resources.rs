//! Resources, and who listens to them.

use std::{
    collections::BTreeMap,
    sync::{MutexGuard, atomic::Ordering::SeqCst},
};

use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{
        ListResourcesResult, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents,
        ResourceUpdatedNotificationParam, SubscriptionFilter,
    },
    service::SubscriptionSink,
};

use super::Ensemble;
use crate::NOTE;

const ITEMS: usize = 25;
const PAGE: usize = 10;

/// Who wants to know of changes of the note.
#[derive(Clone)]
pub(super) enum Listener {
    Modern(SubscriptionSink),
    Legacy(Peer<RoleServer>),
}

impl Listener {
    /// Whether it could be told.
    async fn tell(&self) -> bool {
        match self {
            Self::Modern(sink) => sink.notify_resource_updated(NOTE).await.is_ok(),
            Self::Legacy(peer) => {
                let update = ResourceUpdatedNotificationParam::new(NOTE);
                peer.notify_resource_updated(update).await.is_ok()
            }
        }
    }
}

/// All of them, each with a number.
#[derive(Clone, Default)]
pub(super) struct Listeners {
    all: BTreeMap<u64, Listener>,
    next: u64,
}

impl Listeners {
    pub(super) fn add(&mut self, listener: Listener) -> u64 {
        let number = self.next;
        self.next += 1;
        self.all.insert(number, listener);
        number
    }

    pub(super) fn remove(&mut self, number: u64) {
        self.all.remove(&number);
    }
}

impl Ensemble {
    pub(super) fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.shared.listeners.lock().expect("nobody panics")
    }

    /// Remembers which listener an older client is, instead of the one it was.
    pub(super) fn replace_subscription(&self, now: Option<u64>) {
        let mut subscription = self.subscription.lock().expect("nobody panics");
        if let Some(before) = std::mem::replace(&mut *subscription, now) {
            self.listeners().remove(before);
        }
    }

    /// Whether the note was touched after the subscription was accepted whose handler begins now.
    pub(super) fn missed_a_change(&self) -> bool {
        let accepted = self.accepted.lock().expect("nobody panics").pop_front();
        accepted.is_some_and(|touched| touched != self.shared.touched.load(SeqCst))
    }

    /// Tells that the note was changed, and forgets who cannot be told any more.
    pub(super) async fn tell_listeners(&self) {
        let listeners = self.listeners().clone();
        for (number, listener) in listeners.all {
            if !listener.tell().await {
                self.listeners().remove(number);
            }
        }
    }

    pub(super) fn read(&self, uri: &str) -> Result<ReadResourceResponse, ErrorData> {
        let number = uri.strip_prefix("item://").and_then(|n| n.parse().ok());
        let text = match number {
            _ if uri == NOTE => format!("version {}", 1 + self.shared.touched.load(SeqCst)),
            Some(number @ 0..ITEMS) => format!("item {number}"),
            _ => return Err(unknown(uri)),
        };
        Ok(contents(text, uri))
    }
}

/// What may be listened to.
pub(super) fn watched() -> SubscriptionFilter {
    SubscriptionFilter::builder()
        .resource_subscription(NOTE)
        .build()
}

pub(super) fn page(cursor: Option<String>) -> Result<ListResourcesResult, ErrorData> {
    let item = |number| Resource::new(format!("item://{number}"), format!("item {number}"));
    let mut all: Vec<_> = (0..ITEMS).map(item).collect();
    all.push(Resource::new(NOTE, "today"));
    let start = match cursor {
        Some(cursor) => cursor.parse().ok().filter(|start| *start < all.len()),
        None => Some(0),
    };
    let foreign = || ErrorData::invalid_params("the cursor is not from here", None);
    let start = start.ok_or_else(foreign)?;
    let end = all.len().min(start + PAGE);
    let mut result = ListResourcesResult::with_all_items(all[start..end].to_vec());
    result.next_cursor = (end < all.len()).then(|| end.to_string());
    Ok(result)
}

pub(super) fn contents(text: String, uri: &str) -> ReadResourceResponse {
    ReadResourceResult::new(vec![ResourceContents::text(text, uri)]).into()
}

pub(super) fn unknown(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(format!("there is no {uri}"), None)
}
