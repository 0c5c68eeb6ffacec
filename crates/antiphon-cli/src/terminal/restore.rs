//! The terminal as it was: while a question is asked, keys are not echoed, and while a prompt is
//! open, the cursor may be hidden. Whoever ends the program then puts that right.
//!
//! A prompt cannot be closed by anybody but the person: a question that is over before it is
//! answered is put aside, and its prompt leads nowhere.

use std::{
    io::{self, Write},
    sync::{Mutex, MutexGuard, PoisonError},
};

use antiphon::CancellationToken;
use modes::Modes;

/// The prompt that is open, and the question that is asked.
static STATE: Mutex<State> = Mutex::new(State {
    before: None,
    is_open: false,
    over: None,
    is_aside: false,
});

struct State {
    /// The modes of the terminal from before the first prompt of the question that is asked.
    before: Option<Modes>,
    /// Whether a prompt is open.
    is_open: bool,
    /// Cancelled when nobody waits for the answer any more.
    over: Option<CancellationToken>,
    /// Whether something was said below the prompt that is open.
    is_aside: bool,
}

impl State {
    fn is_over(&self) -> bool {
        self.over
            .as_ref()
            .is_some_and(CancellationToken::is_cancelled)
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A question that is asked: what is typed ahead of its next prompt is not shown.
#[must_use]
pub(crate) struct Prompting(());

impl Drop for Prompting {
    fn drop(&mut self) {
        if let Some(before) = state().before.take() {
            modes::put_back(&before);
        }
    }
}

/// The prompts from here on belong to a question that is over when this is cancelled.
pub(crate) fn begin(over: &CancellationToken) -> Prompting {
    state().over = Some(over.clone());
    Prompting(())
}

/// Says why the question that is asked is over, below the prompt that is open, if there is one.
pub(crate) fn put_aside(why: &str) {
    let mut state = state();
    if state.is_open && state.is_over() && !state.is_aside {
        state.is_aside = true;
        _ = write!(io::stderr(), "\r\n\x1b[J  ! {why}\r\n");
    }
}

/// Runs a prompt in a terminal that is its own; `None` if nobody waits for what it gives.
pub(super) fn around<T>(prompt: impl FnOnce() -> T) -> Option<T> {
    modes::heed_interrupts();
    {
        let mut state = state();
        if state.is_over() {
            return None;
        }
        if state.before.is_none() {
            state.before = modes::now();
        }
        if let Some(before) = &state.before {
            modes::take_over(before);
        }
        state.is_open = true;
    }
    let given = prompt();
    let mut state = state();
    state.is_aside = false;
    state.is_open = false;
    if let Some(before) = &state.before {
        modes::keep_quiet(before);
    }
    (!state.is_over()).then_some(given)
}

/// Leaves the terminal as it was found: to be called before the program says why it ends. Does
/// nothing unless a question is asked.
pub(crate) fn restore() {
    let mut state = state();
    if let Some(before) = state.before.take() {
        modes::put_back(&before);
    }
    if std::mem::take(&mut state.is_open) {
        // Past the line of the prompt, without its options and its help; the cursor is shown.
        let past: &[u8] = match state.is_aside {
            true => b"\r\x1b[J\x1b[?25h",
            false => b"\r\n\x1b[J\x1b[?25h",
        };
        _ = io::stderr().write_all(past);
    }
}

#[cfg(unix)]
mod modes {
    use std::{io::stdin, sync::Once};

    use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
    use tokio::{
        runtime::Handle,
        signal::unix::{SignalKind, signal},
    };

    pub(super) type Modes = Termios;

    pub(super) fn now() -> Option<Modes> {
        tcgetattr(stdin()).ok()
    }

    /// Keys come one by one, and are neither echoed nor signals. Prompts see to that only while
    /// they wait for a key; what is typed between two would be in the way of what they draw.
    pub(super) fn take_over(before: &Modes) {
        without(
            before,
            LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::ISIG,
        );
    }

    /// Between two prompts, keys are lines and signals again, but not echoed.
    pub(super) fn keep_quiet(before: &Modes) {
        without(before, LocalFlags::ECHO);
    }

    pub(super) fn put_back(before: &Modes) {
        without(before, LocalFlags::empty());
    }

    fn without(before: &Modes, flags: LocalFlags) {
        let mut modes = before.clone();
        modes.local_flags -= flags;
        // There is nothing else to try.
        _ = tcsetattr(stdin(), SetArg::TCSADRAIN, &modes);
    }

    /// Prompts raise the signal for Ctrl-C, which would end this process on the spot if nobody
    /// took it.
    pub(super) fn heed_interrupts() {
        static HEEDED: Once = Once::new();
        HEEDED.call_once(|| {
            if Handle::try_current().is_ok() {
                // Once taken, it is taken until the process ends.
                _ = signal(SignalKind::interrupt());
            }
        });
    }
}

#[cfg(not(unix))]
mod modes {
    /// Prompts change nothing that stays.
    pub(super) struct Modes;

    pub(super) fn now() -> Option<Modes> {
        Some(Modes)
    }

    pub(super) fn take_over(_: &Modes) {}

    pub(super) fn keep_quiet(_: &Modes) {}

    pub(super) fn put_back(_: &Modes) {}

    pub(super) fn heed_interrupts() {}
}
