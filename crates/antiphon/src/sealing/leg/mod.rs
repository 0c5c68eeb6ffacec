//! Where states come in and go out: [`Leg`], one request of a call that may take several.
//!
//! [Open](Leg::open), then whatever may still refuse the request, then [claim](Leg::claim), then the
//! handler, then seal and record: [run](Leg::run) is around all but the first. What is checked
//! before the claim is up to who calls: a [`Server`](crate::Server) looks at arguments, a
//! [`Sealed`](super::Sealed) service at nothing.

mod caller;
mod claim;
mod close;
mod dialogue;
mod journal;
mod kept;
mod open;
mod seal;

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, OnceLock, PoisonError, atomic::Ordering},
};

use antiphon_core::{
    answers::Answers,
    canonical::{Ambiguous, canonical},
    ledger::Ledger,
    negotiate::shown,
    seal::{
        claims::{self, Claims, Method, Request},
        digest::{Digester, FlowId, Secret},
        guard::{Fingerprint, Holder},
        refusal::Refusal,
    },
};
use antiphon_types::ErrorObject;
use serde_json::value::RawValue;

use super::{Sealing, protect::Trouble, record, sealing::Settings};
use crate::raw::{self, Error, Reply};

pub(crate) use self::{
    caller::Caller,
    claim::Claimed,
    dialogue::Dialogue,
    journal::{Barred, Entering, Mine},
    kept::Kept,
};

/// What a state is bound to, besides who calls.
#[derive(Clone, Copy)]
pub(crate) struct Bound<'a> {
    pub(crate) method: Method,
    pub(crate) target: &'a str,
    pub(crate) arguments: Option<&'a RawValue>,
}

/// One request of a call, between the state it brought and the answer it gets.
pub(crate) struct Leg<'a> {
    settings: &'a Arc<Settings>,
    bound: Bound<'a>,
    opened: Option<Box<Opened>>,
    /// The answers to what was asked.
    answers: Answers<'a>,
    /// What the handler asks and has done, once it asks for that.
    dialogue: OnceLock<Arc<Dialogue>>,
}

/// A state that came back and is good, and what is known of its use.
struct Opened {
    claims: Claims,
    /// The author's state.
    state: Option<String>,
    /// How many rounds asked something.
    rounds: u16,
    /// Whether something was asked or done that later rounds have to know.
    carries: bool,
    /// What the dialogue begins with, and makes digests with.
    ledger: Mutex<(Ledger, Option<Box<Digester>>)>,
    answers: Fingerprint,
    /// Set once the state is claimed: by whom, if anybody remembers.
    claimed: OnceLock<Option<Holder>>,
    /// Held by who claims it: another would take that claim for one that was left.
    claiming: tokio::sync::Mutex<()>,
    /// A claim that may have been granted, and under which nothing is done.
    loose: Mutex<Option<Holder>>,
    /// The answer that the state got when it was used before.
    recorded: OnceLock<Vec<u8>>,
}

impl<'a> Leg<'a> {
    /// A request, whose state is not opened yet.
    pub(crate) fn new(sealing: &'a Sealing, bound: Bound<'a>) -> Self {
        Self {
            settings: &sealing.settings,
            bound,
            opened: None,
            answers: Answers::default(),
            dialogue: OnceLock::new(),
        }
    }

    fn request<'b>(&'b self, arguments: &'b [u8], principal: &'b [u8]) -> Request<'b> {
        Request {
            method: self.bound.method,
            target: self.bound.target,
            arguments,
            principal,
        }
    }

    fn canonical_arguments(&self) -> Result<Vec<u8>, Ambiguous> {
        let arguments = self.bound.arguments.map_or("{}", RawValue::get);
        let mut bytes = Vec::with_capacity(2 * arguments.len());
        canonical(arguments, &mut bytes)?;
        Ok(bytes)
    }

    /// Who calls; `None` if that is required and not known.
    fn principal(&self, call: &raw::Call<'_>) -> Option<Cow<'static, [u8]>> {
        let principal = call.principal();
        if principal.is_none() && self.settings.bind.is_none() {
            return Some(Cow::Borrowed(claims::NOBODY));
        }
        if let Some(principal) = principal
            && principal.subject.is_none()
            && !self.settings.told.no_subject.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(
                "the bearer verifier names no subject: states are bound to the client alone, and \
                 all its users can use each other's; see auth::Principal::subject"
            );
        }
        let bound = self.named_by_author(call)?;
        let parts = [
            principal.and_then(|who| who.issuer.as_deref()),
            principal.and_then(|who| who.client.as_deref()),
            principal.and_then(|who| who.subject.as_deref()),
            bound.as_deref(),
        ];
        let mut bytes = Vec::new();
        claims::principal(&parts, &mut bytes);
        Some(bytes.into())
    }

    /// Who the author says is calling, if the author was asked; `None` if that is not known.
    #[expect(clippy::option_option, reason = "not asked, and not known")]
    fn named_by_author(&self, call: &raw::Call<'_>) -> Option<Option<String>> {
        match &self.settings.bind {
            None => Some(None),
            Some(bind) => Some(Some(bind(call)?)),
        }
    }

    /// The author's state, if there is one.
    pub(crate) fn state(&self) -> Option<&str> {
        self.opened.as_ref()?.state.as_deref()
    }

    /// The answers to what was asked.
    pub(crate) fn answers(&self) -> &Answers<'a> {
        &self.answers
    }

    /// What the call is called in logs, if it was asked something before.
    pub(crate) fn flow(&self) -> Option<FlowId> {
        self.opened.as_ref().map(|opened| opened.flow())
    }

    /// Whatever the handler has left behind cannot ask any more.
    fn end_dialogue(&self) {
        if let Some(dialogue) = self.begun_dialogue() {
            dialogue.end();
        }
    }

    /// The same, if the handler has asked for it.
    pub(crate) fn begun_dialogue(&self) -> Option<&Arc<Dialogue>> {
        self.dialogue.get()
    }

    /// Says why a state is not of the type that a handler wants.
    pub(crate) fn not_of_this_type(&self, error: &serde_json::Error) -> Error {
        let method = method_name(self.bound.method);
        not_of_this_type(method, self.bound.target, self.flow(), error)
    }

    /// The answer that the state got when it was used before.
    pub(crate) fn recorded<T>(&self) -> Option<Result<Reply<T>, Error>> {
        let recorded = self.opened.as_ref()?.recorded.get()?;
        Some(record::read(recorded).unwrap_or_else(|| {
            tracing::error!("a recorded answer cannot be read");
            Err(unavailable())
        }))
    }

    /// Whether the request came with a state.
    pub(crate) fn brings_state(&self) -> bool {
        self.opened.is_some()
    }

    fn refuse(&self, trouble: Trouble, flow: Option<Secret>) -> Error {
        let method = method_name(self.bound.method);
        let target = &*shown(self.bound.target);
        let flow = flow.map(|secret| tracing::field::display(secret.digester().flow()));
        match trouble {
            Trouble::Refused(refusal) => {
                let reason = refusal.reason();
                tracing::warn!(reason, method, target, flow, "a requestState was refused");
                ErrorObject::invalid_request_state()
            }
            Trouble::Unavailable(why) => {
                tracing::error!(
                    why,
                    method,
                    target,
                    flow,
                    "a requestState cannot be checked"
                );
                unavailable()
            }
            Trouble::Busy => {
                tracing::warn!(method, target, flow, "a requestState is still being used");
                unavailable()
            }
        }
    }
}

impl Opened {
    fn new(
        claims: Claims,
        mut ledger: Ledger,
        digester: Box<Digester>,
        answers: Fingerprint,
    ) -> Self {
        Self {
            state: ledger.state.take(),
            rounds: ledger.rounds.unwrap_or(claims.round),
            carries: !ledger.questions.is_empty() || !ledger.steps.is_empty(),
            ledger: Mutex::new((ledger, Some(digester))),
            claims,
            answers,
            claimed: OnceLock::new(),
            claiming: tokio::sync::Mutex::default(),
            loose: Mutex::default(),
            recorded: OnceLock::new(),
        }
    }

    fn take(&self) -> (Ledger, Option<Box<Digester>>) {
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut ledger)
    }

    fn flow(&self) -> FlowId {
        self.claims.secret.digester().flow()
    }
}

/// Says why a state is not of the type that a handler wants.
pub(crate) fn not_of_this_type(
    method: &str,
    target: &str,
    flow: Option<FlowId>,
    error: &serde_json::Error,
) -> Error {
    let (reason, target) = (Refusal::StateType.reason(), &*shown(target));
    let flow = flow.map(tracing::field::display);
    // Where, and not what: the error's own text quotes the state.
    let (line, column) = (error.line(), error.column());
    tracing::warn!(
        reason,
        method,
        target,
        flow,
        line,
        column,
        "a requestState was refused"
    );
    ErrorObject::invalid_request_state()
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::CallTool => "tools/call",
        Method::GetPrompt => "prompts/get",
        Method::ReadResource => "resources/read",
    }
}

fn unavailable() -> Error {
    Error::internal("The state of this call cannot be handled at present; try again")
}
