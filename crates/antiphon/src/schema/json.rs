//! A JSON text that a type could not be read from, read once more to say where and why.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, Expected, MapAccess, Unexpected, Visitor};
use serde_json::Number;
use serde_json::value::RawValue;

use super::feed::{Fed, Given, Integer, Parts, Variant, What};
use super::misread::Misread;

/// As deep as serde_json goes.
const MAX_DEPTH: usize = 127;

/// How raw JSON is asked for, and how it is given.
const RAW: &str = "$serde_json::private::RawValue";

/// A JSON value. It is taken apart level by level, so that what is wrong further in is only found
/// by who gets there.
#[derive(Clone, Copy)]
pub(crate) struct Json<'a> {
    text: &'a str,
    /// How many values are around it.
    depth: usize,
}

impl<'a> Json<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let text = text.trim_ascii();
        Self { text, depth: 0 }
    }

    /// What there is, with structs in objects only and bare variants in names only, as
    /// [`decode`](antiphon_types::decode) has it.
    pub(super) fn give(self, what: What, by: &dyn Expected) -> Result<Given<'a>, Misread> {
        let first = self.text.as_bytes().first().copied().unwrap_or_default();
        Ok(match (what, first) {
            (What::Ignored, _) => Given::Unit,
            (What::Option, b'n') => Given::Nothing,
            (What::Newtype(RAW), _) => {
                let raw = (RAW.into(), Fed::Name(self.text));
                Given::Map(Parts::members([raw]))
            }
            (What::Option | What::Newtype(_), _) => Given::Inside(Fed::Json(self)),
            (What::Enum(_), b'"') => Given::Variant(Variant::Bare(self.string()?.into())),
            (What::Enum(_), b'{') => Given::Variant(self.variant()?),
            (What::Any | What::Unit, b'n') => Given::Unit,
            (What::Any | What::Bool, b't') => Given::Bool(true),
            (What::Any | What::Bool, b'f') => Given::Bool(false),
            (What::Any | What::Str | What::Char | What::Identifier | What::Bytes, b'"') => {
                Given::Str(self.string()?.into())
            }
            (What::Any | What::Seq | What::Tuple | What::Bytes, b'[') => {
                let items: Vec<&RawValue> = self.inside()?;
                Given::Seq(Parts::items(items.into_iter().map(|it| self.part(it))))
            }
            (What::Any | What::Map | What::Struct(_), b'{') => {
                let Members(members) = self.inside()?;
                let members = members.into_iter();
                let parts = members.map(|(name, it)| (name.into(), self.part(it)));
                Given::Map(Parts::members(parts))
            }
            (What::Integer(held), b'-' | b'0'..=b'9') if held.most > u64::MAX.into() => {
                large(self.text, held).map_or_else(|| self.number(), Ok)?
            }
            // What 32 bits are too few for is refused.
            (What::Float { short: true }, b'-' | b'0'..=b'9') => {
                Given::F64(self.read::<f32>()?.into())
            }
            (What::Any | What::Integer(_) | What::Float { .. }, b'-' | b'0'..=b'9') => {
                self.number()?
            }
            _ => return Err(self.unlike(first, by)),
        })
    }

    fn part(self, value: &'a RawValue) -> Fed<'a> {
        Fed::Json(Self {
            text: value.get(),
            depth: self.depth + 1,
        })
    }

    fn read<T: Deserialize<'a>>(self) -> Result<T, Misread> {
        serde_json::from_str(self.text).map_err(|error| Misread::custom(without_place(&error)))
    }

    /// What an object or a list holds.
    fn inside<T: Deserialize<'a>>(self) -> Result<T, Misread> {
        match self.depth < MAX_DEPTH {
            true => self.read(),
            false => Err(Misread::custom("recursion limit exceeded")),
        }
    }

    fn string(self) -> Result<String, Misread> {
        self.read()
    }

    fn number(self) -> Result<Given<'a>, Misread> {
        let number: Number = self.read()?;
        Ok(match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(number), ..) => Given::U64(number),
            (_, Some(number), _) => Given::I64(number),
            (.., number) => Given::F64(number.unwrap_or(f64::NAN)),
        })
    }

    /// A variant that holds something: an object of one member.
    fn variant(self) -> Result<Variant<'a>, Misread> {
        let Members(mut members) = self.inside()?;
        match (members.pop(), members.is_empty()) {
            (Some((name, held)), true) => {
                let depth = self.depth + 1;
                let text = held.get();
                Ok(Variant::Holding(name.into(), Self { text, depth }))
            }
            (Some(_), false) => Err(Misread::custom("a variant is the only member")),
            (None, _) => {
                let expected = &"a member named after a variant";
                Err(Misread::invalid_type(Unexpected::Map, expected))
            }
        }
    }

    /// It is nothing that was called for.
    fn unlike(self, first: u8, by: &dyn Expected) -> Misread {
        let text;
        let unexpected = match first {
            b'n' => Unexpected::Unit,
            b't' | b'f' => Unexpected::Bool(first == b't'),
            b'[' => Unexpected::Seq,
            b'{' => Unexpected::Map,
            b'"' => match self.string() {
                Ok(string) => {
                    text = string;
                    Unexpected::Str(&text)
                }
                Err(error) => return error,
            },
            _ => match self.number() {
                Ok(Given::U64(number)) => Unexpected::Unsigned(number),
                Ok(Given::I64(number)) => Unexpected::Signed(number),
                Ok(Given::F64(number)) => Unexpected::Float(number),
                Ok(_) => Unexpected::Other("a value"),
                Err(error) => return error,
            },
        };
        Misread::invalid_type(unexpected, by)
    }
}

/// A whole number that 64 bits may not hold.
fn large<'a>(text: &str, held: Integer) -> Option<Given<'a>> {
    match held.least < 0 {
        true => text.parse().map(Given::I128).ok(),
        false => text.parse().map(Given::U128).ok(),
    }
}

/// The name of a member, where something else than a name may be called for.
pub(super) fn key(key: &str, what: What) -> Result<Given<'_>, Misread> {
    let json = Json::new(key);
    let is_number = key.starts_with(|it: char| it == '-' || it.is_ascii_digit());
    Ok(match what {
        What::Option | What::Newtype(_) => Given::Inside(Fed::Key(key)),
        What::Integer(held) if is_number && held.most > u64::MAX.into() => {
            large(key, held).map_or_else(|| json.number(), Ok)?
        }
        What::Integer(_) | What::Float { .. } if is_number => json.number()?,
        What::Integer(_) | What::Float { .. } => {
            let expected = "invalid value: expected key to be a number in quotes";
            return Err(Misread::custom(expected));
        }
        What::Bool if key == "true" || key == "false" => Given::Bool(key == "true"),
        What::Enum(_) => Given::Variant(Variant::Bare(key.into())),
        _ => Given::Str(key.into()),
    })
}

/// The members of an object as they are written, whether or not a name is there twice.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(All)
    }
}

/// What an error says, without the line and column of a text nobody sees.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    let mut text = error.to_string();
    if let Some(place) = text.rfind(" at line ") {
        text.truncate(place);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use antiphon_types::decode;
    use proptest::prelude::*;
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::super::{Reading, explain};
    use super::*;

    /// Something of every kind that types are made of.
    #[derive(Deserialize)]
    #[allow(dead_code, reason = "only read")]
    struct Order {
        name: Code,
        #[serde(default)]
        lines: Vec<Line>,
        pay: Option<Pay>,
        notes: Option<BTreeMap<u8, Note>>,
    }

    #[derive(Deserialize)]
    #[allow(dead_code, reason = "only read")]
    struct Line {
        copies: u32,
        price: Option<f64>,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    #[allow(dead_code, reason = "only read")]
    enum Pay {
        Cash,
        Card(String),
        Split(u8, i64),
        Bank { iban: String },
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    #[allow(dead_code, reason = "only read")]
    enum Note {
        Text(char),
        Flags([bool; 2]),
        Nothing(()),
    }

    #[derive(Deserialize)]
    #[serde(try_from = "String")]
    struct Code;

    impl TryFrom<String> for Code {
        type Error = &'static str;

        fn try_from(text: String) -> Result<Self, Self::Error> {
            match &*text {
                "AB" => Ok(Self),
                _ => Err("a code has two letters"),
            }
        }
    }

    fn why<T: DeserializeOwned>(text: &str) -> String {
        match explain(&mut Reading::<T>::default(), text) {
            None => "fine".to_owned(),
            Some(violations) => violations.lines().collect::<Vec<_>>().join("; "),
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_the_way_to_it() {
        let line = "struct Line";
        for (text, told) in [
            (json!({"name": "AB"}), "fine".to_owned()),
            (
                json!({"name": "A"}),
                "name: a code has two letters".to_owned(),
            ),
            (
                json!({"name": "AB", "lines": [{"copies": 1}, [2]]}),
                format!("lines[1]: invalid type: sequence, expected {line}"),
            ),
            (
                json!({"name": "AB", "lines": [{"copies": -1}]}),
                "lines[0].copies: invalid value: integer `-1`, expected u32".to_owned(),
            ),
            (
                json!({"name": "AB", "lines": [{}]}),
                "lines[0]: missing field `copies`".to_owned(),
            ),
            (
                json!({"name": "AB", "pay": 3}),
                "pay: invalid type: integer `3`, expected enum Pay".to_owned(),
            ),
            (
                json!({"name": "AB", "pay": "cheque"}),
                "pay: unknown variant `cheque`, expected one of `cash`, `card`, `split`, `bank`"
                    .to_owned(),
            ),
            (
                json!({"name": "AB", "pay": {"bank": {"iban": 1}}}),
                "pay.bank.iban: invalid type: integer `1`, expected a string".to_owned(),
            ),
            (
                json!({"name": "AB", "notes": {"x": null}}),
                "notes: invalid value: expected key to be a number in quotes".to_owned(),
            ),
        ] {
            assert_eq!(why::<Order>(&text.to_string()), told, "{text}");
        }
    }

    #[test]
    fn a_name_that_stands_twice_and_a_text_that_breaks_off_are_told() {
        assert_eq!(
            why::<Line>(r#"{"copies": 1, "copies": 2}"#),
            "duplicate field `copies`"
        );
        assert!(why::<Vec<u8>>("[1,").starts_with("EOF while parsing"));
        assert_eq!(why::<Vec<f32>>("[1.5, 1e39]"), "[1]: number out of range");
    }

    /// A value for one of these types, right or nearly so.
    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-2i64..300).prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            Just(json!(2.0)),
            "[a-z]?".prop_map(Value::from),
            prop_oneof![Just("AB"), Just("cash"), Just("card"), Just("cheque")]
                .prop_map(Value::from),
        ];
        let name = prop_oneof![
            Just("name"),
            Just("lines"),
            Just("pay"),
            Just("notes"),
            Just("copies"),
            Just("price"),
            Just("card"),
            Just("split"),
            Just("bank"),
            Just("iban"),
            Just("7"),
            Just("-7"),
        ];
        leaf.prop_recursive(4, 24, 4, move |inner| {
            let member = (name.clone(), inner.clone());
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(member, 0..4).prop_map(|members| {
                    let members = members.into_iter();
                    Value::Object(members.map(|(name, it)| (name.to_owned(), it)).collect())
                }),
                (inner.clone(), inner)
                    .prop_map(|(lines, pay)| { json!({"name": "AB", "lines": lines, "pay": pay}) }),
            ]
        })
    }

    proptest! {
        /// The second reading finds something wrong exactly where the first did.
        #[test]
        fn it_agrees_with_the_reading_of_every_call(value in values()) {
            let text = value.to_string();
            prop_assert_eq!(why::<Order>(&text) == "fine", decode::<Order>(&text).is_ok());
            prop_assert_eq!(why::<Line>(&text) == "fine", decode::<Line>(&text).is_ok());
            prop_assert_eq!(why::<Pay>(&text) == "fine", decode::<Pay>(&text).is_ok());
            prop_assert_eq!(why::<Note>(&text) == "fine", decode::<Note>(&text).is_ok());
            prop_assert_eq!(why::<Vec<Pay>>(&text) == "fine", decode::<Vec<Pay>>(&text).is_ok());
            prop_assert_eq!(
                why::<BTreeMap<i8, f32>>(&text) == "fine",
                decode::<BTreeMap<i8, f32>>(&text).is_ok()
            );
        }
    }
}
