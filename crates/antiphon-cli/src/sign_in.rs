//! [`SignIns`]: the servers that somebody signed in to.

use std::{
    io::{self, BufRead},
    sync::Arc,
};

use antiphon::client::{
    Pending,
    oauth::{Loopback, OAuth, Redirect, Registration, SignIn, TokenFiles, TokenStore, Visit},
};
use serde::{Deserialize, Serialize};

use crate::{options::Connecting, printable, progress::Progress, target::Environment, terminal};

/// Who asks for passwords is told that it is for this.
const NAME: &str = "antiphon";

/// What a person's sign-ins left behind: tokens, and how this program is known to whom.
pub(crate) struct SignIns(TokenFiles);

/// How this program is known to the authorization server of a server; as somebody told it.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Known {
    /// The authorization server.
    pub(crate) issuer: Option<String>,
    pub(crate) client_id: Option<String>,
    /// The variable that holds the password of this program; never the password.
    pub(crate) client_secret_env: Option<String>,
    /// Where browsers come back to.
    pub(crate) callback_port: Option<u16>,
    /// What is asked for, besides what the server says that it needs.
    pub(crate) scopes: Vec<String>,
}

impl SignIns {
    /// Those of the user; none if there is no place for them.
    pub(crate) fn of_user() -> Option<Self> {
        let folder = Environment::of_process().tokens()?;
        Some(Self(TokenFiles::in_folder(folder)))
    }

    /// How the tokens of a server are had: from the last sign-in, and if somebody is at a terminal,
    /// by another.
    pub(crate) async fn oauth(
        &self,
        url: &str,
        connecting: &Connecting,
        progress: &Progress,
    ) -> OAuth {
        // What cannot be read here is told when the tokens are read.
        let known = self.known(url).await.unwrap_or_default();
        let oauth = match terminal::is_attended() && !connecting.asks_nobody {
            true => OAuth::new(NAME, Person::new(&known, connecting, progress)),
            false => OAuth::stored(),
        };
        self.with_tokens(oauth, &known, connecting)
    }

    /// Tokens that somebody signs in for, here and now.
    pub(crate) fn person(
        &self,
        known: &Known,
        connecting: &Connecting,
        progress: &Progress,
    ) -> OAuth {
        let person = Person::new(known, connecting, progress);
        self.with_tokens(OAuth::new(NAME, person), known, connecting)
    }

    /// The same with the tokens that are there, and as this program is known.
    pub(crate) fn with_tokens(
        &self,
        oauth: OAuth,
        known: &Known,
        connecting: &Connecting,
    ) -> OAuth {
        let mut oauth = oauth.store(self.0.clone()).scopes(&known.scopes);
        if let Some(patience) = connecting.timeout.human {
            oauth = oauth.patience(patience);
        }
        let (Some(issuer), Some(id)) = (&known.issuer, &known.client_id) else {
            return oauth;
        };
        let secret = known.client_secret_env.as_deref();
        let secret = secret.and_then(|variable| std::env::var(variable).ok());
        oauth.registered(
            issuer,
            match secret {
                Some(secret) => Registration::with_secret(id, secret),
                None => Registration::public(id),
            },
        )
    }

    async fn known(&self, url: &str) -> Option<Known> {
        let kept = self.0.load(&key(url)).await.ok()??;
        serde_json::from_str(kept.reveal()).ok()
    }

    /// Remembers how this program is known.
    pub(crate) async fn remember(&self, url: &str, known: &Known) -> io::Result<()> {
        let known = serde_json::to_string(known)?;
        let saved = self.0.save(&key(url), &known.into()).await;
        saved.map_err(io::Error::other)
    }

    /// Forgets how this program is known.
    pub(crate) async fn forget(&self, url: &str) -> io::Result<()> {
        self.0.remove(&key(url)).await.map_err(io::Error::other)
    }
}

fn key(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    format!("login {}", &url[..end])
}

/// A person with a browser, on this machine or on another.
struct Person {
    loopback: Loopback,
    /// Whether they may hand over what their browser ended at.
    pastes: bool,
}

impl Person {
    fn new(known: &Known, connecting: &Connecting, progress: &Progress) -> Self {
        let (progress, pastes) = (
            progress.clone(),
            connecting.no_browser && terminal::is_attended(),
        );
        let mut loopback = Loopback::new().show(move |sign_in| {
            progress.line(&shown(sign_in, pastes));
        });
        if connecting.no_browser {
            loopback = loopback.no_browser();
        }
        if let Some(port) = known.callback_port {
            loopback = loopback.port(port);
        }
        Self { loopback, pastes }
    }
}

/// What is said to a person who has to sign in.
fn shown(sign_in: &SignIn, pastes: bool) -> String {
    let scopes = match sign_in.scopes() {
        [] => String::new(),
        scopes => format!(", for {}", printable::excerpt(&scopes.join(" "), 400)),
    };
    let paste = match pastes {
        true => "\nIf your browser is on another machine, paste the address that it ends at here.",
        false => "",
    };
    format!(
        "antiphon: {} wants to know who is calling. Sign in at {}{scopes}:\n\n    {}\n{paste}",
        printable::line(&sign_in.server().to_string()),
        printable::excerpt(sign_in.issuer(), 400),
        printable::line(sign_in.url()),
    )
}

type Boxed = Box<dyn std::error::Error + Send + Sync>;

impl Redirect for Person {
    fn begin<'a>(&'a self, known: Option<&'a str>) -> Pending<'a, Result<Box<dyn Visit>, Boxed>> {
        Box::pin(async move {
            let inner = self.loopback.begin(known).await?;
            let pastes = self.pastes;
            Ok(Box::new(PersonsVisit { inner, pastes }) as Box<dyn Visit>)
        })
    }
}

struct PersonsVisit {
    inner: Box<dyn Visit>,
    pastes: bool,
}

impl Visit for PersonsVisit {
    fn redirect_uri(&self) -> &str {
        self.inner.redirect_uri()
    }

    fn send(self: Box<Self>, sign_in: SignIn) -> Pending<'static, Result<String, Boxed>> {
        Box::pin(async move {
            let expected = Arc::new(sign_in.clone());
            tokio::select! {
                back = self.inner.send(sign_in) => back,
                Some(pasted) = pasted(expected), if self.pastes => Ok(pasted),
            }
        })
    }
}

/// The address that somebody pastes; none if they cannot.
async fn pasted(sign_in: Arc<SignIn>) -> Option<String> {
    let reading = move || {
        for line in io::stdin().lock().lines() {
            let line = line.ok()?.trim().to_owned();
            if sign_in.is_answered_by(&line) {
                return Some(line);
            }
            if !line.is_empty() {
                tell!("antiphon: that is not the address that the browser ends at");
            }
        }
        None
    };
    match tokio::task::spawn_blocking(reading).await {
        Ok(Some(line)) => Some(line),
        // The browser may still come back itself.
        _ => std::future::pending().await,
    }
}
