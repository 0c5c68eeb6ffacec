//! The loop: a call, its questions, and the call again with the answers (wire.md 4.3).

use std::{borrow::Cow, collections::HashMap, pin::pin, sync::Arc};

use antiphon_core::{
    exchange::{Next, Rounds},
    question::Kind,
};
use antiphon_types::{
    ClientCapabilities, ElicitRequestParams, ErrorObject, InputRequest, InputRequired,
};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until, timeout_at},
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{
    Client, Clock, Error, ErrorKind, Finished, Outcome, Paused, Target,
    asking::{self, Answered, Begun, Failure},
    given::Given,
    options::Options,
    question::{About, Round},
    shared::{Leg, Shared, after, envelope},
};
use crate::excerpt::{sentence, word};
use crate::links;

/// Most questions of one round; a server that asks more is out to keep us busy.
pub(super) const QUESTIONS: usize = 100;

/// One call on its way.
pub(super) struct Drive<'a> {
    pub(super) shared: &'a Shared,
    pub(super) target: Arc<Target>,
    pub(super) options: Options,
    capabilities: Cow<'a, ClientCapabilities>,
    envelope: Cow<'a, str>,
    rounds: Rounds,
    /// Whether to come back by itself to a server that is not ready.
    polls: bool,
    /// When to stop coming back.
    poll_until: Option<Instant>,
    /// How often an older server wanted links to be opened first.
    pub(super) link_rounds: u32,
}

impl<'a> Drive<'a> {
    /// A call from its beginning.
    pub(super) fn new(shared: &'a Shared, target: Target, options: Options) -> Self {
        Self {
            shared,
            target: Arc::new(target),
            options,
            capabilities: Cow::Borrowed(&shared.capabilities),
            envelope: Cow::Borrowed(&shared.envelope),
            rounds: Rounds::default(),
            polls: true,
            poll_until: None,
            link_rounds: 0,
        }
    }

    /// A call that was paused; it goes on declaring what it declared (MRTR-C-13).
    pub(super) fn resumed(shared: &'a Shared, paused: Paused) -> Self {
        let envelope = match paused.capabilities == shared.capabilities {
            true => Cow::Borrowed(&*shared.envelope),
            false => Cow::Owned(envelope(&shared.client, &paused.capabilities)),
        };
        Self {
            capabilities: Cow::Owned(paused.capabilities),
            envelope,
            rounds: paused.rounds,
            ..Self::new(shared, paused.target, paused.options)
        }
    }

    /// Leaves it to the caller to come back.
    pub(super) fn step_by_step(mut self) -> Self {
        self.polls = false;
        self
    }

    /// Goes on until there is a result, or nothing that can be done here.
    pub(super) async fn run<T: Finished>(&mut self) -> Result<Outcome<T>, Error> {
        let cancel = self.options.cancel.clone();
        let span = tracing::debug_span!("mcp.call", call = %self.target);
        let outcome = {
            // Pinned here: wrapped as it is, all of it would be moved again and again.
            let rounds = pin!(self.rounds());
            let rounds = rounds.instrument(span);
            match cancel {
                None => rounds.await,
                Some(cancel) => tokio::select! {
                    biased;
                    () = cancel.cancelled() => Err(Error::cancelled()),
                    outcome = rounds => outcome,
                },
            }
        };
        outcome.map_err(|error| {
            let error = error.during(&self.target);
            match self.rounds.is_retry() && can_go_on(&error) {
                true => error.interrupted(self.pause()),
                false => error,
            }
        })
    }

    async fn rounds<T: Finished>(&mut self) -> Result<Outcome<T>, Error> {
        // Of a call that was paused some questions may still be open.
        if let Some(asked) = self.rounds.unanswered() {
            self.inspect(self.rounds.round(), &asked)?;
            if !self.answer().await? {
                return Ok(Outcome::Paused(self.pause()));
            }
        }
        loop {
            let given = match self.shared.call(self).await {
                Ok(given) => given,
                Err(error) => {
                    Box::pin(self.open_links(error)).await?;
                    continue;
                }
            };
            let method = self.target.method();
            let Some(result) = given.read(|text| T::read(method, text))? else {
                return Err(Error::invalid("the result of this call has another type"));
            };
            let asked = match result {
                Ok(antiphon_types::Outcome::Complete(result)) => {
                    self.rounds = Rounds::default();
                    self.shared.promised(&self.target, result.as_tool())?;
                    return Ok(Outcome::Done(result));
                }
                Ok(antiphon_types::Outcome::InputRequired(asked)) => {
                    self.shared.may_ask_like_this()?;
                    asked
                }
                Ok(_) => return Err(Error::decode("a result of an unknown kind")),
                Err(error) => {
                    let (method, name) = (self.target.method(), self.target.name());
                    self.shared.unreadable(method, Some(name));
                    return Err(Error::decode(sentence(&error.to_string())));
                }
            };
            match self.take(asked)? {
                Next::Answer => {
                    self.poll_until = None;
                    if !self.answer().await? {
                        return Ok(Outcome::Paused(self.pause()));
                    }
                }
                Next::Later if self.polls => self.wait().await?,
                Next::Later => return Ok(Outcome::Later(self.pause())),
            }
        }
    }

    /// Looks at a round before anybody is asked.
    fn take(&mut self, asked: InputRequired) -> Result<Next, Error> {
        let count = asked.requests().len();
        if count > QUESTIONS {
            return Err(Error::decode(format!(
                "the server asks {count} questions at once; more than {QUESTIONS} are not answered"
            )));
        }
        for (key, question) in asked.requests() {
            self.supported(key, question)?;
        }
        let keys = || asked.requests().map(|(key, _)| key).collect::<Vec<_>>();
        tracing::debug!(call = %self.target, keys = ?keys(), "input required");
        let seen = self.shared.client.on_round.as_ref().map(|_| asked.clone());
        let max_rounds = self.shared.client.max_rounds;
        let limit = self.options.max_rounds.unwrap_or(max_rounds);
        let next = self.rounds.take(asked, limit).map_err(|last| {
            let message = format!("the server asks in more than {limit} rounds");
            Error::new(ErrorKind::RoundsExceeded(last), message)
        })?;
        if let Some(seen) = &seen {
            self.inspect(self.rounds.round(), seen)?;
        }
        Ok(next)
    }

    /// Shows a round to whoever wants to see it first.
    pub(super) fn inspect(&self, round: u32, asked: &InputRequired) -> Result<(), Error> {
        let Some(inspect) = &self.shared.client.on_round else {
            return Ok(());
        };
        let seen = Round {
            call: &self.target,
            tag: self.options.tag.as_deref(),
            server: &self.shared.identity,
            round,
            asked,
        };
        inspect(&seen).map_err(|why| {
            let message = format!("the questions of round {round} are refused");
            Error::new(ErrorKind::Stopped { round }, message).caused_by(why)
        })
    }

    /// MRTR-C-16, MRTR-C-17: only what was declared may be asked.
    pub(super) fn supported(&self, key: &str, question: &InputRequest) -> Result<(), Error> {
        let client = &self.shared.client;
        let Some(what) = unsupported(client, &self.capabilities, question) else {
            return Ok(());
        };
        let message = format!("the server asks `{}`, but: {}", word(key), word(&what));
        let unsupported = ErrorKind::Unsupported {
            key: key.to_owned(),
            error: ErrorObject::invalid_request(what),
        };
        Err(Error::new(unsupported, message))
    }

    /// Has the callbacks answer what they can; whether that was everything.
    async fn answer(&mut self) -> Result<bool, Error> {
        let client = &self.shared.client;
        let human = self.options.human.unwrap_or(client.clocks.human);
        let deadline = after(Instant::now(), human);
        let cancelled = CancellationToken::new();
        // However the round ends, whatever a callback started is told.
        let _over = cancelled.clone().drop_guard();
        let round = self.rounds.round();
        let in_place = asking::may_begin_in_place();
        let mut answers = Vec::new();
        let mut waiting = JoinSet::new();
        // Which question each of them answers.
        let mut asked_by = HashMap::new();
        // All have begun before any failure counts.
        for (at, asked) in self.rounds.questions().iter().enumerate() {
            let (handlers, question) = (&client.handlers, &asked.question);
            if asked.answer.is_some() || !handlers.answer(question) {
                continue;
            }
            let about = || self.about(&asked.key, round, &cancelled, deadline);
            let (about, begun) = match in_place {
                false => (about(), None),
                true => match asking::begin(handlers, question, about()).await {
                    Begun::Over(answer) => {
                        answers.push((at, answer));
                        continue;
                    }
                    Begun::Waits(reply) => (about(), Some(reply)),
                    Begun::Again(errors) => (about().again(errors), None),
                },
            };
            let asking = asking::ask(handlers.clone(), question.clone(), about, begun);
            asked_by.insert(waiting.spawn(asking.in_current_span()).id(), at);
        }
        for (at, answer) in answers {
            self.answered(at, answer)?;
        }
        while !waiting.is_empty() {
            let next = timeout_at(deadline, waiting.join_next_with_id()).await;
            let Some(next) = next.map_err(|_| Error::timed_out(Clock::Human, human))? else {
                break;
            };
            let (id, answer) = match next {
                Ok((id, answer)) => (id, answer),
                Err(panic) => (panic.id(), Err(Failure::Refused(panic.into()))),
            };
            if let Some(at) = asked_by.remove(&id) {
                self.answered(at, answer)?;
            }
        }
        Ok(self.rounds.pending().next().is_none())
    }

    /// Notes the answer to the question at this position.
    fn answered(&mut self, at: usize, answer: Answered) -> Result<(), Error> {
        match answer {
            Ok(Some(answer)) => self.rounds.answer_at(at, answer),
            Ok(None) => {}
            Err(failure) => {
                let key = self.rounds.questions()[at].key.clone();
                return Err(failure.into_error(key, self.rounds.round()));
            }
        }
        Ok(())
    }

    /// What a callback is told beside a question.
    pub(super) fn about(
        &self,
        key: &str,
        round: u32,
        cancelled: &CancellationToken,
        deadline: Instant,
    ) -> About {
        About::first(
            key.to_owned(),
            round,
            self.shared.identity.clone(),
            (self.target.clone(), self.options.tag.clone()),
            cancelled.clone(),
            deadline,
        )
    }

    /// Waits before coming back, within the poll clock.
    async fn wait(&mut self) -> Result<(), Error> {
        let now = Instant::now();
        let budget = self.options.poll.unwrap_or(self.shared.client.clocks.poll);
        let until = *self.poll_until.get_or_insert_with(|| after(now, budget));
        let mut jitter = [0];
        _ = getrandom::fill(&mut jitter);
        let wake = now + self.rounds.pause(jitter[0]);
        if wake >= until {
            sleep_until(until).await;
            return Err(Error::timed_out(Clock::Poll, budget));
        }
        sleep_until(wake).await;
        Ok(())
    }

    /// The call as it stands, as data.
    fn pause(&mut self) -> Paused {
        Paused::new(
            (*self.shared.identity).clone(),
            self.shared.version(),
            self.capabilities.clone().into_owned(),
            (*self.target).clone(),
            self.options.clone(),
            std::mem::take(&mut self.rounds),
        )
    }
}

/// Why a question may not be asked under these capabilities; `None` if it may.
pub(super) fn unsupported(
    client: &Client,
    declared: &ClientCapabilities,
    question: &InputRequest,
) -> Option<String> {
    match Kind::of(question) {
        Some(kind) if kind.is_declared(declared) => {
            let unsafe_link = match question {
                InputRequest::Elicit(ElicitRequestParams::Url(link)) => !links::is_safe(&link.url),
                _ => false,
            };
            (unsafe_link && !client.insecure_links).then(|| links::RULE.to_owned())
        }
        Some(kind) => Some(kind.not_supported().to_owned()),
        None => Some(format!("{} not supported", question.method())),
    }
}

/// Whether a call that ended like this stands where it stood: nothing came back that the server
/// has moved on with.
fn can_go_on(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Protocol(_)
            | ErrorKind::TimedOut { .. }
            | ErrorKind::Refused { .. }
            | ErrorKind::InvalidAnswer { .. }
            | ErrorKind::Stopped { .. }
            | ErrorKind::Unauthorized { .. }
            | ErrorKind::Status(_)
            | ErrorKind::Transport
            | ErrorKind::Cancelled
    )
}

/// What is sent: the call as it was given, and the answers of the last round only (MRTR-C-10,
/// MRTR-C-11).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_responses: Option<Answers<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_state: Option<State<'a>>,
}

/// A state. One that needs no escapes, as most do not, is found out and written in far fewer steps
/// than it takes to look at each character for one.
struct State<'a>(&'a str);

impl Serialize for State<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let plain = |byte: u8| (byte >= 0x20) & (byte != b'"') & (byte != b'\\');
        if self.0.bytes().fold(true, |all, byte| all & plain(byte))
            && let Ok(raw) = RawValue::from_string(format!("\"{}\"", self.0))
        {
            return raw.serialize(to);
        }
        self.0.serialize(to)
    }
}

struct Answers<'a>(&'a Rounds);

impl Serialize for Answers<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(
            self.0
                .questions()
                .iter()
                .map(|asked| (&asked.key, &asked.answer)),
        )
    }
}

impl Shared {
    /// One leg of a call.
    async fn call(&self, drive: &Drive<'_>) -> Result<Given, Error> {
        let target = &*drive.target;
        let name = target.name();
        let rounds = &drive.rounds;
        let is_resource = target.is_resource();
        let params = Params {
            name: (!is_resource).then_some(name),
            uri: is_resource.then_some(name),
            arguments: target.arguments(),
            input_responses: (!rounds.questions().is_empty()).then_some(Answers(rounds)),
            request_state: rounds.state().map(State),
        };
        let leg = Leg {
            method: target.method(),
            name: Some(name),
            headers: &[],
            envelope: &drive.envelope,
            version: self.version(),
            options: &drive.options,
            call: Some(target),
            poll: drive.poll_until,
        };
        if target.is_tool() {
            return self.call_tool(leg, target, &params).await;
        }
        if is_resource && !rounds.is_retry() {
            return self.read(&leg, name, &params).await.map(Given::sure);
        }
        // MRTR-C-14: what came of a retry is not kept.
        self.request(&leg, &params).await
    }
}
