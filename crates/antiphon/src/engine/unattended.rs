//! [`Unattended`]: calls that run to their end although their client has left.

use std::time::Duration;

use tokio::time::timeout;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How long such calls may hold up the end of a connection, or of a service that is stopped by
/// hand. Then they are dropped like others.
pub(crate) const LONGEST: Duration = Duration::from_secs(60);

/// The calls that one server, or one endpoint mounted in another server, still runs for nobody.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unattended {
    calls: TaskTracker,
    /// Cancelled when they may not run on.
    end: CancellationToken,
}

impl Unattended {
    /// Waits for all of them.
    pub(crate) async fn finish(&self) {
        self.calls.close();
        self.calls.wait().await;
    }

    /// Waits for all of them, but not for ever.
    pub(crate) async fn finish_within(&self, longest: Duration) {
        // Nothing to wait for needs no clock, which a runtime may lack.
        if self.calls.is_empty() {
            return;
        }
        if timeout(longest, self.finish()).await.is_err() {
            let open = self.calls.len();
            tracing::warn!(
                open,
                "calls were still running to their end and are dropped"
            );
            self.drop_all();
            self.finish().await;
        }
    }

    /// Drops all of them, and all that would be added.
    pub(crate) fn drop_all(&self) {
        self.end.cancel();
    }
}

/// For HTTP, where a call belongs to its own request and no connection of ours keeps it.
#[cfg(feature = "http")]
impl Unattended {
    /// The client of a request has left: drops the request, unless it is to run to its end.
    ///
    /// Outside a runtime nobody can run it, and it is dropped in any case.
    pub(crate) fn adopt(&self, request: super::running::Running) {
        if !request.outbox.cancel() {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            tracing::error!("a call that should run to its end was dropped outside a runtime");
            return;
        };
        let end = self.end.clone();
        let request = async move { _ = end.run_until_cancelled(request).await };
        self.calls.spawn_on(request, &runtime);
    }

    /// Runs what goes on whether or not its client stays. Outside a runtime nobody can, and it is
    /// dropped.
    pub(crate) fn run(&self, calls: impl Future<Output = ()> + Send + 'static) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            tracing::error!("calls whose client left were dropped outside a runtime");
            return;
        };
        let end = self.end.clone();
        let calls = async move { _ = end.run_until_cancelled(calls).await };
        self.calls.spawn_on(calls, &runtime);
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Looks after a request that became a task before its client left. Outside a runtime nobody
    /// can, and it runs on by itself.
    pub(crate) fn watch<T: Send + 'static>(&self, mut task: tokio::task::JoinHandle<T>) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let end = self.end.clone();
        let watching = async move {
            if end.run_until_cancelled(&mut task).await.is_none() {
                task.abort();
                _ = task.await;
            }
        };
        self.calls.spawn_on(watching, &runtime);
    }

    /// Drops all of them when the guard is dropped.
    pub(crate) fn guard(&self) -> tokio_util::sync::DropGuard {
        self.end.clone().drop_guard()
    }
}
