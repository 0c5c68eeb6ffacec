//! [`Redirect`]: how a person is sent to an authorization server, and comes back.

use std::{fmt, sync::Arc};

use super::callback::Expected;
use crate::client::{Identity, Pending, error::Boxed};

/// Sends a person to where they sign in, and takes them back.
///
/// [`Loopback`](super::Loopback) is for programs on the person's own machine, [`Callback`] for hosts
/// that have a page of their own to come back to.
pub trait Redirect: Send + Sync + 'static {
    /// Gets ready to take somebody back. `known` is the address that was registered the last time,
    /// which is the best one if it can still be had.
    ///
    /// # Errors
    /// When nobody can be taken back; the request that needed a token fails with that.
    fn begin<'a>(&'a self, known: Option<&'a str>) -> Pending<'a, Result<Box<dyn Visit>, Boxed>>;
}

/// One person's way to an authorization server and back.
pub trait Visit: Send {
    /// Where they come back to: on this machine, or `https` (AUTH-B-05).
    fn redirect_uri(&self) -> &str;

    /// Sends them to [`SignIn::url`] and waits for them: the URL they came back with, as it is.
    ///
    /// # Errors
    /// When they do not come back.
    fn send(self: Box<Self>, sign_in: SignIn) -> Pending<'static, Result<String, Boxed>>;
}

/// Where a person has to sign in, and what for.
#[derive(Clone)]
pub struct SignIn {
    pub(super) url: String,
    pub(super) server: Identity,
    pub(super) issuer: String,
    pub(super) scopes: Vec<String>,
    pub(super) expected: Expected,
}

impl SignIn {
    /// The page to open, as it is and not through a shell (SEC-C-02). It is `https`, or on this
    /// machine if the server is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The MCP server that wants to know who is calling.
    pub fn server(&self) -> &Identity {
        &self.server
    }

    /// The authorization server that asks for the password.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// What the person is asked to allow.
    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }

    /// Whether a URL that somebody came back with belongs to this sign-in. One that does not is
    /// another's, or made up, and best left alone.
    pub fn is_answered_by(&self, url: &str) -> bool {
        self.expected.is_answered_by(url)
    }
}

impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignIn")
            .field("server", &self.server)
            .field("issuer", &self.issuer)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

type Sending = Arc<dyn Fn(SignIn) -> Pending<'static, Result<String, Boxed>> + Send + Sync>;

/// A host that takes people back itself: it shows them the page, and hands over the URL that they
/// came back with.
///
/// ```
/// use antiphon::client::oauth::{Callback, OAuth, SignIn};
///
/// # async fn shown(_: &str) -> Result<String, std::io::Error> { Ok(String::new()) }
/// let back = Callback::new("https://desk.example.com/callback", |sign_in: SignIn| async move {
///     // Open the page, and wait for what comes in at the callback address.
///     Ok(shown(sign_in.url()).await?)
/// });
/// let oauth = OAuth::new("Desk", back);
/// ```
#[derive(Clone)]
pub struct Callback {
    redirect_uri: String,
    send: Sending,
}

impl Callback {
    /// People come back to this URI, and `send` tells with what.
    pub fn new<F, T>(redirect_uri: impl Into<String>, send: F) -> Self
    where
        F: Fn(SignIn) -> T + Send + Sync + 'static,
        T: Future<Output = Result<String, Boxed>> + Send + 'static,
    {
        Self {
            redirect_uri: redirect_uri.into(),
            send: Arc::new(move |sign_in| Box::pin(send(sign_in))),
        }
    }
}

impl Redirect for Callback {
    fn begin<'a>(&'a self, _: Option<&'a str>) -> Pending<'a, Result<Box<dyn Visit>, Boxed>> {
        Box::pin(async move { Ok(Box::new(self.clone()) as Box<dyn Visit>) })
    }
}

impl Visit for Callback {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn send(self: Box<Self>, sign_in: SignIn) -> Pending<'static, Result<String, Boxed>> {
        (self.send)(sign_in)
    }
}

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callback")
            .field("redirect_uri", &self.redirect_uri)
            .finish_non_exhaustive()
    }
}
