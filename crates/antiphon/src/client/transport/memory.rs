//! To a server in this process.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::{sync::mpsc, time::timeout};

use super::channel::{Queue, Serving, Shared};
use crate::client::{Channel, Connect, Error, Events, Identity};
use crate::transport::memory::Peer;

/// How long a server may take to end once nobody sends any more.
const GRACE: Duration = Duration::from_secs(2);

impl Connect for Peer {
    type Transport = Channel;

    async fn connect(self, events: Events) -> Result<Channel, Error> {
        let (sender, receiver) = self.split();
        let (shared, queue) = Shared::new(events);
        tokio::spawn(serve(shared.clone(), queue, sender, receiver));
        Ok(Channel::new(Identity::Memory, shared))
    }
}

async fn serve(
    shared: Arc<Shared>,
    queue: Queue,
    sender: mpsc::Sender<Bytes>,
    mut receiver: mpsc::Receiver<Bytes>,
) {
    let _serving = Serving(shared.clone());
    let write = write(queue, sender);
    let read = async {
        while let Some(message) = receiver.recv().await {
            shared.receive(message);
        }
        shared.fail("the server in this process is gone");
    };
    tokio::pin!(read);
    tokio::select! {
        biased;
        () = &mut read => return,
        () = write => {}
    }
    // What is read now was answered before the server knew that nobody asks any more.
    _ = timeout(GRACE, read).await;
}

async fn write(mut queue: Queue, sender: mpsc::Sender<Bytes>) {
    let mut batch = Vec::new();
    while queue.take(&mut batch).await {
        for message in batch.drain(..) {
            tokio::select! {
                biased;
                sent = sender.send(message) => if sent.is_err() {
                    return;
                },
                () = queue.closing() => return,
            }
        }
    }
}
