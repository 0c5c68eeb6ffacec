//! A person at a terminal, between a server's questions and the SDK's client.
//!
//! A [`Person`] is asked by [`Prompts`]: forms field by field ([`form`], [`field`], [`labels`],
//! [`secret`]), links ([`link`], [`address`]), [`sample`] and [`roots`]. [`session`] is the loop
//! around them, and [`legs`](crate::legs) shows what is sent. Everything a server says goes through
//! [`printable`](crate::printable).

mod address;
mod field;
mod form;
mod labels;
mod link;
mod person;
mod prompts;
mod restore;
mod roots;
mod sample;
mod secret;
pub(crate) mod session;
mod target;

use std::io::IsTerminal;

use crate::printable;

pub(crate) use person::Person;
pub(crate) use prompts::{Prompts, Screen};
pub(crate) use restore::{begin, put_aside, restore, was_disturbed};
pub(crate) use secret::is_wanted as is_secret;

/// Whether what is sent to a URL is read by nobody on the way: it is https, or on this machine.
pub(crate) fn is_private(url: &str) -> bool {
    address::Address::of(url).is_ok()
}

/// Whether a person is there: keys come from a terminal, and prompts go to one. Results may go
/// elsewhere.
pub(crate) fn is_attended() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}
