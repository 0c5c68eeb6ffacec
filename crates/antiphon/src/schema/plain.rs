//! Whether a schema holds nothing but what schemars writes down of a type by itself.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::keywords::{Branch, is_annotation, members, names, only, types};

type Object = Map<String, Value>;

/// Whether what `Serialize` makes of a type is valid, going by the schema made for that.
///
/// Lengths, ranges, patterns and the like need the validator: nothing else makes a type keep to
/// them. So do floating point numbers, which are null if they are not finite, and flattened maps,
/// which may repeat a member. Trusted are `serialize_with` and the `with` of schemars.
pub(super) fn plain(schema: &Object) -> bool {
    let definitions = members(schema, "$defs").into_iter().flatten();
    is_plain(schema) && definitions.map(|(_, it)| it).all(says_plainly)
}

fn says_plainly(schema: &Value) -> bool {
    match schema {
        Value::Bool(everything) => *everything,
        Value::Object(schema) => is_plain(schema),
        _ => false,
    }
}

fn is_plain(schema: &Object) -> bool {
    let all = |list: &Value| (list.as_array()).is_some_and(|it| it.iter().all(says_plainly));
    schema.iter().all(|(keyword, value)| match &**keyword {
        "type" => types(schema).all(|it| it != "number"),
        "minimum" | "maximum" => is_range(schema),
        "properties" => (value.as_object()).is_some_and(|it| it.values().all(says_plainly)),
        "required" => {
            let properties = members(schema, "properties");
            let known = |name: &str| properties.is_some_and(|it| it.contains_key(name));
            names(Some(value)).is_some_and(|it| it.into_iter().all(known))
        }
        "items" => says_plainly(value),
        "additionalProperties" => {
            value == false || (says_plainly(value) && !schema.contains_key("properties"))
        }
        "$ref" => only(schema, &["$ref"]),
        "enum" | "const" => types(schema).all(|it| matches!(it, "string" | "null")),
        "anyOf" => all(value),
        "oneOf" => all(value) && is_tagged(value),
        keyword => is_annotation(keyword),
    })
}

/// Whether the range is the one of the Rust integer that `format` names.
fn is_range(schema: &Object) -> bool {
    let limit = |keyword| schema.get(keyword).map(Value::as_i64);
    let range = (limit("minimum"), limit("maximum"));
    let whole = |least: i64, most: i64| range == (Some(Some(least)), Some(Some(most)));
    match schema.get("format").and_then(Value::as_str) {
        Some("int8") => whole(i8::MIN.into(), i8::MAX.into()),
        Some("int16") => whole(i16::MIN.into(), i16::MAX.into()),
        Some("uint8") => whole(u8::MIN.into(), u8::MAX.into()),
        Some("uint16") => whole(u16::MIN.into(), u16::MAX.into()),
        Some("uint32" | "uint64" | "uint128" | "uint") => range == (Some(Some(0)), None),
        _ => false,
    }
}

/// Whether branches exclude each other, by the name of their variant.
fn is_tagged(branches: &Value) -> bool {
    let branches = branches.as_array().map_or(&[][..], Vec::as_slice);
    let (mut members, mut names) = (HashSet::new(), HashSet::new());
    let exclusive = branches.iter().all(|branch| match tag(branch) {
        Some((member, name)) => {
            members.insert(member);
            names.insert(name)
        }
        None => match Branch::of(branch) {
            Some(Branch::Names(all)) => all.into_iter().all(|name| names.insert(name)),
            Some(Branch::Holding(name, _)) => {
                let closed = branch.get("additionalProperties") == Some(&Value::Bool(false));
                closed && names.insert(name)
            }
            None => false,
        },
    });
    exclusive && members.len() <= 1
}

/// The member that tells internally or adjacently tagged variants apart, and its value.
fn tag(branch: &Value) -> Option<(&str, &str)> {
    let branch = branch.as_object()?;
    let first = *names(branch.get("required"))?.first()?;
    let tag = members(branch, "properties")?.get(first)?;
    Some((first, tag.get("const")?.as_str()?))
}
