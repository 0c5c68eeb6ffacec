//! [`Channel`]: many requests on one connection that carries a message at a time.

#[cfg(feature = "stdio")]
mod cut_off;
mod head;
mod queue;
mod slot;

#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use antiphon_types::Version;
use bytes::Bytes;
use futures_core::Stream;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

#[cfg(feature = "stdio")]
use self::cut_off::{CutOff, cut_off};
use self::{head::Whose, queue::Request, slot::Slot};
use crate::client::{
    Error, Event, Events, Identity, Incoming, Outgoing, Pending, Transport, transport::batch::split,
};
use crate::excerpt::excerpt;

pub(super) use queue::Queue;

/// An open connection that carries a message at a time: to a server in this process, or over any
/// streams of bytes.
///
/// It ends when it is dropped.
pub struct Channel {
    identity: Identity,
    shared: Arc<Shared>,
}

impl Channel {
    /// A channel that its tasks know as `shared`.
    pub(super) fn new(identity: Identity, shared: Arc<Shared>) -> Self {
        Self { identity, shared }
    }
}

impl Transport for Channel {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn send<'a>(&'a self, request: Outgoing<'a>) -> Pending<'a, Result<Incoming, Error>> {
        Box::pin(self.shared.send(request))
    }

    fn is_channel(&self) -> bool {
        true
    }

    fn tell(&self, _: Version, message: Bytes) -> Pending<'_, Result<(), Error>> {
        Box::pin(self.shared.tell(message))
    }

    fn settled(&self, version: Version) -> Pending<'_, ()> {
        self.shared.settled(version);
        Box::pin(async {})
    }

    fn start_over(&self) -> Pending<'_, Result<(), Error>> {
        Box::pin(async {
            match &self.shared.lock().over {
                Some(why) => Err(Error::transport(&**why).unsent()),
                None => Ok(()),
            }
        })
    }

    fn close(&self) -> Pending<'_, ()> {
        Box::pin(self.shared.close_and_wait())
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Channel({})", self.identity)
    }
}

/// What the handle of a channel shares with the tasks that read and write.
pub(super) struct Shared {
    events: Events,
    requests: mpsc::Sender<Request>,
    state: Mutex<State>,
    /// There is something in [`State::given_up`].
    given_up: Notify,
    /// This side wants to end.
    pub(super) closing: CancellationToken,
    /// The tasks are done, and whatever they ran is gone.
    done: CancellationToken,
}

#[derive(Default)]
struct State {
    waiting: HashMap<i64, Waiting>,
    /// Requests whose answers nobody wants; the server is not told yet.
    given_up: Vec<i64>,
    /// Why there are no more messages.
    over: Option<Arc<str>>,
    /// There was a result.
    answered: bool,
    /// Several messages may come as one (LEG-B-05).
    batches: bool,
}

/// A request that was not answered yet.
struct Waiting {
    slot: Arc<Slot>,
    kind: Kind,
}

/// What makes a request special here.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Call,
    Listen,
    /// Of a server that may not know it, and may answer late.
    Probe,
    /// LEG-C-07: never cancelled.
    Handshake,
}

impl Kind {
    fn of(method: &str) -> Self {
        match method {
            "subscriptions/listen" => Self::Listen,
            "server/discover" => Self::Probe,
            "initialize" => Self::Handshake,
            _ => Self::Call,
        }
    }
}

impl Shared {
    /// A fresh channel, and what waits to be written to it.
    pub(super) fn new(events: Events) -> (Arc<Self>, Queue) {
        let (sender, receiver) = mpsc::channel(queue::WAITING);
        let shared = Arc::new(Self {
            events,
            requests: sender,
            state: Mutex::default(),
            given_up: Notify::new(),
            closing: CancellationToken::new(),
            done: CancellationToken::new(),
        });
        let queue = Queue {
            shared: shared.clone(),
            requests: receiver,
        };
        (shared, queue)
    }

    /// Sends a request, as soon as there is room for it.
    pub(super) async fn send(self: &Arc<Self>, request: Outgoing<'_>) -> Result<Incoming, Error> {
        let Ok(place) = self.requests.reserve().await else {
            let why = self.lock().over.clone();
            return Err(Error::transport(
                why.as_deref()
                    .unwrap_or("the server takes no more messages"),
            )
            .unsent());
        };
        let slot = Arc::new(Slot::default());
        {
            let mut state = self.lock();
            if let Some(why) = &state.over {
                return Err(Error::transport(&**why).unsent());
            }
            let Entry::Vacant(free) = state.waiting.entry(request.id) else {
                let error = format!("the id {} waits for its answer already", request.id);
                return Err(Error::invalid(error));
            };
            free.insert(Waiting {
                slot: slot.clone(),
                kind: Kind::of(request.method),
            });
        }
        place.send(Request {
            slot: Some(slot.clone()),
            body: request.body,
        });
        Ok(Incoming::Stream(Box::pin(Receiving {
            id: request.id,
            slot,
            shared: self.clone(),
        })))
    }

    /// Sends a message without an answer, as soon as there is room for it.
    pub(super) async fn tell(&self, message: Bytes) -> Result<(), Error> {
        let place = self.requests.reserve().await;
        if let Some(why) = &self.lock().over {
            return Err(Error::transport(&**why).unsent());
        }
        let request = Request {
            slot: None,
            body: message,
        };
        match place {
            Ok(place) => place.send(request),
            Err(_) => {
                return Err(Error::transport("the server takes no more messages").unsent());
            }
        }
        Ok(())
    }

    /// A handshake was made, in this version.
    pub(super) fn settled(&self, version: Version) {
        self.lock().batches = version == Version::V2025_03_26;
    }

    /// Takes what the server sent to whoever waits for it.
    pub(super) fn receive(&self, message: Bytes) {
        if message.trim_ascii_start().first() == Some(&b'[') && self.lock().batches {
            let mut parts = VecDeque::new();
            split(Version::V2025_03_26, message, &mut parts);
            return parts.into_iter().for_each(|part| self.receive_one(part));
        }
        self.receive_one(message);
    }

    /// Takes one message to whoever waits for it.
    fn receive_one(&self, message: Bytes) {
        let taken = match Whose::of(&message) {
            Whose::Response { id, result } => self.answer(id, result),
            Whose::Ended(id) => self.end_subscription(id),
            Whose::Progress(id) => return self.notify(id, false, message),
            Whose::Subscription(id) => return self.notify(id, true, message),
            Whose::Log => return self.log(message),
            Whose::Nobody => None,
            Whose::Noise => return self.noise(excerpt(&message, 200)),
        };
        match taken {
            Some(slot) => slot.finish(message),
            None => self.report(Event::Message(message)),
        }
    }

    /// Skips what is no message.
    pub(super) fn noise(&self, what: String) {
        self.report(Event::Noise(what));
    }

    /// Skips a message of more than `limit` bytes, of which only this is known; whoever waits for
    /// it is told.
    #[cfg(feature = "stdio")]
    pub(super) fn skipped(&self, beginning: &[u8], limit: usize) {
        let answered = match cut_off(beginning) {
            CutOff::Response(id) => self.answer(id, false),
            CutOff::SomeResponse => self.only(),
            CutOff::Other => None,
        };
        match answered {
            Some(slot) => slot.fail(Error::decode(format!(
                "the answer is longer than {limit} bytes, the limit of .max_message_bytes(..), and \
                 was skipped"
            ))),
            None => self.noise(format!("a line of more than {limit} bytes")),
        }
    }

    /// The only request that waits.
    #[cfg(feature = "stdio")]
    fn only(&self) -> Option<Arc<Slot>> {
        let mut state = self.lock();
        match state.waiting.len() {
            1 => state.waiting.drain().next().map(|(_, it)| it.slot),
            _ => None,
        }
    }

    /// Whether nobody waits for an answer.
    #[cfg(feature = "stdio")]
    pub(super) fn is_idle(&self) -> bool {
        self.lock().waiting.is_empty()
    }

    /// The request that this answers.
    fn answer(&self, id: i64, result: bool) -> Option<Arc<Slot>> {
        let mut state = self.lock();
        let waiting = state.waiting.remove(&id)?;
        // That it could be greeted is no reason to start it anew for ever.
        state.answered |= result && waiting.kind != Kind::Handshake;
        Some(waiting.slot)
    }

    /// The subscription that the server ended (AMB-01).
    fn end_subscription(&self, id: i64) -> Option<Arc<Slot>> {
        let mut state = self.lock();
        match state.waiting.entry(id) {
            Entry::Occupied(waiting) if waiting.get().kind == Kind::Listen => {
                Some(waiting.remove().slot)
            }
            _ => None,
        }
    }

    /// Takes a notification to its request, or to its subscription.
    fn notify(&self, id: i64, listens: bool, message: Bytes) {
        let slot = match self.lock().waiting.get(&id) {
            Some(waiting) if waiting.kind == Kind::Listen || !listens => Some(waiting.slot.clone()),
            _ => None,
        };
        let Some(slot) = slot else {
            return self.report(Event::Message(message));
        };
        if !slot.put(message) {
            slot.fail(Error::transport(format!(
                "the server sent notifications faster than they were taken: more than {} wait, \
                 and the request was given up",
                slot::WAITING
            )));
            self.give_up(id, &slot);
        }
    }

    /// Takes a log message to the only request it can be of, in order with its progress; if there
    /// are several, or it does not keep up, to whoever listens to all.
    fn log(&self, message: Bytes) {
        let only = {
            let state = self.lock();
            let calls = state.waiting.values();
            let mut calls = calls.filter(|waiting| waiting.kind == Kind::Call);
            match (calls.next(), calls.next()) {
                (Some(waiting), None) => Some(waiting.slot.clone()),
                _ => None,
            }
        };
        if !only.is_some_and(|slot| slot.put(message.clone())) {
            self.report(Event::Message(message));
        }
    }

    /// Nobody waits for the answer to a request: the server is told if it may still work on it
    /// (CANC-C-03), and a late answer is nobody's (CANC-C-04).
    fn give_up(&self, id: i64, slot: &Arc<Slot>) {
        let mut state = self.lock();
        let kind = match state.waiting.entry(id) {
            Entry::Occupied(waiting) if Arc::ptr_eq(&waiting.get().slot, slot) => {
                waiting.remove().kind
            }
            _ => return,
        };
        if slot.abandon() && kind != Kind::Handshake {
            state.given_up.push(id);
            self.given_up.notify_one();
        }
    }

    /// Whether somebody waits for the answer to this request.
    #[cfg(feature = "http")]
    pub(super) fn waits_for(&self, id: i64) -> bool {
        self.lock().waiting.contains_key(&id)
    }

    /// A request could not be handed over.
    #[cfg(feature = "http")]
    pub(super) fn refuse(&self, id: i64, error: Error) {
        let waiting = self.lock().waiting.remove(&id);
        if let Some(Waiting { slot, .. }) = waiting {
            slot.abandon();
            slot.fail(error);
        }
    }

    /// There are no more messages, and that was not to be expected.
    pub(super) fn fail(&self, why: &str) {
        if self.end(why) {
            self.report(Event::Transport(Error::transport(why)));
        }
    }

    /// There are no more messages; `false` if that is known already.
    fn end(&self, why: &str) -> bool {
        let waiting = {
            let mut state = self.lock();
            if state.over.is_some() {
                return false;
            }
            state.over = Some(why.into());
            std::mem::take(&mut state.waiting)
        };
        for Waiting { slot, .. } in waiting.into_values() {
            slot.abandon();
            slot.fail(Error::transport(why));
        }
        true
    }

    /// Ends the connection from this side.
    pub(super) fn close(&self) {
        self.end("the connection was closed on this side");
        self.closing.cancel();
    }

    /// Ends the connection from this side, and waits until it has ended.
    pub(super) async fn close_and_wait(&self) {
        self.close();
        self.done().await;
    }

    /// Waits until the tasks are done.
    pub(super) async fn done(&self) {
        self.done.cancelled().await;
    }

    /// Whether it ended, on whichever side.
    #[cfg(feature = "stdio")]
    pub(super) fn is_over(&self) -> bool {
        self.lock().over.is_some()
    }

    /// Whether this side ended it.
    #[cfg(feature = "stdio")]
    pub(super) fn is_closed(&self) -> bool {
        self.closing.is_cancelled()
    }

    /// Why it ended.
    #[cfg(any(feature = "stdio", feature = "http"))]
    pub(super) fn why_over(&self) -> Option<Arc<str>> {
        self.lock().over.clone()
    }

    /// Whether there was a result since this was last asked.
    #[cfg(feature = "stdio")]
    pub(super) fn take_answered(&self) -> bool {
        std::mem::take(&mut self.lock().answered)
    }

    fn report(&self, event: Event) {
        if !self.closing.is_cancelled() {
            self.events.report(event);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Held by the task that serves a channel: however that ends, nobody waits for ever.
pub(super) struct Serving(pub(super) Arc<Shared>);

impl Drop for Serving {
    fn drop(&mut self) {
        // Not reported: this may be a panic of whoever events are reported to.
        self.0.end("the connection was given up");
        self.0.done.cancel();
    }
}

/// What comes back for one request; dropping it gives the request up.
struct Receiving {
    id: i64,
    slot: Arc<Slot>,
    shared: Arc<Shared>,
}

impl Stream for Receiving {
    type Item = Result<Bytes, Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.slot.poll_next(context)
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        self.shared.give_up(self.id, &self.slot);
    }
}
