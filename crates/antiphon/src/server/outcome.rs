//! [`Outcome`]: how a call ended, whatever it was a call of.

use antiphon_core::negotiate::shown;
use antiphon_types::{
    CallToolResult, CompleteResult, ErrorObject, GetPromptResult, InputRequired,
    ListResourcesResult, ReadResourceResult,
};

use super::{
    Context, Stop,
    stop::{Why, told},
};
use crate::raw::Reply;

/// How a call ended: what a [`Layer`](crate::Layer) gets from the handler and passes on.
///
/// A [`Stop`] has become a result, questions or an error by now.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// A tool's.
    Tool(Reply<CallToolResult>),
    /// A prompt's.
    Prompt(Reply<GetPromptResult>),
    /// A resource's.
    Resource(Reply<ReadResourceResult>),
    /// A completion's.
    Completion(CompleteResult),
    /// The list of what a template stands for.
    Listing(ListResourcesResult),
    /// A JSON-RPC error, of any of them.
    Error(ErrorObject),
}

/// What an [`Outcome`] comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// There is a result.
    Complete,
    /// A tool says that it failed.
    Failed,
    /// There are questions.
    Asked,
    /// A JSON-RPC error with this code.
    Rejected(i64),
}

impl Outcome {
    /// What it comes to.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Tool(Reply::Complete(result)) if result.is_error == Some(true) => Verdict::Failed,
            Self::Tool(Reply::Rendered(result)) if result.is_error => Verdict::Failed,
            Self::Tool(Reply::InputRequired(_))
            | Self::Prompt(Reply::InputRequired(_))
            | Self::Resource(Reply::InputRequired(_)) => Verdict::Asked,
            Self::Error(error) => Verdict::Rejected(error.code),
            _ => Verdict::Complete,
        }
    }
}

/// Results, and how a call for one ends.
pub(crate) trait Ends: Sized + Send + 'static {
    /// What is answered when the handler stopped.
    fn stopped(call: &Context<'_>, stop: Stop) -> Result<Reply<Self>, ErrorObject>;
    fn wrap(answer: Result<Reply<Self>, ErrorObject>) -> Outcome;
    fn unwrap(outcome: Outcome) -> Result<Reply<Self>, ErrorObject>;
}

impl Ends for CallToolResult {
    /// What a tool cannot do is told in its result, where a model reads it (TOOL-S-24).
    fn stopped(call: &Context<'_>, stop: Stop) -> Result<Reply<Self>, ErrorObject> {
        let manners = call.manners();
        let text = match stop.why() {
            Why::Fail(text) => text,
            Why::Error(error) => told(&error, manners.hide_errors, call.method(), call.target()),
            Why::NotFound => "Not found".to_owned(),
            Why::Arguments(violations) => {
                let text = format!("Invalid arguments for `{}`:\n{violations}", call.target());
                if manners.reject_arguments {
                    let data = serde_json::json!({ "violations": violations });
                    return Err(ErrorObject::invalid_params(text).with_data(data));
                }
                text
            }
            why @ (Why::Declined(_) | Why::Cancelled(_)) => Stop::because(why).to_string(),
            Why::Reject(error) => return Err(error),
            Why::Scopes(scopes) => return Err(call.lacking(&scopes)),
            Why::Ask(questions) => return Ok(Reply::InputRequired(questions)),
            Why::Asked => return Err(misplaced(call)),
            Why::Repeat => return call.recorded(),
        };
        Ok(Reply::Complete(Self::error(text)))
    }

    fn wrap(answer: Result<Reply<Self>, ErrorObject>) -> Outcome {
        answer.map_or_else(Outcome::Error, Outcome::Tool)
    }

    fn unwrap(outcome: Outcome) -> Result<Reply<Self>, ErrorObject> {
        match outcome {
            Outcome::Tool(reply) => Ok(reply),
            other => Err(error_of(other)),
        }
    }
}

impl Ends for GetPromptResult {
    fn stopped(call: &Context<'_>, stop: Stop) -> Result<Reply<Self>, ErrorObject> {
        if stop.is_repeat() {
            return call.recorded();
        }
        match refused(call, stop) {
            Ok(questions) => Ok(Reply::InputRequired(questions)),
            Err(Some(error)) => Err(error),
            Err(None) => Err(ErrorObject::invalid_params("Not found")),
        }
    }

    fn wrap(answer: Result<Reply<Self>, ErrorObject>) -> Outcome {
        answer.map_or_else(Outcome::Error, Outcome::Prompt)
    }

    fn unwrap(outcome: Outcome) -> Result<Reply<Self>, ErrorObject> {
        match outcome {
            Outcome::Prompt(reply) => Ok(reply),
            other => Err(error_of(other)),
        }
    }
}

impl Ends for ReadResourceResult {
    fn stopped(call: &Context<'_>, stop: Stop) -> Result<Reply<Self>, ErrorObject> {
        if stop.is_repeat() {
            return call.recorded();
        }
        match refused(call, stop) {
            Ok(questions) => Ok(Reply::InputRequired(questions)),
            Err(Some(error)) => Err(error),
            // RES-S-09
            Err(None) => Err(ErrorObject::resource_not_found(call.target())),
        }
    }

    fn wrap(answer: Result<Reply<Self>, ErrorObject>) -> Outcome {
        answer.map_or_else(Outcome::Error, Outcome::Resource)
    }

    fn unwrap(outcome: Outcome) -> Result<Reply<Self>, ErrorObject> {
        match outcome {
            Outcome::Resource(reply) => Ok(reply),
            other => Err(error_of(other)),
        }
    }
}

impl Ends for ListResourcesResult {
    fn stopped(call: &Context<'_>, stop: Stop) -> Result<Reply<Self>, ErrorObject> {
        match refused(call, stop) {
            Ok(_) => {
                let target = &*shown(call.target());
                tracing::error!(target, "a list cannot ask (MRTR-S-03)");
                Err(ErrorObject::internal("Internal error"))
            }
            Err(Some(error)) => Err(error),
            Err(None) => Ok(Reply::Complete(Self::new(Vec::new()))),
        }
    }

    fn wrap(answer: Result<Reply<Self>, ErrorObject>) -> Outcome {
        match answer {
            Ok(Reply::Complete(list)) => Outcome::Listing(list),
            Ok(_) => Outcome::Error(ErrorObject::internal("Internal error")),
            Err(error) => Outcome::Error(error),
        }
    }

    fn unwrap(outcome: Outcome) -> Result<Reply<Self>, ErrorObject> {
        match outcome {
            Outcome::Listing(list) => Ok(Reply::Complete(list)),
            other => Err(error_of(other)),
        }
    }
}

impl Ends for CompleteResult {
    fn stopped(call: &Context<'_>, stop: Stop) -> Result<Reply<Self>, ErrorObject> {
        // While the user types, not every argument is there yet.
        let stop = match stop.why() {
            Why::Arguments(_) => return Ok(Reply::Complete(Self::new(Vec::new()))),
            why => Stop::because(why),
        };
        match refused(call, stop) {
            Ok(_) => {
                let target = &*shown(call.target());
                tracing::error!(target, "a completion cannot ask (MRTR-S-03)");
                Err(ErrorObject::internal("Internal error"))
            }
            Err(Some(error)) => Err(error),
            Err(None) => Ok(Reply::Complete(Self::new(Vec::new()))),
        }
    }

    fn wrap(answer: Result<Reply<Self>, ErrorObject>) -> Outcome {
        match answer {
            Ok(Reply::Complete(result)) => Outcome::Completion(result),
            Ok(_) => Outcome::Error(ErrorObject::internal("Internal error")),
            Err(error) => Outcome::Error(error),
        }
    }

    fn unwrap(outcome: Outcome) -> Result<Reply<Self>, ErrorObject> {
        match outcome {
            Outcome::Completion(result) => Ok(Reply::Complete(result)),
            other => Err(error_of(other)),
        }
    }
}

/// What has no result to carry a failure: questions, or an error; `None` for what is not there.
fn refused(call: &Context<'_>, stop: Stop) -> Result<InputRequired, Option<ErrorObject>> {
    Err(Some(match stop.why() {
        Why::Fail(text) => ErrorObject::internal(text),
        Why::Error(error) => {
            let hide = call.manners().hide_errors;
            ErrorObject::internal(told(&error, hide, call.method(), call.target()))
        }
        Why::Reject(error) => error,
        Why::Scopes(scopes) => call.lacking(&scopes),
        Why::NotFound => return Err(None),
        Why::Arguments(violations) => {
            let text = format!("Invalid arguments for `{}`:\n{violations}", call.target());
            let data = serde_json::json!({ "violations": violations });
            ErrorObject::invalid_params(text).with_data(data)
        }
        why @ (Why::Declined(_) | Why::Cancelled(_)) => {
            ErrorObject::internal(Stop::because(why).to_string())
        }
        Why::Ask(questions) => return Ok(questions),
        Why::Asked => misplaced(call),
        Why::Repeat => ErrorObject::internal("Internal error"),
    }))
}

/// A `Stop` that asks, where nothing was asked: it is of another call, or came too late.
fn misplaced(call: &Context<'_>) -> ErrorObject {
    let target = &*shown(call.target());
    tracing::error!(
        target,
        "a handler stopped to ask, but nothing was asked in its call"
    );
    ErrorObject::internal("Internal error: nothing was asked in this call")
}

fn error_of(outcome: Outcome) -> ErrorObject {
    match outcome {
        Outcome::Error(error) => error,
        _ => {
            tracing::error!("a layer answered with the result of another kind of call");
            ErrorObject::internal("Internal error")
        }
    }
}
