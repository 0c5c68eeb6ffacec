//! `subscriptions/listen`: the one request that stays open.

use std::{future::poll_fn, task::Poll};

use antiphon_core::envelope::Params;
use antiphon_types::{
    CancelledNotificationParams, ErrorObject, ServerCapabilities, SubscriptionFilter,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{dispatch::guarded, endpoint::Inner};
use crate::raw::{Call, Change, Listener};

/// What ties a message to its subscription: the listen request's own id, as it was spelt
/// (SUB-S-06).
#[derive(Serialize)]
pub(crate) struct Tag<'a> {
    #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
    id: &'a RawValue,
    #[serde(
        rename = "io.modelcontextprotocol/serverInfo",
        skip_serializing_if = "Option::is_none"
    )]
    identity: Option<&'a RawValue>,
}

/// Parameters of a notification, and the members of the closing result (SUB-S-08).
#[derive(Serialize)]
pub(crate) struct Tagged<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    notifications: Option<&'a SubscriptionFilter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
    #[serde(rename = "_meta")]
    tag: Tag<'a>,
}

impl<'a> Tagged<'a> {
    fn new(id: &'a RawValue) -> Self {
        Self {
            notifications: None,
            uri: None,
            tag: Tag { id, identity: None },
        }
    }
}

/// Serves one subscription until it is ended; the closing result.
pub(crate) async fn run<'a>(
    endpoint: &'a Inner,
    call: &'a Call<'a>,
    params: &Params<'_>,
) -> Result<Tagged<'a>, ErrorObject> {
    let asked = filter(params.notifications)?;
    let limits = &endpoint.limits;
    let uris = asked.resource_subscriptions.as_ref().map_or(0, Vec::len);
    if uris > limits.listen_uris {
        let error = format!(
            "A subscription names at most {} resources",
            limits.listen_uris
        );
        return Err(ErrorObject::invalid_params(error));
    }
    let Some(_place) = endpoint.admit_listen() else {
        tracing::warn!(
            limit = limits.listens,
            "refused: too many; see Limits::listens"
        );
        return Err(ErrorObject::internal(
            "The server is at its limit of open subscriptions; try again later",
        ));
    };
    let offered = honoured(asked, &endpoint.capabilities);
    let filter = guarded(call, || endpoint.service.listen(call, offered)).await?;
    let listener = endpoint.changes.listen(&filter);
    let id: &RawValue = serde_json::from_str(call.id)
        .map_err(|_| ErrorObject::invalid_request("Invalid request: `id` cannot be read"))?;
    let tagged = || Tagged::new(id);
    // SUB-S-02, SUB-S-05
    let acknowledged = Tagged {
        notifications: Some(&filter),
        ..tagged()
    };
    call.outbox
        .deliver("notifications/subscriptions/acknowledged", &acknowledged);
    loop {
        call.outbox.room().await;
        let change = next(&listener, call).await;
        let method = match &change {
            Change::Tools => "notifications/tools/list_changed",
            Change::Prompts => "notifications/prompts/list_changed",
            Change::Resources => "notifications/resources/list_changed",
            Change::Resource(_) => "notifications/resources/updated",
            Change::End => {
                // AMB-01: on HTTP the result alone ends it.
                if call.outbox.is_on_lines() {
                    let cancelled = CancelledNotificationParams::new(call.id());
                    call.outbox.deliver("notifications/cancelled", &cancelled);
                }
                let mut closing = tagged();
                closing.tag.identity = endpoint.identity.as_deref();
                return Ok(closing);
            }
        };
        let mut params = tagged();
        if let Change::Resource(uri) = &change {
            params.uri = Some(uri);
        }
        call.outbox.deliver(method, &params);
    }
}

/// The next change, or the end if the connection is about to close.
async fn next(listener: &Listener, call: &Call<'_>) -> Change {
    poll_fn(|context| match call.outbox.is_ending() {
        true => Poll::Ready(Change::End),
        false => listener.poll_next(context),
    })
    .await
}

fn filter(raw: Option<&RawValue>) -> Result<SubscriptionFilter, ErrorObject> {
    let raw = raw.ok_or_else(|| ErrorObject::invalid_params("`notifications` is missing"))?;
    serde_json::from_str(raw.get())
        .map_err(|error| ErrorObject::invalid_params(format!("`notifications`: {error}")))
}

/// What of a filter the advertised capabilities can honour (SUB-S-13).
fn honoured(asked: SubscriptionFilter, offered: &ServerCapabilities) -> SubscriptionFilter {
    let on = |asked: Option<bool>, offered: Option<bool>| {
        asked.filter(|asked| *asked && offered == Some(true))
    };
    let tools = offered.tools.as_ref().and_then(|tools| tools.list_changed);
    let prompts = offered
        .prompts
        .as_ref()
        .and_then(|prompts| prompts.list_changed);
    let resources = offered.resources.as_ref();
    let subscribe = resources.and_then(|resources| resources.subscribe) == Some(true);
    SubscriptionFilter {
        tools_list_changed: on(asked.tools_list_changed, tools),
        prompts_list_changed: on(asked.prompts_list_changed, prompts),
        resources_list_changed: on(
            asked.resources_list_changed,
            resources.and_then(|resources| resources.list_changed),
        ),
        resource_subscriptions: asked.resource_subscriptions.filter(|_| subscribe),
    }
}
