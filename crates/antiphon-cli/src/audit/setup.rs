//! What an audit needs before it begins: the tool and its arguments, and the wires.

use std::{
    cell::{OnceCell, RefCell},
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use antiphon::client::{Bytes, Event, Events};
use serde_json::json;
use tokio::sync::broadcast;

use super::{
    Audit, Memory, Subject,
    answers::Answering,
    wire::{Wire, is_stray},
};
use crate::{
    answering::Rules,
    connect::{self, As, Session},
    failure::Failure,
    options::Connecting,
    progress::Progress,
    target::Place,
    trace::Trace,
};

/// How long a request may take, unless told.
const CLOCK: Duration = Duration::from_secs(30);

/// Errors for no request that are kept for whoever waits.
const STRAY: usize = 16;

/// How an audit is done.
pub(crate) struct Settings {
    pub(crate) rules: Option<Rules>,
    pub(crate) allow_effects: bool,
    pub(crate) wait: Option<Duration>,
    pub(crate) second: Option<Connecting>,
    pub(crate) replica: Option<Place>,
}

/// How the server is reached, again and again.
pub(super) struct Reach {
    place: Place,
    connecting: Connecting,
    clock: Duration,
    sent: Arc<AtomicU64>,
    trace: Option<Arc<Trace>>,
    progress: Progress,
}

impl Reach {
    /// A way of its own. Nothing is sent; a server that is a command is started. `aside` hears what
    /// belongs to no request.
    pub(super) async fn wire(&self, whom: As, aside: Aside) -> Result<Arc<Wire>, Failure> {
        let (place, connecting) = (&self.place, &self.connecting);
        self.wire_to(place, connecting, whom, aside).await
    }

    async fn wire_to(
        &self,
        place: &Place,
        connecting: &Connecting,
        whom: As,
        aside: Aside,
    ) -> Result<Arc<Wire>, Failure> {
        let (stray, _) = broadcast::channel(STRAY);
        let strays = stray.clone();
        let events = Events::new(move |event| match event {
            Event::Message(message) if is_stray(&message) => _ = strays.send(message),
            Event::Message(message) => aside(message),
            _ => {}
        });
        let way = connect::raw(place, connecting, whom, &self.progress, events).await?;
        let (sent, trace) = (self.sent.clone(), self.trace.clone());
        Ok(Arc::new(Wire::new(way, self.clock, sent, trace, stray)))
    }

    pub(super) fn is_http(&self) -> bool {
        self.place.is_http()
    }
}

/// Who hears what belongs to no request.
pub(super) type Aside = Box<dyn Fn(Bytes) + Send + Sync>;

/// Nobody does.
fn unheard() -> Aside {
    Box::new(|_| ())
}

impl Audit {
    /// Opens the ways that are needed from the beginning.
    pub(crate) async fn prepare(
        place: &Place,
        connecting: &Connecting,
        subject: Subject,
        session: &Session,
        settings: Settings,
    ) -> Result<Self, Failure> {
        let progress = &session.progress;
        let reach = Reach {
            place: place.clone(),
            connecting: connecting.clone(),
            clock: connecting.timeout.work.unwrap_or(CLOCK),
            sent: Arc::default(),
            trace: Trace::new(connecting, progress)?.map(Arc::new),
            progress: progress.clone(),
        };
        let wire = reach.wire(As::Caller, unheard()).await?;
        let mut anonymous = None;
        if let Ok(Some(_)) = wire.transport.authorization().await {
            anonymous = Some(reach.wire(As::Nobody, unheard()).await?);
        }
        let mut second = None;
        if let Some(other) = &settings.second {
            second = Some(reach.wire_to(place, other, As::Token, unheard()).await?);
        }
        let mut replica = None;
        if let Some(other) = &settings.replica {
            let whom = As::Caller;
            replica = Some(reach.wire_to(other, connecting, whom, unheard()).await?);
        }
        let call = json!({"method": "tools/call", "name": subject.tool.name});
        Ok(Self {
            answering: Answering {
                rules: settings.rules,
                server: session.connection.server().clone(),
                call: serde_json::from_value(call)?,
                accepts: settings.allow_effects,
            },
            subject,
            allow_effects: settings.allow_effects,
            wait: settings.wait,
            wire,
            second,
            anonymous,
            replica,
            progress: progress.clone(),
            sent: reach.sent.clone(),
            reach,
            reference: OnceCell::new(),
            older: OnceCell::new(),
            memory: RefCell::new(Memory::default()),
        })
    }

    /// Ends what was opened.
    pub(crate) async fn close(&self) {
        let wires = [
            Some(&self.wire),
            self.second.as_ref(),
            self.anonymous.as_ref(),
            self.replica.as_ref(),
        ];
        for wire in wires.into_iter().flatten() {
            wire.transport.close().await;
        }
    }
}
