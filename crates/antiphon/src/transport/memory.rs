//! In process: a pair of message channels, no bytes on any wire. For tests, and for hosts that
//! embed a server.

#[cfg(feature = "server")]
mod serving;

use bytes::Bytes;
use tokio::sync::mpsc;

#[cfg(feature = "server")]
pub use serving::{connect, connect_as, serve, serve_as};

/// Messages that may wait in either direction.
const WAITING: usize = 64;

/// One end of a pair: sends and receives whole JSON-RPC messages.
#[derive(Debug)]
pub struct Peer {
    sender: mpsc::Sender<Bytes>,
    receiver: mpsc::Receiver<Bytes>,
}

/// Two connected ends.
pub fn pair() -> (Peer, Peer) {
    let (to_right, from_left) = mpsc::channel(WAITING);
    let (to_left, from_right) = mpsc::channel(WAITING);
    let left = Peer {
        sender: to_right,
        receiver: from_right,
    };
    let right = Peer {
        sender: to_left,
        receiver: from_left,
    };
    (left, right)
}

impl Peer {
    /// Sends one message; `false` if the other end is gone.
    pub async fn send(&self, message: impl Into<Bytes>) -> bool {
        self.sender.send(message.into()).await.is_ok()
    }

    /// The next message; `None` once the other end is gone.
    pub async fn receive(&mut self) -> Option<Bytes> {
        self.receiver.recv().await
    }

    /// The two directions, each for itself.
    #[cfg(feature = "client")]
    pub(crate) fn split(self) -> (mpsc::Sender<Bytes>, mpsc::Receiver<Bytes>) {
        (self.sender, self.receiver)
    }
}
