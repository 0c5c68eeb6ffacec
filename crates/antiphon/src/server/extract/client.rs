//! Who calls, and what its client says of itself.

use antiphon_types::{ClientCapabilities, Implementation, Version};

use super::{Context, FromCall, OptionalFromCall, Stop, at_once};
use crate::auth::Principal;

/// What the client says it is. For display and logs only: anyone can say anything (META-B-02).
#[derive(Debug, Clone, PartialEq)]
pub struct ClientInfo(pub Implementation);

#[diagnostic::do_not_recommend]
impl<S: Sync> FromCall<S> for ClientInfo {
    at_once!(|call, _| {
        let info = call.client_info().map(Self);
        info.ok_or_else(|| Stop::reject(-32602, "The client did not say what it is"))
    });
}

impl<S: Sync> OptionalFromCall<S> for ClientInfo {
    async fn from_call(call: &Context<'_>, _: &S) -> Result<Option<Self>, Stop> {
        Ok(call.client_info().map(Self))
    }
}

#[diagnostic::do_not_recommend]
impl<S: Sync> FromCall<S> for ClientCapabilities {
    at_once!(|call, _| Ok(call.capabilities()?.clone()));
}

/// The revision of the protocol this call speaks.
#[diagnostic::do_not_recommend]
impl<S: Sync> FromCall<S> for Version {
    at_once!(|call, _| Ok(call.protocol_version()));
}

/// Who calls, as the transport's verifier says. Without anybody the call fails; take
/// `Option<Principal>` where that is fine.
#[diagnostic::do_not_recommend]
impl<S: Sync> FromCall<S> for Principal {
    at_once!(|call, _| {
        let principal = call.principal().cloned();
        principal.ok_or_else(|| Stop::fail("This needs a caller who is signed in."))
    });
}

impl<S: Sync> OptionalFromCall<S> for Principal {
    async fn from_call(call: &Context<'_>, _: &S) -> Result<Option<Self>, Stop> {
        Ok(call.principal().cloned())
    }
}
