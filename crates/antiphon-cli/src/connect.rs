//! From the words and options of a command to a connection.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use antiphon::{
    Client, Http, Stdio,
    client::{self, Connect, Connection, Era, Events, Stderr, Transport},
};

use tokio::time::timeout;

use crate::{
    answering::Desk,
    bounded,
    calling::interrupted,
    failure::Failure,
    logs,
    options::{Connecting, Header},
    paused::{SentHeader, Whom, With, shown},
    printable,
    progress::Progress,
    sign_in::SignIns,
    target::{self, Configured, Place},
    terminal,
    trace::Trace,
    way::Way,
};

/// How soon a server answers that is there; one that does not is called all the same.
const PROMPTLY: Duration = Duration::from_secs(5);

/// What stands on a command line: a target and words, or words and a command after `--`.
pub(crate) struct Words {
    pub(crate) place: Place,
    pub(crate) rest: Vec<String>,
}

impl Words {
    /// Tells them apart.
    pub(crate) fn new(
        mut words: Vec<String>,
        command: Vec<String>,
        connecting: &Connecting,
    ) -> Result<Self, Failure> {
        if !command.is_empty() {
            let place = Place::Command(command);
            return Ok(Self { place, rest: words });
        }
        if words.is_empty() {
            return Err(Failure::usage(
                "which server? Give a URL or a name first, or a command after `--`",
            ));
        }
        let first = words.remove(0);
        let place = target::find(&first, connecting.config.as_deref())?;
        Ok(Self { place, rest: words })
    }

    /// The first of the rest, such as the tool.
    pub(crate) fn take(&mut self, what: &str) -> Result<String, Failure> {
        match self.rest.is_empty() {
            true => Err(Failure::usage(format!("which {what}? It is missing"))),
            false => Ok(self.rest.remove(0)),
        }
    }

    /// There is nothing more to say.
    pub(crate) fn end(&self) -> Result<(), Failure> {
        match self.rest.first() {
            None => Ok(()),
            Some(word) => Err(Failure::usage(format!(
                "nothing is known to do with `{}`",
                printable::excerpt(word, 100)
            ))),
        }
    }
}

/// A server that is spoken with, and how it was reached.
pub(crate) struct Session {
    pub(crate) connection: Connection,
    way: Way,
    pub(crate) whom: Whom,
    pub(crate) with: With,
    pub(crate) progress: Progress,
}

impl Session {
    /// Connects; `desk` answers what the server asks.
    pub(crate) async fn open(
        place: Place,
        connecting: &Connecting,
        desk: Option<&Arc<Desk>>,
        progress: &Progress,
    ) -> Result<Self, Failure> {
        let (whom, with) = (whom(&place)?, with(connecting, &place));
        let mut way = Way::new(connecting.verbose, progress);
        let client = client(connecting, desk, progress, &way)?;
        let client = client.era(era(connecting, &place));
        let what = format!("connecting to {}…", short(&place));
        let connected = reach(place, connecting, &client, &mut way, progress);
        let connected = progress.while_waiting(&what, connected).await?;
        match connected {
            Ok(connection) => Ok(Self {
                connection,
                way,
                whom,
                with,
                progress: progress.clone(),
            }),
            Err(error) => Err(way.greeting(error).await),
        }
    }

    /// What to say of an error.
    pub(crate) async fn failure(&self, error: client::Error) -> Failure {
        self.way.explain(error).await
    }

    /// A call begins. What an older server on a channel asks as soon as it is greeted, and so before
    /// it answers this, is not asked for the call.
    pub(crate) async fn begins(&self) {
        let is_older = !self.connection.protocol_version().is_modern();
        if is_older && self.way.http.is_none() {
            _ = timeout(PROMPTLY, self.connection.ping()).await;
        }
        self.way.begins();
    }

    /// Ends it in good order, unless somebody has no time for that: a child is then killed.
    pub(crate) async fn close(self) {
        self.progress.clear();
        tokio::select! {
            () = self.connection.close() => {}
            () = interrupted() => {}
        }
        self.way.tell_lost();
    }
}

/// Connects to a server, wherever it is.
async fn reach(
    place: Place,
    connecting: &Connecting,
    client: &Client,
    way: &mut Way,
    progress: &Progress,
) -> Result<Result<Connection, client::Error>, Failure> {
    // What it says on its standard error is either shown at once or kept for its last words.
    let stderr = match connecting.verbose {
        true => Stderr::Report,
        false => Stderr::Log,
    };
    Ok(match place {
        Place::Url(url) => {
            let http = http(&url, connecting, &[], None)?;
            let http = signing_in(http, &url, connecting, progress).await;
            way.http = Some(http.clone());
            client.connect(http).await
        }
        Place::Command(words) => {
            let directory = connecting.directory.as_deref();
            let program = program(&words[0], directory);
            let child = target::child(&program, &words[1..], &[], directory);
            let stdio = Stdio::spawn(child).known_as(words).stderr(stderr);
            client.connect(stdio).await
        }
        Place::Named(named) => match named.server {
            Configured::Http {
                url,
                headers,
                bearer_env,
            } => {
                let mut http = http(&url, connecting, &headers, bearer_env.as_deref())?;
                if bearer_env.is_none() {
                    http = signing_in(http, &url, connecting, progress).await;
                }
                way.http = Some(http.clone());
                client.connect(http.named(named.name)).await
            }
            Configured::Stdio {
                command,
                args,
                env,
                cwd,
            } => {
                let child = target::child(&command, &args, &env, cwd.as_deref());
                // What a configuration says beside the program may be secret.
                let stdio = Stdio::spawn(child).secret_arguments().stderr(stderr);
                client.connect(stdio.named(named.name)).await
            }
        },
    })
}

/// As whom a server is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum As {
    /// As whoever the options or a sign-in say.
    Caller,
    /// With the token of the options, whatever a file or a sign-in says.
    Token,
    /// Without any token.
    Nobody,
}

/// The mere way to a server, for whoever writes messages of their own.
pub(crate) async fn raw(
    place: &Place,
    connecting: &Connecting,
    whom: As,
    progress: &Progress,
    events: Events,
) -> Result<Arc<dyn Transport>, Failure> {
    let (url, headers, bearer_env) = match place {
        Place::Command(words) => {
            let child = target::child(Path::new(&words[0]), &words[1..], &[], None);
            return started(Stdio::spawn(child), events).await;
        }
        Place::Url(url) => (url, &[][..], None),
        Place::Named(named) => match &named.server {
            Configured::Stdio {
                command,
                args,
                env,
                cwd,
            } => {
                let child = target::child(command, args, env, cwd.as_deref());
                return started(Stdio::spawn(child), events).await;
            }
            Configured::Http {
                url,
                headers,
                bearer_env,
            } => (url, &headers[..], bearer_env.as_deref()),
        },
    };
    let mut connecting = connecting.clone();
    if whom == As::Nobody {
        (connecting.bearer, connecting.bearer_env) = (None, None);
    }
    let bearer_env = bearer_env.filter(|_| whom == As::Caller);
    let way = http(url, &connecting, headers, bearer_env)?;
    let way = match whom {
        As::Caller if bearer_env.is_none() => signing_in(way, url, &connecting, progress).await,
        _ => way,
    };
    Ok(Arc::new(way.connect(events).await?))
}

/// A server's process; one that dies is started anew, so that what comes next has a server.
async fn started(stdio: Stdio, events: Events) -> Result<Arc<dyn Transport>, Failure> {
    Ok(Arc::new(stdio.restart(3).connect(events).await?))
}

/// A server in a word or two.
fn short(place: &Place) -> String {
    let name = match place {
        Place::Url(url) => url.split(['?', '#']).next().unwrap_or_default(),
        Place::Named(named) => &named.name,
        Place::Command(words) => &words[0],
    };
    printable::excerpt(name, 100)
}

fn client(
    connecting: &Connecting,
    desk: Option<&Arc<Desk>>,
    progress: &Progress,
    way: &Way,
) -> Result<Client, Failure> {
    let mut client = Client::new("antiphon", env!("CARGO_PKG_VERSION"));
    let timeouts = connecting.timeout;
    if let Some(work) = timeouts.work {
        client = client.work_timeout(work);
    }
    if let Some(human) = timeouts.human {
        client = client.human_timeout(human);
    }
    if let Some(poll) = timeouts.poll {
        client = client.poll_timeout(poll);
    }
    if let Some(trace) = Trace::new(connecting, progress)? {
        client = client.on_traffic(move |traffic| trace.show(traffic));
    }
    if let Some(level) = connecting.log.0 {
        let progress = progress.clone();
        client = client.on_log(level, move |message| {
            progress.line(&logs::line(message, logs::coloured()));
        });
    }
    if connecting.verbose {
        logs::tell(progress);
    }
    let client = client.on_event(way.listener());
    let Some(desk) = desk else {
        return Ok(client);
    };
    let reports = progress.clone();
    let client = client.on_progress(move |_, report| reports.report(report));
    Ok(desk.serve(client).max_rounds(desk.max_rounds()))
}

/// The program of this name, as it is found from within a directory.
fn program(name: &str, directory: Option<&Path>) -> PathBuf {
    match directory {
        // A mere name is looked up where programs are.
        Some(directory) if Path::new(name).components().count() > 1 => directory.join(name),
        _ => name.into(),
    }
}

/// Which revisions are spoken: what the command line says, or else what the file says.
fn era(connecting: &Connecting, place: &Place) -> Era {
    match (connecting.protocol, connecting.legacy, place) {
        (Some(version), _, _) => Era::Pinned(version),
        (None, true, _) => Era::Legacy,
        (None, false, Place::Named(named)) => named.era,
        (None, false, _) => Era::Auto,
    }
}

pub(crate) fn http(
    url: &str,
    connecting: &Connecting,
    configured: &[(String, String)],
    configured_env: Option<&str>,
) -> Result<Http, Failure> {
    let mut http = Http::new(url);
    let given = |name: &str| {
        let mut given = connecting.header.iter();
        given.any(|header| header.name.eq_ignore_ascii_case(name))
    };
    for (name, value) in configured.iter().filter(|(name, _)| !given(name)) {
        http = http.header(name, value);
    }
    for header in &connecting.header {
        http = http.header(&header.name, header.value().map_err(Failure::usage)?);
    }
    let variable = connecting.bearer_env.as_deref();
    let token = match (&connecting.bearer, variable.or(configured_env)) {
        (Some(file), _) => Some(token(&file.0)?),
        (None, Some(variable)) => Some(std::env::var(variable).map_err(|_| {
            let variable = printable::excerpt(variable, 100);
            Failure::usage(format!(
                "the access token is to be in ${variable}, which is not set"
            ))
        })?),
        (None, None) => None,
    };
    if let Some(token) = token {
        http = http.bearer(token.trim());
    }
    if connecting.danger_bearer_over_cleartext {
        http = http.danger_bearer_over_cleartext();
    }
    Ok(http)
}

/// With the tokens that somebody signed in for, and where somebody is at a terminal, by signing in.
async fn signing_in(http: Http, url: &str, connecting: &Connecting, progress: &Progress) -> Http {
    let has_token = connecting.bearer.is_some() || connecting.bearer_env.is_some();
    if has_token || !terminal::is_private(url) {
        return http;
    }
    match SignIns::of_user() {
        Some(sign_ins) => http.oauth(sign_ins.oauth(url, connecting, progress).await),
        // There is no place to keep a token.
        None => http,
    }
}

/// The token in a file.
fn token(path: &Path) -> Result<String, Failure> {
    let bad =
        |why: &dyn std::fmt::Display| Failure::usage(format!("--bearer @{}: {why}", shown(path)));
    let text = bounded::read(path, bounded::TOKEN).map_err(|error| bad(&error))?;
    match text.trim() {
        "" => Err(bad(&"there is no token in it")),
        token if token.contains(char::is_whitespace) => {
            Err(bad(&"a token is one word; this file holds several"))
        }
        token => Ok(token.to_owned()),
    }
}

/// The server as a paused call remembers it.
fn whom(place: &Place) -> Result<Whom, Failure> {
    Ok(match place {
        Place::Url(url) => match url.split_once(['?', '#']) {
            None => Whom::Url(url.clone()),
            Some((before, _)) => Whom::UrlWithQuery(before.to_owned()),
        },
        Place::Named(named) => Whom::Name(named.name.clone()),
        Place::Command(words) => Whom::Command {
            words: words.clone(),
            directory: std::env::current_dir()?,
        },
    })
}

/// The options as a paused call remembers them.
fn with(connecting: &Connecting, place: &Place) -> With {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let header = |header: &Header| SentHeader {
        name: header.name.clone(),
        variable: header.variable().map(str::to_owned),
    };
    let config = match place {
        Place::Named(named) => Some(named.from.as_path()),
        _ => None,
    };
    With {
        config: config.map(absolute),
        headers: connecting.header.iter().map(header).collect(),
        bearer_env: connecting.bearer_env.clone(),
        bearer_file: connecting.bearer.as_ref().map(|file| absolute(&file.0)),
        legacy: connecting.legacy,
        protocol: connecting.protocol,
    }
}
