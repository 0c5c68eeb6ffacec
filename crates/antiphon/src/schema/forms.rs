//! Which of its forms a value was meant to have, told from its surface alone.

use serde_json::{Map, Value, json};

use super::keywords::{names, referred, types};

/// A longer chain of references and alternatives is not followed.
const MAX_HOPS: usize = 16;

/// The branches of a `oneOf` or an `anyOf`, each with what every value of it looks like.
pub(super) struct Forms<'s> {
    looks: Vec<Look<'s>>,
    /// The member that names the form, if there is one.
    tag: Option<&'s str>,
}

/// How many forms a value looks like.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fit {
    None,
    /// One, by its index: no other can take the value.
    One(usize),
    Many,
}

impl<'s> Forms<'s> {
    pub(super) fn of(root: &'s Value, branches: &'s [Value]) -> Self {
        let mut looks: Vec<_> = (branches.iter()).map(|it| Look::of(root, it)).collect();
        let tag = tag(&looks);
        if let Some(tag) = tag {
            // What else is required may be just what is missing.
            for look in &mut looks {
                look.required.retain(|name| *name == tag);
                look.pins.retain(|(name, _)| *name == tag);
            }
        }
        Self { looks, tag }
    }

    pub(super) fn fit(&self, value: &Value) -> Fit {
        let mut fitting = (0..self.looks.len()).filter(|at| self.looks[*at].fits(value));
        match (fitting.next(), fitting.next()) {
            (None, _) => Fit::None,
            (Some(at), None) => Fit::One(at),
            _ => Fit::Many,
        }
    }

    /// A schema that says the same as `alternatives`, the keyword with these forms, and in which
    /// only `forms[n]` is asked about a value that looks like that form.
    pub(super) fn told_apart(&self, alternatives: &Value, forms: Vec<Value>) -> Value {
        let looks: Vec<_> = self.looks.iter().map(Look::schema).collect();
        let each: Vec<_> = (looks.iter().zip(forms))
            .map(|(look, form)| json!({"if": look, "then": form}))
            .collect();
        json!({
            "if": {"oneOf": looks},
            "then": {"allOf": each},
            "else": {"if": {"anyOf": looks}, "then": alternatives, "else": self.none()},
        })
    }

    /// A schema that refuses what looks like none of the forms.
    fn none(&self) -> Value {
        let objects = self.looks.iter().all(|look| look.kinds == Kinds::OBJECT);
        match self.tag {
            Some(tag) if objects => {
                let pins = self.looks.iter().flat_map(|look| &look.pins);
                let names: Vec<_> = pins.flat_map(|(_, names)| names).collect();
                json!({"type": "object", "required": [tag], "properties": {tag: {"enum": names}}})
            }
            _ => match self
                .looks
                .iter()
                .map(|look| look.texts.as_deref())
                .collect()
            {
                Some::<Vec<_>>(texts) => json!({"enum": texts.concat()}),
                None => json!({"anyOf": [false, false]}),
            },
        }
    }
}

/// The member that all forms which are objects require, each with names of its own.
fn tag<'s>(looks: &[Look<'s>]) -> Option<&'s str> {
    let mut objects = (looks.iter()).filter(|look| look.kinds.has(Kinds::OBJECT));
    let first = objects.next()?;
    let others: Vec<_> = objects.collect();
    let is_tag = |tag: &str| {
        let mut seen = Vec::new();
        std::iter::once(first)
            .chain(others.iter().copied())
            .all(|look| {
                let Some(names) = look.pinned(tag) else {
                    return false;
                };
                let new = !names.iter().any(|name| seen.contains(name));
                seen.extend_from_slice(names);
                new && look.required.contains(&tag)
            })
    };
    let mut pinned = first.pins.iter().map(|(name, _)| *name);
    pinned.find(|name| !others.is_empty() && is_tag(name))
}

/// What a value of a form must look like; it need not be of the form even so.
struct Look<'s> {
    kinds: Kinds,
    /// The strings it may be, if it is a string.
    texts: Option<Vec<&'s str>>,
    /// The members it has, if it is an object.
    required: Vec<&'s str>,
    /// The strings that members may be.
    pins: Vec<(&'s str, Vec<&'s str>)>,
}

impl<'s> Look<'s> {
    fn of(root: &'s Value, schema: &'s Value) -> Self {
        let mut look = Self {
            kinds: Kinds::of(root, schema, MAX_HOPS),
            texts: None,
            required: Vec::new(),
            pins: Vec::new(),
        };
        let mut at = Some(schema);
        for _ in 0..MAX_HOPS {
            let Some(schema) = at.and_then(Value::as_object) else {
                break;
            };
            look.add(schema);
            let reference = schema.get("$ref").and_then(Value::as_str);
            at = reference.and_then(|it| referred(root, it));
        }
        look
    }

    fn add(&mut self, schema: &'s Map<String, Value>) {
        if let Some(texts) = texts(schema) {
            self.texts.get_or_insert(texts);
        }
        for name in names(schema.get("required")).unwrap_or_default() {
            if !self.required.contains(&name) {
                self.required.push(name);
            }
        }
        let members = schema.get("properties").and_then(Value::as_object);
        for (name, member) in members.into_iter().flatten() {
            if let Some(texts) = member.as_object().and_then(texts)
                && self.pinned(name).is_none()
            {
                self.pins.push((name, texts));
            }
        }
    }

    fn pinned(&self, member: &str) -> Option<&[&'s str]> {
        let pin = self.pins.iter().find(|(name, _)| *name == member);
        pin.map(|(_, names)| names.as_slice())
    }

    fn fits(&self, value: &Value) -> bool {
        let is_one = |texts: &[&str], value: &Value| {
            let text = value.as_str();
            text.is_some_and(|text| texts.contains(&text))
        };
        self.kinds.has(Kinds::of_value(value))
            && self.texts.as_ref().is_none_or(|it| is_one(it, value))
            && value.as_object().is_none_or(|members| {
                let pinned = |(name, texts): &(&str, Vec<&str>)| {
                    members.get(*name).is_none_or(|it| is_one(texts, it))
                };
                self.required.iter().all(|it| members.contains_key(*it))
                    && self.pins.iter().all(pinned)
            })
    }

    /// A schema that takes just what fits.
    fn schema(&self) -> Value {
        let pins = self.pins.iter();
        let pins: Map<_, _> = pins
            .map(|(name, texts)| ((*name).to_owned(), json!({"enum": texts})))
            .collect();
        let mut schema = json!({
            "type": self.kinds.names(),
            "required": self.required,
            "properties": pins,
        });
        if let Some(texts) = &self.texts {
            schema["enum"] = json!(texts);
        }
        schema
    }
}

/// The strings under `const` or `enum`, if only strings are.
fn texts(schema: &Map<String, Value>) -> Option<Vec<&str>> {
    match schema.get("const") {
        Some(only) => Some(vec![only.as_str()?]),
        None => names(schema.get("enum")),
    }
}

/// Some of the kinds of values there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kinds(u8);

impl Kinds {
    const NAMES: [&str; 6] = ["null", "boolean", "number", "string", "array", "object"];
    const OBJECT: Self = Self(1 << 5);
    const ALL: Self = Self((1 << 6) - 1);

    fn of(root: &Value, schema: &Value, hops: usize) -> Self {
        let schema = match schema {
            Value::Object(schema) if hops > 0 => schema,
            _ => return Self::ALL,
        };
        if schema.contains_key("type") {
            return types(schema).map(Self::named).fold(Self(0), Self::or);
        }
        if texts(schema).is_some() {
            return Self::named("string");
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let target = referred(root, reference);
            return target.map_or(Self::ALL, |it| Self::of(root, it, hops - 1));
        }
        let alternatives = ["oneOf", "anyOf"].iter();
        let alternatives = alternatives
            .filter_map(|it| schema.get(*it)?.as_array())
            .next();
        alternatives.map_or(Self::ALL, |forms| {
            let kinds = forms.iter().map(|it| Self::of(root, it, hops - 1));
            kinds.fold(Self(0), Self::or)
        })
    }

    fn of_value(value: &Value) -> Self {
        Self::named(match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        })
    }

    fn named(name: &str) -> Self {
        let name = if name == "integer" { "number" } else { name };
        let at = Self::NAMES.iter().position(|it| *it == name);
        at.map_or(Self::ALL, |at| Self(1 << at))
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    fn names(self) -> Vec<&'static str> {
        let has = |at: &usize| self.has(Self(1 << at));
        (0..Self::NAMES.len())
            .filter(has)
            .map(|at| Self::NAMES[at])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What two forms make of a value, of which the schema of looks must think alike.
    fn fit(root: &Value, value: &Value) -> Fit {
        let branches = root["anyOf"].as_array().unwrap();
        let forms = Forms::of(root, branches);
        for look in &forms.looks {
            let schema = jsonschema::validator_for(&look.schema()).unwrap();
            assert_eq!(schema.is_valid(value), look.fits(value), "{value}");
        }
        forms.fit(value)
    }

    #[test]
    fn a_tag_decides_whatever_else_is_missing() {
        let root = json!({"anyOf": [
            {"type": "object", "properties": {"op": {"const": "a"}}, "required": ["op", "x"]},
            {"$ref": "#/$defs/B"},
        ], "$defs": {"B":
            {"type": "object", "properties": {"op": {"enum": ["b", "c"]}}, "required": ["op", "y"]}
        }});
        assert_eq!(fit(&root, &json!({"op": "a"})), Fit::One(0));
        assert_eq!(fit(&root, &json!({"op": "c", "x": 1})), Fit::One(1));
        assert_eq!(fit(&root, &json!({"op": "d", "x": 1})), Fit::None);
        assert_eq!(fit(&root, &json!({"x": 1})), Fit::None);
        assert_eq!(fit(&root, &json!("a")), Fit::None);
    }

    #[test]
    fn without_a_tag_kinds_and_members_decide() {
        let root = json!({"anyOf": [
            {"type": "object", "required": ["and"]},
            {"type": "object", "required": ["or"]},
            {"type": "integer"},
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
            {"const": "leaf"},
        ]});
        assert_eq!(fit(&root, &json!({"and": 1})), Fit::One(0));
        assert_eq!(fit(&root, &json!({"and": 1, "or": 1})), Fit::Many);
        assert_eq!(fit(&root, &json!({})), Fit::None);
        assert_eq!(fit(&root, &json!(1.5)), Fit::One(2));
        assert_eq!(fit(&root, &json!("x")), Fit::One(3));
        assert_eq!(fit(&root, &json!("leaf")), Fit::Many);
        assert_eq!(fit(&root, &json!([])), Fit::None);
    }

    #[test]
    fn what_is_not_understood_fits_everything() {
        let root = json!({"anyOf": [
            true,
            {"$ref": "#/$defs/none"},
            {"$ref": "#/anyOf/2"},
            {"not": {"type": "string"}},
        ]});
        assert_eq!(fit(&root, &json!("x")), Fit::Many);
        assert_eq!(fit(&root, &json!([])), Fit::Many);
    }
}
