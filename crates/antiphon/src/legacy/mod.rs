//! Clients of the revisions before 2026-07-28, which open with `initialize`.
//!
//! They are served by the same handlers. What a handler asks is sent to such a client as a request
//! of the server's, on the stream of the call that asks; when it is answered, the handler runs
//! again with the answers, as it would for a client that came back with them. [`Shim`] says how
//! long that may take. Nothing here is needed to serve them: [`Server`](crate::Server) does, unless
//! it is [`modern_only`](crate::Server::modern_only).

mod answering;
mod asked;
mod calling;
mod channel;
mod handshake;
#[cfg(feature = "http")]
pub(crate) mod http;
mod links;
mod pushed;
mod run;
mod session;
mod settings;
mod shim;
mod watching;
mod writing;

pub use antiphon_core::negotiate::Era;

pub use self::settings::Shim;

pub(crate) use self::{
    answering::{Way, answer, concerns, nobody},
    channel::Channel,
    links::Links,
    pushed::{Asker, Cannot},
    session::{Mute, Session},
    settings::Legacy,
    shim::Aside,
};
