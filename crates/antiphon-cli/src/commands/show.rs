//! `antiphon show`: what is in the file of a call that waits.

use std::path::PathBuf;

use clap::Args;
use clap_complete::ArgValueCompleter;

use crate::{
    command_line, completing,
    failure::Failure,
    paused::{Saved, What, Whom},
    printable, questions,
    render::{self, Style},
    target::{self, Environment, Place},
};

/// Show the call in a file: who asked what, and how to go on.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Show {
    /// The file.
    #[arg(add = ArgValueCompleter::new(completing::paused_files))]
    file: PathBuf,
    /// Print JSON: kind, server, call, round, questions, answered, resume.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  antiphon show deploy-1f2e3d4c.paused.json
  antiphon show deploy-1f2e3d4c.paused.json --json | jq .questions

Exit codes: 0 done, 2 it is no such file.";

impl Show {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let saved = Saved::read(&self.file)?;
        let resume = command_line::resume(&self.file, &saved, None);
        let server = match &saved.what {
            What::Paused { paused } => paused.server().to_string(),
            What::Restart { .. } => whom(&saved),
        };
        let style = Style::of_stdout();
        let (round, answered) = progress(&saved.what);
        if self.json {
            let mut summary = saved.summary(&server, &resume);
            summary.insert("round".to_owned(), round.into());
            summary.insert("answered".to_owned(), answered.into());
            say!("{}", render::json(&summary, &style)?);
            return Ok(());
        }
        let call = saved.call();
        say!("{}", heading(&saved.what));
        say!("server: {}", printable::line(&server));
        say!("call:   {}", printable::line(&call.to_string()));
        if let Some(arguments) = call.arguments() {
            say!("        {}", printable::excerpt(arguments.get(), 2000));
        }
        say!("round:  {round}");
        for key in answered {
            say!("[{}] is answered", printable::excerpt(&key, 80));
        }
        say!("{}", questions::text(&saved.open()));
        say!("\nResume it with:\n\n  {resume}");
        Ok(())
    }
}

fn heading(what: &What) -> &'static str {
    match what {
        What::Paused { .. } => "A call that waits for an answer.",
        What::Restart { .. } => {
            "A call that is made again when it is resumed: what it did before may be done twice."
        }
    }
}

/// In which round it is, and which of its questions have an answer.
fn progress(what: &What) -> (u32, Vec<String>) {
    match what {
        What::Paused { paused } => {
            let open: Vec<_> = paused.unanswered().map(|(key, _)| key).collect();
            let answered = paused.questions().map(|(key, _)| key);
            let answered = answered.filter(|key| !open.contains(key));
            (paused.round(), answered.map(str::to_owned).collect())
        }
        What::Restart { restart } => {
            let answered = 1..=restart.answered.len();
            let answered = answered.map(|number| number.to_string()).collect();
            (
                u32::try_from(restart.answered.len() + 1).unwrap_or(u32::MAX),
                answered,
            )
        }
    }
}

/// A server by what is stored of it; of a name, also where it goes now.
fn whom(saved: &Saved) -> String {
    match &saved.target {
        Whom::Url(url) | Whom::UrlWithQuery(url) => url.clone(),
        Whom::Name(name) => {
            let config = saved.with.config.as_deref();
            match target::find_in(name, config, &Environment::of_process()) {
                Ok((Place::Named(named), _)) => format!("{name} ({})", named.server.shown()),
                _ => name.clone(),
            }
        }
        Whom::Command { words, .. } => words.join(" "),
    }
}
