//! Decoding in which an object is never written as a list, nor a name as an object.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::{Deserialize, Deserializer};
use serde_json::de::StrRead;

/// Decodes JSON text, taking structs from objects only and bare enum variants
/// from their names only.
///
/// Serde's derived structs also accept a list of their fields, and `"Red"` may
/// be written `{"Red":null}`, which no schema says and the protocol does not
/// know: use this rather than [`serde_json::from_str`] for whatever a peer
/// sent. Borrows from `text` where the type does, and refuses trailing
/// characters. What serde buffers first (below `flatten`, and in untagged and
/// internally tagged enums) is decoded as loosely as serde does it.
///
/// ```
/// use antiphon_types::{ElicitResult, decode};
///
/// let list = r#"["accept",{"ok":true},null]"#;
/// assert!(serde_json::from_str::<ElicitResult>(list).is_ok());
/// assert!(decode::<ElicitResult>(list).is_err());
/// ```
pub fn decode<'de, T: Deserialize<'de>>(text: &'de str) -> serde_json::Result<T> {
    let mut from = serde_json::Deserializer::from_str(text);
    let value = decode_from(&mut from)?;
    from.end()?;
    Ok(value)
}

/// The same from a reader of JSON, for whoever makes one and looks whether anything follows: code
/// that need not know the type.
pub fn decode_from<'de, T: Deserialize<'de>>(
    from: &mut serde_json::Deserializer<StrRead<'de>>,
) -> serde_json::Result<T> {
    T::deserialize(Strict(from))
}

/// A deserializer, or a part that one hands out or is handed, in which structs
/// are maps at every depth.
pub(crate) struct Strict<T>(pub(crate) T);

/// Passes on what cannot hold a struct.
macro_rules! scalars {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method(visitor)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Strict<D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Strict(visitor))
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(Strict(visitor))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Strict(visitor))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_seq(Strict(visitor))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_option(Strict(visitor))
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple(len, Strict(visitor))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple_struct(name, len, Strict(visitor))
    }

    // Also how a `RawValue` is asked for, by its name.
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_newtype_struct(name, Strict(visitor))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(Choice(visitor))
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_unit_struct(name, visitor)
    }

    scalars! {
        deserialize_bool
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
        deserialize_char deserialize_str deserialize_string
        deserialize_bytes deserialize_byte_buf
        deserialize_unit deserialize_identifier deserialize_ignored_any
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

/// Passes on a value that holds no others.
macro_rules! values {
    ($($method:ident: $type:ty),* $(,)?) => {$(
        fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.0.$method(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Strict<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    values! {
        visit_bool: bool,
        visit_i8: i8,
        visit_i16: i16,
        visit_i32: i32,
        visit_i64: i64,
        visit_i128: i128,
        visit_u8: u8,
        visit_u16: u16,
        visit_u32: u32,
        visit_u64: u64,
        visit_u128: u128,
        visit_f32: f32,
        visit_f64: f64,
        visit_char: char,
        visit_str: &str,
        visit_borrowed_str: &'de str,
        visit_string: String,
        visit_bytes: &[u8],
        visit_borrowed_bytes: &'de [u8],
        visit_byte_buf: Vec<u8>,
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Strict(from))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Strict(from))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Strict(seq))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Strict(map))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Strict<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Strict(from))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Strict(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Strict<A> {
    type Error = A::Error;

    // A key is a string, hence no struct.
    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Strict(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

/// Reads a variant from its name alone, or from an object with its name as the
/// only member.
struct Choice<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Choice<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<V::Value, E> {
        self.0.visit_enum(StrDeserializer::new(name))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(Tagged(map))
    }
}

/// A variant that holds something, written as an object of one member.
struct Tagged<A>(A);

impl<'de, A: MapAccess<'de>> EnumAccess<'de> for Tagged<A> {
    type Error = A::Error;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(
        mut self,
        seed: S,
    ) -> Result<(S::Value, Self), A::Error> {
        match self.0.next_key_seed(seed)? {
            Some(name) => Ok((name, self)),
            None => Err(A::Error::invalid_type(
                Unexpected::Map,
                &"a member named after a variant",
            )),
        }
    }
}

impl<'de, A: MapAccess<'de>> VariantAccess<'de> for Tagged<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        Err(A::Error::invalid_type(
            Unexpected::Map,
            &"the variant's name alone",
        ))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(
        mut self,
        seed: S,
    ) -> Result<S::Value, A::Error> {
        let value = self.0.next_value_seed(Strict(seed))?;
        match self.0.next_key::<IgnoredAny>()? {
            None => Ok(value),
            Some(_) => Err(A::Error::custom("a variant is the only member")),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.newtype_variant_seed(Listed(len, visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.newtype_variant_seed(Members(visitor))
    }
}

/// Reads the items of a variant from a list.
struct Listed<V>(usize, V);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Listed<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        from.deserialize_tuple(self.0, self.1)
    }
}

/// Reads the members of a variant from an object.
struct Members<V>(V);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Members<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        from.deserialize_map(self.0)
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::value::RawValue;
    use serde_json::{Value, from_str, to_string};

    use super::*;
    use crate::*;

    /// `from_str` takes the list in `text` for an object, `decode` does not.
    fn only_here<T: DeserializeOwned>(text: &str) {
        assert!(from_str::<T>(text).is_ok(), "{text}");
        let Err(error) = decode::<T>(text) else {
            panic!("{text} is accepted");
        };
        assert!(error.to_string().contains("sequence"), "{text}: {error}");
    }

    /// Neither takes the list in `text` for an object.
    fn either_way<T: DeserializeOwned>(text: &str) {
        assert!(decode::<T>(text).is_err(), "{text}");
        assert!(from_str::<T>(text).is_err(), "{text}");
    }

    macro_rules! table {
        ($check:ident { $($type:ty: $($text:literal),+;)* }) => {
            $($($check::<$type>($text);)+)*
        };
    }

    #[test]
    fn a_list_is_no_object() {
        table! { only_here {
            ElicitationCapability: "[{},{}]";
            ElicitResult: r#"["accept",{"ok":true},null]"#;
            ListRootsResult: r#"[[],null]"#, r#"{"roots":[["file:///",null,null]]}"#;
            Implementation: r#"["n","1",null,null,null,null]"#;
            InitializeRequestParams:
                r#"["2025-11-25",{},{"name":"n","version":"1"},null]"#,
                r#"{"protocolVersion":"","capabilities":{"elicitation":[{},{}]},"clientInfo":{"name":"n","version":"1"}}"#,
                r#"{"protocolVersion":"","capabilities":{},"clientInfo":["n","1",null,null,null,null]}"#;
            ClientCapabilities:
                r#"{"elicitation":[{},{}]}"#, r#"{"sampling":[null,null]}"#, r#"{"roots":[true]}"#;
            ServerCapabilities: r#"{"tools":[true]}"#, r#"{"resources":[true,true]}"#;
            ErrorObject: r#"[1,"m",null]"#;
            Request<Value>: r#"["2.0",1,"m",null]"#;
            Notification<Value>: r#"["2.0","m",null]"#;
            Request<PaginatedRequestParams>:
                r#"{"jsonrpc":"2.0","id":1,"method":"m","params":["c",null]}"#;
            Response<EmptyResult>: r#"{"jsonrpc":"2.0","id":1,"result":[null]}"#;
            CallToolRequestParams: r#"["t",{},null,null,null]"#;
            CompleteRequestParams:
                r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":["a","v"]}"#;
            SubscriptionsListenRequestParams: r#"{"notifications":[true,null,null,null]}"#;
            CreateMessageRequestParams:
                r#"{"messages":[["user",{"type":"text","text":"a"},null]],"maxTokens":1}"#,
                r#"{"messages":[],"maxTokens":1,"toolChoice":["auto"]}"#,
                r#"{"messages":[],"maxTokens":1,"modelPreferences":{"hints":[["small"]]}}"#;
            CreateMessageResult:
                r#"{"role":"user","model":"m","content":[{"type":"text","text":"","annotations":[null,1,null]}]}"#;
            Tool: r#"{"name":"t","inputSchema":{},"annotations":["t",null,null,null,null]}"#;
            ContentBlock:
                r#"{"type":"text","text":"a","annotations":[null,1,null]}"#,
                r#"{"type":"resource","resource":["a:b",null,"t",null,null]}"#,
                r#"{"type":"resource_link","uri":"a:b","name":"n","icons":[["s",null,null,null]]}"#;
            TitledMultiSelectEnumSchema:
                r#"{"type":"array","items":[[]]}"#,
                r#"{"type":"array","items":{"anyOf":[["a","A"]]}}"#;
            TextContent: r#"["a",null,null]"#;
            Vec<Root>: r#"[["file:///",null,null]]"#;
            Option<Root>: r#"["file:///",null,null]"#;
            Box<Root>: r#"["file:///",null,null]"#;
        }}
    }

    /// Types that read themselves from a map or a value: strict either way.
    #[test]
    fn a_list_is_no_object_further_on() {
        table! { either_way {
            ContentBlock:
                r#"["text","a"]"#,
                r#"{"text":"a","annotations":[null,1,null],"type":"text"}"#,
                r#"{"resource":["a:b",null,"t",null,null],"type":"resource"}"#;
            SamplingContent:
                r#"{"content":[{"text":"","annotations":[null,1,null],"type":"text"}],"toolUseId":"1","type":"tool_result"}"#;
            ElicitRequestParams: r#"["form","m",{}]"#;
            Reference: r#"["ref/prompt","p",null]"#, r#"["ref/resource","a:b"]"#;
            InputRequest:
                r#"{"method":"roots/list","params":[null]}"#,
                r#"{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"toolChoice":["auto"]}}"#;
            InputRequired: r#"{"inputRequests":{"k":{"method":"roots/list","params":[null]}}}"#;
        }}
        let lists = r#"{"type":"string","oneOf":[["a","A"]]}"#;
        let field: PrimitiveSchema = decode(lists).unwrap();
        assert!(matches!(field, PrimitiveSchema::Other(_)));
        assert_eq!(to_string(&field).unwrap(), lists);
    }

    #[test]
    fn lists_stay_where_they_belong() {
        for text in [
            r#"{"content":[],"structuredContent":[[1,2.5,-3],{"a":[null,true,"é\n"]}]}"#,
            r#"{"content":[{"type":"hologram","depths":[1,[2]]}],"_meta":{"k":[[]]}}"#,
        ] {
            let result: CallToolResult = decode(text).unwrap();
            assert_eq!(to_string(&result).unwrap(), text);
        }
        assert_eq!(
            decode::<(u8, Option<f32>)>("[1,0.5]").unwrap(),
            (1, Some(0.5))
        );
    }

    #[test]
    fn raw_text_is_kept() {
        #[derive(Deserialize)]
        struct Raw<'a> {
            #[serde(borrow)]
            lent: &'a RawValue,
            owned: Option<Box<RawValue>>,
            name: &'a str,
        }
        let text = r#"{"lent":[1.0 , {}],"owned":{"n": 1e400 },"name":"n"}"#;
        let raw: Raw<'_> = decode(text).unwrap();
        assert_eq!(raw.lent.get(), "[1.0 , {}]");
        assert_eq!(raw.owned.unwrap().get(), r#"{"n": 1e400 }"#);
        assert_eq!(raw.name, "n");
        assert_eq!(decode::<&RawValue>(" [] ").unwrap().get(), "[]");
        let id = "123456789012345678901234567890";
        assert_eq!(decode::<RequestId>(id).unwrap().to_string(), id);
        assert!(decode::<&RawValue>("[").is_err());
    }

    #[test]
    fn variants_are_strict_too() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        enum Kind {
            Bare,
            Whole(Root),
            Pair(Root, u8),
            Members { root: Root },
        }
        let root = || Root::new("a:b");
        for kind in [
            Kind::Bare,
            Kind::Whole(root()),
            Kind::Pair(root(), 1),
            Kind::Members { root: root() },
        ] {
            assert_eq!(decode::<Kind>(&to_string(&kind).unwrap()).unwrap(), kind);
        }
        for list in [
            r#"{"Whole":["a:b",null,null]}"#,
            r#"{"Pair":[["a:b",null,null],1]}"#,
            r#"{"Members":[{"uri":"a:b"}]}"#,
            r#"{"Members":{"root":["a:b",null,null]}}"#,
        ] {
            assert!(from_str::<Kind>(list).is_ok(), "{list}");
            assert!(decode::<Kind>(list).is_err(), "{list}");
        }
    }

    #[test]
    fn a_bare_variant_is_its_name() {
        #[derive(Debug, PartialEq, Deserialize)]
        enum Kind {
            Bare,
            Maybe(Option<u8>),
        }
        let only_bare = r#"{"Bare":null}"#;
        assert_eq!(from_str::<Kind>(only_bare).unwrap(), Kind::Bare);
        for text in [
            only_bare,
            r#"[{"Bare":null}]"#,
            r#"{"Bare":{}}"#,
            r#""Maybe""#,
            r#"{"Maybe":1,"Bare":null}"#,
            r#"{"Maybe":1,"Maybe":1}"#,
            r#""Nope""#,
            r#"{"Nope":1}"#,
            "{}",
            "0",
            "null",
        ] {
            assert!(decode::<Kind>(text).is_err(), "{text}");
        }
        let escaped = r#"["\u0042are",{"M\u0061ybe":null},{"Maybe":1}]"#;
        assert_eq!(
            decode::<Vec<Kind>>(escaped).unwrap(),
            [Kind::Bare, Kind::Maybe(None), Kind::Maybe(Some(1))]
        );
    }

    #[test]
    fn nothing_may_follow() {
        assert!(decode::<EmptyResult>(" {} \n").is_ok());
        for text in ["{}{}", "{} x", "{}]", "", "{"] {
            assert!(decode::<EmptyResult>(text).is_err(), "{text}");
        }
    }

    /// Every real number is read back to the last digit.
    #[test]
    fn numbers_survive() {
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let number = f64::from_bits(bits);
            if number.is_finite() {
                let text = to_string(&number).expect("a number");
                let value: Value = decode(&text).expect("JSON");
                assert_eq!(value.to_string(), text);
            }
        }
    }
}
