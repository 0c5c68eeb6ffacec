//! What the two sides say of themselves in `initialize`.

use antiphon_types::Version::{self, V2025_03_26, V2025_06_18, V2025_11_25};
use antiphon_types::{
    ClientCapabilities, ElicitationCapability, Implementation, SamplingCapability,
    ServerCapabilities,
};

/// What a client can be asked: of what it declared in `initialize`, what its revision knows
/// (SHIM-S-02).
///
/// The ways of asking the user are named: `form` also where that goes without saying. Extensions
/// and members beyond the specification count for nothing.
#[must_use]
pub fn abilities(declared: &ClientCapabilities, version: Version) -> ClientCapabilities {
    let mut known = ClientCapabilities::new();
    let asking = declared.elicitation.as_ref();
    known.elicitation = asking.and_then(|declared| elicitation(declared, version));
    let calling = declared.sampling.as_ref();
    known.sampling = calling.map(|declared| match version >= V2025_11_25 {
        true => declared.clone(),
        // Context went without saying.
        false => SamplingCapability::new().context(),
    });
    known.roots.clone_from(&declared.roots);
    known.experimental.clone_from(&declared.experimental);
    if version == V2025_11_25 {
        known.tasks.clone_from(&declared.tasks);
    }
    known
}

/// Ways of asking the user. The first revision that has any knows no names for them.
fn elicitation(
    declared: &ElicitationCapability,
    version: Version,
) -> Option<ElicitationCapability> {
    match version {
        _ if version < V2025_06_18 => None,
        _ if version < V2025_11_25 => Some(ElicitationCapability::new().form()),
        _ if declared.has_form() => Some(declared.clone().form()),
        _ => Some(declared.clone()),
    }
}

/// What a server says in answer to `initialize` that it can do.
///
/// Changes can be announced only by a server that can speak of its own accord, which is what
/// `pushes` says. Extensions are left out, as no older revision has them.
#[must_use]
pub fn offer(
    capabilities: &ServerCapabilities,
    version: Version,
    pushes: bool,
) -> ServerCapabilities {
    let mut offered = capabilities.clone();
    offered.extensions = None;
    offered.extra.clear();
    if version < V2025_03_26 {
        offered.completions = None;
    }
    if version != V2025_11_25 {
        offered.tasks = None;
    }
    if !pushes {
        let lists = [&mut offered.tools, &mut offered.prompts];
        for list in lists.into_iter().flatten() {
            list.list_changed = None;
        }
        if let Some(resources) = &mut offered.resources {
            resources.list_changed = None;
            resources.subscribe = None;
        }
    }
    offered
}

/// A program as the revision knows it: `serverInfo` or `clientInfo`.
#[must_use]
pub fn implementation(info: &Implementation, version: Version) -> Implementation {
    let mut known = info.clone();
    if version < V2025_06_18 {
        known.title = None;
    }
    if version < V2025_11_25 {
        known.description = None;
        known.icons = None;
        known.website_url = None;
    }
    known
}

#[cfg(test)]
mod tests {
    use antiphon_types::Version::V2024_11_05;
    use serde_json::{Value, from_value, json, to_value};

    use super::*;

    fn able(declared: Value, version: Version) -> Value {
        let declared = from_value(declared).expect("capabilities");
        to_value(abilities(&declared, version)).expect("JSON")
    }

    /// SHIM-S-02
    #[test]
    fn users_are_asked_as_the_revision_can() {
        for (declared, at_06, at_11) in [
            (json!({}), json!({"form": {}}), json!({"form": {}})),
            (
                json!({"form": {"wide": true}}),
                json!({"form": {}}),
                json!({"form": {"wide": true}}),
            ),
            (json!({"url": {}}), json!({"form": {}}), json!({"url": {}})),
            (
                json!({"form": {}, "url": {}}),
                json!({"form": {}}),
                json!({"form": {}, "url": {}}),
            ),
        ] {
            let declared = json!({"elicitation": declared});
            for version in [V2024_11_05, V2025_03_26] {
                assert_eq!(able(declared.clone(), version), json!({}), "{version}");
            }
            let at_06 = json!({"elicitation": at_06});
            assert_eq!(able(declared.clone(), V2025_06_18), at_06);
            let at_11 = json!({"elicitation": at_11});
            assert_eq!(able(declared, V2025_11_25), at_11);
        }
    }

    #[test]
    fn what_the_revision_does_not_know_cannot_be_asked() {
        let declared = json!({
            "sampling": {"tools": {}, "context": {}}, "roots": {"listChanged": true},
            "experimental": {"pilot": {}}, "extensions": {"chart": {}}, "tasks": {"list": {}},
            "tides": {},
        });
        let early = json!({
            "sampling": {"context": {}}, "roots": {"listChanged": true},
            "experimental": {"pilot": {}},
        });
        for version in [V2024_11_05, V2025_03_26, V2025_06_18] {
            assert_eq!(able(declared.clone(), version), early, "{version}");
        }
        let late = json!({
            "sampling": {"tools": {}, "context": {}}, "roots": {"listChanged": true},
            "experimental": {"pilot": {}}, "tasks": {"list": {}},
        });
        assert_eq!(able(declared, V2025_11_25), late);
        assert_eq!(able(json!({}), V2025_11_25), json!({}));
    }

    #[test]
    fn changes_are_announced_only_by_who_can_speak() {
        let all = ServerCapabilities::new()
            .tools(true)
            .prompts(true)
            .resources(true, true)
            .completions()
            .logging()
            .extension("chart", serde_json::Map::new());
        let quiet = json!({
            "tools": {}, "prompts": {}, "resources": {}, "completions": {}, "logging": {},
        });
        let loud = json!({
            "tools": {"listChanged": true}, "prompts": {"listChanged": true},
            "resources": {"listChanged": true, "subscribe": true},
            "completions": {}, "logging": {},
        });
        for version in [V2025_03_26, V2025_06_18, V2025_11_25] {
            assert_eq!(to_value(offer(&all, version, false)).unwrap(), quiet);
            assert_eq!(to_value(offer(&all, version, true)).unwrap(), loud);
        }
    }

    #[test]
    fn completion_goes_without_saying_at_first() {
        let all = ServerCapabilities::new()
            .completions()
            .tasks(json!({"list": {}}));
        let offered = |version| to_value(offer(&all, version, true)).unwrap();
        assert_eq!(offered(V2024_11_05), json!({}));
        assert_eq!(offered(V2025_03_26), json!({"completions": {}}));
        let tasks = json!({"completions": {}, "tasks": {"list": {}}});
        assert_eq!(offered(V2025_11_25), tasks);
    }

    #[test]
    fn nothing_is_offered_that_no_older_revision_has() {
        let all =
            json!({"tools": {}, "experimental": {"pilot": {}}, "extensions": {}, "tides": {}});
        let all = from_value(all).expect("capabilities");
        for version in Version::LEGACY {
            assert_eq!(
                to_value(offer(&all, *version, true)).unwrap(),
                json!({"tools": {}, "experimental": {"pilot": {}}})
            );
        }
    }

    #[test]
    fn programs_are_named_as_the_revision_can() {
        let full = Implementation::new("harbor", "1.4.0")
            .title("Harbor office")
            .description("Berths")
            .website_url("https://harbor.example/")
            .icons(vec!["data:,".into()]);
        let plain = Implementation::new("harbor", "1.4.0");
        assert_eq!(implementation(&full, V2024_11_05), plain);
        assert_eq!(implementation(&full, V2025_03_26), plain);
        let titled = plain.title("Harbor office");
        assert_eq!(implementation(&full, V2025_06_18), titled);
        assert_eq!(implementation(&full, V2025_11_25), full);
    }
}
