//! [`Hosted`]: one session over HTTP, with all that its client may come back for.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use antiphon_types::Version;
use tokio::time::Instant;

use super::{
    settings::Sessions,
    stream::{Kind, Taken, Weight},
    streams::{Budget, Lost, Seat, Streams},
};
use crate::{
    auth::Principal,
    legacy::{Mute, Session, watching},
    raw::Change,
};

/// A session, bound to whoever opened it.
pub(crate) struct Hosted {
    pub(super) session: Arc<Session>,
    principal: Option<Arc<Principal>>,
    /// What all sessions of a service share.
    common: Arc<Common>,
    pub(super) opened: Instant,
    /// When it was last of use, in milliseconds since the service was made.
    touched: AtomicU64,
    /// Calls that run, and connections that wait or read.
    busy: AtomicUsize,
    /// Of these, the connections.
    present: AtomicUsize,
    initialized: AtomicBool,
    over: AtomicBool,
    streams: Mutex<Streams>,
}

/// What all sessions of a service share.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) settings: Sessions,
    pub(super) began: Instant,
    /// Bytes of events of all sessions.
    pub(super) bytes: AtomicUsize,
}

impl Common {
    pub(super) fn new(settings: Sessions, now: Instant) -> Self {
        Self {
            settings,
            began: now,
            bytes: AtomicUsize::new(0),
        }
    }

    /// A moment, as sessions remember it.
    pub(super) fn moment(&self, now: Instant) -> u64 {
        let since = now.saturating_duration_since(self.began);
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}

impl Hosted {
    pub(super) fn new(
        session: Arc<Session>,
        principal: Option<Arc<Principal>>,
        common: Arc<Common>,
        now: Instant,
    ) -> Self {
        Self {
            session,
            principal,
            opened: now,
            touched: AtomicU64::new(common.moment(now)),
            common,
            busy: AtomicUsize::new(0),
            present: AtomicUsize::new(0),
            initialized: AtomicBool::new(false),
            over: AtomicBool::new(false),
            streams: Mutex::default(),
        }
    }

    /// Whether it is this party's.
    pub(super) fn is_of(&self, principal: Option<&Principal>) -> bool {
        self.principal.as_deref() == principal
    }

    /// Whether its calls are answered with single messages.
    pub(crate) fn is_plain(&self) -> bool {
        self.session.mute == Some(Mute::JsonOnly)
    }

    /// Whether its client comes back for the rest of a stream by itself (LHTTP-S-07).
    pub(crate) fn comes_back(&self) -> bool {
        self.session.version >= Version::V2025_11_25
    }

    pub(super) fn touch(&self, now: Instant) {
        let moment = self.common.moment(now);
        self.touched.fetch_max(moment, Ordering::Relaxed);
    }

    /// Since when its client is away, if it is: calls may run.
    pub(super) fn away_since(&self) -> Option<u64> {
        let away = self.present.load(Ordering::Acquire) == 0;
        away.then(|| self.touched.load(Ordering::Relaxed))
    }

    /// Since when it is idle, if it is: the client is away, and nothing runs.
    pub(super) fn idle_since(&self) -> Option<u64> {
        let idle = self.busy.load(Ordering::Acquire) == 0;
        idle.then(|| self.touched.load(Ordering::Relaxed))
    }

    /// Not idle from here on, for as long as what comes back is kept.
    pub(super) fn busy(self: &Arc<Self>) -> Busy {
        self.busy.fetch_add(1, Ordering::AcqRel);
        Busy(self.clone())
    }

    /// The client is there from here on, for as long as what comes back is kept.
    pub(super) fn present(self: &Arc<Self>) -> Present {
        self.present.fetch_add(1, Ordering::AcqRel);
        Present(self.busy())
    }

    /// The client is ready to be told things (LEG-S-02).
    pub(super) fn begin_telling(&self) {
        self.initialized.store(true, Ordering::Release);
        let mut streams = self.lock();
        if let Some(newest) = streams.newest() {
            streams.wake(newest);
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Ends the session: its questions fail, its calls are cancelled and say so, its streams end.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Release);
        self.session.asked.end();
        self.session.in_flight.cancel_all();
        self.lock().close_standalone(Instant::now());
    }

    /// Opens the stream of a response, or a standalone one, and says first what it is called if
    /// the client knows what for.
    pub(super) fn open(&self, kind: Kind, retry: Option<Duration>) -> Seat {
        let mut streams = self.lock();
        self.budgeted(|budget| {
            let seat = streams.open(kind, Instant::now(), budget);
            if kind == Kind::Standalone && self.is_over() {
                // It was ended since it was found.
                streams.close(seat.stream, Instant::now());
            }
            if self.comes_back() {
                let retry = retry.unwrap_or(budget.settings.retry);
                streams.prime(seat.stream, retry, budget);
            }
            seat
        })
    }

    /// Adds a message to a stream; `false` if nobody can ever read it.
    pub(super) fn push(&self, stream: u64, weight: Weight, message: Vec<u8>) -> bool {
        let mut streams = self.lock();
        self.budgeted(|budget| streams.push(stream, weight, message, budget))
    }

    pub(super) fn close(&self, stream: u64) {
        self.lock().close(stream, Instant::now());
    }

    pub(super) fn let_go(&self, stream: u64, retry: Duration) {
        self.lock().let_go(stream, retry);
    }

    /// Forgets that the client was to be told that nothing more comes, which was for those who
    /// listened then.
    pub(super) fn forget_end(&self) {
        if self.lock().newest().is_none()
            && let Some(listener) = self.session.listener()
        {
            listener.forget_end();
        }
    }

    pub(super) fn attach(&self, stream: u64, last: u64) -> Result<(Seat, Kind), Lost> {
        let mut streams = self.lock();
        let attached = self.budgeted(|budget| streams.attach(stream, last, Instant::now(), budget));
        if self.is_over() {
            streams.close_standalone(Instant::now());
        }
        attached
    }

    pub(super) fn detach(&self, seat: Seat) {
        let mut streams = self.lock();
        self.budgeted(|budget| streams.detach(seat, Instant::now(), budget));
    }

    pub(super) fn take(&self, seat: &mut Seat, context: &Context<'_>) -> Taken {
        self.lock().take(seat, context.waker())
    }

    /// Moves what changed to a standalone stream, if it is the one to be told (LHTTP-S-15).
    pub(super) fn tell(&self, stream: u64, context: &Context<'_>) {
        if !self.initialized.load(Ordering::Acquire) {
            return;
        }
        let Some(listener) = self.session.listener() else {
            return;
        };
        let mut streams = self.lock();
        // One look at a time, so that what changes meanwhile finds somebody who waits for it.
        while streams.newest() == Some(stream) {
            let Poll::Ready(changes) = listener.poll_changes(context) else {
                return;
            };
            for change in changes {
                if change == Change::End {
                    streams.close_standalone(Instant::now());
                } else if let Some(message) = watching::message(&change) {
                    self.budgeted(|budget| streams.push(stream, Weight::Passing, message, budget));
                }
            }
        }
    }

    pub(super) fn sweep(&self, now: Instant) {
        let mut streams = self.lock();
        if streams.bytes() > 0 {
            self.budgeted(|budget| streams.sweep(now, budget));
        }
    }

    pub(super) fn settings(&self) -> &Sessions {
        &self.common.settings
    }

    fn budgeted<T>(&self, act: impl FnOnce(Budget<'_>) -> T) -> T {
        act(Budget {
            settings: &self.common.settings,
            total: &self.common.bytes,
            waits: &|question| self.session.asked.waits_for(question),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        let held = self.lock().bytes();
        self.common.bytes.fetch_sub(held, Ordering::Relaxed);
    }
}

/// Nothing of who it is.
impl fmt::Debug for Hosted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hosted")
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// A session that is not idle.
#[derive(Debug)]
pub(super) struct Busy(Arc<Hosted>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.touch(Instant::now());
        self.0.busy.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A session whose client is connected.
#[derive(Debug)]
pub(super) struct Present(Busy);

impl Drop for Present {
    fn drop(&mut self) {
        let Busy(hosted) = &self.0;
        hosted.touch(Instant::now());
        hosted.present.fetch_sub(1, Ordering::AcqRel);
    }
}
