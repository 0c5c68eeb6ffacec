//! [`Stdio`]: to a server in a process of its own.

mod group;
mod life;
mod process;
mod said;

use std::{fmt, process::Stdio as Pipe, time::Duration};

use tokio::process::Command;

use self::group::Group;
use super::streams::MAX_MESSAGE_BYTES;
use crate::client::{Connect, Error, Events, Identity};

pub use process::Process;

/// A way to a server in a process of its own, which is started when it is connected to.
///
/// ```no_run
/// use antiphon::client::Stdio;
/// use std::process::Command;
///
/// let mut command = Command::new("harbour-server");
/// command.arg("--verbose");
/// let server = Stdio::spawn(command).restart(3);
/// ```
///
/// The process gets the environment and the directory of its command. When the connection ends,
/// its standard input is closed; a process that does not exit then is asked to, and at last
/// killed, and so is whatever it started.
pub struct Stdio {
    command: Command,
    known_as: Option<Vec<String>>,
    options: Options,
}

/// How to treat a process.
#[derive(Debug, Clone, Copy)]
struct Options {
    max_message_bytes: usize,
    grace: Duration,
    restarts: u32,
    stderr: Stderr,
    /// Whether the arguments are no part of the identity.
    secret_arguments: bool,
}

/// What becomes of what a server says on its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Stderr {
    /// It is logged with `tracing`, line by line, at level `info` under the target
    /// `antiphon::stderr`. The error text of a server that died quotes the last lines of what it
    /// said since it was asked something, each on a line of its own.
    #[default]
    Log,
    /// Each line is an [`Event::Stderr`](crate::client::Event::Stderr), and no error text quotes it.
    Report,
    /// It goes where this process's own goes.
    Inherit,
    /// It is thrown away.
    Null,
}

impl Stdio {
    /// The server that this command starts: of the standard library or of tokio.
    ///
    /// The standard streams of the command are set here, whatever they were.
    pub fn spawn(command: impl Into<Command>) -> Self {
        Self {
            command: command.into(),
            known_as: None,
            options: Options {
                max_message_bytes: MAX_MESSAGE_BYTES,
                grace: Duration::from_secs(2),
                restarts: 0,
                stderr: Stderr::default(),
                secret_arguments: false,
            },
        }
    }

    /// The longest message that is read, 16 MiB unless told otherwise. A longer one is skipped, and
    /// the request that it answers fails.
    #[must_use]
    pub fn max_message_bytes(mut self, bytes: usize) -> Self {
        self.options.max_message_bytes = bytes;
        self
    }

    /// How long the server may take to exit once its standard input is closed, before it is asked
    /// to (SIGTERM), and again before it is killed: 2 seconds unless told otherwise.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.options.grace = grace;
        self
    }

    /// Starts a server that died anew with the next request, at most so many times without a
    /// result in between; not at all unless told otherwise.
    ///
    /// The pauses before that grow from 100 ms to 5 s. Requests that were not answered when the
    /// server died have failed, and subscriptions have ended.
    #[must_use]
    pub fn restart(mut self, times: u32) -> Self {
        self.options.restarts = times;
        self
    }

    /// What becomes of what the server says on its standard error.
    #[must_use]
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.options.stderr = stderr;
        self
    }

    /// Keeps the arguments of the command to itself: the server is known by its program alone, to
    /// users and in stored calls. For arguments that hold secrets; give such servers a
    /// [name](Connect::named), too.
    #[must_use]
    pub fn secret_arguments(mut self) -> Self {
        self.options.secret_arguments = true;
        self
    }

    /// The command line that the server is known by, where another one starts it: a program by its
    /// full path, for one.
    #[must_use]
    pub fn known_as<W: Into<String>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        self.known_as = Some(words.into_iter().map(Into::into).collect());
        self
    }

    /// The command line. The environment is no part of it: it may hold secrets.
    fn identity(&self) -> Identity {
        if let Some(words) = &self.known_as {
            return Identity::Command(words.clone());
        }
        let command = self.command.as_std();
        let arguments = command.get_args();
        let shown = match self.options.secret_arguments {
            true => 0,
            false => arguments.len(),
        };
        let words = std::iter::once(command.get_program()).chain(arguments.take(shown));
        Identity::Command(words.map(|word| word.to_string_lossy().into()).collect())
    }
}

impl Connect for Stdio {
    type Transport = Process;

    async fn connect(self, events: Events) -> Result<Process, Error> {
        let identity = self.identity();
        let Self {
            mut command,
            options,
            ..
        } = self;
        command
            .stdin(Pipe::piped())
            .stdout(Pipe::piped())
            .stderr(match options.stderr {
                Stderr::Log | Stderr::Report => Pipe::piped(),
                Stderr::Inherit => Pipe::inherit(),
                Stderr::Null => Pipe::null(),
            });
        Process::start(Group::prepare(command), options, identity, events)
    }
}

impl fmt::Debug for Stdio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stdio")
            .field("command", &format_args!("{}", self.identity()))
            .field("options", &self.options)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_arguments_are_no_part_of_the_identity() {
        let mut command = Command::new("harbour-server");
        command.args(["--token", "canary"]);
        let server = Stdio::spawn(command);
        assert!(server.identity().to_string().contains("canary"));
        let server = server.secret_arguments();
        assert_eq!(server.identity().to_string(), "harbour-server");
        assert!(!format!("{server:?}").contains("canary"));
        let server = server.known_as(["harbour", "--quiet"]);
        assert_eq!(server.identity().to_string(), "harbour --quiet");
    }
}
