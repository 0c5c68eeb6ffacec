//! Which server a command is about: one at a URL, one that is started, or one that a file names.
//!
//! The first file that has a name counts: `antiphon.toml` and those of hosts (`.mcp.json`,
//! `.cursor/mcp.json`, `.vscode/mcp.json`) of the project, then those of the user. Ours is
//!
//! ```toml
//! [servers.shop]
//! url = "https://${SHOP:-shop.example}/mcp"
//! headers = { x-tenant = "acme" }
//! bearer_env = "SHOP_TOKEN"       # the name of the variable, never the token
//! protocol = "2025-06-18"         # or legacy = true; found out otherwise
//!
//! [servers.notes]
//! command = "npx -y notes-server" # split as a shell does; or a list of words; or with args
//! env = { NOTES_DIR = "${HOME}/notes" }
//! cwd = "."                       # relative to this file
//! ```
//!
//! A server of a project's file is started in the project's directory unless it has a `cwd`.

mod document;
mod entry;
mod environment;
mod expand;
mod files;
mod relaxed;
mod url;

use std::{
    fmt,
    path::{Path, PathBuf},
    process::Command,
};

use antiphon::client::Era;

pub(crate) use environment::Environment;

use crate::{failure::Failure, printable};

/// Where a server is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Place {
    /// At a URL.
    Url(String),
    /// Behind a command: the program and its arguments.
    Command(Vec<String>),
    /// Where a file says.
    Named(Named),
}

impl Place {
    /// Whether it is reached over HTTP.
    pub(crate) fn is_http(&self) -> bool {
        match self {
            Self::Url(_) => true,
            Self::Command(_) => false,
            Self::Named(named) => matches!(named.server, Configured::Http { .. }),
        }
    }
}

/// A server that a file names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Named {
    pub(crate) name: String,
    /// The file.
    pub(crate) from: PathBuf,
    /// Whether it came with a project: whoever wrote that wrote it, and not the user.
    pub(crate) is_of_project: bool,
    pub(crate) server: Configured,
    /// Which revisions are spoken with it, unless the command line says otherwise.
    pub(crate) era: Era,
}

/// What a file says of a server, with its variables put in.
#[derive(Clone, PartialEq, Hash)]
pub(crate) enum Configured {
    /// It is at a URL.
    Http {
        url: String,
        headers: Vec<(String, String)>,
        /// The variable that holds a token.
        bearer_env: Option<String>,
    },
    /// It is started.
    Stdio {
        command: PathBuf,
        args: Vec<String>,
        /// What is set for it beyond our own environment.
        env: Vec<(String, String)>,
        cwd: Option<PathBuf>,
    },
}

/// A server that a file names, whether or not it can be used.
pub(crate) struct Known {
    pub(crate) name: String,
    /// The file.
    pub(crate) from: PathBuf,
    /// The error is why it cannot be used.
    pub(crate) server: Result<Configured, String>,
}

impl Configured {
    /// Where it goes: its URL up to the path, or its program. All else may be secret.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Http { url, .. } => {
                let end = url.find(['?', '#']).unwrap_or(url.len());
                printable::line(&url[..end])
            }
            Self::Stdio { command, .. } => printable::line(&command.to_string_lossy()),
        }
    }
}

/// Without anything that may be a secret: values of headers and variables, arguments, and what
/// follows the path of a URL.
impl fmt::Debug for Configured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn names(pairs: &[(String, String)]) -> Vec<&str> {
            pairs.iter().map(|(name, _)| name.as_str()).collect()
        }
        match self {
            Self::Http {
                url,
                headers,
                bearer_env,
            } => f
                .debug_struct("Http")
                .field("url", &url.split(['?', '#']).next().unwrap_or_default())
                .field("headers", &names(headers))
                .field("bearer_env", bearer_env)
                .finish(),
            Self::Stdio {
                command,
                args,
                env,
                cwd,
            } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", &args.len())
                .field("env", &names(env))
                .field("cwd", cwd)
                .finish(),
        }
    }
}

/// A server's process, before it is started.
pub(crate) fn child(
    program: &Path,
    arguments: &[String],
    variables: &[(String, String)],
    directory: Option<&Path>,
) -> Command {
    let mut child = Command::new(program);
    child.args(arguments).envs(variables.iter().cloned());
    if let Some(directory) = directory {
        child.current_dir(directory);
    }
    child
}

/// What the word for a server on a command line means. What is odd about the files that were
/// read is said on standard error.
///
/// # Errors
/// When it is no usable URL, and when no file has a usable server of this name; `config` is then
/// the only file that is read.
pub(crate) fn find(word: &str, config: Option<&Path>) -> Result<Place, Failure> {
    let (place, notes) = find_in(word, config, &Environment::of_process())?;
    for note in notes {
        tell!("antiphon: {note}");
    }
    Ok(place)
}

/// All servers that files name. What is odd about the files is said on standard error.
///
/// # Errors
/// When a file that must be in order is not.
pub(crate) fn known(
    config: Option<&Path>,
    environment: &Environment,
) -> Result<Vec<Known>, Failure> {
    let (known, notes) = files::known(config, environment)?;
    for note in notes {
        tell!("antiphon: {note}");
    }
    Ok(known)
}

/// The files that may name servers, in words.
pub(crate) fn looked_for(environment: &Environment) -> String {
    files::looked_for(environment)
}

/// All servers that files name, and where, for those who choose one.
pub(crate) fn names(config: Option<&Path>, environment: &Environment) -> Vec<(String, PathBuf)> {
    files::names(config, environment)
}

/// The same as [`find`] in any environment, and what there is to say.
pub(crate) fn find_in(
    word: &str,
    config: Option<&Path>,
    environment: &Environment,
) -> Result<(Place, Vec<String>), Failure> {
    if word.contains("://") {
        return match url::check(word) {
            Ok(()) => Ok((Place::Url(word.to_owned()), Vec::new())),
            Err(why) => Err(Failure::usage(why)),
        };
    }
    if word.is_empty() {
        return Err(Failure::usage(
            "no server is given: a URL, a name, or a command after --",
        ));
    }
    let (named, notes) = files::find(word, config, environment)?;
    Ok((Place::Named(named), notes))
}

/// What somebody may have meant with a word that is no name.
fn hint(word: &str) -> String {
    let word = printable::excerpt(word, 60);
    match word.contains(['/', ':']) {
        true => format!("for a URL write http://{word}"),
        false => format!("add it as [servers.{word}] to antiphon.toml"),
    }
}

#[cfg(test)]
mod tests;
