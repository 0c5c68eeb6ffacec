//! Reading JSON in which every name stands once.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::Violations;
use super::violations::{push_index, push_key};

/// Reads a value, and says which names stand twice in an object.
///
/// Of those the last one counts in a [`Value`], and perhaps the first one elsewhere: a check of
/// the one says nothing about the other.
///
/// # Errors
/// For what is not JSON.
pub(crate) fn read_once(text: &str) -> serde_json::Result<(Value, Violations)> {
    let mut place = Place::default();
    let mut json = serde_json::Deserializer::from_str(text);
    let value = At(&mut place).deserialize(&mut json)?;
    json.end()?;
    Ok((value, place.doubled))
}

#[derive(Default)]
struct Place {
    path: String,
    doubled: Violations,
}

/// What is read at a place.
struct At<'a>(&'a mut Place);

impl<'de> DeserializeSeed<'de> for At<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for At<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let here = self.0.path.len();
        let mut items = Vec::new();
        push_index(&mut self.0.path, 0);
        while let Some(item) = from.next_element_seed(At(self.0))? {
            items.push(item);
            self.0.path.truncate(here);
            push_index(&mut self.0.path, items.len());
        }
        self.0.path.truncate(here);
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let here = self.0.path.len();
        let mut members = Map::new();
        while let Some(name) = from.next_key::<String>()? {
            push_key(&mut self.0.path, &name);
            if members.contains_key(&name) {
                let path = self.0.path.clone();
                self.0.doubled.push(path, || "stands twice".to_owned());
            }
            let member = from.next_value_seed(At(self.0))?;
            members.insert(name, member);
            self.0.path.truncate(here);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubled(text: &str) -> String {
        let (_, doubled) = read_once(text).expect("JSON");
        doubled.to_string()
    }

    #[test]
    fn values_are_read_as_ever() {
        let text =
            r#"{"a":[null,true,-1,18446744073709551615,1.5,1e300,"x\n",[]],"b":{"a":{}},"":0}"#;
        let (value, doubled) = read_once(text).unwrap();
        assert_eq!(value, serde_json::from_str::<Value>(text).unwrap());
        assert!(doubled.is_empty());
    }

    #[test]
    fn names_that_stand_twice_are_told() {
        assert_eq!(
            doubled(r#"{"path":"/etc","path":"/safe"}"#),
            "- `path`: stands twice"
        );
        let escaped = r#"{"a":[{"b":1},{"b":1,"c":[],"\u0062":2}],"a b":{"a":1,"a":1}}"#;
        assert_eq!(
            doubled(escaped),
            "- `a[1].b`: stands twice\n- `[\"a b\"].a`: stands twice"
        );
    }

    #[test]
    fn only_so_many_are_told() {
        let told = doubled(&format!("{{{}\"a\":1}}", "\"a\":1,".repeat(100)));
        assert!(told.ends_with("- and 68 more"), "{told}");
    }

    #[test]
    fn what_is_not_json_is_an_error() {
        for text in ["", "{", r#"{"a":}"#, "{} x", "[1,]"] {
            assert!(read_once(text).is_err(), "{text}");
        }
        let deep = "[".repeat(100_000);
        assert!(read_once(&deep).is_err());
    }
}
