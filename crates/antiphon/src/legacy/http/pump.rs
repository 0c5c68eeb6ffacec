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
        let seat = hosted.open(Kind::Response, retry);
        let reader = Reader::new(hosted.clone(), seat, Kind::Response, around);
        let mut pump = Pump::new(self, hosted, Some(seat.stream), around);
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
        // One that is cancelled by the end of its session may have come to its own end meanwhile.
        _ if hosted.is_over() => ended(&slot.outbox),
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

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use antiphon_types::{ClientCapabilities, Version};
    use tokio::time::Instant;

    use super::{
        super::{hosted::Common, settings::Sessions, stream::Taken},
        *,
    };
    use crate::legacy::Session;

    fn hosted() -> Arc<Hosted> {
        let (now, declared) = (Instant::now(), ClientCapabilities::new());
        // Of a revision whose streams say nothing first.
        let version = Version::V2025_06_18;
        let session = Session::new(version, &declared, None, None, Arc::default());
        let common = Arc::new(Common::new(Sessions::new(), now));
        Arc::new(Hosted::new(Arc::new(session), None, common, now))
    }

    /// A call that has come to its end; what is said of it on its stream.
    fn said(hosted: &Arc<Hosted>, outbox: Outbox) -> Option<String> {
        outbox.settle(hosted, "7");
        let mut seat = hosted.open(Kind::Response, None);
        let mut slot = Slot {
            running: None,
            outbox: Arc::new(outbox),
            answer: Some(Answer::Message {
                status: 200,
                json: b"{}".to_vec(),
            }),
            settled: false,
        };
        settle(&mut slot, hosted, Some(seat.stream));
        match hosted.take(&mut seat, &Context::from_waker(Waker::noop())) {
            Taken::Frame(frame) => Some(String::from_utf8(frame.to_vec()).expect("UTF-8")),
            Taken::Nothing | Taken::End => None,
        }
    }

    #[test]
    fn a_cancelled_call_is_not_answered() {
        let outbox = Outbox::new();
        outbox.cancel();
        assert_eq!(said(&hosted(), outbox), None);
        let text = said(&hosted(), Outbox::new());
        assert_eq!(text.as_deref(), Some("id: 1-0\ndata: {}\n\n"));
    }

    /// It is cancelled on one thread while it comes to its end on another.
    #[test]
    fn a_call_that_ends_with_its_session_says_so() {
        let (hosted, outbox) = (hosted(), Outbox::new());
        hosted.end();
        outbox.cancel();
        let text = said(&hosted, outbox).expect("an answer");
        assert!(text.contains(r#""id":7"#), "{text}");
        assert!(text.contains("-32603"), "{text}");
    }
}
