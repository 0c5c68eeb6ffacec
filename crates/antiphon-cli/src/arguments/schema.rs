//! What a JSON Schema lets a value be, as far as typing a text needs it.

use std::cell::Cell;

use serde_json::{Map, Value};

use crate::printable;

type Object = Map<String, Value>;

/// So many subschemas are looked at to find one answer: a schema may refer to itself.
const MOST: u32 = 10_000;

/// References and alternatives inside one another are followed so deep.
const DEEPEST: u32 = 32;

/// A form that a value may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape<'a> {
    /// One of these values.
    Only(&'a [Value]),
    Integer,
    Number,
    Boolean,
    Null,
    /// A list, and what its items must be.
    List(Option<&'a Value>),
    Object,
    String,
    /// Nothing is said.
    Any,
}

/// A schema, with what its references lead to.
pub(super) struct Schema<'a> {
    root: &'a Object,
    left: Cell<u32>,
}

impl<'a> Schema<'a> {
    pub(super) fn new(root: &'a Object) -> Self {
        let left = Cell::new(MOST);
        Self { root, left }
    }

    /// What a value of any of these schemas may be, in their order; never empty.
    pub(super) fn shapes(&self, schemas: &[&'a Value]) -> Vec<Shape<'a>> {
        self.left.set(MOST);
        let mut shapes = Vec::new();
        for schema in schemas {
            self.add_shapes(schema, None, DEEPEST, &mut shapes);
        }
        if shapes.is_empty() {
            shapes.push(Shape::Any);
        }
        shapes
    }

    /// How a list of objects is written, if this is one; goes on after what is wrong.
    pub(super) fn in_json(&self, shapes: &[Shape<'a>], name: &str) -> String {
        let items = shapes.iter().find_map(|shape| match shape {
            Shape::List(items) => *items,
            _ => None,
        });
        match items.is_some_and(|items| self.shapes(&[items]).contains(&Shape::Object)) {
            true => format!("; write {}:='[{{…}}]'", printable::excerpt(name, 60)),
            false => String::new(),
        }
    }

    /// What the schema as a whole says of members.
    pub(super) fn members(&self) -> Members<'a> {
        self.left.set(MOST);
        let mut members = Members::default();
        members.closed = self.add_members(self.root, DEEPEST, &mut members);
        members
    }

    /// What any of these schemas says of members.
    pub(super) fn members_of(&self, schemas: &[&'a Value]) -> Members<'a> {
        self.left.set(MOST);
        let mut members = Members::default();
        let mut closed = !schemas.is_empty();
        for schema in schemas {
            let object = schema.as_object();
            closed &= object.is_some_and(|object| self.add_members(object, DEEPEST, &mut members));
        }
        members.closed = closed;
        members
    }

    fn add_shapes(
        &self,
        schema: &'a Value,
        outer: Option<&'a Value>,
        depth: u32,
        into: &mut Vec<Shape<'a>>,
    ) {
        let Some(object) = schema.as_object().filter(|_| depth > 0 && self.spend()) else {
            return into.push(Shape::Any);
        };
        if let Some(values) = object.get("enum").and_then(Value::as_array) {
            return into.push(Shape::Only(values));
        }
        if let Some(value) = object.get("const") {
            return into.push(Shape::Only(std::slice::from_ref(value)));
        }
        let kind = object.get("type").or(outer);
        if let Some(target) = self.target(object) {
            return self.add_shapes(target, kind, depth - 1, into);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(choices) = list(object, keyword) {
                for choice in choices {
                    self.add_shapes(choice, kind, depth - 1, into);
                }
                return;
            }
        }
        if let Some(kind) = kind {
            return add_kinds(kind, object, into);
        }
        if let Some(parts) = list(object, "allOf") {
            let start = into.len();
            for part in parts {
                self.add_shapes(part, None, depth - 1, into);
            }
            // Parts that say nothing of it leave the word to the others.
            if into[start..].iter().any(|shape| *shape != Shape::Any) {
                let mut at = 0;
                into.retain(|shape| {
                    at += 1;
                    at <= start || *shape != Shape::Any
                });
            }
            return;
        }
        into.push(if object.contains_key("properties") {
            Shape::Object
        } else if object.contains_key("items") {
            Shape::List(object.get("items"))
        } else {
            Shape::Any
        });
    }

    /// Whether it takes no other members.
    fn add_members(&self, object: &'a Object, depth: u32, into: &mut Members<'a>) -> bool {
        if depth == 0 || !self.spend() {
            return false;
        }
        into.objects.push(object);
        let is_false = |keyword| object.get(keyword) == Some(&Value::Bool(false));
        let mut closed = (is_false("additionalProperties") || is_false("unevaluatedProperties"))
            && !object.contains_key("patternProperties");
        if let Some(target) = self.target(object).and_then(Value::as_object) {
            closed |= self.add_members(target, depth - 1, into);
        }
        for part in list(object, "allOf").into_iter().flatten() {
            if let Some(part) = part.as_object() {
                closed |= self.add_members(part, depth - 1, into);
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            let choices = list(object, keyword).into_iter().flatten();
            // Those that are no objects have no say in this.
            let choices = choices.filter_map(Value::as_object);
            let choices = choices.filter(|choice| {
                matches!(choice.get("type"), None | Some(Value::Array(_)))
                    || choice.get("type").is_some_and(|kind| kind == "object")
            });
            let closes: Vec<_> = choices
                .map(|choice| self.add_members(choice, depth - 1, into))
                .collect();
            closed |= !closes.is_empty() && closes.iter().all(|closed| *closed);
        }
        closed
    }

    /// Where a reference within the schema leads to.
    fn target(&self, object: &'a Object) -> Option<&'a Value> {
        let pointer = object.get("$ref")?.as_str()?.strip_prefix("#/")?;
        let mut words = pointer.split('/').map(|word| {
            let word = percent_encoding::percent_decode_str(word).decode_utf8_lossy();
            word.replace("~1", "/").replace("~0", "~")
        });
        let first = self.root.get(&words.next()?)?;
        words.try_fold(first, |value, word| match value {
            Value::Object(object) => object.get(&word),
            Value::Array(items) => items.get(word.parse::<usize>().ok()?),
            _ => None,
        })
    }

    fn spend(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }
}

/// What a schema says of the members of an object.
#[derive(Default)]
pub(super) struct Members<'a> {
    objects: Vec<&'a Object>,
    closed: bool,
}

impl<'a> Members<'a> {
    /// Whether there are no others than the named ones.
    pub(super) fn are_all(&self) -> bool {
        self.closed
    }

    /// The named ones, each once.
    pub(super) fn names(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in self.properties().flatten() {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    /// What the one of this name must be; nothing, if it is not named.
    pub(super) fn schemas(&self, name: &str) -> Vec<&'a Value> {
        let named = self.properties().filter_map(|members| members.get(name));
        named.collect()
    }

    /// What those must be that are not named.
    pub(super) fn others(&self) -> Vec<&'a Value> {
        let objects = self.objects.iter();
        let others = objects.filter_map(|object| object.get("additionalProperties"));
        others.filter(|schema| schema.is_object()).collect()
    }

    fn properties(&self) -> impl Iterator<Item = &'a Object> {
        let objects = self.objects.iter();
        objects.filter_map(|object| object.get("properties")?.as_object())
    }
}

fn list<'a>(object: &'a Object, keyword: &str) -> Option<&'a Vec<Value>> {
    let list = object.get(keyword)?.as_array()?;
    (!list.is_empty()).then_some(list)
}

fn add_kinds<'a>(kind: &'a Value, object: &'a Object, into: &mut Vec<Shape<'a>>) {
    let kinds = match kind {
        Value::Array(kinds) => kinds.as_slice(),
        kind => std::slice::from_ref(kind),
    };
    into.extend(kinds.iter().map(|kind| match kind.as_str() {
        Some("integer") => Shape::Integer,
        Some("number") => Shape::Number,
        Some("boolean") => Shape::Boolean,
        Some("null") => Shape::Null,
        Some("array") => Shape::List(object.get("items")),
        Some("object") => Shape::Object,
        Some("string") => Shape::String,
        _ => Shape::Any,
    }));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: &Value) -> &Object {
        value.as_object().expect("an object")
    }

    #[test]
    fn shapes_are_found_behind_references_and_alternatives() {
        let (a, whole) = (json!(["a", 1]), json!({"type": "integer"}));
        let values = a.as_array().expect("a list");
        let text = json!("t");
        for (schema, expected) in [
            (json!({}), vec![Shape::Any]),
            (json!(true), vec![Shape::Any]),
            (json!({"type": "integer"}), vec![Shape::Integer]),
            (
                json!({"type": ["string", "null"]}),
                vec![Shape::String, Shape::Null],
            ),
            (
                json!({"type": "string", "enum": ["a", 1]}),
                vec![Shape::Only(values)],
            ),
            (
                json!({"type": "string", "oneOf": [{"const": "t", "title": "T"}]}),
                vec![Shape::Only(std::slice::from_ref(&text))],
            ),
            (json!({"$ref": "#/$defs/count"}), vec![Shape::Integer]),
            (
                json!({"anyOf": [{"$ref": "#/$defs/count"}, {"type": "null"}]}),
                vec![Shape::Integer, Shape::Null],
            ),
            (
                json!({"allOf": [{"$ref": "#/$defs/count"}, {"minimum": 1}]}),
                vec![Shape::Integer],
            ),
            (
                json!({"type": "integer", "anyOf": [{"minimum": 1}]}),
                vec![Shape::Integer],
            ),
            (
                json!({"items": {"type": "integer"}}),
                vec![Shape::List(Some(&whole))],
            ),
            (json!({"type": "array"}), vec![Shape::List(None)]),
            (json!({"properties": {}}), vec![Shape::Object]),
            (json!({"$ref": "#/$defs/a~1b%20c"}), vec![Shape::Boolean]),
            (json!({"$ref": "#/$defs/none"}), vec![Shape::Any]),
            (json!({"$ref": "https://example.com/x"}), vec![Shape::Any]),
            (json!({"$ref": "#/$defs/loop"}), vec![Shape::Any]),
            (json!({"type": "colour"}), vec![Shape::Any]),
        ] {
            let root = json!({"$defs": {
                "count": {"type": "integer"},
                "a/b c": {"type": "boolean"},
                "loop": {"$ref": "#/$defs/loop"},
            }});
            let found = Schema::new(object(&root)).shapes(&[&schema]) == expected;
            assert!(found, "{schema}");
        }
    }

    #[test]
    fn a_schema_that_doubles_with_each_step_ends() {
        let twice = json!({"anyOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}]});
        let root = json!({"$defs": {"x": twice}, "$ref": "#/$defs/x"});
        let schema = Schema::new(object(&root));
        assert!(schema.shapes(&[&root]).len() < 2 * MOST as usize);
        assert!(!schema.members().are_all());
    }

    #[test]
    fn members_are_gathered_from_all_parts() {
        let root = json!({
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "allOf": [{"properties": {"b": {"type": "string"}, "a": {"minLength": 1}}}],
            "oneOf": [
                {"properties": {"c": {"const": 1}}, "additionalProperties": false},
                {"properties": {"c": {"const": 2}}},
            ],
        });
        let schema = Schema::new(object(&root));
        let members = schema.members();
        assert_eq!(members.names(), ["a", "b", "c"]);
        assert_eq!(members.schemas("c").len(), 2);
        assert!(members.schemas("d").is_empty());
        assert!(!members.are_all(), "the second choice is open");
    }

    #[test]
    fn others_are_refused_only_if_all_refuse_them() {
        let closed = json!({"additionalProperties": false});
        for (root, expected) in [
            (json!({}), false),
            (closed.clone(), true),
            (json!({"unevaluatedProperties": false}), true),
            (
                json!({"additionalProperties": false, "patternProperties": {"^x": {}}}),
                false,
            ),
            (json!({"allOf": [closed, {}]}), true),
            (json!({"anyOf": [closed, {"type": "null"}]}), true),
            (json!({"anyOf": [closed, {"type": "object"}]}), false),
            (json!({"$defs": {"c": closed}, "$ref": "#/$defs/c"}), true),
        ] {
            let members = Schema::new(object(&root)).members().are_all();
            assert_eq!(members, expected, "{root}");
        }
    }
}
