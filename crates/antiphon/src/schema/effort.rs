//! What it takes the validator to explain an error, found out beforehand.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::forms::{Fit, Forms};
use super::keywords::referred;

type Cost = usize;

/// Explanations that take more are not asked for. One is a node of the value that the validator
/// looks at, and may have to copy, for one schema.
pub(super) const MAX_COST: Cost = 50_000;

/// So much of a text counts as much as a node.
const TEXT: usize = 64;

/// Names of members are checked as any short string.
static NAME: Value = Value::String(String::new());

/// How alternatives are explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Mode {
    /// Every one of them.
    Each,
    /// The one that a value looks like, if there is just one. As in a schema from
    /// [`narrowed`](super::narrow::narrowed).
    Likely,
}

/// Whether explaining what is wrong with a value stays below [`MAX_COST`]. Takes no longer than
/// that to find out.
///
/// An explanation holds one for every alternative, and so on below: without a limit there are
/// branches^depth of them.
pub(super) fn is_cheap(root: &Value, value: &Value, mode: Mode) -> bool {
    let mut effort = Effort {
        root,
        resolves: !has_inner_id(root, true),
        known: HashMap::new(),
        weights: HashMap::new(),
        forms: HashMap::new(),
        visits: 0,
    };
    effort.cost(root, value, mode) <= MAX_COST
}

struct Effort<'s> {
    root: &'s Value,
    /// Whether a reference that starts with `#` starts at the root.
    resolves: bool,
    /// By the addresses of schema and value.
    known: HashMap<(usize, usize, Mode), Cost>,
    weights: HashMap<usize, Cost>,
    forms: HashMap<usize, Forms<'s>>,
    visits: usize,
}

impl<'s> Effort<'s> {
    fn cost(&mut self, schema: &'s Value, value: &Value, mode: Mode) -> Cost {
        let Value::Object(keywords) = schema else {
            return 1;
        };
        let key = (address(schema), address(value), mode);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        self.visits += 1;
        // Every visit adds to the cost of the whole.
        if self.visits > MAX_COST {
            return Cost::MAX;
        }
        // A circle that never gets deeper into the value ends here.
        self.known.insert(key, 1);
        let mut cost = self.weight(value);
        for (keyword, said) in keywords {
            let more = self.keyword(keywords, keyword, said, value, mode);
            cost = cost.saturating_add(more);
            if cost > MAX_COST {
                break;
            }
        }
        self.known.insert(key, cost);
        cost
    }

    fn keyword(
        &mut self,
        schema: &'s Map<String, Value>,
        keyword: &str,
        said: &'s Value,
        value: &Value,
        mode: Mode,
    ) -> Cost {
        match (keyword, said) {
            ("$ref", Value::String(reference)) => {
                match referred(self.root, reference).filter(|_| self.resolves) {
                    Some(target) => self.cost(target, value, mode),
                    None => self.worst(value),
                }
            }
            ("$dynamicRef" | "$recursiveRef", _) => self.worst(value),
            ("oneOf" | "anyOf", Value::Array(forms)) if forms.len() > 1 && mode == Mode::Likely => {
                let known = self.forms.entry(address(said));
                match (known.or_insert_with(|| Forms::of(self.root, forms))).fit(value) {
                    Fit::None => 1,
                    Fit::One(at) => self.cost(&forms[at], value, mode),
                    Fit::Many => self.all(forms, value, Mode::Each),
                }
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => self.all(schemas, value, mode),
            ("then" | "else", _) => self.cost(said, value, mode),
            ("dependentSchemas" | "dependencies", Value::Object(schemas)) => {
                self.all(schemas.values(), value, mode)
            }
            _ => match value {
                Value::Array(items) => self.items(keyword, said, items, mode),
                Value::Object(members) => self.members(schema, keyword, said, members, mode),
                _ => 0,
            },
        }
    }

    fn items(&mut self, keyword: &str, said: &'s Value, items: &[Value], mode: Mode) -> Cost {
        match (keyword, said) {
            ("prefixItems" | "items", Value::Array(schemas)) => {
                let pairs = schemas.iter().zip(items);
                self.sum(pairs, mode)
            }
            ("items" | "additionalItems" | "unevaluatedItems" | "contains", _) => {
                self.sum(items.iter().map(|item| (said, item)), mode)
            }
            _ => 0,
        }
    }

    fn members(
        &mut self,
        schema: &'s Map<String, Value>,
        keyword: &str,
        said: &'s Value,
        members: &Map<String, Value>,
        mode: Mode,
    ) -> Cost {
        match (keyword, said) {
            ("properties", Value::Object(schemas)) => {
                let pairs = members.iter().filter_map(|(name, member)| {
                    let schema = schemas.get(name)?;
                    Some((schema, member))
                });
                self.sum(pairs, mode)
            }
            ("additionalProperties", _) => {
                let known = schema.get("properties").and_then(Value::as_object);
                let is_known = |name: &String| known.is_some_and(|it| it.contains_key(name));
                let others = members.iter().filter(|(name, _)| !is_known(name));
                self.sum(others.map(|(_, member)| (said, member)), mode)
            }
            // Which members a pattern is for is not worth finding out.
            ("patternProperties", Value::Object(schemas)) => {
                let pairs = schemas.values().flat_map(|schema| {
                    let members = members.values();
                    members.map(move |member| (schema, member))
                });
                self.sum(pairs, mode)
            }
            ("unevaluatedProperties", _) => {
                self.sum(members.values().map(|member| (said, member)), mode)
            }
            ("propertyNames", _) => {
                let name = self.cost(said, &NAME, mode);
                name.saturating_mul(members.len())
            }
            _ => 0,
        }
    }

    fn all(
        &mut self,
        schemas: impl IntoIterator<Item = &'s Value>,
        value: &Value,
        mode: Mode,
    ) -> Cost {
        self.sum(schemas.into_iter().map(|schema| (schema, value)), mode)
    }

    fn sum<'v>(&mut self, pairs: impl Iterator<Item = (&'s Value, &'v Value)>, mode: Mode) -> Cost {
        let mut sum: Cost = 0;
        for (schema, value) in pairs {
            sum = sum.saturating_add(self.cost(schema, value, mode));
            if sum > MAX_COST {
                break;
            }
        }
        sum
    }

    /// Where a reference leads somewhere unknown: through every alternative there is, at every
    /// depth.
    fn worst(&mut self, value: &Value) -> Cost {
        let branches = branches(self.root).max(1);
        let depth = u32::try_from(depth(value)).unwrap_or(u32::MAX);
        (branches.saturating_pow(depth)).saturating_mul(self.weight(value))
    }

    /// How much of a copy a value makes.
    fn weight(&mut self, value: &Value) -> Cost {
        let below = match value {
            Value::String(text) => return 1 + text.len() / TEXT,
            Value::Null | Value::Bool(_) | Value::Number(_) => return 1,
            Value::Array(_) | Value::Object(_) => self.weights.get(&address(value)),
        };
        if let Some(known) = below {
            return *known;
        }
        let mut weight = 1;
        for below in children(value) {
            weight += self.weight(below);
        }
        self.weights.insert(address(value), weight);
        weight
    }
}

fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => Box::new(std::iter::empty()),
    }
}

fn depth(value: &Value) -> usize {
    1 + children(value).map(depth).max().unwrap_or(0)
}

/// How many branches a schema has, wherever.
fn branches(schema: &Value) -> usize {
    let here = ["allOf", "anyOf", "oneOf"].iter();
    let here = here.filter_map(|it| Some(schema.get(*it)?.as_array()?.len()));
    here.sum::<usize>() + children(schema).map(branches).sum::<usize>()
}

/// Whether there is a schema within with an address of its own, at which its references start.
fn has_inner_id(schema: &Value, is_root: bool) -> bool {
    let has_id = |it: &Value| {
        it.get("$id")
            .or_else(|| it.get("id"))
            .is_some_and(Value::is_string)
    };
    !is_root && has_id(schema) || children(schema).any(|it| has_inner_id(it, false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tree(keyword: &str) -> Value {
        let node = |op: &str| {
            json!({
                "type": "object",
                "properties": {
                    "op": {"const": op},
                    "of": {"type": "array", "items": {"$ref": "#"}},
                },
                "required": ["op", "of"],
            })
        };
        json!({keyword: [node("and"), node("or"), node("not")]})
    }

    fn nested(depth: usize) -> Value {
        (0..depth).fold(json!(1), |inner, _| json!({"op": "or", "of": [inner]}))
    }

    #[test]
    fn nested_alternatives_multiply_unless_one_is_likely() {
        for keyword in ["oneOf", "anyOf"] {
            let tree = tree(keyword);
            assert!(is_cheap(&tree, &nested(3), Mode::Each));
            assert!(!is_cheap(&tree, &nested(10), Mode::Each));
            assert!(is_cheap(&tree, &nested(40), Mode::Likely));
        }
    }

    #[test]
    fn so_do_repeated_demands() {
        let again = json!({"$ref": "#"});
        let schema = json!({"allOf": [{"items": again}, {"items": again}]});
        let nested = |depth| (0..depth).fold(json!(1), |inner, _| json!([inner]));
        assert!(is_cheap(&schema, &nested(5), Mode::Likely));
        assert!(!is_cheap(&schema, &nested(30), Mode::Likely));
    }

    #[test]
    fn references_to_somewhere_unknown_are_taken_for_the_worst() {
        let mut schema = tree("oneOf");
        schema["$anchor"] = json!("tree");
        let mut dynamic = schema.clone();
        for node in schema["oneOf"].as_array_mut().unwrap() {
            node["properties"]["of"]["items"] = json!({"$ref": "#tree"});
        }
        for node in dynamic["oneOf"].as_array_mut().unwrap() {
            node["properties"]["of"]["items"] = json!({"$dynamicRef": "#"});
        }
        let mut elsewhere = json!({"properties": {"a": tree("oneOf")}});
        elsewhere["properties"]["a"]["$id"] = json!("https://example.org/tree");
        for schema in [&schema, &dynamic] {
            assert!(is_cheap(schema, &nested(2), Mode::Each));
            assert!(!is_cheap(schema, &nested(10), Mode::Each));
        }
        assert!(!is_cheap(&elsewhere, &json!({"a": nested(10)}), Mode::Each));
    }

    #[test]
    fn what_is_long_but_flat_is_cheap() {
        let schema = json!({
            "properties": {"list": {"items": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
            "additionalProperties": false,
        });
        assert!(is_cheap(
            &schema,
            &json!({"list": vec![0; 4000]}),
            Mode::Each
        ));
    }

    #[test]
    fn circles_end() {
        let schema = json!({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {
            "a": {"$ref": "#/$defs/b"},
            "b": {"$ref": "#/$defs/a"},
        }});
        assert!(is_cheap(&schema, &json!({"a": 1}), Mode::Each));
    }
}
