//! [`Subscription`]: changes, as they happen.

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use antiphon_core::reply::Reply;
use antiphon_types::{
    CancelledNotificationParams, Method, RequestId, ResourceUpdatedNotificationParams,
    SubscriptionFilter, SubscriptionsAcknowledgedNotificationParams,
    SubscriptionsListenRequestParams, decode,
    method::{
        ListPrompts, ListResourceTemplates, ListResources, ListTools, ReadResource,
        SubscriptionsListen,
    },
};
use bytes::Bytes;
use futures_core::Stream;
use serde_json::value::RawValue;

use super::{
    Clock, Error, Event, Incoming, Pending, Traffic,
    legacy::Feed,
    options::Options,
    shared::{Shared, closed},
};

/// Changes that a server reports.
///
/// A [`Stream`], with [`next`](Self::next) for those who need no more. It ends when the server
/// ends it; if it is lost instead, an error comes first, and one may subscribe again (SUB-C-05).
/// Dropping it unsubscribes.
///
/// As changes are read, the connection forgets the answers that they make stale.
pub struct Subscription {
    shared: Arc<Shared>,
    source: Source,
    acknowledged: SubscriptionFilter,
    closed: Pending<'static, ()>,
    over: bool,
}

/// Where changes come from.
enum Source {
    /// The response stream of a request.
    Stream { incoming: Incoming, id: i64 },
    /// The session with an older server.
    Session(Feed),
}

/// Something that has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources, or of templates.
    Resources,
    /// The resource at this URI, or a part of one that was subscribed to.
    Resource(String),
}

impl Subscription {
    pub(super) async fn open(
        shared: Arc<Shared>,
        filter: SubscriptionFilter,
    ) -> Result<Self, Error> {
        let work = shared.client.clocks.work;
        let closing = shared.closed.clone();
        let held = shared.clone();
        let patience = held.patience(work);
        let opened = tokio::select! {
            biased;
            () = closing.cancelled() => Err(closed()),
            opened = patience.limit(Self::acknowledged_by(shared, filter)) => {
                opened.unwrap_or_else(|| Err(Error::timed_out(Clock::Work, work)))
            }
        };
        opened.map_err(|error| error.during(SubscriptionsListen::NAME))
    }

    async fn acknowledged_by(
        shared: Arc<Shared>,
        filter: SubscriptionFilter,
    ) -> Result<Self, Error> {
        if let Some((feed, offered)) = Feed::open(&shared, &filter).await? {
            return Ok(Self::new(shared, Source::Session(feed)).covering(offered));
        }
        let options = Options::default();
        let leg = shared.leg::<SubscriptionsListen>(&options);
        let params = SubscriptionsListenRequestParams::new(filter);
        let outgoing = shared.written(&leg, &params)?;
        let id = outgoing.id;
        let mut incoming = shared.transport.send(outgoing).await?;
        loop {
            let next = poll_fn(|context| incoming.poll_next(context)).await;
            let Some(message) = next else {
                return Err(lost());
            };
            if let Some(acknowledged) = acknowledgment(&shared, id, &message?)? {
                let source = Source::Stream { incoming, id };
                return Ok(Self::new(shared, source).covering(acknowledged));
            }
        }
    }

    fn new(shared: Arc<Shared>, source: Source) -> Self {
        let closed = shared.closed.clone();
        Self {
            shared,
            source,
            closed: Box::pin(closed.cancelled_owned()),
            acknowledged: SubscriptionFilter::default(),
            over: false,
        }
    }

    /// From here on, changes of this are reported. What changed until now, nobody told.
    fn covering(mut self, acknowledged: SubscriptionFilter) -> Self {
        for change in covered(&acknowledged) {
            self.shared.changed(&change);
        }
        self.acknowledged = acknowledged;
        self
    }

    /// What the server will report, which may be less than what was asked for (SUB-C-02).
    pub fn acknowledged(&self) -> &SubscriptionFilter {
        &self.acknowledged
    }

    /// The next change; `None` when the server has ended the subscription.
    ///
    /// # Errors
    /// When it was lost.
    pub async fn next(&mut self) -> Option<Result<Change, Error>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// What a message says.
    fn read(&self, own: i64, message: Result<Bytes, Error>) -> Read {
        let message = match message {
            Ok(message) => message,
            Err(error) => return Read::Lost(error),
        };
        (self.shared.client.listeners).traffic(Traffic::Received(&message));
        match Reply::parse(&message) {
            Ok(Reply::Notification { method, params }) => {
                let params = params.map_or("{}", RawValue::get);
                match &*method {
                    "notifications/tools/list_changed" => Read::Change(Change::Tools),
                    "notifications/prompts/list_changed" => Read::Change(Change::Prompts),
                    "notifications/resources/list_changed" => Read::Change(Change::Resources),
                    "notifications/resources/updated" => {
                        match decode::<ResourceUpdatedNotificationParams>(params) {
                            Ok(params) => Read::Change(Change::Resource(params.uri)),
                            Err(error) => {
                                Read::Lost(Error::decode("a wrong notification").caused_by(error))
                            }
                        }
                    }
                    // AMB-01: either way of ending will do.
                    "notifications/cancelled" if is_cancelled(own, params) => Read::End,
                    _ => {
                        self.shared
                            .client
                            .listeners
                            .told(&Event::Message(message.clone()));
                        Read::Nothing
                    }
                }
            }
            Ok(Reply::Result { id, .. }) if is_ours(own, Some(&id)) => Read::End,
            Ok(Reply::Error { id, error }) if is_ours(own, id.as_ref()) => {
                Read::Lost(Error::protocol(error))
            }
            Ok(Reply::Error { .. } | Reply::Result { .. }) => Read::Lost(another()),
            Ok(Reply::Request { .. }) => {
                self.shared
                    .client
                    .listeners
                    .told(&Event::Message(message.clone()));
                Read::Nothing
            }
            Err(why) => {
                Read::Lost(Error::decode("the server sent what is no message").caused_by(why))
            }
        }
    }
}

/// Whether a response is that to the subscription; one without an id may be.
fn is_ours(own: i64, id: Option<&RequestId>) -> bool {
    id.is_none_or(|id| id.as_i64() == Some(own))
}

fn is_cancelled(own: i64, params: &str) -> bool {
    let params = decode::<CancelledNotificationParams>(params);
    let id = params.ok().and_then(|params| params.request_id);
    id.is_some_and(|id| id.as_i64() == Some(own))
}

/// SUB-S-02: the acknowledgment comes first.
fn acknowledgment(
    shared: &Shared,
    own: i64,
    message: &Bytes,
) -> Result<Option<SubscriptionFilter>, Error> {
    (shared.client.listeners).traffic(Traffic::Received(message));
    match Reply::parse(message) {
        Ok(Reply::Notification { method, params })
            if method == "notifications/subscriptions/acknowledged" =>
        {
            let params = params.map_or("{}", RawValue::get);
            let params: SubscriptionsAcknowledgedNotificationParams = decode(params)
                .map_err(|error| Error::decode("a wrong acknowledgment").caused_by(error))?;
            Ok(Some(params.notifications))
        }
        Ok(Reply::Error { id, error }) if is_ours(own, id.as_ref()) => Err(Error::protocol(error)),
        Ok(Reply::Result { id, .. }) if is_ours(own, Some(&id)) => Err(Error::decode(
            "the subscription ended before it was acknowledged",
        )),
        Ok(Reply::Error { .. } | Reply::Result { .. }) => Err(another()),
        Ok(_) => {
            shared
                .client
                .listeners
                .told(&Event::Message(message.clone()));
            Ok(None)
        }
        Err(why) => Err(Error::decode("the server sent what is no message").caused_by(why)),
    }
}

/// What a message of a subscription says.
enum Read {
    Change(Change),
    Nothing,
    End,
    Lost(Error),
}

impl Stream for Subscription {
    type Item = Result<Change, Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if this.over {
                return Poll::Ready(None);
            }
            let next = match &mut this.source {
                Source::Stream { incoming, id } => {
                    let id = *id;
                    incoming.poll_next(context).map(|next| match next {
                        Some(message) => this.read(id, message),
                        None => Read::Lost(lost()),
                    })
                }
                Source::Session(feed) => feed.poll_next(context).map(|next| match next {
                    Ok(change) => Read::Change(change),
                    Err(why) => Read::Lost(lost().caused_by(why)),
                }),
            };
            let read = match next {
                Poll::Ready(read) => read,
                Poll::Pending => {
                    ready!(this.closed.as_mut().poll(context));
                    Read::Lost(closed())
                }
            };
            match read {
                Read::Nothing => {}
                Read::Change(change) => {
                    this.shared.changed(&change);
                    return Poll::Ready(Some(Ok(change)));
                }
                Read::End => this.over = true,
                Read::Lost(error) => {
                    this.over = true;
                    let error = error.during(SubscriptionsListen::NAME);
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
    }
}

/// The changes that a filter lets through.
pub(super) fn covered(filter: &SubscriptionFilter) -> Vec<Change> {
    let resources = filter.resource_subscriptions.iter().flatten();
    let lists = [
        (filter.tools_list_changed, Change::Tools),
        (filter.prompts_list_changed, Change::Prompts),
        (filter.resources_list_changed, Change::Resources),
    ];
    let lists = lists
        .into_iter()
        .filter(|(wanted, _)| *wanted == Some(true));
    lists
        .map(|(_, change)| change)
        .chain(resources.cloned().map(Change::Resource))
        .collect()
}

fn another() -> Error {
    Error::decode("the server answered another request")
}

fn lost() -> Error {
    Error::transport("the subscription was lost; subscribe again to go on")
}

impl Shared {
    /// Forgets what a change makes stale (CACHE-C-14).
    pub(super) fn changed(&self, change: &Change) {
        if *change == Change::Tools {
            self.tools.changed();
        }
        self.cache.evict(|key| match change {
            Change::Tools => key.method == ListTools::NAME,
            Change::Prompts => key.method == ListPrompts::NAME,
            Change::Resources => {
                [ListResources::NAME, ListResourceTemplates::NAME].contains(&key.method)
            }
            // What changed may be a part of what was read, or the other way round.
            Change::Resource(uri) => {
                let read = key.detail.as_deref().unwrap_or_default();
                key.method == ReadResource::NAME
                    && (read.starts_with(uri.as_str()) || uri.starts_with(read))
            }
        });
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("acknowledged", &self.acknowledged)
            .finish_non_exhaustive()
    }
}
