//! The flat schemas that elicitation forms are made of.

mod fields;
mod prepared;
mod reading;
mod revision;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

pub use self::fields::{
    BooleanSchema, LegacyTitledEnumSchema, NumberKind, NumberSchema, StringFormat, StringSchema,
    TitledMultiSelectEnumSchema, TitledOption, TitledSingleSelectEnumSchema,
    UntitledMultiSelectEnumSchema, UntitledSingleSelectEnumSchema,
};
pub use self::prepared::{PreparedForm, RequestedSchema};

type Object = Map<String, Value>;

/// The fields of a form, in order.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct FormSchema {
    /// The `$schema` dialect.
    pub schema: Option<String>,
    /// The fields by name.
    pub properties: Vec<(String, PrimitiveSchema)>,
    /// Names of the fields that must be filled in.
    pub required: Option<Vec<String>>,
    /// Keywords a form does not have, kept as they came.
    pub extra: Object,
}

impl FormSchema {
    /// A form without fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// A form from a schema made by hand; fails unless it is an object schema
    /// with `properties` that are objects.
    pub fn from_value(mut schema: Object) -> Result<Self, serde_json::Error> {
        let fail = serde_json::Error::custom::<&str>;
        if schema.shift_remove("type").as_ref().and_then(Value::as_str) != Some("object") {
            return Err(fail("a form's `type` must be \"object\""));
        }
        let Some(Value::Object(properties)) = schema.shift_remove("properties") else {
            return Err(fail("a form's `properties` must be an object"));
        };
        let properties = properties
            .into_iter()
            .map(|(name, value)| match value {
                Value::Object(schema) => Ok((name, PrimitiveSchema::from_value(schema))),
                _ => Err(fail("a form field must be an object")),
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            schema: schema
                .shift_remove("$schema")
                .map(serde_json::from_value)
                .transpose()?,
            properties,
            required: schema
                .shift_remove("required")
                .map(serde_json::from_value)
                .transpose()?,
            extra: schema,
        })
    }

    /// Adds a field that must be filled in.
    #[must_use]
    pub fn required(self, name: impl Into<String>, schema: impl Into<PrimitiveSchema>) -> Self {
        let name = name.into();
        let mut form = self.optional(name.clone(), schema);
        form.required.get_or_insert_default().push(name);
        form
    }

    /// Adds a field that may be left out.
    #[must_use]
    pub fn optional(mut self, name: impl Into<String>, schema: impl Into<PrimitiveSchema>) -> Self {
        let name = name.into();
        let schema = schema.into();
        if let Some(required) = &mut self.required {
            required.retain(|other| *other != name);
        }
        match self.properties.iter_mut().find(|(other, _)| *other == name) {
            Some(field) => field.1 = schema,
            None => self.properties.push((name, schema)),
        }
        self
    }

    /// The field of this name.
    pub fn property(&self, name: &str) -> Option<&PrimitiveSchema> {
        let mut fields = self.properties.iter();
        fields
            .find(|(other, _)| other == name)
            .map(|(_, schema)| schema)
    }

    /// Whether the field of this name must be filled in.
    pub fn is_required(&self, name: &str) -> bool {
        let required = self.required.as_deref().unwrap_or_default();
        required.iter().any(|other| other == name)
    }
}

impl Serialize for FormSchema {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        struct Properties<'a>(&'a [(String, PrimitiveSchema)]);
        impl Serialize for Properties<'_> {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_map(self.0.iter().map(|(name, schema)| (name, schema)))
            }
        }

        let mut out = to.serialize_map(None)?;
        if let Some(schema) = &self.schema {
            out.serialize_entry("$schema", schema)?;
        }
        out.serialize_entry("type", "object")?;
        out.serialize_entry("properties", &Properties(&self.properties))?;
        if let Some(required) = self.required.as_ref() {
            out.serialize_entry("required", required)?;
        }
        for (keyword, value) in &self.extra {
            out.serialize_entry(keyword, value)?;
        }
        out.end()
    }
}

/// One field of a form.
///
/// Anything that would not be written back as it came is kept as
/// [`PrimitiveSchema::Other`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PrimitiveSchema {
    /// A text.
    String(StringSchema),
    /// A number.
    Number(NumberSchema),
    /// Yes or no.
    Boolean(BooleanSchema),
    /// One of several texts.
    UntitledSingleSelect(UntitledSingleSelectEnumSchema),
    /// One of several titled texts.
    TitledSingleSelect(TitledSingleSelectEnumSchema),
    /// Some of several texts.
    UntitledMultiSelect(UntitledMultiSelectEnumSchema),
    /// Some of several titled texts.
    TitledMultiSelect(TitledMultiSelectEnumSchema),
    /// One of several texts, titled by the older `enumNames`.
    LegacyTitledEnum(LegacyTitledEnumSchema),
    /// Something else, as it came.
    Other(Object),
}

impl PrimitiveSchema {
    /// Recognises the kind of a field.
    pub fn from_value(schema: Object) -> Self {
        let items = |keyword| {
            schema
                .get("items")
                .is_some_and(|items| items.get(keyword).is_some())
        };
        let kind = match schema.get("type").and_then(Value::as_str) {
            Some("string") if schema.contains_key("oneOf") => {
                typed(&schema).map(Self::TitledSingleSelect)
            }
            Some("string") if schema.contains_key("enumNames") => {
                typed(&schema).map(Self::LegacyTitledEnum)
            }
            Some("string") if schema.contains_key("enum") => {
                typed(&schema).map(Self::UntitledSingleSelect)
            }
            Some("string") => typed(&schema).map(Self::String),
            Some("number" | "integer") => typed(&schema).map(Self::Number),
            Some("boolean") => typed(&schema).map(Self::Boolean),
            Some("array") if items("anyOf") => typed(&schema).map(Self::TitledMultiSelect),
            Some("array") if items("enum") => typed(&schema).map(Self::UntitledMultiSelect),
            _ => None,
        };
        kind.unwrap_or(Self::Other(schema))
    }

    /// The value that the field starts with.
    pub fn default_value(&self) -> Option<Value> {
        match self {
            Self::String(field) => field.default.clone().map(Value::from),
            Self::Number(field) => field.default.clone().map(Value::from),
            Self::Boolean(field) => field.default.map(Value::from),
            Self::UntitledSingleSelect(field) => field.default.clone().map(Value::from),
            Self::TitledSingleSelect(field) => field.default.clone().map(Value::from),
            Self::LegacyTitledEnum(field) => field.default.clone().map(Value::from),
            Self::UntitledMultiSelect(field) => field.default.clone().map(Value::from),
            Self::TitledMultiSelect(field) => field.default.clone().map(Value::from),
            Self::Other(field) => field.get("default").cloned(),
        }
    }
}

impl Serialize for PrimitiveSchema {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::String(schema) => schema.serialize(to),
            Self::Number(schema) => schema.serialize(to),
            Self::Boolean(schema) => schema.serialize(to),
            Self::UntitledSingleSelect(schema) => schema.serialize(to),
            Self::TitledSingleSelect(schema) => schema.serialize(to),
            Self::UntitledMultiSelect(schema) => schema.serialize(to),
            Self::TitledMultiSelect(schema) => schema.serialize(to),
            Self::LegacyTitledEnum(schema) => schema.serialize(to),
            Self::Other(schema) => schema.serialize(to),
        }
    }
}

/// Decodes `schema`, provided that it can be written back unchanged.
fn typed<T: Serialize + for<'de> Deserialize<'de>>(schema: &Object) -> Option<T> {
    let typed: T = T::deserialize(schema).ok()?;
    let back = serde_json::to_value(&typed).ok()?;
    (back.as_object() == Some(schema)).then_some(typed)
}

#[cfg(test)]
mod tests {
    use serde_json::{from_str, from_value, json, to_string, to_value};

    use super::*;

    fn field(value: &Value) -> PrimitiveSchema {
        let field: PrimitiveSchema = from_value(value.clone()).unwrap();
        assert_eq!(to_value(&field).unwrap(), *value);
        field
    }

    #[test]
    fn every_kind_is_recognised() {
        use PrimitiveSchema as P;
        type Check = fn(&PrimitiveSchema) -> bool;
        let kinds: [(Value, Check); 15] = [
            (json!({"type": "string"}), |p| matches!(p, P::String(_))),
            (
                json!({
                    "type": "string", "title": "t", "description": "d", "minLength": 1,
                    "maxLength": 9, "format": "date-time", "default": "x",
                }),
                |p| matches!(p, P::String(_)),
            ),
            (
                json!({"type": "string", "pattern": "^a"}),
                |p| matches!(p, P::String(schema) if schema.extra.contains_key("pattern")),
            ),
            (json!({"type": "string", "format": "ipv4"}), |p| {
                matches!(p, P::Other(_))
            }),
            (json!({"type": "string", "title": null}), |p| {
                matches!(p, P::Other(_))
            }),
            (
                json!({"type": "integer", "minimum": 1, "maximum": 2.5, "default": 2}),
                |p| matches!(p, P::Number(schema) if schema.kind == NumberKind::Integer),
            ),
            (
                json!({"type": "number", "default": 1.0}),
                |p| matches!(p, P::Number(schema) if schema.kind == NumberKind::Number),
            ),
            (json!({"type": "boolean", "default": false}), |p| {
                matches!(p, P::Boolean(_))
            }),
            (
                json!({"type": "string", "enum": ["a"], "default": "a"}),
                |p| matches!(p, P::UntitledSingleSelect(_)),
            ),
            (
                json!({"type": "string", "enum": ["a"], "enumNames": ["A"]}),
                |p| matches!(p, P::LegacyTitledEnum(_)),
            ),
            (
                json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}),
                |p| matches!(p, P::TitledSingleSelect(_)),
            ),
            (
                json!({
                    "type": "array", "items": {"type": "string", "enum": ["a"]},
                    "minItems": 0, "maxItems": 1, "default": ["a"],
                }),
                |p| matches!(p, P::UntitledMultiSelect(schema) if schema.values() == ["a"]),
            ),
            (
                json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}),
                |p| matches!(p, P::TitledMultiSelect(schema) if schema.any_of().len() == 1),
            ),
            (json!({"type": "object", "properties": {}}), |p| {
                matches!(p, P::Other(_))
            }),
            (json!({"$ref": "#/x"}), |p| matches!(p, P::Other(_))),
        ];
        for (value, is_kind) in kinds {
            assert!(is_kind(&field(&value)), "{value}");
        }
    }

    #[test]
    fn builders_write_the_wire_form() {
        let form = FormSchema::new()
            .required(
                "name",
                StringSchema::new()
                    .min_length(1)
                    .format(StringFormat::Email),
            )
            .optional("age", NumberSchema::integer().minimum(0))
            .required("sure", BooleanSchema::new().default(false))
            .optional("port", TitledSingleSelectEnumSchema::new([("osl", "Oslo")]))
            .optional(
                "tags",
                UntitledMultiSelectEnumSchema::new(["a", "b"]).max_items(1),
            );
        let text = concat!(
            r#"{"type":"object","properties":{"#,
            r#""name":{"type":"string","minLength":1,"format":"email"},"#,
            r#""age":{"type":"integer","minimum":0},"#,
            r#""sure":{"type":"boolean","default":false},"#,
            r#""port":{"type":"string","oneOf":[{"const":"osl","title":"Oslo"}]},"#,
            r#""tags":{"type":"array","maxItems":1,"items":{"type":"string","enum":["a","b"]}}"#,
            r#"},"required":["name","sure"]}"#,
        );
        assert_eq!(to_string(&form).unwrap(), text);
        assert_eq!(from_str::<FormSchema>(text).unwrap(), form);
        assert!(form.is_required("sure") && !form.is_required("age"));
        assert!(matches!(
            form.property("age"),
            Some(PrimitiveSchema::Number(_))
        ));
        assert_eq!(form.property("nobody"), None);
    }

    #[test]
    fn a_field_added_twice_is_replaced() {
        let form = FormSchema::new()
            .required("a", BooleanSchema::new())
            .required("a", StringSchema::new());
        assert_eq!(form.required, Some(vec!["a".to_owned()]));
        assert_eq!(form.properties.len(), 1);
        let form = form.optional("a", StringSchema::new());
        assert!(!form.is_required("a"));
    }

    #[test]
    fn hand_made_forms_keep_everything() {
        let value = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object", "title": "Form", "additionalProperties": false,
            "properties": {"z": {"type": "string"}, "a": {"type": "null"}},
            "required": [],
        });
        let form = FormSchema::from_value(value.as_object().unwrap().clone()).unwrap();
        assert_eq!(form.properties[0].0, "z");
        assert_eq!(form.required, Some(Vec::new()));
        assert_eq!(to_value(form).unwrap(), value);
        for value in [
            json!({}),
            json!({"type": "object"}),
            json!({"type": "array", "properties": {}}),
            json!({"type": "object", "properties": {"a": true}}),
            json!({"type": "object", "properties": {}, "required": "a"}),
        ] {
            assert!(from_value::<FormSchema>(value.clone()).is_err(), "{value}");
        }
    }
}
