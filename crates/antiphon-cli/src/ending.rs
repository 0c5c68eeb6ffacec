//! How a call ends for whoever made it: a result, a file that waits for an answer, or a failure.

use std::path::{Path, PathBuf};

use antiphon::{
    client::{Clock, Completed, Error, ErrorKind, Paused, Target},
    types::code,
};
use serde::Serialize;

use crate::{
    answering::Desk,
    calling::{Ended, Stopped, not_ready},
    command_line,
    connect::Session,
    failure::{Exit, Failure},
    paused::{Saved, What, Whom, shown},
    printable, questions,
    render::{self, Style},
    terminal,
};

/// What is known of a call when it ends.
pub(crate) struct Ending<'a> {
    pub(crate) session: &'a Session,
    pub(crate) desk: &'a Desk,
    pub(crate) style: &'a Style,
    pub(crate) json: bool,
    /// Where to save it if it waits.
    pub(crate) save: Option<&'a Path>,
    /// What stood on the command line for the server.
    pub(crate) typed: Option<&'a str>,
}

impl Ending<'_> {
    /// Shows how a call ended.
    pub(crate) async fn show(&self, ended: Result<Ended, Stopped>) -> Result<(), Failure> {
        // A prompt may still be open.
        self.desk.close();
        terminal::restore();
        self.session.progress.clear();
        match ended {
            Ok(Ended::Done(name, result)) => self.result(&name, &result),
            Ok(Ended::Paused(paused)) => Err(self.paused(paused)?),
            Ok(Ended::Restart(restart)) => Err(self.waits(What::Restart { restart })?),
            Err(Stopped::Failure(failure)) => Err(failure),
            Err(Stopped::NotReady(paused, after)) => {
                let saved = self.save(What::Paused { paused })?;
                Err(self.kept(not_ready(after), &saved))
            }
            Err(Stopped::Error(error)) => Err(self.error(error).await?),
        }
    }

    fn result(&self, name: &str, result: &Completed) -> Result<(), Failure> {
        let style = self.style;
        let shown = match (self.json, result) {
            (true, Completed::Tool(result)) => say_json(result, style),
            (true, Completed::Prompt(result)) => say_json(result, style),
            (true, Completed::Resource(result)) => say_json(result, style),
            (false, Completed::Tool(result)) => render::tool(name, result, style).say(),
            (false, Completed::Prompt(result)) => render::prompt(name, result, style).say(),
            (false, Completed::Resource(result)) => render::resource(name, result, style).say(),
            _ => Err("a result of an unknown kind".into()),
        };
        shown?;
        // Whatever the result, rules that nobody needed are a mistake.
        self.desk.check_rules()?;
        if self.desk.record().is_late {
            return Err(unanswered());
        }
        let failed = matches!(result, Completed::Tool(result) if result.failed());
        match failed {
            true => Err(Failure::silent(Exit::Failed)),
            false => Ok(()),
        }
    }

    fn paused(&self, paused: Box<Paused>) -> Result<Failure, Failure> {
        let misfit = self.desk.record().misfit.take();
        match misfit {
            None => self.waits(What::Paused { paused }),
            Some(misfit) => {
                let saved = self.save(What::Paused { paused })?;
                Ok(self.kept(Failure::usage(misfit), &saved))
            }
        }
    }

    /// Saves a call that nobody answered, and says how to go on.
    pub(crate) fn waits(&self, what: What) -> Result<Failure, Failure> {
        if let (What::Restart { .. }, Some(misfit)) = (&what, self.desk.record().misfit.take()) {
            return Ok(Failure::usage(misfit));
        }
        let (file, saved) = self.save(what)?;
        Ok(self.waiting(&file, &saved))
    }

    /// Says that a call waits in this file.
    pub(crate) fn waiting(&self, file: &Path, saved: &Saved) -> Failure {
        let resume = command_line::resume(file, saved, self.typed);
        if self.json {
            let server = self.session.connection.server().to_string();
            let mut summary = saved.summary(&server, &resume);
            summary.insert("file".to_owned(), file.to_string_lossy().into());
            match render::json(&summary, self.style) {
                Ok(text) => say!("{text}"),
                Err(failure) => return failure,
            }
        }
        let mut text = match (&saved.what, self.desk.is_strict()) {
            (_, true) => "--strict: no rule answers what the server asks".to_owned(),
            (What::Paused { .. }, false) => "the call waits for an answer".to_owned(),
            (What::Restart { .. }, false) => {
                "the server asks, and cannot wait for an answer: the call was cancelled".to_owned()
            }
        };
        text.push_str(&format!("\n{}", questions::text(&saved.open())));
        text.push_str(&format!(
            "\nSaved in {}. Resume it with:\n\n  {resume}\n",
            shown(file)
        ));
        let example = questions::example(&saved.open());
        if !example.is_empty() {
            text.push_str(&format!(
                "\nor, where nobody can be asked:\n\n  {resume} {example}\n"
            ));
        }
        if let (What::Paused { .. }, Whom::Command { .. }) = (&saved.what, &saved.target) {
            text.push_str(
                "\nThe server was started for this call: it accepts the answer only if it has the \
                 same keys whenever it is started.\n",
            );
        }
        if let What::Restart { .. } = saved.what {
            text.push_str(
                "\nIt is then made again from its beginning: what it did until now may be done twice.",
            );
        }
        Failure::new(Exit::Paused, text.trim_end())
    }

    fn save(&self, what: What) -> Result<(PathBuf, Saved), Failure> {
        let saved = Saved::new(self.session.whom.clone(), self.session.with.clone(), what);
        let file = saved.save(self.save)?;
        Ok((file, saved))
    }

    /// The same failure, with where the call is kept.
    fn kept(&self, mut failure: Failure, (file, saved): &(PathBuf, Saved)) -> Failure {
        let resume = command_line::resume(file, saved, self.typed);
        failure.text.push_str(&format!(
            "\nThe call is kept in {}. Go on with it:\n\n  {resume}",
            shown(file)
        ));
        failure
    }

    async fn error(&self, error: Error) -> Result<Failure, Failure> {
        if let Some(paused) = refused_state(&error) {
            let call = paused.call().clone();
            return Ok(self.expired(error, &call));
        }
        let is_late = matches!(
            error.kind(),
            ErrorKind::TimedOut {
                clock: Clock::Human,
                ..
            }
        );
        if !is_late || error.paused().is_none() {
            return Ok(self.session.failure(error).await);
        }
        let text = printable::quoted(&error.to_string());
        let paused = match error.into_paused() {
            Ok(paused) => Box::new(paused),
            Err(error) => return Ok(error.into()),
        };
        let saved = self.save(What::Paused { paused })?;
        Ok(self.kept(Failure::new(Exit::TimedOut, text), &saved))
    }

    /// The server does not know the state of a call any more.
    pub(crate) fn expired(&self, error: Error, call: &Target) -> Failure {
        let again = command_line::again(&self.session.whom, &self.session.with, call);
        let mut failure = Failure::from(error);
        failure.exit = Exit::Expired;
        failure.text.push_str(&format!(
            "\nIt does not accept this call any more. Start again with:\n\n  {again}"
        ));
        failure
    }
}

/// What to say when the server went on without an answer.
fn unanswered() -> Failure {
    let clock = Clock::Human;
    let text = format!("a question was not answered in time (the {clock} clock)");
    Failure::new(Exit::TimedOut, text)
}

/// The call whose state a server did not take.
pub(crate) fn refused_state(error: &Error) -> Option<&Paused> {
    let is_refused = error.code() == Some(code::INVALID_PARAMS);
    error.paused().filter(|_| is_refused)
}

fn say_json(value: &impl Serialize, style: &Style) -> Result<(), Failure> {
    say!("{}", render::json(value, style)?);
    Ok(())
}
