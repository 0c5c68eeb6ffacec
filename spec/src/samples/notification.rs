//! Notifications that most revisions share.

use antiphon_types::Version::{V2025_03_26, V2025_11_25};
use antiphon_types::{
    CancelledNotificationParams, LoggingLevel, LoggingMessageNotificationParams,
    NotificationParams, ProgressNotificationParams, ResourceUpdatedNotificationParams,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value, json};

use super::parts::notification_meta;
use crate::sample::Samples;

const CLIENT: &str = "ClientNotification";
const SERVER: &str = "ServerNotification";

pub(super) fn add(s: &mut Samples) {
    for level in [
        LoggingLevel::Debug,
        LoggingLevel::Info,
        LoggingLevel::Notice,
        LoggingLevel::Warning,
        LoggingLevel::Error,
        LoggingLevel::Critical,
        LoggingLevel::Alert,
        LoggingLevel::Emergency,
    ] {
        s.value("LoggingLevel", &level);
    }
    changed(s);
    cancelled(s);
    progress(s);
    log(s);
    updated(s);
}

/// Notifications that say no more than their name.
fn changed(s: &mut Samples) {
    let mut plain = vec![
        (
            "ToolListChangedNotification",
            SERVER,
            "notifications/tools/list_changed",
        ),
        (
            "PromptListChangedNotification",
            SERVER,
            "notifications/prompts/list_changed",
        ),
        (
            "ResourceListChangedNotification",
            SERVER,
            "notifications/resources/list_changed",
        ),
    ];
    if !s.modern() {
        plain.extend([
            (
                "InitializedNotification",
                CLIENT,
                "notifications/initialized",
            ),
            (
                "RootsListChangedNotification",
                CLIENT,
                "notifications/roots/list_changed",
            ),
        ]);
    }
    let full = NotificationParams::new().meta(notification_meta(s.version));
    for (definition, union, method) in plain {
        s.notification::<NotificationParams>(definition, &[union], method, None);
        s.notification(definition, &[union], method, full.clone());
    }
    if s.since(V2025_11_25) {
        s.value("NotificationParams", &NotificationParams::new());
        s.value("NotificationParams", &full);
    }
}

/// Adds params by themselves, where they have a definition, and in their notification.
fn with_params<P: Serialize + DeserializeOwned>(
    s: &mut Samples,
    definition: &str,
    unions: &[&str],
    method: &str,
    params: P,
) {
    if s.since(V2025_11_25) {
        s.value(&format!("{definition}Params"), &params);
    }
    s.notification(definition, unions, method, params);
}

fn cancelled(s: &mut Samples) {
    let full = CancelledNotificationParams::new("r-7")
        .reason("The user left.")
        .meta(notification_meta(s.version));
    for params in [CancelledNotificationParams::new(7), full] {
        let method = "notifications/cancelled";
        with_params(
            s,
            "CancelledNotification",
            &[CLIENT, SERVER],
            method,
            params,
        );
    }
}

fn progress(s: &mut Samples) {
    let half = Number::from_f64(0.5).expect("finite");
    let mut full = ProgressNotificationParams::new("p-1", half)
        .total(1)
        .meta(notification_meta(s.version));
    if s.since(V2025_03_26) {
        full = full.message("Half way");
    }
    let unions: &[&str] = match s.modern() {
        true => &[SERVER],
        false => &[CLIENT, SERVER],
    };
    for params in [ProgressNotificationParams::new(1, 0), full] {
        let method = "notifications/progress";
        with_params(s, "ProgressNotification", unions, method, params);
    }
}

fn log(s: &mut Samples) {
    let full = LoggingMessageNotificationParams::new(
        LoggingLevel::Warning,
        json!({"berth": "B12", "depth": 4.5, "ship": null}),
    )
    .logger("quay")
    .meta(notification_meta(s.version));
    for params in [
        LoggingMessageNotificationParams::new(LoggingLevel::Info, "Low water"),
        LoggingMessageNotificationParams::new(LoggingLevel::Debug, Value::Null),
        full,
    ] {
        let method = "notifications/message";
        with_params(s, "LoggingMessageNotification", &[SERVER], method, params);
    }
}

fn updated(s: &mut Samples) {
    let bare = ResourceUpdatedNotificationParams::new("tide://oslo/today");
    let full = bare.clone().meta(notification_meta(s.version));
    for params in [bare, full] {
        let method = "notifications/resources/updated";
        with_params(s, "ResourceUpdatedNotification", &[SERVER], method, params);
    }
}
