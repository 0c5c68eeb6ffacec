//! Tools, and what they give.

use antiphon_types::Version::{self, V2025_06_18};
use serde_json::{Map, Value, json};

use super::content;
use super::members::{self, TOOL};

/// Makes a tool one of the revision's.
pub(super) fn tool(tool: &mut Map<String, Value>, version: Version) {
    members::strip(tool, TOOL, version);
    // LFEAT-S-10
    let output = tool.get("outputSchema");
    if output.is_some_and(|schema| schema.get("type") != Some(&json!("object"))) {
        tool.shift_remove("outputSchema");
    }
    for name in ["inputSchema", "outputSchema"] {
        if let Some(properties) = tool.get_mut(name).and_then(|it| it.get_mut("properties")) {
            spell_out(properties);
        }
    }
}

/// Older revisions know only objects as the schemas of properties, not `true` and `false`.
fn spell_out(properties: &mut Value) {
    for schema in properties
        .as_object_mut()
        .into_iter()
        .flat_map(Map::values_mut)
    {
        match schema {
            Value::Bool(true) => *schema = json!({}),
            Value::Bool(false) => *schema = json!({"not": {}}),
            _ => {}
        }
    }
}

/// Makes what a tool gave something of the revision's. Structured content that cannot stay is
/// told as text where there is no other content.
pub(super) fn given(result: &mut Map<String, Value>, version: Version) {
    let structured = result.get("structuredContent");
    // LFEAT-S-10
    if structured.is_some_and(|value| version < V2025_06_18 || !value.is_object()) {
        let dropped = result.shift_remove("structuredContent").unwrap_or_default();
        let content = result.entry("content").or_insert_with(|| json!([]));
        if let Value::Array(blocks) = content
            && blocks.is_empty()
        {
            blocks.push(content::text(dropped.to_string()));
        }
    }
    members::each(result, "content", |block| content::block(block, version));
}

#[cfg(test)]
mod tests {
    use antiphon_types::Version::{V2024_11_05, V2025_03_26, V2025_11_25};

    use super::*;

    fn with(change: fn(&mut Map<String, Value>, Version), value: &Value, to: Version) -> Value {
        let mut value = value.clone();
        change(value.as_object_mut().expect("an object"), to);
        value
    }

    /// LFEAT-S-10
    #[test]
    fn an_output_schema_describes_an_object() {
        for (schema, stays) in [
            (json!({"type": "object", "properties": {}}), true),
            (json!({"type": "array"}), false),
            (json!({"type": ["object"]}), false),
            (json!({"anyOf": [{"type": "object"}]}), false),
            (json!(true), false),
        ] {
            let tide = json!({"name": "tide", "outputSchema": schema});
            for version in Version::LEGACY {
                let known = with(tool, &tide, *version);
                let stays = stays && *version >= V2025_06_18;
                assert_eq!(known.get("outputSchema").is_some(), stays, "{schema}");
            }
        }
    }

    #[test]
    fn schemas_of_properties_are_objects() {
        let schema = json!({
            "type": "object", "required": ["any"], "x-own": 1,
            "properties": {"any": true, "none": false, "port": {"type": "string", "x-mcp-header": "Port"}},
        });
        let object = json!({
            "type": "object", "required": ["any"], "x-own": 1,
            "properties": {"any": {}, "none": {"not": {}}, "port": {"type": "string", "x-mcp-header": "Port"}},
        });
        let tide = json!({"name": "tide", "inputSchema": schema, "outputSchema": schema});
        let known = json!({"name": "tide", "inputSchema": object, "outputSchema": object});
        assert_eq!(with(tool, &tide, V2025_11_25), known);
        let early = json!({"name": "tide", "inputSchema": object});
        assert_eq!(with(tool, &tide, V2024_11_05), early);
    }

    #[test]
    fn structured_content_is_not_lost() {
        let object = json!({"content": [], "structuredContent": {"depth": 4}});
        for version in [V2024_11_05, V2025_03_26] {
            assert_eq!(
                with(given, &object, version),
                json!({"content": [{"type": "text", "text": r#"{"depth":4}"#}]})
            );
        }
        assert_eq!(with(given, &object, V2025_06_18), object);
        let list = json!({"structuredContent": [1, 2], "content": []});
        for version in Version::LEGACY {
            assert_eq!(
                with(given, &list, *version),
                json!({"content": [{"type": "text", "text": "[1,2]"}]})
            );
        }
        let told = json!({"content": [{"type": "text", "text": "two"}], "structuredContent": null});
        assert_eq!(
            with(given, &told, V2025_11_25),
            json!({"content": [{"type": "text", "text": "two"}]})
        );
    }
}
