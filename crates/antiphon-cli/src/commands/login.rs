//! `antiphon login`: somebody signs in to a server.

use antiphon::{
    Client, Http,
    client::{Error, ErrorKind, oauth::OAuth},
};
use clap::Args;
use clap_complete::ArgValueCompleter;
use serde_json::json;

use crate::{
    calling::unless_interrupted,
    completing, connect,
    failure::Failure,
    options::Connecting,
    printable,
    progress::Progress,
    sign_in::{Known, SignIns},
    target::{self, Configured, Place},
    way::Way,
};

/// Sign in to a server, so that later commands are known to it.
///
/// The server's authorization server is found, antiphon becomes known there, and its page is opened
/// in a browser. The token is kept where you alone can read it, renewed when it has to be, and sent to
/// this server alone. At a terminal the other commands do the same when a server wants it.
#[derive(Args)]
#[command(override_usage = "antiphon login [OPTIONS] <URL|NAME>", after_help = EXAMPLES)]
pub(crate) struct Login {
    /// The server: a URL, or a name from a file.
    #[arg(value_name = "URL|NAME", add = ArgValueCompleter::new(completing::words))]
    target: String,
    /// Be known by this id, where antiphon cannot register itself; needs --issuer.
    #[arg(long, value_name = "ID", requires = "issuer")]
    client_id: Option<String>,
    /// The environment variable that holds the password for that id.
    #[arg(long, value_name = "VAR", requires = "client_id")]
    client_secret_env: Option<String>,
    /// The authorization server that knows the id, spelled as it spells itself.
    #[arg(long, value_name = "URL", requires = "client_id")]
    issuer: Option<String>,
    /// Have the browser come back to http://127.0.0.1:PORT/callback, if that is what the authorization
    /// server knows; otherwise to any port that is free.
    #[arg(long, value_name = "PORT")]
    callback_port: Option<u16>,
    /// Ask for this scope, besides what the server says that it needs; may be given several times.
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,
    /// Print JSON: server, issuer, resource, scopes, expiresAt, renewable.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connecting: Connecting,
}

const EXAMPLES: &str = "\
Examples:
  antiphon login https://shop.example.com/mcp
  antiphon login shop --no-browser
  antiphon login shop --issuer https://login.example.com --client-id 4711

Exit codes: 0 signed in, 2 wrong usage, 3 the server cannot be reached, 7 nobody is signed in,
130 interrupted; and those of `antiphon call`.";

impl Login {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let connecting = &self.connecting;
        if connecting.bearer.is_some() || connecting.bearer_env.is_some() {
            return Err(Failure::usage(
                "who has a token need not sign in: leave --bearer and --bearer-env out",
            ));
        }
        let (url, http) = server(&self.target, connecting)?;
        let Some(sign_ins) = SignIns::of_user() else {
            return Err(Failure::usage(
                "there is no place to keep a token: HOME, or XDG_STATE_HOME, has to be set",
            ));
        };
        if let Some(variable) = &self.client_secret_env
            && std::env::var(variable).is_err()
        {
            let variable = printable::excerpt(variable, 100);
            return Err(Failure::usage(format!(
                "--client-secret-env: ${variable} is not set"
            )));
        }
        let known = Known {
            issuer: self.issuer.clone(),
            client_id: self.client_id.clone(),
            client_secret_env: self.client_secret_env.clone(),
            callback_port: self.callback_port,
            scopes: self.scope.clone(),
        };
        let progress = Progress::stderr();
        unless_interrupted(async {
            let mut way = Way::new(connecting.verbose, &progress);
            way.http = Some(http.clone());
            let challenges = match challenges(&http).await {
                Ok(challenges) => challenges,
                Err(error) => return Err(way.explain(error).await),
            };
            let person = sign_ins.person(&known, connecting, &progress);
            let signed_in = http.clone().oauth(person).sign_in(&challenges).await;
            let signed_in = match signed_in {
                Ok(signed_in) => signed_in,
                Err(error) => return Err(way.explain(error).await),
            };
            sign_ins.remember(&url, &known).await?;
            // A token that the server does not take is none.
            let stored = OAuth::stored();
            let stored = sign_ins.with_tokens(stored, &known, connecting);
            match client().connect(http.oauth(stored)).await {
                Ok(connection) => connection.close().await,
                Err(error) => return Err(way.explain(error).await),
            }
            if self.json {
                say!(
                    "{}",
                    json!({
                        "server": printable::line(&url),
                        "issuer": signed_in.issuer,
                        "resource": signed_in.resource,
                        "scopes": signed_in.scopes,
                        "expiresAt": signed_in.expires_at,
                        "renewable": signed_in.is_renewable,
                    })
                );
                return Ok(());
            }
            let scopes = match signed_in.scopes.is_empty() {
                true => String::new(),
                false => format!(", for {}", signed_in.scopes.join(" ")),
            };
            say!(
                "{}",
                printable::line(&format!(
                    "Signed in to {} at {}{scopes}.",
                    self.target, signed_in.issuer
                ))
            );
            Ok(())
        })
        .await
    }
}

fn client() -> Client {
    Client::new("antiphon", env!("CARGO_PKG_VERSION"))
}

/// A server that people can sign in to: its URL, and the way to it.
pub(super) fn server(target: &str, connecting: &Connecting) -> Result<(String, Http), Failure> {
    let elsewhere = "only servers at a URL can be signed in to; others take what they need from \
                     their environment";
    match target::find(target, connecting.config.as_deref())? {
        Place::Url(url) => {
            let http = connect::http(&url, connecting, &[], None)?;
            Ok((url, http))
        }
        Place::Named(named) => match named.server {
            Configured::Http { url, headers, .. } => {
                let http = connect::http(&url, connecting, &headers, None)?;
                Ok((url, http))
            }
            Configured::Stdio { .. } => Err(Failure::usage(elsewhere)),
        },
        Place::Command(_) => Err(Failure::usage(elsewhere)),
    }
}

/// What the server says to somebody it does not know; nothing if it serves everybody.
async fn challenges(http: &Http) -> Result<Vec<String>, Error> {
    match client().connect(http.clone()).await {
        Ok(connection) => {
            connection.close().await;
            Ok(Vec::new())
        }
        Err(error) => match error.kind() {
            ErrorKind::Unauthorized { challenges, .. } => Ok(challenges.clone()),
            _ => Err(error),
        },
    }
}
