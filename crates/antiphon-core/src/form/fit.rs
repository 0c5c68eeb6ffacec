//! Whether an answer plainly fits the form it was asked with.

use antiphon_types::{FormSchema, PrimitiveSchema};
use serde_json::{Map, Value};

use super::check;

/// Whether `content` certainly fits `schema`, found out without a validator.
///
/// `false` says nothing: the schema may use more than this knows (formats, other keywords), and
/// then a validator has to decide, as it has to explain what is wrong.
pub fn plainly_fits(schema: &FormSchema, content: &Map<String, Value>) -> bool {
    schema.extra.is_empty()
        && (schema.required.iter().flatten()).all(|name| content.contains_key(name))
        && content
            .iter()
            .all(|(name, value)| match schema.property(name) {
                Some(field) => fits(field, value),
                // Forms are open; but what nobody asked for deserves a second look.
                None => false,
            })
}

/// Whether it keeps to all rules, and there are none but those that are known here.
fn fits(field: &PrimitiveSchema, value: &Value) -> bool {
    let extra = match field {
        // What a format admits is for a validator to say.
        PrimitiveSchema::String(field) if field.format.is_some() => return false,
        PrimitiveSchema::String(field) => &field.extra,
        PrimitiveSchema::Number(field) => &field.extra,
        PrimitiveSchema::Boolean(field) => &field.extra,
        PrimitiveSchema::UntitledSingleSelect(field) => &field.extra,
        PrimitiveSchema::TitledSingleSelect(field) => &field.extra,
        PrimitiveSchema::LegacyTitledEnum(field) => &field.extra,
        PrimitiveSchema::UntitledMultiSelect(field) => &field.extra,
        PrimitiveSchema::TitledMultiSelect(field) => &field.extra,
        _ => return false,
    };
    let mut broken = false;
    check(field, value, &mut |_| broken = true);
    extra.is_empty() && !broken
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_plainly_fits() {
        let schema = json!({"type": "object", "required": ["ok"], "properties": {
            "ok": {"type": "boolean"},
            "name": {"type": "string", "minLength": 2, "maxLength": 3},
            "age": {"type": "integer", "minimum": 1, "maximum": 9},
            "rate": {"type": "number", "maximum": 0.5},
            "size": {"type": "string", "enum": ["S", "L"]},
            "hue": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}]},
            "mail": {"type": "string", "format": "email"},
            "odd": {"type": "string", "pattern": "^a"},
        }});
        let schema: FormSchema = serde_json::from_value(schema).expect("a form");
        for (content, plainly) in [
            (json!({"ok": true}), true),
            (
                json!({"ok": true, "name": "äöü", "age": 9, "rate": 0.25}),
                true,
            ),
            (json!({"ok": true, "size": "L", "hue": "r"}), true),
            (json!({}), false),
            (json!({"ok": 1}), false),
            (json!({"ok": null}), false),
            (json!({"ok": true, "name": "a"}), false),
            (json!({"ok": true, "name": "abcd"}), false),
            (json!({"ok": true, "age": 10}), false),
            (json!({"ok": true, "age": 0}), false),
            (json!({"ok": true, "age": 1.5}), false),
            (json!({"ok": true, "rate": 0.75}), false),
            (json!({"ok": true, "size": "M"}), false),
            (json!({"ok": true, "hue": "Red"}), false),
            // Perhaps, but not plainly.
            (json!({"ok": true, "mail": "a@b.c"}), false),
            (json!({"ok": true, "odd": "a"}), false),
            (json!({"ok": true, "more": 1}), false),
        ] {
            let content_map = content.as_object().expect("an object");
            assert_eq!(plainly_fits(&schema, content_map), plainly, "{content}");
        }
    }
}
