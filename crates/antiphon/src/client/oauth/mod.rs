//! Signing in: how a client gets access tokens (OAuth 2.1).
//!
//! [`OAuth`] says how, [`Http::oauth`](super::Http::oauth) where. A person signs in through a
//! [`Redirect`], of which there are [`Loopback`] for programs at a person's own machine and
//! [`Callback`] for hosts; programs sign in as a party of their own. What came of it is in a
//! [`TokenStore`]: [`MemoryTokens`], [`TokenFiles`], or one's own.

mod authorizer;
mod callback;
mod discovery;
mod dpop;
mod failed;
mod files;
mod held;
mod loopback;
mod moment;
mod pkce;
mod record;
mod redirect;
mod registration;
mod scopes;
mod secret;
mod settings;
mod signed_in;
mod signing;
mod store;
mod tokens;
mod turn;

pub(crate) use authorizer::Authorizer;
pub(crate) use dpop::{DPOP, Prover};
pub use files::TokenFiles;
pub use loopback::Loopback;
pub use redirect::{Callback, Redirect, SignIn, Visit};
pub use registration::Registration;
pub use secret::Secret;
pub use settings::{IdentityProvider, OAuth};
pub use signed_in::SignedIn;
pub use signing::{Algorithm, SigningKey};
pub use store::{MemoryTokens, TokenStore};
