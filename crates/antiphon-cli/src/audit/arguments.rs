//! Arguments as an attacker writes them: others, doubled, beyond what a double holds, and the same
//! ones in another order.

use serde_json::{Map, Value};

use super::values::{self, BIG};

/// A name that no tool knows.
pub(super) const UNKNOWN: &str = "antiphonAudit";

/// Arguments, and what is special about them.
pub(super) type Variant = (String, Map<String, Value>);

/// What a schema says of one argument.
fn property<'a>(schema: &'a Map<String, Value>, name: &str) -> &'a Value {
    let properties = schema.get("properties");
    let property = properties.and_then(|properties| properties.get(name));
    property.unwrap_or(&Value::Null)
}

/// Whether a schema allows names that it does not know.
pub(super) fn is_open(schema: &Map<String, Value>) -> bool {
    schema.get("additionalProperties") != Some(&Value::Bool(false))
}

/// Other arguments that the tool allows just as well, each with one that differs.
pub(super) fn others(schema: &Map<String, Value>, arguments: &Map<String, Value>) -> Vec<Variant> {
    let mut others = Vec::new();
    for (name, value) in arguments {
        if let Some(other) = values::another(property(schema, name), value) {
            let mut changed = arguments.clone();
            changed.insert(name.clone(), other);
            others.push((name.clone(), changed));
        }
    }
    if let Some(Value::Object(properties)) = schema.get("properties") {
        for (name, field) in properties {
            if !arguments.contains_key(name) {
                let mut changed = arguments.clone();
                changed.insert(name.clone(), values::plain(field));
                others.push((name.clone(), changed));
            }
        }
    }
    others
}

/// These arguments as another tool takes them: as they are, as far as it allows them, and with what it
/// requires besides.
pub(super) fn fitted(
    schema: &Map<String, Value>,
    arguments: &Map<String, Value>,
) -> Map<String, Value> {
    let is_known = |name: &String| is_open(schema) || !property(schema, name).is_null();
    let ours = arguments.iter().filter(|(name, _)| is_known(name));
    let mut fitted: Map<_, _> = ours
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    for (name, value) in values::object(&Value::Object(schema.clone())) {
        fitted.entry(name).or_insert(value);
    }
    fitted
}

/// The same arguments with a number beyond 2^53, and with the next one; whether the tool knows that
/// argument.
pub(super) fn big(
    schema: &Map<String, Value>,
    arguments: &Map<String, Value>,
) -> Option<(bool, [Map<String, Value>; 2])> {
    let with = |name: &str| {
        [BIG, BIG + 1].map(|number| {
            let mut arguments = arguments.clone();
            arguments.insert(name.to_owned(), number.into());
            arguments
        })
    };
    if let Some(Value::Object(properties)) = schema.get("properties") {
        let known = properties.iter().find(|(_, field)| {
            let most = field.get("maximum").and_then(Value::as_f64);
            ["integer", "number"].contains(&values::kind(field))
                && field.get("enum").is_none()
                && most.is_none_or(|most| most > 1e16)
        });
        if let Some((name, _)) = known {
            return Some((true, with(name)));
        }
    }
    is_open(schema).then(|| (false, with(UNKNOWN)))
}

/// The arguments with one name twice: first as it is, then as it is not; and the other way round.
pub(super) fn doubled(
    schema: &Map<String, Value>,
    arguments: &Map<String, Value>,
) -> Option<[String; 2]> {
    let given = arguments.iter().find_map(|(name, value)| {
        let other = values::another(property(schema, name), value)?;
        Some((name.as_str(), value.clone(), other))
    });
    let (name, value, other) = match given {
        Some(given) => given,
        None if is_open(schema) => (UNKNOWN, 1.into(), 2.into()),
        None => return None,
    };
    let rest = arguments.iter().filter(|(rest, _)| *rest != name);
    let rest: String = rest
        .map(|(name, value)| format!(",{}:{value}", Value::from(name.as_str())))
        .collect();
    let name = Value::from(name);
    let written = |one: &Value, two: &Value| format!("{{{name}:{one},{name}:{two}{rest}}}");
    Some([written(&value, &other), written(&other, &value)])
}

/// The same value: its keys in another order, white space between its parts, characters escaped.
pub(super) fn reordered(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter().rev();
            let members: Vec<_> = members
                .map(|(name, member)| format!(" {} :\t{}", escaped(name), reordered(member)))
                .collect();
            format!("{{{} }}", members.join(" ,"))
        }
        Value::Array(list) => {
            let list: Vec<_> = list.iter().map(reordered).collect();
            format!("[ {} ]", list.join(" , "))
        }
        Value::String(text) => escaped(text),
        other => other.to_string(),
    }
}

/// A text whose first character is written as an escape.
fn escaped(text: &str) -> String {
    let mut units = [0; 2];
    let Some(first) = text.chars().next() else {
        return "\"\"".to_owned();
    };
    let units = first.encode_utf16(&mut units);
    let escape: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
    let rest = Value::from(&text[first.len_utf8()..]).to_string();
    format!("\"{escape}{}", &rest[1..])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(members) => members,
            other => panic!("{other} is no object"),
        }
    }

    #[test]
    fn the_same_value_in_another_spelling() {
        let value =
            json!({"title": "Dune", "tags": ["é", "👩"], "deep": {"a": 1, "b": null}, "": ""});
        let text = reordered(&value);
        assert_ne!(text, value.to_string());
        assert!(text.find("deep") < text.find("itle"), "{text}");
        assert!(text.contains("\\u0044une"), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
    }

    #[test]
    fn doubled_names_are_written_as_they_are() {
        let schema = object(json!({"properties": {"n": {"type": "integer"}}}));
        let [one, two] = doubled(&schema, &object(json!({"n": 1, "x": "y"}))).expect("doubled");
        assert_eq!(one, r#"{"n":1,"n":2,"x":"y"}"#);
        assert_eq!(two, r#"{"n":2,"n":1,"x":"y"}"#);
        let closed = object(json!({"additionalProperties": false}));
        assert_eq!(doubled(&closed, &Map::new()), None);
        assert!(doubled(&Map::new(), &Map::new()).is_some());
    }

    #[test]
    fn other_arguments_are_allowed() {
        let schema = object(json!({"properties":
            {"env": {"enum": ["dev", "prod"]}, "force": {"type": "boolean"}}}));
        let others = others(&schema, &object(json!({"env": "prod"})));
        assert_eq!(others[0].1, object(json!({"env": "dev"})));
        assert_eq!(others[1].1, object(json!({"env": "prod", "force": true})));
    }

    #[test]
    fn another_tool_gets_the_same_arguments_where_it_can() {
        let ours = object(json!({"title": "Dune", "copies": 2}));
        let open = object(json!({"properties": {"title": {"type": "string"}}}));
        assert_eq!(fitted(&open, &ours), ours);
        let closed = object(
            json!({"additionalProperties": false, "required": ["id", "title"],
            "properties": {"title": {"type": "string"}, "id": {"type": "integer"}}}),
        );
        assert_eq!(
            fitted(&closed, &ours),
            object(json!({"title": "Dune", "id": 1}))
        );
    }

    #[test]
    fn big_numbers_go_where_numbers_go() {
        let schema =
            object(json!({"properties": {"s": {"type": "string"}, "n": {"type": "integer"}}}));
        let (is_known, [one, two]) = big(&schema, &Map::new()).expect("a number");
        assert!(is_known && one["n"] != two["n"]);
        let schema = object(json!({"additionalProperties": false,
            "properties": {"n": {"type": "integer", "maximum": 9}}}));
        assert!(big(&schema, &Map::new()).is_none());
        assert!(big(&Map::new(), &Map::new()).is_some_and(|(is_known, _)| !is_known));
    }
}
