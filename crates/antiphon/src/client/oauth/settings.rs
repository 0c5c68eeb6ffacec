//! [`OAuth`]: how a client gets its access tokens.

use std::{fmt, sync::Arc, time::Duration};

use super::{MemoryTokens, Redirect, Registration, Secret, TokenStore, turn::Turns};
use crate::client::{Pending, error::Boxed};

/// How a client gets the access tokens of one server, or of many: by OAuth 2.1, as the server
/// demands it.
///
/// ```no_run
/// use antiphon::client::{Client, Http, oauth::{Loopback, OAuth, TokenFiles}};
///
/// # async fn example() -> Result<(), antiphon::client::Error> {
/// let oauth = OAuth::new("Desk", Loopback::new()).store(TokenFiles::in_folder("tokens"));
/// let shop = Http::new("https://example.com/mcp").oauth(oauth);
/// let shop = Client::new("desk", "1.0").connect(shop).await?;
/// # Ok(()) }
/// ```
///
/// Nothing happens until the server wants to know who is calling. Then its authorization server is
/// found, this client becomes known there, and a person signs in; the request goes on with the
/// token, and later ones use it too. Tokens are renewed, and more is asked for when the server
/// wants more.
///
/// The clocks of requests stand still while a person signs in. Clones share the store, and for each
/// server one sign-in serves all connections that wait for it. A host with several users needs an
/// `OAuth` with a store of its own for each.
#[derive(Clone)]
#[must_use = "nothing happens until it is given to Http::oauth"]
pub struct OAuth {
    pub(super) name: String,
    pub(super) grant: Grant,
    pub(super) registrations: Vec<(String, Registration)>,
    pub(super) metadata_url: Option<String>,
    pub(super) registers: bool,
    pub(super) scopes: Vec<String>,
    pub(super) offline: bool,
    pub(super) older: bool,
    pub(super) dpop: bool,
    pub(super) patience: Duration,
    pub(super) store: Arc<dyn TokenStore>,
    /// Clones have people sign in one after the other.
    pub(super) turns: Turns,
}

pub(super) type Assertion = Arc<dyn Fn() -> Pending<'static, Result<Secret, Boxed>> + Send + Sync>;

/// What tokens are given for.
#[derive(Clone)]
pub(super) enum Grant {
    /// A person signs in.
    Person(Arc<dyn Redirect>),
    /// The program is a party of its own.
    Program,
    /// The platform that the program runs on vouches for it.
    Workload(Assertion),
    /// An identity provider vouches for the person.
    Enterprise(IdentityProvider),
    /// Nothing: there are tokens, or there are none.
    Stored,
}

/// The identity provider of an enterprise, which vouches for its people at authorization servers.
#[derive(Clone)]
pub struct IdentityProvider {
    pub(super) token_endpoint: String,
    pub(super) client_id: String,
    pub(super) id_token: Assertion,
}

impl IdentityProvider {
    /// Its token endpoint, this client's id there, and the ID token of the person, which `id_token`
    /// gives whenever it is needed.
    pub fn new<F, T>(
        token_endpoint: impl Into<String>,
        client_id: impl Into<String>,
        id_token: F,
    ) -> Self
    where
        F: Fn() -> T + Send + Sync + 'static,
        T: Future<Output = Result<Secret, Boxed>> + Send + 'static,
    {
        Self {
            token_endpoint: token_endpoint.into(),
            client_id: client_id.into(),
            id_token: Arc::new(move || Box::pin(id_token())),
        }
    }
}

impl OAuth {
    fn with(name: String, grant: Grant) -> Self {
        Self {
            name,
            grant,
            registrations: Vec::new(),
            metadata_url: None,
            registers: true,
            scopes: Vec::new(),
            offline: true,
            older: true,
            dpop: false,
            patience: Duration::from_secs(600),
            store: Arc::new(MemoryTokens::new()),
            turns: Turns::default(),
        }
    }

    /// A person signs in, who knows this program by `name`.
    pub fn new(name: impl Into<String>, redirect: impl Redirect) -> Self {
        Self::with(name.into(), Grant::Person(Arc::new(redirect)))
    }

    /// Uses the tokens of an earlier sign-in, and renews them, but sends nobody to sign in: for what
    /// runs where nobody is. It needs the [`store`](Self::store) of that sign-in.
    pub fn stored() -> Self {
        Self::with(String::new(), Grant::Stored)
    }

    /// The program signs in itself, as a party of its own (client credentials), at the authorization
    /// server `issuer` and at no other.
    pub fn client_credentials(issuer: impl Into<String>, client: Registration) -> Self {
        Self::with(client.id.clone(), Grant::Program).registered(issuer, client)
    }

    /// The program is what the platform it runs on says it is: `assertion` gives a token of the
    /// platform's that is meant for the authorization server `issuer`, and goes to no other
    /// (workload identity, RFC 7523).
    pub fn workload<F, T>(issuer: impl Into<String>, client: Registration, assertion: F) -> Self
    where
        F: Fn() -> T + Send + Sync + 'static,
        T: Future<Output = Result<Secret, Boxed>> + Send + 'static,
    {
        let assertion: Assertion = Arc::new(move || Box::pin(assertion()));
        Self::with(client.id.clone(), Grant::Workload(assertion)).registered(issuer, client)
    }

    /// The identity provider of an enterprise vouches for the person, who is not asked again
    /// (enterprise-managed authorization), at the authorization server `issuer`.
    pub fn enterprise(
        issuer: impl Into<String>,
        client: Registration,
        provider: IdentityProvider,
    ) -> Self {
        Self::with(client.id.clone(), Grant::Enterprise(provider)).registered(issuer, client)
    }

    /// Is known to the authorization server `issuer`, spelled as it spells itself, by this
    /// registration, and by none to others (AUTH-C-27).
    pub fn registered(mut self, issuer: impl Into<String>, client: Registration) -> Self {
        self.registrations.push((issuer.into(), client));
        self
    }

    /// Is known by a document about this client at this URL, to authorization servers that read
    /// such (AUTH-C-14 to AUTH-C-17).
    pub fn client_metadata(mut self, url: impl Into<String>) -> Self {
        self.metadata_url = Some(url.into());
        self
    }

    /// Registers nowhere on its own: an authorization server that does not know this client is an
    /// error.
    pub fn no_registration(mut self) -> Self {
        self.registers = false;
        self
    }

    /// Asks for these scopes, besides what the server says that it needs. Unless set, and if the
    /// server says nothing, for all that it offers (AUTH-C-30).
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Does not ask for tokens that last when the person is gone (`offline_access`): they sign in
    /// again sooner.
    pub fn no_offline_access(mut self) -> Self {
        self.offline = false;
        self
    }

    /// Does not take a server for its own authorization server if it names none, as the revision
    /// 2025-03-26 had it.
    pub fn no_older_discovery(mut self) -> Self {
        self.older = false;
        self
    }

    /// Always asks for tokens that are good with a key of this client alone (DPoP). Otherwise it
    /// does where the server demands it.
    pub fn dpop(mut self) -> Self {
        self.dpop = true;
        self
    }

    /// How long a person may take to sign in. 10 minutes unless set.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Keeps tokens and registrations here. In memory unless set.
    pub fn store(mut self, store: impl TokenStore) -> Self {
        self.store = Arc::new(store);
        self.turns = Turns::default();
        self
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for IdentityProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdentityProvider")
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}
