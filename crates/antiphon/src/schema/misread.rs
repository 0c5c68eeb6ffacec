//! Why a type could not be read from what it was [fed](super::feed).

use std::borrow::Cow;
use std::{error, fmt};

use serde::de::{self, Error as _, Expected, Unexpected};

/// How much of a value an error tells.
const MAX_TOLD: usize = 40;

/// Why a type could not be read. It does not know what it was read from: so it says it as of JSON
/// and as of strings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misread(Box<Inner>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    end: End,
    of_json: String,
    /// Where that is said in another way.
    of_strings: Option<String>,
    /// The field, in strings.
    field: Option<String>,
    /// The way to it, in JSON, the last step first.
    path: Vec<String>,
}

/// How a reading ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// A probe has seen enough.
    Done,
    /// A member was missing.
    Missing(&'static str),
    /// Something did not fit.
    Unfit,
}

impl Misread {
    fn new(end: End, of_json: impl fmt::Display, of_strings: Option<String>) -> Self {
        Self(Box::new(Inner {
            end,
            of_json: of_json.to_string(),
            of_strings,
            field: None,
            path: Vec::new(),
        }))
    }

    /// A probe has seen enough.
    pub(super) fn done() -> Self {
        Self::new(End::Done, "the type is only probed", None)
    }

    /// A probe cannot go on.
    pub(super) fn lost() -> Self {
        Self::new(End::Unfit, "the type is only probed", None)
    }

    /// A string that is not what it should be.
    pub(super) fn not(text: &str, what: &str) -> Self {
        Self::custom(format_args!("`{}` is not {what}", told(text)))
    }

    /// A variant that holds more than its name.
    pub(super) fn holds_more(what: &str) -> Self {
        let of_json = serde_json::Error::invalid_type(Unexpected::UnitVariant, &what);
        let of_strings = "a string cannot hold what this variant holds".to_owned();
        Self::new(End::Unfit, of_json, Some(of_strings))
    }

    /// Names the field, unless one is named already.
    pub(super) fn of(mut self, field: &str) -> Self {
        self.0.field.get_or_insert_with(|| field.to_owned());
        self
    }

    /// In a member, or a variant, of this name.
    pub(super) fn within(mut self, name: &str) -> Self {
        self.0.path.push(format!(".{name}"));
        self
    }

    /// In an item.
    pub(super) fn at(mut self, index: usize) -> Self {
        self.0.path.push(format!("[{index}]"));
        self
    }

    pub(super) fn is_done(&self) -> bool {
        self.0.end == End::Done
    }

    pub(super) fn misses(&self, field: &str) -> bool {
        matches!(self.0.end, End::Missing(name) if name == field)
    }

    /// The path to it, such as `lines[1].copies`, and what is said of JSON.
    pub(super) fn into_path(self) -> (String, String) {
        let path: String = self.0.path.iter().rev().map(String::as_str).collect();
        let path = path.strip_prefix('.').map(str::to_owned).unwrap_or(path);
        (path, self.0.of_json)
    }

    /// The field, and what is said of strings.
    pub(super) fn into_field(self) -> (Option<String>, String) {
        (self.0.field, self.0.of_strings.unwrap_or(self.0.of_json))
    }
}

/// The beginning of a text.
fn told(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_TOLD) {
        None => text.into(),
        Some((end, _)) => format!("{}..", &text[..end]).into(),
    }
}

/// What is said of strings that do not fit.
fn unlike(unexpected: Unexpected<'_>, expected: &dyn Expected) -> String {
    match unexpected {
        Unexpected::Str(text) => format!("`{}` is not {expected}", told(text)),
        _ => format!("{unexpected} is not {expected}"),
    }
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.of_json)
    }
}

impl error::Error for Misread {}

impl de::Error for Misread {
    #[cold]
    fn custom<T: fmt::Display>(why: T) -> Self {
        Self::new(End::Unfit, why.to_string(), None)
    }

    #[cold]
    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let of_json = serde_json::Error::invalid_type(unexpected, expected);
        Self::new(End::Unfit, of_json, Some(unlike(unexpected, expected)))
    }

    #[cold]
    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let of_json = serde_json::Error::invalid_value(unexpected, expected);
        Self::new(End::Unfit, of_json, Some(unlike(unexpected, expected)))
    }

    #[cold]
    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        let of_json = serde_json::Error::invalid_length(length, expected);
        Self::new(End::Unfit, of_json, None)
    }

    #[cold]
    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let of_json = serde_json::Error::unknown_variant(variant, expected);
        let choices: Vec<_> = expected.iter().map(|it| format!("`{it}`")).collect();
        let of_strings = format!("`{}` is not one of {}", told(variant), choices.join(", "));
        Self::new(End::Unfit, of_json, Some(of_strings))
    }

    #[cold]
    fn missing_field(field: &'static str) -> Self {
        let of_json = serde_json::Error::missing_field(field);
        Self::new(End::Missing(field), of_json, Some("is missing".to_owned())).of(field)
    }

    #[cold]
    fn duplicate_field(field: &'static str) -> Self {
        let of_json = serde_json::Error::duplicate_field(field);
        Self::new(End::Unfit, of_json, Some("is given twice".to_owned())).of(field)
    }

    #[cold]
    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let of_json = serde_json::Error::unknown_field(field, expected);
        Self::new(End::Unfit, of_json, Some("is not known".to_owned())).of(&told(field))
    }
}
