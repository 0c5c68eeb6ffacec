//! `subscriptions/listen`.

use serde::{Deserialize, Serialize};

use crate::jsonrpc::RequestId;
use crate::meta::{self, MetaObject};

/// Which notifications to deliver; `false` and absent both mean no.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubscriptionFilter {
    /// Changes of the tool list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools_list_changed: Option<bool>,
    /// Changes of the prompt list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts_list_changed: Option<bool>,
    /// Changes of the resource list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources_list_changed: Option<bool>,
    /// Changes of the resources at these URIs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_subscriptions: Option<Vec<String>>,
}

impl SubscriptionFilter {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds changes of the tool list.
    #[must_use]
    pub fn tools(mut self) -> Self {
        self.tools_list_changed = Some(true);
        self
    }

    /// Adds changes of the prompt list.
    #[must_use]
    pub fn prompts(mut self) -> Self {
        self.prompts_list_changed = Some(true);
        self
    }

    /// Adds changes of the resource list.
    #[must_use]
    pub fn resources(mut self) -> Self {
        self.resources_list_changed = Some(true);
        self
    }

    /// Adds changes of the resource at `uri`.
    #[must_use]
    pub fn resource(mut self, uri: impl Into<String>) -> Self {
        let uris = self.resource_subscriptions.get_or_insert_default();
        uris.push(uri.into());
        self
    }
}

/// Params of `subscriptions/listen`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionsListenRequestParams {
    /// What the client wants.
    pub notifications: SubscriptionFilter,
    /// Metadata of the request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl SubscriptionsListenRequestParams {
    /// Asks for these.
    pub fn new(notifications: SubscriptionFilter) -> Self {
        Self {
            notifications,
            meta: None,
        }
    }
}

setters!(SubscriptionsListenRequestParams { plain { meta: MetaObject } });

/// The first message of a subscription.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionsAcknowledgedNotificationParams {
    /// What the server will deliver.
    pub notifications: SubscriptionFilter,
    /// Metadata of the notification; holds the subscription id.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl SubscriptionsAcknowledgedNotificationParams {
    /// Promises these.
    pub fn new(notifications: SubscriptionFilter) -> Self {
        Self {
            notifications,
            meta: None,
        }
    }
}

setters!(SubscriptionsAcknowledgedNotificationParams { plain { meta: MetaObject } });

/// The end of a subscription, by the server's will.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionsListenResult {
    /// Metadata of the result; holds the subscription id.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaObject>,
}

impl SubscriptionsListenResult {
    /// Ends the subscription that the request `id` opened.
    pub fn new(id: &RequestId) -> Self {
        let id = serde_json::to_value(id).unwrap_or_default();
        Self {
            meta: Some(MetaObject::from_iter([(
                meta::SUBSCRIPTION_ID.to_owned(),
                id,
            )])),
        }
    }
}

setters!(SubscriptionsListenResult { plain { meta: MetaObject } });

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn shapes_round_trip() {
        let value =
            json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": ["a:b"]}});
        let params: SubscriptionsListenRequestParams = from_value(value.clone()).unwrap();
        let filter = SubscriptionFilter::new().tools().resource("a:b");
        assert_eq!(params, SubscriptionsListenRequestParams::new(filter));
        assert_eq!(to_value(params).unwrap(), value);
        assert!(from_value::<SubscriptionsListenRequestParams>(json!({})).is_err());
    }

    #[test]
    fn the_end_names_its_request() {
        for (id, value) in [(RequestId::from(1), json!(1)), ("1".into(), json!("1"))] {
            assert_eq!(
                to_value(SubscriptionsListenResult::new(&id)).unwrap(),
                json!({"_meta": {"io.modelcontextprotocol/subscriptionId": value}})
            );
        }
    }
}
