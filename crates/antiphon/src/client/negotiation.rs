//! [`Step`]: how a client and a server came to speak as they do.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use antiphon_types::Version;
use serde::{Deserialize, Serialize};

/// Most steps that are remembered.
const STEPS: usize = 100;

/// One step on the way to a common revision; see
/// [`Connection::negotiation`](super::Connection::negotiation).
///
/// Plain data, and a line of text by `Display`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "step")]
#[non_exhaustive]
pub enum Step {
    /// The revision was known before.
    Known {
        /// Which.
        version: Version,
    },
    /// The server was asked what it speaks: `server/discover`.
    Probed {
        /// In which revision.
        version: Version,
        /// What it said.
        answer: String,
    },
    /// The server was greeted: `initialize`.
    Greeted {
        /// In which revision.
        version: Version,
        /// What it said.
        answer: String,
    },
    /// The server left, and was started anew.
    Restarted,
    /// There is no Streamable HTTP at its URL: HTTP with server-sent events of 2024-11-05.
    FellBack,
    /// An answer did not fit the revision that was spoken.
    Contradicted {
        /// What it said.
        answer: String,
    },
    /// The server did not know the session any more.
    SessionLost,
    /// This revision is spoken from here on.
    Settled {
        /// Which.
        version: Version,
    },
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known { version } => write!(f, "{version} is known from before"),
            Self::Probed { version, answer } => {
                write!(f, "server/discover in {version}: {answer}")
            }
            Self::Greeted { version, answer } => write!(f, "initialize in {version}: {answer}"),
            Self::Restarted => f.write_str("the server left, and was started anew"),
            Self::FellBack => f.write_str("no Streamable HTTP: HTTP+SSE of 2024-11-05"),
            Self::Contradicted { answer } => {
                write!(f, "that is no answer in this revision: {answer}")
            }
            Self::SessionLost => f.write_str("the server does not know the session any more"),
            Self::Settled { version } => write!(f, "{version} it is"),
        }
    }
}

/// The steps so far.
#[derive(Debug, Default)]
pub(super) struct Trace(Mutex<Vec<Step>>);

impl Trace {
    /// Adds a step; of very many the oldest are forgotten.
    pub(super) fn note(&self, step: Step) {
        tracing::debug!(%step, "negotiation");
        let mut steps = self.lock();
        if steps.len() == STEPS {
            steps.remove(0);
        }
        steps.push(step);
    }

    pub(super) fn steps(&self) -> Vec<Step> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Step>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_bounded_and_readable() {
        let trace = Trace::default();
        trace.note(Step::Restarted);
        for _ in 0..STEPS {
            trace.note(Step::Settled {
                version: Version::V2025_03_26,
            });
        }
        let steps = trace.steps();
        assert_eq!(steps.len(), STEPS);
        assert_eq!(steps[0].to_string(), "2025-03-26 it is");
        let stored = serde_json::to_string(&steps).expect("JSON");
        assert_eq!(
            serde_json::from_str::<Vec<Step>>(&stored).expect("read"),
            steps
        );
    }
}
