//! [`Ask::confirm`]: a yes to exactly this.

use std::sync::LazyLock;

use antiphon_types::{BooleanSchema, ElicitRequestParams, FormSchema, InputRequest};
use serde::Serialize;
use serde_json::Value;

use super::receipt::Exact;
use super::{Answer, Ask, Confirmed, Fault, Receipt, Stop, filled_in, lines, question};
use crate::form::Definition;

impl Ask {
    /// Asks the user to agree to exactly this. The question shows the text and, a line each, what
    /// is in `args`; an answer counts for these arguments and for no others.
    ///
    /// ```
    /// use antiphon::{Answer, Ask, Confirmed, Stop};
    /// use serde::Serialize;
    ///
    /// #[derive(Serialize)]
    /// struct Transfer { to: String, ducats: u32 }
    ///
    /// fn pay(transfer: Confirmed<Transfer>) -> String {
    ///     format!("{} has {} ducats more", transfer.to, transfer.ducats)
    /// }
    ///
    /// async fn transfer(ask: Ask) -> Result<String, Stop> {
    ///     let transfer = Transfer { to: "Ada".to_owned(), ducats: 7 };
    ///     Ok(match Answer::of(ask.confirm("pay", "Pay this?", transfer))? {
    ///         Answer::Accept(transfer) => pay(transfer),
    ///         Answer::Decline => "Nothing was paid.".to_owned(),
    ///         Answer::Cancel => "Perhaps later.".to_owned(),
    ///     })
    /// }
    /// # let _ = antiphon::Server::<()>::new("bank", "1.0").tool("transfer", transfer);
    /// ```
    ///
    /// An accepted form that says no is declined. Put what may be chosen by others into `args` and
    /// not into the text: there it is escaped, and cannot pass for something else. What `args` does
    /// not serialise is neither shown nor agreed to.
    ///
    /// One yes is good for one [`Confirmed`] in a run: a key cannot be confirmed twice.
    ///
    /// # Errors
    /// To be returned by `?`: the question, or that the user does not agree. [`Answer::of`] tells
    /// that apart.
    pub fn confirm<A: Serialize>(
        &self,
        key: &str,
        text: impl Into<String>,
        args: A,
    ) -> Result<Confirmed<A>, Stop> {
        let key = &*self.full(key);
        self.check(key)?;
        self.confirm_first(key)?;
        let Some(exact) = Exact::of(&args) else {
            return Err(self.fault(Fault::Inexact { key: key.into() }));
        };
        let text = text.into();
        // One canonical form after the other: where the first ends is known without the second.
        let mut canonical = question::form(&text, &AGREES);
        canonical.extend_from_slice(&exact.canonical);
        let message = lines::message(&text, &exact.json);
        let answer = self.ask(
            key,
            &canonical,
            |answer| {
                filled_in(answer, |content| match AGREES.errors(&content) {
                    errors if errors.is_empty() => {
                        Ok(content.get(NAME) == Some(&Value::Bool(true)))
                    }
                    errors => Err(errors),
                })
            },
            || {
                let form = ElicitRequestParams::form(message.clone(), AGREES.prepared());
                InputRequest::Elicit(form)
            },
        )?;
        let agreed = match answer {
            Answer::Accept(true) => Answer::Accept(()),
            Answer::Accept(false) | Answer::Decline => Answer::Decline,
            Answer::Cancel => Answer::Cancel,
        };
        agreed.or_stop(key)?;
        if !self.dialogue.is_claimed() {
            return Err(self.fault(Fault::ConfirmedEarly { key: key.into() }));
        }
        self.dialogue.run().confirmed = true;
        let receipt = Receipt::new(&self.dialogue, key, message, &exact);
        Ok(Confirmed::new(args, receipt))
    }

    /// Notes that this key is being confirmed: a second time would make two things of one yes.
    fn confirm_first(&self, key: &str) -> Result<(), Stop> {
        let mut run = self.dialogue.run();
        if run.confirming.iter().any(|other| other == key) {
            drop(run);
            return Err(self.fault(Fault::ConfirmedTwice { key: key.into() }));
        }
        run.confirming.push(key.to_owned());
        Ok(())
    }
}

/// The one field.
const NAME: &str = "confirm";

/// The form: yes or no, and nothing is filled in beforehand.
static AGREES: LazyLock<Definition> = LazyLock::new(|| {
    let yes_or_no = BooleanSchema::new().title("Confirm");
    Definition::plain(FormSchema::new().required(NAME, yes_or_no))
});
