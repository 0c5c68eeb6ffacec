//! [`Fault`]: what a handler did wrong that no client can see.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

/// A mistake in how a handler asks. Each names the key of the question, or the resolver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It asked, and went on as if it had not.
    Swallowed { key: String },
    /// It asked two different questions under one key.
    Clash { key: String },
    /// It asked when the call was over.
    AskedLate { key: String },
    /// It asked something else each time it ran.
    Drift { key: String },
    /// It asked within `once`.
    AskedWithin { key: String },
    /// What came of a step cannot be read back.
    Unreadable { key: String },
    /// It did two things under one key of `once`.
    Twice { key: String },
    /// It went on, or asked, while the work of `once` was neither done nor had failed.
    Unfinished { key: String },
    /// It began the work of `once` before the state was claimed.
    Unclaimed { key: String },
    /// Resolvers wait for each other.
    Circle { path: String },
    /// Two resolvers have one name, or one that goes on where the other ends.
    Namesakes { name: String, other: String },
    /// It wanted one key confirmed twice.
    ConfirmedTwice { key: String },
    /// It was to go on upon a yes before the state was claimed.
    ConfirmedEarly { key: String },
    /// What is to be confirmed has no exact form.
    Inexact { key: String },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Swallowed { key } => write!(
                f,
                "the question `{key}` was swallowed: the handler asked, was told to stop, and \
                 ended with a result; return the `Stop` that asking gives, as `?` does"
            ),
            Self::Clash { key } => write!(
                f,
                "the key `{key}` clashes: two different questions were asked under it in one run; \
                 give each question a key of its own"
            ),
            Self::AskedLate { key } => write!(
                f,
                "the question `{key}` was asked late: the call was over, and nobody is there to \
                 answer; ask before the handler returns, and not on a task that outlives it"
            ),
            Self::Drift { key } => write!(
                f,
                "the question `{key}` drifts: it is another one each time the handler runs, so no \
                 answer can count; make it of the arguments and of earlier answers, not of the \
                 time, of chance or of what changes in between"
            ),
            Self::AskedWithin { key } => write!(
                f,
                "`{key}` was asked for within `once`, which runs from its beginning to its end; \
                 ask before it or after it"
            ),
            Self::Unreadable { key } => write!(
                f,
                "what came of the step `{key}` cannot be read back from JSON as its type; have it \
                 return something that can"
            ),
            Self::Twice { key } => write!(
                f,
                "the key `{key}` was used for `once` twice in one run, and the second would get \
                 what came of the first; give each step a key of its own"
            ),
            Self::Unfinished { key } => write!(
                f,
                "the work of `once` under `{key}` was begun and left: nobody knows how much of it \
                 was done, and it would be done again; await it to its end before anything else \
                 is asked, and put no timeout around it but within"
            ),
            Self::Unclaimed { key } => write!(
                f,
                "the work of `once` under `{key}` was to be done before the state was claimed, \
                 and so for everybody who sends it again; do it in the handler, or in an \
                 extractor whose `ASKS` is true"
            ),
            Self::Circle { path } => write!(
                f,
                "the resolvers {path} wait for each other; let one of them do without the next, \
                 and name all that a resolver takes in `describe`, so that this is found when the \
                 server starts"
            ),
            Self::Namesakes { name, other } if name != other => write!(
                f,
                "the names `{other}` and `{name}` of two resolvers begin alike, and so could the \
                 keys of their questions; give one of them another"
            ),
            Self::Namesakes { name, .. } => write!(
                f,
                "two resolvers have the name `{name}`, by which the keys of their questions \
                 begin; give one of them another"
            ),
            Self::ConfirmedTwice { key } => write!(
                f,
                "the key `{key}` was confirmed twice in one run, and one yes would be good for two \
                 things; give each confirmation a key of its own"
            ),
            Self::ConfirmedEarly { key } => write!(
                f,
                "`{key}` was confirmed before the state was claimed, and so for everybody who sends \
                 it again; confirm it in the handler, or in an extractor whose `ASKS` is true"
            ),
            Self::Inexact { key } => write!(
                f,
                "what `{key}` is to confirm cannot be told exactly; have it serialise as JSON in \
                 which no object has a name twice"
            ),
        }
    }
}

/// A step of `once` that a handler took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) key: String,
    /// Whether its work was done for it, and not known before.
    pub(crate) done: bool,
}

/// Where a server's faults go, and the steps that its handlers take. They are kept from when
/// somebody looks for the first time, which nobody does but the test kit; until then nothing is.
/// Clones of a server share them.
#[derive(Clone, Default)]
pub(crate) struct Faults(Arc<OnceLock<Mutex<Kept>>>);

#[derive(Default)]
struct Kept {
    faults: Vec<Fault>,
    steps: Vec<Step>,
}

impl Faults {
    /// Tells of a fault whoever looks for them.
    pub(crate) fn tell(&self, fault: Fault) {
        if let Some(mut kept) = self.kept() {
            kept.faults.push(fault);
        }
    }

    /// Tells of a step whoever looks for them.
    pub(crate) fn tell_step(&self, key: &str, done: bool) {
        if let Some(mut kept) = self.kept() {
            let key = key.to_owned();
            kept.steps.push(Step { key, done });
        }
    }

    fn kept(&self) -> Option<MutexGuard<'_, Kept>> {
        let kept = self.0.get()?;
        Some(kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    #[cfg(feature = "testing")]
    fn look(&self) -> MutexGuard<'_, Kept> {
        let kept = self.0.get_or_init(Mutex::default);
        kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was told since this was last asked, which is nothing the first time.
    #[cfg(feature = "testing")]
    pub(crate) fn take(&self) -> Vec<Fault> {
        std::mem::take(&mut self.look().faults)
    }

    /// The steps that were taken since this was last asked, which are none the first time.
    #[cfg(feature = "testing")]
    pub(crate) fn take_steps(&self) -> Vec<Step> {
        std::mem::take(&mut self.look().steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_names_its_key_and_what_to_do() {
        let key = || "scope".to_owned();
        for (fault, named, to_do) in [
            (Fault::Swallowed { key: key() }, "swallowed", "return the"),
            (Fault::Clash { key: key() }, "clashes", "a key of its own"),
            (Fault::AskedLate { key: key() }, "late", "ask before"),
            (Fault::Drift { key: key() }, "drifts", "of the arguments"),
            (Fault::AskedWithin { key: key() }, "within", "ask before"),
            (Fault::Unreadable { key: key() }, "read back", "that can"),
            (Fault::Twice { key: key() }, "twice", "a key of its own"),
            (Fault::Unfinished { key: key() }, "left", "await it"),
            (Fault::Unclaimed { key: key() }, "claimed", "do it in"),
            (
                Fault::Circle {
                    path: "`scope`".into(),
                },
                "each other",
                "do without",
            ),
            (
                Fault::Namesakes {
                    name: key(),
                    other: key(),
                },
                "two",
                "give one",
            ),
            (
                Fault::Namesakes {
                    name: key(),
                    other: "sco".into(),
                },
                "alike",
                "give one",
            ),
            (
                Fault::ConfirmedTwice { key: key() },
                "confirmed twice",
                "a key of its own",
            ),
            (
                Fault::ConfirmedEarly { key: key() },
                "claimed",
                "confirm it in",
            ),
            (Fault::Inexact { key: key() }, "exactly", "serialise as"),
        ] {
            let text = fault.to_string();
            for part in ["`scope`", named, to_do] {
                assert!(text.contains(part), "{text}");
            }
        }
    }

    #[cfg(feature = "testing")]
    #[test]
    fn faults_are_kept_once_somebody_looks() {
        let faults = Faults::default();
        let clash = |key: &str| Fault::Clash { key: key.into() };
        faults.tell(clash("early"));
        assert_eq!(faults.take(), []);
        faults.clone().tell(clash("a"));
        faults.tell(clash("b"));
        assert_eq!(faults.take(), [clash("a"), clash("b")]);
        assert_eq!(faults.take(), []);
    }

    #[cfg(feature = "testing")]
    #[test]
    fn steps_are_kept_apart_from_faults() {
        let faults = Faults::default();
        faults.tell_step("early", true);
        assert_eq!(faults.take_steps(), []);
        faults.tell_step("a", true);
        faults.tell_step("b", false);
        assert_eq!(faults.take(), []);
        let step = |key: &str, done| Step {
            key: key.into(),
            done,
        };
        assert_eq!(faults.take_steps(), [step("a", true), step("b", false)]);
        assert_eq!(faults.take_steps(), []);
    }
}
