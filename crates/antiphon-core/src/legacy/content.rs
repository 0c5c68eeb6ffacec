//! Content blocks, as a revision can carry them.

use antiphon_types::Version::{self, V2025_03_26, V2025_06_18};
use serde_json::{Map, Value, json};

use super::members::{self, ANNOTATIONS, BLOCK, CONTENTS};

/// A block of text.
pub(super) fn text(text: impl Into<String>) -> Value {
    json!({"type": "text", "text": text.into()})
}

/// Makes a block one of the revision's; one that it cannot carry becomes a text that says what
/// was there (SHIM-S-10).
pub(super) fn block(block: &mut Map<String, Value>, version: Version) {
    if let Some(words) = instead(block, version) {
        let mut told = Map::new();
        told.insert("type".to_owned(), "text".into());
        told.insert("text".to_owned(), words.into());
        for name in ["annotations", "_meta"] {
            told.extend(block.remove_entry(name));
        }
        *block = told;
    }
    members::strip(block, BLOCK, version);
    members::strip_in(block, "resource", CONTENTS, version);
    members::strip_in(block, "annotations", ANNOTATIONS, version);
}

/// What to say instead of a block that the revision does not have.
fn instead(block: &Map<String, Value>, version: Version) -> Option<String> {
    let member = |name: &str| block.get(name).and_then(Value::as_str);
    let joined = |parts: [Option<&str>; 2]| {
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        match parts.is_empty() {
            true => String::new(),
            false => format!(" ({})", parts.join(", ")),
        }
    };
    let what = match member("type")? {
        "text" | "image" | "resource" => return None,
        "audio" if version >= V2025_03_26 => return None,
        "resource_link" if version >= V2025_06_18 => return None,
        "resource_link" => {
            let name = member("name").unwrap_or("without a name");
            let details = joined([member("title"), member("mimeType")]);
            let uri = member("uri").unwrap_or("nowhere");
            let mut words = format!("Resource {name}{details}: {uri}");
            if let Some(description) = member("description") {
                words.push('\n');
                words.push_str(description);
            }
            return Some(words);
        }
        "audio" => "Audio".to_owned(),
        other => format!("Content of type {other}"),
    };
    let details = joined([member("mimeType"), member("uri")]);
    Some(format!(
        "{what}{details} was left out: protocol version {version} cannot carry it."
    ))
}

#[cfg(test)]
mod tests {
    use antiphon_types::Version::{V2024_11_05, V2025_11_25};

    use super::*;

    fn carried(value: &Value, version: Version) -> Value {
        let mut value = value.clone();
        block(value.as_object_mut().expect("a block"), version);
        value
    }

    #[test]
    fn a_link_is_told_before_there_are_links() {
        let link = json!({
            "type": "resource_link", "uri": "tide://oslo", "name": "oslo", "title": "Tides of Oslo",
            "mimeType": "text/csv", "description": "High and low water", "size": 7,
            "annotations": {"priority": 1, "lastModified": "2026-07-28"}, "_meta": {"k": 1},
        });
        let words =
            "Resource oslo (Tides of Oslo, text/csv): tide://oslo\nHigh and low water".to_owned();
        for version in [V2024_11_05, V2025_03_26] {
            assert_eq!(
                carried(&link, version),
                json!({"annotations": {"priority": 1}, "type": "text", "text": words})
            );
        }
        assert_eq!(carried(&link, V2025_06_18), link);
        let bare = json!({"type": "resource_link", "uri": "tide://oslo", "name": "oslo"});
        assert_eq!(
            carried(&bare, V2024_11_05),
            text("Resource oslo: tide://oslo")
        );
    }

    #[test]
    fn a_sound_is_told_before_there_are_sounds() {
        let sound = json!({"type": "audio", "data": "AA==", "mimeType": "audio/wav"});
        assert_eq!(
            carried(&sound, V2024_11_05),
            text("Audio (audio/wav) was left out: protocol version 2024-11-05 cannot carry it.")
        );
        for version in [V2025_03_26, V2025_06_18, V2025_11_25] {
            assert_eq!(carried(&sound, version), sound);
        }
    }

    #[test]
    fn no_revision_gets_a_kind_it_does_not_know() {
        let scene = json!({"type": "scene", "uri": "scene:quay", "_meta": {"k": 1}});
        for version in Version::LEGACY {
            let told = carried(&scene, *version);
            assert_eq!(told["type"], "text");
            let words = told["text"].as_str().expect("text");
            assert!(
                words.starts_with("Content of type scene (scene:quay)"),
                "{words}"
            );
            assert_eq!(told.get("_meta").is_some(), *version >= V2025_06_18);
        }
    }
}
