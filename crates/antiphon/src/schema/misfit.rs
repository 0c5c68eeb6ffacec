//! Whether arguments that are read twice, as two types, are taken for the same by both.

use std::{cell::RefCell, collections::HashSet, fmt, ptr};

use serde_json::{Map, Value};

use super::keywords::{Branch, followed, is_annotation, members, names, only, says_nothing, types};

type Object = Map<String, Value>;

/// Schemas that are nested deeper than this are taken to fit.
const DEEPEST: usize = 32;

/// Why arguments of one schema cannot be read by who expects another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// An argument that there is not; those that there are.
    Unknown(String, Vec<String>),
    /// An argument of another type; what is expected, and what it is.
    Type(String, String, String),
    /// An argument that must be there, and may be left out.
    Optional(String),
    /// An argument that must not be there.
    Surplus(String),
    /// Arguments of which nobody can tell what they are.
    Opaque,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name, known) => {
                write!(f, "takes the argument `{name}`, which there is not; ")?;
                let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
                match known.as_slice() {
                    [] => f.write_str("there is none"),
                    [only] => write!(f, "there is {only}"),
                    all => write!(f, "there are {}", all.join(", ")),
                }
            }
            Self::Type(name, wanted, given) => write!(
                f,
                "takes the argument `{name}` as {wanted}, and it is {given}"
            ),
            Self::Optional(name) => write!(
                f,
                "needs the argument `{name}`, which may be left out; take it as an `Option`"
            ),
            Self::Surplus(name) => write!(
                f,
                "allows no other arguments than its own, and there is `{name}`; leave out \
                 `deny_unknown_fields`"
            ),
            Self::Opaque => f.write_str(
                "takes its arguments as a type whose members are not known; take a struct",
            ),
        }
    }
}

/// What is wrong with arguments that are `given` by one schema, and by name alone, for somebody who
/// takes them as `wanted`. Types are compared, bounds are not. What is `spelt`, as in prompts and URIs,
/// is text whatever else it is.
pub(crate) fn misfits(
    wanted: &Object,
    given: &Object,
    others: &[&str],
    spelt: bool,
) -> Option<Misfit> {
    let known = members(given, "properties");
    let mut all: Vec<String> = known
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect();
    for other in others {
        if !all.iter().any(|name| name == other) {
            all.push((*other).to_owned());
        }
    }
    let empty = Object::new();
    let taken = members(wanted, "properties").unwrap_or(&empty);
    let roots = (Value::Object(wanted.clone()), Value::Object(given.clone()));
    let compare = Compare {
        wanted: &roots.0,
        given: &roots.1,
        compared: RefCell::default(),
    };
    // Members that are said in another way than by name, as those of a flattened enum are. Where
    // there are several, each is a part.
    let parts = given.get("allOf").and_then(Value::as_array);
    let parts = || {
        let parts = parts.into_iter().flatten().filter_map(Value::as_object);
        std::iter::once(given).chain(parts)
    };
    for keyword in ["oneOf", "anyOf", "allOf", "$ref", "if", "not"] {
        let Some(wanted) = wanted.get(keyword) else {
            continue;
        };
        let is_there = parts().any(|part| {
            let same = (part.get(keyword)).is_some_and(|given| compare.same(wanted, given, 0));
            if !same {
                compare.compared.borrow_mut().clear();
            }
            same
        });
        if !is_there {
            return Some(Misfit::Opaque);
        }
    }
    let needed = names(wanted.get("required")).unwrap_or_default();
    let present = names(given.get("required")).unwrap_or_default();
    let missing = |name: &&&str| !all.iter().any(|it| it == *name);
    if let Some(unknown) = needed.iter().find(missing)
        && !is_open(given)
    {
        return Some(Misfit::Unknown((*unknown).to_owned(), all));
    }
    for (name, wanted) in taken {
        let Some(given) = known.and_then(|known| known.get(name)) else {
            match all.contains(name) || is_open(given) {
                // Spelt in a URI, it is whatever it can be read as.
                true => continue,
                false => return Some(Misfit::Unknown(name.clone(), all)),
            }
        };
        let needs = needed.contains(&&**name) && !present.contains(&&**name);
        let text = spelt && compare.wanted_type(wanted) == "string";
        if !text && !compare.fits(wanted, given, 0) {
            let (wanted, given) = (compare.wanted_type(wanted), compare.given_type(given));
            return Some(match given.strip_suffix(" or null") {
                // An `Option` is one more type, and may be left out.
                Some(given) if needs && given == wanted => Misfit::Optional(name.clone()),
                _ => Misfit::Type(name.clone(), wanted, given),
            });
        }
        if needs {
            return Some(Misfit::Optional(name.clone()));
        }
    }
    // A map that is flattened takes all others.
    if let Some(wanted @ Value::Object(_)) = wanted.get("additionalProperties") {
        for (name, given) in known.into_iter().flatten() {
            if !taken.contains_key(name) && !compare.fits(wanted, given, 0) {
                let (wanted, given) = (compare.wanted_type(wanted), compare.given_type(given));
                return Some(Misfit::Type(name.clone(), wanted, given));
            }
        }
    }
    if wanted.get("additionalProperties") == Some(&Value::Bool(false)) {
        let surplus = all.into_iter().find(|name| !taken.contains_key(name));
        return surplus.map(Misfit::Surplus);
    }
    None
}

/// Whether an author's own schema names arguments in other ways than one by one.
fn is_open(schema: &Object) -> bool {
    let ways = ["allOf", "anyOf", "oneOf", "$ref", "patternProperties"];
    ways.iter().any(|way| schema.contains_key(*way))
}

/// Two documents, whose references lead to places of their own.
struct Compare<'s> {
    wanted: &'s Value,
    given: &'s Value,
    /// What was compared, by where it stands, and whether it had to be the same. Whatever does not
    /// fit ends it all, so what comes again does: types that hold themselves come to an end.
    compared: RefCell<HashSet<(*const Value, *const Value, bool)>>,
}

impl<'s> Compare<'s> {
    fn comes_again(&self, wanted: &Value, given: &Value, same: bool) -> bool {
        let places = (ptr::from_ref(wanted), ptr::from_ref(given), same);
        !self.compared.borrow_mut().insert(places)
    }

    /// Whether whatever is of the one type is of the other.
    fn fits(&self, wanted: &'s Value, given: &'s Value, depth: usize) -> bool {
        if depth > DEEPEST || self.comes_again(wanted, given, false) {
            return true;
        }
        let (Some((wanted, wanted_null)), Some((given, given_null))) =
            (followed(self.wanted, wanted), followed(self.given, given))
        else {
            return self.same(wanted, given, depth);
        };
        if says_nothing(wanted) {
            return true;
        }
        let (Value::Object(wanted), Value::Object(given)) = (wanted, given) else {
            return wanted == given;
        };
        let null = |schema, followed| followed || types(schema).any(|kind| kind == "null");
        if null(given, given_null) && !null(wanted, wanted_null) {
            return false;
        }
        let named = (choice(wanted), choice(given));
        if types(wanted).next().is_none() && named.0.is_none() {
            return self.same_members(wanted, given, depth);
        }
        if let (Some(_), _) | (_, Some(_)) = named {
            let takes_text = named.0.is_some() || types(wanted).any(|kind| kind == "string");
            let mut given_types = types(given).peekable();
            let is_text = given_types.peek().is_some()
                && given_types.all(|kind| kind == "string" || kind == "null");
            return takes_text && (named.1.is_some() || is_text) && chosen(wanted, given);
        }
        let kinds: Vec<_> = types(wanted).collect();
        let takes = |kind: &str| {
            kinds.contains(&kind)
                || kind == "null"
                || (kind == "integer" && kinds.contains(&"number"))
        };
        types(given).next().is_some()
            && types(given).all(takes)
            && chosen(wanted, given)
            && self.items_fit(wanted, given, depth)
            && self.members_fit(wanted, given, depth)
    }

    fn items_fit(&self, wanted: &'s Object, given: &'s Object, depth: usize) -> bool {
        if !types(given).any(|kind| kind == "array") {
            return true;
        }
        let first = |schema: &'s Object| schema.get("prefixItems").and_then(Value::as_array);
        match (first(wanted), first(given)) {
            (None, None) => match (wanted.get("items"), given.get("items")) {
                (None, _) => true,
                (Some(wanted), None) => says_nothing(wanted),
                (Some(wanted), Some(given)) => self.fits(wanted, given, depth + 1),
            },
            (None, Some(given)) => wanted.get("items").is_none_or(|wanted| {
                let mut given = given.iter();
                given.all(|given| self.fits(wanted, given, depth + 1))
            }),
            (Some(_), None) => false,
            (Some(wanted), Some(given)) => {
                wanted.len() == given.len()
                    && (wanted.iter().zip(given))
                        .all(|(wanted, given)| self.fits(wanted, given, depth + 1))
            }
        }
    }

    fn members_fit(&self, wanted: &'s Object, given: &'s Object, depth: usize) -> bool {
        let empty = Object::new();
        let of = |schema: &'s Object| members(schema, "properties");
        let given_members = of(given).unwrap_or(&empty);
        let required = |schema| names(Object::get(schema, "required")).unwrap_or_default();
        let present = required(given);
        let closed = wanted.get("additionalProperties") == Some(&Value::Bool(false));
        let others = match (
            wanted.get("additionalProperties"),
            given.get("additionalProperties"),
        ) {
            (Some(Value::Object(_)), None) => false,
            (Some(wanted @ Value::Object(_)), Some(given)) => self.fits(wanted, given, depth + 1),
            _ => true,
        };
        others
            && required(wanted).iter().all(|name| present.contains(name))
            && of(wanted).into_iter().flatten().all(|(name, wanted)| {
                match of(given).and_then(|given| given.get(name)) {
                    Some(given) => self.fits(wanted, given, depth + 1),
                    None => true,
                }
            })
            && (!closed
                || given_members
                    .keys()
                    .all(|name| of(wanted).is_some_and(|wanted| wanted.contains_key(name))))
    }

    /// Whether two schemas say the same, for what is not compared in a smarter way.
    fn same(&self, wanted: &'s Value, given: &'s Value, depth: usize) -> bool {
        match (wanted, given) {
            _ if depth > DEEPEST || self.comes_again(wanted, given, true) => true,
            (Value::Object(wanted), Value::Object(given)) => {
                self.same_members(wanted, given, depth)
            }
            (Value::Array(wanted), Value::Array(given)) => {
                wanted.len() == given.len()
                    && (wanted.iter().zip(given))
                        .all(|(one, other)| self.same(one, other, depth + 1))
            }
            _ => wanted == given,
        }
    }

    fn same_members(&self, wanted: &'s Object, given: &'s Object, depth: usize) -> bool {
        let asserts = |schema: &'s Object| {
            let mut asserts: Vec<_> = schema.iter().filter(|(it, _)| !is_annotation(it)).collect();
            asserts.sort_by_key(|(keyword, _)| *keyword);
            asserts
        };
        let (wanted, given) = (asserts(wanted), asserts(given));
        wanted.len() == given.len()
            && wanted
                .into_iter()
                .zip(given)
                .all(|((one, wanted), (other, given))| {
                    one == other
                        && match (one.as_str(), wanted.as_str(), given.as_str()) {
                            ("$ref", Some(wanted), Some(given)) => {
                                let referred = |root, at| super::keywords::referred(root, at);
                                match (referred(self.wanted, wanted), referred(self.given, given)) {
                                    (Some(wanted), Some(given)) => {
                                        self.same(wanted, given, depth + 1)
                                    }
                                    _ => false,
                                }
                            }
                            _ => self.same(wanted, given, depth + 1),
                        }
                })
    }

    fn wanted_type(&self, schema: &'s Value) -> String {
        told(self.wanted, schema)
    }

    fn given_type(&self, schema: &'s Value) -> String {
        told(self.given, schema)
    }
}

/// Whether all that may be chosen may be chosen by the other.
fn chosen(wanted: &Object, given: &Object) -> bool {
    match (choices(wanted), choices(given)) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(wanted), Some(given)) => given.iter().all(|one| wanted.contains(one)),
    }
}

/// All that may be chosen, if not everything of its type may.
fn choices(schema: &Object) -> Option<Vec<Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => Some(vec![only.clone()]),
        (None, Some(Value::Array(all))) => Some(all.clone()),
        _ => choice(schema),
    }
}

/// The names of an enum whose variants have descriptions, each of which stands in a branch.
fn choice(schema: &Object) -> Option<Vec<Value>> {
    if !only(schema, &["oneOf"]) {
        return None;
    }
    let mut all = Vec::new();
    for branch in schema.get("oneOf")?.as_array()? {
        let Some(Branch::Names(names)) = Branch::of(branch) else {
            return None;
        };
        all.extend(names.into_iter().map(Value::from));
    }
    Some(all)
}

/// A type in words.
fn told(root: &Value, schema: &Value) -> String {
    let (meant, null) = followed(root, schema).unwrap_or((schema, false));
    let empty = Object::new();
    let meant = meant.as_object().unwrap_or(&empty);
    let mut kinds: Vec<_> = types(meant).map(str::to_owned).collect();
    if null {
        kinds.push("null".to_owned());
    }
    match choices(meant) {
        Some(choices) => {
            let choices: Vec<_> = choices.iter().map(ToString::to_string).collect();
            format!("one of {}", choices.join(", "))
        }
        None if kinds.is_empty() => "something else".to_owned(),
        None => kinds.join(" or "),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What is wrong if one argument is given as this, and taken as that.
    fn told(given: Value, wanted: Value) -> Option<String> {
        let whole = |schema: Value| {
            let whole =
                json!({ "type": "object", "properties": { "x": schema }, "required": ["x"] });
            whole.as_object().cloned().expect("an object")
        };
        misfits(&whole(wanted), &whole(given), &[], false).map(|misfit| misfit.to_string())
    }

    #[test]
    fn types_are_compared_and_bounds_are_not() {
        for (given, wanted) in [
            (
                json!({"type": "string"}),
                json!({"type": "string", "description": "!"}),
            ),
            (
                json!({"type": "integer", "maximum": 9}),
                json!({"type": "integer"}),
            ),
            (json!({"type": "integer"}), json!({"type": "number"})),
            (
                json!({"type": "string"}),
                json!({"type": ["string", "null"]}),
            ),
            (json!({"type": "string"}), json!({})),
            (
                json!({"type": "string", "enum": ["a"]}),
                json!({"type": "string"}),
            ),
            (
                json!({"enum": ["a"], "type": "string"}),
                json!({"enum": ["b", "a"], "type": "string"}),
            ),
            (
                json!({"type": "array", "items": {"type": "integer"}}),
                json!({"type": "array", "items": {"type": "number"}}),
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]}),
                json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
            ),
        ] {
            assert_eq!(
                told(given.clone(), wanted.clone()),
                None,
                "{given} as {wanted}"
            );
        }
        for (given, wanted, why) in [
            (
                json!({"type": "string"}),
                json!({"type": "integer"}),
                "as integer, and it is string",
            ),
            (
                json!({"type": "number"}),
                json!({"type": "integer"}),
                "as integer, and it is number",
            ),
            (
                json!({"type": ["string", "null"]}),
                json!({"type": "string"}),
                "as string, and it is string or null",
            ),
            (
                json!({}),
                json!({"type": "string"}),
                "as string, and it is something else",
            ),
            (
                json!({"type": "string"}),
                json!({"type": "string", "enum": ["a", "b"]}),
                "as one of \"a\", \"b\", and it is string",
            ),
            (
                json!({"type": "array", "items": {"type": "string"}}),
                json!({"type": "array", "items": {"type": "integer"}}),
                "as array, and it is array",
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "string"}}}),
                json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
                "as object, and it is object",
            ),
        ] {
            let told = told(given.clone(), wanted.clone()).expect("a misfit");
            assert_eq!(
                told,
                format!("takes the argument `x` {why}"),
                "{given} as {wanted}"
            );
        }
    }

    #[test]
    fn references_are_followed_on_either_side() {
        let with = |at: &str, name: &str| {
            let schema = json!({
                "type": "object",
                "properties": { "x": { "$ref": format!("#/$defs/{name}") } },
                "$defs": { name: { "type": at } },
            });
            schema.as_object().cloned().expect("an object")
        };
        assert_eq!(
            misfits(&with("string", "A"), &with("string", "B"), &[], false),
            None
        );
        assert!(misfits(&with("string", "A"), &with("integer", "A"), &[], false).is_some());
    }

    #[test]
    fn types_that_hold_themselves_are_compared_to_an_end() {
        let list = json!({
            "type": "object",
            "properties": { "next": { "$ref": "#" }, "x": { "type": "string" } },
        });
        let list = list.as_object().expect("an object");
        assert_eq!(misfits(list, list, &[], false), None);
    }

    #[test]
    fn what_is_missing_too_much_or_optional_is_told() {
        let schema = |text: Value| text.as_object().cloned().expect("an object");
        let given = schema(json!({
            "properties": { "a": { "type": "string" }, "b": { "type": "string" } },
            "required": ["a"],
        }));
        let wanted = |text: Value, others: &[&str]| {
            misfits(&schema(text), &given, others, false).map(|misfit| misfit.to_string())
        };
        let c = json!({ "properties": { "c": { "type": "string" } } });
        assert_eq!(
            wanted(c.clone(), &[]).expect("unknown"),
            "takes the argument `c`, which there is not; there are `a`, `b`"
        );
        assert_eq!(wanted(c, &["c"]), None);
        let b = json!({ "properties": { "b": { "type": "string" } }, "required": ["b"] });
        let told = wanted(b, &[]).expect("optional");
        assert!(told.contains("`b`, which may be left out"), "{told}");
        let closed = json!({
            "properties": { "a": { "type": "string" } },
            "additionalProperties": false,
        });
        assert!(
            wanted(closed, &[])
                .expect("closed")
                .contains("and there is `b`")
        );
        let open = schema(json!({ "allOf": [{ "properties": { "c": {} } }] }));
        let c = schema(json!({ "properties": { "c": { "type": "string" } } }));
        assert_eq!(misfits(&c, &open, &[], false), None);
        let opaque = wanted(json!({ "oneOf": [{}, {}] }), &[]).expect("opaque");
        assert!(opaque.contains("take a struct"), "{opaque}");
        assert_eq!(wanted(json!({ "type": "object" }), &[]), None);
    }
}
