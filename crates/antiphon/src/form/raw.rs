//! [`RawForm`]: a form that is only known while the program runs.

use std::{collections::BTreeSet, error::Error, fmt, sync::Arc};

use antiphon_core::form::looks_like_secret;
use antiphon_types::{FormSchema, PrimitiveSchema};
use regex::Regex;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    Definition,
    definition::{Pattern, Rule},
    flat,
};

/// A form made of a schema, for fields that are only known while the program runs.
///
/// ```
/// use antiphon::RawForm;
/// use serde_json::json;
///
/// let form = RawForm::new(json!({
///     "type": "object",
///     "properties": {"city": {"type": "string", "minLength": 1}},
///     "required": ["city"],
/// }))?;
/// let content = json!({"city": ""});
/// let errors = form.definition().errors(content.as_object().unwrap());
/// assert_eq!(errors, ["`city`: must have at least 1 character"]);
/// # Ok::<_, antiphon::form::BadForm>(())
/// ```
#[derive(Debug, Clone)]
pub struct RawForm {
    definition: Arc<Definition>,
}

impl RawForm {
    /// A form of this schema: a [`FormSchema`], or JSON.
    ///
    /// # Errors
    /// If it is not what a form may be: flat, of known fields and keywords, with defaults that
    /// fit, and without secrets.
    pub fn new(schema: impl Serialize) -> Result<Self, BadForm> {
        Self::builder(schema).build()
    }

    /// The same, with more to be said before it is checked.
    pub fn builder(schema: impl Serialize) -> RawFormBuilder {
        let schema = match serde_json::to_value(schema) {
            Ok(Value::Object(schema)) => FormSchema::from_value(schema),
            Ok(_) => Err(serde::de::Error::custom("a form is an object")),
            Err(error) => Err(error),
        };
        RawFormBuilder {
            schema: schema.map_err(|error| error.to_string()),
            no_secrets: BTreeSet::new(),
            patterns: Vec::new(),
        }
    }

    /// The form itself.
    pub fn definition(&self) -> &Arc<Definition> {
        &self.definition
    }
}

/// A [`RawForm`] in the making.
///
/// ```
/// use antiphon::RawForm;
/// use serde_json::json;
///
/// let form = RawForm::builder(json!({"type": "object", "properties": {
///     "map_pin": {"type": "string", "description": "Name of the place."},
///     "code": {"type": "string"},
/// }}))
/// .not_a_secret("map_pin")
/// .pattern("code", "^[A-Z]{2}[0-9]+$", "two letters, then digits")
/// .build()?;
/// # Ok::<_, antiphon::form::BadForm>(())
/// ```
#[derive(Debug, Clone)]
pub struct RawFormBuilder {
    schema: Result<FormSchema, String>,
    no_secrets: BTreeSet<String>,
    patterns: Vec<(String, String, String)>,
}

impl RawFormBuilder {
    /// This field is no secret, whatever its name looks like.
    #[must_use]
    pub fn not_a_secret(mut self, name: impl Into<String>) -> Self {
        self.no_secrets.insert(name.into());
        self
    }

    /// What a text must match, a regular expression; checked here, and never sent. The rule says
    /// it in words, after "must be".
    #[must_use]
    pub fn pattern(
        mut self,
        name: impl Into<String>,
        regex: impl Into<String>,
        rule: impl Into<String>,
    ) -> Self {
        self.patterns.push((name.into(), regex.into(), rule.into()));
        self
    }

    /// The form, if it is one.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn build(self) -> Result<RawForm, BadForm> {
        let schema = self.schema.map_err(|problem| BadForm(vec![problem]))?;
        let mut problems = flat::whole(&schema);
        for (name, field) in &schema.properties {
            let mut wrong = flat::parts(field);
            if looks_like_secret(name) && !self.no_secrets.contains(name) {
                let secret = "looks like a secret, and a form must not ask for one: use `ask.url`, \
                              or, if it is none, `not_a_secret`";
                wrong.push(secret.to_owned());
            }
            problems.extend(wrong.iter().map(|problem| format!("`{name}`: {problem}")));
        }
        let mut definition = Definition::plain(schema);
        for (name, regex, rule) in self.patterns {
            if let Err(problem) = add(&mut definition, &name, &regex, rule) {
                problems.push(format!("`{name}`: {problem}"));
            }
        }
        if problems.is_empty() {
            problems = defaults(&definition);
        }
        match problems.is_empty() {
            true => Ok(RawForm {
                definition: Arc::new(definition),
            }),
            false => Err(BadForm(problems)),
        }
    }
}

/// Adds a pattern to a field.
fn add(definition: &mut Definition, name: &str, regex: &str, rule: String) -> Result<(), String> {
    let regex = Regex::new(regex).map_err(|error| format!("the pattern is wrong: {error}"))?;
    match definition.rule(name) {
        Some((PrimitiveSchema::String(_), Rule { pattern, .. })) => {
            *pattern = Some(Pattern {
                regex,
                rule: Some(rule),
            });
            Ok(())
        }
        Some(_) => Err("a pattern goes with a text".to_owned()),
        None => Err("has a pattern, but is no field".to_owned()),
    }
}

/// Defaults that do not fit.
fn defaults(definition: &Definition) -> Vec<String> {
    let fields = definition.schema().properties.iter();
    let defaults = fields.filter_map(|(name, field)| Some((name.clone(), field.default_value()?)));
    let defaults: Map<String, Value> = defaults.collect();
    let errors = definition.present_errors(&defaults);
    let errors = errors.into_iter();
    errors
        .map(|error| format!("a default does not fit: {error}"))
        .collect()
}

/// Why a schema is no form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadForm(Vec<String>);

impl BadForm {
    /// All that is wrong, a line each.
    pub fn problems(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for BadForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this is no form: {}", self.0.join("; "))
    }
}

impl Error for BadForm {}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(properties: &Value) -> Value {
        json!({"type": "object", "properties": properties})
    }

    #[test]
    fn what_is_no_form_is_refused() {
        let text = json!({"type": "string"});
        for (schema, problem) in [
            (json!(5), "a form is an object"),
            (json!({"type": "array"}), "must be \"object\""),
            (json!({"type": "object"}), "`properties` must be an object"),
            (of(&json!({})), "asks for nothing"),
            (of(&json!({"a": true})), "must be an object"),
            (of(&json!({"a": {"type": "object"}})), "`a`: is of no kind"),
            (
                of(&json!({"a": {"type": "array", "items": {"type": "object"}}})),
                "forms are flat",
            ),
            (
                of(&json!({"a": {"type": "string", "pattern": "x"}})),
                "no keyword `pattern`",
            ),
            (
                of(&json!({"a": {"type": "string", "uniqueItems": true}})),
                "no keyword `uniqueItems`",
            ),
            (
                of(&json!({"a": {"type": "string", "format": "ipv4"}})),
                "`a`: is of no kind",
            ),
            (
                of(&json!({"a": {"type": "string", "minLength": 2, "maxLength": 1}})),
                "lower bound",
            ),
            (
                of(&json!({"a": {"type": "number", "minimum": 1.5, "maximum": 1}})),
                "lower bound",
            ),
            (
                of(&json!({"a": {"type": "string", "enum": []}})),
                "nothing to choose",
            ),
            (
                of(&json!({"a": {"type": "array", "minItems": 2,
                    "items": {"type": "string", "enum": ["x"]}}})),
                "more than there are to choose from",
            ),
            (
                of(&json!({"a": {"type": "string", "enum": ["x", "x"]}})),
                "an option twice",
            ),
            (
                of(&json!({"a": {"type": "string", "oneOf": [
                {"const": "x", "title": "X"}, {"const": "y", "title": "X"}]}})),
                "of one title",
            ),
            (
                of(&json!({"a": {"type": "string", "enum": ["x"], "enumNames": []}})),
                "as many titles",
            ),
            (
                of(&json!({"a": {"type": "string", "enum": ["x"], "default": "y"}})),
                "a default does not fit: `a`: must be one of `x`",
            ),
            (
                of(&json!({"a": {"type": "integer", "default": 1.5}})),
                "whole number",
            ),
            (
                of(&json!({"api_key": text})),
                "`api_key`: looks like a secret",
            ),
            (
                json!({"type": "object", "properties": {"a": text}, "required": ["b"]}),
                "`b`: is required",
            ),
            (
                json!({"type": "object", "properties": {"a": text}, "additionalProperties": false}),
                "no keyword `additionalProperties`",
            ),
        ] {
            let error = RawForm::new(&schema).expect_err("no form").to_string();
            assert!(error.contains(problem), "{schema}: {error}");
        }
    }

    #[test]
    fn all_problems_are_told_at_once() {
        let schema = of(&json!({"pin": {"type": "string", "x": 1}, "b": {}}));
        let error = RawForm::new(schema).expect_err("no form");
        assert_eq!(error.problems().len(), 3, "{error}");
    }

    #[test]
    fn every_kind_of_field_is_taken() {
        let schema = json!({"$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object", "required": ["a"], "properties": {
            "a": {"type": "string", "format": "email", "default": "a@b.c"},
            "b": {"type": "integer", "minimum": 1, "maximum": 1},
            "c": {"type": "number", "default": 0.5},
            "d": {"type": "boolean", "default": false},
            "e": {"type": "string", "enum": ["x"]},
            "f": {"type": "string", "oneOf": [{"const": "x", "title": "X"}]},
            "g": {"type": "string", "enum": ["x"], "enumNames": ["X"]},
            "h": {"type": "array", "items": {"type": "string", "enum": ["x"]}, "uniqueItems": true},
            "i": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}, "default": ["x"]},
        }});
        let form = RawForm::new(&schema).expect("a form");
        let sent = serde_json::to_value(form.definition().schema()).expect("a value");
        assert_eq!(sent, schema);
    }

    #[test]
    fn patterns_are_checked_and_never_sent() {
        let schema = of(&json!({"code": {"type": "string"}, "n": {"type": "integer"}}));
        let builder = RawForm::builder(&schema);
        let form = builder
            .clone()
            .pattern("code", "^[A-Z]+$", "capital letters");
        let form = form.build().expect("a form");
        let content = json!({"code": "abc"});
        let errors = form
            .definition()
            .errors(content.as_object().expect("an object"));
        assert_eq!(errors, ["`code`: must be capital letters"]);
        let sent = serde_json::to_value(form.definition().schema()).expect("a value");
        assert_eq!(sent, schema);

        for (name, regex, problem) in [
            ("code", "(", "the pattern is wrong"),
            ("n", "x", "goes with a text"),
            ("m", "x", "no field"),
        ] {
            let error = builder.clone().pattern(name, regex, "x").build();
            let error = error.expect_err("no form").to_string();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn a_secret_needs_a_word() {
        let schema = of(&json!({"map_pin": {"type": "string"}}));
        RawForm::new(&schema).expect_err("it looks like one");
        let form = RawForm::builder(&schema).not_a_secret("map_pin").build();
        form.expect("it was said to be none");
    }
}
