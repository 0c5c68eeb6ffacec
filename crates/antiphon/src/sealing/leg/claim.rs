//! A state is used: once, by whoever is first.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::PoisonError,
    task::Poll,
    time::{Duration, Instant},
};

use antiphon_core::seal::{
    claims::SKEW,
    guard::{Claim, Ending, Fingerprint, Holder, LEASE, Standing},
    refusal::Refusal,
};

use super::{Leg, Opened, journal::SHORTEST};
use crate::{
    raw::{self, Error},
    sealing::{
        Replay,
        protect::{Trouble, answer_to},
        sealing::{Guarding, holder},
    },
};

/// How it stands with a state that was presented.
pub(crate) enum Claimed {
    /// It is ours to use.
    Run,
    /// It was used: the answer is [there](Leg::recorded) already.
    Repeat,
}

/// Renews something, for ever.
pub(super) type Renewing<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

impl Leg<'_> {
    /// Claims the state, if there is one: to be done last, just before the work begins. Once is
    /// enough.
    ///
    /// # Errors
    /// The one error if it was used before, or that it cannot be known at present.
    pub(crate) async fn claim(&self, call: &raw::Call<'_>) -> Result<Claimed, Error> {
        let Some(opened) = self.opened.as_deref() else {
            return Ok(Claimed::Run);
        };
        if opened.claimed.get().is_some() {
            return Ok(Claimed::Run);
        }
        // Nearly always nobody else is at it.
        let _claiming = match opened.claiming.try_lock() {
            Ok(claiming) => claiming,
            Err(_) => opened.claiming.lock().await,
        };
        if opened.claimed.get().is_some() {
            return Ok(Claimed::Run);
        }
        match self.try_claim(opened, call).await {
            Ok(claimed) => {
                if let (Claimed::Run, Some(dialogue)) = (&claimed, self.begun_dialogue()) {
                    dialogue.set_claimed();
                }
                Ok(claimed)
            }
            Err(trouble) => Err(self.refuse(trouble, Some(opened.claims.secret.clone()))),
        }
    }

    async fn try_claim(&self, opened: &Opened, call: &raw::Call<'_>) -> Result<Claimed, Trouble> {
        // Nobody else can bring what never left this process. Once the answers are used, the call
        // runs to its end, as it does where they are claimed.
        if call.aside.is_some() {
            call.run_to_end();
            _ = opened.claimed.set(None);
            return Ok(Claimed::Run);
        }
        let Some(guard) = self.settings.guard.guard() else {
            // A step that is left in the middle would be one of which nobody knows.
            if self.settings.journal.is_some() {
                call.run_to_end();
            }
            _ = opened.claimed.set(None);
            return Ok(Claimed::Run);
        };
        // That of an attempt which a layer dropped, and asks by itself now.
        self.give_back().await;
        let holder = holder()?;
        let mut waiting_since = None;
        let mut pause = SHORTEST;
        let mut take_over = false;
        loop {
            let now = self.settings.now();
            let claim = Claim {
                id: opened.claims.id,
                answers: opened.answers,
                holder,
                now,
                lease_until: now.after(LEASE),
                keep_until: opened.claims.expires.after(SKEW),
                take_over,
            };
            // A claim that is granted to somebody who has left would be lost.
            let ran_to_end = call.hold();
            opened.set_loose(Some(holder));
            let standing = match &self.settings.guard {
                Guarding::Memory(store) => store.claim_now(&claim),
                _ => guard
                    .claim(&claim)
                    .await
                    .map_err(|error| Trouble::Unavailable(format!("the guard is {error}")))?,
            };
            // A guard forgets what has expired, and this may have come late to it.
            if standing == Standing::Yours && self.settings.now() >= opened.claims.expires {
                return Err(Refusal::Expired.into());
            }
            opened.set_loose(None);
            if standing != Standing::Yours && !ran_to_end {
                call.may_be_abandoned();
            }
            let other = |answers: Fingerprint| answers != opened.answers;
            match standing {
                Standing::Yours => {
                    _ = opened.claimed.set(Some(holder));
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
                Standing::Lost(_) if self.settings.rerun && !take_over => {
                    let flow = opened.flow();
                    tracing::warn!(%flow, "a call runs again, as who ran it was not heard of again");
                    take_over = true;
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
                    _ = opened.recorded.set(answer);
                    return Ok(Claimed::Repeat);
                }
                Standing::Running(_) => {
                    let since = waiting_since.get_or_insert_with(Instant::now);
                    if since.elapsed() >= self.settings.work {
                        return Err(Trouble::Busy);
                    }
                    if pause == SHORTEST {
                        let flow = opened.flow();
                        tracing::info!(%flow, "a state is being used elsewhere: waiting for that");
                    }
                    tokio::time::sleep(pause).await;
                    pause = (2 * pause).min(Duration::from_millis(250));
                }
            }
        }
    }

    /// Renews the claim, once there is one, until the work is done.
    pub(super) async fn holding<T>(&self, work: Pin<&mut impl Future<Output = T>>) -> T {
        meanwhile(work, || {
            let opened = self.opened.as_deref()?;
            let holder = (*opened.claimed.get()?)?;
            Some(Box::pin(self.renew(opened, holder)))
        })
        .await
    }

    async fn renew(&self, opened: &Opened, holder: Holder) {
        let Some(guard) = self.settings.guard.guard() else {
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

    /// Gives back a claim that was granted too late, to somebody who did not hear of it, or was
    /// gone.
    pub(super) async fn give_back(&self) {
        if let Some(opened) = self.opened.as_deref()
            && let Some(holder) = opened.set_loose(None)
            && let Some(guard) = self.settings.guard.guard()
            && let Err(error) = guard
                .end(&opened.claims.id, &holder, Ending::Released)
                .await
        {
            tracing::debug!(%error, "a claim on a requestState could not be given back");
        }
    }
}

impl Opened {
    fn set_loose(&self, holder: Option<Holder>) -> Option<Holder> {
        let mut loose = self.loose.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut loose, holder)
    }
}

/// Does the work, and renews meanwhile, as soon as there is something to renew.
pub(super) async fn meanwhile<'a, T>(
    mut work: Pin<&mut impl Future<Output = T>>,
    renew: impl Fn() -> Option<Renewing<'a>>,
) -> T {
    // Only work that has to wait pays for a timer.
    let mut renewing = None;
    poll_fn(|context| {
        if let Poll::Ready(done) = work.as_mut().poll(context) {
            return Poll::Ready(done);
        }
        if renewing.is_none() {
            renewing = renew();
        }
        if let Some(renewing) = &mut renewing {
            // It never ends.
            _ = renewing.as_mut().poll(context);
        }
        Poll::Pending
    })
    .await
}
