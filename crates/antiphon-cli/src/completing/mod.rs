//! Shell completion of servers, of what they offer, and of its arguments;
//! `antiphon completions` for the script that a shell needs.
//!
//! The script runs this program anew for every Tab. It says nothing then but candidates: no
//! errors, no questions.

mod bash;
mod line;
mod live;
mod offers;

use std::{ffi::OsStr, path::Path, process};

use antiphon::types::CompleteRequestParams;
use clap::{Args, CommandFactory, ValueEnum, builder::PossibleValue};
use clap_complete::{
    CompleteEnv, CompletionCandidate, PathCompleter,
    engine::ValueCompleter,
    env::{Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh},
};

use serde_json::json;

use self::{
    bash::Bash,
    line::{Line, Position},
    offers::{Kind, Offer},
};
use crate::{
    failure::Failure,
    printable,
    target::{self, Environment, Place},
};

pub(crate) use offers::{Offered, remember};

/// The variable that says for which shell there is something to complete.
const VARIABLE: &str = "_ANTIPHON_COMPLETE";

/// How much is told about a candidate.
const HELP: usize = 60;

/// Print the script that makes a shell complete servers, tools and their arguments.
///
/// It asks this program whenever Tab is pressed. Names of servers come from the files that name
/// them. Names of tools, prompts and resources are kept for ten minutes after they were listed;
/// otherwise the server is asked, which starts one that a file has a command for. One that only a
/// file of the project names is asked once it has been inspected or called. A command after -- is
/// never started for it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completions {
    /// The shell.
    shell: Shell,
    /// Print JSON: shell, script.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples: one of these lines in the file that your shell reads when it starts
  source <(antiphon completions bash)                         ~/.bashrc
  source <(antiphon completions zsh)                          ~/.zshrc, after compinit
  antiphon completions fish | source                          ~/.config/fish/config.fish
  antiphon completions powershell | Out-String | Invoke-Expression
                                                              $PROFILE
  eval (antiphon completions elvish | slurp)                  ~/.elvish/rc.elv

Exit codes: 0 done, 2 wrong usage.";

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    #[value(alias = "pwsh")]
    Powershell,
    Elvish,
}

impl Shell {
    fn completer(self) -> &'static dyn EnvCompleter {
        match self {
            Self::Bash => &Bash,
            Self::Zsh => &Zsh,
            Self::Fish => &Fish,
            Self::Powershell => &Powershell,
            Self::Elvish => &Elvish,
        }
    }
}

impl Completions {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let program = std::env::args_os().next().unwrap_or_else(|| NAME.into());
        let script = script(self.shell, &program.to_string_lossy())?;
        match self.json {
            true => {
                let shell = self.shell.to_possible_value();
                let shell = shell.as_ref().map(PossibleValue::get_name);
                say!("{}", json!({ "shell": shell, "script": script }));
            }
            false => say!("{}", script.trim_end()),
        }
        Ok(())
    }
}

/// What a shell calls this program.
const NAME: &str = "antiphon";

/// The script for a shell that starts us by this path.
fn script(shell: Shell, program: &str) -> Result<String, Failure> {
    // A name is looked up where programs are; a path must hold in every directory.
    let program = match Path::new(program).components().count() {
        0 | 1 => program.to_owned(),
        _ => std::path::absolute(program)?.to_string_lossy().into_owned(),
    };
    let mut script = Vec::new();
    let completer = shell.completer();
    completer.write_registration(VARIABLE, NAME, NAME, &program, &mut script)?;
    Ok(String::from_utf8_lossy(&script).into_owned())
}

/// Answers a shell, if one is asking, and ends; to be called before anything else.
pub(crate) fn answer(command: fn() -> clap::Command) {
    let completers: [&dyn EnvCompleter; 5] = [&Bash, &Elvish, &Fish, &Powershell, &Zsh];
    let cwd = std::env::current_dir().ok();
    let line = Line::of_process();
    let is_option = line.is_some_and(|line| line.current().starts_with('-'));
    let command = || match is_option {
        true => command(),
        false => words_first(command()),
    };
    let answered = CompleteEnv::with_factory(command)
        .var(VARIABLE)
        .shells(Shells(&completers))
        .try_complete(std::env::args_os(), cwd.as_deref());
    // Whatever went wrong, there is nothing to complete.
    if !matches!(answered, Ok(false)) {
        process::exit(0);
    }
}

/// The command with options that are offered only where there is nothing else: shells show all
/// candidates alike.
fn words_first(mut command: clap::Command) -> clap::Command {
    // Only then has it all of them.
    command.build();
    let hidden = |arg: clap::Arg| match arg.is_positional() {
        true => arg,
        false => arg.hide(true),
    };
    let command = command.mut_args(hidden);
    command.mut_subcommands(|command| command.mut_args(hidden))
}

/// Completes the file of a call that waits, and directories, in which there may be one.
pub(crate) fn paused_files(current: &OsStr) -> Vec<CompletionCandidate> {
    let is_paused = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        path.is_file() && name.to_string_lossy().ends_with(".paused.json")
    };
    PathCompleter::any().filter(is_paused).complete(current)
}

/// Completes a positional word of any command: the server, what it offers, arguments of that.
pub(crate) fn words(current: &OsStr) -> Vec<CompletionCandidate> {
    let position = Line::of_process().and_then(|line| line.position(&crate::Cli::command()));
    let (Some(position), Some(current)) = (position, current.to_str()) else {
        return Vec::new();
    };
    Completer {
        environment: &Environment::of_process(),
        list: live::list,
        complete: live::complete,
    }
    .candidates(current, &position)
}

/// Finds candidates.
struct Completer<'a> {
    environment: &'a Environment,
    /// Asks a server what it offers.
    list: fn(&Place, Kind, &Environment) -> Option<Vec<Offer>>,
    /// Asks a server how an argument could go on.
    complete: fn(&Place, CompleteRequestParams, &Environment) -> Option<Vec<String>>,
}

impl Completer<'_> {
    fn candidates(&self, current: &str, position: &Position) -> Vec<CompletionCandidate> {
        let Some(kind) = Kind::of_command(&position.command) else {
            return match position.before.as_slice() {
                [] if position.server.is_none() => self.servers(current, position),
                _ => Vec::new(),
            };
        };
        let config = position.config.as_deref();
        let (place, before) = match (&position.server, position.before.as_slice()) {
            (Some(words), before) => (Place::Command(words.clone()), before),
            (None, []) => return self.servers(current, position),
            (None, [word, before @ ..]) => {
                let Ok((place, _)) = target::find_in(word, config, self.environment) else {
                    return Vec::new();
                };
                (place, before)
            }
        };
        let offers = offers::recall(&place, kind, self.environment);
        let offers = offers.or_else(|| (self.list)(&place, kind, self.environment));
        let offers = offers.unwrap_or_default();
        match before {
            [] => offers
                .iter()
                .filter_map(|offer| candidate(current, &offer.name, offer.about.as_deref()))
                .collect(),
            [name, given @ ..] => {
                let Some(offer) = offers.iter().find(|offer| offer.name == *name) else {
                    return Vec::new();
                };
                match current.split_once('=') {
                    None => arguments(current, offer, given),
                    Some((argument, typed)) => {
                        let values = match kind {
                            Kind::Prompts => {
                                let wanted = question(offer, argument, typed, given);
                                wanted.and_then(|it| (self.complete)(&place, it, self.environment))
                            }
                            _ => offer.values(argument).map(<[_]>::to_vec),
                        };
                        let values = values.unwrap_or_default().into_iter();
                        values
                            .filter_map(|it| candidate(current, &format!("{argument}={it}"), None))
                            .collect()
                    }
                }
            }
        }
    }

    fn servers(&self, current: &str, position: &Position) -> Vec<CompletionCandidate> {
        named(current, position.config.as_deref(), self.environment)
    }
}

fn named(
    current: &str,
    config: Option<&Path>,
    environment: &Environment,
) -> Vec<CompletionCandidate> {
    let names = target::names(config, environment);
    let names = names.iter();
    names
        .filter_map(|(name, from)| candidate(current, name, Some(&environment.shown(from))))
        .collect()
}

/// How to ask what an argument of a prompt could be.
fn question(
    offer: &Offer,
    argument: &str,
    typed: &str,
    given: &[String],
) -> Option<CompleteRequestParams> {
    let mut known = offer.arguments.iter();
    known.find(|known| known.name == argument)?;
    let wanted = CompleteRequestParams::prompt(&offer.name, argument, typed);
    let given = given.iter().filter_map(|word| word.split_once('='));
    Some(given.fold(wanted, |wanted, (name, value)| wanted.known(name, value)))
}

/// `name=`, of what is not given yet.
fn arguments(current: &str, offer: &Offer, given: &[String]) -> Vec<CompletionCandidate> {
    let is_given = |name: &str| {
        let mut given = given.iter().filter_map(|word| word.split_once('='));
        given.any(|(known, _)| known == name)
    };
    let arguments = offer.arguments.iter();
    arguments
        .filter(|argument| !is_given(&argument.name))
        .filter_map(|argument| {
            let about = argument.about.as_deref();
            candidate(current, &format!("{}=", argument.name), about)
        })
        .collect()
}

/// A word that begins like the current one. What a shell would not take for a plain word is no
/// candidate: it is put on the command line as it is, and servers choose their names freely.
fn candidate(current: &str, word: &str, about: Option<&str>) -> Option<CompletionCandidate> {
    if !word.starts_with(current) || !is_plain(word) {
        return None;
    }
    let first = about.unwrap_or_default().trim().lines().next();
    let about = first.map(|line| printable::excerpt(line, HELP).into());
    Some(CompletionCandidate::new(word).help(about))
}

fn is_plain(word: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@%+,=".contains(c);
    !word.is_empty() && !word.starts_with(['-', '=']) && word.chars().all(is_plain)
}

#[cfg(test)]
mod tests;
