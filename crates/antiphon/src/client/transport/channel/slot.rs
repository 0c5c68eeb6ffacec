//! [`Slot`]: where the messages for one request wait.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;

use crate::client::Error;

/// Messages that may wait for one request.
pub(super) const WAITING: usize = 1024;

/// Their bytes.
const WAITING_BYTES: usize = 64 * 1024 * 1024;

#[derive(Default)]
pub(super) struct Slot(Mutex<State>);

#[derive(Default)]
struct State {
    messages: VecDeque<Bytes>,
    bytes: usize,
    stage: Stage,
    /// Told after the messages.
    error: Option<Error>,
    /// Nothing comes after what is here.
    over: bool,
    waker: Option<Waker>,
}

/// How far the request itself has come.
#[derive(Default, PartialEq)]
enum Stage {
    #[default]
    Waiting,
    Written,
    Abandoned,
}

impl Slot {
    /// The request is about to be written; `false` if nobody wants that any more.
    pub(super) fn write(&self) -> bool {
        let mut state = self.lock();
        if state.stage == Stage::Abandoned {
            return false;
        }
        state.stage = Stage::Written;
        true
    }

    /// Nobody waits any more; whether the request was written before.
    pub(super) fn abandon(&self) -> bool {
        let mut state = self.lock();
        std::mem::replace(&mut state.stage, Stage::Abandoned) == Stage::Written
    }

    /// Adds a message; `false` if too many wait.
    pub(super) fn put(&self, message: Bytes) -> bool {
        let mut state = self.lock();
        let full = state.messages.len() >= WAITING || state.bytes >= WAITING_BYTES;
        if !full && !state.over {
            state.bytes += message.len();
            state.messages.push_back(message);
        }
        wake(state);
        !full
    }

    /// Adds the last message; there is always room for it.
    pub(super) fn finish(&self, message: Bytes) {
        let mut state = self.lock();
        if !state.over {
            state.messages.push_back(message);
            state.over = true;
        }
        wake(state);
    }

    /// Ends in an error, after what is here already.
    pub(super) fn fail(&self, error: Error) {
        let mut state = self.lock();
        if !state.over {
            state.error = Some(error);
            state.over = true;
        }
        wake(state);
    }

    /// The next message.
    pub(super) fn poll_next(&self, context: &Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let mut state = self.lock();
        if let Some(message) = state.messages.pop_front() {
            state.bytes = state.bytes.saturating_sub(message.len());
            return Poll::Ready(Some(Ok(message)));
        }
        if state.over {
            return Poll::Ready(state.error.take().map(Err));
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes whoever waits, with nothing locked.
fn wake(mut state: MutexGuard<'_, State>) {
    let waker = state.waker.take();
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}
