//! Where states come in and go out: [`Leg`], one request of a call that may take several.
//!
//! [Open](Leg::open), then whatever may still refuse the request, then [claim](Leg::claim), then the
//! handler, then seal and record: [run](Leg::run) is around all but the first. What is checked
//! before the claim is up to who calls: a [`Server`](crate::Server) looks at arguments, a
//! [`Sealed`](super::Sealed) service at nothing.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::{Mutex, OnceLock, PoisonError, atomic::Ordering},
    task::Poll,
    time::{Duration, Instant},
};

use antiphon_core::{
    answers::Answers,
    canonical::canonical,
    ledger::{self, Body, Ledger},
    negotiate::shown,
    seal::{
        NONCE,
        claims::{self, Claims, Life, Method, Request, SKEW},
        digest::{Digester, FlowId, Of, Secret},
        envelope::{self, Draft},
        guard::{Claim, Ending, Fingerprint, Guard, Holder, LEASE, Standing, StateId},
        refusal::Refusal,
        ring::TAG,
        spill::{Handle, Kept, Owner, Spilled},
    },
};
use antiphon_types::{ErrorObject, InputRequired};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::{
    Replay, Sealing,
    protect::{Protect, Trouble, answer_to, body_of, random},
    record,
    sealing::{Guarding, Settings, holder},
};
use crate::{
    engine::{dispatch::panicked, unwind::Caught},
    raw::{self, Error, Outgoing, Reply, Round},
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
    settings: &'a Settings,
    bound: Bound<'a>,
    opened: Option<Box<Opened>>,
    /// Set once the state is claimed: by whom, if anybody remembers.
    claimed: OnceLock<Option<Holder>>,
    /// A claim that may have been granted, and under which nothing is done.
    loose: Mutex<Option<Holder>>,
    /// The answer that the state got when it was used before.
    recorded: OnceLock<Vec<u8>>,
}

/// A state that came back and is good.
struct Opened {
    claims: Claims,
    ledger: Ledger,
    answers: Fingerprint,
}

/// How it stands with a state that was presented.
pub(crate) enum Claimed {
    /// It is ours to use.
    Run,
    /// It was used: the answer is [there](Leg::recorded) already.
    Repeat,
}

impl<'a> Leg<'a> {
    /// A request that brings no state.
    pub(crate) fn first(sealing: &'a Sealing, bound: Bound<'a>) -> Self {
        Self {
            settings: &sealing.settings,
            bound,
            opened: None,
            claimed: OnceLock::new(),
            loose: Mutex::default(),
            recorded: OnceLock::new(),
        }
    }

    /// Opens the state that a request brings.
    ///
    /// # Errors
    /// The one error for a state that is refused, or that it cannot be checked at present.
    pub(crate) async fn open(
        sealing: &'a Sealing,
        call: &raw::Call<'_>,
        bound: Bound<'a>,
        round: Round<'_>,
    ) -> Result<Self, Error> {
        let mut leg = Self::first(sealing, bound);
        let answers = round.answers()?;
        let Some(state) = round.state else {
            if !answers.is_empty() {
                let target = &*shown(bound.target);
                tracing::debug!(target, "answers came that nobody had asked for; ignored");
            }
            return Ok(leg);
        };
        let mut flow = None;
        match leg.try_open(call, state, &answers, &mut flow).await {
            Ok((claims, ledger, mut digester)) => {
                let answers = fingerprint(&ledger, &answers, &mut digester)?;
                leg.opened = Some(Box::new(Opened {
                    claims,
                    ledger,
                    answers,
                }));
                Ok(leg)
            }
            Err(trouble) => Err(leg.refuse(trouble, flow)),
        }
    }

    async fn try_open(
        &self,
        call: &raw::Call<'_>,
        state: &str,
        answers: &Answers<'_>,
        flow: &mut Option<Secret>,
    ) -> Result<(Claims, Ledger, Digester), Trouble> {
        let settings = self.settings;
        let payload = settings.protect.open(state, settings.longest).await?;
        let (claims, body) = Claims::read(payload.as_bytes())?;
        // Only now is it known that this is ours to tell.
        *flow = Some(claims.secret.clone());
        let principal = self.principal(call)?.ok_or(Refusal::NoPrincipal)?;
        let arguments = self
            .canonical_arguments()
            .map_err(|_| Refusal::AmbiguousArguments)?;
        let request = self.request(&arguments, &principal);
        let now = settings.now();
        let mut digester = claims.secret.digester();
        claims.check(&request, settings.audiences(), now, &mut digester)?;
        let ledger = match Body::read(body)? {
            Body::Ledger(ledger) => ledger,
            Body::Elsewhere(handle) => self.fetch(&handle, &claims.id).await?,
        };
        if !ledger.pending.is_empty() && !answers.keys().any(|key| ledger.asks(key)) {
            return Err(match answers.is_empty() {
                true => Refusal::NoAnswers,
                false => Refusal::UnsolicitedAnswers,
            }
            .into());
        }
        let unsolicited = answers.keys().filter(|key| !ledger.asks(key)).count();
        if unsolicited > 0 {
            let target = &*shown(self.bound.target);
            tracing::debug!(target, unsolicited, "answers nobody had asked for; ignored");
        }
        Ok((claims, ledger, digester))
    }

    /// A ledger that is kept in the spill.
    async fn fetch(&self, handle: &Handle, id: &StateId) -> Result<Ledger, Trouble> {
        let spill = self.settings.spill.as_deref().ok_or(Refusal::BodyMissing)?;
        let body = spill.get(handle, self.settings.now()).await;
        let body = body.map_err(|error| Trouble::Unavailable(format!("the spill is {error}")))?;
        let body = body.ok_or(Refusal::BodyMissing)?;
        let body = self.settings.protect.restore(&body_of(id), body).await?;
        match Body::read(&body)? {
            Body::Ledger(ledger) => Ok(ledger),
            Body::Elsewhere(_) => Err(Refusal::Contents.into()),
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

    fn canonical_arguments(&self) -> Result<Vec<u8>, antiphon_core::canonical::Ambiguous> {
        let arguments = self.bound.arguments.map_or("{}", RawValue::get);
        let mut bytes = Vec::with_capacity(arguments.len() + 16);
        canonical(arguments, &mut bytes)?;
        Ok(bytes)
    }

    /// Who calls; `None` if that is required and not known.
    fn principal(&self, call: &raw::Call<'_>) -> Result<Option<Vec<u8>>, Trouble> {
        let principal = call.principal();
        if let Some(principal) = principal
            && principal.subject.is_none()
            && !self.settings.told.no_subject.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(
                "the bearer verifier names no subject: states are bound to the client alone, and \
                 all its users can use each other's; see auth::Principal::subject"
            );
        }
        let bound = match &self.settings.bind {
            None => None,
            Some(bind) => match bind(call) {
                None => return Ok(None),
                some => some,
            },
        };
        let parts = [
            principal.and_then(|who| who.issuer.as_deref()),
            principal.and_then(|who| who.client.as_deref()),
            principal.and_then(|who| who.subject.as_deref()),
            bound.as_deref(),
        ];
        let mut bytes = Vec::new();
        claims::principal(&parts, &mut bytes);
        Ok(Some(bytes))
    }

    /// The author's state, if there is one.
    pub(crate) fn state(&self) -> Option<&str> {
        self.opened.as_ref()?.ledger.state.as_deref()
    }

    /// Whether a question is pending under this key.
    pub(crate) fn asked(&self, key: &str) -> bool {
        let opened = self.opened.as_ref();
        opened.is_some_and(|opened| opened.ledger.asks(key))
    }

    /// The keys that questions are pending under.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &str> {
        let pending = self.opened.iter().flat_map(|it| &it.ledger.pending);
        pending.map(String::as_str)
    }

    /// What the call is called in logs, if it was asked something before.
    pub(crate) fn flow(&self) -> Option<FlowId> {
        self.opened.as_ref().map(|opened| opened.flow())
    }

    /// Says why a state is not of the type that a handler wants.
    pub(crate) fn not_of_this_type(&self, error: &serde_json::Error) -> Error {
        let method = method_name(self.bound.method);
        not_of_this_type(method, self.bound.target, self.flow(), error)
    }

    /// Claims the state, if there is one: to be done last, just before the work begins. Once is
    /// enough.
    ///
    /// # Errors
    /// The one error if it was used before, or that it cannot be known at present.
    pub(crate) async fn claim(&self, call: &raw::Call<'_>) -> Result<Claimed, Error> {
        let (Some(opened), None) = (&self.opened, self.claimed.get()) else {
            return Ok(Claimed::Run);
        };
        match self.try_claim(opened, call).await {
            Ok(claimed) => Ok(claimed),
            Err(trouble) => Err(self.refuse(trouble, Some(opened.claims.secret.clone()))),
        }
    }

    async fn try_claim(&self, opened: &Opened, call: &raw::Call<'_>) -> Result<Claimed, Trouble> {
        let Some(guard) = self.settings.guard.guard() else {
            _ = self.claimed.set(None);
            return Ok(Claimed::Run);
        };
        // That of an attempt which a layer dropped, and asks by itself now.
        self.give_back().await;
        let holder = holder()?;
        let began = Instant::now();
        let mut pause = Duration::from_millis(5);
        loop {
            let now = self.settings.now();
            let claim = Claim {
                id: opened.claims.id,
                answers: opened.answers,
                holder,
                now,
                lease_until: now.after(LEASE),
                keep_until: opened.claims.expires.after(SKEW),
                take_over: self.settings.rerun,
            };
            // A claim that is granted to somebody who has left would be lost.
            let ran_to_end = call.hold();
            self.set_loose(Some(holder));
            let standing = guard.claim(&claim).await;
            let standing =
                standing.map_err(|error| Trouble::Unavailable(format!("the guard is {error}")))?;
            // A guard forgets what has expired, and this may have come late to it.
            if standing == Standing::Yours && self.settings.now() >= opened.claims.expires {
                return Err(Refusal::Expired.into());
            }
            self.set_loose(None);
            if standing != Standing::Yours && !ran_to_end {
                call.may_be_abandoned();
            }
            let other = |answers: Fingerprint| answers != opened.answers;
            match standing {
                Standing::Yours => {
                    _ = self.claimed.set(Some(holder));
                    return Ok(Claimed::Run);
                }
                Standing::Full => {
                    let full = "the guard is full: it remembers as many states as it may";
                    return Err(Trouble::Unavailable(full.to_owned()));
                }
                Standing::Running(answers)
                | Standing::Lost(answers)
                | Standing::Done(answers, _)
                    if other(answers) =>
                {
                    return Err(Refusal::OtherAnswers.into());
                }
                Standing::Lost(_) => return Err(Refusal::OutcomeUnknown.into()),
                _ if self.settings.replay == Replay::Refuse => {
                    return Err(Refusal::Replayed.into());
                }
                Standing::Done(_, None) => return Err(Refusal::AnswerNotKept.into()),
                Standing::Done(_, Some(answer)) => {
                    let answer = match self.settings.guard {
                        Guarding::Store(_) => {
                            let bound = answer_to(&opened.claims.id);
                            self.settings.protect.restore(&bound, answer).await?
                        }
                        _ => answer,
                    };
                    _ = self.recorded.set(answer);
                    return Ok(Claimed::Repeat);
                }
                Standing::Running(_) => {
                    if began.elapsed() >= self.settings.work {
                        return Err(Trouble::Busy);
                    }
                    tokio::time::sleep(pause).await;
                    pause = (2 * pause).min(Duration::from_millis(250));
                }
            }
        }
    }

    /// Runs the work, holding the claim meanwhile, and closes with its answer.
    pub(crate) async fn run<T: Outgoing>(
        &self,
        call: &raw::Call<'_>,
        work: impl Future<Output = Result<Reply<T>, Error>>,
    ) -> Result<Reply<T>, Error> {
        if self.brings_state() {
            let work = async {
                // A panic is an end like others, and must not look like work that goes on.
                let done = Caught(pin!(work)).await;
                let answer = done.unwrap_or_else(|panic| Err(panicked(call, &panic)));
                let answer = self.close(call, answer).await;
                self.give_back().await;
                answer
            };
            return self.holding(pin!(work)).await;
        }
        match work.await {
            Ok(Reply::InputRequired(input)) => {
                self.close(call, Ok(Reply::InputRequired(input))).await
            }
            answer => answer,
        }
    }

    /// Renews the claim, once there is one, until the work is done.
    async fn holding<T>(&self, mut work: Pin<&mut impl Future<Output = T>>) -> T {
        // Only work that has to wait pays for a timer.
        let mut renewing: Option<Pin<Box<dyn Future<Output = ()> + Send + '_>>> = None;
        poll_fn(|context| {
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(done);
            }
            if let (None, Some(Some(holder))) = (&renewing, self.claimed.get()) {
                renewing = Some(Box::pin(self.renew(*holder)));
            }
            if let Some(renewing) = &mut renewing {
                // It never ends.
                _ = renewing.as_mut().poll(context);
            }
            Poll::Pending
        })
        .await
    }

    async fn renew(&self, holder: Holder) {
        let (Some(opened), Some(guard)) = (&self.opened, self.settings.guard.guard()) else {
            return std::future::pending().await;
        };
        loop {
            tokio::time::sleep(LEASE / 3).await;
            let until = self.settings.now().after(LEASE);
            if let Err(error) = guard.renew(&opened.claims.id, &holder, until).await {
                tracing::warn!(%error, "a claim on a requestState could not be renewed");
            }
        }
    }

    /// Seals the questions of an answer, and records the answer if the state was claimed.
    ///
    /// # Errors
    /// Those of the answer; or that the state was used before, or cannot be sealed at present.
    async fn close<T: Outgoing>(
        &self,
        call: &raw::Call<'_>,
        answer: Result<Reply<T>, Error>,
    ) -> Result<Reply<T>, Error> {
        // Layers may have made something else of it, for the second time.
        if let Some(answer) = self.recorded() {
            return answer;
        }
        let (answer, ending) = match answer {
            Ok(Reply::InputRequired(input)) => {
                // Whoever asked without claiming must not make two calls out of one.
                self.claim(call).await?;
                if let Some(answer) = self.recorded() {
                    return answer;
                }
                match self.seal(call, &input).await {
                    Ok(state) => (Ok(Reply::InputRequired(input.with_state(state))), None),
                    // The client may have brought this about, and gets no second try by it.
                    Err(Unsealed::Request(error)) => (Err(error), None),
                    // Nothing was answered, so the same answers may try again.
                    Err(Unsealed::Trouble(trouble)) => {
                        let target = &*shown(self.bound.target);
                        tracing::error!(target, ?trouble, "questions could not be sealed");
                        (Err(unavailable()), Some(Ending::Released))
                    }
                }
            }
            answer => (answer, None),
        };
        match (
            &self.opened,
            self.claimed.get(),
            self.settings.guard.guard(),
        ) {
            (Some(opened), Some(Some(holder)), Some(guard)) => {
                self.record(guard, opened, holder, answer, ending).await
            }
            _ => answer,
        }
    }

    /// The answer that the state got when it was used before.
    pub(crate) fn recorded<T>(&self) -> Option<Result<Reply<T>, Error>> {
        let recorded = self.recorded.get()?;
        Some(record::read(recorded).unwrap_or_else(|| {
            tracing::error!("a recorded answer cannot be read");
            Err(unavailable())
        }))
    }

    /// Whether the request came with a state.
    pub(crate) fn brings_state(&self) -> bool {
        self.opened.is_some()
    }

    async fn record<T: Outgoing>(
        &self,
        guard: &dyn Guard,
        opened: &Opened,
        holder: &Holder,
        answer: Result<Reply<T>, Error>,
        ending: Option<Ending<'_>>,
    ) -> Result<Reply<T>, Error> {
        let id = &opened.claims.id;
        let keeps = self.settings.replay == Replay::Repeat && ending.is_none();
        let (answer, record) = match keeps {
            true => record::write(answer),
            false => (answer, None),
        };
        let record = record.filter(|record| record.len() <= self.settings.answer_bytes);
        let record = match (record, &self.settings.guard) {
            // Nothing rests in the clear outside this process.
            (Some(record), Guarding::Store(_)) => {
                let sealed = self.settings.protect.store(&answer_to(id), &record).await;
                sealed
                    .inspect_err(|trouble| tracing::warn!(?trouble, "an answer cannot be kept"))
                    .ok()
            }
            (record, _) => record,
        };
        let ending = ending.unwrap_or(match &record {
            Some(record) => Ending::Answered(record),
            None => Ending::Used,
        });
        if let Err(error) = guard.end(id, holder, ending).await {
            let flow = opened.flow();
            tracing::error!(%error, %flow, "how a call went on could not be recorded");
        }
        answer
    }

    fn set_loose(&self, holder: Option<Holder>) -> Option<Holder> {
        let mut loose = self.loose.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut loose, holder)
    }

    /// Gives back a claim that was granted too late, to somebody who did not hear of it, or was
    /// gone.
    async fn give_back(&self) {
        if let Some(holder) = self.set_loose(None)
            && let (Some(opened), Some(guard)) = (&self.opened, self.settings.guard.guard())
            && let Err(error) = guard
                .end(&opened.claims.id, &holder, Ending::Released)
                .await
        {
            tracing::debug!(%error, "a claim on a requestState could not be given back");
        }
    }

    async fn seal(&self, call: &raw::Call<'_>, input: &InputRequired) -> Result<String, Unsealed> {
        let settings = self.settings;
        let random: [u8; 44] = random()?;
        let (id, rest) = random.split_first_chunk().expect("16 of 44 bytes");
        let (secret, nonce) = rest.split_first_chunk().expect("16 of 28 bytes");
        let nonce: [u8; NONCE] = nonce.try_into().expect("12 bytes are left");
        let (id, now) = (StateId(*id), settings.now());
        let principal = self.principal(call)?.ok_or_else(|| {
            tracing::error!(
                "a caller of whom Sealing::bind_principal knows nothing cannot be asked anything"
            );
            Unsealed::Request(Error::internal("It is not known who is calling"))
        })?;
        let audience = settings.own_audience();
        let secret = match &self.opened {
            Some(opened) => opened.claims.secret.clone(),
            None => Secret::new(*secret),
        };
        let mut digester = secret.digester();
        let claims = match &self.opened {
            Some(opened) => opened
                .claims
                .next(audience, now, settings.ttl, id, &mut digester),
            None => {
                let arguments = self.canonical_arguments().map_err(|ambiguous| {
                    let text =
                        format!("The arguments can be read in more than one way: {ambiguous}");
                    Unsealed::Request(Error::invalid_params(text))
                })?;
                let life = Life {
                    now,
                    ttl: settings.ttl,
                    call: settings.call_deadline(),
                };
                let request = self.request(&arguments, &principal);
                Claims::first(&request, audience, life, id, secret, &mut digester)
            }
        };
        let mut draft = Draft::default();
        claims.write(draft.payload());
        write_ledger(input, draft.payload())?;
        if draft.sealed_len() > settings.budget
            && let Some(spill) = &settings.spill
        {
            let body = &draft.as_bytes()[claims::LENGTH..];
            let body = settings.protect.store(&body_of(&id), body).await?;
            let spilled = Spilled {
                handle: Handle(random_handle()?),
                owner: owner(audience, &principal),
                body: &body,
                now,
                keep_until: claims.expires.after(SKEW),
                quota: settings.quota,
            };
            match spill.put(&spilled).await {
                Ok(Kept::Kept) => {}
                Ok(refused) => return Err(refused_body(refused)),
                Err(error) => {
                    return Err(Trouble::Unavailable(format!("the spill is {error}")).into());
                }
            }
            draft = Draft::default();
            claims.write(draft.payload());
            Body::write_handle(spilled.handle, draft.payload());
        }
        if call.headers().is_some() {
            self.tell_about_process_key();
        }
        let state = settings.protect.seal(draft, nonce).await?;
        match state.len() > envelope::encoded_len(settings.longest) {
            true => {
                tracing::error!(
                    bytes = state.len(),
                    most = settings.longest,
                    "a state is too large; carry less, or give Sealing::spill a store"
                );
                Err(Unsealed::Request(too_large()))
            }
            false => Ok(state),
        }
    }

    fn tell_about_process_key(&self) {
        let settings = self.settings;
        if matches!(settings.protect, Protect::Process(_))
            && !settings.told.process_key.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(
                "questions are sealed under a random key of this process: an answer that reaches \
                 another replica, or this server after a restart, is refused; give Sealing::keys \
                 keys that all replicas have"
            );
        }
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
    fn flow(&self) -> FlowId {
        self.claims.secret.digester().flow()
    }
}

/// Stands for the answers to what was asked.
fn fingerprint(
    ledger: &Ledger,
    answers: &Answers<'_>,
    digester: &mut Digester,
) -> Result<Fingerprint, Error> {
    let mut bytes = Vec::with_capacity(64);
    for key in &ledger.pending {
        match answers.raw(key) {
            None => bytes.push(b'-'),
            Some(answer) => canonical(answer.get(), &mut bytes).map_err(|ambiguous| {
                Error::invalid_params(format!("`inputResponses` cannot be read: {ambiguous}"))
            })?,
        }
    }
    Ok(Fingerprint(digester.of(Of::Answers, &bytes)))
}

/// Why questions were not sealed.
enum Unsealed {
    /// The request is not one that can be asked about.
    Request(Error),
    Trouble(Trouble),
}

impl From<Trouble> for Unsealed {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

fn refused_body(refused: Kept) -> Unsealed {
    match refused {
        Kept::OverQuota => {
            tracing::warn!("a caller has too much in the spill; see Sealing::spill_quota");
            Unsealed::Request(Error::internal(
                "Too much is kept for this caller; try again later",
            ))
        }
        _ => {
            tracing::error!("the spill is full");
            Unsealed::Request(unavailable())
        }
    }
}

fn random_handle() -> Result<[u8; TAG], Trouble> {
    random()
}

/// Writes which questions are asked, and the author's state.
fn write_ledger(input: &InputRequired, out: &mut Vec<u8>) -> Result<(), Unsealed> {
    let too_large = |_| {
        tracing::error!("a state has parts of 16 MiB and more");
        Unsealed::Request(too_large())
    };
    for (key, _) in input.requests() {
        ledger::write_question(key, out).map_err(too_large)?;
    }
    match input.state() {
        Some(state) => ledger::write_state(state, out).map_err(too_large),
        None => Ok(()),
    }
}

/// The same for all that one principal leaves behind at one server.
fn owner(audience: &str, principal: &[u8]) -> Owner {
    let mut hash = Sha256::new();
    hash.update((audience.len() as u64).to_be_bytes());
    hash.update(audience);
    hash.update(principal);
    let hash: [u8; 32] = hash.finalize().into();
    let (owner, _) = hash.split_first_chunk().expect("16 of 32 bytes");
    Owner(*owner)
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

fn too_large() -> Error {
    Error::internal("The state of this call is too large")
}

fn unavailable() -> Error {
    Error::internal("The state of this call cannot be handled at present; try again")
}
