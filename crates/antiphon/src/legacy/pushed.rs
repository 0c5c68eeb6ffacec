//! [`Pushed`]: one request of the server's, from when it is sent until it is answered.

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use antiphon_core::{legacy, negotiate::shown, question::Kind, write};
use antiphon_types::{ErrorObject, InputRequest};
use serde::Serialize;
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep_until},
};

use super::{
    asked::Said,
    session::{Mute, Session},
};
use crate::{
    deadline::after,
    engine::{endpoint::Endpoint, outbox::Outbox},
};

/// The way from a call to its client, for whoever asks something while the call waits.
#[derive(Clone)]
pub(crate) struct Asker {
    pub(super) endpoint: Endpoint,
    pub(super) session: Arc<Session>,
    pub(super) outbox: Arc<Outbox>,
    pub(super) answer: Duration,
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cannot {
    /// The client speaks a revision in which nothing is sent to it.
    Modern,
    Mute(Mute),
    /// It did not declare these, or its revision does not have them.
    Undeclared(Vec<Kind>),
    /// The revision has no such question.
    Unknown(String),
    /// The client answered with an error.
    Error(ErrorObject),
    TimedOut(Duration),
    /// The session is over.
    Gone,
    /// Too many calls wait for answers.
    Full,
    /// The call is over, or its client wants no answer any more.
    Over,
}

impl fmt::Display for Cannot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Modern => f.write_str(
                "a client of revision 2026-07-28 is not sent requests: ask with `Ask`, or return \
                 `InputRequired`, which serves clients of every revision",
            ),
            Self::Mute(Mute::Stateless) => f.write_str(
                "this server keeps no sessions for clients of older revisions, so nothing can be \
                 asked; connect with a client of revision 2026-07-28, or have the server keep \
                 sessions",
            ),
            Self::Mute(Mute::JsonOnly) => f.write_str(
                "this server answers clients of older revisions with single JSON messages, so \
                 nothing can be asked; connect with a client of revision 2026-07-28, or have the \
                 server answer with event streams",
            ),
            Self::Undeclared(kinds) => write!(
                f,
                "this client cannot be asked for {}: it did not declare {} in `initialize`, or \
                 its protocol revision does not have {}",
                listed(kinds.iter().map(|kind| wanted(*kind).to_owned())),
                listed(kinds.iter().map(|kind| format!("`{}`", declaration(*kind)))),
                if kinds.len() > 1 { "them" } else { "it" },
            ),
            Self::Unknown(why) => f.write_str(why),
            Self::Error(error) => write!(
                f,
                "the client answered: {} ({})",
                shown(&error.message),
                error.code
            ),
            Self::TimedOut(after) => {
                write!(f, "the client did not answer within {} s", after.as_secs())
            }
            Self::Gone => f.write_str("the session is over"),
            Self::Full => f.write_str("the server waits for too many answers already"),
            Self::Over => f.write_str("the call is over, or was cancelled"),
        }
    }
}

/// One, two and three of these.
fn listed(words: impl Iterator<Item = String>) -> String {
    let words: Vec<_> = words.collect();
    match &words[..] {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        all => all.concat(),
    }
}

/// What is asked for, in a sentence.
fn wanted(kind: Kind) -> &'static str {
    match kind {
        Kind::Form => "a form to be filled in",
        Kind::Url => "a link to be opened",
        Kind::Sample => "a completion of its model",
        Kind::SampleWithTools => "a completion of its model with tools",
        Kind::Roots => "the workspace roots",
        _ => "this",
    }
}

/// What a client declares for it.
fn declaration(kind: Kind) -> &'static str {
    match kind {
        Kind::Form => "elicitation.form",
        Kind::Url => "elicitation.url",
        Kind::Sample => "sampling",
        Kind::SampleWithTools => "sampling.tools",
        Kind::Roots => "roots",
        _ => "it",
    }
}

impl Asker {
    /// Whether these can be asked at all; if not, all the kinds that cannot be.
    pub(super) fn may<'q>(
        &self,
        requests: impl IntoIterator<Item = &'q InputRequest>,
        declared: &antiphon_types::ClientCapabilities,
    ) -> Result<(), Cannot> {
        if let Some(mute) = self.session.mute {
            return Err(Cannot::Mute(mute));
        }
        let mut lacking = Vec::new();
        for request in requests {
            let Some(kind) = Kind::of(request) else {
                return Err(Cannot::Unknown(format!(
                    "`{}` is no question that a client knows",
                    request.method()
                )));
            };
            if !kind.is_declared(declared) && !lacking.contains(&kind) {
                lacking.push(kind);
            }
        }
        match lacking.is_empty() {
            true => Ok(()),
            false => Err(Cannot::Undeclared(lacking)),
        }
    }

    /// Sends a question. `elicitation_id` names a link.
    pub(super) fn push<'q>(
        &'q self,
        request: &'q InputRequest,
        elicitation_id: Option<&str>,
        until: Instant,
    ) -> Result<Pushed<'q>, Cannot> {
        let began = Instant::now();
        let deadline = until.min(after(began, self.answer));
        let (id, answer) = self.session.asked.enter();
        let pushed = Pushed {
            asker: self,
            request,
            id,
            answer,
            longest: deadline - began,
            deadline,
        };
        let message = match self.question(id, request, elicitation_id) {
            Ok(message) => message,
            Err(why) => {
                self.session.asked.forget(id);
                return Err(Cannot::Unknown(why));
            }
        };
        // Of a call that is over nobody is asked anything.
        if !self.outbox.ask(id, message) {
            self.session.asked.forget(id);
            return Err(Cannot::Over);
        }
        Ok(pushed)
    }

    /// A question as it is sent.
    fn question(
        &self,
        id: u64,
        request: &InputRequest,
        elicitation_id: Option<&str>,
    ) -> Result<Vec<u8>, String> {
        let version = self.session.version;
        let mut message = Vec::with_capacity(512);
        let written = match legacy::plain_form(request, version) {
            Some(form) => write::older_request(&mut message, id, request.method(), form, None),
            None => {
                let (method, params) = legacy::question(request, version, elicitation_id)?;
                write::older_request(&mut message, id, method, &params, None)
            }
        };
        match written {
            Ok(()) => Ok(message),
            Err(error) => Err(format!("it does not serialise: {error}")),
        }
    }

    /// Sends a question and waits for its answer.
    pub(crate) async fn ask(
        &self,
        request: &InputRequest,
        declared: &antiphon_types::ClientCapabilities,
    ) -> Result<Value, Cannot> {
        self.may([request], declared)?;
        let _place = self.endpoint.inner().hold().ok_or(Cannot::Full)?;
        let id = match Kind::of(request) {
            Some(Kind::Url) => Some(elicitation_id()?),
            _ => None,
        };
        let far = after(Instant::now(), self.answer);
        let mut pushed = [self.push(request, id.as_deref(), far)?];
        let (_, answer) = first(&mut pushed, |pushed| pushed).await;
        serde_json::from_str(answer?.get())
            .map_err(|error| Cannot::Unknown(format!("the answer cannot be read: {error}")))
    }
}

impl fmt::Debug for Asker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Asker(..)")
    }
}

/// What a link is known by to the client that was asked to open it: nothing that another could
/// guess (LFEAT-S-06, LFEAT-S-09).
pub(super) fn elicitation_id() -> Result<String, Cannot> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Cannot::Unknown(format!("there is no randomness: {error}")))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

/// A request that was sent. Dropped before it is answered, it is withdrawn.
pub(super) struct Pushed<'a> {
    asker: &'a Asker,
    request: &'a InputRequest,
    id: u64,
    answer: oneshot::Receiver<Said>,
    longest: Duration,
    deadline: Instant,
}

impl Pushed<'_> {
    /// The answer as a client of a later revision would have sent it, as JSON.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Box<RawValue>, Cannot>> {
        let answer = Pin::new(&mut self.answer).poll(context);
        // One that runs to its end is not dropped, and would wait for who does not answer.
        if answer.is_pending() && self.asker.outbox.is_cancelled() {
            return Poll::Ready(Err(Cannot::Over));
        }
        Poll::Ready(match ready!(answer) {
            Ok(Said::Result(result)) => self.modern(result),
            Ok(Said::Error(error)) => Err(Cannot::Error(error)),
            Err(_) => Err(Cannot::Gone),
        })
    }

    fn modern(&self, result: Box<RawValue>) -> Result<Box<RawValue>, Cannot> {
        let version = self.asker.session.version;
        if legacy::answers_alike(self.request, version) {
            return Ok(result);
        }
        let modern = serde_json::from_str(result.get())
            .and_then(|result| to_raw_value(&legacy::answer(self.request, version, result)));
        modern.map_err(|error| Cannot::Unknown(format!("the answer cannot be read: {error}")))
    }
}

impl Drop for Pushed<'_> {
    fn drop(&mut self) {
        if self.asker.session.asked.forget(self.id) {
            withdraw(&self.asker.outbox, self.id);
        }
    }
}

/// Waits until one of these is answered, or cannot be: which of them, and the answer.
pub(super) async fn first<'a, T>(
    waiting: &mut [T],
    pushed: impl Fn(&mut T) -> &mut Pushed<'a>,
) -> (usize, Result<Box<RawValue>, Cannot>) {
    let earliest = |waiting: &mut [T]| waiting.iter_mut().map(|it| pushed(it).deadline).min();
    // One clock for all, because the first that it ends for ends the others.
    let next = earliest(waiting).expect("somebody waits for something");
    let mut clock = pin!(sleep_until(next));
    poll_fn(|context| {
        for (at, one) in waiting.iter_mut().enumerate() {
            if let Poll::Ready(answer) = pushed(one).poll(context) {
                return Poll::Ready((at, answer));
            }
        }
        ready!(clock.as_mut().poll(context));
        let late = |one: &mut T| pushed(one).deadline == next;
        let at = waiting.iter_mut().position(late).unwrap_or_default();
        let longest = pushed(&mut waiting[at]).longest;
        Poll::Ready((at, Err(Cannot::TimedOut(longest))))
    })
    .await
}

/// Tells the client that an answer is not wanted any more.
fn withdraw(outbox: &Outbox, id: u64) {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Cancelled {
        request_id: u64,
    }
    let mut message = Vec::with_capacity(96);
    let params = Cancelled { request_id: id };
    match write::notification(&mut message, "notifications/cancelled", &params) {
        Ok(()) => outbox.tell(message),
        Err(error) => tracing::error!(%error, "a cancellation does not serialise"),
    }
}
