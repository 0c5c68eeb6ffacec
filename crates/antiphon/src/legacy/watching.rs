//! What a session is told of its own accord: lists that changed, resources it subscribed to.

use std::{future::poll_fn, sync::Arc};

use antiphon_core::write;
use antiphon_types::{ErrorObject, SubscriptionFilter};
use serde::Serialize;

use super::session::Session;
use crate::{
    engine::{
        dispatch::guarded,
        endpoint::Inner,
        lines::Lines,
        listen::{both, honoured},
    },
    raw::{Call, Change},
};

/// How long all URIs together may be that a session subscribes to.
const URI_BYTES: usize = 256 * 1024;

/// Settles what a session hears of: all lists that the server announces changes of (LFEAT-S-03).
pub(super) async fn begin(
    endpoint: &Inner,
    call: &Call<'_>,
    session: &Session,
) -> Result<(), ErrorObject> {
    let lists = SubscriptionFilter {
        tools_list_changed: Some(true),
        prompts_list_changed: Some(true),
        resources_list_changed: Some(true),
        resource_subscriptions: None,
    };
    let offered = honoured(lists, &endpoint.capabilities);
    let chosen = guarded(call, || endpoint.service.listen(call, offered.clone())).await?;
    let filter = both(offered, &chosen);
    session.set_listener(endpoint.changes.listen(&filter));
    Ok(())
}

/// `resources/subscribe` (LFEAT-S-01).
pub(super) async fn subscribe(
    endpoint: &Inner,
    call: &Call<'_>,
    session: &Session,
    uri: &str,
) -> Result<(), ErrorObject> {
    let Some(listener) = session.listener() else {
        return Err(ErrorObject::internal(
            "nothing is told in this session of its own accord",
        ));
    };
    let most = endpoint.limits.listen_uris;
    let full = || {
        let error = format!(
            "A session subscribes to at most {most} resources, with URIs of {URI_BYTES} bytes in \
             all"
        );
        Err(ErrorObject::invalid_params(error))
    };
    if !listener.has_room(uri, most, URI_BYTES) {
        return full();
    }
    let wanted = SubscriptionFilter {
        resource_subscriptions: Some(vec![uri.to_owned()]),
        ..SubscriptionFilter::default()
    };
    let chosen = guarded(call, || endpoint.service.listen(call, wanted)).await?;
    match chosen.resource_subscriptions {
        Some(uris) if uris.iter().any(|chosen| chosen == uri) => {
            match listener.watch(uri, most, URI_BYTES) {
                true => Ok(()),
                false => full(),
            }
        }
        _ => Err(ErrorObject::invalid_params(format!(
            "`{}` cannot be subscribed to",
            antiphon_core::negotiate::shown(uri)
        ))),
    }
}

/// Tells the client on a channel of its own of whatever changes, for ever.
pub(super) async fn tell(session: Arc<Session>, lines: Arc<Lines>) {
    let Some(listener) = session.listener() else {
        return;
    };
    loop {
        lines.room().await;
        for change in poll_fn(|context| listener.poll_changes(context)).await {
            if let Some(message) = message(&change) {
                lines.push(&message);
            }
        }
    }
}

/// What a change is told with; nothing for the end, which sessions have in other ways.
pub(crate) fn message(change: &Change) -> Option<Vec<u8>> {
    #[derive(Serialize)]
    struct Params<'a> {
        #[serde(skip_serializing_if = "Option::is_none")]
        uri: Option<&'a str>,
    }
    let (method, uri) = match change {
        Change::Tools => ("notifications/tools/list_changed", None),
        Change::Prompts => ("notifications/prompts/list_changed", None),
        Change::Resources => ("notifications/resources/list_changed", None),
        // LFEAT-S-02
        Change::Resource(uri) => ("notifications/resources/updated", Some(uri.as_str())),
        Change::End => return None,
    };
    let mut message = Vec::with_capacity(128);
    write::notification(&mut message, method, &Params { uri }).ok()?;
    Some(message)
}
