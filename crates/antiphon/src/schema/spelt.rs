//! Strings as the JSON values that a schema wants in their place, so that they can be checked.

use serde_json::{Number, Value};

use super::keywords::{followed, members, types};
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
                "integer" | "number" => text.parse::<Number>().ok().map(Value::Number),
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
        let Value::Object(schema) = schema else {
            panic!("an object")
        };
        let described = Described {
            schema,
            description: None,
            enforced: false,
        };
        let checker = SpeltChecker::new(&described).expect("a schema");
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
}
