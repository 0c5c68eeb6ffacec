//! What the demo serves.

use antiphon::Server;

use super::shop;

/// How people sign in; nothing here needs it yet.
#[derive(Clone)]
pub(crate) struct SignIn;

impl SignIn {
    /// Without a page.
    pub(crate) fn at_once() -> Self {
        Self
    }

    /// At a page of this address.
    pub(crate) fn page(_: String, _: bool) -> Self {
        Self
    }

    /// Nobody was sent there.
    pub(crate) fn complete(&self, _: &str) -> Result<(), String> {
        Err("this is not a link that we made".to_owned())
    }
}

/// The server.
pub(crate) fn server(_: SignIn) -> Server {
    shop::server()
}
