//! The work between a claim and its end, and what is remembered of it.

use std::{future::Future, pin::pin, time::Duration};

use antiphon_core::{
    negotiate::shown,
    seal::guard::{Ending, Guard, Holder},
};

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
                let answer = self.close(call, answer).await;
                self.give_back().await;
                answer
            };
            return Box::pin(async { self.holding(pin!(work)).await }).await;
        }
        let answer = work.await;
        self.end_dialogue();
        match answer {
            Ok(Reply::InputRequired(input)) => {
                Box::pin(self.close(call, Ok(Reply::InputRequired(input)))).await
            }
            answer => answer,
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
                self.pause().await;
                let sealed = match self.unfinished() {
                    None => self.seal(call, &input).await,
                    Some(error) => Err(Unsealed::Request(error)),
                };
                match sealed {
                    Ok(state) => (Ok(Reply::InputRequired(input.with_state(state))), None),
                    // The client may have brought this about, and gets no second try by it.
                    Err(Unsealed::Request(error)) => (Err(error), None),
                    // Nothing was answered, so the same answers may try again; unless something
                    // was done that would be done again.
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
            // Another token may do, for the same call.
            Err(error) if lacks_scopes(&error, call) && !self.did_something() => {
                (Err(error), Some(Ending::Released))
            }
            answer => {
                let again = self.begun_dialogue().is_some_and(|it| it.may_try_again());
                (answer, again.then_some(Ending::Released))
            }
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

    /// Holds back an answer that asks nothing but to come back later: so a client that comes back
    /// at once does not do so all the time.
    async fn pause(&self) {
        let dialogue = self.begun_dialogue();
        if let Some(span) = dialogue.and_then(|dialogue| dialogue.later()) {
            tokio::time::sleep(span.min(LONGEST_PAUSE)).await;
        }
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
}
