//! Strings as the JSON values that a schema wants in their place, so that they can be checked.

use serde_json::{Number, Value};

use super::keywords::{followed, members, names, types};
use super::{Checker, Described, InvalidSchema, Strings, Violations};

/// Checks arguments that come as strings against a schema.
#[derive(Debug)]
pub(crate) struct SpeltChecker {
    schema: Value,
    checker: Checker,
    needed: bool,
}

impl SpeltChecker {
    /// # Errors
    /// Where the schema is wrong.
    pub(crate) fn new(described: &Described) -> Result<Self, InvalidSchema> {
        let schema = &described.schema;
        Ok(Self {
            checker: match described.enforced {
                true => Checker::lazy(schema),
                false => Checker::compile(schema)?,
            },
            schema: Value::Object(schema.clone()),
            needed: !described.enforced,
        })
    }

    /// Whether decoding does not do all that the schema asks for.
    pub(crate) fn is_needed(&self) -> bool {
        self.needed
    }

    /// Whether an empty string in place of this argument means that it is not given: it may be
    /// left out, and could not be a string.
    pub(crate) fn may_be_blank(&self, name: &str) -> bool {
        let argument = self.schema.get("properties").and_then(|it| it.get(name));
        let meant = argument.and_then(|it| followed(&self.schema, it));
        let required = names(self.schema.get("required")).unwrap_or_default();
        let Some((Value::Object(meant), _)) = meant else {
            return false;
        };
        let mut kinds = types(meant).peekable();
        kinds.peek().is_some() && kinds.all(|it| it != "string") && !required.contains(&name)
    }

    pub(crate) fn violations(&self, values: &[(&str, Strings<'_>)]) -> Violations {
        let properties = self
            .schema
            .as_object()
            .and_then(|it| members(it, "properties"));
        let spelt = values.iter().map(|(name, strings)| {
            let schema = properties.and_then(|it| it.get(*name));
            (
                (*name).to_owned(),
                self.value(schema.unwrap_or(&Value::Null), *strings),
            )
        });
        self.checker.violations(&Value::Object(spelt.collect()))
    }

    fn value(&self, schema: &Value, strings: Strings<'_>) -> Value {
        let meant = followed(&self.schema, schema).map_or(schema, |(it, _)| it);
        let wanted =
            |kind: &str| (meant.as_object()).is_some_and(|it| types(it).any(|it| it == kind));
        let item = |text: &str| self.one(meant.get("items").unwrap_or(&Value::Null), text);
        match strings {
            Strings::One(text) if wanted("array") => Value::Array(vec![item(text)]),
            Strings::One(text) => self.one(meant, text),
            Strings::Many(texts) => texts.iter().map(|text| item(text)).collect(),
        }
    }

    fn one(&self, schema: &Value, text: &str) -> Value {
        let meant = followed(&self.schema, schema).map_or(schema, |(it, _)| it);
        for kind in meant.as_object().into_iter().flat_map(types) {
            let value = match kind {
                "integer" | "number" => number(text).map(Value::Number),
                "boolean" => text.parse().ok().map(Value::Bool),
                _ => None,
            };
            if let Some(value) = value {
                return value;
            }
        }
        text.into()
    }
}

/// A number as Rust reads it, which takes `+5` and `007` as well.
fn number(text: &str) -> Option<Number> {
    if let Ok(number) = text.parse::<i64>() {
        return Some(number.into());
    }
    if let Ok(number) = text.parse::<u64>() {
        return Some(number.into());
    }
    text.parse().ok().and_then(Number::from_f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn checker(schema: Value) -> SpeltChecker {
        let Value::Object(schema) = schema else {
            panic!("an object")
        };
        let described = Described {
            schema,
            description: None,
            enforced: false,
        };
        SpeltChecker::new(&described).expect("a schema")
    }

    #[test]
    fn strings_are_checked_as_what_they_spell() {
        let schema = json!({
            "type": "object",
            "properties": {
                "copies": { "type": "integer", "minimum": 1 },
                "share": { "type": ["number", "null"], "maximum": 1 },
                "gift": { "type": "boolean" },
                "code": { "$ref": "#/$defs/Code" },
                "pages": { "type": "array", "items": { "type": "integer", "maximum": 9 } },
            },
            "$defs": { "Code": { "type": "string", "pattern": "^[0-9]+$" } },
        });
        let checker = checker(schema);
        let told =
            |values: &[(&'static str, Strings<'static>)]| checker.violations(values).to_string();
        let good = [
            ("copies", Strings::One("2")),
            ("share", Strings::One("0.5")),
            ("gift", Strings::One("true")),
            ("code", Strings::One("42")),
            ("pages", Strings::One("7")),
        ];
        assert_eq!(told(&good), "");
        for (bad, path) in [
            (("copies", Strings::One("0")), "`copies`"),
            (("copies", Strings::One("two")), "`copies`"),
            (("share", Strings::One("1.5")), "`share`"),
            (("gift", Strings::One("yes")), "`gift`"),
            (("code", Strings::One("x42")), "`code`"),
            (("pages", Strings::One("10")), "`pages[0]`"),
        ] {
            assert!(told(&[bad]).contains(path), "{bad:?}");
        }
    }

    #[test]
    fn numbers_are_those_that_the_type_takes() {
        let checker = checker(json!({"properties": {
            "copies": {"type": "integer", "minimum": 5, "maximum": 18446744073709551615_u64},
            "share": {"type": "number"},
        }}));
        let told = |name, text| {
            checker
                .violations(&[(name, Strings::One(text))])
                .to_string()
        };
        for text in ["5", "+5", "007", "18446744073709551615"] {
            assert_eq!(told("copies", text), "", "{text}");
        }
        for text in ["+4", "-5", "004", " 5", "5.5", "0x5", "", "--5", "5_0"] {
            assert!(told("copies", text).contains("`copies`"), "{text}");
        }
        for text in ["+.5", "1.", "1e3", "-0", "00.5"] {
            assert_eq!(told("share", text), "", "{text}");
        }
        // JSON has no such numbers.
        for text in ["NaN", "inf", "1e999", "half"] {
            assert!(told("share", text).contains("`share`"), "{text}");
        }
    }

    #[test]
    fn only_what_is_no_string_may_be_blank() {
        let checker = checker(json!({
            "properties": {
                "copies": {"type": ["integer", "null"]},
                "page": {"anyOf": [{"$ref": "#/$defs/Page"}, {"type": "null"}]},
                "gift": {"type": "boolean"},
                "needed": {"type": "integer"},
                "note": {"type": ["string", "null"]},
                "tone": {"enum": ["", "warm"]},
                "any": {},
                "all": true,
            },
            "required": ["needed"],
            "$defs": {"Page": {"type": "integer"}},
        }));
        for name in ["copies", "page", "gift"] {
            assert!(checker.may_be_blank(name), "{name}");
        }
        for name in ["needed", "note", "tone", "any", "all", "unknown"] {
            assert!(!checker.may_be_blank(name), "{name}");
        }
    }
}
