//! Which attributes go with which fields.

use super::{Field, Item};

/// Fields that are texts.
#[diagnostic::on_unimplemented(
    message = "`min_length`, `max_length`, `format`, `pattern` and `rule` go with a text, not with `{Self}`",
    label = "not a text",
    note = "they stand on a `String` or an `Option<String>`"
)]
pub trait TextField: Field {}

impl TextField for String {}
impl<T: TextField> TextField for Option<T> {}

/// Fields that are numbers.
#[diagnostic::on_unimplemented(
    message = "`min` and `max` go with a number, not with `{Self}`",
    label = "not a number",
    note = "they stand on an integer, an `f32`, an `f64`, or an `Option` of one; for texts there are `min_length` and `max_length`, for lists `min_items` and `max_items`"
)]
pub trait NumberField: Field {}

macro_rules! number {
    ($($kind:ident)*) => {$(
        impl NumberField for $kind {}
    )*};
}
number!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64);

impl<T: NumberField> NumberField for Option<T> {}

/// Fields that are lists.
#[diagnostic::on_unimplemented(
    message = "`min_items` and `max_items` go with a list, not with `{Self}`",
    label = "not a list",
    note = "they stand on a `Vec` of a `Choice`, a `Vec<String>` with `options(..)`, or an `Option` of one"
)]
pub trait ListField: Field {}

impl<T: Item> ListField for Vec<T> {}
impl<T: ListField> ListField for Option<T> {}

/// Fields that can be given options to choose from.
#[diagnostic::on_unimplemented(
    message = "`options(..)` goes with texts, not with `{Self}`",
    label = "neither a text nor a list of texts",
    note = "it stands on a `String`, a `Vec<String>`, or an `Option` of one; an enum with `#[derive(Choice)]` brings its own"
)]
pub trait OptionsField: Field {}

impl OptionsField for String {}
impl OptionsField for Vec<String> {}
impl<T: OptionsField> OptionsField for Option<T> {}

// For the derive, to ask while compiling.

#[expect(missing_docs, reason = "for the derive")]
pub const fn text<T: TextField>() {}

#[expect(missing_docs, reason = "for the derive")]
pub const fn number<T: NumberField>() {}

#[expect(missing_docs, reason = "for the derive")]
pub const fn list<T: ListField>() {}

#[expect(missing_docs, reason = "for the derive")]
pub const fn options<T: OptionsField>() {}
