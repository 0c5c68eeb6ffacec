//! `subscriptions/listen`, which only modern revisions have.

use antiphon_types::{
    RequestId, SubscriptionFilter, SubscriptionsAcknowledgedNotificationParams,
    SubscriptionsListenRequestParams, SubscriptionsListenResult, meta,
};
use serde_json::json;

use super::parts::{implementation, needed_meta, notification_meta, request_meta};
use crate::sample::Samples;

pub(super) fn add(s: &mut Samples) {
    s.value("SubscriptionFilter", &SubscriptionFilter::default());
    s.value("SubscriptionFilter", &filter());
    request(s);
    acknowledged(s);
    result(s);
}

fn filter() -> SubscriptionFilter {
    SubscriptionFilter {
        tools_list_changed: Some(true),
        prompts_list_changed: Some(false),
        resources_list_changed: Some(true),
        resource_subscriptions: Some(vec!["tide://oslo/today".to_owned()]),
    }
}

fn request(s: &mut Samples) {
    let names = [
        "SubscriptionsListenRequest",
        "SubscriptionsListenRequestParams",
    ];
    let mut params = SubscriptionsListenRequestParams::new(SubscriptionFilter::default());
    params.meta = needed_meta(s.version);
    s.client_request(names, "subscriptions/listen", params);
    let params = SubscriptionsListenRequestParams::new(filter()).meta(request_meta(s.version));
    s.client_request(names, "subscriptions/listen", params);
}

fn acknowledged(s: &mut Samples) {
    let bare = SubscriptionsAcknowledgedNotificationParams::new(SubscriptionFilter::default());
    let full = SubscriptionsAcknowledgedNotificationParams::new(filter())
        .meta(notification_meta(s.version));
    for params in [bare, full] {
        s.value("SubscriptionsAcknowledgedNotificationParams", &params);
        s.notification(
            "SubscriptionsAcknowledgedNotification",
            &["ServerNotification"],
            "notifications/subscriptions/acknowledged",
            params,
        );
    }
}

fn result(s: &mut Samples) {
    for id in [RequestId::from(7), RequestId::from("listen-1")] {
        let mut result = SubscriptionsListenResult::new(&id);
        s.result("SubscriptionsListenResult", &result);
        let about = result.meta.get_or_insert_default();
        about.insert(
            meta::SERVER_INFO.to_owned(),
            json!(implementation(s.version)),
        );
        s.value("SubscriptionsListenResultMetaObject", about);
        s.result("SubscriptionsListenResult", &result);
    }
}
