//! Forms: what a user is asked to fill in.
//!
//! A [`Form`] is a struct whose fields are the fields of the form; [`derive(Form)`](macro@Form)
//! writes all of it. A [`Choice`] is an enum to choose from. A [`RawForm`] is a form that is only
//! known while the program runs.

mod blank;
mod choice;
mod definition;
mod field;
mod flat;
mod kind;
mod raw;

use serde_json::{Map, Value};

#[cfg(feature = "macros")]
#[doc = include_str!("choice.md")]
pub use antiphon_macros::Choice;
#[cfg(feature = "macros")]
#[doc = include_str!("form.md")]
pub use antiphon_macros::Form;

pub use antiphon_core::form::looks_like_secret;
pub use choice::Choice;
pub use definition::Definition;
pub use field::{Field, Item};
pub use kind::{ListField, NumberField, OptionsField, TextField};
pub use raw::{BadForm, RawForm, RawFormBuilder};

/// A form as a type: its fields are what the user fills in. Written by
/// [`derive(Form)`](macro@Form).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no form",
    label = "not a form",
    note = "put `#[derive(antiphon::Form)]` on the struct"
)]
pub trait Form: Sized + Send + 'static {
    /// The form itself, made once.
    fn definition() -> &'static Definition;

    /// The form as it was filled in, provided that it [fits](Definition::errors).
    ///
    /// # Errors
    /// What does not fit, field by field.
    fn read(content: Map<String, Value>) -> Result<Self, Vec<String>>;

    /// What a user would have filled in.
    fn write(&self) -> Map<String, Value>;
}

/// What the derives expand to needs these. Not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use super::blank::{Blank, count, unread};
    pub use super::kind::{list, number, options, text};
    pub use antiphon_core::form::format::fits;
    pub use antiphon_types::StringFormat;
    pub use serde_json::{Map, Value};
}
