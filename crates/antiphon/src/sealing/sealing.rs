//! [`Sealing`]: how a server protects its states.

use std::{
    fmt, io,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use antiphon_core::{
    moment::Moment,
    seal::{
        codec::Codec,
        guard::{Guard, Holder},
        journal::Journal,
        memory::MemoryStore,
        spill::Spill,
    },
};

use super::{
    AskLimits, KeyRing, Sealed,
    protect::{Protect, Trouble, random},
};
use crate::raw;

/// How a server protects its states.
///
/// Without a word about it, a server seals under a random key of its own process, lets every state
/// be used once, and keeps a state good for ten minutes. Several replicas, or one that is to go on
/// after a restart, need keys of yours:
///
/// ```no_run
/// use std::time::Duration;
/// use antiphon::{Server, sealing::{KeyRing, Sealing}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let sealing = Sealing::keys(KeyRing::from_env("SHOP_KEYS")?)
///     .audience("shop")
///     .ttl(Duration::from_secs(300));
/// let server: Server = Server::new("shop", "1.0").sealing(sealing);
/// # let _ = server;
/// # Ok(()) }
/// ```
///
/// Whatever is wrong with a state that comes back, the client gets one and the same error, `-32602`
/// "Invalid or expired requestState"; the log has the [reason](super::Refusal).
///
/// Clones share their key of the process and what they remember.
#[derive(Clone)]
pub struct Sealing {
    pub(super) settings: Arc<Settings>,
}

#[derive(Clone)]
pub(super) struct Settings {
    pub(super) protect: Protect,
    pub(super) audience: Option<String>,
    pub(super) accepted: Vec<String>,
    pub(super) bind: Option<Bind>,
    pub(super) ttl: Duration,
    pub(super) call: Option<Duration>,
    pub(super) guard: Guarding,
    pub(super) replay: Replay,
    pub(super) rerun: bool,
    pub(super) work: Duration,
    pub(super) answer_bytes: usize,
    pub(super) journal: Option<Arc<dyn Journal>>,
    pub(super) spill: Option<Arc<dyn Spill>>,
    pub(super) budget: usize,
    pub(super) quota: u64,
    pub(super) longest: usize,
    pub(super) replicas: u32,
    pub(super) clock: Option<Arc<dyn Fn() -> SystemTime + Send + Sync>>,
    pub(super) asking: AskLimits,
    pub(super) told: Arc<Told>,
}

/// Who calls, found out by the author.
pub(super) type Bind = Arc<dyn Fn(&raw::Call<'_>) -> Option<String> + Send + Sync>;

/// Who remembers which states were used.
#[derive(Clone)]
pub(super) enum Guarding {
    Memory(Arc<MemoryStore>),
    Store(Arc<dyn Guard>),
    /// Nobody.
    Off,
}

impl Guarding {
    pub(super) fn guard(&self) -> Option<&dyn Guard> {
        match self {
            Self::Memory(store) => Some(&**store),
            Self::Store(store) => Some(&**store),
            Self::Off => None,
        }
    }
}

/// What was said in the log and need not be said again.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) process_key: AtomicBool,
    pub(super) no_subject: AtomicBool,
}

/// What a state gets that was used before and comes back with the same answers. With other answers
/// it is refused in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Replay {
    /// The answer it got the first time; if that is not there yet, as soon as it is. So a client
    /// that lost an answer can ask for it again, and nothing is done twice.
    #[default]
    Repeat,
    /// The error.
    Refuse,
}

impl Default for Sealing {
    fn default() -> Self {
        Self::process_key()
    }
}

impl Sealing {
    fn new(protect: Protect) -> Self {
        Self {
            settings: Arc::new(Settings {
                protect,
                audience: None,
                accepted: Vec::new(),
                bind: None,
                ttl: Duration::from_secs(600),
                call: None,
                guard: Guarding::Memory(Arc::default()),
                replay: Replay::default(),
                rerun: false,
                work: Duration::from_secs(60),
                answer_bytes: 64 * 1024,
                journal: None,
                spill: None,
                budget: 32 * 1024,
                quota: 4 << 20,
                longest: 1 << 20,
                replicas: 1,
                clock: None,
                asking: AskLimits::default(),
                told: Arc::default(),
            }),
        }
    }

    /// Under a random key of this process: what a server does if it is told nothing. No other
    /// process opens such a state, and neither does this one after a restart.
    pub fn process_key() -> Self {
        Self::new(Protect::Process(Arc::new(OnceLock::new())))
    }

    /// Under keys of yours: the first seals, all open. Needs an [`audience`](Self::audience).
    pub fn keys(keys: impl Into<KeyRing>) -> Self {
        Self::new(Protect::Keys(keys.into()))
    }

    /// By a codec of yours, as one that has its key in a key management service. Needs an
    /// [`audience`](Self::audience).
    pub fn codec(codec: impl Codec) -> Self {
        Self::new(Protect::Codec(Arc::new(codec)))
    }

    /// Not at all: everybody can read a state, change it and make one up, and with it every answer
    /// that was given before. For looking at what is in there.
    pub fn danger_plaintext() -> Self {
        Self::new(Protect::Plain)
    }

    fn set(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        self
    }

    /// The name of this server among all that have the same keys. A state of another name is
    /// refused.
    pub fn audience(self, own: impl Into<String>) -> Self {
        self.set(|settings| settings.audience = Some(own.into()))
    }

    /// Other names whose states are accepted too: former ones, say.
    pub fn accept_audiences(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.set(|settings| settings.accepted = names.into_iter().map(Into::into).collect())
    }

    /// How much may be asked in one call.
    pub fn ask_limits(self, limits: AskLimits) -> Self {
        self.set(|settings| settings.asking = limits)
    }

    /// Binds states to who calls, where the bearer verifier does not know: behind a proxy that
    /// authenticates and says in a header who it is. A caller of whom this knows nothing cannot be
    /// asked anything and brings no state back.
    ///
    /// Who calls according to the [verifier](crate::auth::Verifier) is bound in any case.
    pub fn bind_principal(
        self,
        who: impl Fn(&raw::Call<'_>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.set(|settings| settings.bind = Some(Arc::new(who)))
    }

    /// How long a state is good. Ten minutes; each round begins anew.
    pub fn ttl(self, ttl: Duration) -> Self {
        self.set(|settings| settings.ttl = ttl)
    }

    /// How long a call may take from its first question to its end, all rounds together. An hour,
    /// or the [`ttl`](Self::ttl) if that is longer.
    pub fn call_deadline(self, longest: Duration) -> Self {
        self.set(|settings| settings.call = Some(longest))
    }

    /// Remembers in this store which states were used: one that outlives the process, or that all
    /// replicas share.
    pub fn single_use(self, store: impl Guard) -> Self {
        self.set(|settings| settings.guard = Guarding::Store(Arc::new(store)))
    }

    /// Remembers nothing: a state can be used again, with any answers, until it expires. For
    /// handlers that do no harm when they run twice.
    pub fn replayable(self) -> Self {
        self.set(|settings| settings.guard = Guarding::Off)
    }

    /// What a state gets that was used before.
    pub fn replay(self, replay: Replay) -> Self {
        self.set(|settings| settings.replay = replay)
    }

    /// Lets a state be used again, with the same answers, if the process that used it was not
    /// heard of again. It is not known then what was done already; without this such a state is
    /// refused.
    pub fn rerun_if_unknown(self) -> Self {
        self.set(|settings| settings.rerun = true)
    }

    /// Remembers in this store what was done by [`Ask::once`](crate::Ask::once): each step is
    /// entered before its work begins, and what came of it is written, sealed, before the handler
    /// goes on. So it is done once also where the handler runs twice upon the same answers, and
    /// where a process ended in the middle it is said that nobody knows, instead of doing it again.
    ///
    /// ```no_run
    /// # #[cfg(feature = "store")]
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use antiphon::{sealing::{KeyRing, Sealing}, store::FileStore};
    ///
    /// let store = FileStore::open("/var/lib/shop/states")?;
    /// let sealing = Sealing::keys(KeyRing::from_env("SHOP_KEYS")?)
    ///     .audience("shop")
    ///     .single_use(store.clone())
    ///     .journal(store);
    /// # let _ = sealing;
    /// # Ok(()) }
    /// # #[cfg(not(feature = "store"))]
    /// # fn main() {}
    /// ```
    ///
    /// The guide on [asking](crate::guide::asking) says what holds with it and without.
    pub fn journal(self, store: impl Journal) -> Self {
        self.set(|settings| settings.journal = Some(Arc::new(store)))
    }

    /// How long a state that is being used waits for its answer when it comes once more, and how
    /// long for a step that somebody else does. A minute.
    pub fn work_timeout(self, longest: Duration) -> Self {
        self.set(|settings| settings.work = longest)
    }

    /// Most bytes of an answer that is kept to be repeated. 64 KiB.
    pub fn answer_bytes(self, most: usize) -> Self {
        self.set(|settings| settings.answer_bytes = most)
    }

    /// Keeps in this store what does not fit into a state of 32 KiB. Without one, a state has up to
    /// 1 MiB.
    pub fn spill(self, store: impl Spill) -> Self {
        self.set(|settings| settings.spill = Some(Arc::new(store)))
    }

    /// Above how many bytes a state is [spilled](Self::spill). 32 KiB.
    pub fn spill_above(self, bytes: usize) -> Self {
        self.set(|settings| settings.budget = bytes)
    }

    /// Most bytes that one principal may have in the [spill](Self::spill). 4 MiB; all who are not
    /// known share it.
    pub fn spill_quota(self, bytes: u64) -> Self {
        self.set(|settings| settings.quota = bytes)
    }

    /// How many replicas of this server there are. With more than one it does not start under a
    /// key of the process, or with stores that they do not share.
    pub fn replicas(self, replicas: u32) -> Self {
        self.set(|settings| settings.replicas = replicas)
    }

    /// Another clock than the system's: for tests.
    pub fn clock(self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.set(|settings| settings.clock = Some(Arc::new(now)))
    }

    /// A raw service whose states are protected like those of a [`Server`](crate::Server).
    ///
    /// It writes and reads its states as they are, and sees answers to questions that it asked in
    /// the round before and no others.
    ///
    /// ```
    /// # use antiphon::raw::{About, Service};
    /// # use antiphon::types::Implementation;
    /// # struct Gateway;
    /// # impl Service for Gateway {
    /// #     fn about(&self) -> About { About::new(Implementation::new("gateway", "1.0")) }
    /// # }
    /// use antiphon::{raw::Endpoint, sealing::Sealing};
    ///
    /// let endpoint = Endpoint::new(Sealing::default().layer(Gateway));
    /// # let _ = endpoint;
    /// ```
    pub fn layer<S: raw::Service>(&self, service: S) -> Sealed<S> {
        Sealed::new(self.clone(), service)
    }

    /// Whether these are its keys.
    #[cfg(feature = "testing")]
    pub(crate) fn is_under(&self, keys: &KeyRing) -> bool {
        matches!(&self.settings.protect, Protect::Keys(own) if own.is(keys))
    }

    /// What is wrong with these settings, if anything is; told when the server starts.
    pub(crate) fn check(&self) -> io::Result<()> {
        let settings = &self.settings;
        let wrong = |why: String| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        match &settings.protect {
            Protect::Keys(keys) => {
                if let Err(bad) = keys.ring() {
                    return wrong(format!("Sealing::keys: {bad}"));
                }
            }
            Protect::Process(_) if settings.replicas > 1 => {
                return wrong(
                    "Sealing::replicas: several replicas need keys that all of them have; \
                     use Sealing::keys"
                        .to_owned(),
                );
            }
            _ => {}
        }
        let explicit = matches!(settings.protect, Protect::Keys(_) | Protect::Codec(_));
        let named = settings
            .audience
            .as_ref()
            .is_some_and(|own| !own.is_empty());
        if explicit && !named {
            return wrong(
                "Sealing::keys and Sealing::codec need a name of this server, so that it takes no \
                 state of another one with the same keys; use Sealing::audience"
                    .to_owned(),
            );
        }
        if settings.ttl.is_zero() || settings.call.is_some_and(|call| call.is_zero()) {
            return wrong(
                "Sealing::ttl: a state that is good for no time is good for nothing".to_owned(),
            );
        }
        if settings.replicas > 1 {
            let alone = |shared: Option<bool>| shared == Some(false);
            let stores = [
                ("single_use", settings.guard.guard().map(Guard::is_shared)),
                (
                    "journal",
                    settings.journal.as_deref().map(Journal::is_shared),
                ),
                ("spill", settings.spill.as_deref().map(Spill::is_shared)),
            ];
            for (name, shared) in stores {
                if alone(shared) {
                    return wrong(format!(
                        "Sealing::replicas: the store of Sealing::{name} is for one process; several \
                         replicas need one that all of them share"
                    ));
                }
            }
        }
        if matches!(settings.protect, Protect::Plain) {
            tracing::warn!(
                "states are not protected (Sealing::danger_plaintext): any client can make up any \
                 state, and with it any answer that was given before"
            );
        }
        if explicit && matches!(settings.guard, Guarding::Memory(_)) {
            tracing::warn!(
                "which states were used is remembered by this process alone: after a restart, or at \
                 another replica, a used one can be used once more; give Sealing::single_use a store"
            );
        }
        Ok(())
    }
}

impl Settings {
    pub(super) fn now(&self) -> Moment {
        match &self.clock {
            None => SystemTime::now().into(),
            Some(clock) => clock().into(),
        }
    }

    /// What states are made for.
    pub(super) fn own_audience(&self) -> &str {
        self.audience.as_deref().unwrap_or_default()
    }

    /// What states may be made for.
    pub(super) fn audiences(&self) -> impl Iterator<Item = &str> {
        let accepted = self.accepted.iter().map(String::as_str);
        std::iter::once(self.own_audience()).chain(accepted)
    }

    /// How long a call may take.
    pub(super) fn call_deadline(&self) -> Duration {
        self.call.unwrap_or(self.ttl.max(Duration::from_secs(3600)))
    }
}

/// A number that no other claim has, here or anywhere.
pub(super) fn holder() -> Result<Holder, Trouble> {
    static PROCESS: OnceLock<[u8; 8]> = OnceLock::new();
    static CLAIMS: AtomicU64 = AtomicU64::new(0);
    let process = match PROCESS.get() {
        Some(process) => process,
        None => {
            let new = random()?;
            PROCESS.get_or_init(|| new)
        }
    };
    let mut holder = [0; 16];
    holder[..8].copy_from_slice(process);
    holder[8..].copy_from_slice(&CLAIMS.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    Ok(Holder(holder))
}

/// What it does, and nothing of any key.
impl fmt::Debug for Sealing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = &self.settings;
        let protect = match &settings.protect {
            Protect::Process(_) => "a key of the process",
            Protect::Keys(_) => "keys",
            Protect::Codec(_) => "a codec",
            Protect::Plain => "nothing",
        };
        f.debug_struct("Sealing")
            .field("protected_by", &protect)
            .field("audience", &settings.audience)
            .field("ttl", &settings.ttl)
            .field("replay", &settings.replay)
            .field("journal", &settings.journal.is_some())
            .finish_non_exhaustive()
    }
}
