//! [`Answer`]: what a user did with a question.

use super::super::{Stop, stop::Why};
use crate::form::Form;

/// What a user did with a question, for handlers that want to know.
///
/// ```
/// use antiphon::{Answer, Ask, Form, Stop};
///
/// #[derive(Form)]
/// struct Confirm { approve: bool }
///
/// async fn wipe(ask: Ask) -> Result<&'static str, Stop> {
///     Ok(match ask.form("confirm", "Wipe the cache?")? {
///         Answer::Accept(Confirm { approve: true }) => "Wiped.",
///         Answer::Accept(_) | Answer::Decline => "Kept.",
///         Answer::Cancel => "Perhaps later.",
///     })
/// }
/// # let _ = antiphon::Server::<()>::new("cache", "1.0").tool("wipe", wipe);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer<T> {
    /// Filled it in, or did what was asked for.
    Accept(T),
    /// Said no.
    Decline,
    /// Went away without choosing.
    Cancel,
}

impl<T> Answer<T> {
    /// What was filled in, if anything was.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accept(value) => Some(value),
            Self::Decline | Self::Cancel => None,
        }
    }

    /// Tells apart why there is no value: for questions that come as the value alone.
    ///
    /// ```
    /// # use antiphon::{Answer, Ask, Stop};
    /// # fn example(ask: Ask) -> Result<(), Stop> {
    /// let link = |handle: &antiphon::link::Handle| format!("https://shop.example/pay/{handle}");
    /// let paid = ask.url("pay", "Pay 7 ducats", link, |_| Some(7));
    /// match Answer::of(paid)? {
    ///     Answer::Accept(ducats) => println!("{ducats} came in"),
    ///     Answer::Decline | Answer::Cancel => println!("nothing came in"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Whatever is no answer of the user.
    pub fn of(result: Result<T, Stop>) -> Result<Self, Stop> {
        match result {
            Ok(value) => Ok(Self::Accept(value)),
            Err(stop) if stop.is_declined() => Ok(Self::Decline),
            Err(stop) if stop.is_cancelled() => Ok(Self::Cancel),
            Err(stop) => Err(stop),
        }
    }

    /// The value; else the call ends with what the user did instead.
    pub(super) fn or_stop(self, key: &str) -> Result<T, Stop> {
        match self {
            Self::Accept(value) => Ok(value),
            Self::Decline => Err(unanswered(key, Why::Declined)),
            Self::Cancel => Err(unanswered(key, Why::Cancelled)),
        }
    }
}

fn unanswered(key: &str, why: fn(String) -> Why) -> Stop {
    Stop::because(why(key.to_owned()))
}

/// What [`Ask::form`](crate::Ask::form) gives: a form as it was filled in, or an [`Answer`] with
/// one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a form, nor an `Answer` with one",
    label = "no form",
    note = "a form is a struct with `#[derive(Form)]`; name it, as in `let answer: Confirm = ask.form(..)?`"
)]
pub trait FromAnswer: Sized {
    /// The form.
    type Form: Form;

    /// Takes what was filled in, or why nothing was.
    #[doc(hidden)]
    fn from_answer(filled: Result<Self::Form, Stop>) -> Result<Self, Stop>;
}

impl<T: Form> FromAnswer for T {
    type Form = T;

    fn from_answer(filled: Result<T, Stop>) -> Result<T, Stop> {
        filled
    }
}

impl<T: Form> FromAnswer for Answer<T> {
    type Form = T;

    fn from_answer(filled: Result<T, Stop>) -> Result<Self, Stop> {
        Self::of(filled)
    }
}
