//! Forms and their fields, read in one pass.
//!
//! By way of a map, with each field written back to see whether it stays as it came, the form of a
//! short question took a tenth of its whole call. Fields that say nothing but what is known here
//! need none of that; [`PrimitiveSchema::from_value`] recognises the others.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{BooleanSchema, FormSchema, NumberKind, NumberSchema, Object, PrimitiveSchema};
use super::{StringFormat, StringSchema};
use crate::tagged::Name;

/// So many names are compared one by one, which costs less than to hash them.
const FEW: usize = 8;

impl<'de> Deserialize<'de> for FormSchema {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(FormVisitor)
    }
}

struct FormVisitor;

impl<'de> Visitor<'de> for FormVisitor {
    type Value = FormSchema;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a form")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FormSchema, A::Error> {
        let mut form = FormSchema::default();
        let mut is_object = false;
        let mut properties = None::<Properties>;
        while let Some(Name(key)) = map.next_key()? {
            match &*key {
                "type" => is_object = map.next_value::<Value>()? == "object",
                "properties" => properties = Some(map.next_value()?),
                "required" => form.required = Some(map.next_value()?),
                "$schema" => form.schema = Some(map.next_value()?),
                _ => {
                    let keyword = key.into_owned();
                    form.extra.insert(keyword, map.next_value()?);
                }
            }
        }
        if !is_object {
            return Err(A::Error::custom("a form's `type` must be \"object\""));
        }
        let missing = || A::Error::custom("a form's `properties` must be an object");
        form.properties = properties.ok_or_else(missing)?.0;
        Ok(form)
    }
}

/// The fields of a form, each once: of one that comes again, the last counts.
struct Properties(Vec<(String, PrimitiveSchema)>);

impl<'de> Deserialize<'de> for Properties {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct PropertiesVisitor;

        impl<'de> Visitor<'de> for PropertiesVisitor {
            type Value = Properties;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of form fields")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Properties, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Properties(each_once(fields)))
            }
        }

        from.deserialize_map(PropertiesVisitor)
    }
}

fn each_once(fields: Vec<(String, PrimitiveSchema)>) -> Vec<(String, PrimitiveSchema)> {
    if fields.len() <= FEW && distinct(&fields) {
        return fields;
    }
    let mut places = HashMap::with_capacity(fields.len());
    let mut once: Vec<(String, PrimitiveSchema)> = Vec::with_capacity(fields.len());
    for (name, field) in fields {
        match places.entry(name.clone()) {
            Entry::Occupied(place) => {
                let place: usize = *place.get();
                once[place].1 = field;
            }
            Entry::Vacant(place) => {
                place.insert(once.len());
                once.push((name, field));
            }
        }
    }
    once
}

fn distinct<K: PartialEq, V>(members: &[(K, V)]) -> bool {
    let mut rest = members;
    while let Some(((name, _), others)) = rest.split_first() {
        if others.iter().any(|(other, _)| other == name) {
            return false;
        }
        rest = others;
    }
    true
}

impl<'de> Deserialize<'de> for PrimitiveSchema {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(FieldVisitor)
    }
}

struct FieldVisitor;

impl<'de> Visitor<'de> for FieldVisitor {
    type Value = PrimitiveSchema;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a form field")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PrimitiveSchema, A::Error> {
        let mut members = Members::new();
        while let Some(Name(key)) = map.next_key()? {
            members.push((key, map.next_value()?));
        }
        Ok(match Plain::of(&members) {
            Some(plain) => plain.field(members),
            None => {
                let members = members.into_iter();
                let whole: Object = members
                    .map(|(key, value)| (key.into_owned(), value))
                    .collect();
                PrimitiveSchema::from_value(whole)
            }
        })
    }
}

type Members<'de> = Vec<(Cow<'de, str>, Value)>;

/// A field with known members only, each once and of its type.
enum Plain {
    Text,
    Number(NumberKind),
    Boolean,
}

impl Plain {
    fn of(members: &Members<'_>) -> Option<Self> {
        let kind = members.iter().find(|(key, _)| key == "type")?;
        let plain = match kind.1.as_str()? {
            "string" => Self::Text,
            "integer" => Self::Number(NumberKind::Integer),
            "number" => Self::Number(NumberKind::Number),
            "boolean" => Self::Boolean,
            _ => return None,
        };
        let known = |(key, value): &(Cow<'_, str>, Value)| match (&**key, &plain) {
            ("type", _) => true,
            ("title" | "description", _) | ("default", Self::Text) => value.is_string(),
            ("minLength" | "maxLength", Self::Text) => value.is_u64(),
            ("format", Self::Text) => format(value).is_some(),
            ("minimum" | "maximum" | "default", Self::Number(_)) => value.is_number(),
            ("default", Self::Boolean) => value.is_boolean(),
            _ => false,
        };
        let all = members.len() <= FEW && members.iter().all(known) && distinct(members);
        all.then_some(plain)
    }

    fn field(self, members: Members<'_>) -> PrimitiveSchema {
        let members = members.into_iter();
        match self {
            Self::Text => {
                let mut field = StringSchema::new();
                for (key, value) in members {
                    match (&*key, value) {
                        ("title", Value::String(text)) => field.title = Some(text),
                        ("description", Value::String(text)) => field.description = Some(text),
                        ("default", Value::String(text)) => field.default = Some(text),
                        ("minLength", length) => field.min_length = length.as_u64(),
                        ("maxLength", length) => field.max_length = length.as_u64(),
                        ("format", name) => field.format = format(&name),
                        _ => {}
                    }
                }
                PrimitiveSchema::String(field)
            }
            Self::Number(kind) => {
                let mut field = NumberSchema::new(kind);
                for (key, value) in members {
                    match (&*key, value) {
                        ("title", Value::String(text)) => field.title = Some(text),
                        ("description", Value::String(text)) => field.description = Some(text),
                        ("minimum", Value::Number(number)) => field.minimum = Some(number),
                        ("maximum", Value::Number(number)) => field.maximum = Some(number),
                        ("default", Value::Number(number)) => field.default = Some(number),
                        _ => {}
                    }
                }
                PrimitiveSchema::Number(field)
            }
            Self::Boolean => {
                let mut field = BooleanSchema::new();
                for (key, value) in members {
                    match (&*key, value) {
                        ("title", Value::String(text)) => field.title = Some(text),
                        ("description", Value::String(text)) => field.description = Some(text),
                        ("default", value) => field.default = value.as_bool(),
                        _ => {}
                    }
                }
                PrimitiveSchema::Boolean(field)
            }
        }
    }
}

fn format(name: &Value) -> Option<StringFormat> {
    match name.as_str()? {
        "email" => Some(StringFormat::Email),
        "uri" => Some(StringFormat::Uri),
        "date" => Some(StringFormat::Date),
        "date-time" => Some(StringFormat::DateTime),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_str, json};

    use super::*;
    use crate::decode;

    /// However a field is read, it is the same.
    #[test]
    fn plain_fields_are_read_as_all_others_are() {
        for field in [
            json!({"type": "boolean"}),
            json!({"type": "boolean", "default": true, "title": "t", "description": "d"}),
            json!({"type": "boolean", "default": null}),
            json!({"type": "boolean", "default": "x"}),
            json!({"type": "boolean", "more": 1}),
            json!({"type": "string", "minLength": 0, "maxLength": 9, "default": "x"}),
            json!({"type": "string", "minLength": -1}),
            json!({"type": "string", "minLength": 1.0}),
            json!({"type": "string", "format": "date-time", "title": "t"}),
            json!({"type": "string", "format": "ipv4"}),
            json!({"type": "string", "enum": ["a"]}),
            json!({"type": "string", "title": 1}),
            json!({"type": "integer", "minimum": 1, "maximum": 2.5, "default": 2}),
            json!({"type": "number", "default": "1"}),
            json!({"type": ["string", "null"]}),
            json!({"type": "null"}),
            json!({}),
        ] {
            let text = field.to_string();
            let Value::Object(whole) = field else {
                panic!("{text} is an object");
            };
            let slowly = PrimitiveSchema::from_value(whole);
            assert_eq!(decode::<PrimitiveSchema>(&text).unwrap(), slowly, "{text}");
        }
    }

    #[test]
    fn of_what_comes_twice_the_last_counts() {
        let field = r#"{"type":"boolean","title":"a","title":"b"}"#;
        let PrimitiveSchema::Boolean(field) = from_str(field).unwrap() else {
            panic!("it is a boolean");
        };
        assert_eq!(field.title.as_deref(), Some("b"));
        for count in [1, 3 * FEW] {
            let more: String = (0..count)
                .map(|at| format!(r#""f{at}":{{"type":"boolean"}},"#))
                .collect();
            let text = format!(
                r#"{{"type":"array","type":"object","properties":{{{more}"f0":{{"type":"string"}}}}}}"#
            );
            let form: FormSchema = from_str(&text).unwrap();
            assert_eq!(form.properties.len(), count);
            let (first, field) = &form.properties[0];
            assert_eq!(first, "f0");
            assert!(matches!(field, PrimitiveSchema::String(_)));
        }
    }
}
