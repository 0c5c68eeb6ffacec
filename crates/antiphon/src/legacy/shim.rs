//! Questions for clients of older revisions: sent while the call waits, and the handler run again
//! with the answers (wire.md 11).

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use antiphon_core::{negotiate::shown, question::Kind, write};
use antiphon_types::{
    CallToolResult, ElicitationCompleteNotificationParams, ErrorObject, GetPromptResult,
    InputRequest, InputRequired, ReadResourceResult, Version, code,
};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{
    json,
    value::{RawValue, to_raw_value},
};
use tokio::time::{Instant, sleep_until};

use super::{
    Asker, Cannot, Links, Session, Shim,
    pushed::{Pushed, elicitation_id, first},
};
use crate::{
    deadline::after,
    engine::{
        answer::gate,
        dispatch::guarded,
        endpoint::{Endpoint, Inner},
        outbox::Outbox,
    },
    raw::{Answering, Call, CallTool, GetPrompt, Outgoing, ReadResource, Reply, Round, Service},
    sealing::Kept,
};

/// What a call of an older client has beside its request.
#[derive(Debug)]
pub(crate) struct Aside {
    pub(crate) asker: Asker,
    pub(crate) held: Held,
    pub(crate) links: Arc<Links>,
}

impl Aside {
    pub(super) fn new(endpoint: Endpoint, session: Arc<Session>, outbox: Arc<Outbox>) -> Self {
        let answer = endpoint.inner().legacy.shim.answer;
        Self {
            asker: Asker {
                endpoint,
                session,
                outbox,
                answer,
            },
            held: Held::default(),
            links: Arc::default(),
        }
    }
}

/// What a call carries from round to round, where it never leaves the server: in the clear, and
/// for as long as the call lasts (SHIM-S-09).
#[derive(Default)]
pub(crate) struct Held(Mutex<Option<Kept>>);

/// Nothing of it: answers and secrets are in it.
impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Held(..)")
    }
}

impl Held {
    pub(crate) fn put(&self, kept: Kept) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
    }

    pub(crate) fn take(&self) -> Option<Kept> {
        (self.0.lock().unwrap_or_else(PoisonError::into_inner)).take()
    }
}

/// Parameters of the three methods that may ask.
pub(super) trait Asks: Copy {
    type Result: Finished;

    /// What is asked of whom, for logs and errors.
    fn target(&self) -> &str;

    /// The same without what only later revisions have: `inputResponses` and `requestState` are
    /// nothing that such a client can send.
    fn first(self) -> Self;

    /// Runs the handler.
    fn enter<'r>(
        &self,
        service: &'r dyn Service,
        call: &'r Call<'r>,
        round: Round<'r>,
    ) -> Answering<'r, Reply<Self::Result>>
    where
        Self: 'r;
}

/// Results of the three methods that may ask.
pub(super) trait Finished: Outgoing {
    /// Whether this revision knows all that is in it.
    fn fits(&self, version: Version) -> bool;

    /// What says that a question could not be answered.
    fn unanswered(why: String) -> Result<Reply<Self>, ErrorObject>
    where
        Self: Sized,
    {
        Err(ErrorObject::internal(why))
    }
}

impl Finished for CallToolResult {
    fn fits(&self, version: Version) -> bool {
        antiphon_core::legacy::fits(self, version)
    }

    /// Where a model sees it, and can do something else (SHIM-S-03).
    fn unanswered(why: String) -> Result<Reply<Self>, ErrorObject> {
        Ok(Reply::Complete(Self::error(why)))
    }
}

impl Finished for GetPromptResult {
    fn fits(&self, _: Version) -> bool {
        false
    }
}

impl Finished for ReadResourceResult {
    fn fits(&self, _: Version) -> bool {
        false
    }
}

macro_rules! asks {
    ($($params:ident { $target:ident, $($field:ident),* } => $method:ident, $result:ty;)*) => {$(
        impl Asks for $params<'_> {
            type Result = $result;

            fn target(&self) -> &str {
                self.$target
            }

            fn first(self) -> Self {
                Self { round: Round::default(), ..self }
            }

            fn enter<'r>(
                &self,
                service: &'r dyn Service,
                call: &'r Call<'r>,
                round: Round<'r>,
            ) -> Answering<'r, Reply<Self::Result>>
            where
                Self: 'r,
            {
                let params = $params { $target: self.$target, $($field: self.$field,)* round };
                service.$method(call, params)
            }
        }
    )*};
}

asks! {
    CallTool { name, arguments } => call_tool, CallToolResult;
    GetPrompt { name, arguments } => get_prompt, GetPromptResult;
    ReadResource { uri, } => read_resource, ReadResourceResult;
}

/// Runs a call to its end, asking in between whatever its handler asks. What comes back is never
/// a question (SHIM-S-01).
pub(super) async fn run<P: Asks>(
    endpoint: &Inner,
    call: &Call<'_>,
    params: P,
) -> Result<Reply<P::Result>, ErrorObject> {
    let began = Instant::now();
    let mut flow: Option<Flow<'_>> = None;
    let mut responses: Option<Box<RawValue>> = None;
    let mut state: Option<String> = None;
    loop {
        let round = Round {
            responses: responses.as_deref(),
            state: state.as_deref(),
        };
        if let Some(aside) = call.aside {
            aside.links.begin();
        }
        let entered = guarded(call, || params.enter(&*endpoint.service, call, round)).await;
        let input = match entered {
            Ok(Reply::InputRequired(input)) => input,
            done => {
                if let Some(flow) = flow {
                    flow.complete_links();
                }
                return done;
            }
        };
        if !endpoint.legacy.asks {
            tracing::error!(
                method = call.method,
                target = &*shown(params.target()),
                "a handler asks, and clients of older revisions are not asked: legacy_shim(false)"
            );
            return Err(ErrorObject::internal(
                "This needs to ask its user, and this server does not ask clients of older \
                 protocol revisions; use a client of revision 2026-07-28",
            ));
        }
        // From here on nothing runs that must not be left, until the answers are there.
        call.may_be_abandoned();
        let flow = flow.get_or_insert_with(|| Flow::new(endpoint, call, began));
        let answered = match input.requests().len() {
            0 => flow.wait().await.map(|()| None),
            _ => flow.ask(&input).await.map(Some),
        };
        match answered {
            Ok(answers) => responses = answers,
            Err(Ended::Error(error)) => return Err(error),
            Err(Ended::Unanswered(why)) => {
                let target = &*shown(params.target());
                tracing::debug!(method = call.method, target, why, "a call was not answered");
                return P::Result::unanswered(why);
            }
        }
        state = input.state().map(str::to_owned);
    }
}

/// Why a call ends before its handler gives a result.
enum Ended {
    /// A mistake of the server's.
    Error(ErrorObject),
    /// In words for whoever called.
    Unanswered(String),
}

const OVER_TIME: &str = "This was not done in the time there is for it; try again later";

/// A call that asks.
struct Flow<'a> {
    endpoint: &'a Inner,
    call: &'a Call<'a>,
    settings: &'a Shim,
    until: Instant,
    rounds: u32,
    /// How often the handler has put off the client in a row, and until when it may.
    put_off: Option<(u32, Instant)>,
}

/// A question that was sent.
struct Leg<'a> {
    key: &'a str,
    request: &'a InputRequest,
    link: Option<String>,
    pushed: Pushed<'a>,
}

/// What was answered under which keys, as JSON: an object.
struct Responses<'a>(Vec<(&'a str, Box<RawValue>)>);

impl Serialize for Responses<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(key, answer)| (key, answer)))
    }
}

impl<'a> Flow<'a> {
    fn new(endpoint: &'a Inner, call: &'a Call<'a>, began: Instant) -> Self {
        let settings = &endpoint.legacy.shim;
        Self {
            endpoint,
            call,
            settings,
            until: after(began, settings.call),
            rounds: 0,
            put_off: None,
        }
    }

    fn aside(&self) -> &'a Aside {
        self.call.aside.expect("a call of an older client")
    }

    /// Sends the questions and waits for all the answers.
    async fn ask(&mut self, input: &InputRequired) -> Result<Box<RawValue>, Ended> {
        self.complete_links();
        self.put_off = None;
        self.may(input)?;
        self.rounds += 1;
        if self.rounds > self.settings.rounds {
            let most = self.settings.rounds;
            tracing::error!(
                most,
                "a call asks in too many rounds; see legacy::Shim::rounds"
            );
            return Err(Ended::Unanswered(format!(
                "This asked in {most} rounds, and may ask in no more"
            )));
        }
        if Instant::now() >= self.until {
            // A question that is taken back at once is none.
            return Err(Ended::Unanswered(OVER_TIME.to_owned()));
        }
        let Some(_place) = self.endpoint.hold() else {
            tracing::warn!(
                limit = self.settings.calls,
                "refused: too many calls wait for answers; see legacy::Shim::waiting_calls"
            );
            return Err(Ended::Unanswered(
                "The server waits for too many answers already; try again later".to_owned(),
            ));
        };
        // Whoever waits for a person keeps nobody else from being served.
        let _lent = self.endpoint.lend_place();
        let count = input.requests().len();
        let mut answers = Responses(Vec::with_capacity(count));
        let mut waiting = Vec::with_capacity(count);
        for (key, request) in input.requests() {
            waiting.push(self.push(key, request)?);
            if self.settings.one_at_a_time {
                self.collect(std::mem::take(&mut waiting), &mut answers)
                    .await?;
            }
        }
        self.collect(waiting, &mut answers).await?;
        to_raw_value(&answers).map_err(|error| {
            tracing::error!(%error, "answers do not serialise");
            Ended::Error(ErrorObject::internal("Internal error"))
        })
    }

    /// Whether this client can be asked this (SHIM-S-02, SHIM-S-03).
    fn may(&self, input: &InputRequired) -> Result<(), Ended> {
        if is_one_form(input) && self.aside().asker.session.fills_in_forms {
            return Ok(());
        }
        let refused = match gate(self.call, input) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        if refused.code != code::MISSING_CLIENT_CAPABILITY {
            return Err(Ended::Error(refused));
        }
        let asker = &self.aside().asker;
        let declared = self.call.capabilities().map_err(Ended::Error)?;
        let requests = input.requests().map(|(_, request)| request);
        let why = match asker.may(requests, declared) {
            Ok(()) => refused.message,
            Err(why) => why.to_string(),
        };
        Err(Ended::Unanswered(format!(
            "This needs to ask its user, but {why}"
        )))
    }

    fn push<'q>(&self, key: &'q str, request: &'q InputRequest) -> Result<Leg<'q>, Ended>
    where
        'a: 'q,
    {
        let failed = |why: Cannot| Ended::Unanswered(format!("`{key}` cannot be asked: {why}"));
        let link = match Kind::of(request) {
            Some(Kind::Url) => Some(elicitation_id().map_err(failed)?),
            _ => None,
        };
        let asker = &self.aside().asker;
        let pushed = asker.push(request, link.as_deref(), self.until);
        Ok(Leg {
            key,
            request,
            link,
            pushed: pushed.map_err(failed)?,
        })
    }

    /// Waits for the answers. If one is not to be had, the other questions are withdrawn.
    async fn collect<'q>(
        &mut self,
        mut waiting: Vec<Leg<'q>>,
        answers: &mut Responses<'q>,
    ) -> Result<(), Ended> {
        while !waiting.is_empty() {
            let (at, answer) = first(&mut waiting, |leg| &mut leg.pushed).await;
            let leg = waiting.swap_remove(at);
            let elicits = matches!(leg.request, InputRequest::Elicit(_));
            let answer = match answer {
                Ok(answer) => answer,
                // SHIM-S-06: whoever cannot show a form has not shown it.
                Err(Cannot::Error(error)) if elicits => {
                    let (code, message) = (error.code, &*shown(&error.message));
                    tracing::debug!(key = leg.key, code, message, "a question was not shown");
                    to_raw_value(&json!({"action": "cancel"})).expect("a plain object")
                }
                Err(why) => {
                    let why = format!("`{}` was not answered: {why}", leg.key);
                    return Err(Ended::Unanswered(why));
                }
            };
            if let Some(id) = leg.link
                && accepts(&answer)
            {
                self.aside().links.open(leg.key, id);
            }
            answers.0.push((leg.key, answer));
        }
        Ok(())
    }

    /// The handler has gone on, so what the user opened has done its work (LFEAT-S-07).
    fn complete_links(&self) {
        let Aside { asker, links, .. } = self.aside();
        for id in links.completed() {
            let params = ElicitationCompleteNotificationParams::new(id);
            let mut message = Vec::with_capacity(128);
            let method = "notifications/elicitation/complete";
            if write::notification(&mut message, method, &params).is_ok() {
                asker.outbox.tell(message);
            }
        }
    }

    /// Waits before a handler that asked nothing is run again (SHIM-S-08).
    async fn wait(&mut self) -> Result<(), Ended> {
        const SHORTEST: Duration = Duration::from_millis(50);
        const LONGEST: Duration = Duration::from_secs(2);
        // The server stops, or the client is gone: nobody comes for the answer.
        if self.aside().asker.session.asked.is_over() {
            return Err(Ended::Unanswered(Cannot::Gone.to_string()));
        }
        let now = Instant::now();
        let (times, until) = self
            .put_off
            .unwrap_or_else(|| (0, after(now, self.settings.poll)));
        self.put_off = Some((times.saturating_add(1), until));
        let until = until.min(self.until);
        let wake = now + (SHORTEST * 2_u32.pow(times.min(6))).min(LONGEST);
        if wake >= until {
            sleep_until(until).await;
            return Err(Ended::Unanswered(OVER_TIME.to_owned()));
        }
        sleep_until(wake).await;
        Ok(())
    }
}

/// Whether a form is all that is asked: whoever can fill in one can be asked that.
fn is_one_form(input: &InputRequired) -> bool {
    let mut requests = input.requests();
    let first = requests.next().and_then(|(_, request)| Kind::of(request));
    first == Some(Kind::Form) && requests.next().is_none()
}

/// Whether the user agreed to open a link.
fn accepts(answer: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Answer<'a> {
        #[serde(borrow)]
        action: std::borrow::Cow<'a, str>,
    }
    serde_json::from_str::<Answer<'_>>(answer.get()).is_ok_and(|answer| answer.action == "accept")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers and secrets are in it.
    #[test]
    fn what_is_held_is_not_shown() {
        let held = Held::default();
        held.put(Kept::of("secret"));
        let shown = format!("{held:?}");
        assert!(!shown.contains("secret"), "{shown}");
        assert!(!shown.contains(&format!("{:?}", b's')), "{shown}");
        assert_eq!(held.take().as_ref().and_then(Kept::state), Some("secret"));
        assert!(held.take().is_none());
    }
}
