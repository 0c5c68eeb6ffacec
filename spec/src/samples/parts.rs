//! Pieces that samples of several areas share.

use antiphon_types::Version::{self, V2025_06_18, V2025_11_25};
use antiphon_types::{
    Annotations, Icon, IconTheme, Implementation, LoggingLevel, MetaObject, Role, meta,
};
use serde_json::{Map, Value, json};

use super::capabilities;

/// The members of a JSON object.
pub(super) fn object(value: Value) -> Map<String, Value> {
    let Value::Object(members) = value else {
        panic!("a sample wants an object here, not {value}");
    };
    members
}

/// Metadata of no defined meaning.
pub(super) fn note() -> MetaObject {
    object(json!({"harbor.example/quay": {"length": 120}}))
}

/// The metadata a request cannot do without.
pub(super) fn needed_meta(version: Version) -> Option<MetaObject> {
    version.is_modern().then(|| {
        object(json!({
            meta::PROTOCOL_VERSION: version,
            meta::CLIENT_CAPABILITIES: {},
        }))
    })
}

/// All metadata a request may have.
pub(super) fn request_meta(version: Version) -> MetaObject {
    let mut all = object(json!({meta::PROGRESS_TOKEN: "p-1"}));
    if version.is_modern() {
        all.extend(object(json!({
            meta::PROTOCOL_VERSION: version,
            meta::CLIENT_CAPABILITIES: capabilities::client(version),
            meta::CLIENT_INFO: implementation(version),
            meta::LOG_LEVEL: LoggingLevel::Notice,
            meta::TRACEPARENT: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            meta::TRACESTATE: "harbor=1",
            meta::BAGGAGE: "ship=aurora",
        })));
    }
    if version == V2025_11_25 {
        all.insert(meta::RELATED_TASK.to_owned(), json!({"taskId": "t-1"}));
    }
    all
}

/// All metadata a result may have.
pub(super) fn result_meta(version: Version) -> MetaObject {
    let mut all = note();
    if version.is_modern() {
        all.insert(meta::SERVER_INFO.to_owned(), json!(implementation(version)));
    }
    all
}

/// All metadata a notification may have.
pub(super) fn notification_meta(version: Version) -> MetaObject {
    let mut all = note();
    if version.is_modern() {
        all.insert(meta::SUBSCRIPTION_ID.to_owned(), json!("listen-1"));
    }
    all
}

/// Metadata of a thing, which the first revisions do not have.
pub(super) fn thing_meta(version: Version) -> Option<MetaObject> {
    (version >= V2025_06_18).then(note)
}

/// A name for people, which the first revisions do not have.
pub(super) fn title(version: Version, title: &str) -> Option<String> {
    (version >= V2025_06_18).then(|| title.to_owned())
}

/// Icons, where the revision has them.
pub(super) fn icons(version: Version) -> Option<Vec<Icon>> {
    (version >= V2025_11_25).then(|| vec![Icon::new("https://harbor.example/icon.svg"), icon()])
}

/// A full icon.
pub(super) fn icon() -> Icon {
    Icon::new("data:image/png;base64,AA==")
        .mime_type("image/png")
        .sizes(vec!["48x48".to_owned(), "any".to_owned()])
        .theme(IconTheme::Dark)
}

/// Full annotations.
pub(super) fn annotations(version: Version) -> Annotations {
    let annotations = Annotations::new()
        .audience(vec![Role::User, Role::Assistant])
        .priority(0.5);
    match version >= V2025_06_18 {
        true => annotations.last_modified("2026-07-28T06:10:00Z"),
        false => annotations,
    }
}

/// A full implementation.
pub(super) fn implementation(version: Version) -> Implementation {
    let mut full = Implementation::new("harbor", "1.4.0");
    full.title = title(version, "Harbor office");
    full.icons = icons(version);
    if version >= V2025_11_25 {
        full = full
            .description("Berths and tides")
            .website_url("https://harbor.example/");
    }
    full
}

/// Takes the cache hints off a result, unless the revision has them.
macro_rules! hints {
    ($samples:ident, $result:ident) => {
        if !$samples.modern() {
            $result.ttl_ms = None;
            $result.cache_scope = None;
        }
    };
}
pub(super) use hints;
