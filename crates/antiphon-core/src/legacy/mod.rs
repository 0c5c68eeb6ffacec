//! Shapes of the revisions before 2026-07-28: what a server and its handlers say in modern words,
//! in the words that an older peer knows.
//!
//! The version is one of [`Version::LEGACY`](antiphon_types::Version::LEGACY) everywhere. Members
//! that no revision defines are left as they are; those that only a later one has are taken out.
//! What is thereby lost for a reader is said in words.
//!
//! | | |
//! |---|---|
//! | [`abilities`], [`offer`], [`implementation`] | what both sides say of themselves in `initialize` |
//! | [`result()`], [`fits`] | results |
//! | [`notification`] | notifications |
//! | [`question`], [`answer`] | questions as requests of the server's, and their answers |
//! | [`error`] | codes |
//! | [`batch`] | several messages in one |

mod batch;
mod content;
mod error;
mod fits;
mod handshake;
mod members;
mod notification;
mod question;
mod result;
mod tool;

pub use batch::batch;
pub use error::error;
pub use fits::fits;
pub use handshake::{abilities, implementation, offer};
pub use notification::notification;
pub use question::{answer, answers_alike, plain_form, question};
pub use result::result;

#[cfg(test)]
mod tests;
