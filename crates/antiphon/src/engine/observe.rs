//! What is told about a request: a span while it runs, one report when it is over.
//!
//! Who called what and how it ended, never arguments, answers, state or headers.

use std::{
    borrow::Cow,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use antiphon_core::{
    envelope::{Message, Slot},
    negotiate::shown,
    seal::digest::FlowId,
};
use antiphon_types::Version;
use tracing::{Instrument, Span, field::Empty};

use super::{
    endpoint::Inner,
    otel::{self, Trace},
    unwind,
};
use crate::raw::{Answered, Observed, Observer, Transport};

/// One request under observation. Dropped before its end, it was abandoned.
pub(crate) struct Observation<'a> {
    asked: Asked<'a>,
    observer: Option<&'a dyn Observer>,
    /// Nobody looks at a clock that nobody reads.
    began: Option<Instant>,
    span: Span,
    trace: Trace<'a>,
    over: bool,
}

/// What a request says of itself before it runs.
pub(super) struct Asked<'a> {
    pub(super) message: &'a Message<'a>,
    pub(super) version: Option<Version>,
    pub(super) transport: Transport,
}

/// What a request is about.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Target<'a> {
    Tool(Cow<'a, str>),
    Prompt(Cow<'a, str>),
    Resource(Cow<'a, str>),
}

impl<'a> Asked<'a> {
    pub(super) fn method(&self) -> Cow<'a, str> {
        shown(self.message.method())
    }

    /// The id as it was spelt, without quotes.
    pub(super) fn id(&self) -> Cow<'a, str> {
        shown(self.message.id().unwrap_or_default().trim_matches('"'))
    }

    pub(super) fn target(&self) -> Option<Target<'a>> {
        let params = &self.message.params;
        let text = |slot: &'a Slot<'a>| slot.as_str().map(shown);
        match self.message.method() {
            "tools/call" => text(&params.name).map(Target::Tool),
            "prompts/get" => text(&params.name).map(Target::Prompt),
            "resources/read" => text(&params.uri).map(Target::Resource),
            _ => None,
        }
    }
}

impl Target<'_> {
    fn text(&self) -> &str {
        match self {
            Self::Tool(text) | Self::Prompt(text) | Self::Resource(text) => text,
        }
    }
}

impl<'a> Observation<'a> {
    pub(crate) fn begin(
        endpoint: &'a Inner,
        message: &'a Message<'a>,
        transport: Transport,
    ) -> Self {
        let asked = Asked {
            message,
            version: None,
            transport,
        };
        let observer = endpoint.observer.as_ref().map(|watcher| &*watcher.0);
        Self {
            span: span(&asked),
            trace: Trace::begin(&endpoint.instruments, &asked),
            began: (observer.is_some() || otel::TIMED).then(Instant::now),
            observer,
            asked,
            over: false,
        }
    }

    /// The revision it speaks, now that this is known.
    pub(crate) fn speaks(&mut self, version: Version) {
        self.asked.version = Some(version);
        self.span.record("mcp.protocol.version", version.as_str());
        self.trace.speaks(version);
    }

    /// Runs the request in its span.
    pub(crate) fn run<F: Future>(&self, request: F) -> impl Future<Output = F::Output> + use<F> {
        self.trace.run(request).instrument(self.span.clone())
    }

    pub(crate) fn end(mut self, outcome: Observed) {
        self.report(outcome);
    }

    fn report(&mut self, outcome: Observed) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        self.span.record("outcome", outcome.name());
        if let Observed::Error(code) = outcome {
            self.span.record("error.code", code);
        }
        let Some(duration) = self.began.map(|began| began.elapsed()) else {
            return;
        };
        self.trace.end(&self.asked, outcome, duration);
        let Some(observer) = self.observer else {
            return;
        };
        let target = self.asked.target();
        let answered = Answered {
            method: &self.asked.method(),
            target: target.as_ref().map(Target::text),
            version: self.asked.version,
            outcome,
            duration,
            transport: self.asked.transport,
        };
        let told = AssertUnwindSafe(|| observer.answered(&answered));
        if let Err(panic) = catch_unwind(told) {
            let panic = unwind::text(&*panic);
            tracing::error!(panic, "the observer panicked");
        }
    }
}

impl Drop for Observation<'_> {
    fn drop(&mut self) {
        self.report(Observed::Abandoned);
    }
}

/// Nothing here is looked at unless somebody listens.
fn span(asked: &Asked<'_>) -> Span {
    let text = |of: fn(&Target<'_>) -> bool| {
        let target = asked.target().filter(of)?;
        Some(target.text().to_owned())
    };
    tracing::info_span!(
        target: "antiphon",
        "mcp.request",
        mcp.method.name = &*asked.method(),
        mcp.request.id = &*asked.id(),
        mcp.protocol.version = Empty,
        gen_ai.tool.name = text(|target| matches!(target, Target::Tool(_))),
        gen_ai.prompt.name = text(|target| matches!(target, Target::Prompt(_))),
        mcp.resource.uri = text(|target| matches!(target, Target::Resource(_))),
        antiphon.flow = Empty,
        antiphon.round = Empty,
        antiphon.answered = Empty,
        antiphon.human_wait_ms = Empty,
        antiphon.asked = Empty,
        outcome = Empty,
        error.code = Empty,
    )
}

/// Says on the span of this request which call it goes on with: what it is called in all its
/// rounds, how many came before, which questions were answered, and how long that took.
pub(crate) fn goes_on<'k>(
    flow: impl FnOnce() -> FlowId,
    round: u16,
    answered: impl Iterator<Item = &'k str>,
    waited: impl FnOnce() -> Duration,
) {
    let span = Span::current();
    if span.is_disabled() && !otel::TIMED {
        return;
    }
    let (flow, answered) = (flow().to_string(), keys(answered));
    let waited = u64::try_from(waited().as_millis()).unwrap_or(u64::MAX);
    span.record("antiphon.flow", &*flow);
    span.record("antiphon.round", round);
    span.record("antiphon.answered", &*answered);
    span.record("antiphon.human_wait_ms", waited);
    otel::goes_on(flow, round, answered, waited);
}

/// Says on the span of this request what it asks, and what the call is called from here on.
pub(crate) fn asks<'k>(flow: impl FnOnce() -> FlowId, asked: impl Iterator<Item = &'k str>) {
    let span = Span::current();
    if span.is_disabled() && !otel::TIMED {
        return;
    }
    let (flow, asked) = (flow().to_string(), keys(asked));
    span.record("antiphon.flow", &*flow);
    span.record("antiphon.asked", &*asked);
    otel::asks(flow, asked);
}

fn keys<'k>(keys: impl Iterator<Item = &'k str>) -> String {
    let keys: Vec<_> = keys.map(shown).collect();
    keys.join(", ")
}
