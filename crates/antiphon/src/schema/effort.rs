//! What it takes the validator to explain an error, found out beforehand.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::forms::{Fit, Forms};
use super::keywords::{is_annotation, referred};

type Cost = usize;

/// Explanations that take more are not asked for. One is what it takes to look at a node of the
/// value, or to copy it: at most 200 bytes.
pub(super) const MAX_COST: Cost = 100_000;

/// What an error takes, beside the value and the path it is about.
const ERROR: Cost = 3;

/// So much of a text counts as much as a node.
const TEXT: usize = 64;

/// What an index in a path takes, about.
const INDEX: usize = 4;

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
    /// Not at all: it is only found out whether there is an error.
    Silent,
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
        sizes: HashMap::new(),
        forms: HashMap::new(),
        visits: 0,
    };
    effort.measure(value, 0);
    effort.cost(root, value, mode) <= MAX_COST
}

struct Effort<'s> {
    root: &'s Value,
    /// Whether a reference that starts with `#` starts at the root.
    resolves: bool,
    /// By the addresses of schema and value.
    known: HashMap<(usize, usize, Mode), Cost>,
    /// By the address of the value.
    sizes: HashMap<usize, Size>,
    forms: HashMap<usize, Forms<'s>>,
    visits: usize,
}

impl<'s> Effort<'s> {
    fn cost(&mut self, schema: &'s Value, value: &Value, mode: Mode) -> Cost {
        let Value::Object(keywords) = schema else {
            return ERROR;
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
        let size = self.size(value);
        let error = match mode {
            Mode::Each => ERROR + size.place + size.copy,
            Mode::Likely => ERROR + size.place,
            Mode::Silent => 0,
        };
        let errors = keywords.iter().map(|(it, said)| errors(it, said, value));
        let mut cost = 1 + error.saturating_mul(errors.sum());
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
                    Fit::None => ERROR,
                    Fit::One(at) => self.cost(&forms[at], value, mode),
                    Fit::Many => self.all(forms, value, Mode::Each),
                }
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => self.all(schemas, value, mode),
            ("then" | "else", _) => self.cost(said, value, mode),
            // What they find is no error, but it is looked for.
            ("if" | "not", _) if mode == Mode::Silent => self.cost(said, value, mode),
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
    fn worst(&self, value: &Value) -> Cost {
        let branches = branches(self.root).max(1);
        let depth = u32::try_from(depth(value)).unwrap_or(u32::MAX);
        (branches.saturating_pow(depth)).saturating_mul(self.size(value).copy)
    }

    /// Finds out the sizes of a value, which is `path` bytes deep, and of all below.
    fn measure(&mut self, value: &Value, path: usize) -> Cost {
        let mut copy = 1;
        match value {
            Value::Array(items) => {
                for item in items {
                    copy += self.measure(item, path + INDEX);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    copy += name.len() / TEXT;
                    copy += self.measure(member, path + 1 + name.len());
                }
            }
            Value::String(text) => copy += text.len() / TEXT,
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        let place = 1 + path / TEXT;
        self.sizes.insert(address(value), Size { copy, place });
        copy
    }

    fn size(&self, value: &Value) -> Size {
        let known = self.sizes.get(&address(value)).copied();
        known.unwrap_or(Size { copy: 1, place: 1 })
    }
}

/// What an error takes.
#[derive(Debug, Clone, Copy)]
struct Size {
    /// The value, which is copied for all errors within an alternative.
    copy: Cost,
    /// Its path.
    place: Cost,
}

/// How many errors a keyword may make of a value, not counting those below.
fn errors(keyword: &str, said: &Value, value: &Value) -> usize {
    let count = match keyword {
        "$anchor"
        | "$dynamicRef"
        | "$id"
        | "$recursiveRef"
        | "$ref"
        | "additionalProperties"
        | "allOf"
        | "definitions"
        | "else"
        | "if"
        | "items"
        | "patternProperties"
        | "prefixItems"
        | "properties"
        | "then" => false,
        "const" => said != value,
        "enum" => !said.as_array().is_some_and(|it| it.contains(value)),
        "required" => {
            let names = said.as_array().map_or(&[][..], Vec::as_slice).iter();
            let names = names.filter_map(Value::as_str);
            let members = value.as_object();
            return members.map_or(0, |it| names.filter(|name| !it.contains_key(*name)).count());
        }
        "type" => !is_of(said, value),
        _ => !is_annotation(keyword),
    };
    usize::from(count)
}

/// Whether a value is certainly of a type.
fn is_of(said: &Value, value: &Value) -> bool {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is = |name: &Value| name == kind || (name == "number" && kind == "integer");
    match said {
        Value::Array(names) => names.iter().any(is),
        name => is(name),
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
