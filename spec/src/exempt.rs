//! What has no sample, and why. A needless entry fails the check.

use std::collections::BTreeMap;

use antiphon_types::Version;
use antiphon_types::Version::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

use crate::closed::Extra;

/// The exceptions of one revision.
#[derive(Default)]
pub(crate) struct Exempt {
    /// Definitions without samples, and why.
    pub(crate) definitions: BTreeMap<&'static str, &'static str>,
    /// Members without samples, by definition and path, and why.
    pub(crate) members: BTreeMap<(&'static str, &'static str), &'static str>,
    /// Members that samples have beyond the definition.
    pub(crate) extras: Vec<Extra>,
}

/// The exceptions of a revision.
pub(crate) fn of(version: Version) -> Exempt {
    let definitions = DEFINITIONS
        .iter()
        .filter(|entry| entry.0.contains(&version));
    let members = MEMBERS.iter().filter(|entry| entry.0.contains(&version));
    let extras = EXTRAS.iter().filter(|entry| entry.0.contains(&version));
    Exempt {
        definitions: definitions.map(|entry| (entry.1, entry.2)).collect(),
        members: members.map(|entry| ((entry.1, entry.2), entry.3)).collect(),
        extras: extras.map(|entry| entry.1).collect(),
    }
}

const ALL: &[Version] = &[
    V2026_07_28,
    V2025_11_25,
    V2025_06_18,
    V2025_03_26,
    V2024_11_05,
];

const DEFINITIONS: &[(&[Version], &str, &str)] = &[
    (&[V2024_11_05], "Annotated", "base of what has annotations"),
    (
        &[V2026_07_28, V2025_11_25, V2025_06_18],
        "BaseMetadata",
        "base of what has a name and a title",
    ),
    (
        &[V2026_07_28, V2025_11_25],
        "Icons",
        "base of what has icons",
    ),
    (
        ALL,
        "ResourceContents",
        "base of the text and blob contents",
    ),
    (ALL, "PaginatedResult", "base of the list results"),
    (
        &[V2026_07_28],
        "CacheableResult",
        "base of the results with cache hints",
    ),
    (
        &[V2026_07_28],
        "InputResponseRequestParams",
        "base of the params that carry answers",
    ),
    (
        &[V2026_07_28],
        "Notification",
        "base without the envelope that every notification has",
    ),
    (
        &[V2026_07_28],
        "ClientResult",
        "no request goes to a client, so none sends a result",
    ),
    (
        &[V2025_11_25],
        "TaskAugmentedRequestParams",
        "base of the params with `task`, which is not sent",
    ),
];

const NO_TASK: &str = "requests are not sent as tasks";

const MEMBERS: &[(&[Version], &str, &str, &str)] = &[
    (&[V2025_11_25], "CallToolRequestParams", "task", NO_TASK),
    (
        &[V2025_11_25],
        "CreateMessageRequestParams",
        "task",
        NO_TASK,
    ),
    (&[V2025_11_25], "ElicitRequestFormParams", "task", NO_TASK),
    (&[V2025_11_25], "ElicitRequestURLParams", "task", NO_TASK),
];

const EXTRAS: &[(&[Version], Extra)] = &[(
    &[V2025_06_18],
    (
        "/ElicitRequest/properties/params/properties",
        "mode",
        "always written; this revision knows forms only and lets other members pass",
    ),
)];
