//! [`Shared`]: one connection, and one request on it.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{
        Arc, Weak,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use antiphon_core::{negotiate, reply::Reply, write};
use antiphon_types::{
    ClientCapabilities, ErrorObject, LoggingMessageNotificationParams, MetaObject,
    ProgressNotificationParams, Version, code, decode,
    meta::{CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROGRESS_TOKEN, PROTOCOL_VERSION},
};
use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::{
    Client, Clock, Error, ErrorKind, Event, Identity, Incoming, Outgoing, Target, Transport,
    cache::Cache,
    client::{Listeners, Traffic},
    given::{Given, no_message},
    legacy::{Known, Running, Session, batch, limit},
    options::Options,
    patience::Patience,
    tools::Tools,
};

pub(super) use crate::deadline::after;

pub(super) struct Shared {
    /// Itself, for what goes on without a caller.
    pub(super) me: Weak<Self>,
    pub(super) client: Client,
    pub(super) transport: Box<dyn Transport>,
    pub(super) identity: Arc<Identity>,
    pub(super) capabilities: ClientCapabilities,
    /// The metadata that every request carries.
    pub(super) envelope: String,
    pub(super) negotiated: Known,
    pub(super) session: Session,
    pub(super) cache: Cache,
    pub(super) tools: Tools,
    /// Nothing is sent any more, and nobody waits for an answer.
    pub(super) closed: CancellationToken,
    /// Which life of the server the answers that are kept come from.
    pub(super) life: AtomicU64,
    ids: AtomicI64,
}

/// One request, before it has an id.
#[derive(Clone, Copy)]
pub(super) struct Leg<'a> {
    pub(super) method: &'a str,
    /// What it names, which is mirrored in a header.
    pub(super) name: Option<&'a str>,
    /// The arguments that are mirrored in headers.
    pub(super) headers: &'a [(String, String)],
    pub(super) envelope: &'a str,
    /// The revision it is written in.
    pub(super) version: Version,
    pub(super) options: &'a Options,
    /// The call it belongs to.
    pub(super) call: Option<&'a Target>,
    /// When to stop coming back.
    pub(super) poll: Option<Instant>,
}

/// The metadata of every request, as text (META-C-01 to META-C-03).
pub(super) fn envelope(client: &Client, capabilities: &ClientCapabilities) -> String {
    let mut meta = Map::new();
    meta.insert(PROTOCOL_VERSION.into(), Version::LATEST.as_str().into());
    if !client.anonymous {
        let info = serde_json::to_value(&client.info).unwrap_or_default();
        meta.insert(CLIENT_INFO.into(), info);
    }
    let capabilities = serde_json::to_value(capabilities);
    let capabilities = capabilities.unwrap_or_else(|_| Value::Object(Map::new()));
    meta.insert(CLIENT_CAPABILITIES.into(), capabilities);
    Value::Object(meta).to_string()
}

impl Shared {
    pub(super) fn new(client: Client, transport: Box<dyn Transport>) -> Arc<Self> {
        let capabilities = client.capabilities();
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            identity: Arc::new(transport.identity().clone()),
            envelope: envelope(&client, &capabilities),
            capabilities,
            client,
            transport,
            negotiated: Known::default(),
            session: Session::default(),
            cache: Cache::default(),
            tools: Tools::default(),
            closed: CancellationToken::new(),
            life: AtomicU64::new(0),
            ids: AtomicI64::new(1),
        })
    }

    /// Sends a request and waits for its result, as JSON text.
    ///
    /// Asked in a version that the server does not take, it asks once more in one it does
    /// (VER-C-02, VER-C-03); and so it does after a session was lost and is there again.
    pub(super) async fn request(
        &self,
        leg: &Leg<'_>,
        params: &(impl Serialize + Sync + ?Sized),
    ) -> Result<Given, Error> {
        let epoch = self.session.epoch();
        let error = match self.once(leg, params).await {
            Ok(result) => {
                self.session.confirm();
                return Ok(result);
            }
            Err(error) if leg.version.is_modern() && is_other_version(&error) => {
                return self.once(leg, params).await;
            }
            Err(error) => error,
        };
        self.mended(error, epoch).await?;
        let leg = Leg {
            version: self.version(),
            ..*leg
        };
        self.once(&leg, params).await
    }

    /// Waits that long, not counting the time in which a person signs in.
    pub(super) fn patience(&self, span: Duration) -> Patience<impl Fn() -> Duration + '_> {
        Patience::new(span, || self.transport.held())
    }

    /// An id that no other request of this connection has (MRTR-C-08).
    fn next_id(&self) -> i64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) async fn once(
        &self,
        leg: &Leg<'_>,
        params: &(impl Serialize + Sync + ?Sized),
    ) -> Result<Given, Error> {
        let outgoing = self.written(leg, params)?;
        tokio::select! {
            biased;
            () = self.closed.cancelled() => Err(closed()),
            answered = self.answered(leg, outgoing) => answered,
        }
    }

    /// A request with an id of its own, ready to be sent.
    pub(super) fn written<'a>(
        &self,
        leg: &Leg<'a>,
        params: &(impl Serialize + ?Sized),
    ) -> Result<Outgoing<'a>, Error> {
        let id = self.next_id();
        let more = self.more(leg, id);
        let mut body = Vec::with_capacity(leg.envelope.len() + 256);
        let (method, more) = (leg.method, more.as_ref());
        let written = match leg.version.is_modern() {
            true => write::request(&mut body, id, method, params, leg.envelope, more),
            false => write::older_request(&mut body, id, method, params, more),
        };
        written
            .map_err(|error| Error::invalid(format!("the request does not serialise: {error}")))?;
        self.client.listeners.traffic(Traffic::Sent(&body));
        let mut outgoing = Outgoing::new(id, leg.method, body);
        outgoing.name = leg.name;
        outgoing.params = leg.headers;
        outgoing.version = leg.version;
        Ok(outgoing)
    }

    /// What the metadata of this request has beyond the usual.
    fn more(&self, leg: &Leg<'_>, id: i64) -> Option<MetaObject> {
        let options = leg.options;
        let listeners = &self.client.listeners;
        let mut more = MetaObject::new();
        for (key, value) in &options.meta {
            let ours = [PROTOCOL_VERSION, CLIENT_INFO, CLIENT_CAPABILITIES];
            let unknown = !leg.version.is_modern() && key == LOG_LEVEL;
            if !ours.contains(&key.as_str()) && !unknown {
                more.insert(key.clone(), value.clone());
            }
        }
        let wants_progress = options.on_progress.is_some()
            || listeners.progress.is_some()
            || self.client.clocks.progress.is_some();
        if leg.call.is_some() && wants_progress {
            more.insert(PROGRESS_TOKEN.into(), id.into());
        }
        let level = listeners.log.as_ref().map(|(level, _)| *level);
        let level = options.log_level.or_else(|| self.session.level().or(level));
        // Older servers are told once for all.
        if let Some(level) = level.filter(|_| leg.version.is_modern()) {
            more.insert(LOG_LEVEL.into(), level.as_str().into());
        }
        (!more.is_empty()).then_some(more)
    }

    /// The answer to a request, within the work clock (CANC-C-06).
    async fn answered(&self, leg: &Leg<'_>, outgoing: Outgoing<'_>) -> Result<Given, Error> {
        let id = outgoing.id;
        let mut clock = WorkClock::new(self, leg);
        let running = self.session.began(&self.client, leg, id);
        let sending = self.transport.send(outgoing);
        let mut incoming = limit(running.as_ref(), &mut clock, sending).await??;
        let answer = self.receive(leg, id, &mut clock, &mut incoming, running.as_ref());
        let answer = answer.await;
        let responded = match &answer {
            Ok(_) => true,
            Err(error) => error.answered().is_some(),
        };
        if responded {
            drain(incoming);
            if let Some(running) = running {
                running.answered();
            }
        }
        answer
    }

    /// Reads what comes back for a request until its response is there.
    pub(super) async fn receive(
        &self,
        leg: &Leg<'_>,
        id: i64,
        clock: &mut WorkClock<'_>,
        incoming: &mut Incoming,
        running: Option<&Running>,
    ) -> Result<Given, Error> {
        let status = incoming.status();
        // The rest of a batch.
        let mut rest = VecDeque::new();
        loop {
            let message = match rest.pop_front() {
                Some(message) => message,
                None => {
                    let next = poll_fn(|context| incoming.poll_next(context));
                    let Some(message) = limit(running, clock, next).await? else {
                        return Err(Error::transport(
                            "the response stream ended before the response: the request is lost",
                        ));
                    };
                    let message = message?;
                    self.client.listeners.traffic(Traffic::Received(&message));
                    if let Some(batch) = batch(&message, leg.version) {
                        rest.extend(batch);
                        continue;
                    }
                    message
                }
            };
            // Whoever reads the result of a call can tell a wrong guess.
            if leg.call.is_some()
                && let Some(given) = Given::guess(&message, id)
            {
                return Ok(given);
            }
            match Reply::parse(&message) {
                Ok(Reply::Result {
                    id: answered,
                    result,
                }) => {
                    if answered.as_i64() != Some(id) {
                        return Err(Error::decode("the server answered another request"));
                    }
                    return Ok(Given::sure(message.slice_ref(result.get().as_bytes())));
                }
                Ok(Reply::Error {
                    id: answered,
                    error,
                }) => {
                    // What HTTP refuses is this very request, whatever the server calls one that it
                    // did not read; ours are numbers.
                    let is_other = answered.is_some_and(|answered| match answered.as_i64() {
                        Some(answered) => answered != id,
                        None => status.is_none(),
                    });
                    if is_other {
                        return Err(Error::decode("the server answered another request"));
                    }
                    return Err(Error::protocol(error).with_status(status));
                }
                Ok(Reply::Notification { method, params }) => {
                    if self.notified(leg, id, &method, params, &message, running) {
                        clock.progressed();
                    }
                }
                Ok(Reply::Request { .. }) => {
                    if !self.heard(&message, running) {
                        self.client.listeners.told(&Event::Message(message));
                    }
                }
                Err(why) => return Err(no_message(why)),
            }
            // A server may talk so fast that nothing ever waits.
            clock.check()?;
        }
    }

    /// Hands a notification to whom it is for; whether it was progress of this request.
    fn notified(
        &self,
        leg: &Leg<'_>,
        id: i64,
        method: &str,
        params: Option<&RawValue>,
        message: &Bytes,
        running: Option<&Running>,
    ) -> bool {
        let listeners = &self.client.listeners;
        let params = params.map(RawValue::get).unwrap_or("{}");
        if method == "notifications/progress"
            && let Ok(progress) = decode::<ProgressNotificationParams>(params)
            && progress.progress_token.as_i64() == Some(id)
        {
            if let Some(report) = &leg.options.on_progress {
                report(&progress);
            }
            if let (Some(report), Some(call)) = (&listeners.progress, leg.call) {
                report(call, &progress);
            }
            return true;
        }
        if !self.heard(message, running) {
            listeners.told(&Event::Message(message.clone()));
        }
        false
    }
}

/// Where events are logged, for who hears of them otherwise.
const EVENTS: &str = "antiphon::event";

impl Listeners {
    pub(super) fn traffic(&self, traffic: Traffic<'_>) {
        if let Some(show) = &self.traffic {
            show(traffic);
        }
    }

    /// Hands an event to whom it is for.
    pub(super) fn told(&self, event: &Event) {
        if let (Event::Message(message), Some((_, log))) = (event, &self.log)
            && let Ok(Reply::Notification { method, params }) = Reply::parse(message)
            && method == "notifications/message"
            && let Some(params) = params
            && let Ok(params) = decode::<LoggingMessageNotificationParams>(params.get())
        {
            return log(&params);
        }
        match event {
            Event::Transport(error) => {
                tracing::debug!(target: EVENTS, %error, "the transport failed");
            }
            Event::Noise(text) => {
                tracing::warn!(target: EVENTS, text, "the server sent what is no message");
            }
            Event::HiddenTool { name, why } => {
                let tool = negotiate::shown(name);
                tracing::warn!(target: EVENTS, %tool, why, "a tool is hidden");
            }
            Event::Message(_) => tracing::debug!(target: EVENTS, "a message that nobody waits for"),
            Event::Stderr(text) => tracing::debug!(target: EVENTS, text, "the server says"),
        }
        if let Some(told) = &self.event {
            told(event);
        }
    }
}

/// The error of whatever is not over when the connection is closed.
pub(super) fn closed() -> Error {
    Error::transport("the connection was closed on this side")
}

/// Whether the server takes another version that we speak too, be it the same one.
fn is_other_version(error: &Error) -> bool {
    let is_ours = |object: &ErrorObject| {
        object.code == code::UNSUPPORTED_VERSION
            && matches!(
                negotiate::judge(Err(object)).0,
                negotiate::Verdict::Again(_)
            )
    };
    matches!(error.kind(), ErrorKind::Protocol(object) if is_ours(object))
}

/// Reads what comes after the response, so that the connection can be used again.
fn drain(mut incoming: Incoming) {
    const PATIENCE: Duration = Duration::from_millis(500);
    if let Incoming::Whole(_) | Incoming::Refused { .. } = incoming {
        return;
    }
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    if incoming.poll_next(&mut context).is_pending() {
        tokio::spawn(async move {
            let rest = async {
                while poll_fn(|context| incoming.poll_next(context))
                    .await
                    .is_some()
                {}
            };
            _ = tokio::time::timeout(PATIENCE, rest).await;
        });
    }
}

/// The time a server has for one request.
pub(super) struct WorkClock<'a> {
    transport: &'a dyn Transport,
    /// How long its requests had been held up when this one began.
    held: Duration,
    deadline: Instant,
    started: Instant,
    work: Duration,
    /// The most that progress can get.
    at_most: Option<Duration>,
    poll: Option<(Instant, Duration)>,
}

impl<'a> WorkClock<'a> {
    pub(super) fn new(shared: &'a Shared, leg: &Leg<'_>) -> Self {
        let clocks = &shared.client.clocks;
        let work = leg.options.work.unwrap_or(clocks.work);
        let started = Instant::now();
        let budget = leg.options.poll.unwrap_or(clocks.poll);
        let mut deadline = after(started, work);
        if let Some(at_most) = clocks.progress {
            deadline = deadline.min(after(started, at_most));
        }
        Self {
            transport: &*shared.transport,
            held: shared.transport.held(),
            deadline,
            started,
            work,
            at_most: clocks.progress,
            poll: leg.poll.map(|until| (until, budget)),
        }
    }

    /// Until when, by which clock, and what that allowed. It stands still while the transport is
    /// held up.
    fn ends(&self) -> (Instant, Clock, Duration) {
        let still = self.transport.held().saturating_sub(self.held);
        match self.poll {
            Some((until, budget)) if until < self.deadline => {
                (after(until, still), Clock::Poll, budget)
            }
            _ => {
                let deadline = after(self.deadline, still);
                (deadline, Clock::Work, self.deadline - self.started)
            }
        }
    }

    /// Waits no longer than the clock allows.
    pub(super) async fn limit<T>(&self, waiting: impl Future<Output = T>) -> Result<T, Error> {
        tokio::pin!(waiting);
        loop {
            let (deadline, clock, after) = self.ends();
            match timeout_at(deadline, &mut waiting).await {
                Ok(done) => return Ok(done),
                // It stood still in the meantime.
                Err(_) if self.ends().0 > deadline => {}
                Err(_) => return Err(Error::timed_out(clock, after)),
            }
        }
    }

    /// Whether there is time left.
    pub(super) fn check(&self) -> Result<(), Error> {
        let (deadline, clock, after) = self.ends();
        match Instant::now() < deadline {
            true => Ok(()),
            false => Err(Error::timed_out(clock, after)),
        }
    }

    /// It stood still for so long.
    pub(super) fn hold(&mut self, still: Duration) {
        self.deadline = after(self.deadline, still);
        self.started = after(self.started, still);
    }

    fn progressed(&mut self) {
        if let Some(at_most) = self.at_most {
            self.deadline = after(Instant::now(), self.work).min(after(self.started, at_most));
        }
    }
}
