//! [`SignedIn`]: what came of a sign-in.

/// What came of a sign-in; the tokens themselves are in the [`TokenStore`](super::TokenStore).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignedIn {
    /// The authorization server.
    pub issuer: String,
    /// The server that the token is for, as it calls itself.
    pub resource: String,
    /// What was given, or if that was not said, what was asked for.
    pub scopes: Vec<String>,
    /// When the access token is no longer good, in seconds since 1970, if that was said.
    pub expires_at: Option<u64>,
    /// Whether it can be renewed without a person.
    pub is_renewable: bool,
}
