//! What an argument takes, in a few words, as its JSON Schema says.

use serde_json::{Map, Value};

use crate::printable;

/// Most values, names or alternatives that are listed.
const LISTED: usize = 12;

/// Most characters of one of them.
const LONGEST: usize = 60;

/// How deep schemas are followed into each other.
const DEEPEST: usize = 6;

/// Its type, what limits it, and its default.
pub(crate) fn describe(schema: &Value, root: &Map<String, Value>, required: bool) -> String {
    let target = referred(schema, root).unwrap_or(schema);
    let mut words = vec![kind(schema, root, DEEPEST)];
    words.extend(limits(target));
    if required {
        words.push("required".to_owned());
    }
    if let Some(default) = schema.get("default").or_else(|| target.get("default")) {
        words.push(format!("default {}", value(default)));
    }
    words.join(", ")
}

/// What is said of it.
pub(crate) fn description<'a>(schema: &'a Value, root: &'a Map<String, Value>) -> Option<&'a str> {
    let text = |schema: &'a Value, name| schema.get(name).and_then(Value::as_str);
    let target = referred(schema, root);
    text(schema, "description")
        .or_else(|| text(schema, "title"))
        .or_else(|| target.and_then(|it| text(it, "description")))
}

/// What kind of value it is.
fn kind(schema: &Value, root: &Map<String, Value>, depth: usize) -> String {
    let schema = referred(schema, root).unwrap_or(schema);
    let Some(depth) = depth.checked_sub(1) else {
        return "…".to_owned();
    };
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        // The titles of older revisions.
        let titles = schema.get("enumNames").and_then(Value::as_array);
        let title = |at: usize| titles.and_then(|titles| titles.get(at)?.as_str());
        let values = values.iter().enumerate();
        return listed(values.map(|(at, it)| titled(it, title(at))), " | ");
    }
    if let Some(only) = schema.get("const") {
        return titled(only, schema.get("title").and_then(Value::as_str));
    }
    for name in ["oneOf", "anyOf"] {
        if let Some(branches) = schema.get(name).and_then(Value::as_array) {
            let by = if are_values(branches) { " | " } else { " or " };
            return listed(branches.iter().map(|it| kind(it, root, depth)), by);
        }
    }
    if let Some([only]) = schema
        .get("allOf")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
    {
        return kind(only, root, depth);
    }
    match schema.get("type") {
        Some(Value::String(name)) => typed(name, schema, root, depth),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str);
            listed(names.map(|name| typed(name, schema, root, depth)), " or ")
        }
        _ if schema.get("properties").is_some() => typed("object", schema, root, depth),
        _ => "anything".to_owned(),
    }
}

fn typed(name: &str, schema: &Value, root: &Map<String, Value>, depth: usize) -> String {
    match (name, schema.get("items"), schema.get("properties")) {
        ("array", Some(items), _) if is_choice(items) => {
            format!("some of {}", kind(items, root, depth))
        }
        ("array", Some(items), _) => format!("array of {}", kind(items, root, depth)),
        ("object", _, Some(Value::Object(properties))) if !properties.is_empty() => {
            let names = properties
                .keys()
                .map(|name| printable::excerpt(name, LONGEST));
            format!("object {{{}}}", listed(names, ", "))
        }
        ("string", ..) => match schema.get("format").and_then(Value::as_str) {
            Some(format) => format!("string ({})", printable::excerpt(format, LONGEST)),
            None => "string".to_owned(),
        },
        _ => printable::excerpt(name, LONGEST),
    }
}

/// Whether it lists all its values.
fn is_choice(schema: &Value) -> bool {
    let branches = ["oneOf", "anyOf"].map(|name| schema.get(name).and_then(Value::as_array));
    let mut branches = branches.into_iter().flatten();
    schema.get("enum").is_some() || branches.any(|branches| are_values(branches))
}

fn are_values(branches: &[Value]) -> bool {
    branches.iter().all(|branch| branch.get("const").is_some())
}

/// What limits it.
fn limits(schema: &Value) -> Vec<String> {
    let between = |least, most, unit: &str| {
        let number = |name| schema.get(name).filter(|it| it.is_number());
        Some(match (number(least), number(most)) {
            (Some(least), Some(most)) if least == most => format!("exactly {least}{unit}"),
            (Some(least), Some(most)) => format!("{least} to {most}{unit}"),
            (Some(least), None) => format!("at least {least}{unit}"),
            (None, Some(most)) => format!("at most {most}{unit}"),
            (None, None) => return None,
        })
    };
    let given = |name, words: &str| {
        let limit = schema.get(name).filter(|it| it.is_number())?;
        Some(format!("{words} {limit}"))
    };
    let pattern = schema.get("pattern").and_then(Value::as_str);
    let limits = [
        between("minimum", "maximum", ""),
        given("exclusiveMinimum", "more than"),
        given("exclusiveMaximum", "less than"),
        given("multipleOf", "in steps of"),
        between("minLength", "maxLength", " characters"),
        between("minItems", "maxItems", " items"),
        pattern.map(|pattern| format!("like {}", printable::excerpt(pattern, LONGEST))),
    ];
    limits.into_iter().flatten().collect()
}

/// The schema itself, or the one it refers to: in the same document, and not in circles.
fn referred<'a>(schema: &'a Value, root: &'a Map<String, Value>) -> Option<&'a Value> {
    let mut schema = schema;
    for _ in 0..DEEPEST {
        let Some(to) = schema.get("$ref").and_then(Value::as_str) else {
            return Some(schema);
        };
        let path = to.strip_prefix("#/")?;
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        let within = root.get(first)?;
        schema = match rest {
            "" => within,
            rest => within.pointer(&format!("/{rest}"))?,
        };
    }
    None
}

/// A value as it is typed.
fn value(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() => printable::excerpt(text, LONGEST),
        value => printable::excerpt(&value.to_string(), LONGEST),
    }
}

/// The same with the name that people know it by.
fn titled(typed: &Value, title: Option<&str>) -> String {
    let typed = value(typed);
    match title.map(|title| printable::excerpt(title, LONGEST)) {
        Some(title) if title != typed && !title.is_empty() => format!("{typed} ({title})"),
        _ => typed,
    }
}

fn listed(words: impl Iterator<Item = String>, by: &str) -> String {
    let mut words = words.peekable();
    let mut listed: Vec<_> = words.by_ref().take(LISTED).collect();
    if words.peek().is_some() {
        listed.push("…".to_owned());
    }
    listed.join(by)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::{HOSTILE, is_harmless};
    use super::*;

    fn root() -> Map<String, Value> {
        let defs = json!({
            "$defs": {
                "Colour": { "enum": ["red", "blue"], "description": "Which paint." },
                "Again": { "$ref": "#/$defs/Again" },
                "Tree": { "type": "array", "items": { "$ref": "#/$defs/Tree" } },
                "a/b": { "type": "boolean" },
            },
        });
        serde_json::from_value(defs).unwrap()
    }

    #[test]
    fn schemas_are_told_in_a_few_words() {
        let many: Vec<_> = (0..20).collect();
        let table = [
            (json!({"type": "string"}), "string"),
            (json!({"type": "string", "format": "date"}), "string (date)"),
            (json!({"type": ["string", "null"]}), "string or null"),
            (
                json!({"type": "integer", "minimum": 1, "maximum": 10, "default": 1}),
                "integer, 1 to 10, default 1",
            ),
            (
                json!({"type": "number", "minimum": 0.5}),
                "number, at least 0.5",
            ),
            (
                json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
                "number, more than 0, less than 1",
            ),
            (
                json!({"type": "integer", "multipleOf": 5}),
                "integer, in steps of 5",
            ),
            (
                json!({"type": "string", "minLength": 3, "maxLength": 3, "pattern": "^a"}),
                "string, exactly 3 characters, like ^a",
            ),
            (
                json!({"type": "array", "items": {"type": "string"}, "maxItems": 3}),
                "array of string, at most 3 items",
            ),
            (json!({"enum": ["a", 1, null, ""]}), "a | 1 | null | \"\""),
            (
                json!({"enum": many}),
                "0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | …",
            ),
            (json!({"const": "x", "default": "x"}), "x, default x"),
            (json!({"oneOf": [{"const": "a"}, {"const": "b"}]}), "a | b"),
            (
                json!({"oneOf": [{"const": "eu", "title": "Europe"}, {"const": "us", "title": "us"}]}),
                "eu (Europe) | us",
            ),
            (
                json!({"enum": ["s", "m"], "enumNames": ["Small"]}),
                "s (Small) | m",
            ),
            (
                json!({"type": "array", "minItems": 1, "items": {"enum": ["a", "b"]}}),
                "some of a | b, at least 1 items",
            ),
            (
                json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}),
                "some of a (A)",
            ),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
                "string or null",
            ),
            (json!({"allOf": [{"type": "string"}]}), "string"),
            (json!({"$ref": "#/$defs/Colour"}), "red | blue"),
            (
                json!({"$ref": "#/$defs/Colour", "default": "red"}),
                "red | blue, default red",
            ),
            (
                json!({"anyOf": [{"$ref": "#/$defs/Colour"}, {"type": "null"}]}),
                "red | blue or null",
            ),
            (
                json!({"type": "object", "properties": {"street": {}, "city": {}}}),
                "object {street, city}",
            ),
            (json!({"properties": {"a": true}}), "object {a}"),
            (json!({"type": "object"}), "object"),
            (json!(true), "anything"),
            (json!({}), "anything"),
            // What makes no sense, or no end.
            (json!({"type": 1, "minimum": "x", "enum": 3}), "anything"),
            (json!({"$ref": "#/$defs/Again"}), "anything"),
            (json!({"$ref": "#/$defs/None"}), "anything"),
            (json!({"$ref": "https://a.example/x"}), "anything"),
            (
                json!({"$ref": "#/$defs/Tree"}),
                "array of array of array of array of array of array of …",
            ),
        ];
        for (schema, words) in table {
            assert_eq!(describe(&schema, &root(), false), words, "{schema}");
        }
        let required = describe(&json!({"type": "string", "default": ""}), &root(), true);
        assert_eq!(required, "string, required, default \"\"");
    }

    #[test]
    fn descriptions_are_found() {
        let table = [
            (json!({"description": "a", "title": "b"}), Some("a")),
            (json!({"title": "b"}), Some("b")),
            (json!({"$ref": "#/$defs/Colour"}), Some("Which paint.")),
            (
                json!({"$ref": "#/$defs/Colour", "description": "c"}),
                Some("c"),
            ),
            (json!({}), None),
            (json!(false), None),
        ];
        for (schema, words) in table {
            assert_eq!(description(&schema, &root()), words, "{schema}");
        }
    }

    #[test]
    fn hostile_schemas_are_harmless_and_short() {
        let long = HOSTILE.repeat(1000);
        for schema in [
            json!({"type": HOSTILE, "default": long}),
            json!({"type": [HOSTILE, long]}),
            json!({"enum": [HOSTILE, {HOSTILE: HOSTILE}, long]}),
            json!({"const": HOSTILE}),
            json!({"type": "string", "format": HOSTILE, "pattern": long}),
            json!({"properties": {HOSTILE: {}, long.clone(): {}}}),
            json!({"anyOf": [{"const": HOSTILE}, {"type": long}]}),
        ] {
            let words = describe(&schema, &root(), true);
            assert!(is_harmless(&words), "{words:?}");
            assert!(words.contains("owned") && words.len() < 2000, "{words}");
        }
    }
}
