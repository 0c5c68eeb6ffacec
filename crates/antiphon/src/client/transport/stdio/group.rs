//! [`Group`]: a process and all that it started.

use std::{io, process::ExitStatus, time::Duration};

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio::{
    process::{ChildStderr, ChildStdin, ChildStdout, Command},
    time::timeout,
};

/// A process and all that it started, as far as the system can tell.
///
/// Dropped before it is [over](Self::sweep), it is killed.
pub(super) struct Group {
    child: Box<dyn ChildWrapper>,
    /// Nothing of it is left, and its id may be somebody else's.
    over: bool,
    warned: bool,
}

impl Group {
    /// Has `command` start a group whenever it is spawned.
    pub(super) fn prepare(command: Command) -> CommandWrap {
        let mut command = CommandWrap::from(command);
        command.wrap(KillOnDrop);
        system::group(&mut command);
        command
    }

    pub(super) fn spawn(command: &mut CommandWrap) -> io::Result<Self> {
        Ok(Self {
            child: command.spawn()?,
            over: false,
            warned: false,
        })
    }

    /// Its streams, those that are piped.
    pub(super) fn streams(
        &mut self,
    ) -> (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>) {
        let child = &mut self.child;
        let (stdin, stdout) = (child.stdin().take(), child.stdout().take());
        (stdin, stdout, child.stderr().take())
    }

    /// Waits for the process itself, whatever it leaves behind.
    pub(super) async fn exit(&mut self) -> io::Result<ExitStatus> {
        self.child.inner_mut().wait().await
    }

    /// Ends the process itself: it may take `grace` until it is asked to, and again until it has
    /// to (STDIO-C-07).
    pub(super) async fn end(&mut self, grace: Duration) {
        if timeout(grace, self.exit()).await.is_ok() {
            return;
        }
        self.ask();
        if timeout(grace, self.exit()).await.is_ok() {
            return;
        }
        self.kill();
        _ = self.exit().await;
    }

    /// Ends what the process left behind when it exited.
    pub(super) async fn sweep(&mut self, grace: Duration) {
        if !self.warned {
            self.ask();
        }
        let gone = async {
            // Reaps those that became children of this process.
            _ = self.child.wait().await;
            while system::is_left(self.child.as_ref()) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        if timeout(grace, gone).await.is_err() {
            self.kill();
        }
        self.over = true;
    }

    /// Asks all of it to end.
    fn ask(&mut self) {
        self.warned = true;
        system::ask(self.child.as_mut());
    }

    /// Kills all of it. What cannot be killed is gone already.
    fn kill(&mut self) {
        _ = self.child.start_kill();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.over {
            self.kill();
        }
    }
}

#[cfg(unix)]
mod system {
    use nix::{
        sys::signal::{Signal, killpg},
        unistd::Pid,
    };
    use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessGroup, ProcessGroupChild};

    pub(super) fn group(command: &mut CommandWrap) {
        command.wrap(ProcessGroup::leader());
    }

    pub(super) fn ask(child: &mut dyn ChildWrapper) {
        _ = child.signal(Signal::SIGTERM as i32);
    }

    /// Whether there is still a process of the group.
    pub(super) fn is_left(child: &dyn ChildWrapper) -> bool {
        let child: &dyn std::any::Any = child;
        child
            .downcast_ref::<ProcessGroupChild>()
            .and_then(|group| i32::try_from(group.pgid()).ok())
            .is_some_and(|id| killpg(Pid::from_raw(id), None).is_ok())
    }
}

#[cfg(windows)]
mod system {
    use process_wrap::tokio::{ChildWrapper, CommandWrap, JobObject};

    pub(super) fn group(command: &mut CommandWrap) {
        command.wrap(JobObject);
    }

    /// There is no way to ask: the job is ended.
    pub(super) fn ask(child: &mut dyn ChildWrapper) {
        _ = child.start_kill();
    }

    /// Waiting for a job waits for all of it.
    pub(super) fn is_left(_: &dyn ChildWrapper) -> bool {
        false
    }
}
