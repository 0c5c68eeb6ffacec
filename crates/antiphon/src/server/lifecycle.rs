//! What runs before a server's first message and after its last.

use std::{error::Error, fmt, future::Future, io, pin::Pin, sync::Arc};

use super::stop::Causes;

type BoxError = Box<dyn Error + Send + Sync>;
type Work<S, T> = Arc<dyn Fn(S) -> Pin<Box<dyn Future<Output = T> + Send>> + Send + Sync>;

/// What runs at the beginning, in order, and at the end, in the opposite order.
pub(crate) struct Hooks<S> {
    start: Vec<Work<S, Result<(), BoxError>>>,
    stop: Vec<Work<S, ()>>,
}

impl<S: 'static> Hooks<S> {
    pub(crate) fn on_start<F, E>(&mut self, work: impl Fn(S) -> F + Send + Sync + 'static)
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<BoxError>,
    {
        self.start.push(Arc::new(move |state| {
            let work = work(state);
            Box::pin(async move { work.await.map_err(Into::into) })
        }));
    }

    pub(crate) fn on_stop<F>(&mut self, work: impl Fn(S) -> F + Send + Sync + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.stop.push(Arc::new(move |state| Box::pin(work(state))));
    }

    pub(crate) fn append(&mut self, other: Self) {
        self.start.extend(other.start);
        self.stop.extend(other.stop);
    }
}

impl<S: Clone + Send + Sync + 'static> Hooks<S> {
    pub(crate) fn with_state<Other>(self, state: &S) -> Hooks<Other> {
        Hooks {
            start: self
                .start
                .into_iter()
                .map(|work| bound(work, state))
                .collect(),
            stop: self
                .stop
                .into_iter()
                .map(|work| bound(work, state))
                .collect(),
        }
    }
}

fn bound<S: Clone + Send + Sync + 'static, T: 'static, Other>(
    work: Work<S, T>,
    state: &S,
) -> Work<Other, T> {
    let state = state.clone();
    Arc::new(move |_| work(state.clone()))
}

impl Hooks<()> {
    pub(crate) async fn run_start(&self) -> io::Result<()> {
        for work in &self.start {
            if let Err(error) = work(()).await {
                let causes = Causes(&*error);
                tracing::error!(%error, %causes, "a start hook failed");
                return Err(io::Error::other(error));
            }
        }
        Ok(())
    }

    pub(crate) async fn run_stop(&self) {
        for work in self.stop.iter().rev() {
            work(()).await;
        }
    }
}

impl<S> Default for Hooks<S> {
    fn default() -> Self {
        Self {
            start: Vec::new(),
            stop: Vec::new(),
        }
    }
}

impl<S> Clone for Hooks<S> {
    fn clone(&self) -> Self {
        Self {
            start: self.start.clone(),
            stop: self.stop.clone(),
        }
    }
}

impl<S> fmt::Debug for Hooks<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks")
            .field("start", &self.start.len())
            .field("stop", &self.stop.len())
            .finish()
    }
}
