//! The options that commands share.

use std::{path::PathBuf, str::FromStr, time::Duration};

use antiphon::types::{LoggingLevel, Version};
use clap::{Args, ValueHint};
use clap_complete::{ArgValueCandidates, CompletionCandidate};

use crate::render::Style;

/// How to speak with the server.
#[derive(Args, Clone)]
#[command(next_help_heading = "Server")]
pub(crate) struct Connecting {
    /// Find names in this file only: an antiphon.toml, or a host's JSON with `mcpServers`.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
    /// Send a header with every request; may be given several times. `Name: $VAR` takes the value
    /// from the environment.
    #[arg(long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<Header>,
    /// Send the access token in this environment variable.
    #[arg(long, value_name = "VAR", conflicts_with = "bearer")]
    pub(crate) bearer_env: Option<String>,
    /// Send the access token in this file. A token itself is not taken: others could see it.
    #[arg(long, value_name = "@FILE", value_hint = ValueHint::FilePath)]
    pub(crate) bearer: Option<TokenFile>,
    /// Let the token travel without encryption to another machine: anyone on the way can use it.
    #[arg(long)]
    pub(crate) danger_bearer_over_cleartext: bool,
    /// Open no browser where somebody has to sign in: show the page instead.
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// Speak a revision before 2026-07-28, without asking what the server speaks.
    #[arg(long, conflicts_with = "protocol")]
    pub(crate) legacy: bool,
    /// Speak this revision and no other, such as 2025-06-18.
    #[arg(long, value_name = "VERSION", add = ArgValueCandidates::new(versions))]
    pub(crate) protocol: Option<Version>,
    /// How long each kind of waiting may take: work, the server's (60s unless told); human, a
    /// person's answers (10m); poll, coming back to a server that is not ready (10m). A plain 30s is
    /// the work.
    #[arg(
        long,
        value_name = "work=30s,human=10m,poll=5m",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) timeout: Timeouts,
    /// Show each leg of the exchange on standard error.
    #[arg(long)]
    pub(crate) trace: bool,
    /// Write every message to this file, a line of JSON each. It holds arguments and answers.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) jsonl: Option<PathBuf>,
    /// Show the server's log messages of at least this level: debug, info, notice, warning, error,
    /// critical, alert, emergency; or off.
    #[arg(
        long,
        value_name = "LEVEL",
        default_value = "info",
        add = ArgValueCandidates::new(|| LEVELS.map(CompletionCandidate::new).into())
    )]
    pub(crate) log: LogLevel,
    /// Show what a child process says on its standard error, and what else belongs to no call.
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Nobody is asked anything, so nobody signs in.
    #[arg(skip)]
    pub(crate) asks_nobody: bool,
    /// Where a command is started, if not here; a paused call knows it.
    #[arg(skip)]
    pub(crate) directory: Option<PathBuf>,
}

const ANSWERS: &str = "\
Answer by the rules in this file, TOML or JSON. The first rule that is for a question answers it:

[[answer]]
server = \"*\"                 # which questions; every line of these may be left out
tool = \"deploy\"              # or prompt = \"..\", or resource = \"..\", a URI
key = \"confirm\"
kind = \"form\"                # or url, sample, roots
schema = { properties = { confirm = { type = \"boolean\" } } }   # a part of the form's
accept = { confirm = true }   # or accept, decline or cancel = true,
                              # or sample = \"text\", or roots = [\"/srv/project\"]

A server is its URL, its host, its name in a file, or its command line. In names * is any run of
characters; in a host it stays in the host. Servers of older revisions give no keys: there it is the number
of the question. In JSON the rules are a list, alone or as `answer`.";

/// How questions are answered.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Questions")]
pub(crate) struct Asking {
    /// Answer by the rules in this file, TOML or JSON.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, long_help = ANSWERS)]
    pub(crate) answers: Option<PathBuf>,
    /// With --answers: fail when no rule answers a question, and when a rule was not used.
    #[arg(long, requires = "answers")]
    pub(crate) strict: bool,
    /// A directory that the server may know of; may be given several times.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) root: Vec<PathBuf>,
    /// Have this command answer for the model: the request on its standard input as JSON, the
    /// answer on its standard output as text or JSON. It is started without a shell.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) sampler: Option<String>,
    /// Where to save the call if it has to wait for an answer.
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) save: Option<PathBuf>,
    /// How many rounds of questions there may be.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) max_rounds: u32,
    /// Ask nobody, even at a terminal.
    #[arg(long)]
    pub(crate) no_input: bool,
}

impl Asking {
    /// How the server is spoken with, if this is how questions are answered.
    pub(crate) fn connecting(&self, connecting: &Connecting) -> Connecting {
        Connecting {
            asks_nobody: self.no_input,
            ..connecting.clone()
        }
    }
}

/// How results are shown.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Output")]
pub(crate) struct Showing {
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Take text for markdown, and render it at a terminal.
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Where images, sounds and other bytes are written to; the current directory unless told.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// Print text exactly as the server sent it: it may then control the terminal.
    #[arg(long)]
    pub(crate) unescaped: bool,
}

impl Showing {
    pub(crate) fn style(&self) -> Style {
        Style {
            markdown: self.markdown,
            out: self.out.clone(),
            unescaped: self.unescaped,
            ..Style::of_stdout()
        }
    }
}

/// `Name: value`, or `Name: $VAR`.
#[derive(Clone)]
pub(crate) struct Header {
    pub(crate) name: String,
    value: String,
}

impl Header {
    /// The value; from the environment if it says so.
    pub(crate) fn value(&self) -> Result<String, String> {
        match self.value.strip_prefix('$') {
            Some(variable) if !variable.is_empty() => std::env::var(variable)
                .map_err(|_| format!("--header {}: ${variable} is not set", self.name)),
            _ => Ok(self.value.clone()),
        }
    }

    /// The variable that the value is taken from.
    pub(crate) fn variable(&self) -> Option<&str> {
        self.value.strip_prefix('$').filter(|name| !name.is_empty())
    }

    /// One whose value is in the environment.
    pub(crate) fn from_variable(name: &str, variable: &str) -> Self {
        Self {
            name: name.to_owned(),
            value: format!("${variable}"),
        }
    }
}

impl FromStr for Header {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text
            .split_once(':')
            .ok_or("a header is written as 'Name: value'")?;
        let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
        match name.is_empty() {
            true => Err("a header is written as 'Name: value'".to_owned()),
            false => Ok(Self { name, value }),
        }
    }
}

/// `@FILE`.
#[derive(Clone)]
pub(crate) struct TokenFile(pub(crate) PathBuf);

impl FromStr for TokenFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix('@') {
            Some(path) if !path.is_empty() => Ok(Self(path.into())),
            _ => Err(
                "write @FILE for a token in a file, or use --bearer-env VAR; a token on the command \
                 line could be seen by others"
                    .to_owned(),
            ),
        }
    }
}

/// The three clocks; what is not given is as the SDK has it.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub(crate) struct Timeouts {
    pub(crate) work: Option<Duration>,
    pub(crate) human: Option<Duration>,
    pub(crate) poll: Option<Duration>,
}

impl FromStr for Timeouts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut timeouts = Self::default();
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            let (clock, duration) = part.split_once('=').unwrap_or(("work", part));
            let clock = match clock.trim() {
                "work" => &mut timeouts.work,
                "human" => &mut timeouts.human,
                "poll" => &mut timeouts.poll,
                other => return Err(format!("there is no clock `{other}`: work, human or poll")),
            };
            let duration = humantime::parse_duration(duration.trim())
                .map_err(|error| format!("`{part}`: {error}, write 30s or 10m"))?;
            if duration.is_zero() {
                return Err(format!("`{part}`: no time at all"));
            }
            if clock.replace(duration).is_some() {
                return Err(format!("`{part}`: this clock is set twice"));
            }
        }
        Ok(timeouts)
    }
}

/// The revisions, newest first, for whoever completes a command line.
fn versions() -> Vec<CompletionCandidate> {
    let all = Version::MODERN.iter().chain(Version::LEGACY);
    all.map(|version| CompletionCandidate::new(version.as_str()))
        .collect()
}

/// What `--log` takes.
const LEVELS: [&str; 9] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
    "off",
];

/// From which level log messages are shown, if at all.
#[derive(Clone, Copy)]
pub(crate) struct LogLevel(pub(crate) Option<LoggingLevel>);

impl FromStr for LogLevel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Self(None)),
            level => level
                .parse()
                .map(|level| Self(Some(level)))
                .map_err(|_| format!("one of {}", LEVELS.join(", "))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_set_by_name() {
        let set: Timeouts = "work=30s, human=10m,poll=1h".parse().expect("clocks");
        assert_eq!(set.work, Some(Duration::from_secs(30)));
        assert_eq!(set.human, Some(Duration::from_secs(600)));
        assert_eq!(set.poll, Some(Duration::from_secs(3600)));
        let work: Timeouts = "1500ms".parse().expect("a clock");
        assert_eq!(work.work, Some(Duration::from_millis(1500)));
        assert_eq!("".parse(), Ok(Timeouts::default()));
        for wrong in [
            "work",
            "sleep=1s",
            "work=",
            "work=0s",
            "work=1s,work=2s",
            "30",
        ] {
            assert!(wrong.parse::<Timeouts>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn headers_have_a_name() {
        let header: Header = "X-Tenant:  acme ".parse().expect("a header");
        assert_eq!(header.name, "X-Tenant");
        assert_eq!(header.value().as_deref(), Ok("acme"));
        assert!("X-Tenant".parse::<Header>().is_err());
        assert!(": x".parse::<Header>().is_err());
        let header: Header = "X: $ANTIPHON_NOT_SET".parse().expect("a header");
        let error = header.value().expect_err("not set");
        assert!(error.contains("ANTIPHON_NOT_SET"), "{error}");
    }

    #[test]
    fn what_is_offered_is_taken() {
        for level in LEVELS {
            assert!(level.parse::<LogLevel>().is_ok(), "{level}");
        }
        assert!(!versions().is_empty());
        for version in versions() {
            let version = version.get_value().to_str().expect("text");
            assert!(version.parse::<Version>().is_ok(), "{version}");
        }
    }

    #[test]
    fn a_token_is_not_written_down() {
        assert!("@token.txt".parse::<TokenFile>().is_ok());
        let error = "secret".parse::<TokenFile>().err().expect("refused");
        assert!(!error.contains("secret"), "{error}");
    }
}
