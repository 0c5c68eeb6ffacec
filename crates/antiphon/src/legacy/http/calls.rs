//! [`Calls`]: what one POST runs, one call or those of a batch, until it is known how it is
//! answered.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use antiphon_core::write;
use antiphon_types::ErrorObject;
use tokio::time::{Sleep, sleep};

use super::hosted::{Hosted, Present};
use crate::engine::{answer::Answer, outbox::Outbox, running::Running, unattended::Unattended};

/// After so much silence a client is told that somebody is there, which only a stream can.
const SILENCE: Duration = Duration::from_secs(1);

/// The calls of one POST.
pub(crate) struct Calls {
    pub(super) slots: Vec<Slot>,
    /// Their session, if there are such.
    pub(super) hosted: Option<Arc<Hosted>>,
    /// The connection on which the client waits for them.
    _present: Option<Present>,
    silence: Option<Pin<Box<Sleep>>>,
    batch: bool,
}

/// One call.
pub(super) struct Slot {
    /// Until it is over.
    pub(super) running: Option<Running>,
    pub(super) outbox: Arc<Outbox>,
    pub(super) answer: Option<Answer>,
    /// Whether all is said that will be.
    pub(super) settled: bool,
}

/// How a POST is answered.
pub(crate) enum Turn {
    /// At once.
    Whole(Answer),
    /// With events.
    Stream,
    /// Not at all: the client wants no answer any more.
    Silent,
}

impl Calls {
    /// One call of a session's.
    pub(crate) fn one(running: Running, hosted: Arc<Hosted>) -> Self {
        Self::of(Slot::new(running), hosted)
    }

    /// One call of a session's that is over.
    pub(crate) fn over(answer: Answer, outbox: Arc<Outbox>, hosted: Arc<Hosted>) -> Self {
        let slot = Slot {
            running: None,
            outbox,
            answer: Some(answer),
            settled: false,
        };
        Self::of(slot, hosted)
    }

    fn of(slot: Slot, hosted: Arc<Hosted>) -> Self {
        Self {
            slots: vec![slot],
            _present: Some(hosted.present()),
            hosted: Some(hosted),
            silence: None,
            batch: false,
        }
    }

    /// Those of a batch.
    pub(crate) fn batch(calls: Vec<Running>, hosted: Option<Arc<Hosted>>) -> Self {
        if hosted.is_none() {
            // There are no streams that could carry more than answers.
            calls.iter().for_each(|call| call.outbox.hush());
        }
        Self {
            slots: calls.into_iter().map(Slot::new).collect(),
            _present: hosted.as_ref().map(Hosted::present),
            hosted,
            silence: None,
            batch: true,
        }
    }

    /// Runs them until all are over, or one has something to say before that.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Turn> {
        for slot in &mut self.slots {
            if let Some(running) = &mut slot.running
                && let Poll::Ready(answer) = Pin::new(running).poll(context)
            {
                slot.running = None;
                slot.answer = answer;
            }
        }
        let hosted = self.hosted.as_deref();
        if hosted.is_some_and(Hosted::is_over) {
            return Poll::Ready(self.cut_short());
        }
        let running = self.slots.iter().any(|slot| slot.running.is_some());
        let speaks = |slot: &Slot| slot.outbox.has_news(context);
        let speaks = self.slots.iter().filter(|slot| speaks(slot)).count() > 0;
        let is_plain = match hosted {
            Some(_) if speaks => return Poll::Ready(Turn::Stream),
            _ if !running => return Poll::Ready(self.whole()),
            Some(hosted) => hosted.is_plain(),
            None => return Poll::Pending,
        };
        let cancelled = |slot: &Slot| slot.running.is_none() || slot.outbox.is_cancelled();
        if self.slots.iter().all(cancelled) {
            // Those that run to their end do so without this client.
            return Poll::Ready(self.whole());
        }
        if is_plain {
            return Poll::Pending;
        }
        let silence = self.silence.get_or_insert_with(|| Box::pin(sleep(SILENCE)));
        silence.as_mut().poll(context).map(|()| Turn::Stream)
    }

    /// The answers, all there are.
    fn whole(&mut self) -> Turn {
        // Nothing gets out after them.
        self.slots
            .iter()
            .for_each(|slot| _ = slot.outbox.take_last());
        let wanted = self
            .slots
            .iter_mut()
            .filter(|slot| !slot.outbox.is_cancelled());
        let answers = wanted.filter_map(|slot| slot.answer.take()).collect();
        self.joined(answers).map_or(Turn::Silent, Turn::Whole)
    }

    /// What is said to calls whose session ended.
    fn cut_short(&mut self) -> Turn {
        for slot in &mut self.slots {
            if slot.running.is_some() || slot.outbox.is_cancelled() {
                slot.outbox.cancel();
                let json = ended(&slot.outbox);
                slot.answer = Some(Answer::Message { status: 200, json });
            }
        }
        let answers = self.slots.iter_mut().filter_map(|slot| slot.answer.take());
        let answers = answers.collect();
        self.joined(answers).map_or(Turn::Silent, Turn::Whole)
    }

    /// Several answers as one.
    fn joined(&self, mut answers: Vec<Answer>) -> Option<Answer> {
        if !self.batch || answers.is_empty() {
            return answers.pop();
        }
        let mut json = Vec::new();
        for answer in &answers {
            if let Answer::Message { json: message, .. } = answer {
                json.push(if json.is_empty() { b'[' } else { b',' });
                json.extend_from_slice(message);
            }
        }
        if json.is_empty() {
            return Some(Answer::Accepted);
        }
        json.push(b']');
        Some(Answer::Message { status: 200, json })
    }

    /// What the call says on its way, where there is only one.
    pub(crate) fn only(&self) -> Option<&Outbox> {
        match &self.slots[..] {
            [slot] if !self.batch => Some(&slot.outbox),
            _ => None,
        }
    }

    /// Nobody waits here any more: what runs to its end does so, the rest is dropped.
    pub(crate) fn leave(self, unattended: &Unattended) {
        for running in self.slots.into_iter().filter_map(|slot| slot.running) {
            unattended.adopt(running);
        }
    }
}

impl Slot {
    fn new(running: Running) -> Self {
        Self {
            outbox: running.outbox.clone(),
            running: Some(running),
            answer: None,
            settled: false,
        }
    }
}

/// What a call is told whose session ended before it did.
pub(super) fn ended(outbox: &Outbox) -> Vec<u8> {
    let error = ErrorObject::internal("The session was ended before this was done");
    let mut json = Vec::with_capacity(128);
    write::error(
        &mut json,
        outbox.settled().map(|settled| &*settled.id),
        &error,
    );
    json
}
