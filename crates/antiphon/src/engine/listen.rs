//! `subscriptions/listen`: the one request that stays open.

use std::{collections::BTreeSet, future::poll_fn, task::Poll};

use antiphon_core::envelope::Params;
use antiphon_types::{ErrorObject, ServerCapabilities, SubscriptionFilter, decode};
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
    #[serde(rename = "requestId", skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a RawValue>,
    #[serde(rename = "_meta")]
    tag: Tag<'a>,
}

impl<'a> Tagged<'a> {
    fn new(id: &'a RawValue) -> Self {
        Self {
            notifications: None,
            uri: None,
            request_id: None,
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
    let asked = filter(params.rare().notifications)?;
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
    let chosen = guarded(call, || endpoint.service.listen(call, offered.clone())).await?;
    let filter = both(offered, &chosen);
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
        for change in changes(&listener, call).await {
            let mut params = tagged();
            let method = match &change {
                Change::Tools => "notifications/tools/list_changed",
                Change::Prompts => "notifications/prompts/list_changed",
                Change::Resources => "notifications/resources/list_changed",
                Change::Resource(uri) => {
                    params.uri = Some(uri);
                    "notifications/resources/updated"
                }
                Change::End => {
                    // AMB-01: on HTTP the result alone ends it.
                    if call.outbox.is_on_lines() {
                        params.request_id = Some(id);
                        call.outbox.deliver("notifications/cancelled", &params);
                    }
                    let mut closing = tagged();
                    closing.tag.identity = endpoint.identity.as_deref();
                    return Ok(closing);
                }
            };
            call.outbox.deliver(method, &params);
        }
    }
}

/// What changed, or the end if the connection is about to close.
async fn changes(listener: &Listener, call: &Call<'_>) -> BTreeSet<Change> {
    poll_fn(|context| match call.outbox.is_ending(context) {
        true => Poll::Ready(BTreeSet::from([Change::End])),
        false => listener.poll_changes(context),
    })
    .await
}

/// What is in both filters: a service may narrow what was asked for, never widen it (SUB-S-01).
pub(crate) fn both(offered: SubscriptionFilter, chosen: &SubscriptionFilter) -> SubscriptionFilter {
    let uris = chosen.resource_subscriptions.as_deref().unwrap_or_default();
    SubscriptionFilter {
        tools_list_changed: offered
            .tools_list_changed
            .filter(|_| chosen.tools_list_changed == Some(true)),
        prompts_list_changed: offered
            .prompts_list_changed
            .filter(|_| chosen.prompts_list_changed == Some(true)),
        resources_list_changed: offered
            .resources_list_changed
            .filter(|_| chosen.resources_list_changed == Some(true)),
        resource_subscriptions: offered
            .resource_subscriptions
            .filter(|_| chosen.resource_subscriptions.is_some())
            .map(|offered| {
                offered
                    .into_iter()
                    .filter(|uri| uris.contains(uri))
                    .collect()
            }),
    }
}

fn filter(raw: Option<&RawValue>) -> Result<SubscriptionFilter, ErrorObject> {
    let raw = raw.ok_or_else(|| ErrorObject::invalid_params("`notifications` is missing"))?;
    decode(raw.get())
        .map_err(|error| ErrorObject::invalid_params(format!("`notifications`: {error}")))
}

/// What of a filter the advertised capabilities can honour (SUB-S-13).
pub(crate) fn honoured(
    asked: SubscriptionFilter,
    offered: &ServerCapabilities,
) -> SubscriptionFilter {
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
