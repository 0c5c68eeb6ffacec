//! [`Authorizer`]: the access tokens of one server, from the first challenge on.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use http::StatusCode;
use tokio::{sync::MutexGuard, time::timeout};

use super::{
    OAuth, Redirect, Registration, Secret, SignIn, SignedIn,
    callback::Expected,
    discovery::{Issuer, Trust},
    dpop::Prover,
    failed::Failed,
    held::Held,
    pkce::{Pkce, random},
    record::{Keeping, Record},
    registration::{Registered, register},
    scopes::Known,
    settings::{Grant, IdentityProvider},
    tokens::{Asking, JWT_BEARER, Tokens, exchange_identity},
};
use crate::{
    client::{
        Challenge, ErrorKind, Http, Identity, ResourceMetadata, error::Boxed, transport::Token,
    },
    excerpt::one_line,
    web::{Agent, Endpoint},
};

/// How often more scopes are asked for because of one operation (AUTH-C-34).
const STEPS: u8 = 2;

/// The access tokens of one server.
pub(crate) struct Authorizer {
    oauth: OAuth,
    /// The way to the server, without tokens.
    http: Http,
    server: Endpoint,
    agent: Agent,
    trust: Trust,
    keeping: Keeping,
    held: Held,
    /// What requests are sent with.
    current: Mutex<Option<Arc<Access>>>,
    /// Only one at a time finds out more.
    known: tokio::sync::Mutex<Inner>,
}

/// A token as it is sent.
struct Access {
    token: Token,
    prover: Option<Arc<Prover>>,
    origin: Origin,
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
    /// By their names.
    issuers: HashMap<String, Issuer>,
    /// How often an operation wanted more scopes.
    steps: HashMap<String, u8>,
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
        Self {
            keeping: Keeping {
                store: oauth.store.clone(),
                server: server.place(),
            },
            agent: http.agent(false),
            trust: Trust {
                is_here: server.is_loopback(),
            },
            oauth,
            http,
            server,
            held: Held::default(),
            current: Mutex::default(),
            known: tokio::sync::Mutex::default(),
        }
    }

    /// How long a person was waited for, all in all.
    pub(crate) fn held(&self) -> Duration {
        self.held.total()
    }

    /// The token for the next request, if there is one.
    pub(crate) async fn token(&self) -> Result<Option<Token>, Boxed> {
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
        &self,
        refused: Option<&Token>,
        challenge: &Challenge,
        operation: &str,
    ) -> Result<Token, Boxed> {
        let mut known = self.known().await?;
        let wants_more = challenge.status == 403;
        let mut may_renew = !wants_more;
        if let Some(access) = self.current() {
            // Somebody else was faster.
            if Some(&access.token) != refused {
                return Ok(access.token.clone());
            }
            if !wants_more && !access.accepted.load(Relaxed) {
                match access.origin {
                    Origin::SignedIn => return Err(self.unwelcome(&known).into()),
                    Origin::Refreshed => may_renew = false,
                    Origin::Stored => {}
                }
            }
        }
        let said = challenge.bearer().unwrap_or_default();
        if wants_more {
            known.step(operation, &said.scopes)?;
        }
        if let Grant::Stored = self.oauth.grant {
            return self.stored(&mut known, may_renew).await;
        }
        let party = self.find(&mut known, &challenge.www_authenticate).await?;
        self.part_from_others(&mut known, &party).await;
        if may_renew
            && let Some(record) = known.record.clone()
            && let Some(token) = self.renewed(&mut known, &record).await?
        {
            return Ok(token);
        }
        let record = self
            .sign_in_for(&known, &party, &said.scopes, said.dpop)
            .await?;
        Ok(self.keep(&mut known, record, Origin::SignedIn).await?)
    }

    /// Another token without asking anybody.
    async fn stored(&self, known: &mut Inner, may_renew: bool) -> Result<Token, Boxed> {
        let Some(record) = known.record.clone() else {
            return Err(Failed::new("nobody is signed in").into());
        };
        if may_renew && let Some(token) = self.renewed(known, &record).await? {
            return Ok(token);
        }
        let message = "what was signed in for is not enough, or no longer good: sign in again";
        Err(Failed::new(message).into())
    }

    /// Signs in, whether or not the server wants it by now.
    pub(crate) async fn sign_in(&self, challenges: &[String]) -> Result<SignedIn, Boxed> {
        let mut known = self.known().await?;
        let party = self.find(&mut known, challenges).await?;
        self.part_from_others(&mut known, &party).await;
        let said = Challenge::of(401, challenges).bearer().unwrap_or_default();
        let record = self
            .sign_in_for(&known, &party, &said.scopes, said.dpop)
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
        let mut known = self.known().await?;
        self.keeping.forget().await?;
        *self.current_slot() = None;
        Ok(known.record.take().is_some())
    }

    /// A response came: what there is to learn from it.
    pub(crate) fn heard(&self, status: StatusCode, token: &Token) {
        if status != StatusCode::UNAUTHORIZED
            && let Some(access) = self.current()
            && access.token == *token
        {
            access.accepted.store(true, Relaxed);
        }
    }

    /// What is known; with what was stored, from the first time on.
    async fn known(&self) -> Result<MutexGuard<'_, Inner>, Failed> {
        let mut known = self.known.lock().await;
        if !known.is_loaded {
            if let Some(record) = self.keeping.record().await? {
                self.adopt(&mut known, record, Origin::Stored)?;
            }
            known.is_loaded = true;
        }
        Ok(known)
    }

    /// Who gives tokens for this server (AUTH-C-01).
    async fn find(&self, known: &mut Inner, challenges: &[String]) -> Result<Party, Failed> {
        let metadata = match self.http.resource_metadata(challenges).await {
            Ok(metadata) => Some(metadata),
            // LAUTH-C-05
            Err(error)
                if self.oauth.older
                    && matches!(error.kind(), ErrorKind::Status(_))
                    && !names_metadata(challenges) =>
            {
                None
            }
            Err(error) => return Err(Failed::new(error.to_string())),
        };
        let Some(metadata) = metadata else {
            let origin = &self.server.origin;
            let issuer = Issuer::of_origin(&self.agent, origin, self.trust).await?;
            return Ok(Party {
                issuer,
                resource: canonical(&self.server),
                metadata: None,
            });
        };
        let name = self.choose(known, &metadata.authorization_servers)?;
        let issuer = match known.issuers.get(&name) {
            Some(issuer) => issuer.clone(),
            None => Issuer::discover(&self.agent, &name, self.trust).await?,
        };
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
            Err(failed) if failed.code.is_some() => self.tell_not_renewed(&failed),
            Err(failed) => return Err(failed),
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
            None => Issuer::discover(&self.agent, &record.issuer, self.trust).await?,
        };
        known.issuers.insert(record.issuer.clone(), issuer.clone());
        let Some(client) = self.client_named(&record.client_id, &issuer).await? else {
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
    async fn client_named(
        &self,
        id: &str,
        issuer: &Issuer,
    ) -> Result<Option<Registration>, Failed> {
        if let Some(client) = self.configured(issuer)? {
            return Ok(Some(client).filter(|client| client.id == id));
        }
        if self.oauth.metadata_url.as_deref() == Some(id) {
            return Ok(Some(Registration::public(id)));
        }
        let registered = self.keeping.registered(&issuer.issuer).await?;
        let registered = registered.filter(|registered| registered.client_id == id);
        Ok(registered.map(|registered| registered.registration()))
    }

    /// Gets tokens, whoever has to be asked for that.
    async fn sign_in_for(
        &self,
        known: &Inner,
        party: &Party,
        challenged: &[String],
        bound: bool,
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
        let (client_id, tokens) = match &self.oauth.grant {
            Grant::Person(redirect) => self.ask_person(&**redirect, &asked, &scopes).await?,
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
        if bound && !tokens.is_bound() {
            return Err(Failed::new(format!(
                "{} gave a token that is good without a key, and the server wants one that is not",
                issuer.shown()
            )));
        }
        Ok(Record {
            issuer: issuer.issuer.clone(),
            client_id,
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
    ) -> Result<(String, Tokens), Failed> {
        let issuer = &asked.party.issuer;
        let endpoint = issuer.authorization_endpoint()?;
        let registered = self.keeping.registered(&issuer.issuer).await?;
        let known = registered.as_ref().map(|known| known.redirect_uri.as_str());
        let visit = redirect.begin(known).await;
        let visit = visit.map_err(|error| Failed::new("nobody can sign in").caused_by(error))?;
        let redirect_uri = visit.redirect_uri().to_owned();
        check_redirect(&redirect_uri)?;
        let client = self.client(issuer, registered, &redirect_uri).await?;
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
            let _held = self.held.begin();
            timeout(self.oauth.patience, visit.send(sign_in)).await
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
        Ok((client.id, tokens?))
    }

    /// Gets tokens without a person.
    async fn ask_alone(
        &self,
        asked: &Asked<'_>,
        grant: &[(&str, &str)],
    ) -> Result<(String, Tokens), Failed> {
        let issuer = &asked.party.issuer;
        let none = || Failed::new(format!("this program is not known to {}", issuer.shown()));
        let client = self.configured(issuer)?.ok_or_else(none)?;
        let mut params = grant.to_vec();
        params.push(("resource", &asked.party.resource));
        if !asked.scopes.is_empty() {
            params.push(("scope", &asked.scopes));
        }
        let tokens = self.asking(asked, &client).ask(&params).await?;
        Ok((client.id, tokens))
    }

    /// Has an identity provider vouch for the person.
    async fn ask_enterprise(
        &self,
        provider: &IdentityProvider,
        asked: &Asked<'_>,
    ) -> Result<(String, Tokens), Failed> {
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

    /// How an authorization server knows this client (AUTH-C-12, AUTH-C-13).
    async fn client(
        &self,
        issuer: &Issuer,
        registered: Option<Registered>,
        redirect_uri: &str,
    ) -> Result<Registration, Failed> {
        if let Some(client) = self.configured(issuer)? {
            return Ok(client);
        }
        if let Some(url) = &self.oauth.metadata_url
            && issuer.client_id_metadata_document_supported
        {
            return Ok(Registration::public(url));
        }
        if let Some(registered) = registered.filter(|known| known.is_good_for(redirect_uri)) {
            return Ok(registered.registration());
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
        Ok(registered.registration())
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
        self.keeping.keep(&record).await;
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

impl Inner {
    /// An operation wants more scopes.
    ///
    /// # Errors
    /// If that leads nowhere (AUTH-C-34).
    fn step(&mut self, operation: &str, scopes: &[String]) -> Result<(), Failed> {
        if self
            .record
            .as_ref()
            .is_some_and(|record| record.allows(scopes))
        {
            let message = "the server wants scopes for it that the token has";
            return Err(Failed::new(message));
        }
        /// Names are the caller's, and should not be kept without end.
        const OPERATIONS: usize = 1000;
        if self.steps.len() >= OPERATIONS {
            self.steps.clear();
        }
        let steps = self.steps.entry(operation.to_owned()).or_default();
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
