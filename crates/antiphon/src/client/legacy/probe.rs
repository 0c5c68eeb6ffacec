//! One probe, and answers to it that come late.

use std::{future::poll_fn, time::Duration};

use antiphon_core::negotiate::{Probed, Verdict, probed};
use antiphon_types::{DiscoverResult, RequestParams, Version, method::Discover};
use bytes::Bytes;

use crate::client::{
    Clock, Error, ErrorKind, Incoming, Traffic,
    given::Given,
    negotiation::Step,
    options::Options,
    sending::decoded,
    shared::{Leg, Shared, WorkClock},
};
use crate::excerpt::sentence;

/// How long a late answer may take to show up once a handshake has failed.
const LATE: Duration = Duration::from_millis(500);

/// What a probe found.
pub(super) struct Found {
    pub(super) verdict: Verdict,
    /// The versions that the server lists.
    pub(super) listed: Vec<String>,
    pub(super) result: Option<DiscoverResult>,
    pub(super) error: Option<Error>,
    /// The server left.
    pub(super) gone: bool,
    /// The answer may still come.
    pub(super) late: Option<Late>,
}

/// A probe that was not answered in time. Its id stays taken, so that the answer is known for what
/// it is (ERA-C-16).
pub(super) struct Late {
    id: i64,
    incoming: Incoming,
}

impl Shared {
    /// Asks the server what it speaks, once more if it prefers another version of ours (VER-C-02).
    pub(super) async fn probe(&self) -> Found {
        let found = self.probe_once().await;
        match found.verdict {
            Verdict::Again(_) => {
                let mut again = self.probe_once().await;
                // ERA-C-03: it is modern, whatever came of that.
                if matches!(again.verdict, Verdict::Legacy(_)) && again.listed.is_empty() {
                    again.verdict = Verdict::Refused;
                }
                again
            }
            _ => found,
        }
    }

    async fn probe_once(&self) -> Found {
        let mut late = None;
        let answer = tokio::select! {
            biased;
            () = self.closed.cancelled() => Err(crate::client::shared::closed()),
            answer = self.ask_for_versions(&mut late) => answer,
        };
        self.found(answer, late)
    }

    async fn ask_for_versions(&self, late: &mut Option<Late>) -> Result<Bytes, Error> {
        let mut options = Options::default();
        if self.transport.is_channel() {
            // AMB-20; a greeting must have its time as well.
            let clocks = &self.client.clocks;
            options.work = Some(clocks.probe.min(clocks.work / 2));
        }
        let leg = self.probing(&options);
        let outgoing = self.written(&leg, &RequestParams::new())?;
        let id = outgoing.id;
        let mut clock = WorkClock::new(self, &leg);
        let mut incoming = clock.limit(self.transport.send(outgoing)).await??;
        let answer = self.receive(&leg, id, &mut clock, &mut incoming, None);
        let answer = answer.await.and_then(Given::into_text);
        if answer.as_ref().is_err_and(is_silence) {
            *late = Some(Late { id, incoming });
        }
        answer
    }

    fn probing<'a>(&'a self, options: &'a Options) -> Leg<'a> {
        Leg {
            version: Version::LATEST,
            ..self.leg::<Discover>(options)
        }
    }

    /// What an answer says.
    fn found(&self, answer: Result<Bytes, Error>, late: Option<Late>) -> Found {
        let on_channel = self.transport.is_channel();
        let decoded = answer.map(|text| decoded::<Discover>(&text));
        let probe = match &decoded {
            Ok(result) => Probed::Result(result.as_ref().ok()),
            Err(error) => match error.kind() {
                ErrorKind::Protocol(object) => Probed::Error(object, error.http_status()),
                ErrorKind::Status(status) => Probed::Status(*status),
                ErrorKind::TimedOut { .. } if on_channel => Probed::Silence,
                ErrorKind::Transport if on_channel && !self.closed.is_cancelled() => Probed::Gone,
                // It answered, with nothing of today; over HTTP it may be no MCP server at all.
                ErrorKind::Decode if on_channel => Probed::Result(None),
                _ => Probed::Failed,
            },
        };
        let gone = matches!(probe, Probed::Gone);
        let (verdict, listed) = probed(&probe);
        let (result, error) = match decoded {
            Ok(Ok(result)) => (Some(result), None),
            Ok(Err(error)) | Err(error) => (None, Some(error)),
        };
        let answer = match (&result, &error) {
            (Some(result), _) => result.supported_versions.join(", "),
            (None, Some(error)) => error.to_string(),
            (None, None) => String::new(),
        };
        self.session.trace.note(Step::Probed {
            version: Version::LATEST,
            answer: sentence(&answer),
        });
        Found {
            verdict,
            listed,
            result,
            error,
            gone,
            late,
        }
    }

    /// What a probe found in the end, if its answer has come by now.
    pub(super) async fn found_late(&self, late: Late) -> Option<Found> {
        let options = Options {
            work: Some(LATE),
            ..Options::default()
        };
        let leg = self.probing(&options);
        let mut clock = WorkClock::new(self, &leg);
        let Late { id, mut incoming } = late;
        let answer = self.receive(&leg, id, &mut clock, &mut incoming, None);
        match answer.await.and_then(Given::into_text) {
            Err(error) if is_silence(&error) => None,
            answer => Some(self.found(answer, None)),
        }
    }

    /// Nobody wants the answer any more, but it must be known for what it is.
    pub(super) fn ignore(&self, late: Late) {
        let listeners = self.client.listeners.clone();
        let Late { mut incoming, .. } = late;
        tokio::spawn(async move {
            while let Some(answer) = poll_fn(|context| incoming.poll_next(context)).await {
                if let Ok(answer) = answer {
                    listeners.traffic(Traffic::Received(&answer));
                    tracing::debug!("a late answer to the probe");
                }
            }
        });
    }
}

fn is_silence(error: &Error) -> bool {
    let clock = Clock::Work;
    matches!(error.kind(), ErrorKind::TimedOut { clock: which, .. } if *which == clock)
}
