//! [`Sessions`]: what older clients may hold on a server over HTTP.

use std::time::Duration;

/// Sessions of clients of the revisions before 2026-07-28, over HTTP: how many, for how long, and
/// how much is kept for a client that lost its connection. See
/// [`HttpService::sessions`](crate::http::HttpService::sessions). Clients of 2026-07-28 have none.
///
/// ```
/// use std::time::Duration;
/// use antiphon::{Server, http::{self, Sessions}};
///
/// let server: Server = Server::new("desk", "1.0");
/// let service = http::service(server)
///     .sessions(Sessions::new().most(500).idle(Duration::from_secs(600)));
/// # let _ = service;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sessions {
    pub(super) most: usize,
    pub(super) idle: Duration,
    pub(super) event_bytes: usize,
    pub(super) all_event_bytes: usize,
    pub(super) replay: Duration,
    pub(super) retry: Duration,
    pub(super) streams: usize,
    pub(super) let_go: Option<(Duration, Duration)>,
    /// What every id begins with.
    pub(super) prefix: String,
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            most: 10_000,
            idle: Duration::from_secs(1800),
            event_bytes: 1024 * 1024,
            all_event_bytes: 256 * 1024 * 1024,
            replay: Duration::from_secs(60),
            retry: Duration::from_secs(1),
            streams: 4,
            let_go: None,
            prefix: String::new(),
        }
    }
}

impl Sessions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many sessions there may be. 10,000. Beyond them the one that was idle for longest ends,
    /// if that is a minute or more; otherwise `initialize` is answered with `503`.
    #[must_use]
    pub fn most(mut self, sessions: usize) -> Self {
        self.most = sessions;
        self
    }

    /// How long a client may be away before its session ends. Half an hour. One that waits for an
    /// answer, or reads a stream, is there; calls that run on for one that is not are cancelled
    /// when the session ends.
    #[must_use]
    pub fn idle(mut self, longest: Duration) -> Self {
        self.idle = longest;
        self
    }

    /// How many bytes of events may be kept per session, for a client that comes back for them.
    /// 1 MiB. Beyond them the oldest notifications are dropped; a response, or a question that
    /// waits for its answer, is not, and may exceed this.
    #[must_use]
    pub fn event_bytes(mut self, bytes: usize) -> Self {
        self.event_bytes = bytes;
        self
    }

    /// How many bytes of events may be kept for all sessions together. 256 MiB. Beyond them also
    /// responses and questions are dropped for which no client is connected; it is told so when it
    /// comes back.
    #[must_use]
    pub fn all_event_bytes(mut self, bytes: usize) -> Self {
        self.all_event_bytes = bytes;
        self
    }

    /// How long a stream that is over can be resumed. A minute.
    #[must_use]
    pub fn replay(mut self, longest: Duration) -> Self {
        self.replay = longest;
        self
    }

    /// How long a client is told to wait before it comes back, when a connection was lost. A
    /// second. Only clients of 2025-11-25 are told.
    #[must_use]
    pub fn retry(mut self, after: Duration) -> Self {
        self.retry = after;
        self
    }

    /// How many standalone streams (`GET`) one session may have open. 4. Beyond them the oldest
    /// ends. Each message goes to one of them, the newest.
    #[must_use]
    pub fn streams(mut self, most: usize) -> Self {
        self.streams = most.max(1);
        self
    }

    /// What this replica is called. The ids of its sessions begin with the name and a `-`, so a proxy can
    /// tell by `Mcp-Session-Id` where a request belongs. No name unless told.
    ///
    /// # Panics
    /// Unless the name is made of ASCII letters, digits, `_` and `.`.
    #[must_use]
    pub fn replica(mut self, name: &str) -> Self {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.".contains(&byte);
        assert!(
            !name.is_empty() && name.bytes().all(plain),
            "a replica is called by letters, digits, `_` and `.`, not {name:?}"
        );
        self.prefix = format!("{name}-");
        self
    }

    /// Closes every event stream that has been open for this long, and has the client come back
    /// for the rest after `retry`: for proxies that cut long responses (LHTTP-S-07). Only clients
    /// of 2025-11-25 know how to come back; others keep their streams. Not done unless asked for.
    #[must_use]
    pub fn close_after(mut self, open: Duration, retry: Duration) -> Self {
        self.let_go = Some((open, retry));
        self
    }
}

/// What became of the sessions of older clients, since the service was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SessionCounts {
    /// Open now.
    pub open: usize,
    /// Ever opened.
    pub opened: u64,
    /// Ended by their clients.
    pub ended: u64,
    /// Ended because they were idle for too long.
    pub expired: u64,
    /// Ended early, to make room for others.
    pub displaced: u64,
    /// Not opened, because there were too many.
    pub refused: u64,
    /// Bytes of events that are kept now.
    pub event_bytes: usize,
}
