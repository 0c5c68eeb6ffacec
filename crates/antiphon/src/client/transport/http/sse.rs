//! [`Sse`]: HTTP with server-sent events, the transport of revision 2024-11-05: one stream brings
//! all that the server says, and what it is told goes to a URI which that stream names first.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use antiphon_core::sse::Event;
use antiphon_types::Version;
use bytes::Bytes;
use http::Uri;
use serde::{Deserialize, de::IgnoredAny};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    answer,
    events::{Reader, message},
    head::Sent,
    resume::{Unopened, open},
    stamp::Stamp,
    wire::{Answered, Wire},
};
use crate::{
    client::{
        Error, Incoming, Outgoing,
        patience::Patience,
        transport::channel::{Queue, Serving, Shared},
    },
    excerpt,
};

/// How long the server may take to name its URI.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long what was said last may take to be sent once the connection is closed.
const FLUSH: Duration = Duration::from_millis(500);

/// How long a server may take to take a message that nobody waits for.
const LINGER: Duration = Duration::from_secs(2);

/// Messages that are sent at once.
const AT_ONCE: usize = 64;

/// An open connection. It ends when it is dropped.
pub(super) struct Sse {
    shared: Arc<Shared>,
    post: Arc<Post>,
}

/// Where messages go.
struct Post {
    wire: Arc<Wire>,
    uri: Uri,
    /// The revision, once that is settled.
    version: OnceLock<Version>,
}

impl Sse {
    /// Opens the stream, and waits for the URI.
    ///
    /// # Errors
    /// When the server does not speak this.
    pub(super) async fn open(wire: Arc<Wire>) -> Result<Self, Error> {
        let opening = async {
            let opened = open(&wire, &Stamp::default(), None).await;
            let (body, from) = opened.map_err(Unopened::into_error)?;
            let mut reader = Reader::resumable(wire.limit);
            reader.open(body);
            match reader.next().await {
                Some(event) => Ok((named(&wire, &from, &event?)?, reader)),
                None => Err(Error::decode(
                    "the stream of the server ended before it named an endpoint",
                )),
            }
        };
        let patience = Patience::new(PATIENCE, || wire.credentials.held());
        let (uri, reader) = patience.limit(opening).await.unwrap_or_else(|| {
            let text = format!("the server named no endpoint on its stream within {PATIENCE:?}");
            Err(Error::transport(text))
        })?;
        let post = Arc::new(Post {
            wire: wire.clone(),
            uri,
            version: OnceLock::new(),
        });
        let (shared, queue) = Shared::new(wire.events.clone());
        tokio::spawn(serve(shared.clone(), queue, reader, post.clone()));
        Ok(Self { shared, post })
    }

    /// Sends a request; what belongs to it comes on the stream. The stream is the session: once it
    /// has ended, one has to start over.
    pub(super) async fn send(&self, request: Outgoing<'_>) -> Result<Incoming, Error> {
        match self.shared.why_over() {
            Some(why) if request.method != "initialize" => {
                Err(Error::session_lost().caused_by(&*why).unsent())
            }
            _ => self.shared.send(request).await,
        }
    }

    /// Sends a message that has no answer of its own.
    pub(super) async fn tell(&self, version: Version, message: Bytes) -> Result<(), Error> {
        self.settled(version);
        self.post.send(message).await
    }

    /// From here on the revision is known.
    pub(super) fn settled(&self, version: Version) {
        self.post.version.get_or_init(|| version);
        self.shared.settled(version);
    }

    /// Ends the connection, and waits until it has ended.
    pub(super) async fn close(&self) {
        self.shared.close_and_wait().await;
    }
}

impl Drop for Sse {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl Post {
    /// Hands a message over (LSSE-C-01). What a server says to that does not matter, if it takes
    /// it.
    async fn send(&self, message: Bytes) -> Result<(), Error> {
        let stamp = match self.version.get() {
            Some(version) => Stamp::new(None, *version),
            None => Stamp::default(),
        };
        let asked = self
            .wire
            .ask(&self.uri, &Sent::Post(&stamp, message, None))
            .await;
        let Answered { head, body, .. } = asked?;
        match head.status.is_success() {
            true => answer::ignore(body).await,
            false => return Err(answer::not_taken(head.status, body).await),
        }
        Ok(())
    }
}

/// The URI that the first event names, which must be of the same origin (LSSE-C-02).
fn named(wire: &Wire, from: &Uri, event: &Event) -> Result<Uri, Error> {
    if event.kind != b"endpoint" {
        return Err(Error::decode(format!(
            "the stream of the server begins with {:?} in place of its endpoint",
            excerpt::one_line(&event.kind)
        )));
    }
    let uri = std::str::from_utf8(&event.data).ok();
    let uri = uri.filter(|uri| !uri.is_empty());
    let resolved = uri.and_then(|uri| wire.endpoint.redirect(from, uri));
    resolved.ok_or_else(|| {
        Error::decode(format!(
            "messages for the server would have to be sent to {:?}, which is no URI of the same \
             origin",
            excerpt::one_line(&event.data)
        ))
    })
}

async fn serve(shared: Arc<Shared>, queue: Queue, reader: Reader, post: Arc<Post>) {
    let _serving = Serving(shared.clone());
    tokio::select! {
        biased;
        why = read(&shared, reader) => shared.fail(&why),
        () = write(&shared, queue, post) => {}
    }
}

/// Takes what the server says to whom it is for, until it says no more; why that is.
async fn read(shared: &Shared, mut reader: Reader) -> String {
    loop {
        match reader.next().await {
            Some(Ok(event)) => {
                if let Some(message) = message(event) {
                    shared.receive(message);
                }
            }
            Some(Err(error)) => return format!("the stream of the server was lost: {error}"),
            None => return "the server ended its stream".to_owned(),
        }
    }
}

/// Sends messages until the channel is closed. One does not wait for the other: what is asked
/// while a call is served may have to be answered before the server takes the call for sent.
async fn write(shared: &Arc<Shared>, mut queue: Queue, post: Arc<Post>) {
    let mut sending = JoinSet::new();
    let mut batch = Vec::new();
    while queue.take(&mut batch).await {
        for message in batch.drain(..) {
            while sending.try_join_next().is_some() {}
            if sending.len() >= AT_ONCE {
                tokio::select! {
                    _ = sending.join_next() => {}
                    () = queue.closing() => break,
                }
            }
            sending.spawn(send(shared.clone(), post.clone(), message));
        }
    }
    let rest = async { while sending.join_next().await.is_some() {} };
    _ = timeout(FLUSH, rest).await;
}

/// Sends one message; if that does not work, the request that it is has failed. A server that
/// never ends what it says to that is not listened to for longer than somebody waits.
async fn send(shared: Arc<Shared>, post: Arc<Post>, message: Bytes) {
    let id = request_id(&message);
    let unwanted = async {
        loop {
            sleep(LINGER).await;
            if id.is_none_or(|id| !shared.waits_for(id)) {
                break;
            }
        }
    };
    tokio::select! {
        biased;
        sent = post.send(message) => if let (Err(error), Some(id)) = (sent, id) {
            shared.refuse(id, error);
        },
        () = unwanted => {}
    }
}

/// The id of a request of ours.
fn request_id(message: &[u8]) -> Option<i64> {
    #[derive(Deserialize)]
    struct Head {
        id: i64,
        #[serde(rename = "method")]
        _method: IgnoredAny,
    }
    serde_json::from_slice(message)
        .ok()
        .map(|Head { id, .. }| id)
}
