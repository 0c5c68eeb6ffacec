//! For code that serves only clients of older revisions: the client is asked in the middle of a
//! handler, which waits for the answer.

use std::time::Duration;

use antiphon_types::{
    CreateMessageResult, ElicitAction, ElicitRequestParams, ElicitResult, InputRequest,
    ListRootsResult, Root,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Cannot, Era};
use crate::{Answer, Call, Form, Sample, Stop};

/// For clients of the revisions before 2026-07-28 only: these wait for the client. A handler that
/// [asks](crate::Ask) serves clients of every revision, survives a restart, and holds nothing
/// while it waits.
///
/// ```
/// use antiphon::{Answer, Call, Form, Stop, legacy::Era};
///
/// #[derive(Form)]
/// struct Confirm { approve: bool }
///
/// async fn wipe(call: Call) -> Result<&'static str, Stop> {
///     if call.era() == Era::Modern {
///         return Ok("Not for this client.");
///     }
///     Ok(match call.elicit("Wipe the cache?").await? {
///         Answer::Accept(Confirm { approve: true }) => "Wiped.",
///         _ => "Kept.",
///     })
/// }
/// # let _ = antiphon::Server::<()>::new("cache", "1.0").tool("wipe", wipe);
/// ```
impl Call {
    /// Whether it comes from a client of the revisions that open with `initialize`.
    pub fn era(&self) -> Era {
        match self.asker() {
            None => Era::Modern,
            Some(_) => Era::Legacy,
        }
    }

    /// Closes the connection on which the client waits, and has it come back for the answer after
    /// `retry`: for work that takes long, behind proxies that cut long responses (LHTTP-S-07).
    ///
    /// Only clients of 2025-11-25 over HTTP know how to come back; for all others this does
    /// nothing, and they wait.
    pub fn let_go(&self, retry: Duration) {
        if let Some(asker) = self.asker() {
            asker.outbox.let_go(retry);
        }
    }

    /// Has the user fill in a form, and waits.
    ///
    /// # Errors
    /// A tool error that says why there is no answer: the client is of revision 2026-07-28 or
    /// later, has no session that could carry an answer, did not declare `elicitation`, failed,
    /// did not answer in time, or filled in what does not fit.
    pub async fn elicit<F: Form>(&self, message: impl Into<String>) -> Result<Answer<F>, Stop> {
        let form = F::definition().schema().clone();
        let question = ElicitRequestParams::form(message, form);
        let result: ElicitResult = self
            .wait_for(question.into(), "the answer to a form")
            .await?;
        match result.action {
            ElicitAction::Decline => Ok(Answer::Decline),
            ElicitAction::Cancel => Ok(Answer::Cancel),
            ElicitAction::Accept => {
                let content = result.content.unwrap_or_default();
                let form = F::read(content).map_err(|errors| {
                    let errors = errors.join("; ");
                    Stop::fail(format!(
                        "The form was not filled in as it should be: {errors}"
                    ))
                })?;
                Ok(Answer::Accept(form))
            }
        }
    }

    /// Asks for a completion of the client's model, and waits.
    ///
    /// # Errors
    /// As [`elicit`](Self::elicit), of `sampling`.
    pub async fn sample(&self, sample: Sample) -> Result<CreateMessageResult, Stop> {
        self.wait_for(sample.into(), "a message of a model").await
    }

    /// Asks for the workspace roots, and waits.
    ///
    /// # Errors
    /// As [`elicit`](Self::elicit), of `roots`.
    pub async fn roots(&self) -> Result<Vec<Root>, Stop> {
        let roots: ListRootsResult = self
            .wait_for(InputRequest::roots(), "a list of roots")
            .await?;
        Ok(roots.roots)
    }

    async fn wait_for<T: DeserializeOwned>(
        &self,
        request: InputRequest,
        what: &str,
    ) -> Result<T, Stop> {
        let answer = match self.asker() {
            None => Err(Cannot::Modern),
            Some(asker) => asker.ask(&request, self.capabilities()).await,
        };
        let answer: Value =
            answer.map_err(|why| Stop::fail(format!("The client cannot be asked: {why}")))?;
        serde_json::from_value(answer)
            .map_err(|error| Stop::fail(format!("The client did not send {what}: {error}")))
    }
}
