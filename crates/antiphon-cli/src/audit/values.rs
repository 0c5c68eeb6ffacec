//! Values that a schema allows, another one beside a given one, and some that it does not.

use serde_json::{Map, Value, json};

/// A number beyond 2^53: it and the next one are the same to whoever reads numbers as doubles.
pub(super) const BIG: u64 = 9_007_199_254_740_992;

/// A value for a field, as plain as it can be.
pub(super) fn plain(schema: &Value) -> Value {
    if let Some(value) = schema.get("default").or_else(|| schema.get("const")) {
        return value.clone();
    }
    if let Some(first) = choices(schema).into_iter().next() {
        return first;
    }
    match kind(schema) {
        "boolean" => true.into(),
        "integer" | "number" => number(schema),
        "array" => array(schema),
        "object" => Value::Object(object(schema)),
        "null" => Value::Null,
        _ => string(schema).into(),
    }
}

/// An object with what a schema requires, and whatever it has a default for.
pub(super) fn object(schema: &Value) -> Map<String, Value> {
    let mut object = Map::new();
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return object;
    };
    let required = names(schema);
    for (name, field) in properties {
        // Forms often leave out that a box to tick is required.
        let is_wanted = required.contains(&name.as_str())
            || field.get("default").is_some()
            || kind(field) == "boolean";
        if is_wanted {
            object.insert(name.clone(), plain(field));
        }
    }
    object
}

/// The names that an object must have.
pub(super) fn names(schema: &Value) -> Vec<&str> {
    let required = schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}

/// Another value that the field allows just as well.
pub(super) fn another(schema: &Value, value: &Value) -> Option<Value> {
    if schema.get("const").is_some() {
        return None;
    }
    let choices = choices(schema);
    if !choices.is_empty() {
        return choices.into_iter().find(|choice| choice != value);
    }
    match value {
        Value::Bool(is) => Some((!is).into()),
        Value::Number(number) => {
            let bound = |name| schema.get(name).and_then(Value::as_f64);
            let now = number.as_f64()?;
            let step = |by: i64| match number.as_i64() {
                Some(whole) => whole.checked_add(by).map(Value::from),
                None => Some(json!(now + by as f64)),
            };
            match bound("maximum").is_none_or(|most| now + 1.0 <= most) {
                true => step(1),
                false if bound("minimum").is_none_or(|least| now - 1.0 >= least) => step(-1),
                false => None,
            }
        }
        Value::String(text) => other_text(schema, text).map(Value::from),
        Value::Array(list) => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            let first = list.first().cloned();
            let first = first.map_or_else(|| Some(plain(items)), |first| another(items, &first))?;
            let rest = list.iter().skip(1).cloned();
            Some(std::iter::once(first).chain(rest).collect())
        }
        Value::Object(members) => {
            let mut members = members.clone();
            let (name, changed) = members.iter().find_map(|(name, member)| {
                let schema = schema.get("properties").and_then(|all| all.get(name));
                let changed = another(schema.unwrap_or(&Value::Null), member)?;
                Some((name.clone(), changed))
            })?;
            members.insert(name, changed);
            Some(members.into())
        }
        Value::Null => None,
    }
}

/// Values that the field does not allow, and what is wrong with them.
pub(super) fn wrong(schema: &Value) -> Vec<(&'static str, Value)> {
    let mut wrong = match kind(schema) {
        "boolean" => vec![
            ("a text for a boolean", json!("true")),
            ("a number for a boolean", json!(1)),
        ],
        "integer" | "number" => vec![("a text for a number", json!("1"))],
        "array" => vec![("a text for a list", json!("one"))],
        _ => vec![
            ("a boolean for a text", json!(true)),
            ("a list for a text", json!(["x"])),
        ],
    };
    wrong.push(("an object for a field", json!({"value": plain(schema)})));
    if !choices(schema).is_empty() {
        wrong.push(("a choice that is not offered", json!("antiphon-audit")));
    }
    let bound = |name: &str| schema.get(name).and_then(Value::as_i64);
    if let Some(most) = bound("maximum").and_then(|most| most.checked_add(1)) {
        wrong.push(("a number above the maximum", json!(most)));
    }
    if let Some(least) = bound("minimum").and_then(|least| least.checked_sub(1)) {
        wrong.push(("a number below the minimum", json!(least)));
    }
    if let Some(most) = bound("maxLength").and_then(|most| usize::try_from(most).ok()) {
        let long = "x".repeat(most.min(100_000) + 1);
        if most < 100_000 {
            wrong.push(("a text that is too long", long.into()));
        }
    }
    if bound("minLength").is_some_and(|least| least > 0) && kind(schema) == "string" {
        wrong.push(("a text that is too short", json!("")));
    }
    wrong
}

/// What a field is to hold.
pub(super) fn kind(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        // The first that is something; `null` is a way to leave it out.
        Some(Value::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds.find(|kind| *kind != "null").unwrap_or("null")
        }
        _ if schema.get("properties").is_some() => "object",
        _ => "string",
    }
}

/// The values that can be chosen from.
fn choices(schema: &Value) -> Vec<Value> {
    if let Some(Value::Array(values)) = schema.get("enum") {
        return values.clone();
    }
    let titled = ["oneOf", "anyOf"].map(|name| schema.get(name).and_then(Value::as_array));
    let titled = titled.into_iter().flatten().flatten();
    titled.filter_map(|one| one.get("const").cloned()).collect()
}

fn number(schema: &Value) -> Value {
    let bound = |name| schema.get(name).filter(|bound| bound.is_number());
    match (bound("minimum"), bound("maximum")) {
        (Some(least), _) if least.as_f64().is_some_and(|least| least > 1.0) => least.clone(),
        (_, Some(most)) if most.as_f64().is_some_and(|most| most < 1.0) => most.clone(),
        _ => 1.into(),
    }
}

fn array(schema: &Value) -> Value {
    let items = schema.get("items").unwrap_or(&Value::Null);
    let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(1);
    let choices = choices(items);
    let count = usize::try_from(least.clamp(1, 100)).unwrap_or(1);
    match choices.is_empty() {
        true => vec![plain(items); count].into(),
        false => choices.into_iter().take(count).collect(),
    }
}

fn string(schema: &Value) -> String {
    let text = match schema.get("format").and_then(Value::as_str) {
        Some("email") => return "audit@example.com".to_owned(),
        Some("uri") => return "https://example.com/audit".to_owned(),
        Some("date") => return "2026-07-28".to_owned(),
        Some("date-time") => return "2026-07-28T12:00:00Z".to_owned(),
        _ => "audit",
    };
    let length = |name| schema.get(name).and_then(Value::as_u64);
    let least = usize::try_from(length("minLength").unwrap_or(0)).unwrap_or(0);
    let most = usize::try_from(length("maxLength").unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let padded = text.chars().chain(std::iter::repeat('x'));
    padded
        .take(text.len().max(least.min(10_000)).min(most))
        .collect()
}

fn other_text(schema: &Value, text: &str) -> Option<String> {
    let other = match schema.get("format").and_then(Value::as_str) {
        Some("email") => format!("other.{text}"),
        Some("uri") => format!("{text}/other"),
        Some("date") => "2026-07-29".to_owned(),
        Some("date-time") => "2026-07-29T12:00:00Z".to_owned(),
        Some(_) => return None,
        None => {
            // As long as it was, so that no bound is crossed.
            let mut characters: Vec<char> = text.chars().collect();
            match characters.last_mut() {
                Some(last) => *last = if *last == 'x' { 'y' } else { 'x' },
                None => characters.push('x'),
            }
            characters.into_iter().collect()
        }
    };
    (other != text).then_some(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> [Value; 9] {
        [
            json!({"type": "boolean"}),
            json!({"type": "integer", "minimum": 3}),
            json!({"type": "integer", "minimum": 1, "maximum": 3, "default": 3}),
            json!({"type": "number", "maximum": 0}),
            json!({"type": "string", "minLength": 8}),
            json!({"type": "string", "format": "email"}),
            json!({"type": "string", "enum": ["a", "b"]}),
            json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}),
            json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}),
        ]
    }

    #[test]
    fn values_are_what_their_schema_allows() {
        for field in fields() {
            let schema = jsonschema::validator_for(&field).expect("a schema");
            let value = plain(&field);
            assert!(schema.is_valid(&value), "{value} for {field}");
            let other = another(&field, &value).expect("another");
            assert!(schema.is_valid(&other), "{other} for {field}");
            assert_ne!(value, other);
        }
        let only = json!({"type": "string", "enum": ["a"]});
        assert_eq!(another(&only, &json!("a")), None);
    }

    #[test]
    fn wrong_values_are_wrong() {
        for field in fields() {
            let schema = jsonschema::validator_for(&field).expect("a schema");
            for (what, value) in wrong(&field) {
                assert!(!schema.is_valid(&value), "{what}: {value} for {field}");
            }
        }
    }

    #[test]
    fn objects_have_what_is_required() {
        let schema = json!({"type": "object", "required": ["a"], "properties":
            {"a": {"type": "string"}, "b": {"type": "string"}, "ok": {"type": "boolean"}}});
        assert_eq!(
            Value::Object(object(&schema)),
            json!({"a": "audit", "ok": true})
        );
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "that is the point")]
    fn big_numbers_are_one_to_a_double() {
        assert_eq!((BIG + 1) as f64, BIG as f64);
    }
}
