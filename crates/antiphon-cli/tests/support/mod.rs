//! What the tests of the program share. Each of them uses a part of it.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod authority;
pub(crate) mod host;
mod openers;
mod runtime;
mod screen;
mod terminal;

pub(crate) use host::Host;
pub(crate) use openers::Openers;
pub(crate) use terminal::{BACKSPACE, DOWN, ENTER, ESC, INTERRUPT, SPACE, Terminal};
