//! [`Probe`]: one thing that is tried, what it means, and what to do about it.

use std::pin::Pin;

use super::{Audit, finding::Finding};

/// What a probe does.
pub(super) type Run = for<'a> fn(&'a Audit) -> Pin<Box<dyn Future<Output = Finding> + 'a>>;

/// One thing that is tried.
pub(crate) struct Probe {
    /// Its name, which never changes.
    pub(super) id: &'static str,
    pub(super) group: &'static str,
    /// What is tried, in a few words.
    pub(super) title: &'static str,
    /// What it means if a server does not pass.
    pub(super) meaning: &'static str,
    /// What its author should do then.
    pub(super) advice: &'static str,
    /// The rules it is about, of the ledger of requirements.
    pub(super) ledger: &'static [&'static str],
    /// Most calls that a server could complete because of it.
    pub(super) effects: usize,
    /// The same for a server of an older revision.
    pub(super) effects_older: usize,
    /// Whether it makes sense only with an answer that agrees.
    pub(super) needs_effects: bool,
    pub(super) run: Run,
    /// The same for a server of an older revision, if there is such a thing there.
    pub(super) run_older: Option<Run>,
}
