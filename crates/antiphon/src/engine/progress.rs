//! [`Progress`]: how far a request's work is.

use std::sync::{Arc, Mutex, PoisonError};

use antiphon_types::{ProgressNotificationParams, ProgressToken};
use serde_json::Number;

use super::outbox::Outbox;

/// Reports progress of one request to its client.
///
/// Values must grow; one that does not is left out (PROG-S-02). Without a token from the client
/// nothing is sent. Clones report together, also from other tasks; after the request's answer
/// they are silent (PROG-S-06).
#[derive(Debug, Clone)]
pub struct Progress(Option<Arc<Reporter>>);

#[derive(Debug)]
struct Reporter {
    token: ProgressToken,
    outbox: Arc<Outbox>,
    last: Mutex<Option<f64>>,
}

impl Progress {
    pub(crate) fn new(token: Option<ProgressToken>, outbox: &Arc<Outbox>) -> Self {
        Self(token.map(|token| {
            Arc::new(Reporter {
                token,
                outbox: outbox.clone(),
                last: Mutex::new(None),
            })
        }))
    }

    /// Whether the client wants to know.
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// `done` of an unknown total.
    pub fn report(&self, done: impl Amount) {
        self.send(&done.number(), None, None);
    }

    /// `done` of `total`.
    pub fn report_of(&self, done: impl Amount, total: impl Amount) {
        self.send(&done.number(), Some(total.number()), None);
    }

    /// `done` of `total`, with a word for the user.
    pub fn report_with(
        &self,
        done: impl Amount,
        total: Option<impl Amount>,
        message: impl Into<String>,
    ) {
        self.send(
            &done.number(),
            total.map(|total| total.number()),
            Some(message.into()),
        );
    }

    fn send(&self, done: &Number, total: Option<Number>, message: Option<String>) {
        let Some(reporter) = &self.0 else { return };
        let value = done.as_f64().unwrap_or(f64::NAN);
        let mut last = reporter.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some_and(|last| value <= last) {
            tracing::debug!(%done, "progress must grow; this report was left out");
            return;
        }
        *last = Some(value);
        let mut params = ProgressNotificationParams::new(reporter.token.clone(), done.clone());
        params.total = total;
        params.message = message;
        reporter.outbox.notify("notifications/progress", &params);
    }
}

/// Numbers progress can be measured in.
pub trait Amount {
    /// As JSON writes it.
    fn number(self) -> Number;
}

macro_rules! amounts {
    ($($integer:ty),*) => {$(
        impl Amount for $integer {
            fn number(self) -> Number {
                self.into()
            }
        }
    )*};
}

amounts!(u8, u16, u32, u64, usize, i32, i64);

impl Amount for f64 {
    /// What is no number at all counts as 0.
    fn number(self) -> Number {
        Number::from_f64(self).unwrap_or_else(|| 0.into())
    }
}
