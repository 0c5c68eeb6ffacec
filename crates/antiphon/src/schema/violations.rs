//! What is wrong with a value, in words.

use std::fmt::{self, Write as _};

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{JsonType, ValidationError};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// How many violations are told.
pub(super) const MAX_KEPT: usize = 32;

/// How much of a member's name is told: it may come from a peer.
const MAX_KEY: usize = 64;

/// How many of the allowed values are told.
const MAX_CHOICES: usize = 24;

/// Where a schema says that there are no more members.
const CLOSED: &str = "/additionalProperties";

/// What is wrong with a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Violations {
    kept: Vec<Violation>,
    more: usize,
    vague: bool,
    undecided: bool,
}

/// One thing that is wrong, and where. Never tells the value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Violation {
    /// Such as `lines[1].copies`; empty for the whole.
    path: String,
    message: String,
}

impl Violations {
    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// A single one.
    pub(crate) fn one(path: impl Into<String>, message: impl Into<String>) -> Self {
        let mut violations = Self::default();
        violations.push(path.into(), || message.into());
        violations
    }

    /// One that does not say where.
    pub(super) fn vague(why: &str) -> Self {
        let mut violations = Self::one("", format!("does not fit the schema, and {why}"));
        violations.vague = true;
        violations
    }

    /// Whether it is not said what is wrong, so that any other explanation is better.
    pub(crate) fn is_vague(&self) -> bool {
        self.vague
    }

    /// Whether a value has none of some forms, and it was not found out which was meant.
    pub(super) fn is_undecided(&self) -> bool {
        self.undecided
    }

    /// Each in a line of its own, such as `copies: must be at least 1`.
    #[cfg(feature = "client")]
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        self.kept
            .iter()
            .map(|Violation { path, message }| match &**path {
                "" => message.clone(),
                path => format!("{path}: {message}"),
            })
    }

    pub(super) fn push(&mut self, path: String, message: impl FnOnce() -> String) {
        if self.kept.len() < MAX_KEPT {
            let message = message();
            self.kept.push(Violation { path, message });
        } else {
            self.more += 1;
        }
    }

    pub(super) fn note(&mut self, error: &ValidationError<'_>, value: &Value) {
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
                Some(errors) => errors.iter().for_each(|error| self.note(error, value)),
                None => match named(at, context) {
                    Some(Named::Missing(name)) => {
                        self.push(member(at, name), || "is missing".to_owned());
                    }
                    Some(Named::OneOf(at, names)) => {
                        self.push(path(at), || {
                            format!("must be one of {}", choices(names.into_iter()))
                        });
                    }
                    None => {
                        self.undecided = true;
                        self.push(path(at), || "has none of the allowed forms".to_owned());
                    }
                },
            },
            // So an object is refused that should have no members at all.
            Kind::FalseSchema if error.schema_path().as_str().ends_with(CLOSED) => {
                let members = value.pointer(at.as_str()).and_then(Value::as_object);
                for (name, _) in members.into_iter().flatten() {
                    self.push(member(at, name), || "is not a known member".to_owned());
                }
            }
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
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
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
    // A variant by another name: its own is missing, and the one there is not known.
    let is_named_otherwise = |errors: &[ValidationError<'_>]| {
        let here = || errors.iter().filter(|it| it.instance_path() == at);
        here().any(|it| matches!(it.kind(), Kind::Required { .. }))
            && here().any(|it| matches!(it.kind(), Kind::AdditionalProperties { .. }))
    };
    let mut likely =
        (forms.iter()).filter(|errors| !errors.iter().any(is_other) && !is_named_otherwise(errors));
    match (likely.next(), likely.next()) {
        (Some(errors), None) if !errors.is_empty() => Some(errors),
        _ => None,
    }
}

/// What all forms want in one place, where they differ in nothing but a name.
enum Named<'e> {
    /// The member with the name is not there.
    Missing(&'e str),
    /// There it is, and none of these.
    OneOf(&'e Location, Vec<&'e Value>),
}

/// The name that all forms but null are told apart by: a variant, or the tag of one.
fn named<'e>(at: &Location, forms: &'e [Vec<ValidationError<'static>>]) -> Option<Named<'e>> {
    let is_null = |error: &ValidationError<'_>| {
        let null = matches!(
            error.kind(),
            Kind::Type {
                kind: TypeKind::Single(JsonType::Null)
            }
        );
        null && error.instance_path() == at
    };
    let mut place = None;
    let mut names = Vec::new();
    let mut missing: Option<&str> = None;
    for errors in forms.iter().filter(|errors| !errors.iter().any(is_null)) {
        let mut tags = errors.iter().filter_map(|error| {
            let names: Vec<&Value> = match error.kind() {
                Kind::Constant { expected_value } => vec![expected_value],
                Kind::Enum { options } => options.as_array()?.iter().collect(),
                _ => return None,
            };
            Some((error.instance_path(), names))
        });
        if let Some((path, more)) = tags.next() {
            if tags.next().is_some() || *place.get_or_insert(path) != path {
                return None;
            }
            names.extend(more);
            continue;
        }
        // Every form lacks the same member: the tag.
        let mut lacking = errors.iter().filter_map(|error| match error.kind() {
            Kind::Required { property } if error.instance_path() == at => property.as_str(),
            _ => None,
        });
        let first = lacking.next()?;
        if *missing.get_or_insert(first) != first {
            return None;
        }
    }
    match (missing, place) {
        (Some(name), None) => Some(Named::Missing(name)),
        (None, Some(place)) => Some(Named::OneOf(place, names)),
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
        Kind::Enum { options } => {
            let options = options.as_array().map_or(&[][..], Vec::as_slice);
            format!("must be one of {}", choices(options.iter()))
        }
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

fn choices<'v>(options: impl ExactSizeIterator<Item = &'v Value>) -> String {
    let rest = if options.len() > MAX_CHOICES {
        ", .."
    } else {
        ""
    };
    let told: Vec<_> = options.take(MAX_CHOICES).map(Value::to_string).collect();
    told.join(", ") + rest
}

/// A place in a value, written as in JavaScript.
pub(super) fn path(at: &Location) -> String {
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

pub(super) fn push_index(path: &mut String, index: usize) {
    write!(path, "[{index}]").expect("a string takes all");
}

pub(super) fn push_key(path: &mut String, key: &str) {
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
