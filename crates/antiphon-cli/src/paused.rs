//! The file of a call that waits for an answer: what it holds, how it is saved, and that it is resumed
//! but once.
//!
//! It holds the target, the call with its arguments and the server's state, so nobody else may read
//! it. It holds no token and no value of a header: only the names of those that were sent, and where
//! the token was found.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use antiphon::{
    client::{Paused, Target},
    types::{InputRequest, Version},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json, value::RawValue};

use crate::{
    answering::Answered,
    bounded,
    failure::{Exit, Failure},
    printable, private,
};

/// More than any call that could be sent, in bytes.
const LARGEST: u64 = 64 << 20;

/// The format that is written.
const FORMAT: u32 = 1;

/// A call that waits, as it is in its file.
#[derive(Serialize, Deserialize)]
pub(crate) struct Saved {
    /// The format; says that it is such a file at all.
    antiphon: u32,
    pub(crate) target: Whom,
    #[serde(default)]
    pub(crate) with: With,
    #[serde(flatten)]
    pub(crate) what: What,
    /// Nobody but this user can have written the file that it was read from.
    #[serde(skip)]
    pub(crate) is_own: bool,
}

/// What becomes of the call when it is resumed.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum What {
    /// It goes on where it was.
    Paused { paused: Box<Paused> },
    /// It is made again: a server of 2025-11-25 or before cannot wait.
    Restart { restart: Restart },
}

impl What {
    /// Its name in the file.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Paused { .. } => "paused",
            Self::Restart { .. } => "restart",
        }
    }
}

/// Which server.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Whom {
    /// Without its query, which may hold a secret.
    Url(String),
    /// A server that needs its query back; this is the URL without it.
    UrlWithQuery(String),
    /// By its name in the configuration.
    Name(String),
    /// A command, and where it was started.
    Command {
        words: Vec<String>,
        directory: PathBuf,
    },
}

/// How the server was spoken with.
#[derive(Serialize, Deserialize, Clone, Default, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct With {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) config: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) headers: Vec<SentHeader>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bearer_env: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bearer_file: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) legacy: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) protocol: Option<Version>,
}

impl With {
    /// Whether it says where to find a token.
    pub(crate) fn has_token(&self) -> bool {
        self.bearer_env.is_some() || self.bearer_file.is_some()
    }

    /// Whether it has values of headers taken from the environment.
    pub(crate) fn has_variables(&self) -> bool {
        let mut headers = self.headers.iter();
        headers.any(|header| header.variable.is_some())
    }
}

/// A header that was sent, without its value.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct SentHeader {
    pub(crate) name: String,
    /// The environment variable that it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) variable: Option<String>,
}

/// A call to be made again.
#[derive(Serialize, Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct Restart {
    pub(crate) call: Target,
    /// What was answered until then.
    pub(crate) answered: Vec<Answered>,
    /// What was not, by key.
    pub(crate) open: Vec<(String, InputRequest)>,
}

impl Saved {
    pub(crate) fn new(target: Whom, with: With, what: What) -> Self {
        Self {
            antiphon: FORMAT,
            target,
            with,
            what,
            is_own: true,
        }
    }

    /// The call.
    pub(crate) fn call(&self) -> &Target {
        match &self.what {
            What::Paused { paused } => paused.call(),
            What::Restart { restart } => &restart.call,
        }
    }

    /// What `--json` says of it: what is called, what is asked, how to go on.
    pub(crate) fn summary(&self, server: &str, resume: &str) -> Map<String, Value> {
        let call = self.call();
        let arguments = call.arguments().map(RawValue::get);
        let arguments: Option<Value> = arguments.and_then(|text| serde_json::from_str(text).ok());
        let mut called = json!({ "method": call.method(), "name": call.name() });
        if let Some(arguments) = arguments {
            called["arguments"] = arguments;
        }
        let questions = self.open().into_iter().map(|(key, question)| {
            let question = serde_json::to_value(question).unwrap_or_default();
            (key.to_owned(), question)
        });
        let members = [
            ("kind", self.what.kind().into()),
            ("server", server.into()),
            ("call", called),
            ("questions", questions.collect::<Map<_, _>>().into()),
            ("resume", resume.into()),
        ];
        let members = members.into_iter();
        members
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    /// The questions that have no answer yet, by key.
    pub(crate) fn open(&self) -> Vec<(&str, &InputRequest)> {
        match &self.what {
            What::Paused { paused } => paused.unanswered().collect(),
            What::Restart { restart } => {
                let open = restart.open.iter();
                open.map(|(key, question)| (key.as_str(), question))
                    .collect()
            }
        }
    }

    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let shown = shown(path);
        let done = done(path);
        let (text, is_own) = read(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound if done.exists() => already(path),
            _ => Failure::usage(format!("{shown}: {error}")),
        })?;
        if path
            .extension()
            .is_some_and(|extension| extension == "done")
        {
            return Err(Failure::usage(format!(
                "{shown} was resumed already; a call is resumed once"
            )));
        }
        let bad = |why: &str| {
            let why = printable::line(why);
            Failure::usage(format!("{shown} is no paused call that can be read: {why}"))
        };
        let saved: Self = serde_json::from_slice(&text).map_err(|error| bad(&error.to_string()))?;
        match saved.antiphon {
            FORMAT => Ok(Self { is_own, ..saved }),
            format => Err(bad(&format!("its format is {format}, not {FORMAT}"))),
        }
    }

    fn text(&self) -> Result<Vec<u8>, Failure> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }

    /// Saves it here, or under a name of its own in this directory; never over anything else. If
    /// that cannot be done, it is saved where temporary files are: an answer that was given must
    /// not be lost.
    pub(crate) fn save(&self, at: Option<&Path>) -> Result<PathBuf, Failure> {
        let text = self.text()?;
        let name = self.name()?;
        let wanted = at.map_or_else(|| PathBuf::from(&name), Path::to_path_buf);
        match private::write_new(&wanted, &text) {
            Ok(()) => Ok(wanted),
            Err(error) => {
                let elsewhere = std::env::temp_dir().join(&name);
                let (wanted, elsewhere_shown) = (shown(&wanted), shown(&elsewhere));
                private::write_new(&elsewhere, &text).map_err(|again| {
                    Failure::new(
                        Exit::Paused,
                        format!(
                            "the call waits for an answer, but cannot be saved: {wanted}: {error}; \
                             {elsewhere_shown}: {again}"
                        ),
                    )
                })?;
                tell!("antiphon: {wanted}: {error}; it is saved in {elsewhere_shown}");
                Ok(elsewhere)
            }
        }
    }

    /// Puts it in the place of what it was read from, with answers that have come since.
    pub(crate) fn replace(&self, path: &Path) -> Result<(), Failure> {
        let text = self.text()?;
        private::replace(path, &text)
            .map_err(|error| Failure::usage(format!("{}: {error}", shown(path))))
    }

    /// What to call its file: after the call, and unlike any other.
    fn name(&self) -> Result<String, Failure> {
        let mut random = [0; 4];
        getrandom::fill(&mut random).map_err(|error| format!("no random numbers: {error}"))?;
        let call = self.call().name();
        let last = call.rsplit('/').find(|part| !part.is_empty());
        let plain = last.unwrap_or_default().chars();
        let plain = plain.filter(|c| c.is_ascii_alphanumeric() || *c == '-' || *c == '_');
        let plain: String = plain.take(40).collect();
        let plain = match plain.trim_start_matches('-') {
            "" => "call",
            plain => plain,
        };
        let id = u32::from_be_bytes(random);
        Ok(format!("{plain}-{id:08x}.paused.json"))
    }
}

/// A file that is being resumed: by nobody else.
pub(crate) struct Claim {
    path: PathBuf,
    done: PathBuf,
}

impl Claim {
    /// Takes the file: whoever comes second finds that it is done.
    pub(crate) fn take(path: &Path) -> Result<Self, Failure> {
        let done = done(path);
        // A name that is taken already would be lost.
        if done.exists() {
            return Err(already(path));
        }
        match fs::rename(path, &done) {
            Ok(()) => Ok(Self {
                path: path.to_owned(),
                done,
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(already(path)),
            Err(error) => Err(Failure::usage(format!(
                "{}: it cannot be renamed to end in .done: {error}",
                shown(path)
            ))),
        }
    }

    /// Nothing was sent: it can be resumed as before.
    pub(crate) fn give_back(self) -> Result<PathBuf, Failure> {
        let Self { path, done } = self;
        fs::rename(&done, &path).map_err(|error| {
            Failure::usage(format!(
                "{} cannot be renamed back to {}: {error}",
                shown(&done),
                shown(&path)
            ))
        })?;
        Ok(path)
    }

    /// Where it is now.
    pub(crate) fn done(&self) -> &Path {
        &self.done
    }

    /// Where it was.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// What is in a file, not more than a call can be; and whether nobody else can have written it,
/// which is asked of the file that is read, whatever its name leads to by then.
fn read(path: &Path) -> io::Result<(Vec<u8>, bool)> {
    // To open a pipe is to wait for who writes to it.
    let is_file = fs::metadata(path)?.is_file();
    if !is_file {
        return Err(io::Error::other("it is no plain file"));
    }
    let file = fs::File::open(path)?;
    let is_own = private::is_own(&file.metadata()?);
    Ok((bounded::bytes(file, LARGEST)?, is_own))
}

fn done(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".done");
    name.into()
}

fn already(path: &Path) -> Failure {
    Failure::usage(format!(
        "{} was resumed already; what came of it is in no file. It is kept as {}",
        shown(path),
        shown(&done(path))
    ))
}

/// A path within a sentence.
pub(crate) fn shown(path: &Path) -> String {
    printable::line(&path.to_string_lossy())
}
