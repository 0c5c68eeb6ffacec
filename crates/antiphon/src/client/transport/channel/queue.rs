//! [`Queue`]: what waits to be written.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::mpsc;

use super::{Shared, slot::Slot};

/// Requests that may wait to be written.
pub(super) const WAITING: usize = 64;

/// A message on its way to the writer.
pub(super) struct Request {
    /// Who waits for its answer; nobody, if it has none.
    pub(super) slot: Option<Arc<Slot>>,
    pub(super) body: Bytes,
}

/// The writer's end.
pub(in crate::client) struct Queue {
    pub(super) shared: Arc<Shared>,
    pub(super) requests: mpsc::Receiver<Request>,
}

impl Queue {
    /// Waits until the channel is closed on this side.
    pub(in crate::client) async fn closing(&self) {
        self.shared.closing.cancelled().await;
    }

    /// Waits for messages and adds all that are ready to `batch`; `false` once the channel is
    /// closed.
    pub(in crate::client) async fn take(&mut self, batch: &mut Vec<Bytes>) -> bool {
        loop {
            let open = tokio::select! {
                biased;
                () = self.shared.closing.cancelled() => false,
                request = self.requests.recv() => {
                    batch.extend(request.and_then(written));
                    true
                }
                () = self.shared.given_up.notified() => true,
            };
            while open && batch.len() < WAITING {
                match self.requests.try_recv() {
                    Ok(request) => batch.extend(written(request)),
                    Err(_) => break,
                }
            }
            // After their requests.
            let given_up = std::mem::take(&mut self.shared.lock().given_up);
            batch.extend(given_up.into_iter().map(cancelled));
            if !batch.is_empty() || !open {
                return !batch.is_empty();
            }
        }
    }
}

/// The message, unless nobody waits for its answer any more.
fn written(request: Request) -> Option<Bytes> {
    let wanted = request.slot.is_none_or(|slot| slot.write());
    wanted.then_some(request.body)
}

/// STDIO-C-06
fn cancelled(id: i64) -> Bytes {
    let message = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    );
    message.into()
}
