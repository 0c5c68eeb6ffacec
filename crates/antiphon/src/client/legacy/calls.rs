//! The calls in flight. While somebody is asked on behalf of one, its work clock stands still.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use antiphon_types::{InputRequest, InputRequired};
use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{Session, Speaking, lock};
use crate::client::{
    Client, Error, ErrorKind, Target,
    shared::{Leg, WorkClock},
};

/// The calls in flight, by id.
#[derive(Default)]
pub(super) struct Calls(Mutex<HashMap<i64, Arc<Call>>>);

/// A call in flight, as questions see it.
pub(super) struct Call {
    pub(super) target: Arc<Target>,
    pub(super) tag: Option<String>,
    pub(super) human: Duration,
    max_rounds: u32,
    state: watch::Sender<State>,
    stopped: Mutex<Option<Error>>,
    /// Nobody waits for its result any more.
    pub(super) given_up: CancellationToken,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// Questions that somebody is asked.
    open: u32,
    /// How often a question came while there was none.
    round: u32,
    stopped: bool,
}

impl Call {
    /// Counts a question, and the round if it begins one: which that is, or `None` when these are
    /// more rounds than are allowed.
    fn enter(&self) -> Option<u32> {
        let mut round = 0;
        let allowed = self.state.send_if_modified(|state| {
            round = state.round + u32::from(state.open == 0);
            let allowed = round <= self.max_rounds;
            if allowed {
                state.round = round;
                state.open += 1;
            }
            allowed
        });
        allowed.then_some(round)
    }

    /// Its clock stands still for as long as what this gives; beside that, the round.
    ///
    /// # Errors
    /// When these are more rounds than are allowed: the question, unanswered.
    pub(super) fn hold(
        self: &Arc<Self>,
        key: &str,
        question: &InputRequest,
    ) -> Result<(Hold, u32), Error> {
        if let Some(round) = self.enter() {
            return Ok((Hold(vec![self.clone()]), round));
        }
        let message = format!("the server asks in more than {} rounds", self.max_rounds);
        let last = Box::new(InputRequired::ask(key, question.clone()));
        Err(Error::new(ErrorKind::RoundsExceeded(last), message))
    }

    /// Whatever comes of the call, it ends with this error. Its caller hears of it when it is
    /// [woken](Self::wake), so that the server hears first.
    pub(super) fn doom(&self, error: Error) {
        lock(&self.stopped).get_or_insert(error);
        self.state.send_if_modified(|state| {
            state.stopped = true;
            false
        });
    }

    /// Has its caller look whether the call ends.
    pub(super) fn wake(&self) {
        self.state.send_modify(|_| {});
    }
}

/// Clocks that stand still.
pub(super) struct Hold(Vec<Arc<Call>>);

impl Drop for Hold {
    fn drop(&mut self) {
        for call in &self.0 {
            call.state.send_modify(|state| state.open -= 1);
        }
    }
}

impl Calls {
    /// The only call in flight.
    pub(super) fn only(&self) -> Option<Arc<Call>> {
        let calls = lock(&self.0);
        let mut calls = calls.values();
        match (calls.next(), calls.next()) {
            (Some(only), None) => Some(only.clone()),
            _ => None,
        }
    }

    /// The clocks of all calls stand still: whose question it is cannot be known. It counts as a
    /// round for each, and those that had all of theirs go on.
    pub(super) fn hold_all(&self) -> Hold {
        let calls: Vec<_> = lock(&self.0).values().cloned().collect();
        let held = calls.into_iter().filter(|call| call.enter().is_some());
        Hold(held.collect())
    }
}

/// A call in flight, as its caller sees it.
pub(in crate::client) struct Running {
    id: i64,
    pub(super) call: Arc<Call>,
    calls: Arc<Calls>,
    /// The session it began in.
    session: Option<Arc<Speaking>>,
    answered: bool,
}

impl Running {
    /// There is a response: whatever was asked for the call may still be answered.
    pub(in crate::client) fn answered(mut self) {
        self.answered = true;
    }

    /// Whether it began in this session: nothing that it is asked in another one's stream can be
    /// answered in this.
    pub(super) fn is_of(&self, speaking: &Arc<Speaking>) -> bool {
        let began = self.session.as_ref();
        began.is_some_and(|began| Arc::ptr_eq(began, speaking))
    }

    async fn limit<T>(
        &self,
        clock: &mut WorkClock<'_>,
        waiting: impl Future<Output = T>,
    ) -> Result<T, Error> {
        tokio::pin!(waiting);
        let mut state = self.call.state.subscribe();
        let got = loop {
            let now = *state.borrow_and_update();
            if now.stopped {
                return Err(self.why_stopped());
            }
            if now.open == 0 {
                tokio::select! {
                    biased;
                    got = clock.limit(&mut waiting) => break got,
                    _ = state.changed() => {}
                }
                continue;
            }
            let since = Instant::now();
            let got = tokio::select! {
                biased;
                got = &mut waiting => Some(got),
                _ = state.changed() => None,
            };
            clock.hold(since.elapsed());
            if let Some(got) = got {
                break Ok(got);
            }
        };
        // What a fast server makes of a question that ends the call is no result of the call.
        match state.borrow().stopped {
            true => Err(self.why_stopped()),
            false => got,
        }
    }

    fn why_stopped(&self) -> Error {
        let error = lock(&self.call.stopped).take();
        error.unwrap_or_else(Error::cancelled)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        lock(&self.calls.0).remove(&self.id);
        if !self.answered {
            self.call.given_up.cancel();
        }
    }
}

/// Waits no longer than the clock allows, which stands still while somebody is asked.
pub(in crate::client) async fn limit<T>(
    running: Option<&Running>,
    clock: &mut WorkClock<'_>,
    waiting: impl Future<Output = T>,
) -> Result<T, Error> {
    match running {
        None => clock.limit(waiting).await,
        Some(running) => running.limit(clock, waiting).await,
    }
}

impl Session {
    /// A call begins, if it is one and the server is an older one.
    pub(in crate::client) fn began(
        &self,
        client: &Client,
        leg: &Leg<'_>,
        id: i64,
    ) -> Option<Running> {
        let target = leg.call.filter(|_| !leg.version.is_modern())?;
        let options = leg.options;
        let call = Arc::new(Call {
            target: Arc::new(target.clone()),
            tag: options.tag.clone(),
            human: options.human.unwrap_or(client.clocks.human),
            max_rounds: options.max_rounds.unwrap_or(client.max_rounds),
            state: watch::Sender::default(),
            stopped: Mutex::default(),
            given_up: CancellationToken::new(),
        });
        lock(&self.calls.0).insert(id, call.clone());
        Some(Running {
            id,
            call,
            calls: self.calls.clone(),
            session: self.speaking(),
            answered: false,
        })
    }
}
