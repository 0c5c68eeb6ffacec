//! [`Outbox`]: the notifications of one request, on their way out.
//!
//! The same handle serves every transport. On HTTP the messages wait here until the response
//! stream takes them; on line transports they go straight to the shared writer. Once the
//! request is answered or cancelled the outbox is shut, and nothing more gets out for it
//! (STDIO-S-05, HTTP-S-21).

use std::{
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use antiphon_core::{legacy, write};
use antiphon_types::Version;
use serde::Serialize;
use serde_json::Value;

use super::lines::Lines;
#[cfg(feature = "http")]
use crate::legacy::http::Hosted;

/// A reader that lags more than this behind loses progress and log messages, which the protocol
/// lets a server send at any rate it likes (PROG-S-01, PROG-B-02, LOG-S-06).
const WAITING_BYTES: usize = 256 * 1024;

#[derive(Debug)]
pub(crate) struct Outbox {
    /// The shared writer of a line transport.
    lines: Option<Arc<Lines>>,
    /// The revision of a client that knows less than this server says.
    older: OnceLock<Version>,
    /// The session over HTTP that the request is of.
    #[cfg(feature = "http")]
    settled: OnceLock<Box<Settled>>,
    state: Mutex<State>,
}

/// A request of a session's over HTTP.
#[cfg(feature = "http")]
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) hosted: Arc<Hosted>,
    /// The request's id, as JSON.
    pub(crate) id: Box<str>,
}

/// A message on its way.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "http"),
    expect(dead_code, reason = "line transports send at once")
)]
pub(crate) struct Sent {
    pub(crate) json: Vec<u8>,
    /// The id of a request of the server's.
    pub(crate) question: Option<u64>,
}

#[derive(Debug, Default)]
struct State {
    waiting: Vec<Sent>,
    bytes: usize,
    shut: bool,
    /// Nothing gets out but the answer.
    hushed: bool,
    /// The stream of the answer is to be closed for so long.
    #[cfg(feature = "http")]
    let_go: Option<Duration>,
    /// The scopes that the caller lacks, as the request says.
    demanded: Option<Box<[String]>>,
    /// The client has left, or wants no answer any more.
    cancelled: bool,
    /// The request is not dropped because it is cancelled.
    to_end: bool,
    /// The request is dropped whatever it wants.
    dropped: bool,
    ending: bool,
    /// Whoever takes the messages.
    reader: Option<Waker>,
    /// The task that runs the request.
    runner: Option<Waker>,
    /// A request that waits until its messages were taken, or for its end.
    sender: Option<Waker>,
}

impl Outbox {
    /// For a transport with one writer for all.
    pub(crate) fn on(lines: Arc<Lines>) -> Self {
        Self {
            lines: Some(lines),
            older: OnceLock::new(),
            #[cfg(feature = "http")]
            settled: OnceLock::new(),
            state: Mutex::default(),
        }
    }

    /// The client is of this older revision.
    pub(crate) fn speaks(&self, version: Version) {
        _ = self.older.set(version);
    }

    /// Sends a notification, unless the reader is too slow for it.
    pub(crate) fn notify(&self, method: &str, params: &(impl Serialize + ?Sized)) {
        let has_room = match &self.lines {
            Some(lines) => lines.has_room(),
            None => self.lock().bytes < WAITING_BYTES,
        };
        if has_room {
            self.deliver(method, params);
        } else {
            tracing::debug!(
                method,
                "the client reads too slowly; a notification was dropped"
            );
        }
    }

    /// Sends a notification whatever waits already; [`Outbox::room`] paces the sender.
    pub(crate) fn deliver(&self, method: &str, params: &(impl Serialize + ?Sized)) {
        let mut message = Vec::with_capacity(256);
        let written = match self.older.get() {
            None => write::notification(&mut message, method, params),
            Some(version) => match older(method, *version, params) {
                Ok(Some(params)) => write::notification(&mut message, method, &params),
                Ok(None) => return,
                Err(error) => Err(error),
            },
        };
        if let Err(error) = written {
            tracing::error!(method, %error, "a notification does not serialise and was dropped");
            return;
        }
        let state = self.lock();
        if !state.shut {
            self.put(state, message, None);
        }
    }

    /// Sends a message of the server's own, whatever became of the request: that a question of an
    /// older era is withdrawn, or what became of it.
    pub(crate) fn tell(&self, message: Vec<u8>) {
        self.put(self.lock(), message, None);
    }

    /// Sends a question of an older era, under the id it has; `false` if the request is over.
    pub(crate) fn ask(&self, id: u64, message: Vec<u8>) -> bool {
        let state = self.lock();
        if state.shut {
            return false;
        }
        self.put(state, message, Some(id));
        true
    }

    fn put(&self, mut state: MutexGuard<'_, State>, json: Vec<u8>, question: Option<u64>) {
        if let Some(lines) = &self.lines {
            lines.push(&json);
            return;
        }
        if state.hushed {
            return;
        }
        state.bytes += json.len();
        state.waiting.push(Sent { json, question });
        wake(&mut state.reader);
    }

    /// Waits until what was sent before is on its way.
    pub(crate) async fn room(&self) {
        if let Some(lines) = &self.lines {
            return lines.room().await;
        }
        poll_fn(|context| {
            let mut state = self.lock();
            if state.waiting.is_empty() || state.shut {
                return Poll::Ready(());
            }
            state.sender = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Sends the answer, the last message of this request, on a line transport.
    pub(crate) fn finish(&self, answer: &[u8]) {
        let mut state = self.lock();
        if let Some(lines) = &self.lines
            && !state.shut
        {
            lines.push(answer);
        }
        state.shut = true;
    }

    /// The client has left, or wants no answer any more: shuts the outbox and tells the task
    /// that runs the request. Whether the request runs on nevertheless.
    pub(crate) fn cancel(&self) -> bool {
        let mut state = self.lock();
        state.shut = true;
        state.cancelled = true;
        state.waiting = Vec::new();
        wake(&mut state.reader);
        wake(&mut state.runner);
        wake(&mut state.sender);
        state.to_end
    }

    /// Ends the request, also one that is to run to its end.
    pub(crate) fn drop_request(&self) {
        self.lock().dropped = true;
        self.cancel();
    }

    /// From here on the request is not dropped because it is cancelled.
    ///
    /// Only the request itself says so, while it runs. If it is cancelled at the same moment
    /// this still counts: whoever would drop it asks [`Outbox::is_over`] first.
    ///
    /// Whether that was so before.
    pub(crate) fn run_to_end(&self) -> bool {
        std::mem::replace(&mut self.lock().to_end, true)
    }

    /// What [`Outbox::run_to_end`] said no longer holds.
    pub(crate) fn may_be_abandoned(&self) {
        let mut state = self.lock();
        state.to_end = false;
        if state.cancelled {
            wake(&mut state.runner);
        }
    }

    /// Asks a request that stays open to come to its end.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.ending = true;
        wake(&mut state.reader);
        wake(&mut state.sender);
    }

    /// Whether a request that stays open should come to its end. If not, it is woken when it
    /// should.
    pub(crate) fn is_ending(&self, context: &Context<'_>) -> bool {
        let mut state = self.lock();
        // One that runs to its end must have one: nobody is there to hear of more.
        let ending = state.ending || state.cancelled;
        if !ending {
            state.sender = Some(context.waker().clone());
        }
        ending
    }

    /// Whether the request is to be dropped. If not, the task is woken when it is.
    pub(crate) fn is_over(&self, context: &Context<'_>) -> bool {
        let mut state = self.lock();
        let over = state.dropped || (state.cancelled && !state.to_end);
        if !over {
            state.runner = Some(context.waker().clone());
        }
        over
    }

    /// Whether the client has left, or wants no answer any more.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.lock().cancelled
    }

    /// The request says that its caller lacks these scopes.
    pub(crate) fn demand(&self, scopes: Vec<String>) {
        self.lock().demanded = Some(scopes.into());
    }

    /// The scopes that the caller lacks, as the request says.
    pub(crate) fn demanded(&self) -> Option<Vec<String>> {
        self.lock().demanded.as_deref().map(<[_]>::to_vec)
    }

    /// Whether answers travel as lines.
    pub(crate) fn is_on_lines(&self) -> bool {
        self.lines.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// For a transport that asks for the messages.
#[cfg(feature = "http")]
impl Outbox {
    /// An outbox nobody has asked yet.
    pub(crate) fn new() -> Self {
        Self {
            lines: None,
            older: OnceLock::new(),
            settled: OnceLock::new(),
            state: Mutex::default(),
        }
    }

    /// Closes the stream of the answer for a while, where a client knows to come back for the rest
    /// of it.
    pub(crate) fn let_go(&self, retry: Duration) {
        let hosted = self.settled().map(|settled| &settled.hosted);
        if hosted.is_some_and(|hosted| hosted.comes_back() && !hosted.is_plain()) {
            let mut state = self.lock();
            state.let_go = Some(retry);
            wake(&mut state.reader);
        }
    }

    /// Nothing gets out from here on but the answer.
    pub(crate) fn hush(&self) {
        self.lock().hushed = true;
    }

    /// The request is one of a session's.
    pub(crate) fn settle(&self, hosted: &Arc<Hosted>, id: &str) {
        let hosted = hosted.clone();
        let id = id.into();
        _ = self.settled.set(Box::new(Settled { hosted, id }));
    }

    /// The session that the request is of.
    pub(crate) fn settled(&self) -> Option<&Settled> {
        self.settled.get().map(|settled| &**settled)
    }

    /// Whether something happened that cannot wait for the answer. If not, the task is woken when
    /// it does.
    pub(crate) fn has_news(&self, context: &Context<'_>) -> bool {
        let mut state = self.lock();
        state.reader = Some(context.waker().clone());
        !state.waiting.is_empty() || state.let_go.is_some()
    }

    /// For how long the stream of the answer is to be closed.
    pub(crate) fn let_go_after(&self) -> Option<Duration> {
        self.lock().let_go
    }

    /// Takes back that the stream of the answer is to be closed; for how long it was to be.
    pub(crate) fn take_let_go(&self) -> Option<Duration> {
        self.lock().let_go.take()
    }

    /// Takes what waits. When nothing does, the task is woken for the next message.
    pub(crate) fn take(&self, context: &Context<'_>) -> Vec<Sent> {
        let mut state = self.lock();
        if state.waiting.is_empty() {
            state.reader = Some(context.waker().clone());
        }
        state.bytes = 0;
        wake(&mut state.sender);
        std::mem::take(&mut state.waiting)
    }

    /// Takes what waits and shuts the outbox: the request is over.
    pub(crate) fn take_last(&self) -> Vec<Sent> {
        let mut state = self.lock();
        state.shut = true;
        std::mem::take(&mut state.waiting)
    }
}

/// Without HTTP no answer is a stream.
#[cfg(not(feature = "http"))]
impl Outbox {
    pub(crate) fn let_go(&self, _: Duration) {}
}

/// The parameters of a notification as an older revision knows them; `None` if it has no such.
fn older(
    method: &str,
    version: Version,
    params: &(impl Serialize + ?Sized),
) -> serde_json::Result<Option<Value>> {
    let mut params = serde_json::to_value(params)?;
    Ok(legacy::notification(method, version, &mut params).then_some(params))
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}
