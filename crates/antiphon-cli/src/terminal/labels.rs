//! What a person is told of a field: its name, what it is for, what it takes.

use antiphon::types::{NumberKind, NumberSchema, PrimitiveSchema, StringFormat, StringSchema};
use serde_json::Value;

use super::printable;

/// Its name.
pub(super) fn label(name: &str, schema: &PrimitiveSchema, required: bool) -> String {
    let title = title(schema);
    let title = printable::excerpt(title.as_deref().unwrap_or(name), 80);
    match required {
        true => title,
        false => format!("{title} (optional)"),
    }
}

/// The name that is meant for people.
pub(super) fn title(schema: &PrimitiveSchema) -> Option<String> {
    keyword(schema, "title")
}

/// A value of it, as it is shown to who gave it.
pub(super) fn value(schema: &PrimitiveSchema, value: &Value) -> String {
    let options = options(schema).unwrap_or_default();
    let one = |value: &Value| {
        let option = options.iter().find(|(option, _)| value == option.as_str());
        match (option, value) {
            (Some((_, shown)), _) => shown.clone(),
            (None, Value::String(text)) => printable::line(text),
            (None, Value::Bool(true)) => "yes".to_owned(),
            (None, Value::Bool(false)) => "no".to_owned(),
            (None, other) => printable::line(&other.to_string()),
        }
    };
    match (schema, value) {
        (PrimitiveSchema::Other(_), value) => printable::line(&value.to_string()),
        (_, Value::Array(values)) if values.is_empty() => "(none)".to_owned(),
        (_, Value::Array(values)) => values.iter().map(one).collect::<Vec<_>>().join(", "),
        (_, Value::String(text)) if text.is_empty() => "(empty)".to_owned(),
        (_, value) => one(value),
    }
}

/// What it is for, and what it takes.
pub(super) fn help(schema: &PrimitiveSchema) -> String {
    let rule = match schema {
        PrimitiveSchema::String(field) => of_text(field),
        PrimitiveSchema::Number(field) => of_number(field),
        PrimitiveSchema::UntitledMultiSelect(field) => {
            between(field.min_items, field.max_items, "choices")
        }
        PrimitiveSchema::TitledMultiSelect(field) => {
            between(field.min_items, field.max_items, "choices")
        }
        PrimitiveSchema::Other(_) => "as JSON".to_owned(),
        _ => String::new(),
    };
    let description = keyword(schema, "description").unwrap_or_default();
    let description = printable::excerpt(description.trim_end_matches('.'), 200);
    said([description, rule], "; ")
}

/// A keyword that every kind of field has.
fn keyword(schema: &PrimitiveSchema, name: &str) -> Option<String> {
    let schema = serde_json::to_value(schema).ok()?;
    schema.get(name)?.as_str().map(str::to_owned)
}

/// What there is to choose from: the values, and what is shown of each.
pub(super) fn options(schema: &PrimitiveSchema) -> Option<Vec<(String, String)>> {
    let plain = |values: &[String]| {
        let values = values.iter();
        values
            .map(|value| (value.clone(), printable::excerpt(value, 200)))
            .collect()
    };
    let titled = |value: &str, title: &str| {
        let shown = match value == title {
            true => printable::excerpt(value, 200),
            false => format!(
                "{} ({})",
                printable::excerpt(title, 200),
                printable::excerpt(value, 200)
            ),
        };
        (value.to_owned(), shown)
    };
    Some(match schema {
        PrimitiveSchema::UntitledSingleSelect(field) => plain(&field.values),
        PrimitiveSchema::UntitledMultiSelect(field) => plain(field.values()),
        PrimitiveSchema::TitledSingleSelect(field) => {
            let options = field.one_of.iter();
            options
                .map(|option| titled(&option.value, &option.title))
                .collect()
        }
        PrimitiveSchema::TitledMultiSelect(field) => {
            let options = field.any_of().iter();
            options
                .map(|option| titled(&option.value, &option.title))
                .collect()
        }
        PrimitiveSchema::LegacyTitledEnum(field) => {
            let names = field.enum_names.iter().flatten();
            let names = names.map(Some).chain(std::iter::repeat(None));
            let values = field.values.iter().zip(names);
            values
                .map(|(value, name)| titled(value, name.unwrap_or(value)))
                .collect()
        }
        _ => return None,
    })
}

fn of_text(field: &StringSchema) -> String {
    let length = between(field.min_length, field.max_length, "characters");
    let format = field.format.and_then(of_format);
    let rules = [format.unwrap_or_default().to_owned(), length];
    said(rules, ", ")
}

/// What a text of this format is.
pub(super) fn of_format(format: StringFormat) -> Option<&'static str> {
    match format {
        StringFormat::Email => Some("a mail address"),
        StringFormat::Uri => Some("a URI"),
        StringFormat::Date => Some("a date such as 2026-07-28"),
        StringFormat::DateTime => Some("a time such as 2026-07-28T12:00:00Z"),
        _ => None,
    }
}

fn between(least: Option<u64>, most: Option<u64>, what: &str) -> String {
    match (least.filter(|least| *least > 0), most) {
        (Some(least), Some(most)) => format!("{least} to {most} {what}"),
        (Some(least), None) => format!("at least {least} {what}"),
        (None, Some(most)) => format!("at most {most} {what}"),
        (None, None) => String::new(),
    }
}

fn said(parts: [String; 2], between: &str) -> String {
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(between)
}

fn of_number(field: &NumberSchema) -> String {
    let kind = match field.kind {
        NumberKind::Integer => "a whole number",
        NumberKind::Number => "a number",
    };
    match (&field.minimum, &field.maximum) {
        (Some(least), Some(most)) => format!("{kind} from {least} to {most}"),
        (Some(least), None) => format!("{kind}, at least {least}"),
        (None, Some(most)) => format!("{kind}, at most {most}"),
        (None, None) => kind.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(schema: Value) -> String {
        let schema: PrimitiveSchema = serde_json::from_value(schema).expect("a field");
        format!("{}: {}", label("field", &schema, true), help(&schema))
    }

    #[test]
    fn every_field_says_what_it_takes() {
        for (schema, text) in [
            (json!({ "type": "string" }), "field: "),
            (
                json!({ "type": "string", "title": "Mail", "format": "email", "maxLength": 9 }),
                "Mail: a mail address, at most 9 characters",
            ),
            (
                json!({ "type": "number", "description": "How heavy.", "minimum": 0.5 }),
                "field: How heavy; a number, at least 0.5",
            ),
            (
                json!({ "type": "array", "minItems": 1, "maxItems": 2, "title": "Extras",
                    "items": { "type": "string", "enum": ["a", "b", "c"] } }),
                "Extras: 1 to 2 choices",
            ),
            (
                json!({ "type": "string", "enum": ["a"], "description": "Which" }),
                "field: Which",
            ),
            (json!({ "type": "object" }), "field: as JSON"),
        ] {
            assert_eq!(told(schema), text);
        }
    }

    #[test]
    fn values_are_shown_as_they_were_chosen() {
        let titled = json!({ "type": "string", "oneOf": [{ "const": "eu", "title": "Europe" }] });
        let several = json!({ "type": "array", "items": { "type": "string", "enum": ["a", "b"] } });
        for (schema, given, text) in [
            (json!({ "type": "boolean" }), json!(false), "no"),
            (titled, json!("eu"), "Europe (eu)"),
            (several.clone(), json!(["a", "b"]), "a, b"),
            (several, json!([]), "(none)"),
            (json!({ "type": "string" }), json!("a\u{1b}b"), r"a\u{1b}b"),
            (json!({ "type": "string" }), json!(""), "(empty)"),
            (json!({ "type": "object" }), json!("x"), r#""x""#),
        ] {
            let schema: PrimitiveSchema = serde_json::from_value(schema).expect("a field");
            assert_eq!(value(&schema, &given), text);
        }
    }
}
