//! One question on its way to its answer: asked, checked, and asked again if the answer does not
//! fit.

use std::{
    any::Any,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    task::Poll,
};

use antiphon_types::InputRequest;
use serde_json::Value;
use tokio::runtime::{Handle, RuntimeFlavor};

use super::{
    Error, ErrorKind, Pending, Reply, check,
    error::Boxed,
    handlers::Handlers,
    question::{About, Replied},
};
use crate::excerpt::word;

/// How often an answer may be handed back.
const TRIES: u32 = 3;

/// An answer; `None` if the caller is to answer.
pub(super) type Answered = Result<Option<Value>, Failure>;

/// How far a callback came at its first poll.
pub(super) enum Begun {
    /// Most know at once what to say.
    Over(Answered),
    /// It waits for something.
    Waits(Pending<'static, Reply>),
    /// What it said does not fit.
    Again(Vec<String>),
}

/// Whether callbacks may begin within the call, which spares those that know at once a task of
/// their own: 8,000 instructions of 77,000 that a short question takes a client at the least.
///
/// On several threads a task keeps one that blocks its thread from holding up the call. On a single
/// one nothing does.
pub(super) fn may_begin_in_place() -> bool {
    let runtime = Handle::try_current();
    runtime.is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::CurrentThread)
}

/// Begins to ask a question, and polls the callback once. If it panics, that is no answer.
pub(super) async fn begin(handlers: &Handlers, question: &InputRequest, about: About) -> Begun {
    let attempt = about.attempt;
    let mut about = Some(about);
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let mut reply = handlers.ask(question, about.take()?)?;
            Some(match reply.as_mut().poll(context) {
                Poll::Ready(reply) => Ok(reply),
                Poll::Pending => Err(reply),
            })
        }));
        Poll::Ready(match polled {
            Ok(None) => Begun::Over(Ok(None)),
            Ok(Some(Err(waits))) => Begun::Waits(waits),
            Ok(Some(Ok(reply))) => match judge(question, reply, attempt) {
                Ok(over) => Begun::Over(over),
                Err(errors) => Begun::Again(errors),
            },
            Err(panic) => Begun::Over(Err(Failure::Refused(panicked(&*panic)))),
        })
    })
    .await
}

/// Asks a question, or goes on with one that was begun.
pub(super) async fn ask(
    handlers: Handlers,
    question: InputRequest,
    mut about: About,
    mut begun: Option<Pending<'static, Reply>>,
) -> Answered {
    loop {
        let asked = begun.take();
        let Some(reply) = asked.or_else(|| handlers.ask(&question, about.clone())) else {
            return Ok(None);
        };
        match judge(&question, reply.await, about.attempt) {
            Ok(over) => return over,
            Err(errors) => about = about.again(errors),
        }
    }
}

/// What is to be made of a reply; the error is what is wrong with it, if it may be corrected.
fn judge(question: &InputRequest, reply: Reply, attempt: u32) -> Result<Answered, Vec<String>> {
    let answer = match reply.0 {
        Replied::Answer(answer) => answer,
        Replied::Refused(why) => return Ok(Err(Failure::Refused(why))),
        Replied::ByHand => return Ok(Ok(None)),
    };
    let errors = check::errors(question, &answer);
    match errors.is_empty() {
        true => Ok(Ok(Some(answer))),
        false if attempt == TRIES => Ok(Err(Failure::Invalid(errors))),
        false => Err(errors),
    }
}

fn panicked(panic: &(dyn Any + Send)) -> Boxed {
    let text = panic.downcast_ref::<&str>().copied();
    match text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)) {
        Some(text) => format!("the callback panicked: {text}").into(),
        None => "the callback panicked".into(),
    }
}

/// Why a question has no answer.
pub(super) enum Failure {
    Refused(Boxed),
    Invalid(Vec<String>),
}

impl Failure {
    pub(super) fn into_error(self, key: String, round: u32) -> Error {
        match self {
            Self::Refused(why) => {
                let message = format!("no answer to `{}` in round {round}", word(&key));
                Error::new(ErrorKind::Refused { key, round }, message).caused_by(why)
            }
            Self::Invalid(errors) => {
                let what = errors.join("; ");
                let shown = word(&key);
                let message =
                    format!("the answer to `{shown}` in round {round} does not fit: {what}");
                Error::new(ErrorKind::InvalidAnswer { key, round, errors }, message)
            }
        }
    }
}
