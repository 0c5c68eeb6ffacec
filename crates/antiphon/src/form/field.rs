//! [`Field`]: what can be a field of a form.

use antiphon_types::{BooleanSchema, NumberSchema, StringSchema, UntitledMultiSelectEnumSchema};
use serde_json::{Number, Value};

use super::{__private::Blank, Choice};

/// What can be a field of a form: a text, a number, yes or no, a [`Choice`], a list of choices,
/// and an `Option` of any of them. There are no others, because a form has no others.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a form",
    label = "not a field of a form",
    note = "a form is flat: a field is a `String`, an integer of up to 64 bits, an `f32` or `f64`, a `bool`, an enum with `#[derive(Choice)]`, a `Vec` of such an enum, a `Vec<String>` with `#[form(options(..))]`, or an `Option` of one of these",
    note = "ask for what a nested struct would hold by fields of its own, or by a second form"
)]
pub trait Field: Sized + Send + 'static {
    /// What a default is written as.
    #[doc(hidden)]
    type Literal;

    /// Whether it must be filled in.
    #[doc(hidden)]
    const REQUIRED: bool = true;

    /// Whether it has nothing to choose from, unless it is given options.
    #[doc(hidden)]
    const NEEDS_OPTIONS: bool = false;

    /// How many there are to choose from, as far as the type says.
    #[doc(hidden)]
    const CHOICES: usize = usize::MAX;

    #[doc(hidden)]
    fn blank() -> Blank;

    #[doc(hidden)]
    fn read(value: Option<Value>) -> Option<Self>;

    #[doc(hidden)]
    fn write(&self) -> Option<Value>;

    #[doc(hidden)]
    fn literal(literal: Self::Literal) -> Value;
}

impl Field for String {
    type Literal = &'static str;

    fn blank() -> Blank {
        Blank::new(StringSchema::new())
    }

    fn read(value: Option<Value>) -> Option<Self> {
        match value {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    fn write(&self) -> Option<Value> {
        Some(Value::String(self.clone()))
    }

    fn literal(literal: &'static str) -> Value {
        literal.into()
    }
}

impl Field for bool {
    type Literal = Self;

    fn blank() -> Blank {
        Blank::new(BooleanSchema::new())
    }

    fn read(value: Option<Value>) -> Option<Self> {
        value?.as_bool()
    }

    fn write(&self) -> Option<Value> {
        Some(Value::Bool(*self))
    }

    fn literal(literal: Self) -> Value {
        Value::Bool(literal)
    }
}

/// Bounds that every implementation of JSON keeps exactly are sent; others are only checked.
macro_rules! integer {
    ($($kind:ident)*) => {$(
        impl Field for $kind {
            type Literal = Self;

            fn blank() -> Blank {
                const SAFE: i128 = 1 << 53;
                let (least, most) = (Self::MIN, Self::MAX);
                let mut blank = Blank::new(NumberSchema::integer());
                blank = match -SAFE < least as i128 {
                    true => blank.minimum(least.into()),
                    false => blank.at_least(least.into()),
                };
                match (most as i128) < SAFE {
                    true => blank.maximum(most.into()),
                    false => blank.at_most(most.into()),
                }
            }

            fn read(value: Option<Value>) -> Option<Self> {
                let value = value?;
                let number = value.as_number()?;
                if let Some(number) = number.as_i64() {
                    return number.try_into().ok();
                }
                if let Some(number) = number.as_u64() {
                    return number.try_into().ok();
                }
                // An integer spelt with a point: exact, if it is one.
                let float = number.as_f64()?;
                match float.fract() == 0.0 && float.abs() < 1e37 {
                    true => (float as i128).try_into().ok(),
                    false => None,
                }
            }

            fn write(&self) -> Option<Value> {
                Some(Value::from(*self))
            }

            fn literal(literal: Self) -> Value {
                literal.into()
            }
        }
    )*};
}
integer!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

impl Field for f64 {
    type Literal = Self;

    fn blank() -> Blank {
        Blank::new(NumberSchema::number())
    }

    fn read(value: Option<Value>) -> Option<Self> {
        value?.as_f64()
    }

    /// What is no number is not written.
    fn write(&self) -> Option<Value> {
        Number::from_f64(*self).map(Value::Number)
    }

    fn literal(literal: Self) -> Value {
        literal.into()
    }
}

impl Field for f32 {
    type Literal = Self;

    fn blank() -> Blank {
        let number = |float: Self| Number::from_f64(float.into()).expect("it is finite");
        Blank::new(NumberSchema::number())
            .at_least(number(Self::MIN))
            .at_most(number(Self::MAX))
    }

    fn read(value: Option<Value>) -> Option<Self> {
        let narrow = value?.as_f64()? as Self;
        narrow.is_finite().then_some(narrow)
    }

    /// 0.1 and not 0.10000000149011612.
    fn write(&self) -> Option<Value> {
        let shortest: f64 = self.to_string().parse().ok()?;
        shortest.write()
    }

    fn literal(literal: Self) -> Value {
        literal.write().into()
    }
}

/// What a list in a form can be made of: a [`Choice`], or a `String` with
/// `#[form(options(..))]`.
#[diagnostic::on_unimplemented(
    message = "a list in a form cannot be made of `{Self}`",
    label = "nothing to choose from",
    note = "a list is a `Vec` of an enum with `#[derive(Choice)]`, or a `Vec<String>` with `#[form(options(..))]`"
)]
pub trait Item: Sized + Send + 'static {
    #[doc(hidden)]
    type Literal: 'static;

    #[doc(hidden)]
    const NEEDS_OPTIONS: bool;

    #[doc(hidden)]
    const CHOICES: usize;

    #[doc(hidden)]
    fn blanks() -> Blank;

    #[doc(hidden)]
    fn read_item(text: String) -> Option<Self>;

    #[doc(hidden)]
    fn write_item(&self) -> Value;

    #[doc(hidden)]
    fn literal_item(literal: &Self::Literal) -> Value;
}

impl Item for String {
    type Literal = &'static str;

    const NEEDS_OPTIONS: bool = true;
    const CHOICES: usize = usize::MAX;

    fn blanks() -> Blank {
        let none: [Self; 0] = [];
        Blank::new(UntitledMultiSelectEnumSchema::new(none))
    }

    fn read_item(text: String) -> Option<Self> {
        Some(text)
    }

    fn write_item(&self) -> Value {
        self.as_str().into()
    }

    fn literal_item(literal: &&'static str) -> Value {
        (*literal).into()
    }
}

impl<T: Choice> Item for T {
    type Literal = T;

    const NEEDS_OPTIONS: bool = false;
    const CHOICES: usize = T::OPTIONS.len();

    fn blanks() -> Blank {
        Blank::some_of(T::OPTIONS)
    }

    fn read_item(text: String) -> Option<Self> {
        T::from_value(&text)
    }

    fn write_item(&self) -> Value {
        self.value().into()
    }

    fn literal_item(literal: &T) -> Value {
        literal.value().into()
    }
}

impl<T: Item> Field for Vec<T> {
    type Literal = &'static [T::Literal];

    const NEEDS_OPTIONS: bool = T::NEEDS_OPTIONS;
    const CHOICES: usize = T::CHOICES;

    fn blank() -> Blank {
        T::blanks()
    }

    fn read(value: Option<Value>) -> Option<Self> {
        let Some(Value::Array(items)) = value else {
            return None;
        };
        let items = items.into_iter().map(|item| match item {
            Value::String(text) => T::read_item(text),
            _ => None,
        });
        items.collect()
    }

    fn write(&self) -> Option<Value> {
        Some(self.iter().map(T::write_item).collect())
    }

    fn literal(literal: Self::Literal) -> Value {
        literal.iter().map(T::literal_item).collect()
    }
}

impl<T: Field> Field for Option<T> {
    type Literal = T::Literal;

    const REQUIRED: bool = false;
    const NEEDS_OPTIONS: bool = T::NEEDS_OPTIONS;
    const CHOICES: usize = T::CHOICES;

    fn blank() -> Blank {
        const { assert!(T::REQUIRED, "a field of a form is an `Option` once") };
        T::blank().optional()
    }

    fn read(value: Option<Value>) -> Option<Self> {
        match value {
            // As clients leave a field blank.
            None | Some(Value::Null) => Some(None),
            value => T::read(value).map(Some),
        }
    }

    fn write(&self) -> Option<Value> {
        self.as_ref().and_then(T::write)
    }

    fn literal(literal: Self::Literal) -> Value {
        T::literal(literal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn integers_are_read_however_they_are_spelt() {
        assert_eq!(u8::read(Some(json!(2.0))), Some(2));
        assert_eq!(i8::read(Some(json!(-128))), Some(-128));
        assert_eq!(u64::read(Some(json!(u64::MAX))), Some(u64::MAX));
        assert_eq!(u8::read(Some(json!(256))), None);
        assert_eq!(u8::read(Some(json!(-1))), None);
        assert_eq!(i64::read(Some(json!(1e30))), None);
        assert_eq!(u8::read(Some(json!(1.5))), None);
    }

    #[test]
    fn a_short_float_is_written_short() {
        assert_eq!(0.1_f32.write(), Some(json!(0.1)));
        assert_eq!(f32::NAN.write(), None);
        assert_eq!(f64::INFINITY.write(), None);
        assert_eq!(f32::read(Some(json!(1e39))), None);
    }

    #[test]
    fn what_is_not_there_is_none() {
        assert_eq!(Option::<u8>::read(None), Some(None));
        assert_eq!(Option::<u8>::read(Some(json!(null))), Some(None));
        assert_eq!(u8::read(None), None);
    }
}
