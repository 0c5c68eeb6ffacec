//! The members a definition names, and those its samples have.

use std::collections::BTreeSet;

use serde_json::Value;

/// Paths of the members that `schema` names, such as `params.name`; what it
/// refers to is left to the definition referred to.
pub(crate) fn named(schema: &Value) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    walk(schema, None, "", &mut paths);
    paths
}

/// Those of the named members that `sample` has.
pub(crate) fn present(schema: &Value, sample: &Value) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    walk(schema, Some(sample), "", &mut paths);
    paths
}

fn walk(schema: &Value, sample: Option<&Value>, prefix: &str, paths: &mut BTreeSet<String>) {
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{prefix}{name}");
        match sample.map(|sample| sample.get(name)) {
            Some(None) => continue,
            inner => walk(member, inner.flatten(), &format!("{path}."), paths),
        }
        paths.insert(path);
    }
    if let Some(items) = schema.get("items") {
        match sample {
            None => walk(items, None, prefix, paths),
            Some(sample) => {
                let sample = sample.as_array().into_iter().flatten();
                sample.for_each(|item| walk(items, Some(item), prefix, paths));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_are_found_at_every_depth() {
        let schema = json!({"properties": {
            "ship": {"properties": {"name": {}, "flag": {}}},
            "berths": {"items": {"properties": {"id": {}, "depth": {}}}},
            "pilot": {"$ref": "#/$defs/Pilot"},
        }});
        let all = [
            "berths",
            "berths.depth",
            "berths.id",
            "pilot",
            "ship",
            "ship.flag",
            "ship.name",
        ];
        assert!(named(&schema).iter().eq(all));
        let sample = json!({"ship": {"name": "Aurora"}, "berths": [{"id": 1}], "crew": 3});
        let some = ["berths", "berths.id", "ship", "ship.name"];
        assert!(present(&schema, &sample).iter().eq(some));
    }
}
