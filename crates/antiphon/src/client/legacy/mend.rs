//! Sessions that are lost, and answers of another era.
//!
//! Many requests may notice at once; the first of them sees to it, on a task of its own, so that
//! a caller who goes away breaks off no handshake (LEG-C-07). The others wait for what comes of
//! it.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use antiphon_core::negotiate::{Verdict, contradicts, outgrown};

use crate::client::{
    Error, ErrorKind, Negotiated,
    negotiation::Step,
    shared::{Shared, closed},
};
use crate::excerpt::sentence;

/// Who sees to it.
#[derive(Default)]
pub(super) struct Mending {
    one: tokio::sync::Mutex<()>,
    /// Attempts that failed, and why the last did.
    failures: AtomicU64,
    why: Mutex<String>,
}

/// What is to be mended.
#[derive(Clone, Copy, PartialEq)]
enum Trouble {
    /// The session is gone.
    Lost,
    /// A modern server answers like an older one.
    Doubtful,
    /// An older one answers like a modern one.
    Outgrown,
}

impl Shared {
    /// Whether to send a request once more: its session was lost and is there again, or the server
    /// turned out to be an older one. `epoch` is from before it was sent.
    ///
    /// # Errors
    /// The error itself, or why it is of no use to try again.
    pub(in crate::client) async fn mended(&self, error: Error, epoch: u64) -> Result<(), Error> {
        let (object, status) = (error.answered(), error.http_status());
        let is_modern = self.version().is_modern();
        let confirmed = self.session.confirmed.load(Ordering::Relaxed);
        let trouble = match (is_modern, error.kind()) {
            (false, ErrorKind::SessionLost) => Trouble::Lost,
            (true, _) if contradicts(object, status, confirmed) => Trouble::Doubtful,
            (false, _) if object.is_some_and(|object| outgrown(object, status)) => {
                Trouble::Outgrown
            }
            _ => return Err(error),
        };
        let Some(me) = self.me.upgrade() else {
            return Err(error);
        };
        let failures = self.session.mending.failures.load(Ordering::SeqCst);
        let mending = async move { me.mend(trouble, error, epoch, failures, confirmed).await };
        let mending = tokio::spawn(mending);
        tokio::select! {
            biased;
            () = self.closed.cancelled() => Err(closed()),
            mended = mending => mended.unwrap_or_else(|panic| {
                let error = Error::transport("the session was not renewed");
                Err(error.caused_by(panic))
            }),
        }
    }

    async fn mend(
        self: Arc<Self>,
        trouble: Trouble,
        error: Error,
        epoch: u64,
        failures: u64,
        confirmed: bool,
    ) -> Result<(), Error> {
        let mending = &self.session.mending;
        let _one = mending.one.lock().await;
        if self.session.epoch() != epoch {
            // Somebody else was first. What was modern and still is will say the same again.
            return match trouble == Trouble::Doubtful && self.version().is_modern() {
                true => Err(error),
                false => Ok(()),
            };
        }
        if mending.failures.load(Ordering::SeqCst) != failures {
            let why = mending.why.lock().unwrap_or_else(PoisonError::into_inner);
            return Err(Error::transport(why.clone()).unsent());
        }
        let mended = match trouble {
            Trouble::Lost => self.renew().await,
            Trouble::Doubtful => self.reconsider(error, confirmed).await,
            Trouble::Outgrown => self.catch_up(error).await,
        };
        if let Err(error) = &mended {
            let mut why = mending.why.lock().unwrap_or_else(PoisonError::into_inner);
            *why = error.to_string();
            mending.failures.fetch_add(1, Ordering::SeqCst);
        }
        mended
    }

    /// Begins another session (LHTTP-C-10).
    async fn renew(&self) -> Result<(), Error> {
        self.session.trace.note(Step::SessionLost);
        self.session.pushed.withdraw_all();
        self.transport.start_over().await?;
        let settled = self.settle_older().await;
        self.or_modern(settled).await?;
        self.subscribe_again().await;
        Ok(())
    }

    /// Probes a server that was an older one when it was greeted (wire.md 10.3, step 1). The request
    /// that it refused was not processed.
    async fn catch_up(&self, error: Error) -> Result<(), Error> {
        if !self.client.era.probes() {
            return Err(error);
        }
        self.session.trace.note(Step::Contradicted {
            answer: sentence(&error.to_string()),
        });
        let found = self.probe().await;
        let (Verdict::Modern(version), Some(result)) = (found.verdict, found.result) else {
            return Err(error);
        };
        self.session.pushed.withdraw_all();
        self.transport.start_over().await?;
        self.speak_modern(Negotiated::of(version, result))?;
        self.cache.evict(|_| true);
        self.tools.forget();
        self.subscribe_again().await;
        Ok(())
    }

    /// Probes again (wire.md 10.3, steps 1 and 7). What was never seen to be modern may be spoken
    /// with as it likes; what was is not demoted in silence.
    async fn reconsider(&self, error: Error, confirmed: bool) -> Result<(), Error> {
        self.session.trace.note(Step::Contradicted {
            answer: sentence(&error.to_string()),
        });
        let found = self.probe().await;
        match found.verdict {
            Verdict::Modern(_) => {
                self.session.confirm();
                self.session.next_epoch();
                Err(error)
            }
            Verdict::Legacy(_) if !confirmed && self.client.era.greets() => {
                let settled = self.settle_older().await;
                if let Some(late) = found.late {
                    self.ignore(late);
                }
                settled
            }
            Verdict::Legacy(_) => {
                let supported = found.listed;
                let message = format!(
                    "the server spoke {} before, and now answers like one of an older revision: \
                     connect to it anew",
                    self.version()
                );
                Err(Error::new(ErrorKind::Version { supported }, message).caused_by(error))
            }
            _ => Err(error),
        }
    }
}
