//! The work between a claim and its end, and what is remembered of it.

use std::{future::Future, pin::pin, time::Duration};

use antiphon_core::{
    negotiate::shown,
    seal::{
        guard::{Ending, Guard, Holder},
        memory::MemoryStore,
    },
};
use antiphon_types::InputRequired;
use bytes::Bytes;

use super::{Leg, Opened, seal::Unsealed, unavailable};
use crate::{
    engine::{answer::lacks_scopes, dispatch::panicked, unwind::Caught},
    raw::{self, Error, Outgoing, Reply},
    sealing::{Replay, protect::answer_to, record, sealing::Guarding},
};

/// No answer is held back for longer; what is between may take it for lost.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

impl Leg<'_> {
    /// Runs the work, holding the claim meanwhile, and closes with its answer.
    pub(crate) async fn run<T: Outgoing>(
        &self,
        call: &raw::Call<'_>,
        work: impl Future<Output = Result<Reply<T>, Error>>,
    ) -> Result<Reply<T>, Error> {
        // What few requests need is kept out of the future that all of them have.
        if self.brings_state() {
            let work = async {
                // A panic is an end like others, and must not look like work that goes on.
                let done = Caught(pin!(work)).await;
                let answer = done.unwrap_or_else(|panic| Err(panicked(call, &panic)));
                self.end_dialogue();
                let asks = matches!(answer, Ok(Reply::InputRequired(_)));
                let answer = match &self.settings.guard {
                    Guarding::Memory(store) if !asks => self.close_here(store, call, answer),
                    _ => Box::pin(self.close(call, answer)).await,
                };
                self.give_back().await;
                answer
            };
            return Box::pin(async { self.holding(pin!(work)).await }).await;
        }
        let answer = work.await;
        self.end_dialogue();
        // Awaited on a line of its own, so that the future has no room for the answer.
        let closing = match self.close_at_once(call, answer) {
            Ok(answer) => return answer,
            Err(input) => Box::pin(self.close(call, Ok(Reply::InputRequired(input)))),
        };
        closing.await
    }

    /// Closes a request that brought no state, if nothing has to be waited for.
    ///
    /// # Errors
    /// The questions, if something has.
    fn close_at_once<T>(
        &self,
        call: &raw::Call<'_>,
        answer: Result<Reply<T>, Error>,
    ) -> Result<Result<Reply<T>, Error>, InputRequired> {
        let input = match answer {
            Ok(Reply::InputRequired(input)) => input,
            answer => return Ok(answer),
        };
        if !self.seals_here() || self.pause().is_some() {
            return Err(input);
        }
        let sealed = match self.unfinished() {
            None => self.seal_here(call, &input),
            Some(error) => Err(Unsealed::Request(error)),
        };
        Ok(self.sealed(input, sealed).0)
    }

    /// Questions with their state, or why there is none; and what that means for the state which came
    /// with the request.
    fn sealed<T>(
        &self,
        input: InputRequired,
        sealed: Result<String, Unsealed>,
    ) -> (Result<Reply<T>, Error>, Option<Ending<'static>>) {
        match sealed {
            Ok(state) => (Ok(Reply::InputRequired(input.with_state(state))), None),
            // The client may have brought this about, and gets no second try by it.
            Err(Unsealed::Request(error)) => (Err(error), None),
            // Nothing was answered, so the same answers may try again; unless something was done
            // that would be done again.
            Err(Unsealed::Trouble(trouble)) => {
                let target = &*shown(self.bound.target);
                tracing::error!(target, ?trouble, "questions could not be sealed");
                let ending = match self.did_something() {
                    true => Ending::Used,
                    false => Ending::Released,
                };
                (Err(unavailable()), Some(ending))
            }
        }
    }

    /// Closes with an answer that asks nothing, where what is remembered is in this process.
    fn close_here<T: Outgoing>(
        &self,
        store: &MemoryStore,
        call: &raw::Call<'_>,
        answer: Result<Reply<T>, Error>,
    ) -> Result<Reply<T>, Error> {
        if let Some(answer) = self.recorded() {
            return answer;
        }
        let Some((opened, holder)) = self.claimed() else {
            return answer;
        };
        let ending = self.ending(call, &answer);
        let (answer, record) = self.written(answer, ending.is_none());
        let ending = ending.unwrap_or(match &record {
            Some(record) => Ending::Answered(record),
            None => Ending::Used,
        });
        store.end_now(&opened.claims.id, holder, ending);
        answer
    }

    /// The state that is claimed, and by whom.
    fn claimed(&self) -> Option<(&Opened, &Holder)> {
        let opened = self.opened.as_deref()?;
        Some((opened, opened.claimed.get()?.as_ref()?))
    }

    /// How a claim ends because of an answer that asks nothing, if not with what is written of it.
    fn ending<T>(
        &self,
        call: &raw::Call<'_>,
        answer: &Result<Reply<T>, Error>,
    ) -> Option<Ending<'static>> {
        let again = match answer {
            // Another token may do, for the same call.
            Err(error) if lacks_scopes(error, call) && !self.did_something() => true,
            _ => self.begun_dialogue().is_some_and(|it| it.may_try_again()),
        };
        again.then_some(Ending::Released)
    }

    /// An answer, and what is written of it to be given again, if anything is.
    fn written<T: Outgoing>(
        &self,
        answer: Result<Reply<T>, Error>,
        keeps: bool,
    ) -> (Result<Reply<T>, Error>, Option<Bytes>) {
        let (answer, record) = match keeps && self.settings.replay == Replay::Repeat {
            true => record::write(answer),
            false => (answer, None),
        };
        (
            answer,
            record.filter(|record| record.len() <= self.settings.answer_bytes),
        )
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
                // Apart, because it is large, and most answers ask nothing more.
                let sealed = Box::pin(async {
                    // Whoever asked without claiming must not make two calls out of one.
                    self.claim(call).await?;
                    if self.recorded::<T>().is_some() {
                        return Ok(None);
                    }
                    if let Some(span) = self.pause() {
                        tokio::time::sleep(span).await;
                    }
                    Ok(Some(match self.unfinished() {
                        None => self.seal(call, &input).await,
                        Some(error) => Err(Unsealed::Request(error)),
                    }))
                });
                match (sealed.await?, self.recorded()) {
                    (Some(sealed), _) => self.sealed(input, sealed),
                    (None, Some(answer)) => return answer,
                    (None, None) => return Err(unavailable()),
                }
            }
            answer => {
                let ending = self.ending(call, &answer);
                (answer, ending)
            }
        };
        match (self.claimed(), self.settings.guard.guard()) {
            (Some((opened, holder)), Some(guard)) => {
                self.record(guard, opened, holder, answer, ending).await
            }
            _ => answer,
        }
    }

    /// Whether something would be done again if this were run again: what no journal has, or what was
    /// done upon a yes.
    fn did_something(&self) -> bool {
        let journal = self.settings.journal.is_some();
        self.begun_dialogue()
            .is_some_and(|it| it.has_confirmed() || (it.has_done() && !journal))
    }

    /// Work may have been left by a layer that asks in place of the handler.
    fn unfinished(&self) -> Option<Error> {
        let key = self.begun_dialogue()?.unfinished()?;
        tracing::error!(key, "the work of `once` was left, and would be done again");
        let text = format!("Internal error: the work of `{key}` was begun and left");
        Some(Error::internal(text))
    }

    /// How long an answer is held back that asks nothing but to come back later: so a client that
    /// comes back at once does not do so all the time.
    fn pause(&self) -> Option<Duration> {
        let span = self.begun_dialogue()?.later()?;
        Some(span.min(LONGEST_PAUSE))
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
        let (answer, record) = self.written(answer, ending.is_none());
        let record = match (record, &self.settings.guard) {
            // Nothing rests in the clear outside this process.
            (Some(record), Guarding::Store(_)) => {
                let sealed = self.settings.protect.store(&answer_to(id), &record).await;
                sealed
                    .inspect_err(|trouble| tracing::warn!(?trouble, "an answer cannot be kept"))
                    .ok()
                    .map(Bytes::from)
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
}
