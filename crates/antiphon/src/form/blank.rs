//! [`Blank`]: a field of a form in the making, for the derives.

use antiphon_types::{
    NumberSchema, PrimitiveSchema, StringFormat, TitledMultiSelectEnumSchema,
    TitledSingleSelectEnumSchema, UntitledMultiSelectEnumSchema, UntitledSingleSelectEnumSchema,
};
use regex::Regex;
use serde_json::{Number, Value};

use super::definition::{Pattern, Rule};

type Options = [(&'static str, Option<&'static str>)];

/// A field in the making. What does not go with its kind is ignored; the derive sees to it that
/// this does not happen.
#[derive(Debug)]
pub struct Blank {
    schema: PrimitiveSchema,
    least: Option<Number>,
    most: Option<Number>,
    required: bool,
    pattern: Option<Pattern>,
}

/// Sets a member that several kinds of fields have.
macro_rules! set {
    ($self:ident, $member:ident = $value:expr, $($kind:ident)*) => {{
        let value = Some($value);
        match &mut $self.schema {
            $(PrimitiveSchema::$kind(field) => field.$member = value,)*
            _ => {}
        }
        $self
    }};
}

#[expect(missing_docs, reason = "named like the attributes")]
impl Blank {
    pub fn new(schema: impl Into<PrimitiveSchema>) -> Self {
        Self {
            schema: schema.into(),
            least: None,
            most: None,
            required: true,
            pattern: None,
        }
    }

    pub fn one_of(options: &Options) -> Self {
        match titled(options) {
            Some(options) => Self::new(TitledSingleSelectEnumSchema::new(options)),
            None => Self::new(UntitledSingleSelectEnumSchema::new(values(options))),
        }
    }

    pub fn some_of(options: &Options) -> Self {
        match titled(options) {
            Some(options) => Self::new(TitledMultiSelectEnumSchema::new(options)),
            None => Self::new(UntitledMultiSelectEnumSchema::new(values(options))),
        }
    }

    #[must_use]
    pub fn options(mut self, options: &[&str]) -> Self {
        let options = options.iter().copied();
        self.schema = match self.schema {
            PrimitiveSchema::String(_) => UntitledSingleSelectEnumSchema::new(options).into(),
            _ => UntitledMultiSelectEnumSchema::new(options).into(),
        };
        self
    }

    #[must_use]
    pub fn optional(mut self) -> Self {
        self.required = false;
        self
    }

    #[must_use]
    pub fn title(mut self, title: &str) -> Self {
        set!(self, title = title.to_owned(), String Number Boolean UntitledSingleSelect
            TitledSingleSelect UntitledMultiSelect TitledMultiSelect)
    }

    #[must_use]
    pub fn description(mut self, text: &str) -> Self {
        set!(self, description = text.to_owned(), String Number Boolean UntitledSingleSelect
            TitledSingleSelect UntitledMultiSelect TitledMultiSelect)
    }

    #[must_use]
    pub fn min_length(mut self, least: u64) -> Self {
        set!(self, min_length = least, String)
    }

    #[must_use]
    pub fn max_length(mut self, most: u64) -> Self {
        set!(self, max_length = most, String)
    }

    #[must_use]
    pub fn format(mut self, format: StringFormat) -> Self {
        set!(self, format = format, String)
    }

    /// The derive has compiled it before.
    #[must_use]
    pub fn pattern(mut self, pattern: &str, rule: Option<&str>) -> Self {
        let regex = Regex::new(pattern).expect("the derive checked the pattern");
        self.pattern = Some(Pattern {
            regex,
            rule: rule.map(str::to_owned),
        });
        self
    }

    #[must_use]
    pub fn minimum(mut self, least: Value) -> Self {
        self.least = None;
        if let (Value::Number(least), PrimitiveSchema::Number(field)) = (least, &mut self.schema) {
            field.minimum = Some(least);
        }
        self
    }

    #[must_use]
    pub fn maximum(mut self, most: Value) -> Self {
        self.most = None;
        if let (Value::Number(most), PrimitiveSchema::Number(field)) = (most, &mut self.schema) {
            field.maximum = Some(most);
        }
        self
    }

    /// The least that the type holds, which is not sent.
    pub(super) fn at_least(mut self, least: Number) -> Self {
        self.least = Some(least);
        self
    }

    /// The most that the type holds, which is not sent.
    pub(super) fn at_most(mut self, most: Number) -> Self {
        self.most = Some(most);
        self
    }

    #[must_use]
    pub fn min_items(mut self, least: u64) -> Self {
        set!(self, min_items = least, UntitledMultiSelect TitledMultiSelect)
    }

    #[must_use]
    pub fn max_items(mut self, most: u64) -> Self {
        set!(self, max_items = most, UntitledMultiSelect TitledMultiSelect)
    }

    #[must_use]
    pub fn default(mut self, value: Value) -> Self {
        match (&mut self.schema, value) {
            (PrimitiveSchema::String(field), Value::String(text)) => field.default = Some(text),
            (PrimitiveSchema::Number(field), Value::Number(it)) => field.default = Some(it),
            (PrimitiveSchema::Boolean(field), Value::Bool(it)) => field.default = Some(it),
            (PrimitiveSchema::UntitledSingleSelect(field), Value::String(text)) => {
                field.default = Some(text);
            }
            (PrimitiveSchema::TitledSingleSelect(field), Value::String(text)) => {
                field.default = Some(text);
            }
            (PrimitiveSchema::UntitledMultiSelect(field), value) => field.default = texts(value),
            (PrimitiveSchema::TitledMultiSelect(field), value) => field.default = texts(value),
            _ => {}
        }
        self
    }

    pub(super) fn into_parts(self) -> (PrimitiveSchema, Rule) {
        let limits = match (&self.schema, self.least, self.most) {
            (_, None, None) => None,
            (PrimitiveSchema::Number(field), minimum, maximum) => {
                let mut limits = NumberSchema::new(field.kind);
                (limits.minimum, limits.maximum) = (minimum, maximum);
                Some(limits.into())
            }
            _ => None,
        };
        let rule = Rule {
            required: self.required,
            limits,
            pattern: self.pattern,
        };
        (self.schema, rule)
    }
}

fn values(options: &Options) -> impl Iterator<Item = &'static str> {
    options.iter().map(|(value, _)| *value)
}

/// Values and names, if all have one.
fn titled(options: &Options) -> Option<Vec<(&'static str, &'static str)>> {
    let options = options.iter();
    options
        .map(|(value, title)| title.map(|title| (*value, title)))
        .collect()
}

fn texts(value: Value) -> Option<Vec<String>> {
    serde_json::from_value(value).ok()
}

/// What is said of a value that fits its field, and yet cannot be read.
#[doc(hidden)]
pub fn unread(name: &str) -> Vec<String> {
    vec![format!("`{name}`: cannot be read")]
}

/// How many characters there are, found out while compiling.
#[doc(hidden)]
pub const fn count(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut characters = 0;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] & 0xC0 != 0x80 {
            characters += 1;
        }
        at += 1;
    }
    characters
}
