//! [`Layer`]: what runs around handlers.

use std::{
    collections::HashMap,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use antiphon_core::negotiate::shown;

use super::{Context, Outcome, Stop};
use crate::auth::Principal;

/// Something that runs around handlers: it sees the call before they do and the outcome after
/// them, and may answer in their place.
///
/// A layer on the server ([`Server::layer`](crate::Server::layer)) is around every tool, prompt,
/// resource and completion, and around subscriptions to resources and what templates list; one on a
/// tool ([`Tool::layer`](crate::Tool::layer)) around that tool alone. The lists of what there is
/// pass no layer. The first layer that was added is the outermost. Layers come before arguments are
/// checked. What concerns the HTTP request rather than the call belongs around the HTTP service,
/// as tower middleware.
///
/// ```
/// use antiphon::{Context, Layer, Next, Outcome, Stop};
///
/// /// Lets only signed-in callers through.
/// struct SignedIn;
///
/// impl Layer for SignedIn {
///     async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
///         match call.principal() {
///             Some(_) => next.run(call).await,
///             None => call.stop(Stop::fail("Sign in first.")),
///         }
///     }
/// }
/// # let _ = antiphon::Server::<()>::new("shop", "1.0").layer(SignedIn);
/// ```
pub trait Layer: Send + Sync + 'static {
    /// Handles one call, usually by running `next`.
    fn call(&self, call: &Context<'_>, next: Next<'_>) -> impl Future<Output = Outcome> + Send;
}

/// One layer around several things: they share, say, a [`RateLimit`].
impl<L: Layer> Layer for Arc<L> {
    async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
        L::call(self, call, next).await
    }
}

pub(crate) type Ending<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// A layer whose type is forgotten.
pub(crate) trait AnyLayer: Send + Sync {
    fn call<'a>(&'a self, call: &'a Context<'a>, next: Next<'a>) -> Ending<'a>;
}

impl<L: Layer> AnyLayer for L {
    fn call<'a>(&'a self, call: &'a Context<'a>, next: Next<'a>) -> Ending<'a> {
        Box::pin(Layer::call(self, call, next))
    }
}

/// Layers, outermost first.
pub(crate) type Layers = Vec<Arc<dyn AnyLayer>>;

/// A handler at the end of all layers.
pub(crate) trait Innermost: Sync {
    fn run<'a>(&'a self, call: &'a Context<'a>) -> Ending<'a>;
}

/// The rest of the way to the handler.
pub struct Next<'a> {
    server: &'a [Arc<dyn AnyLayer>],
    own: &'a [Arc<dyn AnyLayer>],
    handler: &'a dyn Innermost,
}

impl<'a> Next<'a> {
    pub(crate) fn new(
        server: &'a [Arc<dyn AnyLayer>],
        own: &'a [Arc<dyn AnyLayer>],
        handler: &'a dyn Innermost,
    ) -> Self {
        Self {
            server,
            own,
            handler,
        }
    }

    /// Goes on to the next layer, or to the handler.
    pub fn run(self, call: &'a Context<'a>) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        let Self {
            server,
            own,
            handler,
        } = self;
        match (server, own) {
            ([layer, server @ ..], _) => layer.call(call, Next::new(server, own, handler)),
            ([], [layer, own @ ..]) => layer.call(call, Next::new(server, own, handler)),
            ([], []) => handler.run(call),
        }
    }
}

impl std::fmt::Debug for Next<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let layers = self.server.len() + self.own.len();
        f.debug_struct("Next")
            .field("layers", &layers)
            .finish_non_exhaustive()
    }
}

/// Ends calls that take too long. Only the handler's own work counts: waiting for the user's
/// answer happens between calls.
///
/// ```
/// # use std::time::Duration;
/// # use antiphon::{Server, Timeout};
/// # let server: Server =
/// Server::new("shop", "1.0").layer(Timeout::new(Duration::from_secs(30)))
/// # ;
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Timeout(Duration);

impl Timeout {
    /// At most this long.
    pub fn new(longest: Duration) -> Self {
        Self(longest)
    }
}

impl Layer for Timeout {
    async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
        match tokio::time::timeout(self.0, next.run(call)).await {
            Ok(outcome) => outcome,
            Err(_) => {
                tracing::warn!(target = &*shown(call.target()), limit = ?self.0, "a call took too long");
                call.stop(Stop::fail(format!("This took longer than {:?}.", self.0)))
            }
        }
    }
}

/// Lets only so many calls through in a time (TOOL-S-27).
///
/// A budget of `calls` is there at the beginning and fills up again over `per`; a call beyond it
/// is told when to come back.
#[derive(Debug)]
pub struct RateLimit {
    calls: u32,
    per: Duration,
    each: bool,
    budgets: Mutex<HashMap<Option<Principal>, Budget>>,
}

/// What is left, and when that was so.
type Budget = (f64, Instant);

/// Budgets that are kept before the full ones, which say nothing, are thrown away.
const MANY_BUDGETS: usize = 4096;

impl RateLimit {
    /// At most `calls` in `per`, all callers together.
    pub fn new(calls: u32, per: Duration) -> Self {
        Self {
            calls,
            per,
            each: false,
            budgets: Mutex::default(),
        }
    }

    /// At most `calls` in `per` for each principal; whoever has none shares one budget.
    pub fn per_caller(calls: u32, per: Duration) -> Self {
        Self {
            each: true,
            ..Self::new(calls, per)
        }
    }

    /// Takes one call out of a caller's budget as it is at `now`; how long to wait if there is
    /// none.
    fn take(&self, caller: Option<&Principal>, now: Instant) -> Result<(), Duration> {
        let full = f64::from(self.calls);
        let rate = full / self.per.as_secs_f64();
        let at_now = |(left, then): Budget| {
            let since = now.saturating_duration_since(then).as_secs_f64();
            (left + since * rate).min(full)
        };
        let mut budgets = self.budgets.lock().unwrap_or_else(PoisonError::into_inner);
        let caller = caller.filter(|_| self.each).cloned();
        if budgets.len() >= MANY_BUDGETS && !budgets.contains_key(&caller) {
            budgets.retain(|_, budget| at_now(*budget) < full);
        }
        let budget = budgets.entry(caller).or_insert((full, now));
        let left = at_now(*budget);
        if left < 1.0 {
            *budget = (left, now);
            let wait = (1.0 - left) / rate;
            return Err(Duration::try_from_secs_f64(wait).unwrap_or(self.per));
        }
        *budget = (left - 1.0, now);
        Ok(())
    }
}

impl Layer for RateLimit {
    async fn call(&self, call: &Context<'_>, next: Next<'_>) -> Outcome {
        match self.take(call.principal(), Instant::now()) {
            Ok(()) => next.run(call).await,
            Err(wait) => {
                tracing::warn!(
                    target = &*shown(call.target()),
                    "a call was over the rate limit"
                );
                let seconds = wait.as_secs_f64().ceil();
                call.stop(Stop::fail(format!(
                    "Too many calls; try again in {seconds} s."
                )))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_and_fills_up_again() {
        let limit = RateLimit::new(2, Duration::from_secs(10));
        let start = Instant::now();
        let take = |seconds: u64| {
            let caller = Principal::subject(seconds.to_string());
            limit.take(Some(&caller), start + Duration::from_secs(seconds))
        };
        assert_eq!(take(1), Ok(()));
        assert_eq!(take(1), Ok(()));
        assert_eq!(take(1), Err(Duration::from_secs(5)));
        assert_eq!(take(6), Ok(()));
        assert!(take(6).is_err());
        // A long pause gives no more than the whole budget.
        assert_eq!(take(1000), Ok(()));
        assert_eq!(take(1000), Ok(()));
        assert!(take(1000).is_err());
        assert_eq!(limit.budgets.lock().expect("not poisoned").len(), 1);
    }

    #[test]
    fn each_caller_has_a_budget_and_full_ones_are_not_kept() {
        let limit = RateLimit::per_caller(1, Duration::from_secs(10));
        let start = Instant::now();
        let take = |name: &str, seconds: u64| {
            let caller = Principal::subject(name);
            limit.take(Some(&caller), start + Duration::from_secs(seconds))
        };
        assert_eq!(take("anna", 0), Ok(()));
        assert!(take("anna", 0).is_err());
        assert_eq!(take("berta", 0), Ok(()));
        assert_eq!(limit.take(None, start), Ok(()));
        for n in 0..MANY_BUDGETS {
            assert_eq!(take(&n.to_string(), 20), Ok(()));
        }
        assert_eq!(take("last", 31), Ok(()));
        assert_eq!(limit.budgets.lock().expect("not poisoned").len(), 1);
    }
}
