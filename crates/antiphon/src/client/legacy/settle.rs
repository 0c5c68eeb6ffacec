//! Which revision to speak: probes and handshakes, in which order (wire.md 10.3 and 10.4).

use antiphon_core::negotiate::{Remedy, Verdict, contradicts, remedy, supported};
use antiphon_types::{Version, code};

use super::probe::{Found, Late};
use crate::client::{
    Clock, Error, ErrorKind, Negotiated, discover::no_common, negotiation::Step, shared::Shared,
};

/// What to try next.
enum Next {
    Probe,
    Greet(Version),
}

/// What was tried already.
#[derive(Default)]
struct Tried {
    /// A probe that may still be answered.
    late: Option<Late>,
    /// The server answered the probe with what cannot be read.
    unread: Option<Error>,
    /// A probe after a handshake.
    second_probe: bool,
    proposed_again: bool,
    fell_back: bool,
}

impl Shared {
    /// Finds out what the server speaks, unless it is known, and begins to speak it.
    pub(in crate::client) async fn negotiate(
        &self,
        known: Option<Negotiated>,
    ) -> Result<(), Error> {
        let era = self.client.era;
        let Some(known) = known.filter(|known| era.allows(known.version)) else {
            return match era.probes() {
                true => self.settle(Next::Probe).await,
                false => self.settle_older().await,
            };
        };
        let version = known.version;
        self.session.trace.note(Step::Known { version });
        if !version.is_modern() {
            let settled = self.settle(Next::Greet(version)).await;
            return self.or_modern(settled).await;
        }
        self.negotiated.set(known);
        Ok(())
    }

    /// Greets the server as one of the version it had, or the newest there is.
    pub(super) async fn settle_older(&self) -> Result<(), Error> {
        let known = self.negotiated.get().map(|known| known.version);
        let known = known.filter(|version| !version.is_modern());
        let newest = || self.client.era.versions().find(|it| !it.is_modern());
        match known.or_else(newest) {
            Some(version) => self.settle(Next::Greet(version)).await,
            None => Err(no_common(self.client.era, Vec::new(), None)),
        }
    }

    /// A server that was an older one, and will not be greeted, may have become another (ERA-C-12).
    pub(super) async fn or_modern(&self, settled: Result<(), Error>) -> Result<(), Error> {
        let Err(error) = settled else {
            return Ok(());
        };
        // What a server says that does not know what a greeting is; not that it is full.
        let refused = match error.answered().map(|object| object.code) {
            Some(code) => [
                code::METHOD_NOT_FOUND,
                code::INVALID_PARAMS,
                code::INVALID_REQUEST,
            ]
            .contains(&code),
            None => contradicts(None, error.http_status(), false),
        };
        if !refused || !self.client.era.probes() {
            return Err(error);
        }
        let found = self.probe().await;
        match (found.verdict, found.result) {
            (Verdict::Modern(version), Some(result)) => {
                self.speak_modern(Negotiated::of(version, result))
            }
            _ => Err(error),
        }
    }

    /// However many steps it takes, the server has the time of one request for all of them.
    async fn settle(&self, mut next: Next) -> Result<(), Error> {
        let work = self.client.clocks.work;
        let patience = self.patience(work);
        let mut tried = Tried::default();
        loop {
            let step = async {
                match next {
                    Next::Probe => self.after_probe(&mut tried).await,
                    Next::Greet(version) => self.after_greeting(version, &mut tried).await,
                }
            };
            let settled = patience.limit(step).await.unwrap_or_else(|| {
                self.session.speak(None);
                Err(Error::timed_out(Clock::Work, work))
            });
            match settled {
                Ok(Some(another)) => next = another,
                Ok(None) => {
                    if let Some(late) = tried.late.take() {
                        self.ignore(late);
                    }
                    self.set_level(&patience).await;
                    return Ok(());
                }
                Err(error) => return Err(tried.unread.unwrap_or(error)),
            }
        }
    }

    /// Probes; what to try next, or nothing if that settled it.
    async fn after_probe(&self, tried: &mut Tried) -> Result<Option<Next>, Error> {
        let era = self.client.era;
        let found = self.probe().await;
        tried.late = found.late;
        match (found.verdict, found.result, found.error) {
            (Verdict::Modern(version), Some(result), _) => {
                self.speak_modern(Negotiated::of(version, result))?;
                Ok(None)
            }
            (Verdict::Legacy(versions), result, error) if era.greets() && !tried.second_probe => {
                let Some(version) = versions.into_iter().find(|version| era.allows(*version))
                else {
                    return Err(no_common(era, found.listed, error));
                };
                if found.gone {
                    self.start_over(error).await?;
                } else if result.is_none()
                    && let Some(error) = error
                    && matches!(error.kind(), ErrorKind::Decode)
                {
                    tried.unread = Some(error);
                }
                Ok(Some(Next::Greet(version)))
            }
            // ERA-C-13; or the one correction is over.
            (Verdict::Refused | Verdict::Again(_) | Verdict::Unknown, _, Some(error)) => Err(error),
            (_, _, error) => Err(no_common(era, found.listed, error)),
        }
    }

    /// The server left when it was probed: it gets another chance, and is not probed again.
    async fn start_over(&self, error: Option<Error>) -> Result<(), Error> {
        match self.transport.start_over().await {
            Ok(()) => {
                self.session.trace.note(Step::Restarted);
                Ok(())
            }
            Err(another) => Err(error.unwrap_or(another)),
        }
    }

    /// Greets; what to try next, or nothing if that settled it.
    async fn after_greeting(
        &self,
        version: Version,
        tried: &mut Tried,
    ) -> Result<Option<Next>, Error> {
        let era = self.client.era;
        let Err(error) = self.greet(version).await else {
            return Ok(None);
        };
        if let Some(late) = tried.late.take() {
            match self.found_late(late).await {
                Some(Found {
                    verdict: Verdict::Modern(version),
                    result: Some(result),
                    ..
                }) => {
                    self.speak_modern(Negotiated::of(version, result))?;
                    return Ok(None);
                }
                Some(Found {
                    verdict: Verdict::Again(_) | Verdict::Refused,
                    ..
                }) if !tried.second_probe => {
                    tried.second_probe = true;
                    return Ok(Some(Next::Probe));
                }
                _ => {}
            }
        }
        let object = error.answered();
        match remedy(object, error.http_status(), version) {
            Remedy::Probe if !tried.second_probe && era.probes() => {
                tried.second_probe = true;
                Ok(Some(Next::Probe))
            }
            Remedy::Propose(version) if !tried.proposed_again && era.allows(version) => {
                tried.proposed_again = true;
                Ok(Some(Next::Greet(version)))
            }
            Remedy::FallBack if !tried.fell_back => {
                tried.fell_back = true;
                match self.transport.fall_back().await {
                    Ok(true) => {
                        self.session.fell_back();
                        Ok(Some(Next::Greet(version)))
                    }
                    Ok(false) => Err(error),
                    Err(why) => {
                        tracing::debug!(%why, "HTTP+SSE is not spoken either");
                        Err(error)
                    }
                }
            }
            _ => match object.filter(|object| object.code == code::UNSUPPORTED_VERSION) {
                Some(object) => Err(no_common(era, supported(object), Some(error))),
                None => Err(error),
            },
        }
    }

    /// From here on each request stands alone.
    pub(super) fn speak_modern(&self, negotiated: Negotiated) -> Result<(), Error> {
        let version = negotiated.version;
        self.session.speak(None);
        if !self.negotiated.set(negotiated) {
            return Err(Error::decode("the server is another one every time"));
        }
        self.session.next_epoch();
        self.session.confirm();
        self.session.trace.note(Step::Settled { version });
        Ok(())
    }
}

impl super::Session {
    /// All messages come on one stream now.
    fn fell_back(&self) {
        self.trace.note(Step::FellBack);
        self.fell_back
            .store(true, std::sync::atomic::Ordering::Relaxed);
    }
}
