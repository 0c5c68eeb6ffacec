//! A schema that says the same in a way that is cheaper to explain.

use serde_json::{Map, Value, json};

use super::forms::Forms;

/// Rewrites a schema so that a value which looks like just one of some alternatives is compared
/// with that one only.
///
/// None for dialects in which that cannot be said, or in which nothing counts beside a `$ref`.
pub(super) fn narrowed(root: &Value) -> Option<Value> {
    let dialect = root.get("$schema").and_then(Value::as_str);
    let knows = |it: &str| it.contains("/2019-09/") || it.contains("/2020-12/");
    (dialect.is_none_or(knows)).then(|| schema(root, root))
}

fn schema(root: &Value, from: &Value) -> Value {
    let Value::Object(keywords) = from else {
        return from.clone();
    };
    let mut narrowed = Map::new();
    let mut more = Vec::new();
    for (keyword, said) in keywords {
        match (keyword.as_str(), said) {
            ("oneOf" | "anyOf", Value::Array(forms)) if forms.len() > 1 => {
                let told = Forms::of(root, forms);
                let narrowed = forms.iter().map(|it| schema(root, it)).collect();
                more.push(told.told_apart(&json!({keyword: forms}), narrowed));
            }
            _ => {
                narrowed.insert(keyword.clone(), below(root, keyword, said));
            }
        }
    }
    if !more.is_empty() {
        let all = narrowed.entry("allOf").or_insert_with(|| json!([]));
        // Anything else would not have been a schema.
        if let Value::Array(all) = all {
            all.append(&mut more);
        }
    }
    Value::Object(narrowed)
}

/// What a keyword says, with the schemas that a value is held against.
fn below(root: &Value, keyword: &str, said: &Value) -> Value {
    match (keyword, said) {
        ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
            schemas.iter().map(|it| schema(root, it)).collect()
        }
        (
            "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties",
            Value::Object(schemas),
        ) => {
            let schemas = schemas.iter();
            let narrowed = schemas.map(|(name, it)| (name.clone(), schema(root, it)));
            Value::Object(narrowed.collect())
        }
        (
            "additionalProperties"
            | "else"
            | "items"
            | "then"
            | "unevaluatedItems"
            | "unevaluatedProperties",
            _,
        ) => schema(root, said),
        _ => said.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of every look that the schemas below tell apart, right and wrong.
    fn values() -> Vec<Value> {
        let leaves = [
            json!(null),
            json!(1),
            json!("x"),
            json!("none"),
            json!({}),
            json!({"op": "leaf", "n": 1}),
            json!({"op": "leaf", "n": "x"}),
            json!({"op": "leaf"}),
            json!({"op": "other", "of": []}),
            json!({"n": 1}),
            json!({"and": [], "or": []}),
        ];
        let mut values = leaves.to_vec();
        for inner in &leaves {
            values.push(json!([inner]));
            for other in [&json!(1), inner] {
                values.push(json!({"op": "and", "of": [inner, other]}));
                values.push(json!({"and": [inner]}));
                values.push(json!({"or": [other], "and": [inner]}));
                values.push(json!({"op": "and", "of": [{"op": "or", "of": [inner, other]}]}));
            }
        }
        values
    }

    #[test]
    fn the_same_values_are_valid() {
        let list = json!({"type": "array", "items": {"$ref": "#/$defs/T"}});
        let tagged = |op: &str| {
            json!({
                "type": "object",
                "properties": {"op": {"const": op}, "of": list},
                "required": ["op", "of"],
            })
        };
        let leaf = json!({
            "type": "object",
            "properties": {"op": {"const": "leaf"}, "n": {"type": "integer"}},
            "required": ["op", "n"],
        });
        let untagged =
            |op: &str| json!({"type": "object", "properties": {op: list}, "required": [op]});
        let number = json!({"type": "integer"});
        let trees = [
            json!([tagged("and"), tagged("or"), leaf]),
            json!([tagged("and"), tagged("or"), leaf, number, {"const": "none"}]),
            json!([untagged("and"), untagged("or"), number]),
            json!([untagged("and"), {"type": "object"}, list, {"type": ["null", "string"]}]),
            json!([{"required": ["op"]}, {"minProperties": 2}, number]),
        ];
        for forms in trees {
            for keyword in ["oneOf", "anyOf"] {
                let root = json!({
                    "$ref": "#/$defs/T",
                    "$defs": {"T": {keyword: forms, "allOf": [true], "maxProperties": 3}},
                });
                let rewritten = narrowed(&root).expect("a known dialect");
                let before = jsonschema::validator_for(&root).unwrap();
                let after = jsonschema::validator_for(&rewritten).unwrap();
                let mut valid = 0;
                for value in values() {
                    assert_eq!(
                        before.is_valid(&value),
                        after.is_valid(&value),
                        "{root}: {value}"
                    );
                    valid += usize::from(before.is_valid(&value));
                }
                assert!(valid > 0, "{root}");
            }
        }
    }

    #[test]
    fn members_that_are_named_like_keywords_stay() {
        let root = json!({
            "properties": {"oneOf": {"type": "array"}, "anyOf": {"const": {"oneOf": [1, 2]}}},
            "default": {"oneOf": [1, 2]},
        });
        assert_eq!(narrowed(&root), Some(root));
    }

    #[test]
    fn old_dialects_are_left_alone() {
        let old = json!({"$schema": "http://json-schema.org/draft-07/schema#"});
        assert_eq!(narrowed(&old), None);
        let new = json!({"$schema": "https://json-schema.org/draft/2020-12/schema"});
        assert_eq!(narrowed(&new), Some(new));
    }
}
