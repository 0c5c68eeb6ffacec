//! Typed values from strings: the arguments of prompts and of resource templates.

use std::borrow::Cow;
use std::{error, fmt};

use serde::de::Error as _;

use super::Violations;
use super::feed::{Fed, Given, Integer, Parts, Variant, What};
use super::misread::Misread;
use super::reading::Read;

/// What one field is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strings<'a> {
    One(&'a str),
    Many(&'a [String]),
}

/// Reads a struct, or a map, whose fields come as strings.
///
/// A field may be a boolean, a number, a character, a string or whatever is read from one, an enum
/// of bare variants by name, an option of these (none if the field is not given) and a list of
/// these. Fields below `#[serde(flatten)]` are read from strings only: serde asks for them without
/// saying what they should be, so that numbers and booleans do not fit there.
///
/// # Errors
/// Which field does not fit, and what was expected.
pub(crate) fn read_strings(
    into: &mut dyn Read,
    values: &[(&str, Strings<'_>)],
) -> Result<(), BadString> {
    into.fed(Fed::Fields(Fields(values))).map_err(|misread| {
        let (field, why) = misread.into_field();
        BadString { field, why }
    })
}

/// A string that does not fit its field, or a field that is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadString {
    field: Option<String>,
    why: String,
}

impl fmt::Display for BadString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "`{field}`: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

impl error::Error for BadString {}

impl From<BadString> for Violations {
    fn from(bad: BadString) -> Self {
        Self::one(bad.field.unwrap_or_default(), bad.why)
    }
}

/// All fields.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(&'a [(&'a str, Strings<'a>)]);

impl<'a> Fields<'a> {
    pub(super) fn give(self, what: What) -> Given<'a> {
        match what {
            What::Option | What::Newtype(_) => Given::Inside(Fed::Fields(self)),
            _ => {
                let fields = self.0.iter();
                let parts = fields.map(|(name, it)| (Cow::from(*name), Fed::Field(Field(*it))));
                Given::Map(Parts::members(parts))
            }
        }
    }
}

/// One field.
#[derive(Clone, Copy)]
pub(crate) struct Field<'a>(Strings<'a>);

impl<'a> Field<'a> {
    pub(super) fn give(self, what: What) -> Result<Given<'a>, Misread> {
        let texts = |texts: &'a [String]| {
            let texts = texts.iter().map(|text| Fed::Text(Text(text)));
            Given::Seq(Parts::items(texts))
        };
        match (what, self.0) {
            (What::Ignored, _) => Ok(Given::Unit),
            (What::Option | What::Newtype(_), _) => Ok(Given::Inside(Fed::Field(self))),
            (What::Seq | What::Tuple, Strings::One(text)) => {
                Ok(Given::Seq(Parts::items([Fed::Text(Text(text))])))
            }
            (What::Seq | What::Tuple | What::Any, Strings::Many(many)) => Ok(texts(many)),
            (_, Strings::One(text)) => Text(text).give(what),
            (_, Strings::Many([text])) => Text(text).give(what),
            (_, Strings::Many(_)) => Err(Misread::custom("takes one value, not a list")),
        }
    }
}

/// One string.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    pub(super) fn give(self, what: What) -> Result<Given<'a>, Misread> {
        let text = self.0;
        match what {
            What::Bool => {
                (text.parse().map(Given::Bool)).map_err(|_| Misread::not(text, "`true` or `false`"))
            }
            What::Char => (text.parse().map(Given::Char))
                .map_err(|_| Misread::not(text, "a single character")),
            What::Integer(held) => integer(text, held),
            // As in JSON, a number is finite.
            What::Float { short: true } => match text.parse::<f32>() {
                Ok(number) if number.is_finite() => Ok(Given::F64(number.into())),
                _ => Err(Misread::not(text, "a number")),
            },
            What::Float { short: false } => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(Given::F64(number)),
                _ => Err(Misread::not(text, "a number")),
            },
            What::Option | What::Newtype(_) => Ok(Given::Inside(Fed::Text(self))),
            What::Map | What::Struct(_) => Err(Misread::custom("a string cannot hold an object")),
            What::Seq | What::Tuple => Err(Misread::custom("a string cannot hold a list")),
            What::Enum(_) => Ok(Given::Variant(Variant::Bare(text.into()))),
            What::Any | What::Ignored | What::Identifier | What::Str | What::Bytes | What::Unit => {
                Ok(Given::Str(text.into()))
            }
        }
    }
}

/// A whole number, if the type holds it.
fn integer<'a>(text: &str, held: Integer) -> Result<Given<'a>, Misread> {
    let Integer { least, most } = held;
    let given = match (text.parse::<i128>(), text.parse::<u128>()) {
        (Ok(it), _) if it < 0 && it >= least => Some(match i64::try_from(it) {
            Ok(it) => Given::I64(it),
            Err(_) => Given::I128(it),
        }),
        (_, Ok(it)) if it <= most => Some(match (u64::try_from(it), i128::try_from(it)) {
            (Ok(it), _) => Given::U64(it),
            (_, Ok(it)) if least < 0 => Given::I128(it),
            _ => Given::U128(it),
        }),
        _ => None,
    };
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_whole = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
    given.ok_or_else(|| match is_whole {
        true => Misread::not(text, &format!("between {least} and {most}")),
        false => Misread::not(text, "a whole number"),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::net::Ipv4Addr;

    use serde::Deserialize;
    use serde::de::DeserializeOwned;

    use super::super::reading::Reading;
    use super::Strings::{Many, One};
    use super::*;

    fn from_strings<T: DeserializeOwned>(values: &[(&str, Strings<'_>)]) -> Result<T, BadString> {
        let mut reading = Reading::default();
        read_strings(&mut reading, values)?;
        Ok(reading.done().expect("it was read"))
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Tone {
        Warm,
        Cold,
        Exact(u8),
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Count(u32);

    #[derive(Debug, PartialEq, Deserialize)]
    struct Nested {
        count: u32,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Brief {
        topic: String,
        lent: Cow<'static, str>,
        copies: Option<u32>,
        least: i8,
        most: u128,
        ratio: f32,
        share: f64,
        draft: bool,
        mark: Option<char>,
        tone: Option<Tone>,
        count: Option<Count>,
        tags: Vec<String>,
        pages: Vec<u16>,
        host: Option<Ipv4Addr>,
        nested: Option<Nested>,
        all: Vec<Nested>,
    }

    fn brief(values: &[(&str, Strings<'_>)]) -> Result<Brief, String> {
        from_strings(values).map_err(|error| error.to_string())
    }

    #[test]
    fn fields_are_read_as_their_types() {
        let pages = ["1".to_owned(), "20".to_owned()];
        let host = ["127.0.0.1".to_owned()];
        let read = brief(&[
            ("topic", One("12")),
            ("lent", One("true")),
            ("copies", One("3")),
            ("least", One("-128")),
            ("most", One("340282366920938463463374607431768211455")),
            ("ratio", One("0.5")),
            ("share", One("1e-3")),
            ("draft", One("true")),
            ("mark", One("é")),
            ("tone", One("cold")),
            ("count", One("7")),
            ("tags", One("a,b")),
            ("pages", Many(&pages)),
            ("host", Many(&host)),
        ]);
        assert_eq!(
            read.unwrap(),
            Brief {
                topic: "12".to_owned(),
                lent: "true".into(),
                copies: Some(3),
                least: -128,
                most: u128::MAX,
                ratio: 0.5,
                share: 0.001,
                draft: true,
                mark: Some('é'),
                tone: Some(Tone::Cold),
                count: Some(Count(7)),
                tags: vec!["a,b".to_owned()],
                pages: vec![1, 20],
                host: Some(Ipv4Addr::LOCALHOST),
                nested: None,
                all: Vec::new(),
            }
        );
        assert_eq!(brief(&[]).unwrap(), Brief::default());
    }

    #[test]
    fn errors_name_the_field_and_what_it_takes() {
        let pages = ["1".to_owned(), "x".to_owned()];
        let long = "x".repeat(100);
        let cut = format!("`copies`: `{}..` is not a whole number", "x".repeat(40));
        for (field, given, error) in [
            ("copies", One("x"), "`copies`: `x` is not a whole number"),
            ("copies", One(""), "`copies`: `` is not a whole number"),
            (
                "copies",
                One("1.5"),
                "`copies`: `1.5` is not a whole number",
            ),
            ("copies", One(&long), &cut),
            (
                "copies",
                One("-1"),
                "`copies`: `-1` is not between 0 and 4294967295",
            ),
            (
                "least",
                One("128"),
                "`least`: `128` is not between -128 and 127",
            ),
            ("ratio", One("1e99"), "`ratio`: `1e99` is not a number"),
            ("share", One("NaN"), "`share`: `NaN` is not a number"),
            (
                "draft",
                One("yes"),
                "`draft`: `yes` is not `true` or `false`",
            ),
            ("mark", One("ab"), "`mark`: `ab` is not a single character"),
            (
                "tone",
                One("hot"),
                "`tone`: `hot` is not one of `warm`, `cold`, `exact`",
            ),
            (
                "tone",
                One("exact"),
                "`tone`: a string cannot hold what this variant holds",
            ),
            ("count", One("x"), "`count`: `x` is not a whole number"),
            ("pages", Many(&pages), "`pages`: `x` is not a whole number"),
            (
                "copies",
                Many(&pages),
                "`copies`: takes one value, not a list",
            ),
            ("host", One("x"), "`host`: invalid IPv4 address syntax"),
            (
                "nested",
                One("x"),
                "`nested`: a string cannot hold an object",
            ),
            ("all", One("x"), "`all`: a string cannot hold an object"),
            ("stray", One("x"), "`stray`: is not known"),
        ] {
            assert_eq!(brief(&[(field, given)]).unwrap_err(), error);
        }
        let twice = [("draft", One("true")), ("draft", One("true"))];
        assert_eq!(brief(&twice).unwrap_err(), "`draft`: is given twice");
        let missing = from_strings::<Nested>(&[]).unwrap_err();
        assert_eq!(missing.to_string(), "`count`: is missing");
    }

    #[test]
    fn unknown_fields_are_ignored_unless_denied() {
        let read = from_strings::<Nested>(&[("count", One("1")), ("stray", One("x"))]);
        assert_eq!(read.unwrap(), Nested { count: 1 });
    }

    #[test]
    fn flattened_strings_are_read_and_flattened_numbers_are_not() {
        #[derive(Debug, PartialEq, Deserialize)]
        struct Outer {
            own: u8,
            #[serde(flatten)]
            rest: BTreeMap<String, String>,
        }
        let read: Outer = from_strings(&[("own", One("1")), ("other", One("2"))]).unwrap();
        assert_eq!(read.own, 1);
        assert_eq!(read.rest["other"], "2");

        #[derive(Debug, Deserialize)]
        #[allow(dead_code)]
        struct Number {
            #[serde(flatten)]
            inner: Nested,
        }
        let error = from_strings::<Number>(&[("count", One("2"))]).unwrap_err();
        assert!(error.to_string().contains("`2` is not u32"), "{error}");
    }

    #[test]
    fn maps_and_wrapped_structs_are_read() {
        let map: BTreeMap<String, u8> = from_strings(&[("a", One("1")), ("b", One("2"))]).unwrap();
        assert_eq!(map.into_values().collect::<Vec<_>>(), [1, 2]);
        let whole: Option<Box<Nested>> = from_strings(&[("count", One("1"))]).unwrap();
        assert_eq!(whole.unwrap().count, 1);
        let value: serde_json::Value = from_strings(&[("n", One("1"))]).unwrap();
        assert_eq!(value, serde_json::json!({"n": "1"}));
    }
}
