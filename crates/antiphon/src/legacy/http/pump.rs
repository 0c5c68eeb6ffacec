//! [`Pump`]: calls whose answer is a stream, as a task of their session.
//!
//! From here on they do not end with their connection (LHTTP-S-11): what they send waits on the
//! stream until somebody reads it there.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::{
    calls::{Calls, Slot, ended},
    hosted::Hosted,
    reader::Reader,
    stream::{Kind, Weight},
};
use crate::engine::{
    answer::Answer,
    outbox::{Outbox, Sent},
    unattended::Unattended,
};

/// What the service around a request lends it.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    /// Keeps what runs without its client.
    pub(crate) unattended: &'a Unattended,
    /// Cancelled when the server is about to stop.
    pub(crate) stopping: &'a CancellationToken,
    pub(crate) keep_alive: Duration,
}

/// Moves what calls say to their stream, until all are over.
struct Pump {
    slots: Vec<Slot>,
    hosted: Arc<Hosted>,
    /// Until it is closed; there is none if nobody was there to be told what it is called.
    stream: Option<u64>,
    stopping: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
}

impl Calls {
    /// Answers these calls with a stream, and runs on whoever reads it.
    pub(crate) fn stream(self, around: Around<'_>, context: &Context<'_>) -> Option<Reader> {
        let hosted = self.hosted.clone()?;
        let retry = self
            .slots
            .iter()
            .find_map(|slot| slot.outbox.let_go_after());
        let stream = hosted.open(Kind::Response, retry);
        let seat = hosted.attach(stream, None).ok()?;
        let reader = Reader::new(hosted.clone(), seat, Kind::Response, around);
        let mut pump = Pump::new(self, hosted, Some(stream), around);
        // What was said already is there when the stream is first read, and leaves with its head.
        pump.forward_waiting(context);
        pump.settle_finished();
        pump.run_on(around.unattended);
        Some(reader)
    }

    /// The client is gone before there was a stream: runs on for nobody.
    pub(crate) fn run_on(self, around: Around<'_>) {
        match self.hosted.clone() {
            None => self.leave(around.unattended),
            Some(hosted) => Pump::new(self, hosted, None, around).run_on(around.unattended),
        }
    }
}

impl Pump {
    fn new(calls: Calls, hosted: Arc<Hosted>, stream: Option<u64>, around: Around<'_>) -> Self {
        Self {
            slots: calls.slots,
            hosted,
            stream,
            stopping: Some(Box::pin(around.stopping.clone().cancelled_owned())),
        }
    }

    fn run_on(self, unattended: &Unattended) {
        if self.slots.iter().any(|slot| slot.running.is_some()) {
            unattended.run(self);
        }
    }

    /// Says what calls that go on have to say so far.
    fn forward_waiting(&self, context: &Context<'_>) {
        for slot in self.slots.iter().filter(|slot| slot.running.is_some()) {
            let messages = slot.outbox.take(context);
            forward(messages, &self.hosted, self.stream, &slot.outbox);
        }
    }

    /// Says what calls that are over had to say.
    fn settle_finished(&mut self) {
        let (hosted, stream) = (&self.hosted, self.stream);
        let over = self.slots.iter_mut().filter(|slot| slot.running.is_none());
        over.for_each(|slot| settle(slot, hosted, stream));
        self.close_if_settled();
    }

    fn close_if_settled(&mut self) {
        if self.slots.iter().all(|slot| slot.settled)
            && let Some(stream) = self.stream.take()
        {
            self.hosted.close(stream);
        }
    }
}

impl Future for Pump {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if let Some(stopping) = &mut this.stopping
            && stopping.as_mut().poll(context).is_ready()
        {
            this.stopping = None;
            // No answer can come in any more.
            this.hosted.session.asked.end();
        }
        for slot in &mut this.slots {
            poll_slot(slot, &this.hosted, this.stream, context);
        }
        this.close_if_settled();
        match this.slots.iter().any(|slot| slot.running.is_some()) {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        if let Some(stream) = self.stream.take() {
            self.hosted.close(stream);
        }
    }
}

fn poll_slot(slot: &mut Slot, hosted: &Hosted, stream: Option<u64>, context: &mut Context<'_>) {
    let Some(running) = &mut slot.running else {
        return;
    };
    if let Poll::Ready(answer) = Pin::new(running).poll(context) {
        // What is dropped with it may have a last word.
        slot.running = None;
        slot.answer = answer;
        settle(slot, hosted, stream);
        return;
    }
    // Until there is nothing, so that the next message wakes this task.
    loop {
        let messages = slot.outbox.take(context);
        if messages.is_empty() {
            break;
        }
        forward(messages, hosted, stream, &slot.outbox);
    }
    if let (Some(stream), Some(retry)) = (stream, slot.outbox.take_let_go()) {
        hosted.let_go(stream, retry);
    }
    // One that runs to its end has nothing more to say, though it is not over.
    if slot.outbox.is_cancelled() || hosted.is_over() {
        slot.outbox.cancel();
        settle(slot, hosted, stream);
    }
}

/// Says the last of a call: its answer, unless nobody wants it.
fn settle(slot: &mut Slot, hosted: &Hosted, stream: Option<u64>) {
    if std::mem::replace(&mut slot.settled, true) {
        return;
    }
    forward(slot.outbox.take_last(), hosted, stream, &slot.outbox);
    let answer = match slot.answer.take() {
        Some(Answer::Message { json, .. }) if !slot.outbox.is_cancelled() => json,
        None if hosted.is_over() => ended(&slot.outbox),
        _ => return,
    };
    if let Some(stream) = stream {
        hosted.push(stream, Weight::Answer, answer);
    }
}

fn forward(messages: Vec<Sent>, hosted: &Hosted, stream: Option<u64>, outbox: &Outbox) {
    for message in messages {
        let weight = message.question.map_or(Weight::Passing, Weight::Question);
        let heard = stream.is_some_and(|stream| hosted.push(stream, weight, message.json));
        if !heard && message.question.is_some() {
            tracing::debug!("nobody can hear a question any more; its call is cancelled");
            outbox.cancel();
        }
    }
}
