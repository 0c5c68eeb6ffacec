//! [`Client`]: who is calling, and what it can answer.

use std::{fmt, future::Future, sync::Arc, time::Duration};

use antiphon_core::question::Kind;
use antiphon_types::{
    ClientCapabilities, Implementation, LoggingLevel, LoggingMessageNotificationParams,
    ProgressNotificationParams,
};
use serde_json::{Map, Value};

use super::{
    Connect, Connection, Era, Error, Event, Form, Link, Negotiated, Reply, Roots, Round, Sample,
    Target,
    error::Boxed,
    handlers::{Handlers, callback},
};

/// A client: its name, the callbacks that answer questions, and its limits.
///
/// Callbacks are capabilities: a client declares what it has a callback for, and nothing else.
/// One client may [`connect`](Self::connect) to many servers.
///
/// ```
/// use antiphon::{Client, Server, memory};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server: Server = Server::new("greeter", "1.0").tool("greet", async || "hello");
///
/// let client = Client::new("desk", "1.0")
///     .on_form(|form| async move { form.accept(json!({ "approve": true })) })
///     .connect(memory(server))
///     .await?;
/// let result = client.call_tool("greet", ()).await?;
/// assert_eq!(result.first_text(), Some("hello"));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Client {
    pub(super) info: Implementation,
    pub(super) anonymous: bool,
    pub(super) extra: ClientCapabilities,
    pub(super) handlers: Handlers,
    pub(super) max_rounds: u32,
    pub(super) clocks: Clocks,
    pub(super) listeners: Listeners,
    pub(super) on_round: Option<OnRound>,
    pub(super) cache: bool,
    pub(super) insecure_links: bool,
    pub(super) era: Era,
}

/// What each kind of waiting may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clocks {
    pub(super) work: Duration,
    /// Progress restarts the work clock, but it never goes beyond this (CANC-C-08, CANC-C-09).
    pub(super) progress: Option<Duration>,
    pub(super) human: Duration,
    pub(super) poll: Duration,
    /// How long a server may take to answer a probe, where silence says something.
    pub(super) probe: Duration,
}

type OnProgress = Arc<dyn Fn(&Target, &ProgressNotificationParams) + Send + Sync>;
type OnLog = Arc<dyn Fn(&LoggingMessageNotificationParams) + Send + Sync>;
type OnTraffic = Arc<dyn Fn(Traffic<'_>) + Send + Sync>;
type OnEvent = Arc<dyn Fn(&Event) + Send + Sync>;
type OnRound = Arc<dyn Fn(&Round<'_>) -> Result<(), Boxed> + Send + Sync>;

/// Who is told what happens besides answers.
#[derive(Clone, Default)]
pub(super) struct Listeners {
    pub(super) progress: Option<OnProgress>,
    pub(super) log: Option<(LoggingLevel, OnLog)>,
    pub(super) event: Option<OnEvent>,
    pub(super) traffic: Option<OnTraffic>,
}

/// A message on the wire, see [`Client::on_traffic`].
#[derive(Debug, Clone, Copy)]
pub enum Traffic<'a> {
    /// A request of ours, or to an older server an answer or a notification.
    Sent(&'a [u8]),
    /// What came back: notifications, requests of an older server's, responses.
    Received(&'a [u8]),
}

impl Client {
    /// A client of this name and version that can answer nothing yet.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::with_info(Implementation::new(name, version))
    }

    /// A client that says more about itself.
    pub fn with_info(info: Implementation) -> Self {
        Self {
            info,
            anonymous: false,
            extra: ClientCapabilities::new(),
            handlers: Handlers::default(),
            max_rounds: 10,
            clocks: Clocks {
                work: Duration::from_secs(60),
                progress: None,
                human: Duration::from_secs(600),
                poll: Duration::from_secs(600),
                probe: Duration::from_secs(5),
            },
            listeners: Listeners::default(),
            on_round: None,
            cache: true,
            insecure_links: false,
            era: Era::Auto,
        }
    }

    /// Does not tell servers who the client is (META-C-03).
    #[must_use]
    pub fn anonymous(mut self) -> Self {
        self.anonymous = true;
        self
    }

    /// Declares an extension and its settings.
    #[must_use]
    pub fn extension(mut self, id: impl Into<String>, settings: Map<String, Value>) -> Self {
        self.extra = self.extra.extension(id, settings);
        self
    }

    /// Answers forms. Declares `elicitation.form`.
    ///
    /// The callback shows the form and the server that asks to the user, and says what they did.
    /// It runs on a task of its own, unless it has an answer at once and the runtime a single thread;
    /// if it blocks, use `tokio::task::spawn_blocking`. An answer
    /// that does not fit the form is handed back with [`errors`](super::Question::errors), up to
    /// three tries in all.
    #[must_use]
    pub fn on_form<F, R>(mut self, answer: impl Fn(Form) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = R> + Send + 'static,
        R: Into<Reply>,
    {
        self.handlers.form = callback(answer);
        self
    }

    /// Answers requests to open a link. Declares `elicitation.url`.
    ///
    /// The callback must show the whole URL and get the user's consent before it opens it, and
    /// open it where neither the client nor a model can see in (ELIC-C-12 to ELIC-C-18). Links
    /// that are neither `https` nor to this very machine, that hold anything but plain ASCII, or
    /// that name a user, never get here, see
    /// [`danger_insecure_links`](Self::danger_insecure_links).
    #[must_use]
    pub fn on_url<F, R>(mut self, answer: impl Fn(Link) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = R> + Send + 'static,
        R: Into<Reply>,
    {
        self.handlers.url = callback(answer);
        self
    }

    /// Answers requests for a completion of the model. Declares `sampling`, without tools.
    #[must_use]
    pub fn on_sample<F, R>(mut self, answer: impl Fn(Sample) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = R> + Send + 'static,
        R: Into<Reply>,
    {
        self.handlers.sample = callback(answer);
        self.handlers.tools = false;
        self
    }

    /// Answers requests for a completion, also of a model that is given tools. Declares
    /// `sampling.tools`.
    #[must_use]
    pub fn on_sample_with_tools<F, R>(
        self,
        answer: impl Fn(Sample) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = R> + Send + 'static,
        R: Into<Reply>,
    {
        let mut client = self.on_sample(answer);
        client.handlers.tools = true;
        client
    }

    /// Names the workspace roots. Declares `roots`.
    #[must_use]
    pub fn on_roots<F, R>(mut self, answer: impl Fn(Roots) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = R> + Send + 'static,
        R: Into<Reply>,
    {
        self.handlers.roots = callback(answer);
        self
    }

    /// Declares kinds of questions that the caller answers itself: a call that asks one comes
    /// back as a [`Paused`](super::Paused) one, from [`start`](Connection::start) as an outcome
    /// and from the others inside their error. Replaces a callback for that kind.
    #[must_use]
    pub fn by_hand(mut self, kinds: impl IntoIterator<Item = Kind>) -> Self {
        for kind in kinds {
            self.handlers.by_hand(kind);
        }
        self
    }

    /// How many rounds of questions a call may have; 10 unless told.
    #[must_use]
    pub fn max_rounds(mut self, rounds: u32) -> Self {
        self.max_rounds = rounds;
        self
    }

    /// How long a server may work on one request, or take until it is connected to; 60 seconds
    /// unless told. Waiting for the user does not count.
    #[must_use]
    pub fn work_timeout(mut self, timeout: Duration) -> Self {
        self.clocks.work = timeout;
        self
    }

    /// Asks for progress, and lets each report restart the work clock; but no request takes
    /// longer than `at_most`.
    #[must_use]
    pub fn progress_extends_work(mut self, at_most: Duration) -> Self {
        self.clocks.progress = Some(at_most);
        self
    }

    /// How long the answers to one round of questions may take; 10 minutes unless told.
    #[must_use]
    pub fn human_timeout(mut self, timeout: Duration) -> Self {
        self.clocks.human = timeout;
        self
    }

    /// How long to come back to a server that asks nothing but to come back; 10 minutes unless
    /// told.
    #[must_use]
    pub fn poll_timeout(mut self, timeout: Duration) -> Self {
        self.clocks.poll = timeout;
        self
    }

    /// Asks every call for progress, which goes to this function. It must not block.
    #[must_use]
    pub fn on_progress(
        mut self,
        report: impl Fn(&Target, &ProgressNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.listeners.progress = Some(Arc::new(report));
        self
    }

    /// Asks every request for log messages of at least this level, which go to this function. It
    /// must not block.
    #[must_use]
    pub fn on_log(
        mut self,
        level: LoggingLevel,
        log: impl Fn(&LoggingMessageNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.listeners.log = Some((level, Arc::new(log)));
        self
    }

    /// Told of whatever belongs to no call: stray messages, noise, a transport that fails, tools
    /// that are hidden. It must not block.
    #[must_use]
    pub fn on_event(mut self, told: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.listeners.event = Some(Arc::new(told));
        self
    }

    /// Shows every request and what comes back for it, as it is on the wire: arguments, answers
    /// and states included. For tracing and debugging. It must not block.
    #[must_use]
    pub fn on_traffic(mut self, show: impl Fn(Traffic<'_>) + Send + Sync + 'static) -> Self {
        self.listeners.traffic = Some(Arc::new(show));
        self
    }

    /// Sees each round of questions before anybody is asked, and may refuse it: the call then
    /// ends with an error, and nothing is sent.
    #[must_use]
    pub fn on_round<E: Into<Boxed>>(
        mut self,
        inspect: impl Fn(&Round<'_>) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        self.on_round = Some(Arc::new(move |round| inspect(round).map_err(Into::into)));
        self
    }

    /// Keeps no answers: every list and every resource is fetched anew.
    #[must_use]
    pub fn no_cache(mut self) -> Self {
        self.cache = false;
        self
    }

    /// Lets any links through to [`on_url`](Self::on_url), also those that are not `https`: whoever can read or
    /// change the traffic takes part in what the user does there, and a scheme other than `http`
    /// may start any program.
    #[must_use]
    pub fn danger_insecure_links(mut self) -> Self {
        self.insecure_links = true;
        self
    }

    /// Which revisions to speak; [`Era::Auto`] unless told: the newest that the server speaks.
    ///
    /// ```
    /// use antiphon::client::{Client, Era};
    /// use antiphon::types::Version;
    ///
    /// let modern_only = Client::new("desk", "1.0").era(Era::Pinned(Version::LATEST));
    /// let no_probe = Client::new("desk", "1.0").era(Era::Legacy);
    /// ```
    #[must_use]
    pub fn era(mut self, era: Era) -> Self {
        self.era = era;
        self
    }

    /// How long a server on a channel, such as a child process, may take to answer the question
    /// what it speaks; 5 seconds unless told, and never more than half the
    /// [work clock](Self::work_timeout), which is for connecting as a whole. One that stays silent
    /// is taken for one of 2025-11-25 or before, and greeted as such (AMB-20). Over HTTP silence
    /// says nothing: there the work clock counts.
    #[must_use]
    pub fn probe_timeout(mut self, timeout: Duration) -> Self {
        self.clocks.probe = timeout;
        self
    }

    /// Connects to a server, and finds out what it speaks and offers. How that went is in
    /// [`Connection::negotiation`].
    ///
    /// # Errors
    /// When it cannot be reached, does not answer in time, or speaks no common revision.
    pub async fn connect(&self, to: impl Connect) -> Result<Connection, Error> {
        Connection::open(self.clone(), to, None).await
    }

    /// Connects to a server that is known already, see [`Connection::negotiated`]: without a
    /// round trip, or, if it is one of 2025-11-25 or before, with its handshake and nothing else.
    ///
    /// If what was known turns out to be wrong, the server is asked anew (ERA-C-12). What
    /// [`era`](Self::era) does not allow counts as not known.
    ///
    /// # Errors
    /// When it cannot be reached, or not be greeted.
    pub async fn connect_as(
        &self,
        to: impl Connect,
        known: Negotiated,
    ) -> Result<Connection, Error> {
        Connection::open(self.clone(), to, Some(known)).await
    }

    /// What the client declares.
    pub fn capabilities(&self) -> ClientCapabilities {
        let mut capabilities = self.extra.clone();
        self.handlers.declare(&mut capabilities);
        capabilities
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("name", &self.info.name)
            .field("capabilities", &self.capabilities())
            .finish_non_exhaustive()
    }
}
