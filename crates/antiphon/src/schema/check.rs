//! Checking values against a schema, and saying what is wrong with them.

use std::fmt::{self, Write as _};
use std::sync::OnceLock;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{JsonType, ValidationError, Validator};
use serde::Serialize;
use serde_json::{Map, Value};

use super::InvalidSchema;

/// How many violations are told.
const MAX_KEPT: usize = 32;

/// How much of a member's name is told: it may come from a peer.
const MAX_KEY: usize = 64;

/// How many of the allowed values are told.
const MAX_CHOICES: usize = 24;

/// A schema that values are checked against.
pub(crate) struct Checker {
    schema: Value,
    validator: OnceLock<Result<Validator, InvalidSchema>>,
}

impl Checker {
    /// Reads the schema now; for one that an author wrote.
    ///
    /// # Errors
    /// Where the schema is wrong. A `$ref` to another document is wrong too: nothing is fetched.
    pub(crate) fn compile(schema: &Map<String, Value>) -> Result<Self, InvalidSchema> {
        let schema = Value::Object(schema.clone());
        let validator = validator(&schema)?;
        Ok(Self {
            schema,
            validator: OnceLock::from(Ok(validator)),
        })
    }

    /// Reads the schema when the first value comes; for one made from a type.
    pub(crate) fn lazy(schema: &Map<String, Value>) -> Self {
        Self {
            schema: Value::Object(schema.clone()),
            validator: OnceLock::new(),
        }
    }

    /// What the schema forbids about a value.
    pub(crate) fn violations(&self, value: &Value) -> Violations {
        let mut violations = Violations::default();
        match self.validator.get_or_init(|| validator(&self.schema)) {
            // Most values are fine, which takes no memory to find out.
            Ok(validator) if validator.is_valid(value) => {}
            Ok(validator) => {
                for error in validator.iter_errors(value) {
                    violations.note(&error);
                }
            }
            Err(error) => violations.push(String::new(), || {
                format!("cannot be checked, as the schema is wrong: {error}")
            }),
        }
        violations
    }
}

impl fmt::Debug for Checker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checker").finish_non_exhaustive()
    }
}

fn validator(schema: &Value) -> Result<Validator, InvalidSchema> {
    (jsonschema::options().offline().build(schema)).map_err(|error| {
        let place = path(error.instance_path());
        InvalidSchema::new(if place.is_empty() {
            format!("the schema is wrong: {error}")
        } else {
            format!("the schema is wrong at `{place}`: {error}")
        })
    })
}

/// What is wrong with a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Violations {
    kept: Vec<Violation>,
    more: usize,
}

/// One thing that is wrong, and where. Never tells the value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Violation {
    /// Such as `lines[1].copies`; empty for the whole.
    pub(crate) path: String,
    pub(crate) message: String,
}

impl Violations {
    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The first ones.
    pub(crate) fn kept(&self) -> &[Violation] {
        &self.kept
    }

    /// How many there are besides.
    pub(crate) fn more(&self) -> usize {
        self.more
    }

    fn push(&mut self, path: String, message: impl FnOnce() -> String) {
        if self.kept.len() < MAX_KEPT {
            let message = message();
            self.kept.push(Violation { path, message });
        } else {
            self.more += 1;
        }
    }

    fn note(&mut self, error: &ValidationError<'_>) {
        let at = error.instance_path();
        if self.kept.len() == MAX_KEPT {
            self.more += 1;
            return;
        }
        match error.kind() {
            Kind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                self.push(member(at, name), || "is missing".to_owned());
            }
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                for name in unexpected {
                    self.push(member(at, name), || "is not a known member".to_owned());
                }
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => match meant(at, context) {
                Some(errors) => errors.iter().for_each(|error| self.note(error)),
                None => self.push(path(at), || "has none of the allowed forms".to_owned()),
            },
            _ => self.push(path(at), || rule(error)),
        }
    }
}

/// One line for each, such as ``- `lines[1].copies`: must be at least 1``.
impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Violation { path, message }) in self.kept.iter().enumerate() {
            let line = if at == 0 { "" } else { "\n" };
            match &**path {
                "" => write!(f, "{line}- the whole: {message}")?,
                path => write!(f, "{line}- `{path}`: {message}")?,
            }
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "\n- and {more} more"),
        }
    }
}

/// The list of those that are kept.
impl Serialize for Violations {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.kept.serialize(to)
    }
}

/// The one form that a value was probably meant to have: it is of its type and has its tag.
fn meant<'e>(
    at: &Location,
    forms: &'e [Vec<ValidationError<'static>>],
) -> Option<&'e [ValidationError<'static>]> {
    let depth = |at: &Location| at.segments().count();
    let is_other = |error: &ValidationError<'_>| {
        let below = depth(error.instance_path()).saturating_sub(depth(at));
        match error.kind() {
            Kind::Type { .. } | Kind::FalseSchema => below == 0,
            Kind::Constant { .. } | Kind::Enum { .. } => below <= 1,
            _ => false,
        }
    };
    let mut likely = (forms.iter()).filter(|errors| !errors.iter().any(is_other));
    match (likely.next(), likely.next()) {
        (Some(errors), None) if !errors.is_empty() => Some(errors),
        _ => None,
    }
}

/// The rule that a value breaks, in words that do not tell the value.
fn rule(error: &ValidationError<'_>) -> String {
    let count = |bound: &str, limit: u64, what: &str| {
        let plural = if limit == 1 { "" } else { "s" };
        format!("must have at {bound} {limit} {what}{plural}")
    };
    match error.kind() {
        Kind::Type { kind } => format!("must be {}", kinds(kind)),
        Kind::Enum { options } => format!("must be one of {}", choices(options)),
        Kind::Constant { expected_value } => format!("must be {expected_value}"),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be greater than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit } => count("least", *limit, "character"),
        Kind::MaxLength { limit } => count("most", *limit, "character"),
        Kind::MinItems { limit } => count("least", *limit, "item"),
        Kind::MaxItems { limit } => count("most", *limit, "item"),
        Kind::AdditionalItems { limit } => count("most", *limit as u64, "item"),
        Kind::MinProperties { limit } => count("least", *limit, "member"),
        Kind::MaxProperties { limit } => count("most", *limit, "member"),
        Kind::Pattern { pattern } => format!("must match the pattern {pattern}"),
        Kind::Format { format } => format!("must be of the format {format}"),
        Kind::UniqueItems => "must not repeat an item".to_owned(),
        Kind::UnevaluatedItems { .. } => "has items that are not allowed".to_owned(),
        Kind::Contains => "lacks an item of a form that is required".to_owned(),
        Kind::PropertyNames { .. } => "has a member whose name is not allowed".to_owned(),
        Kind::Not { .. } => "has a form that is not allowed".to_owned(),
        Kind::OneOfMultipleValid { .. } => "has more than one of the allowed forms".to_owned(),
        Kind::FalseSchema => "is not allowed".to_owned(),
        _ => error.masked().to_string(),
    }
}

fn kinds(kind: &TypeKind) -> String {
    let mut text = String::new();
    let mut add = |kind: JsonType| {
        let name = match kind {
            JsonType::Array => "a list",
            JsonType::Boolean => "true or false",
            JsonType::Integer => "a whole number",
            JsonType::Null => "null",
            JsonType::Number => "a number",
            JsonType::Object => "an object",
            JsonType::String => "a string",
        };
        let or = if text.is_empty() { "" } else { " or " };
        text.push_str(or);
        text.push_str(name);
    };
    match kind {
        TypeKind::Single(kind) => add(*kind),
        TypeKind::Multiple(kinds) => kinds.iter().for_each(add),
    }
    text
}

fn choices(options: &Value) -> String {
    let options = options.as_array().map_or(&[][..], Vec::as_slice);
    let told: Vec<_> = options
        .iter()
        .take(MAX_CHOICES)
        .map(Value::to_string)
        .collect();
    let rest = if options.len() > MAX_CHOICES {
        ", .."
    } else {
        ""
    };
    told.join(", ") + rest
}

/// A place in a value, written as in JavaScript.
fn path(at: &Location) -> String {
    let mut path = String::new();
    for segment in at.segments() {
        match segment {
            LocationSegment::Property(name) => push_key(&mut path, &name),
            LocationSegment::Index(index) => push_index(&mut path, index),
        }
    }
    path
}

fn member(at: &Location, name: &str) -> String {
    let mut path = path(at);
    push_key(&mut path, name);
    path
}

fn push_index(path: &mut String, index: usize) {
    write!(path, "[{index}]").expect("a string takes all");
}

fn push_key(path: &mut String, key: &str) {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-');
    let short = key.len() <= MAX_KEY;
    let plain = short && key.bytes().all(is_name);
    if plain && key.bytes().next().is_some_and(|it| !it.is_ascii_digit()) {
        let dot = if path.is_empty() { "" } else { "." };
        write!(path, "{dot}{key}").expect("a string takes all");
        return;
    }
    let told: String = key.chars().take(MAX_KEY).collect();
    let cut = if told.len() < key.len() { ".." } else { "" };
    let told = Value::String(told + cut)
        .to_string()
        .replace('`', "\\u0060");
    write!(path, "[{told}]").expect("a string takes all");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn checker(schema: &Value) -> Checker {
        Checker::compile(schema.as_object().unwrap()).unwrap()
    }

    /// What is said of a value.
    fn said(schema: &Value, value: &Value) -> String {
        checker(schema).violations(value).to_string()
    }

    fn order() -> Value {
        json!({
            "type": "object",
            "properties": {
                "title": {"type": "string", "minLength": 1, "pattern": "^[A-Z]"},
                "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
                "tone": {"enum": ["warm", "cold"]},
                "when": {"anyOf": [{"$ref": "#/$defs/Line"}, {"type": "null"}]},
                "odd key": {"type": "boolean"},
            },
            "required": ["title", "lines"],
            "additionalProperties": false,
            "$defs": {"Line": {
                "type": "object",
                "properties": {
                    "copies": {"type": "integer", "minimum": 1},
                    "gift": {"type": ["string", "null"]},
                },
                "required": ["copies"],
            }},
        })
    }

    #[test]
    fn violations_name_the_place_and_the_rule() {
        let value = json!({
            "title": "",
            "lines": [{"copies": 1}, {"copies": 0, "gift": 1}, {}, 5],
            "tone": "secret",
            "when": {"copies": "secret"},
            "odd key": "secret",
            "more`": "secret",
        });
        let said = said(&order(), &value);
        let mut lines: Vec<_> = said.lines().collect();
        lines.sort_unstable();
        assert_eq!(
            lines,
            [
                r#"- `["more\u0060"]`: is not a known member"#,
                r#"- `["odd key"]`: must be true or false"#,
                "- `lines[1].copies`: must be at least 1",
                "- `lines[1].gift`: must be null or a string",
                "- `lines[2].copies`: is missing",
                "- `lines[3]`: must be an object",
                "- `title`: must have at least 1 character",
                "- `title`: must match the pattern ^[A-Z]",
                r#"- `tone`: must be one of "warm", "cold""#,
                "- `when.copies`: must be a whole number",
            ]
        );
    }

    #[test]
    fn fine_is_fine() {
        let fine = json!({"title": "T", "lines": [{"copies": 2}], "when": null});
        assert!(checker(&order()).violations(&fine).is_empty());
        let lazy = Checker::lazy(order().as_object().unwrap());
        assert!(lazy.violations(&fine).is_empty());
        assert!(!lazy.violations(&json!({})).is_empty());
    }

    #[test]
    fn the_whole_has_no_path() {
        let schema = json!({"type": "object", "minProperties": 1});
        let empty = said(&schema, &json!({}));
        assert_eq!(empty, "- the whole: must have at least 1 member");
        let violations = checker(&schema).violations(&json!(1));
        assert_eq!(
            serde_json::to_value(&violations).unwrap(),
            json!([{"path": "", "message": "must be an object"}])
        );
    }

    #[test]
    fn the_variant_that_was_meant_is_explained() {
        let schema = json!({"oneOf": [
            {"type": "string", "enum": ["dot"]},
            {
                "type": "object",
                "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}},
                "required": ["kind", "radius"],
            },
            {
                "type": "object",
                "properties": {"kind": {"const": "square"}, "side": {"type": "number"}},
                "required": ["kind", "side"],
            },
        ]});
        for (value, text) in [
            (json!({"kind": "square"}), "- `side`: is missing"),
            (
                json!({"kind": "circle", "radius": "x"}),
                "- `radius`: must be a number",
            ),
            (
                json!({"kind": "cube"}),
                "- the whole: has none of the allowed forms",
            ),
            (json!({}), "- the whole: has none of the allowed forms"),
            (json!("x"), "- the whole: has none of the allowed forms"),
            (json!(1), "- the whole: has none of the allowed forms"),
        ] {
            assert_eq!(said(&schema, &value), text);
        }
    }

    #[test]
    fn values_are_not_told() {
        let secret = "hunter2";
        for schema in [
            json!({"type": "integer"}),
            json!({"type": ["integer", "null"]}),
            json!({"enum": ["a"]}),
            json!({"const": "a"}),
            json!({"maxLength": 1}),
            json!({"minLength": 100}),
            json!({"pattern": "^a$"}),
            json!({"not": {"type": "string"}}),
            json!({"anyOf": [{"type": "integer"}, {"maxLength": 1}]}),
            json!({"oneOf": [{"type": "string"}, {"minLength": 1}]}),
            json!({"allOf": [{"type": "integer"}]}),
            json!({"if": true, "then": {"type": "integer"}}),
        ] {
            let within = json!({"type": "object", "properties": {"v": schema}});
            let told = said(&within, &json!({"v": secret}));
            assert!(!told.contains(secret), "{told}");
            assert!(told.starts_with("- `v`: "), "{schema}: {told}");
        }
        for schema in [
            json!({"items": {"type": "integer"}}),
            json!({"contains": {"type": "integer"}}),
            json!({"prefixItems": [true], "items": false}),
            json!({"prefixItems": [true], "unevaluatedItems": false}),
            json!({"uniqueItems": true}),
            json!({"maxItems": 1}),
        ] {
            let told = said(&schema, &json!([secret, secret]));
            assert!(
                !told.is_empty() && !told.contains(secret),
                "{schema}: {told}"
            );
        }
        for schema in [
            json!({"additionalProperties": {"type": "integer"}}),
            json!({"propertyNames": {"maxLength": 1}}),
            json!({"maxProperties": 0}),
            json!({"dependentRequired": {"key": ["other"]}}),
            json!({"unevaluatedProperties": false}),
        ] {
            let told = said(&schema, &json!({"key": secret}));
            assert!(
                !told.is_empty() && !told.contains(secret),
                "{schema}: {told}"
            );
        }
    }

    #[test]
    fn only_so_many_are_told() {
        let schema = json!({"items": {"type": "string"}});
        let violations = checker(&schema).violations(&json!(vec![0; 100]));
        assert_eq!(violations.kept().len(), MAX_KEPT);
        assert_eq!(violations.more(), 100 - MAX_KEPT);
        let told = violations.to_string();
        assert_eq!(told.lines().count(), MAX_KEPT + 1);
        assert!(told.ends_with("- and 68 more"), "{told}");

        let many: Map<_, _> = (0..100).map(|at| (format!("k{at}"), json!(0))).collect();
        let closed = json!({"additionalProperties": false});
        assert_eq!(checker(&closed).violations(&Value::Object(many)).more(), 68);
    }

    #[test]
    fn long_names_are_cut() {
        let closed = json!({"additionalProperties": false});
        let told = said(&closed, &json!({"k".repeat(10_000): 1}));
        assert!(told.len() < 200, "{told}");
    }

    #[test]
    fn a_wrong_schema_says_where() {
        for (schema, place) in [
            (
                json!({"properties": {"a": {"type": "strin"}}}),
                "`properties.a.type`",
            ),
            (
                json!({"properties": {"a": {"pattern": "("}}}),
                "`properties.a.pattern`",
            ),
            (json!({"required": "a"}), "`required`"),
            (
                json!({"properties": {"a": {"$ref": "#/$defs/B"}}}),
                "/$defs/B",
            ),
            (
                json!({"$ref": "https://example.org/s.json"}),
                "https://example.org/s.json",
            ),
            (json!({"$ref": "file:///etc/hosts"}), "file:///etc/hosts"),
            (
                json!({"$schema": "https://example.org/dialect"}),
                "https://example.org/dialect",
            ),
        ] {
            let schema = schema.as_object().unwrap();
            let error = Checker::compile(schema).unwrap_err().to_string();
            assert!(error.contains(place), "{place}: {error}");
            let said = Checker::lazy(schema).violations(&json!({})).to_string();
            assert!(said.contains("the schema is wrong"), "{said}");
        }
    }
}
