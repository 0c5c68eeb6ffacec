//! [`Lines`]: the one writer of a connection that carries a message per line.
//!
//! Answers are appended to one buffer; the writing task takes the whole buffer at a time, so
//! whatever was answered while it was busy leaves in one write.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::transport::one_line::one_line;

/// Reading stops while this much waits to be written.
const WAITING_BYTES: usize = 8 * 1024 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Lines {
    state: Mutex<State>,
    filled: Notify,
    taken: Notify,
}

#[derive(Debug, Default)]
struct State {
    buffer: Vec<u8>,
    closed: bool,
}

impl Lines {
    /// Appends one message.
    pub(crate) fn push(&self, message: &[u8]) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        let start = state.buffer.len();
        state.buffer.extend_from_slice(message);
        one_line(&mut state.buffer[start..]);
        state.buffer.push(b'\n');
        drop(state);
        // Whoever takes the buffer takes all of it.
        if start == 0 {
            self.filled.notify_one();
        }
    }

    /// Swaps what waits into `buffer`, which must be empty; `false` once closed and drained.
    pub(crate) async fn take(&self, buffer: &mut Vec<u8>) -> bool {
        loop {
            {
                let mut state = self.lock();
                if !state.buffer.is_empty() {
                    std::mem::swap(&mut state.buffer, buffer);
                    self.taken.notify_waiters();
                    return true;
                }
                if state.closed {
                    return false;
                }
            }
            self.filled.notified().await;
        }
    }

    /// Whether a message that may be lost should be sent.
    pub(crate) fn has_room(&self) -> bool {
        self.lock().buffer.len() < WAITING_BYTES
    }

    /// Waits until the reader on the other side has caught up.
    pub(crate) async fn room(&self) {
        loop {
            let taken = self.taken.notified();
            {
                let state = self.lock();
                if state.closed || state.buffer.len() < WAITING_BYTES {
                    return;
                }
            }
            taken.await;
        }
    }

    /// What waits is still written; nothing is added any more.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_one();
        self.taken.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_message_is_one_line() {
        let lines = Lines::default();
        lines.push(b"{\"a\":\r\n1}");
        lines.push(b"{}");
        let mut buffer = Vec::new();
        assert!(lines.take(&mut buffer).await);
        assert_eq!(buffer, b"{\"a\":  1}\n{}\n");
        lines.close();
        lines.push(b"late");
        buffer.clear();
        assert!(!lines.take(&mut buffer).await);
    }
}
