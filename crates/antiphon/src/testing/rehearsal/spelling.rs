//! Messages in another spelling: the arguments mean the same, and not a byte need be where it was.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The members of an object as they stand there, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Members(pub(super) Vec<(String, Box<RawValue>)>);

impl Members {
    /// Of this text, if it is an object.
    pub(super) fn of(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let member = self.0.iter().find(|(other, _)| other == name);
        member.map(|(_, value)| value.get())
    }

    /// With this member instead of the one of its name, if there is one, or without it.
    pub(super) fn with(mut self, name: &str, value: Option<String>) -> Self {
        let value = value.and_then(|text| RawValue::from_string(text).ok());
        let at = self.0.iter().position(|(other, _)| other == name);
        match (at, value) {
            (Some(at), Some(value)) => self.0[at].1 = value,
            (Some(at), None) => drop(self.0.remove(at)),
            (None, _) => {}
        }
        self
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Each)
    }
}

impl fmt::Display for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (at, (name, value)) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let name = serde_json::to_string(name).map_err(|_| fmt::Error)?;
            write!(f, "{comma}{name}:{}", value.get())?;
        }
        f.write_str("}")
    }
}

/// The same value: members the other way round, with space between everything and escapes where
/// none are needed. Numbers stay as they are, since what reads `5` need not read `5.0`.
pub(super) fn respelt(text: &str) -> String {
    let text = text.trim();
    match text.as_bytes().first() {
        Some(b'{') => {
            let Members(members) = Members::of(text).unwrap_or_default();
            let members = members.iter().rev().map(|(name, value)| {
                let name = escaped(name);
                format!("{name} : {}", respelt(value.get()))
            });
            format!("{{ {} }}", members.collect::<Vec<_>>().join(" , "))
        }
        Some(b'[') => {
            let items: Vec<Box<RawValue>> = serde_json::from_str(text).unwrap_or_default();
            let items = items.iter().map(|item| respelt(item.get()));
            format!("[ {} ]", items.collect::<Vec<_>>().join(" , "))
        }
        Some(b'"') => match serde_json::from_str::<String>(text) {
            Ok(string) => escaped(&string),
            Err(_) => text.to_owned(),
        },
        _ => text.to_owned(),
    }
}

/// A string with its first character as an escape.
fn escaped(string: &str) -> String {
    let mut units = [0; 2];
    let mut characters = string.chars();
    let first = characters.next().map(|first| {
        let units = first.encode_utf16(&mut units).iter();
        units
            .map(|unit| format!("\\u{unit:04X}"))
            .collect::<String>()
    });
    let rest = serde_json::Value::from(characters.as_str()).to_string();
    let rest = rest.get(1..).unwrap_or_default();
    format!("\"{}{rest}", first.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use antiphon_core::canonical::canonical;
    use serde_json::Value;

    use super::*;

    #[test]
    fn another_spelling_means_the_same() {
        for text in [
            r#"{"amount":5,"note":{"b":1,"a":"x"},"list":[1.5,"",null,true,[],{}]}"#,
            r#"{"":"\"quoted\"\n","é":"𝄞 clef","a/b":-0.0,"big":12345678901234567890123}"#,
            "{}",
        ] {
            let other = respelt(text);
            assert_ne!(other, text);
            let bytes = |text: &str| {
                let mut bytes = Vec::new();
                canonical(text, &mut bytes).map(|()| bytes)
            };
            assert_eq!(bytes(&other).ok(), bytes(text).ok(), "{other}");
            assert!(bytes(text).is_ok(), "{text}");
            let [one, two]: [Value; 2] =
                [text, &other].map(|text| serde_json::from_str(text).expect("JSON"));
            assert_eq!(one, two);
        }
        assert_eq!(
            respelt(r#"{"b":"Ada","a":1}"#),
            r#"{ "\u0061" : 1 , "\u0062" : "\u0041da" }"#
        );
    }

    #[test]
    fn members_keep_their_order_when_one_changes() {
        let members = Members::of(r#"{"z":1, "a":{"x":2},"m":3}"#).expect("an object");
        let changed = members.with("a", Some("[]".to_owned()));
        assert_eq!(changed.to_string(), r#"{"z":1,"a":[],"m":3}"#);
        let changed = changed.with("z", None).with("new", Some("1".to_owned()));
        assert_eq!(changed.to_string(), r#"{"a":[],"m":3}"#);
        assert!(Members::of("[1]").is_none());
    }
}
