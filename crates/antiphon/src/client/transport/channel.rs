//! [`Channel`]: many requests on one connection that carries a message at a time.

mod head;
mod queue;
mod slot;

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

use self::{head::Whose, queue::Request, slot::Slot};
use crate::client::{
    Error, Event, Events, Identity, Incoming, Outgoing, Pending, Transport, excerpt::excerpt,
    transport::batch::split,
};

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

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, time::Duration};

    use super::*;

    /// A channel without a wire: what is written to it, and what it reports.
    struct Wireless {
        shared: Arc<Shared>,
        queue: Queue,
        events: Arc<Mutex<Vec<Event>>>,
    }

    impl Wireless {
        fn new() -> Self {
            let events = Arc::new(Mutex::new(Vec::new()));
            let log = events.clone();
            let report = move |event| log.lock().expect("not poisoned").push(event);
            let (shared, queue) = Shared::new(Events::new(report));
            Self {
                shared,
                queue,
                events,
            }
        }

        async fn send(&self, id: i64, method: &str) -> Incoming {
            let body = format!("request {id}");
            let sent = self.shared.send(Outgoing::new(id, method, body)).await;
            sent.expect("sent")
        }

        fn receive(&self, message: &str) {
            self.shared
                .receive(Bytes::copy_from_slice(message.as_bytes()));
        }

        /// All that is ready to be written.
        async fn written(&mut self) -> Vec<String> {
            let mut batch = Vec::new();
            let take = self.queue.take(&mut batch);
            _ = tokio::time::timeout(Duration::from_millis(20), take).await;
            batch.iter().map(text).collect()
        }

        /// What was reported since the last time, in short.
        fn events(&self) -> Vec<String> {
            let mut events = self.events.lock().expect("not poisoned");
            let short = |event| match event {
                Event::Message(message) => text(&message),
                Event::Noise(what) => format!("noise: {what}"),
                other => format!("{other:?}"),
            };
            events.drain(..).map(short).collect()
        }
    }

    fn text(bytes: &Bytes) -> String {
        String::from_utf8(bytes.to_vec()).expect("UTF-8")
    }

    async fn next(incoming: &mut Incoming) -> Option<Result<Bytes, Error>> {
        let next = poll_fn(|context| incoming.poll_next(context));
        let patience = Duration::from_secs(20);
        tokio::time::timeout(patience, next).await.expect("no hang")
    }

    /// All that comes back, an error as its text.
    async fn all(mut incoming: Incoming) -> Vec<String> {
        let mut all = Vec::new();
        while let Some(message) = next(&mut incoming).await {
            all.push(message.map_or_else(|error| error.to_string(), |message| text(&message)));
        }
        all
    }

    fn answer(id: i64) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
    }

    fn progress(id: i64) -> String {
        format!(r#"{{"method":"notifications/progress","params":{{"progressToken":{id}}}}}"#)
    }

    fn change(id: i64) -> String {
        format!(
            r#"{{"method":"notifications/tools/list_changed","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
        )
    }

    fn cancelled(id: i64) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        )
    }

    #[tokio::test]
    async fn every_request_gets_its_own_messages() {
        let wireless = Wireless::new();
        let (one, two) = (wireless.send(1, "a").await, wireless.send(2, "b").await);
        let listen = wireless.send(3, "subscriptions/listen").await;
        for message in [
            progress(2),
            answer(2),
            progress(1),
            change(3),
            progress(1),
            answer(3),
            answer(1),
        ] {
            wireless.receive(&message);
        }
        assert_eq!(all(one).await, [progress(1), progress(1), answer(1)]);
        assert_eq!(all(two).await, [progress(2), answer(2)]);
        assert_eq!(all(listen).await, [change(3), answer(3)]);
        assert_eq!(wireless.events(), [""; 0]);
    }

    #[tokio::test]
    async fn what_is_nobodys_is_reported() {
        let wireless = Wireless::new();
        let one = wireless.send(1, "a").await;
        let nobodys = [
            answer(7),
            progress(7),
            // A subscription, but the request is none; and no subscription, so it goes on.
            change(1),
            cancelled(1),
            r#"{"id":null,"error":{"code":-32700,"message":"?"}}"#.into(),
            r#"{"id":1,"method":"ping"}"#.into(),
        ];
        for message in &nobodys {
            wireless.receive(message);
        }
        assert_eq!(wireless.events(), nobodys);
        wireless.receive("Ready!\u{7}");
        assert_eq!(wireless.events(), [r"noise: Ready!\u{7}"]);
        wireless.receive(&answer(1));
        wireless.receive(&answer(1));
        assert_eq!(wireless.events(), [answer(1)]);
        assert_eq!(all(one).await, [answer(1)]);
    }

    #[tokio::test]
    async fn a_log_message_is_of_the_only_call_there_is() {
        let wireless = Wireless::new();
        let log = r#"{"method":"notifications/message","params":{}}"#.to_owned();
        wireless.receive(&log);
        assert_eq!(wireless.events(), [&*log]);
        let _listen = wireless.send(1, "subscriptions/listen").await;
        let one = wireless.send(2, "a").await;
        wireless.receive(&log);
        let two = wireless.send(3, "b").await;
        wireless.receive(&log);
        assert_eq!(wireless.events(), [&*log]);
        wireless.receive(&answer(2));
        wireless.receive(&log);
        wireless.receive(&answer(3));
        assert_eq!(all(one).await, [log.clone(), answer(2)]);
        assert_eq!(all(two).await, [log, answer(3)]);
    }

    /// AMB-01
    #[tokio::test]
    async fn a_subscription_that_the_server_ends_has_ended() {
        let mut wireless = Wireless::new();
        let listen = wireless.send(1, "subscriptions/listen").await;
        wireless.written().await;
        wireless.receive(&cancelled(1));
        wireless.receive(&answer(1));
        assert_eq!(all(listen).await, [cancelled(1)]);
        assert_eq!(wireless.events(), [answer(1)]);
        assert_eq!(wireless.written().await, [""; 0]);
    }

    /// STDIO-C-06, CANC-C-02, CANC-C-03, CANC-C-04
    #[tokio::test]
    async fn what_is_given_up_is_cancelled_while_it_is_in_flight() {
        let mut wireless = Wireless::new();
        let one = wireless.send(1, "a").await;
        let two = wireless.send(2, "a").await;
        assert_eq!(wireless.written().await, ["request 1", "request 2"]);
        let three = wireless.send(3, "a").await;
        wireless.receive(&answer(2));
        // In flight, answered, not yet written.
        drop((one, two, three));
        assert_eq!(wireless.written().await, [cancelled(1)]);
        wireless.receive(&answer(1));
        assert_eq!(wireless.events(), [answer(1)]);
        // All of the ids are free again.
        for id in 1..=3 {
            let again = wireless.send(id, "a").await;
            wireless.receive(&answer(id));
            assert_eq!(all(again).await, [answer(id)]);
        }
    }

    #[tokio::test]
    async fn what_is_ready_leaves_together() {
        let mut wireless = Wireless::new();
        let mut waiting = Vec::new();
        for id in 0..50 {
            waiting.push(wireless.send(id, "a").await);
        }
        let mut batch = Vec::new();
        assert!(wireless.queue.take(&mut batch).await);
        assert_eq!(batch.len(), 50);
    }

    #[tokio::test]
    async fn a_request_that_is_flooded_fails_alone() {
        let mut wireless = Wireless::new();
        let (one, two) = (wireless.send(1, "a").await, wireless.send(2, "b").await);
        wireless.written().await;
        for _ in 0..=slot::WAITING {
            wireless.receive(&progress(1));
        }
        wireless.receive(&answer(1));
        wireless.receive(&answer(2));
        let one = all(one).await;
        assert_eq!(one.len(), slot::WAITING + 1);
        assert!(one[slot::WAITING].contains("faster"), "{:?}", one.last());
        assert_eq!(all(two).await, [answer(2)]);
        assert_eq!(wireless.written().await, [cancelled(1)]);
        assert_eq!(wireless.events(), [answer(1)]);
    }

    #[tokio::test]
    async fn an_answer_finds_room_behind_any_number_of_notifications() {
        let wireless = Wireless::new();
        let one = wireless.send(1, "a").await;
        for _ in 0..slot::WAITING {
            wireless.receive(&progress(1));
        }
        wireless.receive(&answer(1));
        assert_eq!(all(one).await.last(), Some(&answer(1)));
    }

    #[tokio::test]
    async fn an_id_in_use_is_refused() {
        let wireless = Wireless::new();
        let one = wireless.send(1, "a").await;
        let again = wireless.shared.send(Outgoing::new(1, "a", "again")).await;
        let error = again.expect_err("in use");
        assert!(
            matches!(error.kind(), crate::client::ErrorKind::Invalid),
            "{error}"
        );
        wireless.receive(&answer(1));
        assert_eq!(all(one).await, [answer(1)]);
    }

    #[tokio::test]
    async fn when_the_channel_ends_everybody_is_told_once() {
        let wireless = Wireless::new();
        let (one, two) = (wireless.send(1, "a").await, wireless.send(2, "b").await);
        wireless.receive(&progress(1));
        wireless.shared.fail("the crane fell over");
        wireless.shared.fail("and then the quay");
        assert_eq!(all(one).await, [&progress(1), "the crane fell over"]);
        assert_eq!(all(two).await, ["the crane fell over"]);
        let events = wireless.events();
        assert!(
            events.len() == 1 && events[0].contains("crane"),
            "{events:?}"
        );
        let late = wireless.shared.send(Outgoing::new(3, "a", "late")).await;
        assert_eq!(late.expect_err("over").to_string(), "the crane fell over");
    }

    #[tokio::test]
    async fn when_this_side_closes_nothing_is_reported() {
        let mut wireless = Wireless::new();
        let (one, two) = (wireless.send(1, "a").await, wireless.send(2, "b").await);
        assert_eq!(wireless.written().await.len(), 2);
        drop(one);
        let three = wireless.send(3, "a").await;
        wireless.shared.close();
        wireless.receive(&answer(2));
        for incoming in [two, three] {
            assert_eq!(
                all(incoming).await,
                ["the connection was closed on this side"]
            );
        }
        assert_eq!(wireless.events(), [""; 0]);
        // What was given up before is still told, and nothing else.
        assert_eq!(wireless.written().await, [cancelled(1)]);
        assert!(!wireless.queue.take(&mut Vec::new()).await);
    }

    #[tokio::test]
    async fn a_full_queue_holds_requests_back() {
        let mut wireless = Wireless::new();
        let mut waiting = Vec::new();
        for id in 0..queue::WAITING as i64 {
            waiting.push(wireless.send(id, "a").await);
        }
        let patience = Duration::from_millis(20);
        let held_back = tokio::time::timeout(patience, wireless.send(99, "a")).await;
        assert!(held_back.is_err());
        // Held back and dropped: never sent, and its id was never used.
        assert_eq!(wireless.written().await.len(), queue::WAITING);
        assert_eq!(wireless.written().await, [""; 0]);
        wireless.send(99, "a").await;
    }
}
