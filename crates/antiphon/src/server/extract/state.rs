//! [`State`]: what the server's handlers share.

use super::{FromCall, at_once};

/// The server's state, or a part of it.
///
/// The state is whatever [`Server::with_state`](crate::Server::with_state) was given; it is
/// cloned for each call, so it is usually an `Arc` or a struct of them.
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
/// use antiphon::{Server, State};
///
/// async fn count(State(counter): State<Arc<AtomicU64>>) -> String {
///     counter.fetch_add(1, Ordering::Relaxed).to_string()
/// }
///
/// let server: Server = Server::new("counter", "1.0")
///     .tool("count", count)
///     .with_state(Arc::new(AtomicU64::new(0)));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct State<T>(pub T);

impl<S: Sync, T: FromRef<S> + Send + 'static> FromCall<S> for State<T> {
    at_once!(|_, state| Ok(Self(T::from_ref(state))));
}

/// A part of a larger state, for [`State`] to take by itself.
///
/// ```
/// use antiphon::FromRef;
///
/// #[derive(Clone)]
/// struct Mailer;
///
/// #[derive(Clone)]
/// struct App { mailer: Mailer }
///
/// impl FromRef<App> for Mailer {
///     fn from_ref(app: &App) -> Self {
///         app.mailer.clone()
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the server's state is `{S}`, which has no part `{Self}`",
    label = "`State<{Self}>` needs `{Self}: FromRef<{S}>`",
    note = "`.with_state(..)` takes one value for all handlers; `impl FromRef<{S}> for {Self}` makes `{Self}` a part of it"
)]
pub trait FromRef<S> {
    /// Takes the part out of the whole, usually by cloning it.
    fn from_ref(state: &S) -> Self;
}

impl<T: Clone> FromRef<T> for T {
    fn from_ref(state: &T) -> Self {
        state.clone()
    }
}
