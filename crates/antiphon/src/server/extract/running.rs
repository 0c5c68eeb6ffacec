//! What a handler can do while it runs.

use tokio_util::sync::CancellationToken;

use super::{Context, FromCall, Stop};
use crate::{
    Logger, Progress,
    raw::TraceContext,
    server::{Description, Server},
};

#[diagnostic::do_not_recommend]
impl<S: Sync> FromCall<S> for Progress {
    async fn from_call(call: &Context<'_>, _: &S) -> Result<Self, Stop> {
        Ok(call.progress())
    }
}

/// A server with a handler that takes this declares the capability `logging`.
#[diagnostic::do_not_recommend]
impl<S: Sync> FromCall<S> for Logger {
    async fn from_call(call: &Context<'_>, _: &S) -> Result<Self, Stop> {
        Ok(call.logger())
    }

    fn describe(description: &mut Description) {
        description.logs();
    }
}

/// Cancelled when the call is over, answered or abandoned: for work that was moved to other
/// tasks. The handler's own future is simply dropped.
#[diagnostic::do_not_recommend]
impl<S: Sync> FromCall<S> for CancellationToken {
    async fn from_call(call: &Context<'_>, _: &S) -> Result<Self, Stop> {
        Ok(call.cancellation())
    }
}

#[diagnostic::do_not_recommend]
impl<S: Sync> FromCall<S> for TraceContext {
    async fn from_call(call: &Context<'_>, _: &S) -> Result<Self, Stop> {
        Ok(call.trace())
    }
}

/// The server that is running, to add and remove things or to announce changes.
#[diagnostic::do_not_recommend]
impl<S: Sync> FromCall<S> for Server {
    async fn from_call(call: &Context<'_>, _: &S) -> Result<Self, Stop> {
        Ok(call.server().clone())
    }
}
