//! `antiphon resume`: go on with a call that waits.

use std::path::PathBuf;

use antiphon::client::{Clock, Error, ErrorKind, Paused};
use clap::Args;
use clap_complete::ArgValueCompleter;

use super::{Calling, Prepared};
use crate::{
    answering::{Answered, given},
    asked::Said,
    calling::{Caller, Ended, Stopped, Wanted, unless_interrupted},
    completing,
    connect::Session,
    ending::{Ending, refused_state},
    failure::Failure,
    options::{Connecting, Header, TokenFile},
    paused::{Claim, Restart, Saved, SentHeader, What, Whom, shown},
    target::{self, Place},
};

/// Go on with a call that waits in a file, here or on another machine.
///
/// Fields are given as key=value, or, where several questions are open, as QUESTION.key=value. What is
/// not given is answered by --answers, --root and --sampler, or at the terminal. The file is renamed to
/// end in .done, so that it is resumed but once.
#[derive(Args)]
#[command(
    override_usage = "antiphon resume [OPTIONS] <FILE> [KEY=VALUE]... [-- <COMMAND> [ARGS]...]",
    after_help = EXAMPLES
)]
pub(crate) struct Resume {
    /// The file.
    #[arg(add = ArgValueCompleter::new(completing::paused_files))]
    file: PathBuf,
    /// Answers: KEY=VALUE, or QUESTION.KEY=VALUE.
    #[arg(value_name = "KEY=VALUE")]
    pairs: Vec<String>,
    /// Decline the question of this key.
    #[arg(long, value_name = "KEY")]
    decline: Vec<String>,
    /// Cancel the question of this key: make no choice.
    #[arg(long, value_name = "KEY")]
    cancel: Vec<String>,
    /// Accept the question of this key: a link that you agree to visit, or a form with its defaults.
    #[arg(long, value_name = "KEY")]
    accept: Vec<String>,
    /// Where the server is, in place of what the file says.
    #[arg(long, value_name = "URL|NAME", conflicts_with = "command")]
    target: Option<String>,
    /// How the server is started, in place of what the file says.
    #[arg(value_name = "COMMAND", last = true, hide = true)]
    command: Vec<String>,
    #[command(flatten)]
    calling: Calling,
}

const EXAMPLES: &str = "\
Examples:
  antiphon resume deploy-1f2e3d4c.paused.json                  asks at the terminal
  antiphon resume deploy-1f2e3d4c.paused.json confirm=true
  antiphon resume order.paused.json pay.method=card ship.express=false
  antiphon resume order.paused.json --decline pay
  antiphon resume order.paused.json --answers answers.toml --json

Exit codes are those of `antiphon call`; 21 means that the server does not accept the call any more,
and the command to start it again is printed.";

impl Resume {
    pub(crate) async fn run(mut self) -> Result<(), Failure> {
        let saved = Saved::read(&self.file)?;
        self.trust(&saved)?;
        as_before(&mut self.calling.connecting, &saved)?;
        let given = given::answers(
            &saved.open(),
            &self.pairs,
            &self.decline,
            &self.cancel,
            &self.accept,
        )?;
        let place = self.place(&saved)?;
        if let (Whom::Command { directory, .. }, true) = (&saved.target, self.command.is_empty()) {
            // On another machine it may not be there.
            let directory = Some(directory.clone()).filter(|directory| directory.is_dir());
            self.calling.connecting.directory = directory;
        }
        let Prepared {
            desk,
            progress,
            style,
        } = self.calling.prepare()?;
        let what = match saved.what {
            What::Paused { paused } => What::Paused {
                paused: Box::new(answered(*paused, &given)?),
            },
            restart => restart,
        };
        let connecting = &self.calling.connecting;
        let connecting = self.calling.asking.connecting(connecting);
        let opening = Session::open(place, &connecting, Some(&desk), &progress);
        let mut session = unless_interrupted(opening).await?;
        // Whatever was typed this time, the file keeps what it had.
        session.whom = saved.target;
        session.with = saved.with;
        let caller = Caller {
            session: &session,
            desk: &desk,
            poll: connecting.timeout.poll,
        };
        let ending = Ending {
            session: &session,
            desk: &desk,
            style: &style,
            json: self.calling.showing.json,
            save: self.calling.asking.save.as_deref(),
            typed: self.target.as_deref(),
        };
        let ended = match Claim::take(&self.file) {
            Err(failure) => Err(failure),
            Ok(claim) => match what {
                What::Paused { paused } => go_on(&caller, &ending, claim, *paused).await,
                What::Restart { restart } => {
                    desk.remember(restart.answered.clone(), to_questions(&restart, given));
                    again(&caller, &ending, claim, &restart).await
                }
            },
        };
        session.close().await;
        ended
    }

    /// A file that somebody else may have written must not make us start a program of theirs, or
    /// send them a token of ours.
    fn trust(&self, saved: &Saved) -> Result<(), Failure> {
        let connecting = &self.calling.connecting;
        let is_elsewhere = self.target.is_some() || !self.command.is_empty();
        let starts = match &saved.target {
            Whom::Command { .. } => true,
            // What a name stands for, only who says where to look it up has decided.
            Whom::Name(_) => connecting.config.is_none(),
            Whom::Url(_) | Whom::UrlWithQuery(_) => false,
        };
        let has_token = connecting.bearer_env.is_some() || connecting.bearer.is_some();
        let sends = !has_token && saved.with.has_token() || saved.with.has_variables();
        let would = match (starts && !is_elsewhere, sends) {
            (false, false) => return Ok(()),
            (true, _) => "start a program",
            (false, true) => "send a secret of yours",
        };
        if saved.is_own {
            return Ok(());
        }
        let file = shown(&self.file);
        Err(Failure::usage(format!(
            "others may have written {file}, and to resume it would {would}; see `antiphon show \
             {file}`, and if you trust it: chmod 600 {file}"
        )))
    }

    fn place(&self, saved: &Saved) -> Result<Place, Failure> {
        let config = self.calling.connecting.config.as_deref();
        if !self.command.is_empty() {
            return Ok(Place::Command(self.command.clone()));
        }
        if let Some(target) = &self.target {
            return target::find(target, config);
        }
        match &saved.target {
            Whom::Url(url) => target::find(url, config),
            Whom::UrlWithQuery(url) => Err(Failure::usage(format!(
                "the query of {} is not kept in the file, because it may hold a secret: give the \
                 whole URL with --target",
                crate::printable::line(url)
            ))),
            Whom::Name(name) => {
                let before = saved.with.config.as_deref().filter(|path| path.exists());
                match (config, before) {
                    // Elsewhere the name may have moved.
                    (None, Some(before)) => target::find(name, Some(before))
                        .or_else(|failure| target::find(name, None).map_err(|_| failure)),
                    (config, _) => target::find(name, config),
                }
            }
            Whom::Command { words, .. } if words.is_empty() => {
                Err(Failure::usage("the file names no command to start"))
            }
            Whom::Command { words, .. } => Ok(Place::Command(words.clone())),
        }
    }
}

/// Goes on with a call that its server waits for.
async fn go_on(
    caller: &Caller<'_>,
    ending: &Ending<'_>,
    claim: Claim,
    paused: Paused,
) -> Result<(), Failure> {
    let round = paused.round();
    let ended = caller.resume(paused).await;
    match ended {
        // Nothing was sent: what has been answered meanwhile is kept.
        Ok(Ended::Paused(paused)) if paused.round() == round => {
            let path = claim.give_back()?;
            let (whom, with) = (&caller.session.whom, &caller.session.with);
            let saved = Saved::new(whom.clone(), with.clone(), What::Paused { paused });
            saved.replace(&path)?;
            let misfit = caller.desk.record().misfit.take();
            Err(match misfit {
                Some(misfit) => Failure::usage(misfit),
                None => ending.waiting(&path, &saved),
            })
        }
        // Somebody left the very question that the call waits at.
        Err(Stopped::Failure(failure)) if caller.desk.record().left_in == Some(round) => {
            claim.give_back()?;
            Err(failure)
        }
        Err(Stopped::Failure(failure)) => {
            // It was interrupted; whether it had been sent already is not known.
            Err(with_hint(failure, &claim))
        }
        Err(Stopped::Error(error)) if was_not_sent(&error, round) => {
            claim.give_back()?;
            Err(caller.session.failure(error).await)
        }
        Err(Stopped::Error(error)) => {
            let is_over = refused_state(&error).is_some() || error.answered().is_some();
            let shown = ending.show(Err(Stopped::Error(error))).await;
            shown.map_err(|failure| match is_over {
                true => failure,
                false => with_hint(failure, &claim),
            })
        }
        ended => ending.show(ended).await,
    }
}

/// Makes a call again that its server could not wait for.
async fn again(
    caller: &Caller<'_>,
    ending: &Ending<'_>,
    claim: Claim,
    restart: &Restart,
) -> Result<(), Failure> {
    tell!(
        "antiphon: the call is made again from its beginning: what it did before may be done twice"
    );
    let wanted = match Wanted::again(&restart.call) {
        Ok(wanted) => wanted,
        Err(failure) => {
            claim.give_back()?;
            return Err(failure);
        }
    };
    let ended = caller.start(wanted).await;
    let unsent = matches!(&ended, Err(Stopped::Error(error))
        if matches!(error.kind(), ErrorKind::Transport) && !error.may_have_been_sent());
    if unsent {
        claim.give_back()?;
        return ending.show(ended).await;
    }
    let was_interrupted = matches!(&ended, Err(Stopped::Failure(_)));
    let shown = ending.show(ended).await;
    shown.map_err(|failure| match was_interrupted {
        true => with_hint(failure, &claim),
        false => failure,
    })
}

/// Whether the call stands where it stood, and the server has not heard the answers.
fn was_not_sent(error: &Error, round: u32) -> bool {
    let stands = error.paused().is_none_or(|paused| paused.round() == round);
    stands
        && match error.kind() {
            ErrorKind::NotResumed { .. }
            | ErrorKind::Refused { .. }
            | ErrorKind::InvalidAnswer { .. }
            | ErrorKind::Stopped { .. }
            | ErrorKind::Unauthorized { .. }
            | ErrorKind::TimedOut {
                clock: Clock::Human,
                ..
            } => true,
            ErrorKind::Transport => !error.may_have_been_sent(),
            _ => false,
        }
}

fn with_hint(mut failure: Failure, claim: &Claim) -> Failure {
    failure.text.push_str(&format!(
        "\nThe answers may have reached the server. To send them again, rename {} to {}",
        shown(claim.done()),
        shown(claim.path())
    ));
    failure
}

/// The call with these answers, if they fit.
fn answered(mut paused: Paused, given: &[(String, Said)]) -> Result<Paused, Failure> {
    for (key, said) in given {
        let questions = paused.questions();
        let question = questions
            .filter(|(known, _)| known == key)
            .map(|(_, q)| q.clone());
        if let Some(question) = question.last() {
            paused = paused.answer(key, said.to(&question));
        }
    }
    let problems: Vec<_> = paused.problems().iter().map(ToString::to_string).collect();
    match problems.is_empty() {
        true => Ok(paused),
        false => Err(Failure::usage(format!(
            "the answers do not fit, and nothing was sent: {}",
            crate::printable::line(&problems.join("; "))
        ))),
    }
}

/// What is answered now, with the questions.
fn to_questions(restart: &Restart, given: Vec<(String, Said)>) -> Vec<Answered> {
    let given = given.into_iter().filter_map(|(key, said)| {
        let (_, question) = restart.open.iter().find(|(known, _)| *known == key)?;
        Some(Answered {
            question: question.clone(),
            said,
        })
    });
    given.collect()
}

/// Speaks with the server as before, unless told otherwise.
fn as_before(connecting: &mut Connecting, saved: &Saved) -> Result<(), Failure> {
    let with = saved.with.clone();
    if connecting.bearer_env.is_none() && connecting.bearer.is_none() {
        connecting.bearer_env = with.bearer_env;
        connecting.bearer = with.bearer_file.map(TokenFile);
    }
    if connecting.protocol.is_none() && !connecting.legacy {
        (connecting.protocol, connecting.legacy) = (with.protocol, with.legacy);
    }
    for SentHeader { name, variable } in with.headers {
        let given = connecting.header.iter();
        if given
            .clone()
            .any(|header| header.name.eq_ignore_ascii_case(&name))
        {
            continue;
        }
        match variable {
            Some(variable) => connecting
                .header
                .push(Header::from_variable(&name, &variable)),
            None => {
                let name = crate::printable::line(&name);
                return Err(Failure::usage(format!(
                    "the call was made with the header {name}, whose value is not kept in the \
                     file: give it again with --header '{name}: VALUE'"
                )));
            }
        }
    }
    Ok(())
}
