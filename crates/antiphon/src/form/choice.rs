//! [`Choice`]: an enum to choose from.

use super::Field;

/// An enum to choose from in a form. Written by [`derive(Choice)`](macro@super::Choice).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing to choose from",
    label = "not a choice",
    note = "put `#[derive(antiphon::Choice)]` on an enum whose variants have no data"
)]
pub trait Choice: Field {
    /// The values as they are sent, and their names for people: all have one, or none.
    const OPTIONS: &'static [(&'static str, Option<&'static str>)];

    /// What was chosen, as it is sent.
    fn value(&self) -> &'static str;

    /// What was chosen, as it was sent.
    fn from_value(value: &str) -> Option<Self>;
}
