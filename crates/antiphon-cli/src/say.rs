//! `say!`: a line on standard output; `tell!`: one on standard error.
//!
//! A command that cannot write goes on to its end: what it does to a server is the same whether
//! somebody reads of it or not, and so is how it ends there.

use std::{
    fmt,
    io::{self, ErrorKind, Write},
    sync::atomic::{AtomicU8, Ordering},
};

/// What became of standard output.
static STATE: AtomicU8 = AtomicU8::new(OPEN);

const OPEN: u8 = 0;
/// Whoever read only the first lines has seen enough.
const CLOSED: u8 = 1;
/// It could not be written.
const FAILED: u8 = 2;

/// Prints a line. Where nobody reads, it is dropped.
macro_rules! say {
    ($($text:tt)*) => { $crate::say::line(format_args!($($text)*)) };
}

/// Prints a line for who watches. That nobody does is no reason to end: unlike `eprintln!` this
/// never panics.
macro_rules! tell {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        _ = writeln!(std::io::stderr(), $($text)*);
    }};
}

/// Prints a line, unless that failed before.
pub(crate) fn line(text: fmt::Arguments<'_>) {
    if is_over() {
        return;
    }
    let Err(error) = writeln!(io::stdout(), "{text}") else {
        return;
    };
    if error.kind() == ErrorKind::BrokenPipe {
        return STATE.store(CLOSED, Ordering::Relaxed);
    }
    STATE.store(FAILED, Ordering::Relaxed);
    tell!("antiphon: cannot write: {error}");
}

/// Whether nothing that is said is heard any more.
pub(crate) fn is_over() -> bool {
    STATE.load(Ordering::Relaxed) != OPEN
}

/// Whether something could not be written, though somebody wants to read it.
pub(crate) fn has_failed() -> bool {
    STATE.load(Ordering::Relaxed) == FAILED
}
