//! Typed values from strings: the arguments of prompts and of resource templates.

use std::borrow::Cow;
use std::{error, fmt};

use serde::de::value::{BorrowedStrDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{
    self, DeserializeOwned, Deserializer, EnumAccess, Error as _, IntoDeserializer, Unexpected,
    VariantAccess, Visitor,
};

use super::Violations;

/// How much of a value an error tells.
const MAX_TOLD: usize = 40;

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
pub(crate) fn from_strings<T: DeserializeOwned>(
    values: &[(&str, Strings<'_>)],
) -> Result<T, BadString> {
    T::deserialize(Fields(values))
}

/// A string that does not fit its field, or a field that is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadString {
    field: Option<String>,
    why: String,
}

impl BadString {
    /// Names the field, unless one is named already.
    fn of(mut self, field: &str) -> Self {
        self.field.get_or_insert_with(|| field.to_owned());
        self
    }

    fn holds_more() -> Self {
        Self::custom("a string cannot hold what this variant holds")
    }

    fn not(text: &str, what: &str) -> Self {
        Self::custom(format_args!("`{}` is not {what}", told(text)))
    }
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

impl de::Error for BadString {
    fn custom<T: fmt::Display>(why: T) -> Self {
        let why = why.to_string();
        Self { field: None, why }
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        match unexpected {
            Unexpected::Str(text) => Self::not(text, &expected.to_string()),
            _ => Self::custom(format_args!("{unexpected} is not {expected}")),
        }
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let choices: Vec<_> = expected.iter().map(|it| format!("`{it}`")).collect();
        Self::not(variant, &format!("one of {}", choices.join(", ")))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::custom("is missing").of(field)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::custom("is given twice").of(field)
    }

    fn unknown_field(field: &str, _: &'static [&'static str]) -> Self {
        Self::custom("is not known").of(&told(field))
    }
}

/// The beginning of a text.
fn told(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_TOLD) {
        None => text.into(),
        Some((end, _)) => format!("{}..", &text[..end]).into(),
    }
}

/// All fields.
struct Fields<'de>(&'de [(&'de str, Strings<'de>)]);

impl<'de> Deserializer<'de> for Fields<'de> {
    type Error = BadString;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadString> {
        let fields = self.0.iter().map(|(name, strings)| {
            let key = BorrowedStrDeserializer::new(name);
            (Key(key), Field(name, *strings))
        });
        visitor.visit_map(MapDeserializer::new(fields))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadString> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, BadString> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The name of a field.
struct Key<'de>(BorrowedStrDeserializer<'de, BadString>);

impl<'de> IntoDeserializer<'de, BadString> for Key<'de> {
    type Deserializer = BorrowedStrDeserializer<'de, BadString>;

    fn into_deserializer(self) -> Self::Deserializer {
        self.0
    }
}

/// One field, which names itself in errors.
#[derive(Clone, Copy)]
struct Field<'de>(&'de str, Strings<'de>);

impl<'de> IntoDeserializer<'de, BadString> for Field<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Field<'de> {
    /// The one string there is.
    fn text(self) -> Result<Text<'de>, BadString> {
        match self.1 {
            Strings::One(text) => Ok(Text(text)),
            Strings::Many([text]) => Ok(Text(text)),
            Strings::Many(_) => Err(BadString::custom("takes one value, not a list").of(self.0)),
        }
    }
}

/// Reads from the one string of a field.
macro_rules! from_text {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadString> {
            self.text()?.$method(visitor).map_err(|error| error.of(self.0))
        }
    )*};
}

impl<'de> Deserializer<'de> for Field<'de> {
    type Error = BadString;

    from_text! {
        deserialize_bool
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
        deserialize_char deserialize_str deserialize_string
        deserialize_bytes deserialize_byte_buf
        deserialize_unit deserialize_identifier deserialize_map
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadString> {
        match self.1 {
            Strings::Many(_) => self.deserialize_seq(visitor),
            Strings::One(_) => self.deserialize_str(visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadString> {
        visitor.visit_unit()
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadString> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, BadString> {
        (visitor.visit_newtype_struct(self)).map_err(|error| error.of(self.0))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadString> {
        let read = match self.1 {
            Strings::One(text) => {
                let mut one = SeqDeserializer::new(std::iter::once(Text(text)));
                visitor
                    .visit_seq(&mut one)
                    .and_then(|it| one.end().map(|()| it))
            }
            Strings::Many(texts) => {
                let mut many = SeqDeserializer::new(texts.iter().map(|text| Text(text)));
                visitor
                    .visit_seq(&mut many)
                    .and_then(|it| many.end().map(|()| it))
            }
        };
        read.map_err(|error| error.of(self.0))
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, BadString> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, BadString> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, BadString> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, BadString> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, BadString> {
        let read = self.text()?.deserialize_enum(name, variants, visitor);
        read.map_err(|error| error.of(self.0))
    }
}

/// One string.
#[derive(Clone, Copy)]
struct Text<'de>(&'de str);

impl<'de> IntoDeserializer<'de, BadString> for Text<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! parsed {
    ($($method:ident $visit:ident $type:ty, $what:literal;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadString> {
            match self.0.parse::<$type>() {
                Ok(value) => visitor.$visit(value),
                Err(_) => Err(BadString::not(self.0, $what)),
            }
        }
    )*};
}

macro_rules! integers {
    ($($method:ident $visit:ident $type:ty;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadString> {
            match self.0.parse::<$type>() {
                Ok(value) => visitor.$visit(value),
                Err(_) => Err(self.no_integer(<$type>::MIN, <$type>::MAX)),
            }
        }
    )*};
}

impl Text<'_> {
    fn no_integer(self, least: impl fmt::Display, most: impl fmt::Display) -> BadString {
        let digits = self.0.strip_prefix(['-', '+']).unwrap_or(self.0);
        if !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit()) {
            BadString::not(self.0, &format!("between {least} and {most}"))
        } else {
            BadString::not(self.0, "a whole number")
        }
    }
}

impl<'de> Deserializer<'de> for Text<'de> {
    type Error = BadString;

    integers! {
        deserialize_i8 visit_i8 i8;
        deserialize_i16 visit_i16 i16;
        deserialize_i32 visit_i32 i32;
        deserialize_i64 visit_i64 i64;
        deserialize_i128 visit_i128 i128;
        deserialize_u8 visit_u8 u8;
        deserialize_u16 visit_u16 u16;
        deserialize_u32 visit_u32 u32;
        deserialize_u64 visit_u64 u64;
        deserialize_u128 visit_u128 u128;
    }

    parsed! {
        deserialize_bool visit_bool bool, "`true` or `false`";
        deserialize_char visit_char char, "a single character";
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadString> {
        // As in JSON, a number is finite.
        match self.0.parse::<f64>() {
            Ok(number) if number.is_finite() => visitor.visit_f64(number),
            _ => Err(BadString::not(self.0, "a number")),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadString> {
        match self.0.parse::<f32>() {
            Ok(number) if number.is_finite() => visitor.visit_f32(number),
            _ => Err(BadString::not(self.0, "a number")),
        }
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadString> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadString> {
        visitor.visit_borrowed_bytes(self.0.as_bytes())
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadString> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, BadString> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, BadString> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_map<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, BadString> {
        Err(BadString::custom("a string cannot hold an object"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, BadString> {
        self.deserialize_map(visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, BadString> {
        Err(BadString::custom("a string cannot hold a list"))
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, BadString> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, BadString> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, BadString> {
        visitor.visit_enum(self)
    }

    serde::forward_to_deserialize_any! {
        str string unit unit_struct identifier ignored_any
    }
}

impl<'de> EnumAccess<'de> for Text<'de> {
    type Error = BadString;
    type Variant = Self;

    fn variant_seed<S: de::DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self), BadString> {
        Ok((seed.deserialize(self)?, self))
    }
}

/// Only bare variants are strings.
impl<'de> VariantAccess<'de> for Text<'de> {
    type Error = BadString;

    fn unit_variant(self) -> Result<(), BadString> {
        Ok(())
    }

    fn newtype_variant_seed<S: de::DeserializeSeed<'de>>(
        self,
        _seed: S,
    ) -> Result<S::Value, BadString> {
        Err(BadString::holds_more())
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, BadString> {
        Err(BadString::holds_more())
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, BadString> {
        Err(BadString::holds_more())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::net::Ipv4Addr;

    use serde::Deserialize;

    use super::Strings::{Many, One};
    use super::*;

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
