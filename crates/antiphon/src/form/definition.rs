//! [`Definition`]: what is sent of a form, and what is allowed.

use std::sync::OnceLock;

use antiphon_core::{
    canonical::canonical,
    form::{Broken, check},
};
use antiphon_types::{FormSchema, PreparedForm, PrimitiveSchema, Version};
use regex::Regex;
use serde_json::{Map, Value};

use super::__private::Blank;

/// A form: what is sent, and what is allowed.
#[derive(Debug, Clone)]
pub struct Definition {
    form: PreparedForm,
    /// Of every field, in the same order.
    rules: Vec<Rule>,
    /// The schema in one spelling, once somebody asks for it.
    canonical: OnceLock<Vec<u8>>,
}

/// What a field must keep to besides its schema.
#[derive(Debug, Clone, Default)]
pub(super) struct Rule {
    pub(super) required: bool,
    /// What the type can hold, where its schema does not say so.
    pub(super) limits: Option<PrimitiveSchema>,
    pub(super) pattern: Option<Pattern>,
}

/// What a text must match, checked here and never sent.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pub(super) regex: Regex,
    /// In words, after "must be".
    pub(super) rule: Option<String>,
}

impl Definition {
    /// For the derive: a form of these fields.
    #[doc(hidden)]
    pub fn of<const N: usize>(fields: [(&str, Blank); N]) -> Self {
        let mut schema = FormSchema::new();
        let mut rules = Vec::with_capacity(N);
        for (name, blank) in fields {
            let (field, rule) = blank.into_parts();
            schema = match rule.required {
                true => schema.required(name, field),
                false => schema.optional(name, field),
            };
            rules.push(rule);
        }
        Self {
            form: PreparedForm::new(schema),
            rules,
            canonical: OnceLock::new(),
        }
    }

    /// A form of this schema, with nothing more to keep to.
    pub(crate) fn plain(schema: FormSchema) -> Self {
        let rule = |(name, _): &(String, PrimitiveSchema)| Rule {
            required: schema.is_required(name),
            ..Rule::default()
        };
        Self {
            rules: schema.properties.iter().map(rule).collect(),
            form: PreparedForm::new(schema),
            canonical: OnceLock::new(),
        }
    }

    pub(super) fn rule(&mut self, name: &str) -> Option<(&PrimitiveSchema, &mut Rule)> {
        let fields = self.form.schema().properties.iter().zip(&mut self.rules);
        let mut fields = fields.filter(|((other, _), _)| other == name);
        fields.next().map(|((_, field), rule)| (field, rule))
    }

    /// What is sent.
    pub fn schema(&self) -> &FormSchema {
        self.form.schema()
    }

    /// The same, written once.
    pub(crate) fn prepared(&self) -> &PreparedForm {
        &self.form
    }

    /// What is sent, in the one spelling that questions are known by.
    pub(crate) fn canonical(&self) -> &[u8] {
        self.canonical.get_or_init(|| {
            let json = serde_json::to_string(self.schema()).unwrap_or_default();
            let mut bytes = Vec::new();
            match canonical(&json, &mut bytes) {
                Ok(()) => bytes,
                // Nested deeper than anything that is sent.
                Err(_) => json.into_bytes(),
            }
        })
    }

    /// What is wrong with what was filled in, a line each: where, and against which rule, never
    /// the value itself. In the order of the fields; members that are no fields are ignored.
    pub fn errors(&self, content: &Map<String, Value>) -> Vec<String> {
        self.lines(content, true)
    }

    /// The same, of what is there.
    pub(super) fn present_errors(&self, content: &Map<String, Value>) -> Vec<String> {
        self.lines(content, false)
    }

    fn lines(&self, content: &Map<String, Value>, all: bool) -> Vec<String> {
        let mut lines = Vec::new();
        for ((name, field), rule) in self.schema().properties.iter().zip(&self.rules) {
            match content.get(name) {
                // As clients leave a field blank.
                Some(Value::Null) if !rule.required => {}
                Some(value) => rule.errors(name, field, value, &mut lines),
                None if rule.required && all => lines.push(line(name, &Broken::Missing)),
                None => {}
            }
        }
        lines
    }

    /// The form as a client of this revision knows it; see [`FormSchema::in_revision`].
    pub fn schema_in(&self, version: Version) -> FormSchema {
        self.schema().in_revision(version)
    }

    /// What was filled in there, as it is here; see [`FormSchema::content_from`].
    pub fn content_from(
        &self,
        version: Version,
        content: Map<String, Value>,
    ) -> Map<String, Value> {
        self.schema().content_from(version, content)
    }
}

impl Rule {
    fn errors(&self, name: &str, field: &PrimitiveSchema, value: &Value, lines: &mut Vec<String>) {
        let before = lines.len();
        check(field, value, &mut |broken| lines.push(line(name, &broken)));
        if let Some(limits) = self.limits.as_ref().filter(|_| lines.len() == before) {
            check(limits, value, &mut |broken| lines.push(line(name, &broken)));
        }
        if let (Some(pattern), Value::String(text)) = (&self.pattern, value)
            && !pattern.regex.is_match(text)
        {
            match &pattern.rule {
                Some(rule) => lines.push(line(name, &format_args!("must be {rule}"))),
                None => lines.push(line(name, &"is not written as it must be")),
            }
        }
    }
}

fn line(name: &str, what: &dyn std::fmt::Display) -> String {
    format!("`{name}`: {what}")
}
