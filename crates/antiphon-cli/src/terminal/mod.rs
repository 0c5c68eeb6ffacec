//! A person at a terminal, between a server's questions and the SDK's client.
//!
//! [`session`] is the loop around it; a [`question`] is asked field by field ([`form`],
//! [`field`], [`labels`]); [`legs`] shows what is sent. Everything a server says goes through [`printable`].

mod field;
mod form;
mod labels;
mod legs;
mod printable;
mod prompts;
mod question;
pub(crate) mod session;
mod target;

use std::io::IsTerminal;

pub(crate) use prompts::{Prompts, Screen};

/// Whether a person is there: keys come from a terminal, and prompts and lines go to one.
pub(crate) fn is_attended() -> bool {
    std::io::stdin().is_terminal()
        && std::io::stdout().is_terminal()
        && std::io::stderr().is_terminal()
}
