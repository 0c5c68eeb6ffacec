//! Schemas of arguments and results, made from Rust types.

use schemars::generate::{Contract, SchemaGenerator, SchemaSettings};
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::InvalidSchema;
use super::enforced::is_as_strict;
use super::keywords::{followed, only, says_nothing, types};
use super::plain::plain;
use super::reading::{Read, Reading};

/// A schema as it is announced, and what else is known of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Described {
    pub(crate) schema: Map<String, Value>,
    /// The doc comment of the type.
    pub(crate) description: Option<String>,
    /// Whether it forbids nothing that decoding the type, or encoding it, does not rule out.
    pub(crate) enforced: bool,
}

/// What a handler takes: an object that is decoded as `T`.
///
/// Whether it is enforced presumes that arguments are an object, and decoded with
/// [`decode`](antiphon_types::decode).
pub(crate) fn input<T: JsonSchema + DeserializeOwned>() -> Result<Described, InvalidSchema> {
    taken(
        generator(Contract::Deserialize).into_root_schema_for::<T>(),
        &mut Reading::<T>::default(),
    )
}

fn taken(schema: Schema, into: &mut dyn Read) -> Result<Described, InvalidSchema> {
    let (mut schema, description) = apart(schema);
    if schema.get("not").is_some_and(says_nothing) {
        return Err(InvalidSchema::new("this type has no values"));
    }
    // Before the ranges of integers lose their reason.
    let enforced = is_as_strict(into, &schema);
    be_object(&mut schema)?;
    Ok(Described {
        schema: without_rust_formats(schema),
        description,
        enforced,
    })
}

/// What a handler returns, if the type says anything about it: what `T` is encoded as.
pub(crate) fn output<T: JsonSchema>() -> Option<Described> {
    returned(generator(Contract::Serialize).into_root_schema_for::<T>())
}

fn returned(schema: Schema) -> Option<Described> {
    let (schema, description) = apart(schema);
    (!only(&schema, &[])).then(|| Described {
        enforced: plain(&schema),
        schema: without_rust_formats(schema),
        description,
    })
}

/// What a handler takes, as its author wrote it down. Kept as it is, but for a missing `type`.
pub(crate) fn raw_input(schema: Value) -> Result<Described, InvalidSchema> {
    let Value::Object(mut schema) = schema else {
        return Err(InvalidSchema::new("a schema must be an object"));
    };
    be_object(&mut schema)?;
    Ok(Described {
        description: (schema.get("description").and_then(Value::as_str)).map(str::to_owned),
        enforced: only(&schema, &["type"]),
        schema,
    })
}

/// What a handler takes that takes no arguments: whatever there is, it is not looked at.
pub(crate) fn no_input() -> Described {
    Described {
        schema: Map::from_iter([("type".to_owned(), "object".into())]),
        description: None,
        enforced: true,
    }
}

/// What makes the schemas of types as they are read, or written.
fn generator(contract: Contract) -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12();
    settings.contract = contract;
    settings.meta_schema = None;
    settings.into_generator()
}

/// The schema of a type, and its description apart.
fn apart(mut schema: Schema) -> (Map<String, Value>, Option<String>) {
    let mut schema = std::mem::take(schema.ensure_object());
    schema.shift_remove("title");
    let description = match schema.shift_remove("description") {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    (schema, description)
}

/// Sees to it that a schema is one of objects: the protocol has no other arguments.
fn be_object(schema: &mut Map<String, Value>) -> Result<(), InvalidSchema> {
    let refuse = |what: &str| {
        Err(InvalidSchema::new(format!(
            "arguments are an object, but this type is {what}: put it into a struct, as a field \
             with a name"
        )))
    };
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "object" => return Ok(()),
        Some(Value::String(kind)) if kind == "null" => return refuse("null"),
        Some(Value::String(kind)) => return refuse(&format!("of type {kind}")),
        Some(_) => return refuse("of several types, or an `Option`"),
        None => {}
    }
    let root = Value::Object(schema.clone());
    for branch in (["oneOf", "anyOf"].iter())
        .filter_map(|keyword| root.get(keyword)?.as_array())
        .flatten()
    {
        let branch = match branch.get("type") {
            Some(_) => Some(branch),
            None => followed(&root, branch).map(|(it, _)| it),
        };
        let objects = branch.and_then(Value::as_object);
        if !objects.is_some_and(|it| types(it).eq(["object"])) {
            return refuse("an enum with variants that are no objects, or an `Option`");
        }
    }
    schema.shift_insert(0, "type".to_owned(), "object".into());
    Ok(())
}

/// Drops the formats that name Rust's numbers: JSON Schema does not know them.
fn without_rust_formats(schema: Map<String, Value>) -> Map<String, Value> {
    let mut schema = Schema::from(schema);
    RecursiveTransform(|schema: &mut Schema| {
        let format = schema.get("format").and_then(Value::as_str);
        if format.is_some_and(is_rust_format) {
            schema.ensure_object().shift_remove("format");
        }
    })
    .transform(&mut schema);
    std::mem::take(schema.ensure_object())
}

fn is_rust_format(format: &str) -> bool {
    let bits = |it: &str| matches!(it, "" | "8" | "16" | "32" | "64" | "128");
    matches!(format, "float" | "double")
        || format.strip_prefix("int").is_some_and(bits)
        || format.strip_prefix("uint").is_some_and(bits)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use super::*;

    /// Order a book.
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Order {
        /// What is ordered.
        title: String,
        copies: u32,
        #[serde(default)]
        gift: bool,
        lines: Vec<Line>,
        /// How it looks.
        format: Option<f32>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Line {
        #[schemars(extend("x-unit" = "piece"))]
        count: u8,
    }

    #[test]
    fn a_struct_becomes_an_object() {
        let order = input::<Order>().unwrap();
        assert_eq!(order.description.as_deref(), Some("Order a book."));
        assert!(order.enforced);
        assert_eq!(
            Value::Object(order.schema),
            json!({
                "type": "object",
                "properties": {
                    "title": {"type": "string", "description": "What is ordered."},
                    "copies": {"type": "integer", "minimum": 0},
                    "gift": {"type": "boolean", "default": false},
                    "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
                    "format": {"type": ["number", "null"], "description": "How it looks."},
                },
                "required": ["title", "copies", "lines"],
                "$defs": {"Line": {
                    "type": "object",
                    "properties": {
                        "count": {
                            "type": "integer", "minimum": 0, "maximum": 255, "x-unit": "piece",
                        },
                    },
                    "required": ["count"],
                }},
            })
        );
    }

    #[test]
    fn members_keep_their_order() {
        let order = input::<Order>().unwrap();
        let names: Vec<_> = order.schema["properties"]
            .as_object()
            .unwrap()
            .keys()
            .collect();
        assert_eq!(names, ["title", "copies", "gift", "lines", "format"]);
    }

    #[test]
    fn formats_of_json_schema_stay() {
        #[derive(Deserialize, JsonSchema)]
        #[allow(dead_code)]
        struct Host {
            address: std::net::Ipv4Addr,
            wait: std::time::Duration,
        }
        let host = Value::Object(input::<Host>().unwrap().schema);
        assert_eq!(host["properties"]["address"]["format"], "ipv4");
        assert!(!host.to_string().contains("uint"), "{host}");
    }

    #[test]
    fn enums_of_objects_are_objects() {
        #[derive(Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        #[allow(dead_code)]
        enum Shape {
            Dot,
            Circle { radius: f64 },
        }
        let shape = input::<Shape>().unwrap();
        assert_eq!(shape.schema["type"], "object");
        assert_eq!(shape.schema["oneOf"].as_array().unwrap().len(), 2);
        assert_eq!(shape.schema.keys().next().unwrap(), "type");

        #[derive(Deserialize, JsonSchema)]
        #[serde(untagged)]
        #[allow(dead_code)]
        enum Either {
            Line(Line),
            Order(Order),
        }
        assert_eq!(input::<Either>().unwrap().schema["type"], "object");
    }

    #[test]
    fn whatever_is_an_object_will_do() {
        let any = input::<Value>().unwrap();
        assert_eq!(Value::Object(any.schema), json!({"type": "object"}));
        assert!(any.enforced);
        let map = input::<HashMap<String, u8>>().unwrap();
        assert_eq!(map.schema["type"], "object");
        assert!(map.enforced);
    }

    #[test]
    fn no_object_is_an_error_with_advice() {
        #[derive(Deserialize, JsonSchema)]
        #[allow(dead_code)]
        enum Mixed {
            Nothing,
            One(u8),
        }
        #[derive(Deserialize, JsonSchema)]
        enum Never {}
        let errors = [
            input::<String>().unwrap_err(),
            input::<Vec<u8>>().unwrap_err(),
            input::<()>().unwrap_err(),
            input::<Option<Line>>().unwrap_err(),
            input::<Option<Mixed>>().unwrap_err(),
            input::<Mixed>().unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().contains("struct"), "{error}");
        }
        let never = input::<Never>().unwrap_err().to_string();
        assert!(never.contains("no values"), "{never}");
    }

    #[test]
    fn outputs_say_what_is_encoded() {
        /// What there is.
        #[derive(Serialize, JsonSchema)]
        struct Stock {
            copies: u16,
            #[serde(skip_serializing_if = "Option::is_none")]
            shelf: Option<String>,
            #[serde(skip_serializing)]
            #[allow(dead_code)]
            secret: String,
        }
        let stock = output::<Stock>().unwrap();
        assert_eq!(stock.description.as_deref(), Some("What there is."));
        assert!(stock.enforced);
        assert_eq!(
            Value::Object(stock.schema),
            json!({
                "type": "object",
                "properties": {
                    "copies": {"type": "integer", "minimum": 0, "maximum": 65535},
                    "shelf": {"type": ["string", "null"]},
                },
                "required": ["copies"],
            })
        );
        assert_eq!(output::<Value>(), None);
        assert_eq!(output::<Vec<u8>>().unwrap().schema["type"], "array");
    }

    #[test]
    fn hand_written_schemas_are_kept() {
        let written = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "title": "Search",
            "description": "Find books.",
            "properties": {"text": {"type": "string", "format": "int32"}},
        });
        let raw = raw_input(written.clone()).unwrap();
        assert_eq!(raw.description.as_deref(), Some("Find books."));
        assert!(!raw.enforced);
        for (keyword, value) in written.as_object().unwrap() {
            assert_eq!(&raw.schema[keyword], value);
        }
        assert_eq!(raw.schema["type"], "object");
        assert!(raw_input(json!({"title": "Any"})).unwrap().enforced);
        assert!(raw_input(json!({"type": "object"})).unwrap().enforced);
        for bad in [
            json!(true),
            json!([]),
            json!({"type": "array"}),
            json!({"type": 1}),
        ] {
            assert!(raw_input(bad).is_err());
        }
    }
}
