//! [`Foreign`]: schemas that a stranger wrote, who may be out to keep us busy.

use std::{collections::HashMap, sync::OnceLock};

use serde_json::{Map, Value};

use super::{Checker, Violations, effort::is_affordable, keywords::referred};

/// Larger schemas are not read.
const MAX_NODES: usize = 100_000;

/// Nor those with more patterns.
const MAX_PATTERNS: usize = 200;

/// Nor those in which schemas and references are nested deeper.
const MAX_DEPTH: usize = 200;

/// A schema of a stranger, which is read when the first value comes.
#[derive(Debug)]
pub(crate) struct Foreign {
    checker: Checker,
    tame: OnceLock<bool>,
}

impl Foreign {
    /// The schema of a result.
    pub(crate) fn new(schema: &Map<String, Value>) -> Self {
        Self {
            checker: Checker::foreign(schema, false),
            tame: OnceLock::new(),
        }
    }

    /// The schema of a form, in which `format` is a rule.
    pub(crate) fn form(schema: &Map<String, Value>) -> Self {
        Self {
            checker: Checker::foreign(schema, true),
            tame: OnceLock::new(),
        }
    }

    /// What the schema forbids about a value; none if it is wrong itself, or it would take too
    /// long to find out.
    pub(crate) fn violations(&self, value: &Value) -> Option<Violations> {
        let schema = self.checker.schema();
        let tame = self.tame.get_or_init(|| Survey::of(schema));
        let checked = *tame && is_affordable(schema, value) && self.checker.is_usable();
        checked.then(|| self.checker.violations(value))
    }
}

/// A look at a schema before it is compiled, which follows every reference.
struct Survey<'s> {
    root: &'s Value,
    /// How deep it goes below each, by address; none while that is not known.
    depths: HashMap<usize, Option<usize>>,
    patterns: usize,
}

impl<'s> Survey<'s> {
    /// Whether it can be compiled soon.
    fn of(root: &'s Value) -> bool {
        let mut survey = Self {
            root,
            depths: HashMap::new(),
            patterns: 0,
        };
        let depth = survey.depth(root, 0);
        depth.is_some() && survey.patterns <= MAX_PATTERNS
    }

    /// How deep a schema is; none if it is too much for anybody.
    fn depth(&mut self, schema: &'s Value, above: usize) -> Option<usize> {
        let address = std::ptr::from_ref(schema).addr();
        match self.depths.get(&address) {
            // A circle goes no deeper.
            Some(known) => return Some(known.unwrap_or(0)).filter(|it| above + it <= MAX_DEPTH),
            None if above > MAX_DEPTH || self.depths.len() >= MAX_NODES => return None,
            None => self.depths.insert(address, None),
        };
        let mut deepest = 0;
        match schema {
            Value::Array(items) => {
                for item in items {
                    deepest = deepest.max(self.depth(item, above + 1)?);
                }
            }
            Value::Object(members) => {
                for (keyword, said) in members {
                    match (keyword.as_str(), said) {
                        ("pattern", _) => self.patterns += 1,
                        ("patternProperties", Value::Object(all)) => self.patterns += all.len(),
                        _ => {}
                    }
                    let below = match (keyword.as_str(), said) {
                        ("$ref", Value::String(reference)) => referred(self.root, reference),
                        _ => None,
                    };
                    deepest = deepest.max(self.depth(below.unwrap_or(said), above + 1)?);
                }
            }
            _ => {}
        }
        self.depths.insert(address, Some(deepest + 1));
        Some(deepest + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn checked(schema: &Value, value: &Value) -> Option<bool> {
        let foreign = Foreign::new(schema.as_object().expect("an object"));
        Some(foreign.violations(value)?.is_empty())
    }

    /// Definitions that each refer to the next, in this way.
    fn chain(length: usize, link: impl Fn(Value) -> Value) -> Value {
        let mut defs: Map<_, _> = (0..length)
            .map(|at| {
                let next = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
                (format!("d{at}"), link(next))
            })
            .collect();
        defs.insert(format!("d{length}"), json!({ "type": "integer" }));
        json!({ "$defs": defs, "properties": { "a": { "$ref": "#/$defs/d0" } } })
    }

    #[test]
    fn what_is_usual_is_checked() {
        let tree = json!({ "properties": {
            "name": { "type": "string", "pattern": "^[a-z]+$", "maxLength": 10 },
            "below": { "type": "array", "items": { "$ref": "#" } },
        }, "required": ["name"] });
        let nested = |name: &str| {
            (0..50).fold(
                json!({ "name": name }),
                |inner, _| json!({ "name": "a", "below": [inner] }),
            )
        };
        assert_eq!(checked(&tree, &nested("b")), Some(true));
        assert_eq!(checked(&tree, &nested("B")), Some(false));
        let list = json!({ "properties": { "a": { "items": { "anyOf": [
            { "type": "string" }, { "type": "null" }, { "enum": [1, 2, 3] },
        ] } } } });
        assert_eq!(
            checked(&list, &json!({ "a": vec![3; 100_000] })),
            Some(true)
        );
        assert_eq!(
            checked(&list, &json!({ "a": vec![4; 100_000] })),
            Some(false)
        );
        let chain = chain(20, |next| json!({ "allOf": [next] }));
        assert_eq!(checked(&chain, &json!({ "a": 1 })), Some(true));
        assert_eq!(checked(&chain, &json!({ "a": "1" })), Some(false));
    }

    #[test]
    fn what_takes_too_long_is_left() {
        let value = json!({ "a": 1 });
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let doubled = chain(60, |next| json!({ keyword: [next, next] }));
            assert_eq!(checked(&doubled, &value), None, "{keyword}");
        }
        let asked = chain(60, |next| json!({ "if": next, "then": next, "not": next }));
        assert_eq!(checked(&asked, &value), None);
        let deep = chain(50_000, |next| next);
        assert_eq!(checked(&deep, &value), None);
        assert_eq!(checked(&deep, &json!({})), None);
        let patterns: Vec<_> = (0..1000)
            .map(|at| json!({ "pattern": format!("x{at}") }))
            .collect();
        assert_eq!(checked(&json!({ "anyOf": patterns }), &value), None);
        let many: Vec<_> = (0..10_000)
            .map(|at| json!({ "items": { "minimum": at } }))
            .collect();
        let product = json!({ "properties": { "a": { "allOf": many } } });
        assert_eq!(checked(&product, &json!({ "a": vec![0; 10_000] })), None);
    }

    #[test]
    fn patterns_do_not_try_for_ever() {
        let schema = json!({ "properties": { "a": { "pattern": "^(?=x|(a+)+$)(a+)+$" } } });
        let value = json!({ "a": format!("{}b", "a".repeat(100)) });
        assert_eq!(checked(&schema, &value), Some(false));
    }
}
