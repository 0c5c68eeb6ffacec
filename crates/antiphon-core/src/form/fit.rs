//! Whether an answer plainly fits the form it was asked with.

use antiphon_types::{FormSchema, NumberKind, PrimitiveSchema};
use serde_json::{Map, Number, Value};

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

fn fits(field: &PrimitiveSchema, value: &Value) -> bool {
    match (field, value) {
        (PrimitiveSchema::Boolean(field), Value::Bool(_)) => field.extra.is_empty(),
        (PrimitiveSchema::String(field), Value::String(text)) => {
            let length = || text.chars().count() as u64;
            field.extra.is_empty()
                && field.format.is_none()
                && field.min_length.is_none_or(|least| length() >= least)
                && field.max_length.is_none_or(|most| length() <= most)
        }
        (PrimitiveSchema::Number(field), Value::Number(number)) => {
            field.extra.is_empty()
                && (field.kind == NumberKind::Number || number.is_i64() || number.is_u64())
                && (field.minimum.as_ref()).is_none_or(|least| at_most(least, number))
                && (field.maximum.as_ref()).is_none_or(|most| at_most(number, most))
        }
        (PrimitiveSchema::UntitledSingleSelect(field), Value::String(text)) => {
            field.extra.is_empty() && field.values.contains(text)
        }
        (PrimitiveSchema::TitledSingleSelect(field), Value::String(text)) => {
            field.extra.is_empty() && field.one_of.iter().any(|option| option.value == *text)
        }
        (PrimitiveSchema::LegacyTitledEnum(field), Value::String(text)) => {
            field.extra.is_empty() && field.values.contains(text)
        }
        _ => false,
    }
}

/// Whether `a <= b` for certain: integers exactly, others where floats can tell.
fn at_most(a: &Number, b: &Number) -> bool {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a <= b,
        _ => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => a < b,
            _ => false,
        },
    }
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
