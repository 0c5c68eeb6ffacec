//! What is looked at to say what is wrong with a value.

use serde_json::{Map, Value};

/// The validator copies much of a value to explain an error, once for every alternative on the
/// way to it: a message of 4 MiB can take gigabytes.
const MAX_WEIGHT: usize = 64 * 1024;

/// A value that holds less counts as this much.
const MIN_WEIGHT: usize = 16;

/// Longer strings are cut if the whole is too heavy otherwise.
const MAX_STRING: usize = 1024;

/// A copy of a value with its long strings cut, if it is heavy.
pub(super) struct Excerpt {
    pub(super) value: Value,
    /// JSON pointers to the strings that were cut.
    cuts: Vec<String>,
}

impl Excerpt {
    /// None if a value is heavy even so.
    pub(super) fn of(value: &Value) -> Option<Self> {
        [usize::MAX, MAX_STRING].into_iter().find_map(|longest| {
            let mut copy = Copy {
                longest,
                left: MAX_WEIGHT,
                path: String::new(),
                cuts: Vec::new(),
            };
            let value = copy.value(value)?;
            let cuts = copy.cuts;
            Some(Self { value, cuts })
        })
    }

    /// Whether a cut was made at, or below, a place.
    pub(super) fn is_cut(&self, pointer: &str) -> bool {
        self.cuts.iter().any(|cut| cut.starts_with(pointer))
    }
}

struct Copy {
    longest: usize,
    /// How much more may be copied.
    left: usize,
    path: String,
    cuts: Vec<String>,
}

impl Copy {
    fn value(&mut self, value: &Value) -> Option<Value> {
        Some(match value {
            Value::String(text) => Value::String(self.text(text)?),
            Value::Array(items) => {
                self.weigh(MIN_WEIGHT)?;
                let mut copies = Vec::new();
                for (at, item) in items.iter().enumerate() {
                    copies.push(self.below(&at.to_string(), item)?);
                }
                Value::Array(copies)
            }
            Value::Object(members) => {
                self.weigh(MIN_WEIGHT)?;
                let mut copies = Map::new();
                for (name, member) in members {
                    self.weigh(name.len())?;
                    let segment = name.replace('~', "~0").replace('/', "~1");
                    copies.insert(name.clone(), self.below(&segment, member)?);
                }
                Value::Object(copies)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.weigh(MIN_WEIGHT)?;
                value.clone()
            }
        })
    }

    fn below(&mut self, segment: &str, value: &Value) -> Option<Value> {
        let length = self.path.len();
        self.path.push('/');
        self.path.push_str(segment);
        let copy = self.value(value);
        self.path.truncate(length);
        copy
    }

    fn text(&mut self, text: &str) -> Option<String> {
        if text.len() <= self.longest {
            self.weigh(text.len() + MIN_WEIGHT)?;
            return Some(text.to_owned());
        }
        self.weigh(self.longest)?;
        self.cuts.push(self.path.clone());
        Some(text[..text.floor_char_boundary(self.longest)].to_owned())
    }

    fn weigh(&mut self, weight: usize) -> Option<()> {
        self.left = self.left.checked_sub(weight)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn light_values_stay_as_they_are() {
        let value = json!({"a": ["x".repeat(10_000), 1, null], "b": {"c": true}});
        let excerpt = Excerpt::of(&value).unwrap();
        assert_eq!(excerpt.value, value);
        assert!(!excerpt.is_cut(""));
    }

    #[test]
    fn long_strings_of_heavy_values_are_cut() {
        let value = json!({"a/b": ["é".repeat(100_000)], "short": "s"});
        let excerpt = Excerpt::of(&value).unwrap();
        assert_eq!(excerpt.value["short"], "s");
        assert!(excerpt.value["a/b"][0].as_str().unwrap().len() <= MAX_STRING);
        for (pointer, cut) in [
            ("", true),
            ("/a~1b", true),
            ("/a~1b/0", true),
            ("/short", false),
        ] {
            assert_eq!(excerpt.is_cut(pointer), cut, "{pointer}");
        }
    }

    #[test]
    fn other_heavy_values_have_none() {
        assert!(Excerpt::of(&json!(vec![0; MAX_WEIGHT])).is_none());
        assert!(Excerpt::of(&json!({"k".repeat(MAX_WEIGHT): 1})).is_none());
    }
}
