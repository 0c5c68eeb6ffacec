//! [`Shim`]: how long, and how much at once, clients of older revisions are asked.

use std::time::Duration;

/// How handlers ask clients of the revisions before 2026-07-28: what they are given for that.
///
/// Such a client is asked while its call waits, so every question holds something on the server:
/// how much, and for how long, is bounded here. See [`Server::shim`](crate::Server::shim).
///
/// ```
/// use std::time::Duration;
/// use antiphon::{Server, legacy::Shim};
///
/// let server: Server = Server::new("desk", "1.0")
///     .shim(Shim::new().answer_timeout(Duration::from_secs(120)).one_at_a_time());
/// # let _ = server;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shim {
    pub(crate) rounds: u32,
    pub(crate) answer: Duration,
    pub(crate) call: Duration,
    pub(crate) poll: Duration,
    pub(crate) calls: usize,
    pub(crate) one_at_a_time: bool,
}

impl Default for Shim {
    fn default() -> Self {
        Self {
            rounds: 32,
            answer: Duration::from_secs(600),
            call: Duration::from_secs(3600),
            poll: Duration::from_secs(600),
            calls: 4096,
            one_at_a_time: false,
        }
    }
}

impl Shim {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// In how many rounds one call may ask. 32.
    #[must_use]
    pub fn rounds(mut self, most: u32) -> Self {
        self.rounds = most;
        self
    }

    /// How long the answer to one question may take. 10 minutes. Then the question is withdrawn
    /// and the call fails.
    #[must_use]
    pub fn answer_timeout(mut self, longest: Duration) -> Self {
        self.answer = longest;
        self
    }

    /// How long a call that asks may take from its beginning to its end, all rounds together. An
    /// hour. Calls that ask nothing are not concerned.
    #[must_use]
    pub fn call_timeout(mut self, longest: Duration) -> Self {
        self.call = longest;
        self
    }

    /// How long a handler may put off the client without asking anything, as one does that waits
    /// for a link to be used. 10 minutes.
    #[must_use]
    pub fn poll_timeout(mut self, longest: Duration) -> Self {
        self.poll = longest;
        self
    }

    /// How many calls may wait for answers at once. 4,096. Further ones fail, and say why.
    #[must_use]
    pub fn waiting_calls(mut self, most: usize) -> Self {
        self.calls = most;
        self
    }

    /// Sends the questions of one round one after the other, each when the one before is
    /// answered: for clients that can show only one. Otherwise they are sent together.
    #[must_use]
    pub fn one_at_a_time(mut self) -> Self {
        self.one_at_a_time = true;
        self
    }
}

/// Whether clients of older revisions are served, and how they are asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Legacy {
    pub(crate) served: bool,
    /// Whether what handlers ask is sent to them.
    pub(crate) asks: bool,
    pub(crate) shim: Shim,
}

impl Default for Legacy {
    fn default() -> Self {
        Self {
            served: true,
            asks: true,
            shim: Shim::default(),
        }
    }
}
