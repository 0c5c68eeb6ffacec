//! [`HttpService`]: the endpoint as a tower service, and its configuration.

use std::{
    convert::Infallible,
    fmt,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http::{Request, Response};
use tokio_util::sync::CancellationToken;

use super::{auth::Gate, body::Body, future::ResponseFuture, guard::Guard, published::Published};
use crate::{
    auth::{Protected, Verifier, scopes},
    engine::unattended::Unattended,
    legacy::http::{Around, SessionCounts, Sessions, Table},
    raw::Endpoint,
};

/// Streamable HTTP for one endpoint, ready to be mounted.
///
/// Only requests for a loopback host, and from web pages of a loopback origin, are let in until
/// [`allow_host`](HttpService::allow_host) and [`allow_origin`](HttpService::allow_origin) say
/// otherwise.
#[derive(Clone)]
pub struct HttpService {
    shared: Arc<Shared>,
}

#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) endpoint: Endpoint,
    pub(crate) guard: Guard,
    pub(crate) gate: Option<Arc<Gate>>,
    /// What is told to those who have no token yet.
    pub(crate) published: Option<Arc<Published>>,
    pub(crate) keep_alive: Duration,
    pub(crate) body_timeout: Duration,
    /// Cancelled when the server around it is about to stop.
    pub(crate) stopping: CancellationToken,
    /// Whether the server around it is somebody else's.
    pub(crate) mounted: bool,
    /// What runs on without its client.
    pub(crate) unattended: Unattended,
    /// How older clients are known, if they are served.
    pub(crate) older: Option<Arc<Table>>,
}

impl Shared {
    /// The sessions of older clients, where there are such.
    pub(crate) fn sessions(&self) -> Option<&Arc<Table>> {
        self.older.as_ref().filter(|older| !older.stateless)
    }

    pub(crate) fn around(&self) -> Around<'_> {
        Around {
            unattended: &self.unattended,
            stopping: &self.stopping,
            keep_alive: self.keep_alive,
        }
    }
}

/// Makes `endpoint` a tower service.
pub fn service(endpoint: impl Into<Endpoint>) -> HttpService {
    let endpoint = endpoint.into();
    let older = endpoint.inner().legacy.served;
    let older = older.then(|| Arc::new(Table::new(Sessions::new(), endpoint.clone())));
    HttpService {
        shared: Arc::new(Shared {
            older,
            unattended: endpoint.inner().unattended.clone(),
            endpoint,
            guard: Guard::default(),
            gate: None,
            published: None,
            keep_alive: Duration::from_secs(15),
            body_timeout: Duration::from_secs(30),
            stopping: CancellationToken::new(),
            mounted: true,
        }),
    }
}

impl HttpService {
    /// Lets in requests for this host: a name, or a name and a port.
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.shared().guard.hosts.push(host.into());
        self
    }

    /// Lets in, and answers with CORS headers, web pages of this origin, such as
    /// `https://app.example.com`.
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.shared().guard.origins.push(origin.into());
        self
    }

    /// Lets in requests for any host: right only where something in front checks it.
    pub fn danger_allow_any_host(mut self) -> Self {
        self.shared().guard.any_host = true;
        self
    }

    /// Lets in web pages of any origin: any page its user visits can call this server.
    pub fn danger_allow_any_origin(mut self) -> Self {
        self.shared().guard.any_origin = true;
        self
    }

    /// Demands a bearer token that `verifier` accepts, and tells those who have none where to get one:
    /// every challenge names the metadata of `protected` (AUTH-S-03), and a `GET` of it is answered
    /// without a token. Requests for its host are let in. Scopes come after it.
    ///
    /// [`serve`](super::serve()) answers such a `GET` by itself. In a router of yours, route
    /// [`Protected::metadata_path`] to this service as well:
    ///
    /// ```
    /// # use antiphon::{Server, auth::{Principal, Protected, StaticTokens}, http};
    /// # let (server, verifier) = (Server::<()>::new("x", "1"), StaticTokens::new());
    /// let protected = Protected::new("https://mcp.example.com/mcp", ["https://auth.example.com"]);
    /// let metadata = protected.metadata_path();
    /// let service = http::service(server).protected(protected, verifier);
    /// let app: axum::Router = axum::Router::new()
    ///     .route_service("/mcp", service.clone())
    ///     .route_service(&metadata, service);
    /// ```
    pub fn protected(self, protected: Protected, verifier: impl Verifier) -> Self {
        let host = protected.host().to_owned();
        let mut service = self
            .verifier(verifier)
            .resource_metadata(protected.metadata_url())
            .allow_host(host);
        service.shared().published = Some(Arc::new(Published::new(protected)));
        service
    }

    /// Demands a bearer token that `verifier` accepts. Scopes and metadata come after it.
    pub fn verifier(mut self, verifier: impl Verifier) -> Self {
        self.shared().gate = Some(Arc::new(Gate::new(verifier)));
        self
    }

    /// The scopes every request needs, on top of a valid token; [tools](crate::Tool::require_scopes),
    /// prompts and resources may need more. `offline_access` is none of a server's, and left out
    /// (AUTH-S-17).
    ///
    /// # Panics
    /// Before [`verifier`](Self::verifier) or [`protected`](Self::protected): there would be nobody to
    /// check them. If one is no scope.
    #[track_caller]
    pub fn require_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.gate().scopes = match scopes::read(scopes) {
            Ok(scopes) => scopes,
            Err(why) => panic!("{why}"),
        };
        self
    }

    /// Whoever has `scope` has these as well, and what they imply (AUTH-S-16). Handlers see all of
    /// them in the [`Principal`](crate::auth::Principal).
    ///
    /// # Panics
    /// Before [`verifier`](Self::verifier) or [`protected`](Self::protected).
    #[track_caller]
    pub fn scope_implies(
        mut self,
        scope: impl Into<String>,
        implied: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let implied = implied.into_iter().map(Into::into).collect();
        self.gate().implied.push((scope.into(), implied));
        self
    }

    /// Where the protected-resource metadata is, for the challenge of a `401` (AUTH-S-03), if somebody
    /// else publishes it.
    ///
    /// # Panics
    /// Before [`verifier`](Self::verifier): there would be no challenge.
    #[track_caller]
    pub fn resource_metadata(mut self, url: impl Into<String>) -> Self {
        self.gate().resource_metadata = Some(url.into());
        self
    }

    /// How long a stream is silent before a comment is sent. 15 seconds.
    pub fn keep_alive(mut self, every: Duration) -> Self {
        self.shared().keep_alive = every;
        self
    }

    /// How long a client may take to send a body. 30 seconds.
    pub fn body_timeout(mut self, timeout: Duration) -> Self {
        self.shared().body_timeout = timeout;
        self
    }

    /// What clients of the revisions before 2026-07-28 may hold in their sessions.
    pub fn sessions(self, sessions: Sessions) -> Self {
        self.serving_older(|older| older.with(Some(sessions), older.stateless, older.plain))
    }

    /// Keeps no sessions for clients of the revisions before 2026-07-28: every POST stands alone,
    /// nothing is kept between them, and any instance can answer any of them.
    ///
    /// What is asked is refused at once, since no answer would find its question; nobody is told
    /// of changes; and a call ends when its connection does.
    pub fn stateless(self) -> Self {
        self.serving_older(|older| older.with(None, true, older.plain))
    }

    /// Answers clients of the revisions before 2026-07-28 with single JSON messages, never with
    /// streams. What a call would have told or asked before its answer is left out or refused.
    pub fn json_answers(self) -> Self {
        self.serving_older(|older| older.with(None, older.stateless, true))
    }

    /// What became of the sessions of clients of the revisions before 2026-07-28. Clones of a
    /// service have the same.
    pub fn session_counts(&self) -> SessionCounts {
        let older = self.shared.older.as_ref();
        older.map(|older| older.counts()).unwrap_or_default()
    }

    fn serving_older(mut self, change: impl FnOnce(&Table) -> Table) -> Self {
        let shared = self.shared();
        shared.older = shared.older.as_ref().map(|older| Arc::new(change(older)));
        self
    }

    /// The endpoint behind it.
    pub fn endpoint(&self) -> &Endpoint {
        &self.shared.endpoint
    }

    /// For a server of ours: ends its subscriptions, open ones and new ones, once `stopping` is
    /// cancelled, and leaves to `unattended` what runs on without its client.
    pub(crate) fn until(mut self, stopping: CancellationToken, unattended: Unattended) -> Self {
        let shared = self.shared();
        shared.stopping = stopping;
        shared.unattended = unattended;
        shared.mounted = false;
        self
    }

    /// Whether a request comes from somebody who may call at all.
    pub(crate) fn knows<B>(&self, request: &Request<B>) -> bool {
        let guard = &self.shared.guard;
        guard.check(request.uri(), request.headers()).is_ok()
    }

    /// Whether a request is for the metadata, wherever the service itself is.
    pub(crate) fn publishes<B>(&self, request: &Request<B>) -> bool {
        let published = self.shared.published.as_ref();
        published.is_some_and(|published| published.is_at(request.uri()))
    }

    /// Answers one request.
    pub(crate) fn respond<B>(&self, request: Request<B>) -> ResponseFuture<B>
    where
        B: http_body::Body,
    {
        ResponseFuture::new(self.shared.clone(), request)
    }

    /// Answers one request to a path at which there is nothing.
    pub(crate) fn refuse_path<B>(&self) -> ResponseFuture<B> {
        ResponseFuture::nothing_here(self.shared.clone())
    }

    fn shared(&mut self) -> &mut Shared {
        Arc::make_mut(&mut self.shared)
    }

    #[track_caller]
    fn gate(&mut self) -> &mut Gate {
        let gate = self.shared().gate.as_mut();
        let gate = gate.expect("`protected` or `verifier` comes first");
        Arc::make_mut(gate)
    }
}

impl<B> tower_service::Service<Request<B>> for HttpService
where
    B: http_body::Body,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = ResponseFuture<B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture<B> {
        self.respond(request)
    }
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService")
            .field("endpoint", &self.shared.endpoint)
            .field("guard", &self.shared.guard)
            .field("verifier", &self.shared.gate.is_some())
            .finish_non_exhaustive()
    }
}
