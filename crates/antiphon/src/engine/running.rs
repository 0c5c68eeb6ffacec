//! [`Running`]: one request on its way to its answer.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use super::{answer::Answer, outbox::Outbox};

/// A request that may become a task. It is dropped where it stands once it is cancelled, unless
/// it is to run to its end; there is no answer then.
pub(crate) struct Running {
    pub(crate) answer: Pin<Box<dyn Future<Output = Answer> + Send>>,
    pub(crate) outbox: Arc<Outbox>,
}

impl Future for Running {
    type Output = Option<Answer>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.outbox.is_over(context) {
            return Poll::Ready(None);
        }
        let answer = ready!(self.answer.as_mut().poll(context));
        if let Answer::Message { json, .. } = &answer {
            self.outbox.finish(json);
        }
        Poll::Ready(Some(answer))
    }
}
