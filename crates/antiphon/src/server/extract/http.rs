//! What came with the HTTP request, and what layers attached.

use antiphon_core::negotiate::shown;
use http::HeaderMap;

use super::{Context, FromCall, OptionalFromCall, Stop, at_once};

/// The headers of the HTTP request. On other transports there are none: the map is empty, and
/// `Option<HeaderMap>` is `None`.
#[diagnostic::do_not_recommend]
impl<S: Sync> FromCall<S> for HeaderMap {
    at_once!(|call, _| Ok(call.headers().cloned().unwrap_or_default()));
}

impl<S: Sync> OptionalFromCall<S> for HeaderMap {
    async fn from_call(call: &Context<'_>, _: &S) -> Result<Option<Self>, Stop> {
        Ok(call.headers().cloned())
    }
}

/// A value that a [`Layer`](crate::Layer) attached with [`Context::insert`], or that middleware
/// around the HTTP service put into the request's extensions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extension<T>(pub T);

impl<S: Sync, T: Clone + Send + Sync + 'static> FromCall<S> for Extension<T> {
    at_once!(|call, _| {
        call.extension::<T>().map(Self).ok_or_else(|| {
            let extension = std::any::type_name::<T>();
            tracing::error!(
                extension,
                target = &*shown(call.target()),
                "nothing attached this extension"
            );
            Stop::internal()
        })
    });
}

impl<S: Sync, T: Clone + Send + Sync + 'static> OptionalFromCall<S> for Extension<T> {
    async fn from_call(call: &Context<'_>, _: &S) -> Result<Option<Self>, Stop> {
        Ok(call.extension::<T>().map(Self))
    }
}
