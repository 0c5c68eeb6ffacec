//! [`Given`]: a value given up front, or asked for.

use antiphon_core::{asking::lines, question::Kind};

use super::{Ask, Stop};
use crate::form::Form;

/// A value that may have been given up front; see [`Ask::given`].
#[derive(Debug)]
#[must_use = "say what to ask for with `or_form`"]
pub struct Given<'a, V> {
    ask: &'a Ask,
    value: Option<V>,
}

impl<'a, V> Given<'a, V> {
    pub(super) fn new(ask: &'a Ask, value: Option<V>) -> Self {
        Self { ask, value }
    }

    /// The value as the form it belongs into, checked like an answer; else the user is asked. If
    /// the client cannot be asked, the call fails and says that the value can be given up front.
    ///
    /// ```
    /// use antiphon::{Args, Ask, Form, Stop, schemars::{self, JsonSchema}};
    /// # use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Provision { region: Option<String> }
    ///
    /// #[derive(Form)]
    /// struct Region {
    ///     #[form(options("eu-west-1", "us-east-1"))]
    ///     region: String,
    /// }
    ///
    /// async fn provision(Args(input): Args<Provision>, ask: Ask) -> Result<String, Stop> {
    ///     let Region { region } = ask.given(input.region).or_form("region", "Which region?")?;
    ///     Ok(format!("Provisioned in {region}."))
    /// }
    /// # let _ = antiphon::Server::<()>::new("cloud", "1.0").tool("provision", provision);
    /// ```
    ///
    /// # Errors
    /// As [`Ask::form`]; and what is wrong with the value.
    pub fn or_form<F: Form>(self, key: &str, message: impl Into<String>) -> Result<F, Stop>
    where
        V: Into<F>,
    {
        match self.value {
            Some(value) => {
                let form = value.into();
                let errors = F::definition().errors(&form.write());
                if errors.is_empty() {
                    return Ok(form);
                }
                let lines = lines(&errors);
                Err(Stop::fail(format!(
                    "What was given for `{key}` does not fit:\n{lines}"
                )))
            }
            None if !self.ask.can(Kind::Form) => Err(Stop::fail(format!(
                "`{key}` is needed, and this client cannot ask the user for it: give it as an \
                 argument, or call from a client that declares `elicitation`"
            ))),
            None => self.ask.form(key, message),
        }
    }
}
