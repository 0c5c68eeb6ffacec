//! [`Http`]: how a server is reached over HTTP.

use std::{fmt, sync::Arc, time::Duration};

use super::{
    bearer::{Bearer, Credentials, Token},
    head::Head,
    transport::HttpTransport,
    wire::Wire,
};
#[cfg(feature = "oauth")]
use crate::client::{
    ErrorKind,
    oauth::{Authorizer, OAuth, SignedIn},
};
use crate::{
    client::{Connect, Error, Events},
    web::{
        Agent, Choice, Config, Connector, Endpoint, Pool, Proxy, Secret, Settings, Tls, anonymous,
        unusable,
    },
};

/// A server behind a URL (Streamable HTTP).
///
/// ```no_run
/// use antiphon::client::Http;
///
/// let way = Http::new("https://example.com/mcp")
///     .bearer("an access token")
///     .header("x-tenant", "a");
/// ```
///
/// A server of an older revision is spoken with as it expects: in a session that is ended when the
/// connection is closed, and over HTTP with server-sent events if it knows nothing newer.
///
/// What is wrong with any of it is told when it is connected. Nothing is sent then: whether the
/// server is there shows with the first request. `https` needs the feature `tls`.
#[derive(Clone)]
#[must_use = "nothing happens until it is connected"]
pub struct Http {
    url: String,
    bearer: Option<Source>,
    headers: Vec<(String, String)>,
    limit: usize,
    connect_timeout: Duration,
    proxy: Choice,
    cleartext: bool,
    tls: Option<Config>,
}

#[derive(Clone)]
enum Source {
    Fixed(String),
    Provider(Arc<dyn Bearer>),
    #[cfg(feature = "oauth")]
    OAuth(Box<OAuth>),
}

impl Http {
    /// The server at this URL, such as `https://example.com/mcp`.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            bearer: None,
            headers: Vec::new(),
            limit: 16 << 20,
            connect_timeout: Duration::from_secs(10),
            proxy: Choice::default(),
            cleartext: false,
            tls: None,
        }
    }

    /// Sends this access token with every request.
    pub fn bearer(mut self, token: impl Into<String>) -> Self {
        self.bearer = Some(Source::Fixed(token.into()));
        self
    }

    /// Sends access tokens that come from `provider`, which may answer a server's challenge with
    /// another.
    pub fn bearer_from(mut self, provider: impl Bearer + 'static) -> Self {
        self.bearer = Some(Source::Provider(Arc::new(provider)));
        self
    }

    /// Gets access tokens as the server demands it: by signing in at its authorization server.
    ///
    /// ```no_run
    /// use antiphon::client::{Http, oauth::{Loopback, OAuth}};
    ///
    /// let way = Http::new("https://example.com/mcp").oauth(OAuth::new("Desk", Loopback::new()));
    /// ```
    #[cfg(feature = "oauth")]
    pub fn oauth(mut self, oauth: OAuth) -> Self {
        self.bearer = Some(Source::OAuth(Box::new(oauth)));
        self
    }

    /// Sends a header with every request. The protocol's own headers cannot be set.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Bounds what the server may send at once: a response, or one event of a stream. 16 MiB
    /// unless set.
    pub fn max_message_bytes(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// How long it may take to open a connection, TLS and proxy included. 10 seconds unless set.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// Uses no proxy, whatever the environment says.
    pub fn no_proxy(mut self) -> Self {
        self.proxy = Choice::None;
        self
    }

    /// Uses this HTTP proxy, such as `http://user:password@proxy.example.com:3128`.
    ///
    /// Unless set, the environment decides: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and
    /// `NO_PROXY`, but never for a server on this machine.
    pub fn proxy(mut self, url: impl Into<String>) -> Self {
        self.proxy = Choice::Url(Secret(url.into()));
        self
    }

    /// Lets access tokens travel without encryption to another machine, where anyone on the way
    /// can read and use them. Without it that is refused.
    pub fn danger_bearer_over_cleartext(mut self) -> Self {
        self.cleartext = true;
        self
    }

    /// Uses this TLS configuration in place of the system's certificates, for roots or a client
    /// certificate of one's own.
    #[cfg(feature = "tls")]
    pub fn tls_config(mut self, config: Arc<tokio_rustls::rustls::ClientConfig>) -> Self {
        self.tls = Some(config);
        self
    }

    /// Signs in, whether or not the server wants it by now. `challenges` are those of
    /// [`ErrorKind::Unauthorized`](crate::client::ErrorKind::Unauthorized), if there were any: they
    /// say where to turn to, and what for.
    ///
    /// What came of it is in the store of the [`OAuth`], for whoever connects with that.
    ///
    /// # Errors
    /// When nobody is signed in, or without [`oauth`](Self::oauth).
    #[cfg(feature = "oauth")]
    pub async fn sign_in(&self, challenges: &[String]) -> Result<SignedIn, Error> {
        let signed_in = self.authorizer()?.sign_in(challenges).await;
        signed_in.map_err(|cause| {
            let kind = ErrorKind::Unauthorized {
                status: 401,
                challenges: challenges.to_vec(),
            };
            Error::new(kind, "nobody is signed in").caused_by(cause)
        })
    }

    /// Forgets the tokens for this server; whether there were any. How this client is known to the
    /// authorization server is not forgotten.
    ///
    /// # Errors
    /// When the store does not work, or without [`oauth`](Self::oauth).
    #[cfg(feature = "oauth")]
    pub async fn sign_out(&self) -> Result<bool, Error> {
        let signed_out = self.authorizer()?.sign_out().await;
        signed_out.map_err(|cause| Error::invalid("the tokens are not forgotten").caused_by(cause))
    }

    #[cfg(feature = "oauth")]
    fn authorizer(&self) -> Result<Arc<Authorizer>, Error> {
        let endpoint = self.endpoint()?;
        let proxy = self.proxy.proxy_for(&endpoint)?;
        match self.credentials(&endpoint, proxy.as_ref())? {
            Credentials::OAuth(authorizer) => Ok(authorizer),
            _ => Err(Error::invalid(
                "there is no way to sign in: give it .oauth(..)",
            )),
        }
    }

    /// The URL as it was given.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Who gets documents from the server itself, or from others that have to do with it. Neither
    /// tokens nor headers of one's own are sent, and to others no client certificate.
    pub(in crate::client) fn agent(&self, ours: bool) -> Agent {
        let tls = self.tls.clone();
        Agent::new(Settings {
            proxy: self.proxy.clone(),
            tls: match ours {
                true => tls,
                false => tls.map(anonymous),
            },
            connect_timeout: self.connect_timeout,
            ..Settings::default()
        })
    }

    /// The URL, taken apart.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`](crate::client::ErrorKind::Invalid) if it is none.
    pub(super) fn endpoint(&self) -> Result<Endpoint, Error> {
        Endpoint::parse(&self.url).map_err(|why| {
            let why = format!("{why}; a server's URL looks like https://example.com/mcp");
            unusable("the URL", &self.url, &why).into()
        })
    }

    /// Prepares the way; nothing is sent.
    pub(super) async fn wire(self, events: Events) -> Result<Wire, Error> {
        let endpoint = self.endpoint()?;
        let proxy = self.proxy.proxy_for(&endpoint)?;
        let credentials = self.credentials(&endpoint, proxy.as_ref())?;
        // Through a tunnel the proxy is told once per connection, otherwise with each request.
        let told = proxy.as_ref().filter(|_| !endpoint.is_secure());
        let told = told.and_then(|proxy| proxy.authorization.clone());
        let head = Head::new(&endpoint.host, &self.headers, told)?;
        let secure = endpoint.is_secure() || proxy.as_ref().is_some_and(Proxy::is_secure);
        let tls = match secure {
            true => Some(Tls::load(self.tls).await?),
            false => None,
        };
        let connector = Connector::new(proxy.clone(), tls, self.connect_timeout);
        Ok(Wire {
            endpoint,
            head,
            pool: Pool::new(connector),
            proxy,
            credentials,
            limit: self.limit,
            events,
        })
    }

    /// What is known of tokens, if it may be used on this way.
    fn credentials(
        &self,
        endpoint: &Endpoint,
        proxy: Option<&Proxy>,
    ) -> Result<Credentials, Error> {
        let credentials = match &self.bearer {
            None => Credentials::None,
            Some(Source::Fixed(text)) => Credentials::Fixed(Token::new(text)?),
            Some(Source::Provider(provider)) => Credentials::From(provider.clone()),
            #[cfg(feature = "oauth")]
            Some(Source::OAuth(oauth)) => {
                let way = Self {
                    bearer: None,
                    ..self.clone()
                };
                let authorizer = Authorizer::new((**oauth).clone(), way, endpoint.clone());
                Credentials::OAuth(Arc::new(authorizer))
            }
        };
        let stays = endpoint.is_loopback() && proxy.is_none_or(Proxy::is_loopback);
        if credentials.is_none() || endpoint.is_secure() || stays || self.cleartext {
            return Ok(credentials);
        }
        Err(Error::invalid(format!(
            "an access token must not be sent to {} without encryption: use https, or \
             .danger_bearer_over_cleartext() where the network can be trusted",
            endpoint.origin
        )))
    }
}

impl Connect for Http {
    type Transport = HttpTransport;

    async fn connect(self, events: Events) -> Result<HttpTransport, Error> {
        Ok(HttpTransport::new(self.wire(events).await?))
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        let server = Endpoint::parse(&self.url).map(|endpoint| endpoint.place());
        f.debug_struct("Http")
            .field("server", &server.as_deref().unwrap_or("?"))
            .field("bearer", &self.bearer.is_some())
            .field("headers", &names)
            .field("proxy", &self.proxy)
            .finish_non_exhaustive()
    }
}
