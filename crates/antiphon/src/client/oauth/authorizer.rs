//! [`Authorizer`]: the access tokens of one server, from the first challenge on.

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
use tokio::{
    sync::MutexGuard,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{
    OAuth, Redirect, Registration, Secret, SignIn, SignedIn,
    callback::Expected,
    discovery::{Issuer, Trust},
    dpop::Prover,
    failed::Failed,
    moment::now,
    pkce::{Pkce, random},
    record::{Keeping, Record},
    registration::{Registered, register},
    scopes::Known,
    settings::{Grant, IdentityProvider},
    tokens::{Asking, JWT_BEARER, Tokens, exchange_identity},
    turn::Turn,
};
use crate::{
    client::{
        Challenge, ErrorKind, Http, Identity, ResourceMetadata, error::Boxed, transport::Token,
    },
    excerpt::one_line,
    web::{Agent, Endpoint, without_secrets},
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

/// Who gives tokens for the server, and how it is called there.
struct Party {
    issuer: Issuer,
    resource: String,
    /// What the server publishes, if it does.
    metadata: Option<ResourceMetadata>,
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

    /// Who gives tokens for this server (AUTH-C-01).
    async fn find(&self, known: &mut Inner, challenges: &[String]) -> Result<Party, Failed> {
        let metadata = match self.http.resource_metadata(challenges).await {
            Ok(metadata) => Some(metadata),
            // LAUTH-C-05
            Err(error)
                if self.oauth.older
                    && matches!(error.kind(), ErrorKind::Status(status) if is_nothing(*status))
                    && !names_metadata(challenges) =>
            {
                None
            }
            Err(error) => return Err(Failed::new(error.to_string())),
        };
        let Some(metadata) = metadata else {
            let origin = &self.server.origin;
            let issuer = Issuer::of_origin(&self.agent, origin, self.trust).await?;
            known.issuers.insert(issuer.issuer.clone(), issuer.clone());
            return Ok(Party {
                issuer,
                resource: canonical(&self.server),
                metadata: None,
            });
        };
        let name = self.choose(known, &metadata.authorization_servers)?;
        let issuer = Issuer::discover(&self.agent, &name, self.trust).await?;
        known.issuers.insert(name, issuer.clone());
        Ok(Party {
            issuer,
            resource: metadata.resource.clone(),
            metadata: Some(metadata),
        })
    }

    /// Which of the authorization servers to turn to: one where this client is known.
    fn choose(&self, known: &Inner, names: &[String]) -> Result<String, Failed> {
        let registered = |name: &str| {
            let mut registrations = self.oauth.registrations.iter();
            registrations.any(|(issuer, _)| issuer == name)
        };
        let signed_in = |name: &str| {
            let record = known.record.as_ref();
            record.is_some_and(|record| record.issuer == name)
        };
        let mut found = names.iter().find(|name| registered(name));
        if found.is_none() {
            found = names.iter().find(|name| signed_in(name));
        }
        let none = || Failed::new("the server names no authorization server (AUTH-S-02)");
        found.or(names.first()).cloned().ok_or_else(none)
    }

    /// What another authorization server gave is worth nothing here (AUTH-C-11, AUTH-C-26).
    async fn part_from_others(&self, known: &mut Inner, party: &Party) {
        let is_other = |record: &mut Record| record.issuer != party.issuer.issuer;
        if known.record.take_if(is_other).is_some() {
            *self.current_slot() = None;
            known.stored = None;
            if let Err(failed) = self.keeping.forget().await {
                tracing::warn!(%failed, "tokens of another authorization server were not forgotten");
            }
        }
    }

    /// Renews a token. None if it cannot be: it is gone then.
    async fn renewed(&self, known: &mut Inner, record: &Record) -> Result<Option<Token>, Failed> {
        let renewed = self.renew(known, record).await;
        match renewed {
            // Whoever gave it does not know it any more.
            Err(failed) if failed.is_final() => {
                self.tell_not_renewed(&failed);
                if failed.code.as_deref() == Some("invalid_client") {
                    self.keeping.forget_registered(&record.issuer).await;
                }
            }
            Err(failed) => {
                // Its endpoints may have moved.
                known.issuers.remove(&record.issuer);
                return Err(failed);
            }
            Ok(Some(token)) => return Ok(Some(token)),
            Ok(None) => {}
        }
        *self.current_slot() = None;
        if let Some(record) = &mut known.record {
            record.refresh_token = None;
        }
        Ok(None)
    }

    fn tell_not_renewed(&self, failed: &Failed) {
        let server = &self.keeping.server;
        tracing::info!(server, %failed, "an access token was not renewed");
    }

    async fn renew(&self, known: &mut Inner, record: &Record) -> Result<Option<Token>, Failed> {
        let Some(refresh) = &record.refresh_token else {
            return Ok(None);
        };
        let issuer = match known.issuers.get(&record.issuer) {
            Some(issuer) => issuer.clone(),
            None if record.is_own => {
                Issuer::of_origin(&self.agent, &self.server.origin, self.trust).await?
            }
            None => Issuer::discover(&self.agent, &record.issuer, self.trust).await?,
        };
        known.issuers.insert(record.issuer.clone(), issuer.clone());
        let Some(client) = self.client_of(record, &issuer)? else {
            return Ok(None);
        };
        let prover = self.current().and_then(|access| access.prover.clone());
        let asking = Asking {
            agent: &self.agent,
            issuer: &issuer,
            client: &client,
            prover: prover.as_deref(),
            trust: self.trust,
        };
        let params = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh.reveal()),
            ("resource", &record.resource),
        ];
        let tokens = asking.ask(&params).await?;
        let record = Record {
            // It may come with a new one, or stay good.
            refresh_token: tokens
                .refresh_token
                .clone()
                .or(record.refresh_token.clone()),
            expires_at: tokens.expires_at(),
            granted: tokens.granted().or(record.granted.clone()),
            access_token: tokens.access_token,
            ..record.clone()
        };
        let token = self.keep(known, record, Origin::Refreshed).await?;
        Ok(Some(token))
    }

    /// The registration under which tokens were given.
    fn client_of(&self, record: &Record, issuer: &Issuer) -> Result<Option<Registration>, Failed> {
        let id = &record.client_id;
        if let Some(client) = self.configured(issuer)? {
            return Ok(Some(client).filter(|client| client.id == *id));
        }
        if self.oauth.metadata_url.as_ref() == Some(id) {
            return Ok(Some(Registration::public(id)));
        }
        Ok(record.registered.as_ref().map(Registered::registration))
    }

    /// Gets tokens, whoever has to be asked for that.
    async fn sign_in_for(
        &self,
        known: &Inner,
        party: &Party,
        challenged: &[String],
        bound: bool,
        given_up: &CancellationToken,
    ) -> Result<Record, Failed> {
        let issuer = &party.issuer;
        let metadata = party.metadata.as_ref();
        let before = known.record.as_ref().map(|record| &*record.scopes);
        let scopes = Known {
            challenged,
            before: before.unwrap_or_default(),
            configured: &self.oauth.scopes,
            offered: metadata
                .map(|known| &*known.scopes_supported)
                .unwrap_or_default(),
            offline: self.oauth.offline
                && matches!(self.oauth.grant, Grant::Person(_))
                && issuer.offers("offline_access"),
        }
        .wanted();
        let demanded =
            metadata.and_then(|known| known.extra.get("dpop_bound_access_tokens_required"));
        let bound = bound || self.oauth.dpop || demanded == Some(&true.into());
        let prover = match bound {
            true => Some(self.prover(issuer)?),
            false => None,
        };
        let asked = Asked {
            party,
            scopes: scopes.join(" "),
            prover: prover.as_deref(),
        };
        let Given {
            client_id,
            registered,
            tokens,
        } = match &self.oauth.grant {
            Grant::Person(redirect) => {
                let person = self.ask_person(&**redirect, &asked, &scopes, given_up);
                person.await?
            }
            Grant::Program => {
                let grant = ("grant_type", "client_credentials");
                self.ask_alone(&asked, &[grant]).await?
            }
            Grant::Workload(assertion) => {
                let assertion = assertion().await.map_err(|error| {
                    Failed::new("the platform does not vouch for this program").caused_by(error)
                })?;
                let grant = ("grant_type", JWT_BEARER);
                self.ask_alone(&asked, &[grant, ("assertion", assertion.reveal())])
                    .await?
            }
            Grant::Enterprise(provider) => self.ask_enterprise(provider, &asked).await?,
            Grant::Stored => return Err(Failed::new("nobody is asked to sign in")),
        };
        Ok(Record {
            issuer: issuer.issuer.clone(),
            client_id,
            registered,
            is_own: metadata.is_none(),
            resource: party.resource.clone(),
            scopes,
            granted: tokens.granted(),
            expires_at: tokens.expires_at(),
            key: prover.map(|prover| prover.key().clone()),
            refresh_token: tokens.refresh_token,
            access_token: tokens.access_token,
        })
    }

    /// The key that tokens are bound to: the one there is, so that others stay good.
    fn prover(&self, issuer: &Issuer) -> Result<Arc<Prover>, Failed> {
        let algorithms = issuer.dpop_signing_alg_values_supported.as_deref();
        if algorithms.is_some_and(|names| !names.iter().any(|name| name == "ES256")) {
            return Err(Failed::new(format!(
                "{} binds tokens to keys of other kinds than ES256 alone",
                issuer.shown()
            )));
        }
        match self.current().and_then(|access| access.prover.clone()) {
            Some(prover) => Ok(prover),
            None => Ok(Arc::new(Prover::new()?)),
        }
    }

    /// Has a person sign in (AUTH-C-35 to AUTH-C-43).
    async fn ask_person(
        &self,
        redirect: &dyn Redirect,
        asked: &Asked<'_>,
        scopes: &[String],
        given_up: &CancellationToken,
    ) -> Result<Given, Failed> {
        let issuer = &asked.party.issuer;
        let endpoint = issuer.authorization_endpoint()?;
        let registered = self.keeping.registered(&issuer.issuer).await?;
        let known = registered.as_ref().map(|known| known.redirect_uri.as_str());
        let visit = redirect.begin(known).await;
        let visit = visit.map_err(|error| Failed::new("nobody can sign in").caused_by(error))?;
        let redirect_uri = visit.redirect_uri().to_owned();
        check_redirect(&redirect_uri)?;
        let (client, registered) = self.client(issuer, registered, &redirect_uri).await?;
        let (pkce, state) = (Pkce::new()?, random()?);
        let expected = Expected::new(state.clone(), issuer);
        let mut params = vec![
            ("response_type", "code"),
            ("client_id", &client.id),
            ("redirect_uri", &redirect_uri),
            ("state", &state),
            ("code_challenge", &pkce.challenge),
            ("code_challenge_method", "S256"),
            ("resource", &asked.party.resource),
        ];
        if !asked.scopes.is_empty() {
            params.push(("scope", &asked.scopes));
        }
        let sign_in = SignIn {
            url: with_query(endpoint, &params),
            server: Identity::from(&self.server),
            issuer: issuer.issuer.clone(),
            scopes: scopes.to_vec(),
            expected: expected.clone(),
        };
        tracing::info!(
            server = self.keeping.server,
            issuer = issuer.shown(),
            "a person is asked to sign in"
        );
        let back = {
            let _held = self.turn.held.begin();
            let waiting = timeout(self.oauth.patience, visit.send(sign_in));
            tokio::select! {
                biased;
                () = given_up.cancelled() => return Err(forsaken()),
                back = waiting => back,
            }
        };
        let back = back.map_err(|_| {
            let patience = self.oauth.patience;
            Failed::new(format!("nobody signed in within {patience:?}"))
        })?;
        let back = back.map_err(|error| Failed::new("nobody signed in").caused_by(error))?;
        let code = expected
            .code(&back)
            .map_err(|failed| failed.during(format!("signing in at {}", issuer.shown())))?;
        let params = [
            ("grant_type", "authorization_code"),
            ("code", code.reveal()),
            ("redirect_uri", &redirect_uri),
            ("code_verifier", pkce.verifier.reveal()),
            ("resource", &asked.party.resource),
        ];
        let tokens = self.asking(asked, &client).ask(&params).await;
        if let Err(failed) = &tokens
            && failed.code.as_deref() == Some("invalid_client")
        {
            self.keeping.forget_registered(&issuer.issuer).await;
        }
        Ok(Given {
            client_id: client.id,
            registered,
            tokens: tokens?,
        })
    }

    /// Gets tokens without a person.
    async fn ask_alone(&self, asked: &Asked<'_>, grant: &[(&str, &str)]) -> Result<Given, Failed> {
        let issuer = &asked.party.issuer;
        let none = || Failed::new(format!("this program is not known to {}", issuer.shown()));
        let client = self.configured(issuer)?.ok_or_else(none)?;
        let mut params = grant.to_vec();
        params.push(("resource", &asked.party.resource));
        if !asked.scopes.is_empty() {
            params.push(("scope", &asked.scopes));
        }
        let tokens = self.asking(asked, &client).ask(&params).await?;
        Ok(Given {
            client_id: client.id,
            registered: None,
            tokens,
        })
    }

    /// Has an identity provider vouch for the person.
    async fn ask_enterprise(
        &self,
        provider: &IdentityProvider,
        asked: &Asked<'_>,
    ) -> Result<Given, Failed> {
        let Party {
            issuer, resource, ..
        } = asked.party;
        // Nothing is asked of the provider for an authorization server that is not meant.
        self.configured(issuer)?;
        let id_token = (provider.id_token)()
            .await
            .map_err(|error| Failed::new("there is no ID token of the person").caused_by(error))?;
        self.trust.endpoint(&provider.token_endpoint)?;
        let mut params = vec![
            ("audience", issuer.issuer.as_str()),
            ("resource", resource),
            ("subject_token", id_token.reveal()),
            ("client_id", &provider.client_id),
        ];
        if !asked.scopes.is_empty() {
            params.push(("scope", &asked.scopes));
        }
        let endpoint = &provider.token_endpoint;
        let assertion = exchange_identity(&self.agent, endpoint, &params).await?;
        let grant = ("grant_type", JWT_BEARER);
        self.ask_alone(asked, &[grant, ("assertion", assertion.reveal())])
            .await
    }

    fn asking<'a>(&'a self, asked: &Asked<'a>, client: &'a Registration) -> Asking<'a> {
        Asking {
            agent: &self.agent,
            issuer: &asked.party.issuer,
            client,
            prover: asked.prover,
            trust: self.trust,
        }
    }

    /// How an authorization server knows this client (AUTH-C-12, AUTH-C-13), and if it had to
    /// register for that, what came of it.
    async fn client(
        &self,
        issuer: &Issuer,
        registered: Option<Registered>,
        redirect_uri: &str,
    ) -> Result<(Registration, Option<Registered>), Failed> {
        if let Some(client) = self.configured(issuer)? {
            return Ok((client, None));
        }
        if let Some(url) = &self.oauth.metadata_url
            && issuer.client_id_metadata_document_supported
        {
            check_document(url)?;
            return Ok((Registration::public(url), None));
        }
        if let Some(registered) = registered.filter(|known| known.is_good_for(redirect_uri)) {
            return Ok((registered.registration(), Some(registered)));
        }
        let Some(endpoint) = issuer
            .registration_endpoint
            .as_deref()
            .filter(|_| self.oauth.registers)
        else {
            return Err(Failed::new(format!(
                "{} does not know this client, and takes no registrations on the way: register it \
                 there, and give its client id",
                issuer.shown()
            )));
        };
        let name = &self.oauth.name;
        let registered = register(&self.agent, issuer, endpoint, name, redirect_uri).await?;
        self.keeping
            .keep_registered(&issuer.issuer, &registered)
            .await;
        Ok((registered.registration(), Some(registered)))
    }

    /// What the caller says of an authorization server.
    ///
    /// # Errors
    /// If it says how this client is known, but to others alone (AUTH-C-27).
    fn configured(&self, issuer: &Issuer) -> Result<Option<Registration>, Failed> {
        let registrations = &self.oauth.registrations;
        let mut all = registrations.iter();
        match all.find(|(name, _)| *name == issuer.issuer) {
            Some((_, client)) => Ok(Some(client.clone())),
            None if registrations.is_empty() => Ok(None),
            None => {
                let names = registrations.iter().map(|(name, _)| name.as_str());
                let names: Vec<_> = names.collect();
                Err(Failed::new(format!(
                    "the server's authorization server is {}, and this client is registered with \
                     {} only",
                    issuer.shown(),
                    names.join(", ")
                )))
            }
        }
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

/// What tokens are asked for.
struct Asked<'a> {
    party: &'a Party,
    scopes: String,
    prover: Option<&'a Prover>,
}

/// What came of it.
struct Given {
    client_id: String,
    registered: Option<Registered>,
    tokens: Tokens,
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

/// Whether a status says that there is nothing, and not that there is something wrong.
fn is_nothing(status: u16) -> bool {
    (400..500).contains(&status) && ![408, 429].contains(&status)
}

fn names_metadata(challenges: &[String]) -> bool {
    let bearer = Challenge::of(401, challenges).bearer();
    bearer.is_some_and(|bearer| bearer.resource_metadata.is_some())
}

/// The name of a server that publishes none (AUTH-C-42, AUTH-C-44).
fn canonical(server: &Endpoint) -> String {
    match server.uri.path() {
        "/" => server.origin.clone(),
        _ => server.place(),
    }
}

/// A URL with more in its query; what stands in it already stays as it is.
fn with_query(url: &str, params: &[(&str, &str)]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(params);
    let separator = if url.contains('?') { '&' } else { '?' };
    format!("{url}{separator}{}", query.finish())
}

/// People come back to this machine, or over TLS (AUTH-B-05).
fn check_redirect(uri: &str) -> Result<(), Failed> {
    let place = Endpoint::parse(uri);
    match place.is_ok_and(|place| place.is_secure() || place.is_loopback()) {
        true => Ok(()),
        false => Err(Failed::new(format!(
            "people cannot come back to {}: it must be https, or on this machine",
            one_line(uri.as_bytes())
        ))),
    }
}

/// A document about this client has to be found by others (AUTH-C-15).
fn check_document(url: &str) -> Result<(), Failed> {
    let is_good = !url.contains('#')
        && Endpoint::parse(url).is_ok_and(|place| place.is_secure() && place.uri.path() != "/");
    match is_good {
        true => Ok(()),
        false => Err(Failed::new(format!(
            "the document about this client cannot be at {}: it must be https, with a path",
            one_line(without_secrets(url).as_bytes())
        ))),
    }
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
