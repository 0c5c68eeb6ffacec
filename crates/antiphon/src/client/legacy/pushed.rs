//! What a server asks of its own accord: requests that come as messages of their own, answered by
//! the same callbacks as the questions of today (SHIM-C-01, SHIM-C-02).
//!
//! A server is always told something, and the call goes on. A callback that refuses, fails or
//! takes too long comes to `cancel` for the user; for the model to an error, of code -1 if it
//! was refused (LFEAT-C-04). What ends the call instead is told as well: questions that only the
//! caller can answer, those that the client's hook refuses, and those of too many rounds.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use antiphon_types::{
    ClientCapabilities, ErrorObject, InputRequest, InputRequired, RequestId, Version,
};
use serde_json::{json, value::RawValue};
use tokio::{
    task::JoinSet,
    time::{Instant, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{
    Speaking,
    calls::{Call, Hold},
    replies::{Answer, declined, failed, late, not_pausable, older, read, response},
};
use crate::client::{
    Error, ErrorKind, Target,
    asking::{Failure, ask},
    drive::unsupported,
    question::{About, Round},
    shared::{Shared, after},
};
use crate::excerpt::word;

/// Most requests of a server's that are answered at once; a server that sends more is out to keep
/// us busy.
const AT_ONCE: usize = 100;

/// Their bytes.
const AT_ONCE_BYTES: usize = 64 * 1024 * 1024;

/// The requests of a server's that are not answered yet.
#[derive(Default)]
pub(super) struct Pushed {
    open: Mutex<HashMap<RequestId, CancellationToken>>,
    load: Arc<Load>,
}

/// How many there are.
#[derive(Default)]
struct Load {
    count: AtomicUsize,
    bytes: AtomicUsize,
}

/// One request of a server's, as long as it is not answered.
struct Busy {
    load: Arc<Load>,
    bytes: usize,
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.load.count.fetch_sub(1, Ordering::Relaxed);
        self.load.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Pushed {
    /// A request of so many bytes begins; beside it, how often there are as many as there may be.
    fn enter(&self, bytes: usize) -> (Busy, usize) {
        let load = self.load.clone();
        let count = load.count.fetch_add(1, Ordering::Relaxed);
        let total = load.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let times = (count / AT_ONCE).max(total / AT_ONCE_BYTES);
        (Busy { load, bytes }, times)
    }

    /// A question is put; `None` if one of that id is open already.
    fn open(&self, id: &RequestId) -> Option<CancellationToken> {
        let mut open = self.lock();
        if open.contains_key(id) {
            return None;
        }
        let token = CancellationToken::new();
        open.insert(id.clone(), token.clone());
        Some(token)
    }

    /// The server does not want an answer any more; `false` if it has it, or never asked.
    pub(super) fn withdraw(&self, id: &RequestId) -> bool {
        let open = self.lock().remove(id);
        open.is_some_and(|open| {
            open.cancel();
            true
        })
    }

    /// Nothing is answered any more: whoever asked is gone.
    pub(super) fn withdraw_all(&self) {
        for (_, open) in self.lock().drain() {
            open.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, CancellationToken>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a server gets for a question that nobody is asked.
struct Unasked {
    answer: Answer,
    /// The call that ends with it.
    ends: Option<Arc<Call>>,
    hold: Option<Hold>,
}

impl Unasked {
    fn with(answer: Answer) -> Self {
        Self {
            answer,
            ends: None,
            hold: None,
        }
    }

    fn because(error: ErrorObject) -> Self {
        Self::with(Err(error))
    }
}

/// A question, and all that it takes to ask it.
struct Putting {
    question: InputRequest,
    about: About,
    call: Option<Arc<Call>>,
    hold: Hold,
}

impl Shared {
    /// Sees to a request of the server's; `false` if it is none that can be answered.
    pub(super) fn pushed(
        &self,
        raw_id: &RawValue,
        method: &str,
        params: Option<&RawValue>,
        call: Option<Arc<Call>>,
        speaking: &Arc<Speaking>,
    ) -> bool {
        let Some(id) = RequestId::from_raw(raw_id.get()) else {
            return false;
        };
        let params_bytes = params.map_or(0, |params| params.get().len());
        let bytes = raw_id.get().len() + method.len() + params_bytes;
        let (busy, times) = self.session.pushed.enter(bytes);
        if times >= 2 {
            tracing::warn!("the server asks faster than it can be told that it does");
            return false;
        }
        if times >= 1 {
            let error = ErrorObject::internal("Too many requests at once");
            self.respond(busy, raw_id, Unasked::because(error), speaking.version);
            return true;
        }
        // LEG-S-02: before the handshake is done, only pings are to be expected.
        let considered = match method {
            "ping" => Err(Unasked::with(Ok(json!({})))),
            _ if !speaking.settled => {
                let error = ErrorObject::invalid_request("The session has not begun");
                Err(Unasked::because(error))
            }
            _ => self
                .considered(&id, method, params, call, speaking)
                .map_err(|unasked| *unasked),
        };
        match considered {
            Err(unasked) => self.respond(busy, raw_id, unasked, speaking.version),
            Ok(putting) => {
                let Some(withdrawn) = self.session.pushed.open(&id) else {
                    tracing::warn!("the server asks twice under one id");
                    return false;
                };
                self.put(busy, raw_id, id, putting, withdrawn, speaking.clone());
            }
        }
        true
    }

    /// What to ask, or else the answer.
    fn considered(
        &self,
        id: &RequestId,
        method: &str,
        params: Option<&RawValue>,
        call: Option<Arc<Call>>,
        speaking: &Speaking,
    ) -> Result<Putting, Box<Unasked>> {
        let question = read(method, params).map_err(Unasked::because)?;
        if let Some(error) = self.undeclared(&question, &speaking.capabilities) {
            return Err(Unasked::because(error).into());
        }
        let call = match call {
            None if self.on_one_channel() => self.session.calls.only(),
            call => call,
        };
        let key = match id.as_str() {
            Some(text) => text.to_owned(),
            None => id.to_string(),
        };
        let held = match &call {
            Some(call) => call.hold(&key, &question),
            None => Ok((self.session.calls.hold_all(), 1)),
        };
        let stopped = |error: Error, hold: Option<Hold>| {
            doom(call.as_deref(), error);
            Box::new(Unasked {
                answer: declined(&question),
                ends: call.clone(),
                hold,
            })
        };
        let (hold, round) = held.map_err(|error| stopped(error, None))?;
        let target = match &call {
            Some(call) => call.target.clone(),
            None => Arc::new(Target::unknown()),
        };
        let tag = call.as_ref().and_then(|call| call.tag.clone());
        let seen = self.inspected(&key, &question, &target, tag.as_deref(), round);
        if let Err(error) = seen {
            return Err(stopped(error, Some(hold)));
        }
        if !self.client.handlers.answer(&question) {
            let error = not_pausable(key, &question, speaking.version);
            return Err(stopped(error, Some(hold)));
        }
        let human = self.client.clocks.human;
        let human = call.as_ref().map_or(human, |call| call.human);
        let about = About::first(
            key,
            round,
            self.identity.clone(),
            (target, tag),
            CancellationToken::new(),
            after(Instant::now(), human),
        );
        Ok(Putting {
            question,
            about,
            call,
            hold,
        })
    }

    /// Shows a question to whoever wants to see it first.
    fn inspected(
        &self,
        key: &str,
        question: &InputRequest,
        call: &Target,
        tag: Option<&str>,
        round: u32,
    ) -> Result<(), Error> {
        let Some(inspect) = &self.client.on_round else {
            return Ok(());
        };
        let asked = InputRequired::ask(key, question.clone());
        let seen = Round {
            call,
            tag,
            server: &self.identity,
            round,
            asked: &asked,
        };
        // It runs where the server is listened to, which must go on.
        let seen = catch_unwind(AssertUnwindSafe(|| inspect(&seen)));
        let seen = seen.unwrap_or_else(|_| Err("the hook panicked".into()));
        seen.map_err(|why| {
            let message = format!("the question `{}` is refused", word(key));
            Error::new(ErrorKind::Stopped { round }, message).caused_by(why)
        })
    }

    /// Why a question may not be asked. What was not declared is no request for this client; a mode
    /// of elicitation beside the one that was has a code of its own (LFEAT-C-05).
    fn undeclared(
        &self,
        question: &InputRequest,
        declared: &ClientCapabilities,
    ) -> Option<ErrorObject> {
        let why = unsupported(&self.client, declared, question)?;
        Some(match question {
            InputRequest::Elicit(_) if declared.elicitation.is_some() => {
                ErrorObject::invalid_params(why)
            }
            _ => ErrorObject::invalid_request(why),
        })
    }

    /// Asks, on a task of its own.
    fn put(
        &self,
        busy: Busy,
        raw_id: &RawValue,
        id: RequestId,
        putting: Putting,
        withdrawn: CancellationToken,
        speaking: Arc<Speaking>,
    ) {
        let Putting {
            question,
            about,
            call,
            hold,
        } = putting;
        let deadline = Instant::from_std(about.deadline);
        let key = about.key.clone();
        let over = about.cancelled.clone().drop_guard();
        let (me, raw_id, version) = (self.me.clone(), raw_id.to_owned(), speaking.version);
        let (closed, handlers) = (self.closed.clone(), self.client.handlers.clone());
        let span = tracing::debug_span!("mcp.pushed", method = question.method());
        let putting = async move {
            let mut callback = JoinSet::new();
            callback.spawn(ask(handlers, question.clone(), about, None).in_current_span());
            let given_up = async {
                match &call {
                    Some(call) => call.given_up.cancelled().await,
                    None => std::future::pending().await,
                }
            };
            let answer = tokio::select! {
                biased;
                // Nobody waits for the answer.
                () = withdrawn.cancelled() => return,
                () = closed.cancelled() => return,
                () = given_up => declined(&question),
                answered = timeout_at(deadline, callback.join_next()) => match answered {
                    Ok(Some(Ok(Ok(Some(answer))))) => Ok(older(answer, version)),
                    Ok(Some(Ok(Ok(None)))) => {
                        doom(call.as_deref(), not_pausable(key, &question, version));
                        declined(&question)
                    }
                    Ok(Some(Ok(Err(failure)))) => failed(&question, &failure),
                    Ok(Some(Err(panic))) => {
                        tracing::error!(%panic, "a callback panicked");
                        failed(&question, &Failure::Refused(panic.into()))
                    }
                    Ok(None) => declined(&question),
                    Err(_) => {
                        tracing::warn!("a question was not answered in time");
                        late(&question)
                    }
                },
            };
            drop((over, callback));
            let Some(shared) = me.upgrade() else {
                return;
            };
            let is_open = shared.session.pushed.lock().remove(&id).is_some();
            // Another session did not ask that.
            if !is_open || !shared.session.still_speaks(&speaking) {
                return;
            }
            let answering = shared.send_response(&raw_id, answer, version);
            then(answering, || drop(hold)).await;
            drop(busy);
        };
        tokio::spawn(putting.instrument(span));
    }

    /// Answers, on a task of its own.
    fn respond(&self, busy: Busy, id: &RawValue, unasked: Unasked, version: Version) {
        let (me, id) = (self.me.clone(), id.to_owned());
        let Unasked { answer, ends, hold } = unasked;
        tokio::spawn(async move {
            let answering = async {
                if let Some(shared) = me.upgrade() {
                    shared.send_response(&id, answer, version).await;
                }
            };
            let goes_on = || {
                drop(hold);
                if let Some(call) = ends {
                    call.wake();
                }
            };
            then(answering, goes_on).await;
            drop(busy);
        });
    }

    async fn send_response(&self, id: &RawValue, answer: Answer, version: Version) {
        if let Err(error) = self.tell(version, response(id, &answer)).await {
            tracing::warn!(%error, "an answer was not sent");
        }
    }
}

/// How long the caller of a call that ends is kept, so that the server is told first.
const TOLD_FIRST: Duration = Duration::from_secs(1);

/// The server is answered, then the call goes on; at once, if the server does not listen.
async fn then(answering: impl Future<Output = ()>, goes_on: impl FnOnce()) {
    tokio::pin!(answering);
    let told = timeout(TOLD_FIRST, &mut answering).await;
    goes_on();
    if told.is_err() {
        answering.await;
    }
}

/// Ends the call that a question is asked for, if that is known.
fn doom(call: Option<&Call>, error: Error) {
    tracing::debug!(%error, "a question has no answer here");
    match call {
        Some(call) => call.doom(error),
        None => tracing::warn!(%error, "a question that belongs to no call"),
    }
}
