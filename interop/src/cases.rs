//! What clients go through; `interop/CONTRACT.md` says what each case is.

/// The cases in which nobody is asked anything, but for [`CHANGES`].
pub const PLAIN: [&str; 12] = [
    "list",
    "tools",
    "unicode",
    "structured",
    "large",
    "progress",
    "log",
    "cancel-call",
    "pages",
    "read",
    "complete",
    "prompt",
];

/// Somebody listens for a change.
pub const CHANGES: &str = "changes";

/// The cases that ask somebody.
pub const ASKING: [&str; 12] = [
    "form",
    "accept",
    "decline",
    "cancel",
    "url",
    "sampling",
    "roots",
    "together",
    "rounds",
    "state-only",
    "prompt-asks",
    "template-asks",
];

/// All of them.
pub fn all() -> impl Iterator<Item = &'static str> {
    PLAIN.into_iter().chain([CHANGES]).chain(ASKING)
}
