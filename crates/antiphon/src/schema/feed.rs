//! [`Fed`]: one deserializer for all that is read seldom, whatever it comes from.
//!
//! What is generic is compiled anew for every type of every user's crate, so there is little of it:
//! it hands a visitor what the source gives. What that is, the sources say in plain functions:
//! [`Json`], [`Fields`] and their parts, [`Probe`].

use std::any::type_name;
use std::borrow::Cow;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};

use super::json::Json;
use super::misread::Misread;
use super::probe::{NOBODY, Probe};
use super::strings::{Field, Fields, Text};

/// Something that a type can be read from.
#[derive(Clone, Copy)]
pub(crate) enum Fed<'a> {
    /// A JSON text.
    Json(Json<'a>),
    /// A member's name there, which may stand for a number.
    Key(&'a str),
    /// Fields that are strings.
    Fields(Fields<'a>),
    /// One of them.
    Field(Field<'a>),
    /// One string of them.
    Text(Text<'a>),
    /// A name that is just that.
    Name(&'a str),
    /// What a schema says, to find out what the type calls for.
    Probe(Probe<'a>),
    /// What is under a name that the type should not know.
    Stranger(Probe<'a>),
}

/// What a type calls for.
#[derive(Clone, Copy)]
pub(super) enum What {
    Any,
    Ignored,
    Identifier,
    Bool,
    /// A whole number.
    Integer(Integer),
    /// A number, with 32 or 64 bits.
    Float {
        short: bool,
    },
    Char,
    Str,
    Bytes,
    Option,
    Unit,
    /// A struct around one value, of this name.
    Newtype(&'static str),
    Seq,
    Tuple,
    Map,
    Struct(&'static [&'static str]),
    Enum(&'static [&'static str]),
}

/// The whole numbers that a type can hold.
#[derive(Clone, Copy)]
pub(super) struct Integer {
    pub(super) least: i128,
    pub(super) most: u128,
}

/// What a source gives.
pub(super) enum Given<'a> {
    Unit,
    Bool(bool),
    U64(u64),
    I64(i64),
    U128(u128),
    I128(i128),
    F64(f64),
    Char(char),
    Str(Cow<'a, str>),
    Nothing,
    /// What is in an option, or in a struct around one value.
    Inside(Fed<'a>),
    Seq(Parts<'a>),
    Map(Parts<'a>),
    Variant(Variant<'a>),
}

impl Given<'_> {
    /// It is nothing that was called for.
    fn unfit(&self, by: &dyn Expected) -> Misread {
        let unexpected = match self {
            Self::Unit => Unexpected::Unit,
            Self::Bool(it) => Unexpected::Bool(*it),
            Self::U64(it) => Unexpected::Unsigned(*it),
            Self::I64(it) => Unexpected::Signed(*it),
            Self::U128(_) | Self::I128(_) => Unexpected::Other("a large number"),
            Self::F64(it) => Unexpected::Float(*it),
            Self::Char(it) => Unexpected::Char(*it),
            Self::Str(it) => Unexpected::Str(it),
            Self::Nothing | Self::Inside(_) => Unexpected::Option,
            Self::Seq(_) => Unexpected::Seq,
            Self::Map(_) => Unexpected::Map,
            Self::Variant(_) => Unexpected::Enum,
        };
        Misread::invalid_type(unexpected, by)
    }
}

impl<'a> Fed<'a> {
    /// What there is for a visitor of this type.
    #[cold]
    fn give(
        self,
        what: What,
        by: &dyn Expected,
        visitor: &'static str,
    ) -> Result<Given<'a>, Misread> {
        match self {
            Self::Json(json) => json.give(what, by),
            Self::Key(key) => super::json::key(key, what),
            Self::Fields(fields) => Ok(fields.give(what)),
            Self::Field(field) => field.give(what),
            Self::Text(text) => text.give(what),
            Self::Name(name) => Ok(named(name, what)),
            Self::Probe(probe) => probe.give(what, visitor),
            Self::Stranger(probe) => Err(probe.look(false)),
        }
    }

    /// A string, and nothing else.
    #[cold]
    fn name(
        self,
        what: What,
        by: &dyn Expected,
        visitor: &'static str,
    ) -> Result<Cow<'a, str>, Misread> {
        match self.give(what, by, visitor)? {
            Given::Str(it) => Ok(it),
            other => Err(other.unfit(by)),
        }
    }

    /// Items, and nothing else.
    #[cold]
    fn list(
        self,
        what: What,
        by: &dyn Expected,
        visitor: &'static str,
    ) -> Result<Parts<'a>, Misread> {
        match self.give(what, by, visitor)? {
            Given::Seq(it) => Ok(it),
            other => Err(other.unfit(by)),
        }
    }

    /// Members, and nothing else.
    #[cold]
    fn object(
        self,
        what: What,
        by: &dyn Expected,
        visitor: &'static str,
    ) -> Result<Parts<'a>, Misread> {
        match self.give(what, by, visitor)? {
            Given::Map(it) => Ok(it),
            other => Err(other.unfit(by)),
        }
    }

    /// A variant, and nothing else.
    #[cold]
    fn variant(
        self,
        what: What,
        by: &dyn Expected,
        visitor: &'static str,
    ) -> Result<Variant<'a>, Misread> {
        match self.give(what, by, visitor)? {
            Given::Variant(it) => Ok(it),
            other => Err(other.unfit(by)),
        }
    }

    /// What is in an option, if anything is.
    #[cold]
    fn inside(self, by: &dyn Expected, visitor: &'static str) -> Result<Option<Self>, Misread> {
        match self.give(What::Option, by, visitor)? {
            Given::Nothing => Ok(None),
            Given::Inside(it) => Ok(Some(it)),
            other => Err(other.unfit(by)),
        }
    }

    /// A probe may only have wanted to know whether what it gave is refused.
    #[cold]
    fn refused(self, fields: &'static [&'static str], error: Misread) -> Misread {
        match self {
            Self::Probe(probe) => probe.refused(fields, error),
            _ => error,
        }
    }

    #[inline(never)]
    fn number<'de, V: Visitor<'de>>(self, what: What, visitor: V) -> Result<V::Value, Misread> {
        let read = match self.give(what, &visitor, type_name::<V>())? {
            Given::U64(it) => visitor.visit_u64(it),
            Given::I64(it) => visitor.visit_i64(it),
            Given::F64(it) => visitor.visit_f64(it),
            other => Err(other.unfit(&visitor)),
        };
        read.map_err(|error| self.refused(&[], error))
    }

    #[inline(never)]
    fn large<'de, V: Visitor<'de>>(self, what: What, visitor: V) -> Result<V::Value, Misread> {
        let read = match self.give(what, &visitor, type_name::<V>())? {
            Given::U64(it) => visitor.visit_u64(it),
            Given::I64(it) => visitor.visit_i64(it),
            Given::U128(it) => visitor.visit_u128(it),
            Given::I128(it) => visitor.visit_i128(it),
            Given::F64(it) => visitor.visit_f64(it),
            other => Err(other.unfit(&visitor)),
        };
        read.map_err(|error| self.refused(&[], error))
    }

    #[inline(never)]
    fn text<'de, V: Visitor<'de>>(self, what: What, visitor: V) -> Result<V::Value, Misread> {
        let read = match self.give(what, &visitor, type_name::<V>())? {
            Given::Char(it) => visitor.visit_char(it),
            Given::Str(it) => visitor.visit_str(&it),
            other => Err(other.unfit(&visitor)),
        };
        read.map_err(|error| self.refused(&[], error))
    }

    #[inline(never)]
    fn items<'de, V: Visitor<'de>>(self, what: What, visitor: V) -> Result<V::Value, Misread> {
        let mut items = self.list(what, &visitor, type_name::<V>())?;
        let read = visitor.visit_seq(Rest(&mut items))?;
        items.end()?;
        Ok(read)
    }

    #[inline(never)]
    fn members<'de, V: Visitor<'de>>(
        self,
        what: What,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misread> {
        let mut members = self.object(what, &visitor, type_name::<V>())?;
        visitor
            .visit_map(Rest(&mut members))
            .map_err(|error| self.refused(fields, error))
    }

    /// Whatever there is.
    #[inline(never)]
    fn whatever<'de, V: Visitor<'de>>(self, what: What, visitor: V) -> Result<V::Value, Misread> {
        match self.give(what, &visitor, type_name::<V>())? {
            Given::Unit => visitor.visit_unit(),
            Given::Bool(it) => visitor.visit_bool(it),
            Given::U64(it) => visitor.visit_u64(it),
            Given::I64(it) => visitor.visit_i64(it),
            Given::U128(it) => visitor.visit_u128(it),
            Given::I128(it) => visitor.visit_i128(it),
            Given::F64(it) => visitor.visit_f64(it),
            Given::Char(it) => visitor.visit_char(it),
            Given::Str(it) if matches!(what, What::Bytes) => visitor.visit_bytes(it.as_bytes()),
            Given::Str(it) => visitor.visit_str(&it),
            Given::Nothing => visitor.visit_none(),
            Given::Inside(it) => visitor.visit_some(it),
            Given::Seq(mut items) => {
                let read = visitor.visit_seq(Rest(&mut items))?;
                items.end().map(|()| read)
            }
            Given::Map(mut members) => visitor.visit_map(Rest(&mut members)),
            Given::Variant(it) => visitor.visit_enum(&it),
        }
    }
}

/// A name where something else than a name may be called for.
fn named(name: &str, what: What) -> Given<'_> {
    match what {
        What::Enum(_) => Given::Variant(Variant::Bare(name.into())),
        _ => Given::Str(name.into()),
    }
}

macro_rules! integers {
    ($shell:ident: $($method:ident $type:ty,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misread> {
            const HELD: Integer = Integer {
                least: <$type>::MIN as i128,
                most: <$type>::MAX as u128,
            };
            self.$shell(What::Integer(HELD), visitor)
        }
    )*};
}

macro_rules! shells {
    ($($method:ident $shell:ident $what:expr;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misread> {
            self.$shell($what, visitor)
        }
    )*};
}

// No visitor is lent anything, so that nothing need live as long as `'de`.
impl<'de> Deserializer<'de> for Fed<'_> {
    type Error = Misread;

    integers! { number:
        deserialize_i8 i8,
        deserialize_i16 i16,
        deserialize_i32 i32,
        deserialize_i64 i64,
        deserialize_u8 u8,
        deserialize_u16 u16,
        deserialize_u32 u32,
        deserialize_u64 u64,
    }

    integers! { large:
        deserialize_i128 i128,
        deserialize_u128 u128,
    }

    shells! {
        deserialize_f32 number What::Float { short: true };
        deserialize_f64 number What::Float { short: false };
        deserialize_char text What::Char;
        deserialize_str text What::Str;
        deserialize_string text What::Str;
        deserialize_bytes whatever What::Bytes;
        deserialize_byte_buf whatever What::Bytes;
        deserialize_any whatever What::Any;
        deserialize_seq items What::Seq;
    }

    #[inline(never)]
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misread> {
        let name = self.name(What::Identifier, &visitor, type_name::<V>())?;
        visitor.visit_str(&name)
    }

    #[inline(never)]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misread> {
        match self.give(What::Bool, &visitor, type_name::<V>())? {
            Given::Bool(it) => visitor.visit_bool(it),
            other => Err(other.unfit(&visitor)),
        }
    }

    #[inline(never)]
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misread> {
        match self.give(What::Unit, &visitor, type_name::<V>())? {
            Given::Unit => visitor.visit_unit(),
            other => Err(other.unfit(&visitor)),
        }
    }

    #[inline(never)]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misread> {
        self.give(What::Ignored, &visitor, type_name::<V>())?;
        visitor.visit_unit()
    }

    #[inline(never)]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misread> {
        match self.inside(&visitor, type_name::<V>())? {
            None => visitor.visit_none(),
            Some(it) => visitor.visit_some(it),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misread> {
        self.deserialize_unit(visitor)
    }

    #[inline(never)]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misread> {
        match self.give(What::Newtype(name), &visitor, type_name::<V>())? {
            Given::Inside(it) => visitor.visit_newtype_struct(it),
            Given::Map(mut members) => visitor.visit_map(Rest(&mut members)),
            other => Err(other.unfit(&visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Misread> {
        self.items(What::Tuple, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Misread> {
        self.items(What::Tuple, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misread> {
        self.members(What::Map, &[], visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misread> {
        self.members(What::Struct(fields), fields, visitor)
    }

    #[inline(never)]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misread> {
        let variant = self.variant(What::Enum(variants), &visitor, type_name::<V>())?;
        visitor
            .visit_enum(&variant)
            .map_err(|error| self.refused(&[], error))
    }
}

/// The members of an object, or the items of a list.
pub(super) struct Parts<'a> {
    all: Vec<(Cow<'a, str>, Fed<'a>)>,
    /// How many were taken.
    taken: usize,
}

impl<'a> Parts<'a> {
    pub(super) fn members(all: impl IntoIterator<Item = (Cow<'a, str>, Fed<'a>)>) -> Self {
        let all = all.into_iter().collect();
        Self { all, taken: 0 }
    }

    pub(super) fn items(all: impl IntoIterator<Item = Fed<'a>>) -> Self {
        Self::members(all.into_iter().map(|it| (Cow::Borrowed(""), it)))
    }

    /// The name of the next member.
    #[cold]
    fn key(&self) -> Option<Name<'_>> {
        let (name, value) = self.all.get(self.taken)?;
        Some(Name {
            name,
            of_json: matches!(value, Fed::Json(_)),
        })
    }

    #[cold]
    fn take(&mut self) -> Option<Fed<'a>> {
        let (_, value) = self.all.get(self.taken)?;
        self.taken += 1;
        Some(*value)
    }

    #[cold]
    fn value(&mut self) -> Result<Fed<'a>, Misread> {
        match self.take() {
            // Its name was accepted.
            Some(Fed::Stranger(probe)) => Err(probe.look(false)),
            value => value.ok_or_else(Misread::lost),
        }
    }

    /// Says where it is that something did not fit.
    #[cold]
    fn in_member(&self, error: Misread) -> Misread {
        match self.all.get(self.taken - 1) {
            Some((name, Fed::Json(_))) => error.within(name),
            Some((name, Fed::Field(_))) => error.of(name),
            _ => error,
        }
    }

    #[cold]
    fn in_item(&self, error: Misread) -> Misread {
        match self.all.get(self.taken - 1) {
            Some((_, Fed::Json(_))) => error.at(self.taken - 1),
            _ => error,
        }
    }

    /// Whether all items were called for.
    #[cold]
    fn end(&self) -> Result<(), Misread> {
        match self.all.get(self.taken) {
            None => Ok(()),
            Some((_, Fed::Json(_))) => Err(Misread::custom("trailing characters")),
            Some(_) => {
                let few = match self.taken {
                    1 => "1 element in sequence".to_owned(),
                    taken => format!("{taken} elements in sequence"),
                };
                Err(Misread::invalid_length(self.all.len(), &&*few))
            }
        }
    }
}

/// What a member or a variant is called. Mostly a type looks for it among those it knows: for that
/// little is compiled, because it is compiled for every type.
struct Name<'a> {
    name: &'a str,
    /// A member's name in JSON may stand for a number.
    of_json: bool,
}

impl<'a> Name<'a> {
    fn fed(self) -> Fed<'a> {
        match self.of_json {
            true => Fed::Key(self.name),
            false => Fed::Name(self.name),
        }
    }
}

macro_rules! as_fed {
    ($($method:ident($($given:ident: $type:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(
            self,
            $($given: $type,)*
            visitor: V,
        ) -> Result<V::Value, Misread> {
            self.fed().$method($($given,)* visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Name<'_> {
    type Error = Misread;

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misread> {
        visitor.visit_str(self.name)
    }

    as_fed! {
        deserialize_any() deserialize_bool() deserialize_ignored_any() deserialize_option()
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64() deserialize_char() deserialize_str()
        deserialize_string() deserialize_bytes() deserialize_byte_buf() deserialize_unit()
        deserialize_seq() deserialize_map()
        deserialize_unit_struct(name: &'static str)
        deserialize_newtype_struct(name: &'static str)
        deserialize_tuple(len: usize)
        deserialize_tuple_struct(name: &'static str, len: usize)
        deserialize_struct(name: &'static str, fields: &'static [&'static str])
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
    }
}

/// The parts that were not yet taken.
struct Rest<'p, 'a>(&'p mut Parts<'a>);

impl<'de> MapAccess<'de> for Rest<'_, '_> {
    type Error = Misread;

    #[inline(never)]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Misread> {
        match self.0.key() {
            Some(key) => seed.deserialize(key).map(Some),
            None => Ok(None),
        }
    }

    #[inline(never)]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Misread> {
        let value = self.0.value()?;
        seed.deserialize(value)
            .map_err(|error| self.0.in_member(error))
    }
}

impl<'de> SeqAccess<'de> for Rest<'_, '_> {
    type Error = Misread;

    #[inline(never)]
    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Misread> {
        match self.0.take() {
            Some(item) => match seed.deserialize(item) {
                Ok(value) => Ok(Some(value)),
                Err(error) => Err(self.0.in_item(error)),
            },
            None => Ok(None),
        }
    }
}

/// One variant of an enum.
pub(super) enum Variant<'a> {
    /// Its name, and nothing else.
    Bare(Cow<'a, str>),
    /// What it holds, in JSON.
    Holding(Cow<'a, str>, Json<'a>),
    /// One that is probed.
    Probed(&'static str, Probe<'a>),
    /// One that the type should not know.
    Stranger(Probe<'a>),
}

impl<'a> Variant<'a> {
    #[cold]
    fn name(&self) -> Name<'_> {
        let name: &str = match self {
            Self::Bare(name) | Self::Holding(name, _) => name,
            Self::Probed(name, _) => name,
            Self::Stranger(_) => NOBODY,
        };
        Name {
            name,
            of_json: false,
        }
    }

    /// Nothing is called for but the name.
    #[cold]
    fn bare(&self) -> Result<(), Misread> {
        match self {
            Self::Bare(_) => Ok(()),
            Self::Holding(name, _) => {
                let expected = &"the variant's name alone";
                Err(Misread::invalid_type(Unexpected::Map, expected).within(name))
            }
            Self::Probed(name, probe) => probe.bare(name),
            // Its name was accepted.
            Self::Stranger(probe) => Err(probe.look(false)),
        }
    }

    #[cold]
    fn held(&self, what: &str) -> Result<Fed<'a>, Misread> {
        match self {
            Self::Bare(_) => Err(Misread::holds_more(what)),
            Self::Holding(_, json) => Ok(Fed::Json(*json)),
            Self::Probed(name, probe) => probe.held(name).map(Fed::Probe),
            // Its name was accepted.
            Self::Stranger(probe) => Err(probe.look(false)),
        }
    }

    #[cold]
    fn within(&self, error: Misread) -> Misread {
        match self {
            Self::Holding(name, _) => error.within(name),
            _ => error,
        }
    }
}

impl<'de> EnumAccess<'de> for &Variant<'_> {
    type Error = Misread;
    type Variant = Self;

    #[inline(never)]
    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Misread> {
        Ok((seed.deserialize(self.name())?, self))
    }
}

impl<'de> VariantAccess<'de> for &Variant<'_> {
    type Error = Misread;

    fn unit_variant(self) -> Result<(), Misread> {
        self.bare()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Misread> {
        let held = self.held("newtype variant")?;
        seed.deserialize(held).map_err(|error| self.within(error))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Misread> {
        let held = self.held("tuple variant")?;
        held.deserialize_tuple(len, visitor)
            .map_err(|error| self.within(error))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misread> {
        let held = self.held("struct variant")?;
        held.deserialize_struct("", fields, visitor)
            .map_err(|error| self.within(error))
    }
}
