//! Checking values against a schema, and saying what is wrong with them.

use std::fmt;
use std::sync::OnceLock;

use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

use super::effort::{Mode, is_cheap};
use super::excerpt::Excerpt;
use super::narrow::narrowed;
use super::violations::path;
use super::{InvalidSchema, Violations};

/// A schema that values are checked against.
pub(crate) struct Checker {
    schema: Value,
    rules: Rules,
    validator: OnceLock<Result<Validator, InvalidSchema>>,
    /// Of the same schema, for values that are costly to explain otherwise.
    narrow: OnceLock<Option<Validator>>,
}

/// How a schema is taken.
#[derive(Debug, Clone, Copy, Default)]
struct Rules {
    /// Whether `format` is a rule, which it is in forms, or only a remark.
    formats: bool,
    /// Whether a stranger wrote it.
    foreign: bool,
}

impl Checker {
    /// Reads the schema now; for one that an author wrote.
    ///
    /// # Errors
    /// Where the schema is wrong. A `$ref` to another document is wrong too: nothing is fetched.
    pub(crate) fn compile(schema: &Map<String, Value>) -> Result<Self, InvalidSchema> {
        let schema = Value::Object(schema.clone());
        let validator = validator(&schema, Rules::default())?;
        Ok(Self {
            schema,
            rules: Rules::default(),
            validator: OnceLock::from(Ok(validator)),
            narrow: OnceLock::new(),
        })
    }

    /// Reads the schema when the first value comes; for one made from a type.
    pub(crate) fn lazy(schema: &Map<String, Value>) -> Self {
        Self {
            schema: Value::Object(schema.clone()),
            rules: Rules::default(),
            validator: OnceLock::new(),
            narrow: OnceLock::new(),
        }
    }

    /// The same, for one that a stranger wrote: its patterns must be modest.
    #[cfg(feature = "client")]
    pub(super) fn foreign(schema: &Map<String, Value>, formats: bool) -> Self {
        Self {
            rules: Rules {
                formats,
                foreign: true,
            },
            ..Self::lazy(schema)
        }
    }

    /// Whether the schema itself is right.
    #[cfg(feature = "client")]
    pub(super) fn is_usable(&self) -> bool {
        let validator = || validator(&self.schema, self.rules);
        self.validator.get_or_init(validator).is_ok()
    }

    /// The schema itself.
    #[cfg(feature = "client")]
    pub(super) fn schema(&self) -> &Value {
        &self.schema
    }

    /// What the schema forbids about a value.
    pub(crate) fn violations(&self, value: &Value) -> Violations {
        match self
            .validator
            .get_or_init(|| validator(&self.schema, self.rules))
        {
            // Most values are fine, which takes no memory to find out.
            Ok(validator) if validator.is_valid(value) => Violations::default(),
            Ok(validator) => self.explain(validator, value),
            Err(error) => {
                let why = format!("cannot be checked, as the schema is wrong: {error}");
                Violations::one("", why)
            }
        }
    }

    /// What is wrong with a value that is not valid, as far as it can be said at a small cost.
    fn explain(&self, whole: &Validator, value: &Value) -> Violations {
        let Some(excerpt) = Excerpt::of(value) else {
            return Violations::vague("is too large to say where");
        };
        let is_cheap = |mode| is_cheap(&self.schema, &excerpt.value, mode);
        let mut told = None;
        if is_cheap(Mode::Each) {
            told = Some(explained(whole, &excerpt));
        }
        // Among alternatives that do not fit, this one finds the one that was meant more often.
        if told.as_ref().is_none_or(Violations::is_undecided)
            && is_cheap(Mode::Likely)
            && let Some(narrow) = self.narrow()
        {
            let narrow = explained(narrow, &excerpt);
            told = Some(narrow).filter(|it| !it.is_empty()).or(told);
        }
        match told {
            None => Violations::vague("is nested too deep to say where"),
            Some(told) if told.is_empty() => Violations::vague("is too large to say where"),
            Some(told) => told,
        }
    }

    fn narrow(&self) -> Option<&Validator> {
        let narrow = || validator(&narrowed(&self.schema)?, self.rules).ok();
        self.narrow.get_or_init(narrow).as_ref()
    }
}

impl fmt::Debug for Checker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checker").finish_non_exhaustive()
    }
}

fn validator(schema: &Value, rules: Rules) -> Result<Validator, InvalidSchema> {
    let mut options = jsonschema::options()
        .offline()
        .should_validate_formats(rules.formats);
    if rules.foreign {
        let patterns = PatternOptions::fancy_regex();
        let patterns = patterns.backtrack_limit(10_000).size_limit(1 << 20);
        options = options.with_pattern_options(patterns);
    }
    options.build(schema).map_err(|error| {
        let place = path(error.instance_path());
        InvalidSchema::new(if place.is_empty() {
            format!("the schema is wrong: {error}")
        } else {
            format!("the schema is wrong at `{place}`: {error}")
        })
    })
}

fn explained(validator: &Validator, excerpt: &Excerpt) -> Violations {
    let mut violations = Violations::default();
    for error in validator.iter_errors(&excerpt.value) {
        if is_certain(&error, excerpt) {
            violations.note(&error, &excerpt.value);
        }
    }
    violations
}

/// Whether an error is not just due to a string that was cut.
fn is_certain(error: &ValidationError<'_>, excerpt: &Excerpt) -> bool {
    let whatever_strings = matches!(
        error.kind(),
        Kind::AdditionalItems { .. }
            | Kind::AdditionalProperties { .. }
            | Kind::MaxItems { .. }
            | Kind::MaxProperties { .. }
            | Kind::MinItems { .. }
            | Kind::MinProperties { .. }
            | Kind::Required { .. }
            | Kind::Type { .. }
    );
    whatever_strings || !excerpt.is_cut(error.instance_path().as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::violations::MAX_KEPT;

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
    fn named_variants_are_explained_as_well() {
        let variant = |name: &str, held: Value| {
            json!({
                "type": "object",
                "properties": {name: held},
                "required": [name],
                "additionalProperties": false,
            })
        };
        let number = variant("number", json!({"type": "integer"}));
        let schema = json!({"oneOf": [number, variant("not", json!({"$ref": "#"}))]});
        let told = said(&schema, &json!({"not": {"not": {"number": "x"}}}));
        assert_eq!(told, "- `not.not.number`: must be a whole number");
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
        assert_eq!(violations.to_string().lines().count(), MAX_KEPT + 1);
        assert!(violations.to_string().ends_with("- and 68 more"));
        let told = violations.to_string();
        assert_eq!(told.lines().count(), MAX_KEPT + 1);
        assert!(told.ends_with("- and 68 more"), "{told}");

        let many: Map<_, _> = (0..100).map(|at| (format!("k{at}"), json!(0))).collect();
        let closed = json!({"additionalProperties": false});
        let told = checker(&closed)
            .violations(&Value::Object(many))
            .to_string();
        assert!(told.ends_with("- and 68 more"), "{told}");
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

    /// Explaining errors takes the validator much memory, so that it must not see all of these.
    #[test]
    fn heavy_values_are_explained_as_far_as_possible() {
        let nested = json!({"oneOf": [
            {
                "type": "object",
                "properties": {"A": {"$ref": "#"}},
                "required": ["A"],
                "additionalProperties": false,
            },
            {"type": "string", "enum": ["x"]},
        ]});
        let mut deep = json!("y".repeat(4 << 20));
        for _ in 0..60 {
            deep = json!({"A": deep});
        }
        let vague = "- the whole: does not fit the schema, and is too large to say where";
        assert_eq!(said(&nested, &deep), vague);
        assert_eq!(
            said(
                &json!({"items": {"type": "string"}}),
                &json!(vec![0; 100_000])
            ),
            vague
        );

        let file = json!({
            "properties": {
                "path": {"type": "string"},
                "mode": {"type": "integer"},
                "text": {"type": "string", "minLength": 2000, "pattern": "y$"},
            },
            "required": ["path"],
        });
        let text = "x".repeat(1 << 20) + "y";
        assert_eq!(
            said(&file, &json!({"mode": "x", "text": text})),
            "- `path`: is missing\n- `mode`: must be a whole number"
        );
        assert_eq!(
            said(&file, &json!({"path": "p", "text": text + "z"})),
            vague
        );
    }

    /// Trees of every way that serde writes enums in, where each level has three alternatives.
    #[expect(dead_code, reason = "only their schemas matter")]
    mod trees {
        use schemars::JsonSchema;

        #[derive(JsonSchema)]
        #[serde(tag = "op")]
        pub(super) enum Inner {
            And { of: Vec<Self> },
            Or { of: Vec<Self> },
            Not { of: Vec<Self> },
            Leaf { n: i64 },
        }

        #[derive(JsonSchema)]
        #[serde(tag = "op", content = "of")]
        pub(super) enum Adjacent {
            And(Vec<Self>),
            Or(Vec<Self>),
            Not(Option<Box<Self>>),
            Leaf(i64),
        }

        #[derive(JsonSchema)]
        pub(super) enum Outer {
            And(Vec<Self>),
            Or(Vec<Self>),
            Not(Vec<Self>),
            Leaf(i64),
        }

        #[derive(JsonSchema)]
        #[serde(untagged)]
        pub(super) enum Untagged {
            And { and: Vec<Self> },
            Or { or: Vec<Self> },
            Many(Vec<Self>),
            Leaf(i64),
        }

        /// Nothing tells these apart.
        #[derive(JsonSchema)]
        #[serde(untagged)]
        pub(super) enum Alike {
            And { of: Vec<Self> },
            Or { of: Vec<Self>, more: Option<bool> },
            Not { of: Vec<Self>, less: Option<bool> },
            Leaf { n: i64 },
        }

        #[derive(JsonSchema)]
        pub(super) struct Query<T> {
            q: T,
        }
    }

    fn query<T: schemars::JsonSchema>() -> Checker {
        let schema = schemars::schema_for!(trees::Query<T>);
        checker(schema.as_value())
    }

    fn nested(levels: usize, leaf: Value, level: impl Fn(Value) -> Value) -> Value {
        json!({"q": (0..levels).fold(leaf, |inner, _| level(inner))})
    }

    #[test]
    fn the_wrong_leaf_of_a_deep_tree_is_found() {
        for levels in [2, 8, 16, 30] {
            let told = |checker: Checker, value: Value| checker.violations(&value).to_string();
            let of = nested(
                levels,
                json!({"op": "Leaf", "n": "x"}),
                |inner| json!({"op": "Or", "of": [{"op": "Leaf", "n": 1}, inner]}),
            );
            let path = format!("q{}.n", ".of[1]".repeat(levels));
            let line = format!("- `{path}`: must be a whole number");
            assert_eq!(told(query::<trees::Inner>(), of), line);

            let of = nested(
                levels,
                json!({"op": "Leaf", "of": "x"}),
                |inner| json!({"op": "Not", "of": {"op": "And", "of": [inner]}}),
            );
            let path = format!("q{}.of", ".of.of[0]".repeat(levels));
            let line = format!("- `{path}`: must be a whole number");
            assert_eq!(told(query::<trees::Adjacent>(), of), line);

            let of = nested(levels, json!({"Leaf": "x"}), |inner| json!({"Or": [inner]}));
            let path = format!("q{}.Leaf", ".Or[0]".repeat(levels));
            let line = format!("- `{path}`: must be a whole number");
            assert_eq!(told(query::<trees::Outer>(), of), line);
        }
    }

    #[test]
    fn so_is_that_of_a_tree_without_tags() {
        for levels in [1, 8, 16, 30] {
            let deep = nested(levels, json!("x"), |inner| json!({"or": [[1, inner]]}));
            let path = format!("q{}", ".or[0][1]".repeat(levels));
            assert_eq!(
                query::<trees::Untagged>().violations(&deep).to_string(),
                format!("- `{path}`: has none of the allowed forms")
            );
        }
    }

    #[test]
    fn deep_results_are_explained_as_well() {
        let described = crate::schema::output::<trees::Query<trees::Inner>>();
        let schema = described.expect("an object").schema;
        let deep = nested(
            30,
            json!({"op": "Leaf"}),
            |inner| json!({"op": "Not", "of": [inner]}),
        );
        let told = Checker::compile(&schema).unwrap().violations(&deep);
        let path = format!("q{}.n", ".of[0]".repeat(30));
        assert_eq!(told.to_string(), format!("- `{path}`: is missing"));
    }

    #[test]
    fn what_a_deep_tree_lacks_is_named() {
        let tell = |leaf: Value| {
            let deep = nested(20, leaf, |inner| json!({"op": "And", "of": [inner]}));
            let told = query::<trees::Inner>().violations(&deep).to_string();
            told.replace(&".of[0]".repeat(20), "..")
        };
        assert_eq!(tell(json!({"op": "Leaf"})), "- `q...n`: is missing");
        assert_eq!(tell(json!({"n": 1})), "- `q...op`: is missing");
        assert_eq!(
            tell(json!({"op": "Xor"})),
            r#"- `q...op`: must be one of "And", "Or", "Not", "Leaf""#
        );
        assert_eq!(tell(json!([])), "- `q..`: must be an object");
    }

    #[test]
    fn deep_trees_of_forms_that_look_alike_are_not_explained() {
        let vague = "- the whole: does not fit the schema, and is nested too deep to say where";
        let again = json!({"$ref": "#/$defs/T"});
        let any = checker(&json!({
            "properties": {"q": again},
            "$defs": {"T": {"not": {"type": "string"}, "anyOf": [
                {"items": again},
                {"items": again, "maxItems": 9},
                {"items": again, "maxItems": 8, "type": "array"},
            ]}},
        }));
        for levels in [8, 16, 30] {
            let deep = nested(levels, json!({"n": "x"}), |inner| json!({"of": [inner]}));
            let violations = query::<trees::Alike>().violations(&deep);
            assert_eq!(violations.to_string(), vague);
            assert!(violations.is_vague());

            let deep = nested(levels, json!("x"), |inner| json!([inner]));
            let violations = any.violations(&deep);
            assert_eq!(violations.to_string(), vague);
            assert!(violations.is_vague());
        }
        let flat = nested(1, json!({"n": "x"}), |inner| json!({"of": [inner]}));
        assert!(!query::<trees::Alike>().violations(&flat).is_vague());
    }
}
