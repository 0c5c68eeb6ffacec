//! Decoding of objects whose kind is named by one of their members.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer, StringDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::decode::Strict;

/// A type chosen by the text of its tag member.
pub(crate) trait Tagged: Sized {
    /// Name of the tag member.
    const TAG: &'static str;
    /// Tag assumed when the member is missing; `None` makes it required.
    const DEFAULT: Option<&'static str>;

    /// Decodes `rest`, which holds the tag member only if it did not come first.
    fn from_tag<'de, D: Deserializer<'de>>(tag: &str, rest: D) -> Result<Self, D::Error>;
}

/// Decodes a tagged object: straight through when the tag comes first,
/// otherwise by way of a map.
pub(crate) fn deserialize<'de, T: Tagged, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    from.deserialize_map(TaggedVisitor(PhantomData))
}

/// The whole object of an unknown kind, its tag back in place.
pub(crate) fn object<'de, T: Tagged, D: Deserializer<'de>>(
    tag: &str,
    rest: D,
) -> Result<Map<String, Value>, D::Error> {
    let rest: Map<String, Value> = Deserialize::deserialize(rest)?;
    if rest.contains_key(T::TAG) {
        return Ok(rest);
    }
    let mut whole = Map::with_capacity(rest.len() + 1);
    whole.insert(T::TAG.to_owned(), tag.into());
    whole.extend(rest);
    Ok(whole)
}

/// Keeps an explicit `null` apart from an absent member.
pub(crate) fn present<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(from).map(Some)
}

/// A name, or another short text, borrowed unless it is spelt with escapes.
pub(crate) struct Name<'de>(pub(crate) Cow<'de, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct NameVisitor;

        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(name)))
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }

            fn visit_string<E: Error>(self, name: String) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(name)))
            }
        }

        from.deserialize_str(NameVisitor)
    }
}

struct TaggedVisitor<T>(PhantomData<T>);

impl<'de, T: Tagged> Visitor<'de> for TaggedVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with `{}`", T::TAG)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut whole = Map::new();
        if let Some(Name(key)) = map.next_key()? {
            if key == T::TAG {
                let Name(tag) = map.next_value()?;
                let rest = Rest { map, tag: T::TAG };
                return T::from_tag(&tag, MapAccessDeserializer::new(rest));
            }
            whole.insert(key.into_owned(), map.next_value()?);
        }
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            if whole.contains_key(&key) {
                return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
            }
            whole.insert(key, value);
        }
        let tag = match whole.get(T::TAG) {
            Some(Value::String(tag)) => tag.clone(),
            Some(_) => {
                return Err(A::Error::custom(format_args!(
                    "`{}` must be a string",
                    T::TAG
                )));
            }
            None => T::DEFAULT
                .ok_or_else(|| A::Error::missing_field(T::TAG))?
                .to_owned(),
        };
        T::from_tag(&tag, Strict(Value::Object(whole))).map_err(A::Error::custom)
    }
}

/// The members after the tag, which must not stand among them again: another reader might go
/// by the second.
struct Rest<A> {
    map: A,
    tag: &'static str,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Rest<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let Some(Name(key)) = self.map.next_key()? else {
            return Ok(None);
        };
        if key == self.tag {
            return Err(A::Error::duplicate_field(self.tag));
        }
        let key = match key {
            Cow::Borrowed(key) => seed.deserialize(BorrowedStrDeserializer::new(key)),
            Cow::Owned(key) => seed.deserialize(StringDeserializer::new(key)),
        };
        key.map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.map.size_hint()
    }
}
