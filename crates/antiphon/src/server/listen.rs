//! `subscriptions/listen`: the one request that stays open.

use std::{future::poll_fn, task::Poll};

use antiphon_core::envelope::Params;
use antiphon_types::{
    CancelledNotificationParams, ErrorObject, MetaObject, ResourceUpdatedNotificationParams,
    ServerCapabilities, SubscriptionFilter,
};
use serde_json::{Value, json, value::RawValue};

use super::{dispatch::guarded, endpoint::Inner};
use crate::raw::{Call, Change, Listener};

/// The key that ties a notification to its subscription (SUB-S-06).
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// Serves one subscription until it is ended; the closing result's `_meta` (SUB-S-08).
pub(crate) async fn run<'a>(
    endpoint: &'a Inner,
    call: &'a Call<'a>,
    params: &Params<'_>,
) -> Result<MetaObject, ErrorObject> {
    let asked = filter(params.notifications)?;
    let id = subscription_id(call.id)?;
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
    let meta = MetaObject::from_iter([(SUBSCRIPTION_ID.to_owned(), id)]);
    let tagged = json!({ "_meta": meta });
    // SUB-S-02, SUB-S-05
    call.outbox.deliver(
        "notifications/subscriptions/acknowledged",
        &json!({ "notifications": filter, "_meta": meta }),
    );
    loop {
        call.outbox.room().await;
        let (method, params) = match next(&listener, call).await {
            Change::Tools => ("notifications/tools/list_changed", tagged.clone()),
            Change::Prompts => ("notifications/prompts/list_changed", tagged.clone()),
            Change::Resources => ("notifications/resources/list_changed", tagged.clone()),
            Change::Resource(uri) => {
                let mut params = ResourceUpdatedNotificationParams::new(uri);
                params.meta = Some(meta.clone());
                ("notifications/resources/updated", json!(params))
            }
            Change::End => {
                // AMB-01: on HTTP the result alone ends it.
                if call.outbox.is_on_lines() {
                    let cancelled = CancelledNotificationParams::new(call.id());
                    call.outbox.deliver("notifications/cancelled", &cancelled);
                }
                return Ok(meta);
            }
        };
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

/// The request's id as a value, which holds 64 bits of an integer: one that would be rounded
/// would name another subscription (SUB-S-06).
fn subscription_id(id: &str) -> Result<Value, ErrorObject> {
    serde_json::from_str(id)
        .ok()
        .filter(|id: &Value| !id.is_f64())
        .ok_or_else(|| {
            ErrorObject::invalid_request("Invalid request: a subscription's `id` fits 64 bits")
        })
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
