//! Asks a server what it offers, for a person who waits for it with a finger on Tab.

use std::time::Duration;

use antiphon::{
    Client, Http, Stdio,
    client::{
        Connection, Error, Stderr,
        oauth::{OAuth, TokenFiles},
    },
    types::CompleteRequestParams,
};
use tokio::time::timeout;

use super::offers::{self, Kind, Offer, Offered};
use crate::{
    target::{self, Configured, Environment, Place},
    terminal,
};

/// How long all of it may take.
const LIMIT: Duration = Duration::from_millis(1800);
/// How long a server may take to end after that; then it is killed.
const GRACE: Duration = Duration::from_millis(100);
/// How long a server may be silent before it is greeted as an older one.
const PROBE: Duration = Duration::from_millis(700);

/// What a server offers, kept for the next time; `None` if that cannot be had in time.
pub(super) fn list(place: &Place, kind: Kind, environment: &Environment) -> Option<Vec<Offer>> {
    let offers = asked(place, environment, async |connection| {
        ask(connection, kind).await
    })?;
    _ = offers::keep(place, kind, &offers, environment);
    Some(offers)
}

/// How an argument could go on, as the server says; `None` if that cannot be had in time.
pub(super) fn complete(
    place: &Place,
    params: CompleteRequestParams,
    environment: &Environment,
) -> Option<Vec<String>> {
    asked(place, environment, async |connection| {
        let completed = connection.complete(params).await?;
        Ok(completed.completion.values)
    })
}

/// What a server answers, if it may be asked.
///
/// A command on the command line is not started: it may be half written. What a project's file
/// names is not, either, nor sent anything, unless somebody used that very server before: to press
/// Tab in a directory that came from elsewhere must not run what is in it.
fn asked<T>(
    place: &Place,
    environment: &Environment,
    question: impl AsyncFnOnce(&Connection) -> Result<T, Error>,
) -> Option<T> {
    let may_be_asked = match place {
        Place::Url(_) => true,
        Place::Command(_) => false,
        Place::Named(named) => !named.is_of_project || offers::is_known(place, environment),
    };
    if !may_be_asked {
        return None;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .ok()?;
    runtime.block_on(async {
        let asked = async {
            let connection = connect(place, environment).await?;
            let answer = question(&connection).await;
            _ = timeout(2 * GRACE, connection.close()).await;
            answer.ok()
        };
        timeout(LIMIT, asked).await.ok().flatten()
    })
}

async fn connect(place: &Place, environment: &Environment) -> Option<Connection> {
    let client = Client::new("antiphon", env!("CARGO_PKG_VERSION")).probe_timeout(PROBE);
    let connected = match place {
        Place::Url(url) => {
            let http = signed_in(Http::new(url), url, environment);
            client.connect(http).await
        }
        Place::Command(_) => return None,
        Place::Named(named) => {
            let client = client.era(named.era);
            match &named.server {
                Configured::Http {
                    url,
                    headers,
                    bearer_env,
                } => {
                    let mut http = Http::new(url);
                    for (name, value) in headers {
                        http = http.header(name, value);
                    }
                    http = match bearer_env {
                        Some(name) => http.bearer(environment.variable(name)?),
                        None => signed_in(http, url, environment),
                    };
                    client.connect(http).await
                }
                Configured::Stdio {
                    command,
                    args,
                    env,
                    cwd,
                } => {
                    let child = target::child(command, args, env, cwd.as_deref());
                    let stdio = Stdio::spawn(child).grace(GRACE).stderr(Stderr::Null);
                    client.connect(stdio).await
                }
            }
        }
    };
    connected.ok()
}

/// With the tokens that somebody signed in for.
fn signed_in(http: Http, url: &str, environment: &Environment) -> Http {
    match environment.tokens().filter(|_| terminal::is_private(url)) {
        Some(folder) => http.oauth(OAuth::stored().store(TokenFiles::in_folder(folder))),
        None => http,
    }
}

async fn ask(connection: &Connection, kind: Kind) -> Result<Vec<Offer>, Error> {
    Ok(match kind {
        Kind::Tools => Offered::Tools(&connection.tools().all().await?).offers(),
        Kind::Prompts => Offered::Prompts(&connection.prompts().all().await?).offers(),
        Kind::Resources => {
            let resources = connection.resources().all().await?;
            let templates = connection.resource_templates().all().await?;
            Offered::Resources(&resources, &templates).offers()
        }
    })
}
