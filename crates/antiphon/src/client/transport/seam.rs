//! [`Transport`]: the seam between the client and whatever carries its messages.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_core::Stream;

use antiphon_types::Version;

use super::Named;
use crate::client::{Error, Event, Identity};

/// A future of this module's traits.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A way to reach a server, not yet taken: `memory(server)`, `Stdio::spawn(..)`, `Http::new(..)`.
pub trait Connect {
    /// What it becomes.
    type Transport: Transport;

    /// Opens the way. What belongs to no request goes to `events`.
    ///
    /// # Errors
    /// When the server cannot be reached.
    fn connect(self, events: Events)
    -> impl Future<Output = Result<Self::Transport, Error>> + Send;

    /// Gives the server a name of the user's, which becomes part of its [`Identity`].
    ///
    /// Two servers that differ only in their environment, or in a query, are one by where they
    /// are connected to. With names of their own they are told apart: by whoever is asked a
    /// question, and by calls that are paused.
    fn named(self, name: impl Into<String>) -> Named<Self>
    where
        Self: Sized,
    {
        Named::new(self, name.into())
    }
}

/// Carries requests to one server and its messages back.
///
/// A transport does not look into messages, but for what it needs to route them.
///
/// ```
/// use antiphon::client::{
///     Client, Connect, Error, Events, Identity, Incoming, Outgoing, Pending, Transport,
/// };
///
/// /// A server that is a function.
/// struct Parrot(Identity);
///
/// impl Connect for Parrot {
///     type Transport = Self;
///
///     async fn connect(self, _: Events) -> Result<Self, Error> {
///         Ok(self)
///     }
/// }
///
/// impl Transport for Parrot {
///     fn identity(&self) -> &Identity {
///         &self.0
///     }
///
///     fn send<'a>(&'a self, request: Outgoing<'a>) -> Pending<'a, Result<Incoming, Error>> {
///         Box::pin(async move {
///             let result = match request.method {
///                 "server/discover" => r#"{"supportedVersions":["2026-07-28"],"capabilities":{}}"#,
///                 "tools/call" => r#"{"content":[{"type":"text","text":"Pieces of eight!"}]}"#,
///                 _ => return Err(Error::transport("parrots cannot do that")),
///             };
///             let response = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request.id);
///             Ok(Incoming::Whole(response.into()))
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Error> {
/// let parrot = Parrot(Identity::Other("a parrot".to_owned()));
/// let parrot = Client::new("pirate", "1.0").connect(parrot).await?;
/// assert_eq!(parrot.call_tool("say", ()).await?.first_text(), Some("Pieces of eight!"));
/// # Ok(()) }
/// ```
pub trait Transport: Send + Sync + 'static {
    /// Which server this is.
    fn identity(&self) -> &Identity;

    /// Sends a request, whose body is one JSON text without a line break. What comes back are its
    /// notifications and then its response, each as JSON text, and then the stream ends. One that
    /// ends without a response counts as lost.
    ///
    /// Dropping the future, or the stream, cancels the request: the server is told in the
    /// transport's own way.
    fn send<'a>(&'a self, request: Outgoing<'a>) -> Pending<'a, Result<Incoming, Error>>;

    /// Something that differs between callers whose private results must not mix, such as a
    /// digest of the access token in use (CACHE-C-12).
    fn authorization(&self) -> Pending<'_, Result<Option<u64>, Error>> {
        Box::pin(async { Ok(None) })
    }

    /// How long, all in all, requests were held up by a person who signs in. The clocks of requests
    /// stand still for so long.
    fn held(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether mirrored headers are sent, so that tool definitions have to allow for them
    /// (HDR-C-07, HDR-C-10).
    fn mirrors(&self) -> bool {
        false
    }

    /// Changes when the server behind is not the one it was, such as a process that was started
    /// anew: what is known of it is out of date.
    fn life(&self) -> u64 {
        0
    }

    /// Whether everything travels on one channel, which the server reads from its beginning, such
    /// as the pipes of a process. There a server that does not answer a probe, or leaves, is taken
    /// for one of the older revisions (wire.md 10.4); elsewhere that says nothing.
    fn is_channel(&self) -> bool {
        false
    }

    /// Sends a message that has no answer of its own: a notification, or the answer to a request of
    /// the server's. Only servers of the older revisions are sent any, and `version` is the one
    /// that was settled on.
    ///
    /// # Errors
    /// When it could not be handed over.
    fn tell(&self, version: Version, message: Bytes) -> Pending<'_, Result<(), Error>> {
        _ = (version, message);
        Box::pin(async {
            Err(Error::transport(
                "this transport carries nothing but requests and their answers",
            ))
        })
    }

    /// The handshake of an older revision is done. From here on the server may speak of its own
    /// accord, so a transport that has to listen for that begins to; what it hears that belongs to
    /// no request goes to its [`Events`].
    fn settled(&self, version: Version) -> Pending<'_, ()> {
        _ = version;
        Box::pin(async {})
    }

    /// Forgets what was agreed on with the server, so that a handshake can begin: a session that
    /// is no longer known, a process that has exited.
    ///
    /// # Errors
    /// When the server cannot be reached any more.
    fn start_over(&self) -> Pending<'_, Result<(), Error>> {
        Box::pin(async { Ok(()) })
    }

    /// Goes over to whatever was spoken before this transport: from Streamable HTTP to the HTTP
    /// and server-sent events of 2024-11-05. Whether there is such a thing at all.
    ///
    /// # Errors
    /// When there is, and the server does not speak it.
    fn fall_back(&self) -> Pending<'_, Result<bool, Error>> {
        Box::pin(async { Ok(false) })
    }

    /// Ends the connection in good order.
    fn close(&self) -> Pending<'_, ()> {
        Box::pin(async {})
    }
}

/// A request as a transport sees it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outgoing<'a> {
    /// Its id, which no other request in flight has.
    pub id: i64,
    /// Its method.
    pub method: &'a str,
    /// The tool, prompt or resource it names.
    pub name: Option<&'a str>,
    /// Arguments that travel in headers as well: the header's name in lower case, and the value
    /// before it is encoded.
    pub params: &'a [(String, String)],
    /// The protocol revision it is written in.
    pub version: Version,
    /// The whole message.
    pub body: Bytes,
}

impl<'a> Outgoing<'a> {
    /// A request of this id and method; `body` is all of it.
    pub fn new(id: i64, method: &'a str, body: impl Into<Bytes>) -> Self {
        Self {
            id,
            method,
            name: None,
            params: &[],
            version: Version::LATEST,
            body: body.into(),
        }
    }
}

/// What comes back for one request.
pub enum Incoming {
    /// The response and nothing else.
    Whole(Bytes),
    /// A response that is an error, and the HTTP status it came with.
    Refused {
        /// The status.
        status: u16,
        /// The response.
        message: Bytes,
    },
    /// Notifications, then the response.
    Stream(Pin<Box<dyn Stream<Item = Result<Bytes, Error>> + Send>>),
}

impl Incoming {
    /// The HTTP status of a response that is an error.
    pub(in crate::client) fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            Self::Whole(_) | Self::Stream(_) => None,
        }
    }

    /// The next message.
    pub(in crate::client) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Error>>> {
        match self {
            Self::Whole(message) | Self::Refused { message, .. } => match message.is_empty() {
                true => Poll::Ready(None),
                false => Poll::Ready(Some(Ok(std::mem::take(message)))),
            },
            Self::Stream(stream) => stream.as_mut().poll_next(context),
        }
    }
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(_) => f.write_str("Whole(..)"),
            Self::Refused { status, .. } => write!(f, "Refused({status}, ..)"),
            Self::Stream(_) => f.write_str("Stream(..)"),
        }
    }
}

/// Where a transport reports what belongs to no request.
#[derive(Clone)]
pub struct Events(Arc<dyn Fn(Event) + Send + Sync>);

impl Events {
    /// Reports to this function.
    pub fn new(report: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self(Arc::new(report))
    }

    /// Reports one event.
    pub fn report(&self, event: Event) {
        (self.0)(event);
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Events(..)")
    }
}
