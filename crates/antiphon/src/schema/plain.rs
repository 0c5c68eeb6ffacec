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

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use schemars::JsonSchema;
    use serde::Serialize;

    use crate::schema::{Checker, output};

    /// Whether the type needs no validator; says what is wrong with the samples, too.
    fn judge<T: JsonSchema + Serialize>(samples: &[T]) -> (bool, Vec<String>) {
        let described = output::<T>().expect("a schema");
        let checker = Checker::lazy(&described.schema);
        let wrong = samples
            .iter()
            .map(|it| checker.violations(&serde_json::to_value(it).expect("JSON")))
            .filter(|it| !it.is_empty());
        (described.enforced, wrong.map(|it| it.to_string()).collect())
    }

    fn is_plain<T: JsonSchema + Serialize>(samples: &[T]) {
        let (plain, wrong) = judge(samples);
        let name = std::any::type_name::<T>();
        assert_eq!(wrong, [""; 0], "{name}");
        assert!(plain, "{name}: {:?}", output::<T>());
    }

    fn needs_validator<T: JsonSchema + Serialize>(sample: T) {
        let (plain, wrong) = judge(&[sample]);
        let name = std::any::type_name::<T>();
        assert!(!wrong.is_empty(), "{name}: nothing proves it");
        assert!(!plain, "{name}: {wrong:?}");
    }

    #[derive(Clone, Copy, Serialize, JsonSchema)]
    enum Color {
        Red,
        /// With a doc comment.
        Green,
    }

    #[derive(Serialize, JsonSchema)]
    struct Leaf {
        color: Color,
        #[serde(skip_serializing_if = "Option::is_none")]
        count: Option<u8>,
        next: Option<Box<Self>>,
    }

    fn leaf(next: Option<Leaf>) -> Leaf {
        Leaf {
            color: Color::Green,
            count: next.as_ref().map(|_| 255),
            next: next.map(Box::new),
        }
    }

    #[test]
    fn plain_types_are_always_encoded_right() {
        #[derive(Serialize, JsonSchema)]
        enum External {
            Bare,
            One(u8),
            Named { leaf: Leaf },
        }
        #[derive(Serialize, JsonSchema)]
        #[serde(tag = "t")]
        enum Internal {
            Bare,
            Named { leaf: Leaf },
        }
        #[derive(Serialize, JsonSchema)]
        #[serde(tag = "t", content = "c")]
        enum Adjacent {
            Bare,
            One(i16),
        }
        #[derive(Serialize, JsonSchema)]
        #[serde(untagged)]
        enum Untagged {
            Leaf(Leaf),
            Text(String),
        }
        is_plain(&[u64::MAX]);
        is_plain(&[i64::MIN]);
        is_plain(&[Color::Red, Color::Green]);
        is_plain(&[leaf(None), leaf(Some(leaf(None)))]);
        is_plain(&[vec![leaf(None)]]);
        is_plain(&[BTreeMap::from([("k".to_owned(), leaf(None))])]);
        is_plain(&[Some(Color::Red), None]);
        let named = External::Named { leaf: leaf(None) };
        is_plain(&[External::Bare, External::One(1), named]);
        is_plain(&[Internal::Bare, Internal::Named { leaf: leaf(None) }]);
        is_plain(&[Adjacent::Bare, Adjacent::One(-1)]);
        is_plain(&[Untagged::Text(String::new()), Untagged::Leaf(leaf(None))]);
    }

    #[test]
    fn rules_need_the_validator() {
        macro_rules! members {
            ($($name:ident { $($body:tt)* } = $sample:expr;)*) => {$({
                #[derive(Serialize, JsonSchema)]
                struct $name { $($body)* }
                needs_validator($sample);
            })*};
        }
        members! {
            Ranged { #[schemars(range(min = 1))] a: u8 } = Ranged { a: 0 };
            Narrow { #[schemars(range(max = 9))] a: u8 } = Narrow { a: 10 };
            Long { #[schemars(length(min = 1))] a: String } = Long { a: String::new() };
            Regular { #[schemars(regex(pattern = "a"))] a: String } = Regular { a: "b".into() };
            Real { a: f64 } = Real { a: f64::NAN };
            Maybe { a: Option<f32> , #[schemars(extend("const" = 1))] b: u8 } =
                Maybe { a: None, b: 0 };
            Extended { #[schemars(extend("minProperties" = 5))] a: Leaf } =
                Extended { a: leaf(None) };
            Repeated { a: Color, #[serde(flatten)] rest: BTreeMap<String, u8> } =
                Repeated { a: Color::Red, rest: BTreeMap::from([("a".to_owned(), 1)]) };
            Set { #[schemars(with = "BTreeSet<u8>")] a: Vec<u8> } = Set { a: vec![1, 1] };
        }
    }
}
