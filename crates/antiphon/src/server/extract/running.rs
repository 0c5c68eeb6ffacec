//! What a handler can do while it runs.

use tokio_util::sync::CancellationToken;

use super::{FromCall, at_once};
use crate::{
    Logger, Progress,
    raw::TraceContext,
    server::{Description, Server},
};

#[diagnostic::do_not_recommend]
impl<S: Sync> FromCall<S> for Progress {
    at_once!(|call, _| Ok(call.progress()));
}

/// A server with a handler that takes this declares the capability `logging`.
#[diagnostic::do_not_recommend]
impl<S: Sync> FromCall<S> for Logger {
    at_once!(|call, _| Ok(call.logger()));

    fn describe(description: &mut Description) {
        description.logs();
    }
}

/// Cancelled when the call is over, answered or abandoned: for work that was moved to other
/// tasks. The handler's own future is simply dropped.
#[diagnostic::do_not_recommend]
impl<S: Sync> FromCall<S> for CancellationToken {
    at_once!(|call, _| Ok(call.cancellation()));
}

#[diagnostic::do_not_recommend]
impl<S: Sync> FromCall<S> for TraceContext {
    at_once!(|call, _| Ok(call.trace()));
}

/// The server that is running, to add and remove things or to announce changes.
#[diagnostic::do_not_recommend]
impl<S: Sync> FromCall<S> for Server {
    at_once!(|call, _| Ok(call.server().clone()));
}
