//! Closing a schema: members that it does not name are refused.
//!
//! The published definitions let any member pass, so a member that our types
//! misspell, or that the revision does not have, would go unnoticed.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::schema::Document;

/// Members whose value is free even where a definition names some of its members.
const FREE: [&str; 3] = ["_meta", "inputSchema", "outputSchema"];

/// A member tolerated beyond a definition's own: where, its name, why.
pub(crate) type Extra = (&'static str, &'static str, &'static str);

/// The document with every object closed, but for `extras`.
pub(crate) fn close(document: &Document, legacy: bool, extras: &[Extra]) -> Document {
    let mut definitions = document.definitions().clone();
    for (name, definition) in &mut definitions {
        merge(document, definition);
        if legacy {
            complete_envelope(name, definition);
        }
        if !name.ends_with("MetaObject") {
            close_schema(document, definition);
        }
    }
    let mut closed = Value::Object(definitions);
    for (pointer, member, _) in extras {
        let properties = closed.pointer_mut(pointer).and_then(Value::as_object_mut);
        properties.map(|properties| properties.insert((*member).to_owned(), json!({})));
    }
    let Value::Object(definitions) = closed else {
        unreachable!("built from a map above");
    };
    document.with_definitions(definitions)
}

/// Legacy schemas state the JSON-RPC members, and the `_meta` of params, only
/// on the bases of a message.
fn complete_envelope(name: &str, definition: &mut Value) {
    let Some(properties) = properties(definition) else {
        return;
    };
    if !properties.contains_key("method") {
        return;
    }
    properties.entry("jsonrpc").or_insert(json!({}));
    if !name.ends_with("Notification") {
        properties.entry("id").or_insert(json!({}));
    }
    let params = properties.get_mut("params");
    if let Some(params) = params.and_then(self::properties) {
        params.entry("_meta").or_insert(json!({}));
    }
}

fn properties(schema: &mut Value) -> Option<&mut Map<String, Value>> {
    schema.get_mut("properties").and_then(Value::as_object_mut)
}

fn close_schema(document: &Document, schema: &mut Value) {
    merge(document, schema);
    let Value::Object(keywords) = schema else {
        return;
    };
    if keywords.contains_key("properties") {
        let open = keywords.contains_key("additionalProperties");
        if !open {
            keywords.insert("additionalProperties".to_owned(), false.into());
        }
    }
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                let bound = properties
                    .iter_mut()
                    .filter(|(name, _)| !FREE.contains(&name.as_str()));
                bound.for_each(|(_, schema)| close_schema(document, schema));
            }
            ("anyOf", Value::Array(schemas)) => {
                schemas
                    .iter_mut()
                    .for_each(|schema| close_schema(document, schema));
            }
            ("items" | "additionalProperties", schema) => close_schema(document, schema),
            _ => {}
        }
    }
}

/// Turns `allOf` into one object; closed one by one, its parts would refuse
/// each other's members.
fn merge(document: &Document, schema: &mut Value) {
    let Some(Value::Array(parts)) = schema.get("allOf") else {
        return;
    };
    let mut properties = Map::new();
    let mut required = BTreeSet::new();
    for part in parts {
        let reference = part.get("$ref").and_then(Value::as_str);
        let part = reference
            .and_then(|name| document.resolve(name))
            .unwrap_or(part);
        // Where two parts have the same member, the later narrows the earlier.
        properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
        let names = part["required"].as_array().into_iter().flatten();
        required.extend(names.filter_map(Value::as_str));
    }
    *schema = json!({ "type": "object", "properties": properties, "required": required });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        Document::new(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": {
                "Tide": {
                    "type": "object",
                    "properties": {
                        "at": {"type": "string"},
                        "levels": {"type": "array", "items": {"type": "object", "properties": {"cm": {}}}},
                        "_meta": {"type": "object", "properties": {"progressToken": {}}},
                    },
                },
                "Base": {"type": "object", "properties": {"_meta": {}}, "additionalProperties": {}},
                "TideResult": {"allOf": [{"$ref": "#/$defs/Base"}, {"$ref": "#/$defs/Tide"}]},
                "TideRequest": {
                    "type": "object",
                    "properties": {"method": {}, "params": {"type": "object", "properties": {"at": {}}}},
                },
            },
        }))
        .unwrap()
    }

    #[test]
    fn unnamed_members_are_refused() {
        let closed = close(&document(), false, &[]);
        for name in ["Tide", "TideResult"] {
            let tide = closed.validator(name).unwrap();
            assert!(
                tide.is_valid(&json!({"at": "06:10", "levels": [{"cm": 1}], "_meta": {"x": 1}}))
            );
            assert!(!tide.is_valid(&json!({"At": "06:10"})));
            assert!(!tide.is_valid(&json!({"levels": [{"mm": 1}]})));
        }
        assert!(closed.validator("Base").unwrap().is_valid(&json!({"x": 1})));
    }

    #[test]
    fn legacy_messages_gain_their_envelope() {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "m", "params": {"_meta": {}}});
        let closed = close(&document(), true, &[]);
        assert!(closed.validator("TideRequest").unwrap().is_valid(&message));
        let closed = close(&document(), false, &[]);
        assert!(!closed.validator("TideRequest").unwrap().is_valid(&message));
    }

    #[test]
    fn extras_are_tolerated() {
        let closed = close(&document(), false, &[("/Tide/properties", "moon", "test")]);
        assert!(
            closed
                .validator("Tide")
                .unwrap()
                .is_valid(&json!({"moon": 1}))
        );
        assert!(
            !closed
                .validator("Tide")
                .unwrap()
                .is_valid(&json!({"sun": 1}))
        );
    }
}
