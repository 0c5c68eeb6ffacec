//! Which members an object has since when, as the published schemas say.

use antiphon_types::Version::{self, V2025_03_26, V2025_06_18, V2025_11_25};
use antiphon_types::{MetaObject, meta};
use serde_json::{Map, Value};

/// Members that came after the first revision.
pub(super) type Members = &'static [(&'static str, Version)];

pub(super) const TOOL: Members = &[
    ("annotations", V2025_03_26),
    ("title", V2025_06_18),
    ("outputSchema", V2025_06_18),
    ("_meta", V2025_06_18),
    ("icons", V2025_11_25),
    ("execution", V2025_11_25),
];

/// Prompts, resources and templates.
pub(super) const NAMED: Members = &[
    ("title", V2025_06_18),
    ("_meta", V2025_06_18),
    ("icons", V2025_11_25),
];

pub(super) const ARGUMENT: Members = &[("title", V2025_06_18)];

/// Blocks of every kind; only links have icons.
pub(super) const BLOCK: Members = &[("_meta", V2025_06_18), ("icons", V2025_11_25)];

/// What a resource holds.
pub(super) const CONTENTS: Members = &[("_meta", V2025_06_18)];

pub(super) const ANNOTATIONS: Members = &[("lastModified", V2025_06_18)];

pub(super) const IMPLEMENTATION: Members = &[
    ("title", V2025_06_18),
    ("description", V2025_11_25),
    ("icons", V2025_11_25),
    ("websiteUrl", V2025_11_25),
];

pub(super) const PROGRESS: Members = &[("message", V2025_03_26)];

/// Members of results that no older revision has (LEG-S-06).
pub(super) const MODERN: [&str; 5] = [
    "resultType",
    "ttlMs",
    "cacheScope",
    "inputRequests",
    "requestState",
];

/// Keys of the `_meta` of a message that no older revision has.
const KEYS: [&str; 6] = [
    meta::PROTOCOL_VERSION,
    meta::CLIENT_CAPABILITIES,
    meta::CLIENT_INFO,
    meta::LOG_LEVEL,
    meta::SERVER_INFO,
    meta::SUBSCRIPTION_ID,
];

/// Takes out the members that came after `version`.
pub(super) fn strip(object: &mut Map<String, Value>, members: Members, version: Version) {
    for (name, since) in members {
        if version < *since {
            object.shift_remove(*name);
        }
    }
}

/// As [`strip`], for an object that is a member of another.
pub(super) fn strip_in(
    object: &mut Map<String, Value>,
    name: &str,
    members: Members,
    version: Version,
) {
    if let Some(Value::Object(object)) = object.get_mut(name) {
        strip(object, members, version);
    }
}

/// Does something to each object of a list.
pub(super) fn each(
    object: &mut Map<String, Value>,
    name: &str,
    mut change: impl FnMut(&mut Map<String, Value>),
) {
    if let Some(Value::Array(items)) = object.get_mut(name) {
        for item in items {
            if let Value::Object(item) = item {
                change(item);
            }
        }
    }
}

/// Whether a revision knows this key of a message's `_meta`, or no revision does.
fn known(key: &str, version: Version) -> bool {
    !KEYS.contains(&key) && (key != meta::RELATED_TASK || version >= V2025_11_25)
}

/// Whether the `_meta` of a message can stay as it is.
pub(super) fn meta_fits(meta: &MetaObject, version: Version) -> bool {
    meta.keys().all(|key| known(key, version))
}

/// Takes the keys that came later out of the `_meta` of a result, or of params; all of it, if
/// nothing else is in there.
pub(super) fn strip_meta(object: &mut Map<String, Value>, version: Version) {
    let Some(Value::Object(meta)) = object.get_mut("_meta") else {
        return;
    };
    if !meta_fits(meta, version) {
        meta.retain(|key, _| known(key, version));
        if meta.is_empty() {
            object.shift_remove("_meta");
        }
    }
}
