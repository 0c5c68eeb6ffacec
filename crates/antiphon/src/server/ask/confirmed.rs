//! [`Confirmed`]: what the user has agreed to, and the only way to it.

use std::{fmt, ops::Deref};

use super::Receipt;

/// Something that the user has agreed to. [`Ask::confirm`](crate::Ask::confirm) makes these, of an
/// accepted question that showed it, and nothing else does.
///
/// A function that destroys something takes one of these by value. So whoever forgets to ask, or
/// has asked about something else, has nothing to call it with:
///
/// ```
/// use std::{fs, io};
/// use antiphon::{Args, Ask, Confirmed, Receipt, Stop, schemars::{self, JsonSchema}};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize)]
/// struct Delete { path: String }
///
/// fn delete(what: Confirmed<Delete>) -> io::Result<Receipt> {
///     fs::remove_file(&what.path)?;
///     Ok(what.into_parts().1)
/// }
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Input { path: String }
///
/// async fn remove(Args(input): Args<Input>, ask: Ask) -> Result<String, Stop> {
///     let what = Delete { path: input.path };
///     let receipt = delete(ask.confirm("delete", "Delete this file for good?", what)?)?;
///     Ok(format!("Deleted, as agreed in {}.", receipt.flow))
/// }
/// # let _ = antiphon::Server::<()>::new("files", "1.0").tool("remove", remove);
/// ```
///
/// It cannot be made by hand, copied, changed or read from anywhere. What changes behind a shared
/// reference still does, so keep `Cell`, `Mutex` and the like out of what is confirmed. `Debug` shows
/// the key of the question and no value.
#[must_use = "the user has agreed to something that is not done"]
pub struct Confirmed<A> {
    args: A,
    receipt: Receipt,
}

impl<A> Confirmed<A> {
    pub(super) fn new(args: A, receipt: Receipt) -> Self {
        Self { args, receipt }
    }

    /// The record of it.
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// What was agreed to, and the record of it: for whoever has done it. What comes out of this is
    /// confirmed no longer.
    pub fn into_parts(self) -> (A, Receipt) {
        (self.args, self.receipt)
    }
}

impl<A> Deref for Confirmed<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.args
    }
}

impl<A> fmt::Debug for Confirmed<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Confirmed")
            .field("key", &self.receipt.key)
            .finish_non_exhaustive()
    }
}
