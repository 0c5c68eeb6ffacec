//! What is wrong with a value for a field.

use std::fmt;

use antiphon_types::{
    NumberKind, NumberSchema, PrimitiveSchema, StringFormat, StringSchema, TitledOption,
};
use serde_json::{Map, Number, Value};

use super::{format, number::Exact};

/// As many options as are named in one line.
const NAMED: usize = 20;

/// A rule of a field that a value breaks. Its text goes after the name of the field.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Broken<'a> {
    /// It is not there.
    Missing,
    /// It is no text.
    NoText,
    /// It is no number, or too great for one.
    NoNumber,
    /// It is no whole number.
    NoInteger,
    /// It is neither yes nor no.
    NoBoolean,
    /// It is no list of texts.
    NoList,
    /// A text with too few characters.
    TooShort(u64),
    /// A text with too many.
    TooLong(u64),
    /// A text that does not look like this.
    Format(StringFormat),
    /// A number below this one.
    TooLow(&'a Number),
    /// A number above this one.
    TooHigh(&'a Number),
    /// None of these.
    NoOption(Vec<&'a str>),
    /// A list with too few items.
    TooFew(u64),
    /// A list with too many.
    TooMany(u64),
    /// A list with an item twice.
    Twice,
    /// The field is of no kind that a form has.
    Unknown,
}

impl fmt::Display for Broken<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |f: &mut fmt::Formatter<'_>, how: &str, number: u64, what: &str| {
            let plural = if number == 1 { "" } else { "s" };
            write!(f, "must have at {how} {number} {what}{plural}")
        };
        match self {
            Self::Missing => f.write_str("is required"),
            Self::NoText => f.write_str("must be a text"),
            Self::NoNumber => f.write_str("must be a number"),
            Self::NoInteger => f.write_str("must be a whole number"),
            Self::NoBoolean => f.write_str("must be true or false"),
            Self::NoList => f.write_str("must be a list of texts"),
            Self::TooShort(least) => count(f, "least", *least, "character"),
            Self::TooLong(most) => count(f, "most", *most, "character"),
            Self::Format(StringFormat::Email) => f.write_str("must be an e-mail address"),
            Self::Format(StringFormat::Uri) => f.write_str("must be a URI"),
            Self::Format(StringFormat::Date) => f.write_str("must be a date such as 2026-07-28"),
            Self::Format(_) => {
                f.write_str("must be a date and time with an offset, such as 2026-07-28T09:30:00Z")
            }
            Self::TooLow(least) => write!(f, "must be at least {least}"),
            Self::TooHigh(most) => write!(f, "must be at most {most}"),
            Self::NoOption(options) => {
                f.write_str("must be one of ")?;
                for (at, option) in options.iter().take(NAMED).enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    write!(f, "{comma}`{option}`")?;
                }
                match options.len() > NAMED {
                    true => f.write_str(", .."),
                    false => Ok(()),
                }
            }
            Self::TooFew(least) => count(f, "least", *least, "item"),
            Self::TooMany(most) => count(f, "most", *most, "item"),
            Self::Twice => f.write_str("must not have an item twice"),
            Self::Unknown => f.write_str("cannot be checked"),
        }
    }
}

/// Tells every rule of `field` that `value` breaks.
///
/// Keywords that a form does not have are not looked at, except for a `uniqueItems` that is false:
/// otherwise nothing is chosen twice.
pub fn check<'a>(field: &'a PrimitiveSchema, value: &Value, broken: &mut dyn FnMut(Broken<'a>)) {
    match field {
        PrimitiveSchema::String(field) => text(field, value, broken),
        PrimitiveSchema::Number(field) => number(field, value, broken),
        PrimitiveSchema::Boolean(_) => {
            if !value.is_boolean() {
                broken(Broken::NoBoolean);
            }
        }
        PrimitiveSchema::UntitledSingleSelect(field) => {
            one(field.values.iter().map(String::as_str), value, broken);
        }
        PrimitiveSchema::LegacyTitledEnum(field) => {
            one(field.values.iter().map(String::as_str), value, broken);
        }
        PrimitiveSchema::TitledSingleSelect(field) => one(titled(&field.one_of), value, broken),
        PrimitiveSchema::UntitledMultiSelect(field) => Many {
            options: field.values().iter().map(String::as_str),
            least: field.min_items,
            most: field.max_items,
            extra: &field.extra,
        }
        .check(value, broken),
        PrimitiveSchema::TitledMultiSelect(field) => Many {
            options: titled(field.any_of()),
            least: field.min_items,
            most: field.max_items,
            extra: &field.extra,
        }
        .check(value, broken),
        _ => broken(Broken::Unknown),
    }
}

fn text<'a>(field: &'a StringSchema, value: &Value, broken: &mut dyn FnMut(Broken<'a>)) {
    let Value::String(text) = value else {
        return broken(Broken::NoText);
    };
    if field.min_length.is_some() || field.max_length.is_some() {
        let length = text.chars().count() as u64;
        if let Some(least) = field.min_length.filter(|least| length < *least) {
            broken(Broken::TooShort(least));
        }
        if let Some(most) = field.max_length.filter(|most| length > *most) {
            broken(Broken::TooLong(most));
        }
    }
    if let Some(format) = field.format.filter(|it| !format::fits(*it, text)) {
        broken(Broken::Format(format));
    }
}

fn number<'a>(field: &'a NumberSchema, value: &Value, broken: &mut dyn FnMut(Broken<'a>)) {
    let kind = match field.kind {
        NumberKind::Integer => Broken::NoInteger,
        NumberKind::Number => Broken::NoNumber,
    };
    let Some(number) = value.as_number().and_then(Exact::of) else {
        return broken(kind);
    };
    if field.kind == NumberKind::Integer && !number.is_integer() {
        return broken(kind);
    }
    if let Some(least) = &field.minimum
        && !Exact::of(least).is_some_and(|least| least.at_most(number))
    {
        broken(Broken::TooLow(least));
    }
    if let Some(most) = &field.maximum
        && !Exact::of(most).is_some_and(|most| number.at_most(most))
    {
        broken(Broken::TooHigh(most));
    }
}

fn titled(options: &[TitledOption]) -> impl Iterator<Item = &str> + Clone {
    options.iter().map(|option| option.value.as_str())
}

fn one<'a>(
    mut options: impl Iterator<Item = &'a str> + Clone,
    value: &Value,
    broken: &mut dyn FnMut(Broken<'a>),
) {
    let all = options.clone();
    match value {
        Value::String(text) if options.any(|option| option == text) => {}
        _ => broken(Broken::NoOption(all.collect())),
    }
}

/// The rules of a field where several may be chosen.
struct Many<'a, I> {
    options: I,
    least: Option<u64>,
    most: Option<u64>,
    extra: &'a Map<String, Value>,
}

impl<'a, I: Iterator<Item = &'a str> + Clone> Many<'a, I> {
    fn check(self, value: &Value, broken: &mut dyn FnMut(Broken<'a>)) {
        let Some(items) = value.as_array() else {
            return broken(Broken::NoList);
        };
        if !items.iter().all(Value::is_string) {
            return broken(Broken::NoList);
        }
        let length = items.len() as u64;
        if let Some(least) = self.least.filter(|least| length < *least) {
            broken(Broken::TooFew(least));
        }
        if let Some(most) = self.most.filter(|most| length > *most) {
            broken(Broken::TooMany(most));
        }
        let known = |item: &Value| self.options.clone().any(|option| *item == *option);
        if !items.iter().all(known) {
            return broken(Broken::NoOption(self.options.collect()));
        }
        // Every item is an option now: more items than options cannot be all different. To choose
        // one twice is to choose it, unless the schema says otherwise.
        let unique = self.extra.get("uniqueItems") != Some(&Value::Bool(false));
        if unique && has_twins(items, self.options.count()) {
            broken(Broken::Twice);
        }
    }
}

fn has_twins(items: &[Value], different: usize) -> bool {
    items.len() > different
        || (items.iter().enumerate()).any(|(at, item)| items[..at].contains(item))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lines(field: Value, value: &Value) -> Vec<String> {
        let Value::Object(field) = field else {
            panic!("a field is an object");
        };
        let field = PrimitiveSchema::from_value(field);
        let mut lines = Vec::new();
        check(&field, value, &mut |rule| lines.push(rule.to_string()));
        lines
    }

    #[test]
    fn every_broken_rule_is_told() {
        let text = json!({"type": "string", "minLength": 3, "maxLength": 5, "format": "date"});
        let age = json!({"type": "integer", "minimum": 18, "maximum": 120});
        let weight = json!({"type": "number", "minimum": 0.5});
        let size = json!({"type": "string", "enum": ["s", "l"]});
        let hue = json!({"type": "string", "oneOf": [{"const": "r", "title": "Red"}]});
        let old = json!({"type": "string", "enum": ["a"], "enumNames": ["A"]});
        let many = json!({"type": "array", "minItems": 1, "maxItems": 2,
            "items": {"type": "string", "enum": ["a", "b"]}, "uniqueItems": true});
        let plain = json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}});
        let loose = json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}, "uniqueItems": false});
        let date = "must be a date such as 2026-07-28";
        for (field, value, expected) in [
            (&text, json!(5), &["must be a text"][..]),
            (
                &text,
                json!("äö"),
                &["must have at least 3 characters", date],
            ),
            (
                &text,
                json!("äöüßéè"),
                &["must have at most 5 characters", date],
            ),
            (
                &json!({"type": "string", "minLength": 1}),
                json!(""),
                &["must have at least 1 character"],
            ),
            (
                &json!({"type": "string", "maxLength": 3}),
                json!("äöü"),
                &[],
            ),
            (&age, json!(17), &["must be at least 18"]),
            (&age, json!(121.0), &["must be at most 120"]),
            (&age, json!(18.0), &[]),
            (&age, json!(18.5), &["must be a whole number"]),
            (&age, json!("18"), &["must be a whole number"]),
            (&age, json!(1e300), &["must be at most 120"]),
            (&weight, json!(0.4), &["must be at least 0.5"]),
            (&weight, json!(1), &[]),
            (&weight, json!(true), &["must be a number"]),
            (
                &json!({"type": "boolean"}),
                json!("true"),
                &["must be true or false"],
            ),
            (&json!({"type": "boolean"}), json!(false), &[]),
            (&size, json!("m"), &["must be one of `s`, `l`"]),
            (&size, json!(null), &["must be one of `s`, `l`"]),
            (&size, json!("l"), &[]),
            (&hue, json!("Red"), &["must be one of `r`"]),
            (&hue, json!("r"), &[]),
            (&old, json!("A"), &["must be one of `a`"]),
            (&old, json!("a"), &[]),
            (&many, json!([]), &["must have at least 1 item"]),
            (&many, json!(["a", "b"]), &[]),
            (&many, json!(["a", "a"]), &["must not have an item twice"]),
            (
                &many,
                json!(["a", "b", "a"]),
                &["must have at most 2 items", "must not have an item twice"],
            ),
            (&many, json!(["c"]), &["must be one of `a`, `b`"]),
            (&many, json!("a"), &["must be a list of texts"]),
            (&many, json!([1]), &["must be a list of texts"]),
            (&plain, json!(["a", "a"]), &["must not have an item twice"]),
            (&loose, json!(["a", "a"]), &[]),
            (
                &json!({"type": "object"}),
                json!({}),
                &["cannot be checked"],
            ),
        ] {
            assert_eq!(lines(field.clone(), &value), expected, "{field} {value}");
        }
    }

    #[test]
    fn a_number_that_is_none_is_refused() {
        assert!(serde_json::from_str::<Value>("1e400").is_err());
        let beyond = Value::from(f64::INFINITY);
        let lines = lines(json!({"type": "number"}), &beyond);
        assert_eq!(lines, ["must be a number"]);
    }

    #[test]
    fn a_long_list_of_options_is_cut() {
        let options: Vec<_> = (0..30).map(|n| format!("o{n}")).collect();
        let lines = lines(json!({"type": "string", "enum": options}), &json!("x"));
        assert!(lines[0].ends_with("`o19`, .."), "{lines:?}");
    }
}
