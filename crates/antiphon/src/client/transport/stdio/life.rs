//! One life of a server's process: from its start to when nothing of it is left.

use std::{io, process::ExitStatus, sync::Arc, time::Duration};

use process_wrap::tokio::CommandWrap;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::{
    Options, Stderr,
    group::Group,
    said::{Said, report},
};
use crate::client::{
    Error, Events, Identity,
    transport::{
        channel::{Serving, Shared},
        streams::{DRAIN, FLUSH, lost, read, write},
    },
};

/// A task of a life, which ends with it.
type Task<T> = AbortOnDropHandle<T>;

/// Starts the process; a task sees to it from then on.
pub(super) fn start(
    command: &mut CommandWrap,
    options: &Options,
    identity: &Identity,
    events: Events,
    said: Said,
) -> Result<Arc<Shared>, Error> {
    let mut group = Group::spawn(command).map_err(|error| unstarted(command, error))?;
    let (Some(stdin), Some(stdout), stderr) = group.streams() else {
        return Err(Error::transport("the server has no standard streams"));
    };
    let (shared, queue) = Shared::new(events.clone());
    said.forget();
    let follower = stderr.map(|stderr| match options.stderr {
        Stderr::Report => task(report(stderr, events)),
        _ => task(said.clone().follow(stderr, identity.to_string())),
    });
    let life = Life {
        group,
        grace: options.grace,
        shared: shared.clone(),
        writer: task(write(queue, stdin)),
        reader: task(read(shared.clone(), stdout, options.max_message_bytes)),
        follower,
        said,
    };
    tokio::spawn(life.run());
    Ok(shared)
}

fn task<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> Task<T> {
    AbortOnDropHandle::new(tokio::spawn(future))
}

struct Life {
    group: Group,
    grace: Duration,
    shared: Arc<Shared>,
    writer: Task<io::Result<()>>,
    reader: Task<io::Result<()>>,
    follower: Option<Task<()>>,
    said: Said,
}

impl Life {
    async fn run(mut self) {
        let _serving = Serving(self.shared.clone());
        if let Some(end) = self.live().await {
            let why = self.explain(end).await;
            self.shared.fail(&why);
        }
        self.shut_down().await;
    }

    /// Lives until something ends that should not; nothing if this side ends it.
    async fn live(&mut self) -> Option<End> {
        tokio::select! {
            biased;
            () = self.shared.closing.cancelled() => None,
            read = &mut self.reader => Some(End::Output(flat(read))),
            written = &mut self.writer => flat(written).err().map(End::Input),
            status = self.group.exit() => Some(End::Exit(status)),
        }
    }

    /// What happened, in words. Of a process that died, one may see its streams end first.
    async fn explain(&mut self, end: End) -> String {
        let Self {
            reader,
            follower,
            group,
            ..
        } = self;
        let mut status = None;
        let answers = async {
            // What was answered before that counts.
            if !reader.is_finished() {
                _ = reader.await;
            }
        };
        let words = async {
            status = group.exit().await.ok();
            if let Some(follower) = follower {
                _ = follower.await;
            }
        };
        let rest = async { tokio::join!(answers, words) };
        // Whoever it leaves behind may hold on to its streams.
        _ = timeout(DRAIN, rest).await;
        let what = match (status, end) {
            (Some(status), _) | (None, End::Exit(Ok(status))) => exited(status),
            (None, End::Exit(Err(error))) => format!("the server cannot be waited for: {error}"),
            (None, End::Output(read)) => lost(read),
            (None, End::Input(error)) => format!("writing to the server failed: {error}"),
        };
        what + &self.said.last()
    }

    /// Ends the process in good order (STDIO-C-07), and all that it started.
    async fn shut_down(mut self) {
        if self.shared.is_closed() && !self.writer.is_finished() {
            _ = timeout(FLUSH, &mut self.writer).await;
        }
        // This closes its standard input. Its output is still read, or it might not exit.
        self.writer.abort();
        self.group.end(self.grace).await;
        self.group.sweep(self.grace).await;
        // Its last words are worth the log.
        if let Some(follower) = self.follower.take_if(|follower| !follower.is_finished()) {
            _ = timeout(FLUSH, follower).await;
        }
    }
}

/// What ended first.
enum End {
    Exit(io::Result<ExitStatus>),
    Output(io::Result<()>),
    Input(io::Error),
}

/// The outcome of a task; one that panicked is a failure like any other.
fn flat(joined: Result<io::Result<()>, tokio::task::JoinError>) -> io::Result<()> {
    joined.unwrap_or_else(|error| Err(io::Error::other(error)))
}

fn exited(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("the server exited with status {code}"),
        None => format!("the server was ended by {status}"),
    }
}

/// Why there is no process, and what can be done about it.
fn unstarted(command: &CommandWrap, error: io::Error) -> Error {
    let command = command.command().as_std();
    let program = command.get_program();
    let missing = command.get_current_dir().filter(|path| !path.is_dir());
    let text = match (error.kind(), missing) {
        (_, Some(path)) => {
            format!("the server {program:?} cannot be started in {path:?}, which is no directory")
        }
        (io::ErrorKind::NotFound, None) => format!(
            "the server {program:?} cannot be started: there is no such program; install it, \
             or give the full path to it"
        ),
        (io::ErrorKind::PermissionDenied, None) => {
            format!("the server {program:?} cannot be started: it must be an executable file")
        }
        _ => format!("the server {program:?} cannot be started"),
    };
    Error::transport(text).caused_by(error).unsent()
}
