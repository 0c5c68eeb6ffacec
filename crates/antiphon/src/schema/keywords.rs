//! Reading schemas: what asserts something, which types are meant, where a `$ref` leads.

use serde_json::{Map, Value};

type Object = Map<String, Value>;

/// A longer chain of references is taken for a circle.
const MAX_REFS: usize = 32;

/// Whether a keyword says nothing about which values are valid.
///
/// `format` is among them: it asserts nothing in 2020-12, nor does a [`Checker`](super::Checker)
/// look at it.
pub(super) fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "$comment"
            | "$defs"
            | "$schema"
            | "default"
            | "deprecated"
            | "description"
            | "examples"
            | "format"
            | "readOnly"
            | "title"
            | "writeOnly"
    ) || keyword.starts_with("x-")
}

/// Whether no keyword but these asserts anything.
pub(super) fn only(schema: &Object, keywords: &[&str]) -> bool {
    (schema.keys()).all(|keyword| is_annotation(keyword) || keywords.contains(&&**keyword))
}

/// Whether every value is valid.
pub(super) fn says_nothing(schema: &Value) -> bool {
    match schema {
        Value::Bool(everything) => *everything,
        Value::Object(schema) => only(schema, &[]),
        _ => false,
    }
}

/// The names under `type`, which is one or a list.
pub(super) fn types(schema: &Object) -> impl Iterator<Item = &str> {
    let named = match schema.get("type") {
        Some(Value::Array(names)) => names.as_slice(),
        Some(name) => std::slice::from_ref(name),
        None => &[],
    };
    named.iter().filter_map(Value::as_str)
}

/// The strings in a list; none if something else is among them.
pub(super) fn names(list: Option<&Value>) -> Option<Vec<&str>> {
    list?.as_array()?.iter().map(Value::as_str).collect()
}

/// The members under a keyword such as `properties`.
pub(super) fn members<'s>(schema: &'s Object, keyword: &str) -> Option<&'s Object> {
    schema.get(keyword).and_then(Value::as_object)
}

/// What a reference within the document refers to. A name that a URI has to escape is not found.
pub(super) fn referred<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    root.pointer(reference.strip_prefix('#')?)
}

/// Follows `$ref` and takes `X` for `anyOf [X, null]`, as long as nothing else is asserted beside
/// them. Says whether null was passed on the way; none if the way leads nowhere.
pub(super) fn followed<'s>(root: &'s Value, from: &'s Value) -> Option<(&'s Value, bool)> {
    let (mut at, mut nullable) = (from, false);
    for _ in 0..MAX_REFS {
        let Value::Object(schema) = at else {
            return Some((at, nullable));
        };
        at = if let Some(reference) = schema.get("$ref") {
            if !only(schema, &["$ref"]) {
                return None;
            }
            referred(root, reference.as_str()?)?
        } else if let Some(inner) = unless_null(schema) {
            nullable = true;
            inner
        } else {
            return Some((at, nullable));
        };
    }
    None
}

/// `X` of `anyOf [X, null]`.
fn unless_null(schema: &Object) -> Option<&Value> {
    if !only(schema, &["anyOf"]) {
        return None;
    }
    let [one, other] = schema.get("anyOf")?.as_array()?.as_slice() else {
        return None;
    };
    let is_null = |branch: &Value| {
        (branch.as_object()).is_some_and(|it| only(it, &["type"]) && types(it).eq(["null"]))
    };
    match (is_null(one), is_null(other)) {
        (false, true) => Some(one),
        (true, false) => Some(other),
        _ => None,
    }
}

/// A branch of the `oneOf` that an externally tagged enum has.
pub(super) enum Branch<'s> {
    /// Variants that are a name.
    Names(Vec<&'s str>),
    /// A variant that holds something.
    Holding(&'s str, &'s Value),
}

impl<'s> Branch<'s> {
    pub(super) fn of(schema: &'s Value) -> Option<Self> {
        let schema = schema.as_object()?;
        let kind: Vec<_> = types(schema).collect();
        if kind == ["string"] && only(schema, &["type", "const"]) {
            let name = schema.get("const")?.as_str()?;
            return Some(Self::Names(vec![name]));
        }
        if kind == ["string"] && only(schema, &["type", "enum"]) {
            let names = names(schema.get("enum"))?;
            return Some(Self::Names(names));
        }
        let object = ["type", "properties", "required", "additionalProperties"];
        if kind != ["object"] || !only(schema, &object) {
            return None;
        }
        let mut properties = members(schema, "properties")?.iter();
        let (Some((name, held)), None) = (properties.next(), properties.next()) else {
            return None;
        };
        let closed = matches!(
            schema.get("additionalProperties"),
            None | Some(Value::Bool(_))
        );
        (closed && names(schema.get("required"))? == [name]).then_some(Self::Holding(name, held))
    }
}
