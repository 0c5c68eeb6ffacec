//! Arguments as they are bound to a state, and names that are there twice.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::Flaw;

/// From here on, integers have no floating-point number of their own.
const BIG: f64 = 9_007_199_254_740_992.0;
/// Deepest nesting.
const DEPTH: usize = 64;

/// Whether no object in this text has a name twice, and nothing is nested too deep.
pub(crate) fn is_plain(text: &str) -> bool {
    serde_json::from_str::<Plain>(text).is_ok()
}

/// What a state is bound to of these arguments.
pub(crate) fn bound(arguments: &str, flaw: Option<Flaw>) -> String {
    let exact = |number: &str| number.to_owned();
    let as_float = |number: &str| match number.parse::<f64>() {
        Ok(number) => number.to_string(),
        Err(_) => number.to_owned(),
    };
    let canonical = |spell: &mut dyn FnMut(&str) -> String| {
        walk(arguments, DEPTH, spell).unwrap_or_else(|| arguments.to_owned())
    };
    match flaw {
        Some(Flaw::ReorderedKeys) => arguments.to_owned(),
        Some(Flaw::BigNumbers) => canonical(&mut { as_float }),
        Some(Flaw::OtherArguments) => {
            let mut big = Vec::new();
            canonical(&mut |number| {
                if number.parse::<f64>().is_ok_and(|number| number >= BIG) {
                    big.push(number.to_owned());
                }
                String::new()
            });
            big.join(" ")
        }
        _ => canonical(&mut { exact }),
    }
}

/// One spelling of this text: names sorted, no white space, strings escaped in one way. None if it
/// is no JSON, or is nested too deep. The last of several members of one name counts.
fn walk(text: &str, depth: usize, spell: &mut dyn FnMut(&str) -> String) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    Some(match text.as_bytes().first()? {
        b'{' => {
            let Members(members) = serde_json::from_str(text).ok()?;
            let sorted: BTreeMap<String, &RawValue> = members.into_iter().collect();
            let mut parts = Vec::new();
            for (name, value) in sorted {
                let name = serde_json::to_string(&name).ok()?;
                let value = walk(value.get(), depth, spell)?;
                parts.push(format!("{name}:{value}"));
            }
            format!("{{{}}}", parts.join(","))
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            let mut parts = Vec::new();
            for item in items {
                parts.push(walk(item.get(), depth, spell)?);
            }
            format!("[{}]", parts.join(","))
        }
        b'"' => {
            let string: String = serde_json::from_str(text).ok()?;
            serde_json::to_string(&string).ok()?
        }
        b'-' | b'0'..=b'9' => spell(text),
        _ => text.to_owned(),
    })
}

/// The members of an object, in their order, also those of the same name.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Each)
    }
}

/// Anything in which no name is there twice.
struct Plain;

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Plain {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        let mut names = HashSet::new();
        while let Some((name, Self)) = members.next_entry::<String, Self>()? {
            if !names.insert(name) {
                return Err(A::Error::custom("a name is there twice"));
            }
        }
        Ok(self)
    }
}

#[test]
fn one_spelling() {
    let one = r#"{"b": [1, "\u0061"], "a": {"x": 9007199254740993}}"#;
    let other = r#"{"a":{"x":9007199254740993},"b":[1,"a"]}"#;
    assert_eq!(bound(one, None), other);
    assert_ne!(bound(&other.replace("993", "994"), None), other);
    assert!(is_plain(one) && !is_plain(r#"{"a":{"b":1,"b":1}}"#));
    assert!(!is_plain(&"[".repeat(100_000)));
}
