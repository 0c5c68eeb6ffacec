//! [`Way`]: what there is to say of a server that does not do as it should.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use antiphon::{
    Http,
    client::{Challenge, Clock, Error, ErrorKind, Event},
};

use crate::{
    failure::{Exit, Failure},
    printable,
    progress::Progress,
};

/// The way to a server, and what was heard on it that belongs to no call.
pub(crate) struct Way {
    /// How an HTTP server is reached; others are children.
    pub(crate) http: Option<Http>,
    heard: Arc<Mutex<Heard>>,
    is_verbose: bool,
    progress: Progress,
}

#[derive(Default)]
struct Heard {
    /// The first thing it said that is no message, in this call if it said any in it.
    noise: Option<String>,
    /// Whether that was before this call.
    is_old: bool,
    /// How the way failed. Most failures end what is going on, and are told then.
    lost: Option<String>,
}

impl Heard {
    fn note(&mut self, noise: &str) {
        if self.noise.is_none() || self.is_old {
            self.noise = Some(noise.to_owned());
            self.is_old = false;
        }
    }
}

impl Way {
    pub(crate) fn new(is_verbose: bool, progress: &Progress) -> Self {
        Self {
            http: None,
            heard: Arc::default(),
            is_verbose,
            progress: progress.clone(),
        }
    }

    /// Hears what belongs to no call, and shows it to who wants to see it.
    pub(crate) fn listener(&self) -> impl Fn(&Event) + Send + Sync + 'static {
        let (heard, progress) = (self.heard.clone(), self.progress.clone());
        let is_verbose = self.is_verbose;
        move |event| {
            let text = match event {
                Event::Transport(error) => {
                    // Only the last one can be what the command ends with.
                    let lost = error.to_string();
                    match lock(&heard).lost.replace(lost.clone()) {
                        Some(before) if before != lost => failed(&before),
                        _ => return,
                    }
                }
                event => told(event),
            };
            if let Event::Noise(text) = event {
                lock(&heard).note(text);
            }
            if is_verbose {
                progress.line(&text);
            }
        }
    }

    /// A call begins: what was said until now has nothing to do with its end.
    pub(crate) fn begins(&self) {
        lock(&self.heard).is_old = true;
    }

    /// How the way failed, if nobody was told.
    pub(crate) fn tell_lost(&self) {
        let lost = lock(&self.heard).lost.take();
        if let Some(lost) = lost.filter(|_| self.is_verbose) {
            self.progress.line(&failed(&lost));
        }
    }

    /// What is behind an error of a server that did not greet us yet.
    pub(crate) async fn greeting(&self, error: Error) -> Failure {
        let is_late = is_late(&error);
        let mut failure = self.explain(error).await;
        // It never said anything else.
        if is_late && lock(&self.heard).noise.is_some() {
            failure.exit = Exit::Protocol;
            failure.text.push_str("\nIs it an MCP server?");
        }
        self.tell_lost();
        failure
    }

    /// What is behind an error.
    pub(crate) async fn explain(&self, error: Error) -> Failure {
        let is_told = |lost: &mut String| error.to_string().contains(&*lost);
        lock(&self.heard).lost.take_if(is_told);
        if let ErrorKind::Unauthorized { .. } = error.kind() {
            return self.unauthorized(error).await;
        }
        let is_gone = matches!(error.kind(), ErrorKind::Transport) && self.http.is_none();
        let is_late = is_late(&error);
        let mut failure = Failure::from(error);
        let noise = {
            let heard = lock(&self.heard);
            let tells = is_late || (is_gone && !heard.is_old);
            heard.noise.clone().filter(|_| tells)
        };
        if let Some(noise) = noise.filter(|_| !self.is_verbose) {
            let noise = printable::excerpt(&noise, 200);
            let said = format!("\nIt said what is no message: {noise}");
            failure.text.push_str(&said);
        }
        failure
    }

    /// Why a server will not serve us, and who could change that.
    async fn unauthorized(&self, error: Error) -> Failure {
        let (challenge, challenges) = match error.kind() {
            ErrorKind::Unauthorized { status, challenges } => {
                let challenge = Challenge::of(*status, challenges).bearer();
                (challenge.unwrap_or_default(), challenges.clone())
            }
            _ => return error.into(),
        };
        let mut lines = vec![Failure::from(error).text];
        if let Some(why) = challenge.error_description.or(challenge.error) {
            lines.push(format!("  it says: {}", printable::excerpt(&why, 400)));
        }
        let metadata = match &self.http {
            Some(http) => http.resource_metadata(&challenges).await,
            None => return Failure::new(Exit::Unauthorized, lines.join("\n")),
        };
        let offered = match metadata {
            Ok(metadata) => {
                for issuer in &metadata.authorization_servers {
                    lines.push(format!("  issuer:  {}", printable::excerpt(issuer, 400)));
                }
                metadata.scopes_supported
            }
            Err(error) => {
                let why = printable::excerpt(&error.to_string(), 400);
                lines.push(format!("  issuer:  not known: {why}"));
                Vec::new()
            }
        };
        // What this request needs, or else all there is.
        let scopes = match challenge.scopes.is_empty() {
            true => offered,
            false => challenge.scopes,
        };
        if !scopes.is_empty() {
            let scopes = printable::excerpt(&scopes.join(" "), 400);
            lines.push(format!("  scopes:  {scopes}"));
        }
        lines.push(
            "Sign in with `antiphon login`, or send a token with --bearer-env VAR or --bearer @FILE"
                .to_owned(),
        );
        Failure::new(Exit::Unauthorized, lines.join("\n"))
    }
}

/// Whether the server did not answer in time.
fn is_late(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::TimedOut {
            clock: Clock::Work,
            ..
        }
    )
}

/// What belongs to no call.
fn told(event: &Event) -> String {
    let text = match event {
        Event::Message(message) => {
            let text = String::from_utf8_lossy(message);
            format!("nobody waits for: {}", printable::excerpt(&text, 400))
        }
        Event::Noise(text) => format!("no message: {}", printable::excerpt(text, 400)),
        // In its own voice.
        Event::Stderr(text) => return format!("server| {}", printable::line(text)),
        Event::HiddenTool { name, why } => format!(
            "the tool {} is left out: {}",
            printable::excerpt(name, 100),
            printable::excerpt(why, 400)
        ),
        _ => "something unknown happened".to_owned(),
    };
    format!("antiphon: {text}")
}

/// How the way to a server failed.
fn failed(why: &str) -> String {
    format!("antiphon: {}", printable::quoted(why))
}

fn lock(heard: &Mutex<Heard>) -> MutexGuard<'_, Heard> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}
