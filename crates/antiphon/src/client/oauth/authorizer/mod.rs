//! [`Authorizer`]: the access tokens of one server, from the first challenge on.
//!
//! Who gives them is found in [`party`]; they are got in [`granting`], and renewed in [`renewing`].

mod granting;
mod party;
mod renewing;

use std::{
    collections::HashMap,
    fmt,
    ops::{Deref, DerefMut},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use http::StatusCode;
use tokio::{sync::MutexGuard, time::Instant};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{
    OAuth, Secret, SignedIn,
    discovery::{Issuer, Trust},
    dpop::Prover,
    failed::Failed,
    moment::now,
    record::{Keeping, Record},
    settings::Grant,
    turn::Turn,
};
use crate::{
    client::{Challenge, Http, error::Boxed, transport::Token},
    excerpt::one_line,
    web::{Agent, Endpoint},
};

/// How often more scopes are asked for because of one operation (AUTH-C-34).
const STEPS: u8 = 2;

/// A token is new for so long: if the server does not take it, another would not help.
const NEW: Duration = Duration::from_secs(60);

/// The access tokens of one server.
pub(crate) struct Authorizer {
    oauth: OAuth,
    /// The way to the server, without tokens.
    http: Http,
    server: Endpoint,
    agent: Agent,
    trust: Trust,
    keeping: Keeping,
    /// What requests are sent with.
    current: Mutex<Option<Arc<Access>>>,
    /// How often an operation wanted more scopes, in a row.
    steps: Mutex<HashMap<String, u8>>,
    /// Only one at a time finds out more, of all connections to the server.
    turn: Arc<Turn>,
    known: tokio::sync::Mutex<Inner>,
}

/// A token as it is sent.
struct Access {
    token: Token,
    prover: Option<Arc<Prover>>,
    origin: Origin,
    since: Instant,
    /// From when on it had better be renewed, in seconds since 1970.
    renewed_at: Option<u64>,
    /// The server took it at least once.
    accepted: AtomicBool,
}

/// Where a token comes from.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    Stored,
    Refreshed,
    SignedIn,
}

#[derive(Default)]
struct Inner {
    is_loaded: bool,
    record: Option<Record>,
    /// The access token that was in the store when we last looked.
    stored: Option<Secret>,
    /// By their names.
    issuers: HashMap<String, Issuer>,
}

/// What is known, for whose turn it is.
struct Knowing<'a> {
    inner: MutexGuard<'a, Inner>,
    _turn: MutexGuard<'a, ()>,
}

impl Deref for Knowing<'_> {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.inner
    }
}

impl DerefMut for Knowing<'_> {
    fn deref_mut(&mut self) -> &mut Inner {
        &mut self.inner
    }
}

impl Authorizer {
    pub(crate) fn new(oauth: OAuth, http: Http, server: Endpoint) -> Self {
        let place = server.place();
        Self {
            turn: oauth.turns.of(&place),
            keeping: Keeping {
                store: oauth.store.clone(),
                server: place,
            },
            agent: http.agent(false),
            trust: Trust {
                is_here: server.is_loopback(),
            },
            oauth,
            http,
            server,
            current: Mutex::default(),
            steps: Mutex::default(),
            known: tokio::sync::Mutex::default(),
        }
    }

    /// How long a person was waited for, all in all.
    pub(crate) fn held(&self) -> Duration {
        self.turn.held.total()
    }

    /// The token for the next request, if there is one.
    pub(crate) async fn token(self: &Arc<Self>) -> Result<Option<Token>, Boxed> {
        // Whoever has one need not wait for those who want another.
        if let Some(access) = self.current()
            && access.renewed_at.is_none_or(|at| now() < at)
        {
            return Ok(Some(access.token.clone()));
        }
        let me = self.clone();
        Ok(to_the_end(async move { me.next_token().await }).await?)
    }

    async fn next_token(&self) -> Result<Option<Token>, Failed> {
        let mut known = self.known().await?;
        let stale = known.record.as_ref().filter(|record| record.is_stale());
        if let Some(stale) = stale.cloned() {
            match self.renewed(&mut known, &stale).await {
                Ok(Some(token)) => return Ok(Some(token)),
                // There will be a challenge.
                Ok(None) => return Ok(None),
                // Its last seconds may do, and if not, it is tried again.
                Err(failed) => self.tell_not_renewed(&failed),
            }
        }
        Ok(self.current().map(|access| access.token.clone()))
    }

    /// Another token than the one that was refused, for an operation such as `tools/call order`.
    pub(crate) async fn another(
        self: &Arc<Self>,
        refused: Option<&Token>,
        challenge: &Challenge,
        operation: &str,
    ) -> Result<Token, Boxed> {
        let (me, refused) = (self.clone(), refused.cloned());
        let (challenge, operation) = (challenge.clone(), operation.to_owned());
        let given_up = CancellationToken::new();
        let _waiting = given_up.clone().drop_guard();
        let another = async move {
            me.met(refused.as_ref(), &challenge, &operation, &given_up)
                .await
        };
        Ok(to_the_end(another).await?)
    }

    async fn met(
        &self,
        refused: Option<&Token>,
        challenge: &Challenge,
        operation: &str,
        given_up: &CancellationToken,
    ) -> Result<Token, Failed> {
        let failures = self.turn.failures();
        let mut known = self.known().await?;
        let wants_more = challenge.status == 403;
        let mut may_renew = !wants_more;
        if let Some(access) = self.current() {
            // Somebody else was faster.
            if Some(&access.token) != refused {
                return Ok(access.token.clone());
            }
            let is_new = access.since.elapsed() < NEW;
            if !wants_more && is_new && !access.accepted.load(Relaxed) {
                match access.origin {
                    Origin::SignedIn => return Err(self.unwelcome(&known)),
                    Origin::Refreshed => may_renew = false,
                    Origin::Stored => {}
                }
            }
        }
        let challenges = &challenge.www_authenticate;
        if let Some(why) = self.turn.failed_since(failures, challenges) {
            return Err(Failed::new(why));
        }
        if given_up.is_cancelled() {
            return Err(forsaken());
        }
        let said = challenge.bearer().unwrap_or_default();
        if wants_more {
            self.step(&known, operation, &said.scopes)?;
        }
        if let Grant::Stored = self.oauth.grant {
            return self.stored(&mut known, may_renew).await;
        }
        let party = self.find(&mut known, challenges).await?;
        self.part_from_others(&mut known, &party).await;
        if may_renew
            && let Some(record) = known.record.clone()
            && let Some(token) = self.renewed(&mut known, &record).await?
        {
            return Ok(token);
        }
        let record = self
            .sign_in_for(&known, &party, &said.scopes, said.dpop, given_up)
            .await;
        if let Err(failed) = &record
            && !given_up.is_cancelled()
        {
            self.turn.failed(challenges, failed.to_string());
        }
        self.keep(&mut known, record?, Origin::SignedIn).await
    }

    /// Another token without asking anybody.
    async fn stored(&self, known: &mut Inner, may_renew: bool) -> Result<Token, Failed> {
        let Some(record) = known.record.clone() else {
            return Err(Failed::new("nobody is signed in"));
        };
        if may_renew && let Some(token) = self.renewed(known, &record).await? {
            return Ok(token);
        }
        let message = "what was signed in for is not enough, or no longer good: sign in again";
        Err(Failed::new(message))
    }

    /// Signs in, whether or not the server wants it by now.
    pub(crate) async fn sign_in(
        self: &Arc<Self>,
        challenges: &[String],
    ) -> Result<SignedIn, Boxed> {
        let (me, challenges) = (self.clone(), challenges.to_vec());
        let given_up = CancellationToken::new();
        let _waiting = given_up.clone().drop_guard();
        let signed_in = async move { me.signed_in(&challenges, &given_up).await };
        Ok(to_the_end(signed_in).await?)
    }

    async fn signed_in(
        &self,
        challenges: &[String],
        given_up: &CancellationToken,
    ) -> Result<SignedIn, Failed> {
        // Whatever is wrong with what is stored, something else will take its place.
        let mut known = self.turn().await;
        self.look_up_if_possible(&mut known).await;
        let party = self.find(&mut known, challenges).await?;
        self.part_from_others(&mut known, &party).await;
        let said = Challenge::of(401, challenges).bearer().unwrap_or_default();
        let record = self
            .sign_in_for(&known, &party, &said.scopes, said.dpop, given_up)
            .await?;
        let signed_in = SignedIn {
            issuer: record.issuer.clone(),
            resource: record.resource.clone(),
            scopes: record.granted.clone().unwrap_or(record.scopes.clone()),
            expires_at: record.expires_at,
            is_renewable: record.refresh_token.is_some(),
        };
        self.keep(&mut known, record, Origin::SignedIn).await?;
        Ok(signed_in)
    }

    /// Forgets the tokens; whether there were any.
    pub(crate) async fn sign_out(&self) -> Result<bool, Boxed> {
        let mut known = self.turn().await;
        let is_there = match self.keeping.record().await {
            Ok(record) => record.is_some(),
            // There is something, whatever it is.
            Err(_) => true,
        };
        self.keeping.forget().await?;
        *self.current_slot() = None;
        known.stored = None;
        Ok(known.record.take().is_some() || is_there)
    }

    /// A response came: what there is to learn from it.
    pub(crate) fn heard(
        &self,
        status: StatusCode,
        token: &Token,
        operation: impl FnOnce() -> String,
    ) {
        if status.is_success() {
            let mut steps = self.steps();
            if !steps.is_empty() {
                steps.remove(&operation());
            }
        }
        if status != StatusCode::UNAUTHORIZED
            && let Some(access) = self.current()
            && access.token == *token
        {
            access.accepted.store(true, Relaxed);
        }
    }

    /// What is known, once it is one's turn; with what was stored.
    async fn known(&self) -> Result<Knowing<'_>, Failed> {
        let mut known = self.turn().await;
        match known.is_loaded {
            // What was there is good enough.
            true => self.look_up_if_possible(&mut known).await,
            false => self.look_up(&mut known).await?,
        }
        Ok(known)
    }

    async fn turn(&self) -> Knowing<'_> {
        let turn = self.turn.lock.lock().await;
        Knowing {
            inner: self.known.lock().await,
            _turn: turn,
        }
    }

    async fn look_up_if_possible(&self, known: &mut Inner) {
        if let Err(failed) = self.look_up(known).await {
            tracing::warn!(server = self.keeping.server, %failed, "the store was not asked");
        }
    }

    /// Looks at what is stored: others may have renewed the token since, or signed in, or out.
    async fn look_up(&self, known: &mut Inner) -> Result<(), Failed> {
        let record = self.keeping.record().await?;
        known.is_loaded = true;
        let stored = record.as_ref().map(|record| record.access_token.clone());
        if stored == known.stored {
            return Ok(());
        }
        known.stored = stored;
        known.record = None;
        *self.current_slot() = None;
        if let Some(record) = record
            && let Err(failed) = self.adopt(known, record, Origin::Stored)
        {
            let server = &self.keeping.server;
            tracing::warn!(server, %failed, "the tokens that are stored cannot be used");
        }
        Ok(())
    }

    /// Makes a record what there is.
    async fn keep(
        &self,
        known: &mut Inner,
        record: Record,
        origin: Origin,
    ) -> Result<Token, Failed> {
        if self.keeping.keep(&record).await {
            known.stored = Some(record.access_token.clone());
        }
        self.adopt(known, record, origin)
    }

    fn adopt(&self, known: &mut Inner, record: Record, origin: Origin) -> Result<Token, Failed> {
        let prover = match &record.key {
            None => None,
            Some(key) => {
                let there = self.current().and_then(|access| access.prover.clone());
                match there.filter(|prover| prover.key() == key) {
                    Some(prover) => Some(prover),
                    None => Some(Arc::new(Prover::restore(key)?)),
                }
            }
        };
        let token = sendable(&record.access_token, prover.clone())?;
        *self.current_slot() = Some(Arc::new(Access {
            token: token.clone(),
            prover,
            origin,
            since: Instant::now(),
            renewed_at: record.is_renewed_at(),
            accepted: AtomicBool::new(false),
        }));
        known.record = Some(record);
        Ok(token)
    }

    /// The server does not take what it should.
    fn unwelcome(&self, known: &Inner) -> Failed {
        let issuer = known.record.as_ref().map_or("", |record| &record.issuer);
        Failed::new(format!(
            "the server does not take the token that {} gave for it just now",
            one_line(issuer.as_bytes())
        ))
    }

    /// An operation wants more scopes.
    ///
    /// # Errors
    /// If that leads nowhere (AUTH-C-34).
    fn step(&self, known: &Inner, operation: &str, scopes: &[String]) -> Result<(), Failed> {
        /// Names are the caller's, and should not be kept without end.
        const OPERATIONS: usize = 1000;
        let record = known.record.as_ref();
        if record.is_some_and(|record| record.allows(scopes)) {
            let message = "the server wants scopes for it that the token has";
            return Err(Failed::new(message));
        }
        let mut all = self.steps();
        if all.len() >= OPERATIONS {
            all.clear();
        }
        let steps = all.entry(operation.to_owned()).or_default();
        match *steps < STEPS {
            true => {
                *steps += 1;
                Ok(())
            }
            false => Err(Failed::new(format!(
                "the server wants more for {}, although it was asked for {STEPS} times already",
                one_line(operation.as_bytes())
            ))),
        }
    }

    fn steps(&self) -> std::sync::MutexGuard<'_, HashMap<String, u8>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self) -> Option<Arc<Access>> {
        self.current_slot().clone()
    }

    fn current_slot(&self) -> std::sync::MutexGuard<'_, Option<Arc<Access>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does something to its end, even if nobody waits for it any more: a token that renews others is
/// good once, and what it brought must not be lost.
async fn to_the_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, Failed>> + Send + 'static,
) -> Result<T, Failed> {
    match tokio::spawn(work.in_current_span()).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(Failed::new("this program ends").caused_by(error)),
        },
    }
}

/// The error that nobody hears.
fn forsaken() -> Failed {
    Failed::new("nobody waits for it any more")
}

fn sendable(token: &Secret, prover: Option<Arc<Prover>>) -> Result<Token, Failed> {
    let token = match prover {
        None => Token::new(token.reveal()),
        Some(prover) => Token::bound(token.reveal(), prover),
    };
    token.map_err(|error| Failed::new(error.to_string()))
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorizer")
            .field("server", &self.keeping.server)
            .finish_non_exhaustive()
    }
}
